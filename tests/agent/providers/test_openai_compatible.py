"""The provider for chat completions against recorded streams, and its requests."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from sessions_app.agent.providers.base import ProviderError
from sessions_app.agent.providers.openai_compatible import OpenAICompatibleProvider
from tests.agent.images import image_block, png
from tests.agent.providers.contract import ProviderContract, StopContract, Wire, collect, request

Json = dict[str, Any]


def chunks(*deltas: Json, finish: str | None = "stop", usage: Json | None = None, done: bool = True) -> str:
    lines = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish is not None:
        lines.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage is not None:
        lines.append({"choices": [], "usage": usage})
    text = "".join(f"data: {json.dumps(line, ensure_ascii=False)}\n\n" for line in lines)
    return text + ("data: [DONE]\n\n" if done else "")


def call_delta(
    index: int | None, *, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> Json:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    call: Json = {"function": function}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call["id"] = call_id
    return {"tool_calls": [call]}


class Pieces(httpx.SyncByteStream):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def __iter__(self) -> Any:
        yield from self._wire.pieces
        if self._wire.failure is not None:
            raise self._wire.failure


def transport(wire: Wire) -> httpx.MockTransport:
    def answer(received: httpx.Request) -> httpx.Response:
        wire.sent.append(
            {**json.loads(received.read()), "headers": dict(received.headers), "path": received.url.path}
        )
        headers = {"content-type": "text/event-stream", **wire.headers}
        return httpx.Response(wire.status, headers=headers, stream=Pieces(wire))

    return httpx.MockTransport(answer)


def error(kind: str, message: str) -> str:
    return json.dumps({"error": {"message": message, "type": kind, "code": None}})


class TestOpenAICompatible(ProviderContract):
    full = chunks(
        {"role": "assistant", "content": ""},
        {"reasoning_content": "Let me "},
        {"reasoning_content": "see"},
        {"content": "Hello wör"},
        {"content": "ld 😀"},
        call_delta(0, call_id="call_1", name="read", arguments=""),
        call_delta(0, arguments='{"path": '),
        call_delta(0, arguments='"a.txt"}'),
        finish="tool_calls",
        usage={"prompt_tokens": 10, "completion_tokens": 5},
    )
    text_only = chunks(*[{"content": "Hello "}] * 20)
    error_inside = (
        chunks({"content": "Hel"}, finish=None, done=False)
        + f"data: {error('overloaded_error', 'Overloaded')}\n\n"
    )
    unknown_events = ': comment\n\nevent: sparkle\nid: 7\ndata: {"x": 1}\n\ndata: [1]\n\n' + chunks(
        {"content": "Hel", "sparkle": 1}, {"content": "lo", "tool_calls": None}
    )
    overflow = (400, error("invalid_request_error", "This model's maximum context length is 8192 tokens."))
    throttled = (429, error("rate_limit", "Rate limit reached: too many tokens per min"))
    quota = (
        429,
        error(
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
    )
    bad_key = (401, error("invalid_request_error", "Incorrect API key provided: KEY."))
    no_model = (404, error("invalid_request_error", "The model `nothing` does not exist"))

    def make(self, wire: Wire, **settings: Any) -> OpenAICompatibleProvider:
        settings.setdefault("api_key", "secret-key")
        return OpenAICompatibleProvider(base_url="http://server/v1/", transport=transport(wire), **settings)

    def read_timeout(self) -> Exception:
        return httpx.ReadTimeout("read timed out")

    def reset(self) -> Exception:
        return httpx.ReadError("[Errno 104] Connection reset by peer")

    def text_stream(self, deltas: list[str]) -> str:
        raw = "".join(f'data: {{"choices":[{{"delta":{{"content":"{delta}"}}}}]}}\n\n' for delta in deltas)
        return raw + chunks()

    def message(self, text: str, **fields: Any) -> Json:
        message = self.play(text, **fields)[-1].message
        assert message is not None
        return message

    def calls(self, *deltas: Json, finish: str = "tool_calls") -> list[Json]:
        content: list[Json] = self.message(chunks(*deltas, finish=finish))["content"]
        return content

    def test_calls_that_come_interleaved(self):
        calls = self.calls(
            call_delta(0, call_id="a", name="read", arguments='{"pa'), call_delta(1, call_id="b", name="ls", arguments='{"x'),
            call_delta(0, arguments='th": 1}'), call_delta(1, arguments='": 2}'),
        )  # fmt: skip
        assert [(call["id"], call["arguments"]) for call in calls] == [("a", {"path": 1}), ("b", {"x": 2})]

    def test_calls_that_all_have_the_number_zero(self):
        calls = self.calls(call_delta(0, call_id="a", name="read", arguments="{}"),
                           call_delta(0, call_id="b", name="ls", arguments="{}"))  # fmt: skip
        assert [call["id"] for call in calls] == ["a", "b"]

    def test_calls_without_number_or_id_and_with_arguments_as_an_object(self):
        calls = self.calls(
            call_delta(None, name="read", arguments={"path": "a"}),
            call_delta(None, name="ls", arguments="{}"),
        )
        assert [(call["name"], call["arguments"]) for call in calls] == [("read", {"path": "a"}), ("ls", {})]
        assert calls[0]["id"] != calls[1]["id"]

    def test_a_stop_after_calls_is_read_as_tool_use(self):
        text = chunks(call_delta(0, call_id="a", name="ls", arguments="{}"), finish="stop")
        assert self.message(text)["stopReason"] == "toolUse"

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
    def test_reasoning_goes_back_under_the_name_it_came_by(self, field: str):
        message = self.message(chunks({field: "deep"}, {"content": "x"}))
        assert message["content"][0] == {"type": "thinking", "thinking": "deep", "thinkingSignature": field}
        wire = Wire(pieces=[self.text_only.encode()])
        provider = self.make(wire)
        asked = request(messages=[*request().messages, message, *request().messages])
        collect(provider, asked)
        provider.close()
        assert wire.sent[0]["messages"][2] == {"role": "assistant", "content": "x", field: "deep"}

    def test_usage_counts_the_cache_and_may_be_missing(self):
        usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 80},
                 "completion_tokens_details": {"reasoning_tokens": 3}}  # fmt: skip
        assert self.message(chunks({"content": "x"}, usage=usage))["usage"] == {
            "input": 20, "output": 7, "cacheRead": 80, "cacheWrite": 0, "reasoning": 3, "totalTokens": 107,
        }  # fmt: skip
        assert "usage" not in self.message(chunks({"content": "x"}))

    def test_an_end_without_done_is_an_end(self):
        assert self.message(chunks({"content": "x"}, done=False))["stopReason"] == "stop"

    def test_lines_with_carriage_returns_and_without_blank_lines_between(self):
        text = chunks({"content": "a\u2028b"}, {"content": "c"}).replace("\n\n", "\r\n")
        assert self.message(text)["content"][0]["text"] == "a\u2028bc"

    def test_an_object_over_two_data_lines(self):
        text = 'data: {"choices":\ndata: [{"delta":{"content":"x"}}]}\n\n' + chunks()
        assert self.message(text)["content"][0]["text"] == "x"

    def test_data_that_is_no_json(self):
        assert self.fault(Wire(pieces=[b"data: {broken\n\n", b"data: more\n\n"])).kind == "protocol"
        assert self.fault(Wire(pieces=[b"<html>502</html>"])).kind == "protocol"

    def test_an_answer_in_one_piece_instead_of_a_stream(self):
        body = {
            "choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3},
        }
        message = self.message(json.dumps(body), headers={"content-type": "application/json"})
        assert message["content"] == [{"type": "text", "text": "whole"}]
        assert message["usage"]["input"] == 3

    def test_a_content_filter_is_a_refusal(self):
        assert (
            self.fault(Wire(pieces=[chunks({"content": "x"}, finish="content_filter").encode()])).kind
            == "refused"
        )

    @pytest.mark.parametrize("field", ["stream_options", "max_tokens", "reasoning_effort"])
    def test_a_refused_field_is_left_out_and_not_sent_again(self, field: str):
        sent: list[Json] = []

        def answer(received: httpx.Request) -> httpx.Response:
            body = json.loads(received.read())
            sent.append(body)
            if field in body:
                return httpx.Response(400, json={"error": {"message": f"Unsupported parameter: {field}"}})
            return httpx.Response(200, text=self.text_only, headers={"content-type": "text/event-stream"})

        provider = OpenAICompatibleProvider(
            base_url="http://s/v1", reasoning=True, transport=httpx.MockTransport(answer)
        )
        for _ in range(2):
            assert collect(provider, request(thinking_level="low"))[-1].kind == "done"
        provider.close()
        assert [field in body for body in sent] == [True, False, False]
        if field == "max_tokens":
            assert sent[-1]["max_completion_tokens"] == 8192

    def test_a_model_that_cannot_see_is_asked_without_images(self):
        sent: list[Json] = []

        def answer(received: httpx.Request) -> httpx.Response:
            sent.append(json.loads(received.read()))
            if isinstance(sent[-1]["messages"][-1]["content"], list):
                return httpx.Response(
                    404, json={"error": {"message": "No endpoints found that support image input"}}
                )
            return httpx.Response(200, text=self.text_only, headers={"content-type": "text/event-stream"})

        provider = OpenAICompatibleProvider(base_url="http://s/v1", transport=httpx.MockTransport(answer))
        content = [{"type": "text", "text": "Look"}, image_block(png())]
        asked = request(messages=[{"role": "user", "content": content, "timestamp": 1}])
        assert collect(provider, asked)[-1].kind == "done"
        assert collect(provider, asked)[-1].kind == "done"
        provider.close()
        assert len(sent) == 3
        assert (
            sent[-1]["messages"][-1]["content"]
            == "Look\n\n(An image was left out: the service could not take it.)"
        )

    def test_the_whole_request(self):
        wire = Wire(pieces=[self.text_only.encode()])
        provider = self.make(wire)
        call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "ü"}}
        picture = image_block(png())
        say = lambda text: {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}  # noqa: E731
        collect(provider, request(messages=[
            say("Hi"), {"role": "assistant", "content": [{"type": "text", "text": "Look"}, call], "timestamp": 1},
            {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": False, "timestamp": 1,
             "content": [{"type": "text", "text": "file"}, picture]},
            say("one"), say("two"),
        ]))  # fmt: skip
        provider.close()
        body = wire.sent[0]
        assert body.pop("headers")["authorization"] == "Bearer secret-key"
        assert body == {
            "path": "/v1/chat/completions", "model": "test-model", "stream": True,
            "stream_options": {"include_usage": True}, "max_tokens": 8192,
            "tools": [{"type": "function", "function": {
                "name": "read", "description": "Read a file",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}],
            "messages": [
                {"role": "system", "content": "You are a test."},
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Look", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "ü"}'}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "file"},
                {"role": "user", "content": [
                    {"type": "text", "text": "Images of the results above:"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture['data']}"}},
                    {"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            ],
        }  # fmt: skip

    def test_no_key_sends_no_authorization(self):
        wire = Wire(pieces=[self.text_only.encode()])
        provider = self.make(wire, api_key="")
        collect(provider)
        provider.close()
        assert "authorization" not in wire.sent[0]["headers"]


class TestOpenAICompatibleStops(StopContract):
    def connect(self, base_url: str) -> OpenAICompatibleProvider:
        return OpenAICompatibleProvider(base_url=f"{base_url}/v1")


def test_a_base_url_is_needed():
    with pytest.raises(ProviderError):
        OpenAICompatibleProvider()


def test_an_address_where_nobody_listens_is_a_network_error():
    provider = OpenAICompatibleProvider(base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ProviderError) as caught:
        collect(provider)
    provider.close()
    assert caught.value.kind == "network"
