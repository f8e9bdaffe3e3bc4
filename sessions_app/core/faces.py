"""What an entry looks like in a drawing of the tree: one letter each, so that a segment of thousands is a short string.

The letters are stored and added up in queries; a new kind gets a new letter and none changes its meaning.
"""

from __future__ import annotations

from typing import Final

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.messages import Json, blocks_of, text_of, tool_calls_of

USER: Final = "u"
ANSWER: Final = "a"
CALLS: Final = "t"
"""An answer of nothing but tool calls."""
RESULT: Final = "r"
CHANGE: Final = "w"
"""A tool result that changed a file."""
FAILURE: Final = "f"
"""A tool result that is an error."""
ERROR: Final = "e"
STOPPED: Final = "s"
COMPACTION: Final = "c"
BRANCH_SUMMARY: Final = "b"
CUSTOM_MESSAGE: Final = "x"
SHELL: Final = "h"
SYSTEM: Final = "y"
EDIT: Final = "o"
NOTE: Final = "n"
"""Bookkeeping: labels, names, changes of model and thinking, state of extensions."""
USAGE: Final = "k"
UNKNOWN: Final = "z"

GLYPHS: Final[dict[str, str]] = {
    USER: "user",
    ANSWER: "assistant",
    CALLS: "tool",
    RESULT: "tool",
    CHANGE: "tool",
    FAILURE: "failed",
    ERROR: "error",
    STOPPED: "stopped",
    COMPACTION: "compaction",
    BRANCH_SUMMARY: "branch",
    CUSTOM_MESSAGE: "custom",
    SHELL: "shell",
}
"""The shape each letter is drawn with, by its name in the sprite; what has none is a `note`."""

_BY_KIND: Final[dict[str, str]] = {
    Kind.COMPACTION: COMPACTION,
    Kind.BRANCH_SUMMARY: BRANCH_SUMMARY,
    Kind.CUSTOM_MESSAGE: CUSTOM_MESSAGE,
    Kind.CONTEXT_EDIT: EDIT,
    Kind.USAGE: USAGE,
    Kind.LABEL: NOTE,
    Kind.SESSION_INFO: NOTE,
    Kind.MODEL_CHANGE: NOTE,
    Kind.THINKING_LEVEL_CHANGE: NOTE,
    Kind.CUSTOM: NOTE,
}


def face_of(entry: Entry) -> str:
    """The letter of an entry; one whose record makes no sense is UNKNOWN, never an error."""
    message = entry.message
    if entry.kind != Kind.MESSAGE or message is None:
        return _BY_KIND.get(entry.kind, UNKNOWN)
    match entry.role:
        case "user":
            return USER
        case "assistant":
            return _of_answer(message)
        case "toolResult":
            return _of_result(message)
        case "bashExecution":
            return SHELL
        case "system":
            return SYSTEM
        case "custom":
            return CUSTOM_MESSAGE
        case "branchSummary":
            return BRANCH_SUMMARY
        case "compactionSummary":
            return COMPACTION
        case _:
            return UNKNOWN


def _of_answer(message: Json) -> str:
    if message.get("stopReason") == "error":
        return ERROR
    if message.get("stopReason") == "aborted":
        return STOPPED
    content = message.get("content")
    if text_of(content).strip() or not tool_calls_of(message):
        return ANSWER
    return CALLS if blocks_of(content) else ANSWER


def _of_result(message: Json) -> str:
    if message.get("isError") is True:
        return FAILURE
    details = message.get("details")
    if not isinstance(details, dict) or not isinstance(details.get("path"), str):
        return RESULT
    return CHANGE if "firstChangedLine" in details or "created" in details else RESULT
