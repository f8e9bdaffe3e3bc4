"""What every provider must do, written once and run against each (see the test files beside this one)."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from sessions_app.agent.providers.base import (
    Provider,
    ProviderError,
    ProviderEvent,
    ProviderRequest,
    ToolSpec,
)
from sessions_app.agent.stop import StopSignal

Json = dict[str, Any]

TOOLS = (ToolSpec("read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),)


@dataclass
class Wire:
    """What the service sends: bytes in pieces, then perhaps an exception of the transport."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    failure: Exception | None = None
    sent: list[Json] = field(default_factory=list)  # the bodies that were received


def request(**fields: Any) -> ProviderRequest:
    defaults: Json = {
        "model": "test-model", "system": "You are a test.", "session_id": "s1", "tools": TOOLS,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}], "timestamp": 1}],
    }  # fmt: skip
    return ProviderRequest(**{**defaults, **fields})


def collect(
    provider: Provider, asked: ProviderRequest | None = None, stop: StopSignal | None = None
) -> list[ProviderEvent]:
    return list(provider.stream(asked or request(), stop or StopSignal()))


def one_byte_pieces(text: str | bytes) -> list[bytes]:
    data = text.encode() if isinstance(text, str) else text
    return [data[index : index + 1] for index in range(len(data))]


