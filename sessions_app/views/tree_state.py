"""What a person has chosen to see of a tree, as it stands in the address: filter, words looked for, what is open."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.http import QueryDict

from sessions_app import search_index
from sessions_app.core.drawing import Filter, Place, View
from sessions_app.core.search_words import read_query
from sessions_app.models import Entry, Session

MOST_OPEN = 400
MOST_HITS = 500
LONGEST_QUERY = 200
CATCH_UP_SECONDS = 0.4
_KEY = re.compile(r"b?\d{1,18}\.\d{1,9}\.\d{1,9}")
_PLACE = re.compile(r"(\d{1,18})\.(\d{1,9})")


@dataclass(frozen=True, slots=True)
class TreeState:
    """The parsed address; what makes no sense in it is passed over."""

    filter: Filter
    query: str
    opened: frozenset[str]
    folded: frozenset[int]
    root: Place | None
    at: Place | None
    seq: int | None
    hidden: bool

    def view(self, hits: frozenset[Place] = frozenset()) -> View:
        return View(filter=self.filter, opened=self.opened, folded=self.folded, root=self.root, hits=hits)


def read_state(query: QueryDict) -> TreeState:
    wanted = query.get("filter", "")
    seq = query.get("entry", "")
    return TreeState(
        filter=Filter(wanted) if wanted in set(Filter) else Filter.DEFAULT,
        query=" ".join(query.get("q", "")[:LONGEST_QUERY].split()),
        opened=frozenset(key for key in query.get("open", "").split(",")[:MOST_OPEN] if _KEY.fullmatch(key)),
        folded=frozenset(
            int(key) for key in query.get("fold", "").split(",")[:MOST_OPEN] if re.fullmatch(r"\d{1,18}", key)
        ),
        root=_place(query.get("root", "")),
        at=_place(query.get("at", "")),
        seq=int(seq) if seq.isdecimal() and len(seq) < 10 else None,
        hidden=query.get("hidden") == "1",
    )


def _place(text: str) -> Place | None:
    match = _PLACE.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def find_hits(session: Session, query: str) -> list[Place]:
    """Where everything that is looked for stands, on whatever branch, in order of writing (01 TR-09)."""
    if not query:
        return []
    search_index.catch_up(Session.objects.filter(pk=session.pk), CATCH_UP_SECONDS)
    found = search_index.matching(Entry.objects.filter(session=session), read_query(query))
    return list(found.order_by("seq").values_list("segment_id", "ordinal")[:MOST_HITS])
