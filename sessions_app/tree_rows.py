"""What drawings of a session's tree are made of, read in a handful of queries, none of which touches a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import F, Q
from django.db.models.expressions import RawSQL

from sessions_app.core import faces
from sessions_app.core.drawing import Place, Strand
from sessions_app.models import Entry, HiddenBranch, OutcomeMark, Pin, Run, Segment, Session

# One row per segment: a letter per entry, and what they used and cost together. The index holds all of it.
_FACES = {
    "sqlite": """
SELECT segment_id, group_concat(face, ''), SUM(used), SUM(cost) FROM (
    SELECT segment_id, face, used, cost FROM {entries}
    WHERE segment_id IN (SELECT id FROM {segments} WHERE session_id = %s) ORDER BY segment_id, ordinal
) AS entry GROUP BY segment_id
""",
    "postgresql": """
SELECT segment_id, string_agg(face, '' ORDER BY ordinal), SUM(used), SUM(cost) FROM {entries}
WHERE segment_id IN (SELECT id FROM {segments} WHERE session_id = %s) GROUP BY segment_id
""",
}
MOST_MARKS = 500
_PLACE = ("entry__segment_id", "entry__ordinal")
# "+ 0": few entries are marked, and of a session there are many; its index is no way to find them.
_OF_SESSION = F("entry__session_id") + 0


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry as drawings see it, with the fork of its segment."""

    segment: int
    parent: int | None
    fork_at: int
    ordinal: int
    face: str
    used: int
    cost: float


def strands_of(session: Session) -> list[Strand]:
    """All segments of a session, each with a letter per entry and what they used."""
    shapes = session.segments.values_list("pk", "parent_id", "parent_ordinal")
    faces = _faces(session.pk)
    return [Strand(pk, parent, ordinal, *faces[pk]) for pk, parent, ordinal in shapes if pk in faces]


def entries_after(session: Session, seq: int) -> list[NewEntry]:
    """What was written behind a seq, in that order."""
    rows = Entry.objects.filter(session=session, seq__gt=seq).order_by("seq")
    columns = (
        "segment_id",
        "segment__parent_id",
        "segment__parent_ordinal",
        "ordinal",
        "face",
        "used",
        "cost",
    )
    return [NewEntry(*row) for row in rows.values_list(*columns)]


def marks_of(session: Session, labels: Mapping[str, str]) -> dict[str, Any]:
    """What stands out, as an outline takes it; `labels` are those of the session by entry id."""
    leaf = session.leaf
    pins = Pin.objects.annotate(of=_OF_SESSION).filter(of=session.pk)
    return {
        "leaf": (leaf.segment_id, leaf.ordinal) if leaf is not None else None,
        "labels": labelled(session.pk, labels),
        "pins": frozenset(pins.values_list(*_PLACE)),
        "outcomes": outcomes_of(session),
        "running": Run.objects.filter(session=session).active().exists(),
        "queued": session.queue.count(),
    }


def outcomes_of(session: Session) -> dict[Place, str]:
    """What came of branches, by the tip that was marked."""
    marks = OutcomeMark.objects.annotate(of=_OF_SESSION).filter(of=session.pk)
    return {
        (segment, ordinal): outcome for segment, ordinal, outcome in marks.values_list(*_PLACE, "outcome")
    }


def hidden_of(session: Session) -> frozenset[Place]:
    """Where the branches begin that are out of sight."""
    return frozenset(HiddenBranch.objects.of_session(session.pk).values_list(*_PLACE))


def _faces(session_pk: int) -> dict[int, tuple[str, int, float]]:
    query = _FACES[connection.vendor].format(entries=Entry._meta.db_table, segments=Segment._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(query, [session_pk])
        return {pk: (letters, int(used), float(cost)) for pk, letters, used, cost in cursor.fetchall()}


def labelled(session_pk: int, labels: Mapping[str, str]) -> dict[Place, str]:
    """Where the labelled entries stand, with their labels."""
    if not labels:
        return {}
    named = Entry.objects.filter(session_id=session_pk, entry_id__in=list(labels)[-MOST_MARKS:])
    return {
        (segment, ordinal): labels[entry_id]
        for segment, ordinal, entry_id in named.values_list("segment_id", "ordinal", "entry_id")
    }


def at_places(places: Iterable[Place]) -> Q:
    """The entries at some places, as a condition; one query however many segments they lie in."""
    wanted = sorted(set(places))
    if not wanted:
        return Q(pk__in=())
    rows = ", ".join(["(%s, %s)"] * len(wanted))
    sql = f"SELECT id FROM {Entry._meta.db_table} WHERE (segment_id, ordinal) IN (VALUES {rows})"  # noqa: S608
    return Q(pk__in=RawSQL(sql, [number for place in wanted for number in place]))  # noqa: S611 - numbers only


# The stretches of a path, from the leaf's segment up, each up to its last ordinal on the path.
_PATH = """
WITH RECURSIVE stretch(segment, parent, parent_ordinal, last) AS (
    SELECT id, parent_id, parent_ordinal, CAST(%s AS integer) FROM {segments} WHERE id = %s
    UNION ALL
    SELECT up.id, up.parent_id, up.parent_ordinal, stretch.parent_ordinal
    FROM stretch JOIN {segments} up ON up.id = stretch.parent
)
SELECT {wanted} FROM stretch JOIN {entries} entry
  ON entry.segment_id = stretch.segment AND entry.ordinal <= stretch.last {where}
"""


def path_cost(leaf: Entry) -> float:
    """US dollars of all entries on a leaf's path, from the index alone."""
    return float(_on_path(leaf, "SUM(entry.cost)", "")[0][0] or 0.0)


def path_changes(leaf: Entry, most: int) -> list[int]:
    """Primary keys of the newest results on a leaf's path that changed a file, the latest first."""
    where = f"WHERE entry.face = '{faces.CHANGE}' ORDER BY entry.depth DESC LIMIT {int(most)}"
    return [pk for (pk,) in _on_path(leaf, "entry.id", where)]


def _on_path(leaf: Entry, wanted: str, where: str) -> list[tuple[Any, ...]]:
    query = _PATH.format(
        segments=Segment._meta.db_table, entries=Entry._meta.db_table, wanted=wanted, where=where
    )
    with connection.cursor() as cursor:
        cursor.execute(query, [leaf.ordinal, leaf.segment_id])
        return list(cursor.fetchall())
