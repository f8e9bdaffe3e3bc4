"""The strict stand-in really refuses what the service refuses; otherwise the guard's tests would prove nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.strict_provider import BadRequestError, check

TOOLS = [{"name": "read"}]


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {}}


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": [text("ok")]}


def turn(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


HELLO = turn("user", text("Hi"))


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "at least one"),
        ([turn("assistant", text("x"))], "first message"),
        ([HELLO, turn("assistant", text("x"))], "prefill"),
        ([turn("user")], "non-empty"),
        ([turn("user", text(" "))], "non-whitespace"),
        ([turn("user", text("\ud800"))], "surrogate"),
        ([HELLO, turn("assistant", use("a")), HELLO], "immediately after"),
        ([HELLO, turn("assistant", use("a")), turn("user", text("x"), result("a"))], "come first"),
        ([HELLO, turn("user", result("a"))], "unexpected `tool_use_id`"),
        ([HELLO, turn("assistant", use("a"), use("a")), turn("user", result("a"))], "unique"),
        ([HELLO, turn("assistant", use("a!")), turn("user", result("a!"))], "pattern"),
        ([HELLO, turn("assistant", {"type": "thinking", "thinking": "t", "signature": "s"}), HELLO], "final block"),
        ([HELLO, turn("assistant", {"type": "thinking", "thinking": "t", "signature": "s"}, text("x")), HELLO], "Invalid"),
    ],
)  # fmt: skip
def test_what_the_service_refuses(messages: list[Any], words: str):
    with pytest.raises(BadRequestError, match=words):
        check({"messages": messages, "tools": TOOLS}, signatures={})


def test_calls_need_declared_tools():
    messages = [HELLO, turn("assistant", use("a")), turn("user", result("a"))]
    with pytest.raises(BadRequestError, match="define tools"):
        check({"messages": messages})
    check({"messages": messages, "tools": TOOLS})
