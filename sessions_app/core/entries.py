"""Entries: the immutable nodes of the session tree, their kinds, and how each kind is made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sessions_app.core.errors import MalformedPayload
from sessions_app.core.json_text import parse_json, print_json
from sessions_app.core.messages import Json


class Kind(StrEnum):
    """What an entry is; the values are the `type` of session files (spec 01 §2)."""

    MESSAGE = "message"
    MODEL_CHANGE = "model_change"
    THINKING_LEVEL_CHANGE = "thinking_level_change"
    USAGE = "usage"
    COMPACTION = "compaction"
    BRANCH_SUMMARY = "branch_summary"
    CONTEXT_EDIT = "context_edit"
    LABEL = "label"
    SESSION_INFO = "session_info"
    CUSTOM = "custom"
    CUSTOM_MESSAGE = "custom_message"


_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)

ROOT_NAME = "root"
"""What `fromId` of a branch summary says when there was no old leaf."""


REPAIRED = "request_repaired"
"""The custom type of a note that says what of the history had to be put in order for a request."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `record` is its whole JSON object as stored; nobody changes it. `seq` counts from 1.

    Kinds this version does not know are kept as they came.
    """

    record: Json
    seq: int = 0

    @property
    def id(self) -> str:
        identity: str = self.record["id"]
        return identity

    @property
    def parent_id(self) -> str | None:
        parent = self.record.get("parentId")
        return parent if isinstance(parent, str) else None

    @property
    def kind(self) -> str:
        """A value of `Kind`, or the name of an unknown kind."""
        kind = self.record.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def timestamp(self) -> Any:
        """ISO text; files of other programs may hold anything here."""
        return self.record.get("timestamp")

    @property
    def message(self) -> Json | None:
        """The stored message of a message entry."""
        if self.record.get("type") != "message":
            return None
        message = self.record.get("message")
        return message if isinstance(message, dict) else None

    @property
    def role(self) -> str | None:
        """The role of a message entry's message."""
        if self.record.get("type") != "message":
            return None
        message = self.record.get("message")
        return str(message.get("role", "")) if isinstance(message, dict) else None

    def to_json(self) -> str:
        """The record as one line of ASCII JSON."""
        return print_json(self.record)

    @classmethod
    def from_json(cls, text: str, seq: int = 0) -> Entry:
        """The entry of one JSON object. Raises MalformedPayload."""
        try:
            record = parse_json(text)
        except ValueError as error:
            raise MalformedPayload(f"an entry that is not JSON: {error}") from error
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            raise MalformedPayload("an entry is a JSON object with a string id")
        return cls(record, seq)


def new_entry(kind: str, entry_id: str, parent_id: str | None, timestamp: str, fields: Json) -> Entry:
    """An entry of any kind; fields whose value is None are left out, except a context edit's replacement."""
    record: Json = {"type": str(kind), "id": entry_id, "parentId": parent_id, "timestamp": timestamp}
    for name, value in fields.items():
        if value is not None or name == "replacement":
            record[name] = value
    return Entry(record)


def message_entry(entry_id: str, parent_id: str | None, timestamp: str, message: Json) -> Entry:
    return new_entry(Kind.MESSAGE, entry_id, parent_id, timestamp, {"message": message})


def model_change_entry(
    entry_id: str, parent_id: str | None, timestamp: str, *, provider: str, model_id: str
) -> Entry:
    fields = {"provider": provider, "modelId": model_id}
    return new_entry(Kind.MODEL_CHANGE, entry_id, parent_id, timestamp, fields)


def thinking_level_change_entry(
    entry_id: str, parent_id: str | None, timestamp: str, thinking_level: str
) -> Entry:
    fields = {"thinkingLevel": thinking_level}
    return new_entry(Kind.THINKING_LEVEL_CHANGE, entry_id, parent_id, timestamp, fields)


