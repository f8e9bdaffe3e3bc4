"""What the model sees of a path: the newest compaction, its kept range, what follows, with edits applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.messages import Json, text_block
from sessions_app.core.system_prompt_log import replay
from sessions_app.core.times import milliseconds_of

DEFAULT_THINKING_LEVEL = "off"
EDITABLE_ROLES = frozenset({"user", "assistant", "toolResult"})
REPLACEABLE_ROLES = EDITABLE_ROLES | {"custom"}
"""A writer edits the first three only; a file may also replace what an extension stored as a message."""


class ProjectedEntry(NamedTuple):
    """An active entry and the messages it contributes: none, one, or a compaction's two.

    `omitted`: a context edit took its messages away.
    """

    entry: Entry
    messages: tuple[Json, ...]
    omitted: bool = False

    @property
    def visible(self) -> bool:
        return bool(self.messages)


@dataclass(frozen=True, slots=True)
class Context:
    """The projection of a path.

    `entries` are all active ones in the model's order, also those without messages; `messages` are
    theirs, flat; `model` is `{"provider", "modelId"}` or None; `thinking_level` is `off` … `max`.
    """

    entries: tuple[ProjectedEntry, ...]
    messages: list[Json]
    model: Json | None
    thinking_level: str

    @property
    def compaction(self) -> ProjectedEntry | None:
        """The newest compaction of the path, if the context begins with one that is not edited away."""
        if self.entries and self.entries[0].entry.kind == Kind.COMPACTION and self.entries[0].visible:
            return self.entries[0]
        return None

    @property
    def system(self) -> Json | None:
        """The prompt and tools in force, replayed from the system messages; None if there are none."""
        return replay(self.messages)


def project(path: Sequence[Entry]) -> Context:
    """The context of a path from a root to a leaf (01 §5)."""
    entries = project_entries(select(path))
    messages = [message for item in entries for message in item.messages]
    return Context(tuple(entries), messages, model_of(path), thinking_level_of(path))


def extended(context: Context, added: Sequence[Entry]) -> Context | None:
    """The context of a path that goes on with `added` below the one whose context this is: what `project` would say.

    None where something added, or an edit that is there already, may change what stands before or comes after it.
    """
    changing = (Kind.COMPACTION, Kind.CONTEXT_EDIT)
    if any(entry.kind in changing for entry in added):
        return None
    if any(item.entry.kind == Kind.CONTEXT_EDIT for item in context.entries):
        return None
    entries = [project_entry(entry) for entry in added]
    messages = [message for item in entries for message in item.messages]
    level = _last_thinking_level(added)
    return Context(
        (*context.entries, *entries),
        [*context.messages, *messages],
        model_of(added) or context.model,
        context.thinking_level if level is None else level,
    )


def select(path: Sequence[Entry]) -> list[Entry]:
    """The active entries: `[newest compaction] + kept range without system messages + what follows` (01 §5.1).

    A kept boundary that is not found before the compaction keeps nothing; so does the compaction's own id.
    """
    newest = newest_compaction(path)
    if newest is None:
        return list(path)
    compaction = path[newest]
    boundary = compaction.record.get("firstKeptEntryId")
    kept: list[Entry] = []
    for index in range(newest):
        if path[index].record["id"] == boundary:
            kept = [entry for entry in path[index:newest] if entry.role != "system"]
            break
    return [compaction, *kept, *path[newest + 1 :]]


def newest_compaction(path: Sequence[Entry]) -> int | None:
    """The position of the last compaction on the path."""
    for index in range(len(path) - 1, -1, -1):
        if path[index].kind == Kind.COMPACTION:
            return index
    return None


def project_entries(selected: Sequence[Entry]) -> list[ProjectedEntry]:
    """Messages per selected entry, by the latest context edit among them (01 §5.2).

    A compaction speaks only at the head of the list; an older one in the kept range is silent.
    """
    edits = latest_edits(selected)
    if not edits:
        silent = Kind.COMPACTION
        return [
            ProjectedEntry(entry, () if place and entry.kind == silent else messages_of(entry))
            for place, entry in enumerate(selected)
        ]
    projected: list[ProjectedEntry] = []
    for entry in selected:
        edit = edits.get(entry.id)
        if projected and entry.kind == Kind.COMPACTION:
            projected.append(
                ProjectedEntry(entry, (), omitted=edit is not None and replacement_of(edit) is None)
            )
        else:
            projected.append(project_entry(entry, edit))
    return projected


def latest_edits(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Target id → the last context edit in the list that targets it; edits of no known form are skipped."""
    wanted = Kind.CONTEXT_EDIT
    return {
        entry.record["targetId"]: entry
        for entry in entries
        if entry.kind == wanted
        and isinstance(entry.record.get("targetId"), str)
        and isinstance(entry.record.get("replacement", ""), dict | None)
    }


