"""A path as values, in one query: the hot way from a leaf to the context it gives."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from django.db import connection

from sessions_app.core.bulk import building_many
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.json_text import parse_json
from sessions_app.models import Entry, Segment, damaged_record

# The segments from the leaf's up to the one that holds the wanted depth, each with the range of the path in it.
# `above` is the depth over the segment's first entry. Rows of model instances would cost three times as much.
_QUERY = """
WITH RECURSIVE stretch(segment, parent, parent_ordinal, last, above) AS (
    SELECT id, parent_id, parent_ordinal, CAST(%s AS integer), CAST(%s AS integer) FROM {segments} WHERE id = %s
    UNION ALL
    SELECT up.id, up.parent_id, up.parent_ordinal, stretch.parent_ordinal, stretch.above - 1 - stretch.parent_ordinal
    FROM stretch JOIN {segments} up ON up.id = stretch.parent
    WHERE stretch.above > %s
)
SELECT entry.depth, entry.seq, entry.payload
FROM stretch JOIN {entries} entry
  ON entry.segment_id = stretch.segment AND entry.ordinal BETWEEN %s - stretch.above AND stretch.last
"""


def load_core_path(leaf: Entry, from_depth: int = 0) -> list[CoreEntry]:
    """The entries of the leaf's path from that depth on, top first."""
    query = _QUERY.format(segments=Segment._meta.db_table, entries=Entry._meta.db_table)
    arguments = [leaf.ordinal, leaf.depth - leaf.ordinal, leaf.segment_id, from_depth, from_depth]
    with building_many():
        with connection.cursor() as cursor:
            cursor.execute(query, arguments)
            rows = cursor.fetchall()
        rows.sort(key=itemgetter(0))
        try:
            return [CoreEntry(parse_json(payload), seq) for _, seq, payload in rows]
        except ValueError:
            return [CoreEntry(_record(payload, seq), seq) for _, seq, payload in rows]


def _record(payload: str, seq: int) -> dict[str, Any]:
    try:
        value = parse_json(payload)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else damaged_record(seq)
