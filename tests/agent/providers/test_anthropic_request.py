"""How thinking, caching and results are asked for, model by model."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.agent.models_catalogue import describe_model
from sessions_app.agent.providers.anthropic_request import (
    REFUSED_IMAGE,
    build_body,
    build_messages,
    extra_headers,
    mended_body,
)
from sessions_app.agent.providers.base import ToolSpec
from tests.agent.images import image_block, png
from tests.agent.providers.contract import request

Json = dict[str, Any]
SIGNED = {"type": "thinking", "thinking": "t", "thinkingSignature": "s"}


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks) or [text("Hi")], "timestamp": 1}


def answer(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks), "timestamp": 1}


def use(call_id: str) -> Json:
    return {"type": "toolCall", "id": call_id, "name": "read", "arguments": {}}


def result(call_id: str, *blocks: Json, error: bool = False) -> Json:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "read",
        "content": list(blocks),
        "isError": error,
    }


def body(model: str, level: str, **fields: Any) -> Json:
    return build_body(
        request(model=model, thinking_level=level, **fields), describe_model("anthropic", model)
    )


@pytest.mark.parametrize(
    ("model", "level", "thinking", "effort"),
    [
        ("claude-opus-5", "off", {"type": "disabled"}, None),
        ("claude-sonnet-5-5", "off", {"type": "between_tools"}, None),
        ("claude-opus-5", "minimal", {"type": "adaptive", "display": "summarized"}, "low"),
        ("claude-opus-5", "max", {"type": "adaptive", "display": "summarized"}, "max"),
        ("claude-haiku-4-5", "off", None, None),
        ("claude-haiku-4-5", "low", {"type": "enabled", "budget_tokens": 2048}, None),
        ("claude-haiku-4-5", "max", {"type": "enabled", "budget_tokens": 8192 - 1024}, None),
    ],
)
def test_thinking_by_model_and_level(model: str, level: str, thinking: Json | None, effort: str | None):
    """04 §6.5."""
    built = body(model, level)
    assert built.get("thinking") == thinking
    assert built.get("output_config") == (None if effort is None else {"effort": effort})


def test_a_model_that_always_thinks_is_asked_for_little_when_off_is_wanted():
    built = body("claude-opus-5-5", "off")
    assert built["output_config"] == {"effort": "low"}
    assert built["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert extra_headers(built)


def test_a_budget_leaves_room_for_the_answer_or_is_not_asked_for():
    """04 §6.5."""
    assert "thinking" not in body("claude-haiku-4-5", "low", max_tokens=1500)
    assert body("claude-haiku-4-5", "high", max_tokens=3000)["thinking"]["budget_tokens"] == 1976


def test_calls_made_without_thinking_are_not_continued_with_a_budget():
    plain = [user(), answer(use("a")), result("a", text("x"))]
    assert "thinking" not in body("claude-haiku-4-5", "low", messages=plain)
    thought = [user(), answer(SIGNED, use("a")), result("a", text("x"))]
    assert "thinking" in body("claude-haiku-4-5", "low", messages=thought)


def test_without_thinking_the_history_holds_none():
    history = [user(), answer(SIGNED, text("x")), user()]
    assert body("claude-sonnet-5-5", "off", messages=history)["messages"][1]["content"] == [
        {"type": "text", "text": "x"}
    ]
    kept = body("claude-sonnet-5-5", "low", messages=history)["messages"][1]["content"]
    assert kept[0] == {"type": "thinking", "thinking": "t", "signature": "s"}


def test_redacted_thinking_goes_back_as_it_came():
    redacted = {"type": "thinking", "thinking": "", "thinkingSignature": "blob", "redacted": True}
    built = build_messages([user(), answer(redacted, text("x"))], keep_thinking=True)
    assert built[1]["content"][0] == {"type": "redacted_thinking", "data": "blob"}


def test_images_of_failed_calls_follow_all_results_with_a_caption():
    """04 §4.7."""
    built = build_messages(
        [
            user(),
            answer(use("a"), use("b")),
            result("a", text("no"), image_block(png()), error=True),
            result("b", text("yes")),
        ],
        keep_thinking=True,
    )
    assert [block["type"] for block in built[2]["content"]] == ["tool_result", "tool_result", "text", "image"]
    assert built[2]["content"][0]["is_error"] is True
    assert [block["type"] for block in built[2]["content"][0]["content"]] == ["text"], (
        "no image in a failed result"
    )
    assert built[2]["content"][2]["text"] == "Images of the failed call read:"
    assert "is_error" not in built[2]["content"][1]


def test_cache_markers_by_retention():
    """04 §9.1, §9.2."""

    def markers(**options: Any) -> list[Any]:
        built = body("claude-opus-5", "off", options=options)
        return [
            built["system"][-1].get("cache_control"), built["tools"][-1].get("cache_control"),
            built["messages"][-1]["content"][-1].get("cache_control"),
        ]  # fmt: skip

    assert markers() == [{"type": "ephemeral"}] * 3
    assert markers(cacheRetention="long") == [{"type": "ephemeral", "ttl": "1h"}] * 3
    assert markers(cacheRetention="none") == [None] * 3
    several = body("claude-opus-5", "off", messages=[user(text("a"), text("b"))])["messages"][-1]["content"]
    assert ["cache_control" in block for block in several] == [False, True]


def test_the_order_of_tools_does_not_change_the_request():
    """04 §9.3."""
    tools = (ToolSpec("b", "B", {}), ToolSpec("a", "A", {}))
    assert body("claude-opus-5", "off", tools=tools) == body("claude-opus-5", "off", tools=tools[::-1])
    assert [tool["name"] for tool in body("claude-opus-5", "off", tools=tools)["tools"]] == ["a", "b"]


def test_plain_text_content_is_taken_too():
    built = build_messages([{"role": "user", "content": "Hi", "timestamp": 1}], keep_thinking=False)
    assert built == [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]


def test_an_image_the_service_names_becomes_a_note():
    history = [
        user(text("x"), image_block(png())),
        answer(use("a")),
        result("a", text("y"), image_block(png())),
    ]
    built = body("claude-opus-5", "off", messages=history)
    mended = mended_body(built, "messages.0.content.1.image.source.base64.data: Could not process image")
    assert mended is not None
    assert mended["messages"][0]["content"][1] == {"type": "text", "text": REFUSED_IMAGE}
    inner = (
        "messages.2.content.0.tool_result.content.1.image.source: image dimensions exceed max allowed size"
    )
    assert mended_body(built, inner)["messages"][2]["content"][0]["content"][1]["text"] == REFUSED_IMAGE  # type: ignore[index]
    named_result_only = mended_body(built, "messages.2.content.0: image exceeds 5 MB maximum")
    assert named_result_only is not None
    assert named_result_only["messages"][2]["content"][0]["content"][1]["text"] == REFUSED_IMAGE
    assert built["messages"][0]["content"][1]["type"] == "image", "the first body is left as it was"


@pytest.mark.parametrize(
    "complaint",
    ["messages: something", "messages.9.content.0: image", "messages.0.content.9: image", "messages.0.content.0: image",
     "messages.0.content.0.text: too short", "messages.0.content.0: Invalid `signature` in `thinking` block"],
)  # fmt: skip
def test_complaints_that_cannot_be_mended(complaint: str):
    assert mended_body(body("claude-opus-5", "off", messages=[user(text("x"))]), complaint) is None


def test_a_refused_signature_takes_all_thinking_with_it():
    history = [user(), answer(SIGNED, text("x")), user(), answer(SIGNED, text("y")), user()]
    built = body("claude-opus-5", "high", messages=history)
    mended = mended_body(built, "messages.1.content.0: Invalid `signature` in `thinking` block")
    assert mended is not None
    assert [len(message["content"]) for message in mended["messages"]] == [1] * 5
