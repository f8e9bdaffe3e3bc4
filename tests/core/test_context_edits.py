"""What may be edited, and what a failed attempt takes along."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.core.context_edits import check_edit, failed_attempt
from sessions_app.core.errors import MalformedPayload, NotOnThisPath, SessionError, UnknownEntry
from tests.builders import answer, call, message_entry, path, tree


@pytest.mark.parametrize(
    ("target", "replacement"),
    [("e1", None), ("e2", {"content": "x"}), ("e3", {"content": []}), ("e4", None)],
)
def test_messages_of_user_model_tools_and_extensions_can_be_edited(target: str, replacement: Any) -> None:
    """01 §5 context-edit validity."""
    built = tree("u a t note")
    check_edit(built, built.path("e4"), target, replacement)


@pytest.mark.parametrize(
    ("target", "replacement", "error"),
    [
        ("gone", None, UnknownEntry),
        ("e5", None, NotOnThisPath),
        ("e3", None, MalformedPayload),
        ("e4", None, MalformedPayload),
        ("e1", "text", MalformedPayload),
        ("e1", {"content": None}, MalformedPayload),
    ],
)
def test_each_violation_is_an_error_of_its_own(
    target: str, replacement: Any, error: type[SessionError]
) -> None:
    built = tree("u a bash bs | e2: u")
    with pytest.raises(error):
        check_edit(built, built.path("e4"), target, replacement)


def test_an_attempt_is_the_answer_with_the_results_of_its_calls() -> None:
    """02 §2: never leave an unpaired result."""
    entries = path("u a t meta t a t u")
    assert [entry.id for entry in failed_attempt(entries, entries[1])] == ["e2", "e3", "e5"]
    assert [entry.id for entry in failed_attempt(entries, entries[5])] == ["e6", "e7"]


def test_results_of_other_calls_stay() -> None:
    entries = path("u a t")
    entries[2].record["message"]["toolCallId"] = "another"
    assert [entry.id for entry in failed_attempt(entries, entries[1])] == ["e2"]


def test_results_of_a_later_answer_stay_though_its_call_has_the_same_id() -> None:
    """02 §2: up to the next answer."""
    message = {"role": "toolResult", "toolCallId": "c1", "toolName": "ls", "content": [], "isError": False}
    entries = [
        message_entry("e1", None, answer(content=[call("ls", "c1")])),
        message_entry("e2", "e1", message),
        message_entry("e3", "e2", answer(content=[call("ls", "c1")])),
        message_entry("e4", "e3", message),
    ]
    assert [entry.id for entry in failed_attempt(entries, entries[0])] == ["e1", "e2"]
    assert [entry.id for entry in failed_attempt(entries, entries[2])] == ["e3", "e4"]
