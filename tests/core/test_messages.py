"""Making and reading messages."""

from __future__ import annotations

from sessions_app.core.messages import (
    assistant_message,
    blocks_of,
    number_of,
    text_of,
    tool_calls_of,
    tool_result_message,
    user_message,
)
from tests.builders import call


def test_a_users_words_are_a_string_and_blocks_with_images() -> None:
    image = {"type": "image", "data": "aW1n", "mimeType": "image/png"}
    assert user_message("hi", timestamp=1) == {"role": "user", "content": "hi", "timestamp": 1}
    assert user_message("hi", [image], timestamp=1)["content"] == [{"type": "text", "text": "hi"}, image]


def test_an_answer_has_zero_usage_of_its_own_until_told() -> None:
    one = assistant_message([], api="x", provider="p", model="m", timestamp=1)
    other = assistant_message([], api="x", provider="p", model="m", timestamp=1, error_message="no")
    one["usage"]["cost"]["total"] = 5
    assert other["usage"]["cost"]["total"] == 0
    assert other["errorMessage"] == "no"
    assert "errorMessage" not in one


def test_a_tool_result_names_its_call() -> None:
    result = tool_result_message("c1", "bash", [], timestamp=1, details={"a": 1}, duration_ms=5)
    assert (result["toolCallId"], result["details"], result["durationMs"]) == ("c1", {"a": 1}, 5)
    assert "details" not in tool_result_message("c1", "bash", [], timestamp=1)


def test_text_is_read_out_of_anything() -> None:
    assert text_of("plain") == "plain"
    assert text_of([{"type": "text", "text": "a"}, {"type": "text"}, {"type": "odd", "text": "x"}, 5]) == "a"
    assert text_of([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], separator="\n") == "a\nb"
    assert text_of(None) == ""
    assert blocks_of("x") == [{"type": "text", "text": "x"}]


def test_only_answers_have_tool_calls() -> None:
    assert tool_calls_of({"role": "assistant", "content": [call("read")]}) == [call("read")]
    assert tool_calls_of({"role": "user", "content": [call("read")]}) == []


def test_booleans_are_no_numbers() -> None:
    assert number_of(True) is None
    assert number_of(1.5) == 1.5
