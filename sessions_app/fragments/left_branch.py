"""The branch that somebody leaves or has left: where it parted, how long it is, and what it was about."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app import entry_log
from sessions_app.fragments.told import stretches_of
from sessions_app.fragments.tree_panel import first_words
from sessions_app.models import Entry

_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class LeftBranch:
    """`entries` from where it parted to its tip; `words` are the first that were said on it."""

    tip: int
    entries: int
    words: str


def parting_depth(tip: Entry, other: Entry) -> int:
    """Depth of the deepest entry on the paths of both; -1 if they have no entry in common (03 BS-04)."""
    beside = stretches_of(other)
    below = tip.depth + 1
    for segment_id, last in stretches_of(tip).items():
        start = below - 1 - last
        if segment_id in beside:
            return start + min(last, beside[segment_id])
        below = start
    return -1


def left_branch(tip: Entry, other: Entry) -> LeftBranch:
    """The tip's branch as far as it is not the other's path too."""
    parted = parting_depth(tip, other)
    end = min(parted + 1 + _LOOKED_AT, tip.depth + 1)
    said = _load(tip, parted + 1, end)
    words = next(
        (words for entry in said if entry.role == "user" and (words := first_words(entry.payload))), ""
    )
    return LeftBranch(tip.seq, tip.depth - parted, words)


def _load(tip: Entry, first: int, end: int) -> list[Entry]:
    if end <= first:
        return []
    return entry_log.load_window(tip.session, leaf=tip, before_depth=end, limit=end - first).entries
