"""Writing a whole session at once: the rows of an imported file, with its tree resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from django.db import connection, models
from django.utils import timezone

from sessions_app.core.bulk import building_many
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.errors import CyclicTree
from sessions_app.core.json_text import print_json
from sessions_app.entry_log import columns
from sessions_app.models import Entry, Segment, Session

Progress = Callable[[int, int], None]

_BATCH = 1000
# So many new entries change what the database should expect of its tables.
_MANY = 1000
_KEY_COLUMN = "id"


@dataclass(slots=True)
class _Stretch:
    """A segment to be: model instances would take several times the memory and time."""

    parent: _Stretch | None
    parent_ordinal: int
    length: int = 0
    pk: int = 0


@dataclass(slots=True)
class _Place:
    """Where an entry stands in the tree, and what is carried along to it."""

    parent: _Place | None
    stretch: _Stretch
    ordinal: int
    depth: int
    compaction_seq: int | None
    model_seq: int | None
    thinking_seq: int | None
    kept_seq: int | None = None
    pk: int = 0


def import_records(
    session: Session,
    records: Sequence[CoreEntry],
    lines: Sequence[str | None] = (),
    *,
    progress: Progress | None = None,
) -> None:
    """Write the entries of an empty session and set its leaf, name and totals. The caller opened the transaction.

    Seqs follow the order of the file. A parent is looked up by id, the last of that id; one that is missing
    or the entry itself makes a root (01 ST-06). `lines` are the entries' texts in the file, which become the
    payloads as they are, so that an export gives the same bytes. `progress` is told how many of all entries are
    written. Raises CyclicTree.
    """
    with building_many():
        by_id = {core.id: index for index, core in enumerate(records)}
        parents = [_parent_index(by_id, core, index) for index, core in enumerate(records)]
        places, stretches = _places(records, parents, _top_down(parents))
        _mark_kept(places, records)
        for place, pk in zip(places, _reserve(Entry, len(places)), strict=True):
            place.pk = pk
        _write_stretches(session, stretches)
        _write_entries(session, records, places, lines, progress)
        _finish(session, places, records)
    if len(places) >= _MANY:
        _count_again()


def _count_again() -> None:
    """PostgreSQL plans by what it counted when the tables were small, until it happens to count again: pages of
    what has just come in took a minute. SQLite plans without."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in (Entry, Segment):
                cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


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


def _places(
    records: Sequence[CoreEntry], parents: list[int | None], order: list[int]
) -> tuple[list[_Place], list[_Stretch]]:
    """In file order; a linear run of entries becomes one stretch."""
    found: dict[int, _Place] = {}
    stretches: list[_Stretch] = []
    for index in order:
        core, parent_index = records[index], parents[index]
        parent = None if parent_index is None else found[parent_index]
        if parent is not None and parent.stretch.length == parent.ordinal + 1:
            stretch = parent.stretch
        else:
            stretch = _Stretch(parent.stretch, parent.ordinal) if parent else _Stretch(None, 0)
            stretches.append(stretch)
        seq = index + 1
        found[index] = _Place(
            parent,
            stretch,
            stretch.length,
            parent.depth + 1 if parent else 0,
            seq if core.kind == Kind.COMPACTION else parent.compaction_seq if parent else None,
            seq if columns.sets_model(core) else parent.model_seq if parent else None,
            seq if columns.sets_thinking_level(core) else parent.thinking_seq if parent else None,
        )
        stretch.length += 1
    return [found[index] for index in range(len(records))], stretches


def _mark_kept(places: list[_Place], records: Sequence[CoreEntry]) -> None:
    """Where each compaction's kept boundary lies, if it lies above the compaction on its path."""
    boundaries = {
        core.record.get("firstKeptEntryId")
        for core in records
        if core.kind == Kind.COMPACTION and isinstance(core.record.get("firstKeptEntryId"), str)
    }
    holders: dict[str, list[int]] = {}
    for index, core in enumerate(records):
        if core.id in boundaries:
            holders.setdefault(core.id, []).append(index)
    for index, core in enumerate(records):
        boundary = core.record.get("firstKeptEntryId")
        if core.kind != Kind.COMPACTION or not isinstance(boundary, str):
            continue
        place = places[index]
        above = [at for at in holders.get(boundary, ()) if at != index and _is_above(places[at], place)]
        if above:
            # Where an id is repeated, the projection takes the first it meets from the root.
            place.kept_seq = min(above, key=lambda at: places[at].depth) + 1


