"""Writing a whole session at once: the rows of an imported file, with its tree resolved."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, models
from django.utils import timezone

from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.errors import CyclicTree
from sessions_app.core.json_text import print_json
from sessions_app.entry_log import columns
from sessions_app.models import Entry, Segment, Session

_BATCH = 500
_KEY_COLUMN = "id"


def import_records(session: Session, records: Sequence[CoreEntry], lines: Sequence[str | None] = ()) -> None:
    """Write the entries of an empty session and set its leaf, name and totals. The caller opened the transaction.

    Seqs follow the order of the file. A parent is looked up by id, the last of that id; one that is missing
    or the entry itself makes a root (01 ST-06). `lines` are the entries' texts in the file, which become the
    payloads as they are, so that an export gives the same bytes. Raises CyclicTree.
    """
    by_id = {core.id: index for index, core in enumerate(records)}
    parents = [_parent_index(by_id, core, index) for index, core in enumerate(records)]
    order = _top_down(parents)
    entries = _rows(session, records, parents, order)
    for entry, line in zip(entries, lines, strict=False):
        if line is not None and not columns.unstorable(line):
            entry.payload = line
    _mark_kept(entries, records)
    for start in range(0, len(entries), _BATCH):
        Entry.objects.bulk_create(entries[start : start + _BATCH])
    _finish(session, entries, records)


def _parent_index(by_id: dict[str, int], core: CoreEntry, index: int) -> int | None:
    parent = by_id.get(core.parent_id) if core.parent_id is not None else None
    return None if parent == index else parent


def _top_down(parents: list[int | None]) -> list[int]:
    """Indices so that a parent comes before its children, siblings in file order."""
    children: dict[int | None, list[int]] = {}
    for index, parent in enumerate(parents):
        children.setdefault(parent, []).append(index)
    order = list(children.get(None, ()))
    for index in order:
        order.extend(children.get(index, ()))
    if len(order) < len(parents):
        raise CyclicTree
    return order


def _rows(
    session: Session, records: Sequence[CoreEntry], parents: list[int | None], order: list[int]
) -> list[Entry]:
    """Unsaved rows in file order, with keys reserved so that they can refer to one another."""
    now = timezone.now()
    pks = _reserve(Entry, len(records))
    rows: list[Entry | None] = [None] * len(records)
    segments: list[Segment] = []
    for index in order:
        core, parent_index = records[index], parents[index]
        parent = None if parent_index is None else rows[parent_index]
        segment = parent.segment if parent else None
        if segment is None or parent is None or segment.length != parent.ordinal + 1:
            segment = Segment(
                session=session, parent=segment, parent_ordinal=parent.ordinal if parent else 0, length=0
            )
            segments.append(segment)
        seq = index + 1
        rows[index] = Entry(
            pk=pks[index],
            session=session,
            seq=seq,
            entry_id=columns.stored_id(core.id),
            raw_parent_id=columns.clean(core.parent_id),
            parent_id=parent.pk if parent else None,
            segment=segment,
            ordinal=segment.length,
            depth=parent.depth + 1 if parent else 0,
            kind=columns.clean(core.kind)[:60],
            role=columns.role_of(core),
            payload=print_json(core.record),
            tokens=columns.estimated_tokens(core),
            **columns.drawn(core),
            compaction_seq=seq if core.kind == Kind.COMPACTION else parent.compaction_seq if parent else None,
            model_seq=seq if columns.sets_model(core) else parent.model_seq if parent else None,
            thinking_seq=seq
            if columns.sets_thinking_level(core)
            else parent.thinking_seq
            if parent
            else None,
            created_at=now,
        )
        segment.length += 1
    for segment, pk in zip(segments, _reserve(Segment, len(segments)), strict=True):
        segment.pk = pk
    for segment in segments:
        # Assigned anew now that the parent has its key.
        segment.parent = segment.parent
    for start in range(0, len(segments), _BATCH):
        Segment.objects.bulk_create(segments[start : start + _BATCH])
    saved = [row for row in rows if row is not None]
    for row in saved:
        row.segment = row.segment
    return saved


def _mark_kept(entries: list[Entry], records: Sequence[CoreEntry]) -> None:
    """Where each compaction's kept boundary lies, if it lies above the compaction on its path."""
    holders: dict[str, list[Entry]] = {}
    for entry, core in zip(entries, records, strict=True):
        holders.setdefault(core.id, []).append(entry)
    for entry, core in zip(entries, records, strict=True):
        boundary = core.record.get("firstKeptEntryId")
        if core.kind != Kind.COMPACTION or not isinstance(boundary, str):
            continue
        above = [row for row in holders.get(boundary, ()) if row is not entry and _is_above(row, entry)]
        if above:
            # Where an id is repeated, the projection takes the first it meets from the root.
            entry.kept_seq = min(above, key=lambda row: row.depth).seq


def _is_above(ancestor: Entry, entry: Entry) -> bool:
    segment: Segment | None = entry.segment
    last = entry.ordinal
    while segment is not None:
        if segment is ancestor.segment:
            return ancestor.ordinal <= last
        last, segment = segment.parent_ordinal, segment.parent
    return False


def _finish(session: Session, entries: list[Entry], records: Sequence[CoreEntry]) -> None:
    tokens, cost = 0, 0.0
    for core in records:
        used, spent = columns.spending(core)
        tokens, cost = tokens + used, cost + spent
        if core.kind == Kind.SESSION_INFO:
            session.name = columns.name_of(core.record)
        if not session.title:
            session.title = columns.title_of(core)
    session.tokens, session.cost = tokens, cost
    session.next_seq = len(entries) + 1
    session.leaf = entries[-1] if entries else None
    session.save()


def _reserve(model: type[models.Model], count: int) -> list[int]:
    """Primary keys nobody else will use. SQLite's one write lock makes counting on safe."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [model._meta.db_table, _KEY_COLUMN, count],
            )
            return [row[0] for row in cursor.fetchall()]
    newest = model._default_manager.aggregate(newest=models.Max("pk"))["newest"] or 0
    return list(range(newest + 1, newest + 1 + count))
