"""The demo model as a provider: its events, ids, pace, stop and usage."""

from __future__ import annotations

import threading
import time
from typing import Any

from sessions_app.agent.providers import create_provider
from sessions_app.agent.providers.base import ProviderEvent, ProviderRequest, ToolSpec
from sessions_app.agent.providers.demo import DemoProvider
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.understanding import understand
from sessions_app.agent.stop import StopSignal

Json = dict[str, Any]

TOOLS = tuple(
    ToolSpec(name, f"Tool {name}", {"type": "object"}) for name in ("read", "bash", "edit", "write", "ls")
)


def request(text: str = "Read notes.txt", **fields: Any) -> ProviderRequest:
    messages = [{"role": "user", "content": text, "timestamp": 1}]
    return ProviderRequest(
        **{"model": "demo", "system": "Be kind.", "messages": messages, "tools": TOOLS, **fields}
    )


def events(asked: ProviderRequest, stop: StopSignal | None = None, pace: float = 0) -> list[ProviderEvent]:
    return list(DemoProvider(pace=pace, clock=lambda: 7).stream(asked, stop or StopSignal()))


def test_a_call_comes_as_text_and_tool_call_blocks() -> None:
    seen = events(request())
    assert [e.kind for e in seen if e.kind != "text_delta"] == [
        "text_start", "text_end", "toolcall_start", "toolcall_delta", "toolcall_end", "done",
    ]  # fmt: skip
    message = seen[-1].message
    assert message is not None
    assert message["stopReason"] == "toolUse"
    assert [b["type"] for b in message["content"]] == ["text", "toolCall"]
    assert message["content"][1]["arguments"] == {"path": "notes.txt"}
    assert "".join(e.delta for e in seen if e.kind == "text_delta") == message["content"][0]["text"]
    started = next(e for e in seen if e.kind == "toolcall_start")
    assert started.block == {"id": message["content"][1]["id"], "name": "read"}


def test_the_same_conversation_gets_the_same_answer() -> None:
    assert events(request())[-1] == events(request())[-1]


def test_call_ids_differ_along_a_path() -> None:
    first = events(request())[-1].message
    assert first is not None
    call_id = first["content"][1]["id"]
    result = {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "read",
        "content": [{"type": "text", "text": "x"}],
        "isError": True,
    }
    later = [
        *request().messages,
        first,
        result,
        {"role": "user", "content": "Read notes.txt", "timestamp": 2},
    ]
    second = events(request(messages=later))[-1].message
    assert second is not None
    assert second["content"][1]["id"] != call_id


def test_usage_is_a_quarter_of_the_characters_and_free() -> None:
    message = events(request("hello"))[-1].message
    assert message is not None
    usage = message["usage"]
    assert usage["totalTokens"] == usage["input"] + usage["output"] > 0
    assert usage["cost"]["total"] == 0
    assert message["timestamp"] == 7


def test_words_come_at_the_pace_asked_for() -> None:
    began = time.monotonic()
    seen = events(request("what is 2 + 2?"), pace=100)
    words = sum(e.kind == "text_delta" for e in seen)
    assert time.monotonic() - began >= words / 100 * 0.9


def test_a_stop_ends_the_answer_at_once_with_what_was_written() -> None:
    stop = StopSignal()
    threading.Timer(0.15, stop.request).start()
    began = time.monotonic()
    seen = events(request("help"), stop, pace=20)
    assert time.monotonic() - began < 2
    message = seen[-1].message
    assert message is not None
    assert message["stopReason"] == "aborted"
    arrived = "".join(e.delta for e in seen if e.kind == "text_delta")
    assert [b["text"] for b in message["content"]] == ([arrived] if arrived else [])
    assert "text_end" not in [e.kind for e in seen]


def test_a_call_that_was_cut_short_is_left_out() -> None:
    stop = StopSignal()
    asked = request(f"write ```\n{'x' * 4000}\n``` to a.txt")
    provider = DemoProvider(pace=0)
    seen = []
    for event in provider.stream(asked, stop):
        seen.append(event)
        if event.kind == "toolcall_delta":
            stop.request()
    assert seen[-1].message is not None
    assert seen[-1].message["stopReason"] == "aborted"
    assert all(b["type"] != "toolCall" for b in seen[-1].message["content"])


def test_it_is_made_like_every_provider() -> None:
    assert create_provider("demo", api_key="", base_url="", pace=0).name == "demo"


def test_without_a_request_it_says_so() -> None:
    message = events(request(messages=[]))[-1].message
    assert message is not None
    assert "no request" in message["content"][0]["text"]


def test_a_job_in_circles_ends() -> None:
    turns: list[Json] = [{"role": "user", "content": "Read notes.txt", "timestamp": 1}]
    for number in range(60):
        call = {"type": "toolCall", "id": f"c{number}", "name": "ls", "arguments": {}}
        turns.append({"role": "assistant", "content": [call]})
        turns.append(
            {
                "role": "toolResult",
                "toolCallId": f"c{number}",
                "toolName": "ls",
                "content": [],
                "isError": False,
            }
        )
    message = events(request(messages=turns))[-1].message
    assert message is not None
    assert message["stopReason"] == "stop"
    assert "Stopped after 60 steps" in message["content"][0]["text"]


def test_long_and_odd_texts_are_read_quickly() -> None:
    texts = ["read a and " * 50, "how many lines of code are in the files of " * 13, "add a line to " * 42, "find all the files that contain " * 300, "‹p0› ‹q7›", "``` ```", "\x00", "1" * 5000]  # fmt: skip
    began = time.monotonic()
    for text in texts:
        understand(text, Desk(frozenset()))
    assert time.monotonic() - began < 10
