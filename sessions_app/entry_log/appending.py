"""Appending: one transaction takes the next seq, hangs the entry from the leaf and moves the leaf."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from sessions_app import live
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.errors import SessionError
from sessions_app.core.json_text import print_json
from sessions_app.entry_log import columns
from sessions_app.entry_log.reading import find_by_id, is_on_path, show_path
from sessions_app.models import Entry, Run, Segment, Session
from sessions_app.transactions import write_transaction

Json = dict[str, Any]

# What may come between a run's last entry and its next one without being part of the conversation.
METADATA_KINDS: Final = frozenset(
    {Kind.LABEL, Kind.SESSION_INFO, Kind.CUSTOM, Kind.USAGE, Kind.MODEL_CHANGE, Kind.THINKING_LEVEL_CHANGE}
)
_UUID_TRIES = 100


class _AnyLeaf:
    """The caller does not care where the leaf stands."""


ANY_LEAF: Final = _AnyLeaf()


class LeafMoved(SessionError):  # noqa: N818 - it reads as a sentence where it is raised
    """The leaf stands on another branch than the writer started from."""


def append(
    session_id: int,
    fields: Json,
    *,
    run: Run | None = None,
    author: Any = None,
    expected_leaf_seq: int | _AnyLeaf | None = ANY_LEAF,
) -> Entry:
    """Write one entry behind the leaf and make it the leaf (01 ST-01, ST-04).

    `fields` are the record's own (`type` and what the kind needs); id, parent and time are given here.
    With `expected_leaf_seq` the leaf must be that entry or stand behind it with only metadata between,
    else LeafMoved. A failed write leaves nothing behind (01 ST-08).
    """
    with write_transaction():
        session = lock_session(session_id)
        if not isinstance(expected_leaf_seq, _AnyLeaf) and not continues(session, expected_leaf_seq):
            raise LeafMoved
        return append_locked(session, fields, run=run, author=author)


def lock_session(session_id: int) -> Session:
    """The session's row, held until the transaction ends. (SQLite holds its one write lock already.)

    Its leaf is not read in the same query: PostgreSQL, having waited for the row, would join it to the old one.
    """
    return Session.objects.select_for_update().get(pk=session_id)


def _leaf_of(session: Session) -> Entry | None:
    """The leaf of a locked session with its segment; without its payload, which may be large and isn't needed."""
    if session.leaf_id is not None and not Session.leaf.is_cached(session):
        session.leaf = Entry.objects.select_related("segment").defer("payload").get(pk=session.leaf_id)
    return session.leaf


def append_locked(session: Session, fields: Json, *, run: Run | None = None, author: Any = None) -> Entry:
    """`append` for a caller that holds the session's row and has more to write in the same transaction."""
    parent = _leaf_of(session)
    now = timezone.now()
    record: Json = {
        "type": fields["type"],
        "id": _new_id(session.pk),
        "parentId": parent.entry_id if parent else None,
        "timestamp": iso_time(now),
    }
    record.update((name, value) for name, value in fields.items() if name != "type")
    core = CoreEntry(columns.clean(record), session.next_seq)
    return _write(session, core, parent, run, author, now)


def append_record(session: Session, record: Json) -> Entry:
    """Write a record that has its id, parent and time already, and make it the leaf. The caller holds the row."""
    core = CoreEntry(columns.clean(record), session.next_seq)
    parent = find_by_id(session.pk, core.parent_id)
    return _write(session, core, parent, None, None, timezone.now())


def _write(
    session: Session, core: CoreEntry, parent: Entry | None, run: Run | None, author: Any, now: datetime
) -> Entry:
    entry = _row(session, core, parent)
    entry.run, entry.author, entry.created_at = run, author, now
    entry.save(force_insert=True)
    _advance(session, entry, core, now)
    session_id, seq = session.pk, entry.seq
    # Nobody waits for what stands beside the conversation.
    notice = "aside" if entry.kind in METADATA_KINDS or entry.role == "system" else "entry"
    transaction.on_commit(lambda: live.notify(session_id, notice, seq=seq))
    return entry


