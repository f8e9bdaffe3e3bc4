"""What stays of an entry whose text was erased: its place, its kind and its figures, never its words."""

from __future__ import annotations

from typing import Any, Final

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.messages import Json, text_block, tool_calls_of

_FRAME: Final = ("type", "id", "parentId", "timestamp")
_KEPT: Final[dict[str, tuple[str, ...]]] = {
    Kind.COMPACTION: ("firstKeptEntryId", "tokensBefore", "usage", "fromHook"),
    Kind.BRANCH_SUMMARY: ("fromId", "usage", "fromHook"),
    Kind.LABEL: ("targetId",),
    Kind.CUSTOM_MESSAGE: ("customType", "display"),
    Kind.CUSTOM: ("customType",),
    Kind.CONTEXT_EDIT: ("targetId",),
    Kind.MODEL_CHANGE: ("provider", "modelId"),
    Kind.THINKING_LEVEL_CHANGE: ("thinkingLevel",),
    Kind.USAGE: ("usage", "kind", "provider", "model"),
}
_KEPT_OF_MESSAGE: Final = (
    *("role", "api", "provider", "model", "usage", "stopReason", "timestamp", "toolCallId", "toolName"),
    *("isError", "exitCode", "cancelled", "truncated", "excludeFromContext", "durationMs", "customType"),
)


def tombstone(entry: Entry, reason: str) -> Json:
    """The record that takes the entry's place: of the same kind, id, parent and time, so that the tree, the totals
    and every later request stay valid. Calls keep their names and ids, for results answer them."""
    record = entry.record
    words = f"[Erased: {reason}]" if reason else "[Erased]"
    stone: Json = {name: record[name] for name in _FRAME if name in record}
    if entry.message is not None:
        stone["message"] = _of_message(entry.message, words)
        return stone
    stone.update({name: record[name] for name in _KEPT.get(entry.kind, ()) if name in record})
    match entry.kind:
        case Kind.COMPACTION | Kind.BRANCH_SUMMARY:
            stone["summary"] = words
        case Kind.CUSTOM_MESSAGE:
            stone["content"] = words
        case Kind.SESSION_INFO:
            stone["name"] = ""
        case Kind.CONTEXT_EDIT:
            replaced = record.get("replacement") is not None
            stone["replacement"] = {"content": [text_block(words)]} if replaced else None
        case _:
            pass
    return stone


def _of_message(message: Json, words: str) -> Json:
    kept: Json = {name: message[name] for name in _KEPT_OF_MESSAGE if name in message}
    if message.get("role") == "bashExecution":
        return {**kept, "command": words, "output": ""}
    if message.get("role") == "system":
        return {**kept, "content": words}
    content: list[Any] = [text_block(words)]
    if message.get("role") == "assistant":
        content += [
            {"type": "toolCall", "id": call.get("id"), "name": call.get("name"), "arguments": {}}
            for call in tool_calls_of(message)
        ]
    return {**kept, "content": content}