def _is_above(ancestor: _Place, place: _Place) -> bool:
    stretch: _Stretch | None = place.stretch
    last = place.ordinal
    while stretch is not None:
        if stretch is ancestor.stretch:
            return ancestor.ordinal <= last
        last, stretch = stretch.parent_ordinal, stretch.parent
    return False


def _write_stretches(session: Session, stretches: list[_Stretch]) -> None:
    for stretch, pk in zip(stretches, _reserve(Segment, len(stretches)), strict=True):
        stretch.pk = pk
    Segment.objects.bulk_create(
        [
            Segment(
                pk=stretch.pk,
                session=session,
                parent_id=stretch.parent.pk if stretch.parent else None,
                parent_ordinal=stretch.parent_ordinal,
                length=stretch.length,
            )
            for stretch in stretches
        ],
        batch_size=_BATCH,
    )


def _write_entries(
    session: Session,
    records: Sequence[CoreEntry],
    places: list[_Place],
    lines: Sequence[str | None],
    progress: Progress | None,
) -> None:
    """Rows go to the database as they are made."""
    rows = _rows(session, records, places, lines)
    first = next(rows, None)
    if first is None:
        return
    names = [Entry._meta.get_field(name).column for name in first]  # type: ignore[union-attr]
    insert = _copy if connection.vendor == "postgresql" else _insert
    values = (tuple(row.values()) for row in chain((first,), rows))
    done = 0
    while batch := list(islice(values, _BATCH)):
        insert([str(name) for name in names], batch)
        done += len(batch)
        if progress is not None:
            progress(done, len(records))


def _insert(names: list[str], batch: list[tuple[Any, ...]]) -> None:
    """By one prepared statement."""
    quote = connection.ops.quote_name
    slots = ", ".join(["%s"] * len(names))
    statement = f"INSERT INTO {quote(Entry._meta.db_table)} ({', '.join(map(quote, names))}) VALUES ({slots})"  # noqa: S608 - our own names
    with connection.cursor() as cursor:
        cursor.executemany(statement, batch)


def _copy(names: list[str], batch: list[tuple[Any, ...]]) -> None:
    """PostgreSQL's own way for many rows; statements take three times as long."""
    quote = connection.ops.quote_name
    statement = f"COPY {quote(Entry._meta.db_table)} ({', '.join(map(quote, names))}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in batch:
            copy.write_row(row)


def _rows(
    session: Session, records: Sequence[CoreEntry], places: list[_Place], lines: Sequence[str | None]
) -> Iterator[dict[str, Any]]:
    """Values by the fields' names, in file order; fields that are not named stay empty."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    for index, (core, place) in enumerate(zip(records, places, strict=True)):
        line = lines[index] if index < len(lines) else None
        yield {
            "id": place.pk,
            "session": session.pk,
            "seq": index + 1,
            "entry_id": columns.stored_id(core.id),
            "raw_parent_id": columns.clean(core.parent_id),
            "parent": place.parent.pk if place.parent else None,
            "segment": place.stretch.pk,
            "ordinal": place.ordinal,
            "depth": place.depth,
            "kind": columns.clean(core.kind)[:60],
            "role": columns.role_of(core),
            "payload": line if line is not None and not columns.unstorable(line) else print_json(core.record),
            "tokens": columns.estimated_tokens(core),
            **columns.drawn(core),
            "compaction_seq": place.compaction_seq,
            "model_seq": place.model_seq,
            "thinking_seq": place.thinking_seq,
            "kept_seq": place.kept_seq,
            "created_at": now,
        }


def _finish(session: Session, places: list[_Place], records: Sequence[CoreEntry]) -> None:
    tokens, cost = 0, 0.0
    for core in records:
        used, spent = columns.spending(core)
        tokens, cost = tokens + used, cost + spent
        if core.kind == Kind.SESSION_INFO:
            session.name = columns.name_of(core.record)
        if not session.title:
            session.title = columns.title_of(core)
    session.tokens, session.cost = tokens, cost
    session.next_seq = len(places) + 1
    session.leaf_id = places[-1].pk if places else None
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