def move_leaf(session: Session, entry: Entry | None) -> None:
    """Stand on another entry (None: before the first); a hidden branch is shown by it. The caller holds the session's
    row.
    """
    if entry is not None and entry.session_id != session.pk:
        raise SessionError("That entry belongs to another session.")
    session.leaf = entry
    session.save(update_fields=["leaf"])
    if entry is not None:
        show_path(entry)
    session_id, seq = session.pk, entry.seq if entry else 0
    transaction.on_commit(lambda: live.notify(session_id, "leaf", seq=seq))


def iso_time(moment: datetime) -> str:
    """As session files write it: UTC with milliseconds and Z."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def continues(session: Session, expected_seq: int | None) -> bool:
    """Is there nothing but metadata between the expected entry and the leaf?"""
    leaf = _leaf_of(session)
    while leaf is not None and leaf.seq != expected_seq and leaf.kind in METADATA_KINDS:
        leaf = leaf.parent
    return (leaf.seq if leaf else None) == expected_seq


def _new_id(session_pk: int) -> str:
    """The first 8 hex digits of a random UUID that are free in this session (01 ST-03)."""
    for _ in range(_UUID_TRIES):
        candidate = uuid.uuid4().hex[:8]
        if not Entry.objects.filter(session_id=session_pk, entry_id=candidate).exists():
            return candidate
    return str(uuid.uuid4())


def _row(session: Session, core: CoreEntry, parent: Entry | None) -> Entry:
    """The row of an entry about to be written, in the right segment, with its carried facts."""
    segment, ordinal = _place(session, parent)
    seq = core.seq
    entry = Entry(
        session=session,
        seq=seq,
        entry_id=core.id,
        raw_parent_id=core.parent_id,
        parent=parent,
        segment=segment,
        ordinal=ordinal,
        depth=parent.depth + 1 if parent else 0,
        kind=core.kind[:60],
        role=columns.role_of(core),
        payload=print_json(core.record),
        tokens=columns.estimated_tokens(core),
        **columns.drawn(core),
        compaction_seq=seq if core.kind == Kind.COMPACTION else parent.compaction_seq if parent else None,
        model_seq=seq if columns.sets_model(core) else parent.model_seq if parent else None,
        thinking_seq=seq if columns.sets_thinking_level(core) else parent.thinking_seq if parent else None,
    )
    if core.kind == Kind.COMPACTION and parent is not None:
        # An imported file may repeat the id: the projection takes the first it meets from the root.
        boundary = Entry.objects.filter(session_id=session.pk, entry_id=core.record.get("firstKeptEntryId"))
        above = [kept for kept in boundary if is_on_path(kept, parent)]
        if above:
            entry.kept_seq = min(above, key=lambda kept: kept.depth).seq
    return entry


def _place(session: Session, parent: Entry | None) -> tuple[Segment, int]:
    """Behind the last entry of a segment, else in a new one that forks from the parent."""
    if parent is None:
        return Segment.objects.create(session=session, length=1), 0
    ordinal = parent.ordinal + 1
    if Segment.objects.filter(pk=parent.segment_id, length=ordinal).update(length=ordinal + 1):
        return parent.segment, ordinal
    fork = Segment.objects.create(
        session=session, parent=parent.segment, parent_ordinal=parent.ordinal, length=1
    )
    return fork, 0


def _advance(session: Session, entry: Entry, core: CoreEntry, now: datetime) -> None:
    used, cost = columns.spending(core)
    session.leaf = entry
    session.next_seq = entry.seq + 1
    session.updated_at = now
    changed = {"leaf": entry, "next_seq": session.next_seq, "updated_at": now}
    if used or cost:
        changed |= {"tokens": F("tokens") + used, "cost": F("cost") + cost}
    if core.kind == Kind.SESSION_INFO:
        session.name = columns.name_of(core.record)
        changed["name"] = session.name
    if not session.title and (title := columns.title_of(core)):
        session.title = title
        changed["title"] = title
    Session.objects.filter(pk=session.pk).update(**changed)
