"""What the model is told of an entry, beside its own words: left out, changed, or never to be compacted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sessions_app import entry_log
from sessions_app.core.context_edits import LEFT_OUT
from sessions_app.core.entries import Kind
from sessions_app.models import Entry, Pin, Segment

Edited = Literal["omitted", "changed"]


def pinned_among(entries: Sequence[Entry]) -> frozenset[int]:
    """The pks of those that every compaction carries on word for word."""
    pins = Pin.objects.filter(entry__in=[entry.pk for entry in entries])
    return frozenset(pins.values_list("entry_id", flat=True))


def edits_among(entries: Sequence[Entry], leaf: Entry | None) -> dict[int, Edited]:
    """By pk, as the newest context edit on the leaf's path says (01 §5)."""
    if leaf is None or not entries:
        return {}
    by_id = {entry.entry_id: entry for entry in entries if entry.entry_id}
    edits = Entry.objects.filter(
        session_id=leaf.session_id, kind=Kind.CONTEXT_EDIT, seq__gt=min(entry.seq for entry in entries)
    )
    candidates = [
        (edit, record)
        for edit in edits.order_by("seq").only("segment_id", "ordinal", "payload")
        if isinstance(target := (record := edit.record).get("targetId"), str)
        and entry_log.stored_id(target) in by_id
    ]
    if not candidates:
        return {}
    path = stretches_of(leaf)
    found: dict[int, Edited] = {}
    for edit, record in candidates:
        if edit.ordinal > path.get(edit.segment_id, -1):
            continue
        entry = by_id[entry_log.stored_id(record["targetId"])]
        found.pop(entry.pk, None)
        if (told := _as_told(entry, record.get("replacement"))) is not None:
            found[entry.pk] = told
    return found


def _as_told(entry: Entry, replacement: object) -> Edited | None:
    """None when the model reads the entry's own words (again)."""
    if not isinstance(replacement, dict) or replacement == {"content": LEFT_OUT}:
        return "omitted"
    record = entry.record
    message = record.get("message")
    own = (message if isinstance(message, dict) else record).get("content")
    return None if replacement.get("content") == own else "changed"


def stretches_of(leaf: Entry) -> dict[int, int]:
    """The segments of the leaf's path, from the bottom up, each with the last ordinal that lies on it."""
    found: dict[int, int] = {}
    segment_id: int | None = leaf.segment_id
    last = leaf.ordinal
    while segment_id is not None:
        found[segment_id] = last
        segment = Segment.objects.only("parent_id", "parent_ordinal").get(pk=segment_id)
        segment_id, last = segment.parent_id, segment.parent_ordinal
    return found
