"""Taking something out of the context, or changing it there: what may be edited, and what a failed attempt takes along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.errors import MalformedPayload, NotOnThisPath, UnknownEntry
from sessions_app.core.messages import tool_calls_of
from sessions_app.core.projection import EDITABLE_ROLES
from sessions_app.core.tree import Tree

# A result stays in its place, so that its call is not left without one.
LEFT_OUT = "(This result was left out of the context.)"


def check_edit(tree: Tree, path: Sequence[Entry], target_id: str, replacement: Any) -> None:
    """Whether a context edit may be written at the end of the path (01 §5).

    Raises UnknownEntry, NotOnThisPath, or MalformedPayload for a target the model does not read as a
    message and for a replacement that is neither None nor `{"content": text or blocks}`.
    """
    if target_id not in tree:
        raise UnknownEntry(f"no entry {target_id!r} in this session")
    target = next((entry for entry in reversed(path) if entry.id == target_id), None)
    if target is None:
        raise NotOnThisPath(f"entry {target_id!r} is not on this branch")
    if target.kind != Kind.CUSTOM_MESSAGE and target.role not in EDITABLE_ROLES:
        raise MalformedPayload(
            f"entry {target_id!r} cannot be edited: only messages of the user, the model, tools and extensions can"
        )
    if replacement is None:
        return
    if not isinstance(replacement, dict) or not isinstance(replacement.get("content"), str | list):
        raise MalformedPayload("a replacement has the form {'content': text or a list of blocks}")


def failed_attempt(path: Sequence[Entry], answer: Entry) -> list[Entry]:
    """The answer and the results of its calls, up to the next answer: they are omitted together (02 §2)."""
    calls = {call.get("id") for call in tool_calls_of(answer.message or {})}
    attempt: list[Entry] = []
    for entry in path:
        if entry is answer:
            attempt.append(entry)
        elif attempt and entry.role == "assistant":
            break
        elif attempt and entry.role == "toolResult" and (entry.message or {}).get("toolCallId") in calls:
            attempt.append(entry)
    return attempt