def usage_entry(
    entry_id: str,
    parent_id: str | None,
    timestamp: str,
    *,
    usage_kind: str,
    provider: str,
    model: str,
    usage: Json,
    note: str | None = None,
) -> Entry:
    """Tokens spent beside the conversation; `usage_kind` is a free word such as `cache_warm`."""
    fields = {"kind": usage_kind, "provider": provider, "model": model, "usage": usage, "note": note}
    return new_entry(Kind.USAGE, entry_id, parent_id, timestamp, fields)


def compaction_entry(
    entry_id: str,
    parent_id: str | None,
    timestamp: str,
    *,
    summary: str,
    tokens_before: int,
    first_kept_entry_id: str | None = None,
    system_message: Json | None = None,
    usage: Json | None = None,
    details: Any = None,
    from_hook: bool = False,
) -> Entry:
    """Without `first_kept_entry_id` nothing is retained: the entry then names itself (02 §11)."""
    fields = {
        "summary": summary,
        "firstKeptEntryId": first_kept_entry_id or entry_id,
        "tokensBefore": tokens_before,
        "systemMessage": system_message,
        "usage": usage,
        "details": details,
        "fromHook": from_hook,
    }
    return new_entry(Kind.COMPACTION, entry_id, parent_id, timestamp, fields)


def branch_summary_entry(
    entry_id: str,
    parent_id: str | None,
    timestamp: str,
    *,
    summary: str,
    from_id: str | None,
    usage: Json | None = None,
    details: Any = None,
    from_hook: bool = False,
) -> Entry:
    """`from_id` is the leaf that was left; None is written as the word for "there was none" (03 BS-16)."""
    fields = {
        "fromId": from_id or ROOT_NAME,
        "summary": summary,
        "usage": usage,
        "details": details,
        "fromHook": from_hook,
    }
    return new_entry(Kind.BRANCH_SUMMARY, entry_id, parent_id, timestamp, fields)


def context_edit_entry(
    entry_id: str, parent_id: str | None, timestamp: str, *, target_id: str, replacement: Json | None
) -> Entry:
    """`replacement` None omits the target, else it is `{"content": …}`."""
    fields = {"targetId": target_id, "replacement": replacement}
    return new_entry(Kind.CONTEXT_EDIT, entry_id, parent_id, timestamp, fields)


def label_entry(
    entry_id: str, parent_id: str | None, timestamp: str, *, target_id: str, label: str | None
) -> Entry:
    """None or an empty label takes the target's label away (01 LB-01)."""
    return new_entry(Kind.LABEL, entry_id, parent_id, timestamp, {"targetId": target_id, "label": label})


def session_info_entry(entry_id: str, parent_id: str | None, timestamp: str, name: str) -> Entry:
    return new_entry(Kind.SESSION_INFO, entry_id, parent_id, timestamp, {"name": tidy_name(name)})


def custom_entry(
    entry_id: str, parent_id: str | None, timestamp: str, *, custom_type: str, data: Any = None
) -> Entry:
    fields = {"customType": custom_type, "data": data}
    return new_entry(Kind.CUSTOM, entry_id, parent_id, timestamp, fields)


def custom_message_entry(
    entry_id: str,
    parent_id: str | None,
    timestamp: str,
    *,
    custom_type: str,
    content: str | list[Json],
    display: bool = True,
    details: Any = None,
) -> Entry:
    fields = {"customType": custom_type, "content": content, "display": display, "details": details}
    return new_entry(Kind.CUSTOM_MESSAGE, entry_id, parent_id, timestamp, fields)


def tidy_name(name: str) -> str:
    """A session name as it is written: runs of line ends become a space, the edges are trimmed (01 §2)."""
    lines = [line for line in name.replace("\r", "\n").split("\n") if line]
    return trim(" ".join(lines))


def trim(text: str) -> str:
    """Without the blanks at its edges that JavaScript's trim takes away."""
    return text.strip(_BLANKS)
