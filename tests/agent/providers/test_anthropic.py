"""Anthropic's provider against recorded streams, and its requests."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import httpx2
import pytest

from sessions_app.agent.providers import create_provider
from sessions_app.agent.providers.anthropic import AnthropicProvider
from sessions_app.agent.providers.base import ProviderError
from sessions_app.agent.stop import StopSignal
from tests.agent.images import image_block, png
from tests.agent.providers.contract import ProviderContract, StopContract, Wire, collect, request

Json = dict[str, Any]


def events(*items: Json) -> str:
    return "".join(
        f"event: {item['type']}\ndata: {json.dumps(item, ensure_ascii=False)}\n\n" for item in items
    )


START = {
    "type": "message_start",
    "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model", "content": [],
                "stop_reason": None, "usage": {"input_tokens": 10, "output_tokens": 1}},
}  # fmt: skip
STOP = {"type": "message_stop"}


def end(reason: str = "end_turn", **usage: Any) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5, **usage}}


def block(index: int, content_block: Json, *deltas: Json) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content_block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, *texts: str) -> list[Json]:
    return block(
        index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts)
    )


def refusal(kind: str, message: str) -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}})


class Pieces(httpx2.SyncByteStream):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def __iter__(self) -> Any:
        yield from self._wire.pieces
        if self._wire.failure is not None:
            raise self._wire.failure


def transport(wire: Wire) -> httpx2.MockTransport:
    def answer(received: httpx2.Request) -> httpx2.Response:
        wire.sent.append(
            {**json.loads(received.read()), "headers": dict(received.headers), "path": received.url.path}
        )
        headers = {"content-type": "text/event-stream", **wire.headers}
        return httpx2.Response(wire.status, headers=headers, stream=Pieces(wire))

    return httpx2.MockTransport(answer)


class TestAnthropic(ProviderContract):
    full = events(
        START,
        {"type": "ping"},
        *block(0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "Let me "},
               {"type": "thinking_delta", "thinking": "see"}, {"type": "signature_delta", "signature": "sig"}),
        *text_block(1, "Hello wör", "ld 😀"),
        *block(2, {"type": "tool_use", "id": "call_1", "name": "read", "input": {}},
               {"type": "input_json_delta", "partial_json": '{"path": '}, {"type": "input_json_delta", "partial_json": '"a.txt"}'}),
        end("tool_use"),
        STOP,
    )  # fmt: skip
    text_only = events(START, *text_block(0, *["Hello "] * 20), end(), STOP)
    error_inside = events(START, *text_block(0, "Hel")[:2]) + (
        "event: error\ndata: " + refusal("overloaded_error", "Overloaded") + "\n\n"
    )
    unknown_events = events(
        START, {"type": "sparkle", "x": 1}, *block(0, {"type": "hologram"}, {"type": "hologram_delta"}),
        *block(1, {"type": "text", "text": "Hel"}, {"type": "text_delta", "text": "lo"}, {"type": "glitter_delta"}), end(), STOP,
    )  # fmt: skip
    overflow = (400, refusal("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"))
    throttled = (429, refusal("rate_limit_error", "Too many tokens per minute, please wait"))
    quota = (400, refusal("invalid_request_error", "Your credit balance is too low to access the API."))
    bad_key = (401, refusal("authentication_error", "invalid x-api-key KEY"))
    no_model = (404, refusal("not_found_error", "model: claude-nothing"))

    def make(self, wire: Wire, **settings: Any) -> AnthropicProvider:
        return AnthropicProvider(api_key="secret-key", transport=transport(wire), **settings)

    def read_timeout(self) -> Exception:
        return httpx2.ReadTimeout("read timed out")

    def reset(self) -> Exception:
        return httpx2.ReadError("[Errno 104] Connection reset by peer")

    def text_stream(self, deltas: list[str]) -> str:
        raw = "".join(
            'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
            f'"delta":{{"type":"text_delta","text":"{delta}"}}}}\n\n'
            for delta in deltas
        )
        opening, closing = text_block(0)
        return events(START, opening) + raw + events(closing, end(), STOP)

    def test_signatures_and_redacted_thinking_are_kept(self):
        message = self.play(
            events(START, *block(0, {"type": "redacted_thinking", "data": "blob"}),
                   *block(1, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "signature_delta", "signature": "a"},
                          {"type": "signature_delta", "signature": "b"}),
                   *text_block(2, "x"), end(), STOP)
        )[-1].message  # fmt: skip
        assert message is not None
        assert message["content"][:2] == [
            {"type": "thinking", "thinking": "", "thinkingSignature": "blob", "redacted": True},
            {"type": "thinking", "thinking": "", "thinkingSignature": "ab"},
        ]

    @pytest.mark.parametrize(
        ("raw", "stored"),
        [("end_turn", "stop"), ("stop_sequence", "stop"), ("pause_turn", "stop"), ("max_tokens", "length"),
         ("model_context_window_exceeded", "length"), ("tool_use", "toolUse")],
    )  # fmt: skip
    def test_stop_reasons(self, raw: str, stored: str):
        """04 §6.8."""
        message = self.play(events(START, *text_block(0, "x"), end(raw), STOP))[-1].message
        assert message is not None
        assert (message["stopReason"], message["rawStopReason"]) == (stored, raw)

    @pytest.mark.parametrize(
        ("raw", "kind"), [("refusal", "refused"), ("sensitive", "refused"), ("whim", "protocol")]
    )
    def test_refusals_and_unknown_reasons_are_errors(self, raw: str, kind: str):
        """04 §6.8."""
        error = self.fault(Wire(pieces=[events(START, *text_block(0, "x"), end(raw), STOP).encode()]))
        assert error.kind == kind
        assert not error.retryable
        assert error.partial is not None

    def test_usage_is_cumulative_and_counts_the_cache(self):
        message = self.play(
            events(START, *text_block(0, "x"),
                   end(input_tokens=7, cache_read_input_tokens=100, cache_creation_input_tokens=20), STOP)
        )[-1].message  # fmt: skip
        assert message is not None
        assert message["usage"] == {
            "input": 7, "output": 5, "cacheRead": 100, "cacheWrite": 20, "totalTokens": 132,
        }  # fmt: skip

    def test_arguments_that_are_no_json_are_kept_beside_the_call(self):
        message = self.play(
            events(START, *block(0, {"type": "tool_use", "id": "c", "name": "read", "input": {}},
                                 {"type": "input_json_delta", "partial_json": '{"path": "a'}), end("max_tokens"), STOP)
        )[-1].message  # fmt: skip
        assert message is not None
        assert message["content"][0]["arguments"] == {}
        assert message["content"][0]["malformedArguments"] == '{"path": "a'

    def test_broken_json_in_the_stream_is_a_protocol_error(self):
        error = self.fault(Wire(pieces=[events(START).encode(), b"event: message_delta\ndata: {broken\n\n"]))
        assert error.kind == "protocol"

    def test_the_whole_request(self):
        wire = Wire(pieces=[self.text_only.encode()])
        provider = self.make(wire)
        collect(provider, request(model="claude-opus-5-5", thinking_level="high", max_tokens=5000))
        provider.close()
        body = wire.sent[0]
        headers = body.pop("headers")
        assert headers["authorization"] == "Bearer secret-key"
        assert headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
        assert body == {
            "path": "/v1/messages", "model": "claude-opus-5-5", "max_tokens": 5000, "stream": True,
            "system": [{"type": "text", "text": "You are a test.", "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}],
            "tools": [{"name": "read", "description": "Read a file",
                       "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
                       "cache_control": {"type": "ephemeral"}}],
            "thinking": {"type": "adaptive", "display": "summarized",
                         "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
            "output_config": {"effort": "high"},
        }  # fmt: skip

    def test_other_services_get_the_key_under_the_old_header_too(self):
        wire = Wire(pieces=[self.text_only.encode()])
        provider = self.make(wire, base_url="http://gateway")
        collect(provider)
        provider.close()
        assert wire.sent[0]["headers"]["x-api-key"] == "secret-key"

    def test_nothing_is_retried_by_the_library(self):
        """04 RT-06."""
        wire = Wire(pieces=[b"{}"], status=529)
        self.fault(wire)
        assert len(wire.sent) == 1


def test_a_named_image_is_left_out_and_the_request_made_again():
    """B39."""
    sent: list[Json] = []

    def answer(received: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(received.read()))
        if len(sent) == 1:
            complaint = "messages.0.content.0.image.source.base64.data: Could not process image"
            return httpx2.Response(400, text=refusal("invalid_request_error", complaint))
        return httpx2.Response(
            200, text=TestAnthropic.text_only, headers={"content-type": "text/event-stream"}
        )

    provider = AnthropicProvider(api_key="k", transport=httpx2.MockTransport(answer))
    picture = image_block(png())
    collected = collect(provider, request(messages=[{"role": "user", "content": [picture], "timestamp": 1}]))
    provider.close()
    assert collected[-1].kind == "done"
    assert [body["messages"][0]["content"][0]["type"] for body in sent] == ["image", "text"]


class TestAnthropicStops(StopContract):
    def connect(self, base_url: str) -> AnthropicProvider:
        import_module("anthropic")  # takes more than a second the first time, which is not what is measured
        return AnthropicProvider(api_key="k", base_url=base_url)


def test_a_key_is_needed():
    with pytest.raises(ProviderError) as caught:
        create_provider("anthropic")
    assert caught.value.kind == "missing_key"


def test_an_address_where_nobody_listens_is_a_network_error():
    provider = AnthropicProvider(api_key="k", base_url="http://127.0.0.1:9")
    with pytest.raises(ProviderError) as caught:
        list(provider.stream(request(), StopSignal()))
    provider.close()
    assert caught.value.kind == "network"
    assert caught.value.retryable