def replacement_of(edit: Entry) -> Json | None:
    """The `{"content": …}` of a replacing context edit."""
    replacement = edit.record.get("replacement")
    return replacement if isinstance(replacement, dict) else None


def project_entry(entry: Entry, edit: Entry | None = None) -> ProjectedEntry:
    """One entry's messages under one edit. Only content can be replaced, and only where the model reads it."""
    messages = messages_of(entry)
    if edit is None:
        return ProjectedEntry(entry, messages)
    replacement = replacement_of(edit)
    if replacement is None:
        return ProjectedEntry(entry, (), omitted=True)
    if entry.kind == Kind.CUSTOM_MESSAGE or entry.role in REPLACEABLE_ROLES:
        return ProjectedEntry(entry, tuple(_with_content(message, replacement) for message in messages))
    return ProjectedEntry(entry, messages)


def _with_content(message: Json, replacement: Json) -> Json:
    content = replacement.get("content")
    if isinstance(content, str) and message["role"] in ("assistant", "toolResult"):
        content = [text_block(content)]
    return {**message, "content": content if content is not None else []}


def messages_of(entry: Entry) -> tuple[Json, ...]:
    """What an entry says when nothing edits it; bookkeeping and unknown kinds say nothing."""
    record = entry.record
    match entry.kind:
        case Kind.MESSAGE:
            message = entry.message
            return () if message is None else (normalised(message),)
        case Kind.CUSTOM_MESSAGE:
            return (custom_message_of(entry),)
        case Kind.BRANCH_SUMMARY:
            return (branch_summary_message_of(entry),) if record.get("summary") else ()
        case Kind.COMPACTION:
            summary = compaction_summary_message_of(entry)
            checkpoint = record.get("systemMessage")
            return (normalised(checkpoint), summary) if isinstance(checkpoint, dict) else (summary,)
        case _:
            return ()


def normalised(message: Json) -> Json:
    """The message itself, or with empty content where the file has none (01 §2).

    Every reader here copes with missing content; the reference mends these roles only.
    """
    if message.get("content") is not None:
        return message
    role = message.get("role")
    if role in EDITABLE_ROLES:
        return {**message, "content": []}
    return {**message, "content": ""} if role == "system" else message


def custom_message_of(entry: Entry) -> Json:
    record = entry.record
    message: Json = {
        "role": "custom",
        "customType": record.get("customType"),
        "content": record["content"] if record.get("content") is not None else [],
        "display": record.get("display"),
        "timestamp": milliseconds_of(entry.timestamp),
    }
    if record.get("details") is not None:
        message["details"] = record["details"]
    return message


def branch_summary_message_of(entry: Entry) -> Json:
    return {
        "role": "branchSummary",
        "summary": entry.record.get("summary"),
        "fromId": entry.record.get("fromId"),
        "timestamp": milliseconds_of(entry.timestamp),
    }


def compaction_summary_message_of(entry: Entry) -> Json:
    return {
        "role": "compactionSummary",
        "summary": entry.record.get("summary"),
        "tokensBefore": entry.record.get("tokensBefore"),
        "timestamp": milliseconds_of(entry.timestamp),
    }


def model_of(path: Sequence[Entry]) -> Json | None:
    """`{"provider", "modelId"}` of the last model change or answer on the whole path (01 §5.3)."""
    for entry in reversed(path):
        if entry.kind == Kind.MODEL_CHANGE:
            return {"provider": entry.record.get("provider"), "modelId": entry.record.get("modelId")}
        if entry.role == "assistant":
            message: dict[str, Any] = entry.record["message"]
            return {"provider": message.get("provider"), "modelId": message.get("model")}
    return None


def thinking_level_of(path: Sequence[Entry]) -> str:
    """The last thinking level set on the whole path (01 §5.3)."""
    level = _last_thinking_level(path)
    return DEFAULT_THINKING_LEVEL if level is None else level


def _last_thinking_level(path: Sequence[Entry]) -> str | None:
    wanted = Kind.THINKING_LEVEL_CHANGE
    for entry in reversed(path):
        if entry.kind == wanted and isinstance(entry.record.get("thinkingLevel"), str):
            return str(entry.record["thinkingLevel"])
    return None