class ProviderContract:
    """Subclass it, say how the provider is made from a Wire, and give the recorded streams.

    `full` holds thinking "Let me see", text "Hello wörld 😀", one call `read {"path": "a.txt"}` with the id
    `call_1`, and usage of 10 input and 5 output tokens.
    """

    full: str
    text_only: str
    error_inside: str
    unknown_events: str
    overflow: tuple[int, str]
    throttled: tuple[int, str]
    quota: tuple[int, str]
    bad_key: tuple[int, str]
    no_model: tuple[int, str]

    def make(self, wire: Wire, **settings: Any) -> Any:
        raise NotImplementedError

    def read_timeout(self) -> Exception:
        raise NotImplementedError

    def reset(self) -> Exception:
        """What the transport raises when the connection is reset."""
        raise NotImplementedError

    def ending(self, wire: Wire) -> tuple[Json | None, ProviderError | None]:
        """The message of an answer that came to its end, or the fault it ended with."""
        provider = self.make(wire)
        try:
            return collect(provider)[-1].message, None
        except ProviderError as error:
            return None, error
        finally:
            provider.close()

    def play(
        self, text: str | bytes, *, pieces: Callable[[Any], list[bytes]] | None = None, **fields: Any
    ) -> list[ProviderEvent]:
        data = text.encode() if isinstance(text, str) else text
        provider = self.make(Wire(pieces=pieces(data) if pieces else [data], **fields))
        try:
            return collect(provider)
        finally:
            provider.close()

    def fault(self, wire: Wire) -> ProviderError:
        provider = self.make(wire)
        with pytest.raises(ProviderError) as caught:
            collect(provider)
        provider.close()
        return caught.value

    def test_a_whole_answer(self):
        events = self.play(self.full)
        assert [event.kind for event in events if not event.kind.endswith("delta")] == [
            "thinking_start", "thinking_end", "text_start", "text_end", "toolcall_start", "toolcall_end", "done",
        ]  # fmt: skip
        message = events[-1].message
        assert message is not None
        thinking, text, call = message["content"]
        assert thinking["thinking"] == "Let me see"
        assert text == {"type": "text", "text": "Hello wörld 😀"}
        assert call == {"type": "toolCall", "id": "call_1", "name": "read", "arguments": {"path": "a.txt"}}
        assert message["stopReason"] == "toolUse"
        assert message["usage"]["input"] == 10
        assert message["usage"]["output"] == 5
        assert message["role"] == "assistant"
        assert message["model"] == "test-model"

    def test_deltas_add_up_to_their_blocks(self):
        events = self.play(self.full)
        message = events[-1].message
        assert message is not None
        for index, key in ((0, "thinking"), (1, "text")):
            deltas = [
                event.delta for event in events if event.index == index and event.kind.endswith("delta")
            ]
            assert "".join(deltas) == message["content"][index][key]
        starts = [event for event in events if event.kind == "toolcall_start"]
        assert starts[0].block == {"id": "call_1", "name": "read"}
        ends = [event for event in events if event.kind == "toolcall_end"]
        assert ends[0].block == message["content"][2]

    def test_bytes_that_come_one_by_one(self):
        whole = self.play(self.full)
        single = self.play(self.full, pieces=one_byte_pieces)
        assert single[-1].message == whole[-1].message

    @pytest.mark.parametrize("part", [0.2, 0.5, 0.8])
    def test_an_answer_that_is_cut_off_is_an_error_with_what_had_arrived(self, part: float):
        text = self.text_only.encode()
        error = self.fault(Wire(pieces=[text[: int(len(text) * part)]]))
        assert error.kind == "protocol"
        assert error.retryable
        if part == 0.8:
            assert error.partial is not None
            assert error.partial["content"][0]["text"]

    def test_an_unfinished_call_is_not_part_of_what_had_arrived(self):
        cut = self.full.encode()[: self.full.encode().rindex(b"a.txt")]
        error = self.fault(Wire(pieces=[cut]))
        assert error.partial is not None
        assert [block["type"] for block in error.partial["content"]] == ["thinking", "text"]

    def test_an_empty_answer_is_an_error(self):
        error = self.fault(Wire(pieces=[]))
        assert error.kind == "protocol"
        assert error.partial is None

    def test_a_broken_connection_is_worth_another_try(self):
        text = self.text_only.encode()
        error = self.fault(Wire(pieces=[text[: len(text) // 2]], failure=self.read_timeout()))
        assert error.kind == "timeout"
        assert error.retryable

    def test_a_connection_reset_at_any_boundary_keeps_what_had_arrived(self):
        pieces = self.full.encode().splitlines(keepends=True)
        texts = []
        for arrived in range(len(pieces)):
            message, error = self.ending(Wire(pieces=pieces[:arrived], failure=self.reset()))
            if error is None:
                # All that makes an answer whole had come; what was lost is the end of the connection.
                assert message is not None
                assert message["stopReason"] == "toolUse"
                continue
            assert error.kind in {"network", "protocol"}
            assert error.retryable
            blocks = (error.partial or {}).get("content", [])
            # An unfinished call is no part of it.
            assert all(block.get("arguments") in (None, {"path": "a.txt"}) for block in blocks)
            texts.append("".join(block.get("text", "") for block in blocks))
        # The further it came, the more of it is kept.
        assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))
        assert texts[-1] == "Hello wörld 😀"

    def test_a_very_slow_answer_is_told_as_it_comes(self):
        lines = self.full.encode().splitlines(keepends=True)

        def slowly() -> Iterator[bytes]:
            for line in lines:
                time.sleep(0.01)
                yield line

        provider = self.make(Wire(pieces=slowly()))  # type: ignore[arg-type]
        told = [(event.kind, time.monotonic()) for event in provider.stream(request(), StopSignal())]
        provider.close()
        assert told[-1][0] == "done"
        assert told[-1][1] - told[0][1] > 0.02

    def test_an_error_inside_the_stream(self):
        error = self.fault(Wire(pieces=[self.error_inside.encode()]))
        assert error.kind == "overloaded"
        assert error.retryable

    def test_events_nobody_knows_are_skipped(self):
        message = self.play(self.unknown_events)[-1].message
        assert message is not None
        assert message["content"] == [{"type": "text", "text": "Hello"}]

    @pytest.mark.parametrize(
        ("name", "kind", "retryable"),
        [("overflow", "overflow", False), ("throttled", "rate_limit", True), ("quota", "quota", False),
         ("bad_key", "auth", False), ("no_model", "unknown_model", False)],
    )  # fmt: skip
    def test_refusals_are_told_apart(self, name: str, kind: str, retryable: bool):
        status, body = getattr(self, name)
        headers = {"content-type": "application/json", "retry-after": "7"}
        error = self.fault(Wire(pieces=[body.encode()], status=status, headers=headers))
        assert error.kind == kind
        assert error.retryable is retryable
        assert error.status == status
        assert error.retry_after == 7
        assert error.partial is None

    def test_the_key_is_blotted_out_of_errors(self):
        status, body = self.bad_key
        error = self.fault(Wire(pieces=[body.replace("KEY", "secret-key").encode()], status=status,
                                headers={"content-type": "application/json"}))  # fmt: skip
        assert "secret-key" not in str(error)

    def test_a_stop_before_the_request_sends_nothing(self):
        wire = Wire(pieces=[self.text_only.encode()])
        provider = self.make(wire)
        stop = StopSignal()
        stop.request()
        events = collect(provider, stop=stop)
        provider.close()
        assert wire.sent == []
        assert [event.kind for event in events] == ["done"]
        assert events[0].message is not None
        assert events[0].message["stopReason"] == "aborted"

    def test_a_stop_between_two_events_keeps_what_had_arrived(self):
        provider = self.make(Wire(pieces=one_byte_pieces(self.text_only)))
        stop = StopSignal()
        events = []
        for event in provider.stream(request(), stop):
            events.append(event)
            if event.kind == "text_delta":
                stop.request()
        provider.close()
        assert events[-1].kind == "done"
        assert events[-1].message["stopReason"] == "aborted"
        assert events[-1].message["content"][0]["text"]

    def test_closing_the_generator_is_clean(self):
        provider = self.make(Wire(pieces=one_byte_pieces(self.text_only)))
        events = provider.stream(request(), StopSignal())
        next(events)
        events.close()
        provider.close()

    def test_half_characters_become_whole_or_are_replaced(self):
        """A character may arrive in two halves; a half without its other half must not reach anybody."""
        for halves, expected in (
            ([r"\ud83d", r"\ude00"], "😀"),
            ([r"\ud83d", "x"], "\ufffdx"),
            ([r"\ud83d"], "\ufffd"),
        ):
            message = self.play(self.text_stream(halves))[-1].message
            assert message is not None
            assert message["content"][0]["text"] == expected

    def text_stream(self, deltas: list[str]) -> str:
        """A stream whose text comes in these deltas, given as the inside of JSON strings."""
        raise NotImplementedError

    def test_every_tap_is_called(self):
        from sessions_app.agent.providers.base import ProviderTaps

        seen: Json = {"events": []}

        def change(payload: Json) -> Json:
            return {**payload, "metadata": {"x": 1}}

        wire = Wire(pieces=[self.text_only.encode()])
        provider = self.make(wire)
        taps = ProviderTaps(
            headers=lambda headers: headers.update({"x-test": "1"}), payload=change,
            response=lambda response: seen.update(response), stream_event=seen["events"].append,
        )  # fmt: skip
        collect(provider, request(taps=taps))
        provider.close()
        assert wire.sent[0]["metadata"] == {"x": 1}
        assert wire.sent[0]["headers"]["x-test"] == "1"
        assert seen["status"] == 200
        assert seen["events"]


class StopContract:
    """How fast a stop ends a read, against a real server that says nothing."""

    def connect(self, base_url: str) -> Any:
        raise NotImplementedError

    @pytest.mark.parametrize("model", ["silent-from-the-start", "silent-after-a-word"])
    def test_a_stop_ends_a_silent_read_at_once(self, stand_in: str, model: str):
        provider = self.connect(stand_in)
        stop = StopSignal()
        pressed: list[float] = []

        def press() -> None:
            pressed.append(time.monotonic())
            stop.request()

        timer = threading.Timer(0.3, press)
        timer.start()
        events = collect(provider, request(model=model), stop)
        ended = time.monotonic()
        provider.close()
        timer.join()
        assert ended - pressed[0] < 0.5
        assert events[-1].message is not None
        assert events[-1].message["stopReason"] == "aborted"

    def test_the_provider_can_be_used_again_after_a_stop(self, stand_in: str):
        provider = self.connect(stand_in)
        stop = StopSignal()
        threading.Timer(0.2, stop.request).start()
        collect(provider, request(model="silent-after-a-word"), stop)
        events = collect(provider, request(model="hello"))
        provider.close()
        assert events[-1].message is not None
        assert events[-1].message["stopReason"] == "stop"

    def test_a_second_request_on_the_same_connection_can_be_stopped_too(self, stand_in: str):
        provider = self.connect(stand_in)
        collect(provider, request(model="hello"))
        stop = StopSignal()
        threading.Timer(0.2, stop.request).start()
        before = time.monotonic()
        collect(provider, request(model="silent-from-the-start"), stop)
        provider.close()
        assert time.monotonic() - before < 1
