"""The outline of a session's tree, read in a handful of queries, none of which touches an entry's record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import connection
from django.db.models import Q

from sessions_app.core.drawing import Outline, Place, Strand
from sessions_app.models import Entry, OutcomeMark, Pin, Run, Segment, Session

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


def outline_of(session: Session, labels: Mapping[str, str]) -> Outline:
    """`labels` are those of the session by entry id."""
    shapes = session.segments.values_list("pk", "parent_id", "parent_ordinal")
    faces = _faces(session.pk)
    strands = [Strand(pk, parent, ordinal, *faces[pk]) for pk, parent, ordinal in shapes if pk in faces]
    leaf = session.leaf
    return Outline.of(
        strands,
        leaf=(leaf.segment_id, leaf.ordinal) if leaf is not None else None,
        labels=_labelled(session.pk, labels),
        pins=frozenset(Pin.objects.filter(entry__session_id=session.pk).values_list(*_PLACE)),
        outcomes={
            (segment, ordinal): outcome
            for segment, ordinal, outcome in OutcomeMark.objects.filter(
                entry__session_id=session.pk
            ).values_list(*_PLACE, "outcome")
        },
        running=Run.objects.filter(session=session).active().exists(),
        queued=session.queue.count(),
    )


def _faces(session_pk: int) -> dict[int, tuple[str, int, float]]:
    query = _FACES[connection.vendor].format(entries=Entry._meta.db_table, segments=Segment._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(query, [session_pk])
        return {pk: (faces, int(used), float(cost)) for pk, faces, used, cost in cursor.fetchall()}


def _labelled(session_pk: int, labels: Mapping[str, str]) -> dict[Place, str]:
    if not labels:
        return {}
    named = Entry.objects.filter(session_id=session_pk, entry_id__in=list(labels)[-MOST_MARKS:])
    return {
        (segment, ordinal): labels[entry_id]
        for segment, ordinal, entry_id in named.values_list("segment_id", "ordinal", "entry_id")
    }


def at_places(places: Iterable[Place]) -> Q:
    """The entries at some places, as a condition."""
    by_segment: dict[int, list[int]] = {}
    for segment, ordinal in places:
        by_segment.setdefault(segment, []).append(ordinal)
    condition = Q(pk__in=())
    for segment, ordinals in by_segment.items():
        condition |= Q(segment=segment, ordinal__in=ordinals)
    return condition
