"""A session's tree as its segments, each with one letter per entry: what a drawing needs to know of 50,000 entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sessions_app.core import faces

Place = tuple[int, int]
"""An entry: its segment's key and its ordinal there."""

HIDDEN = "."


class Filter(StrEnum):
    """What is drawn (01 TR-09), and two of our own: entries with files, and with errors."""

    DEFAULT = "default"
    NO_TOOLS = "no-tools"
    USER_ONLY = "user-only"
    LABELED_ONLY = "labeled-only"
    FILES = "files"
    ERRORS = "errors"
    ALL = "all"


_EVERY = "uatrwfescbxhyonkz"
_NEVER = faces.USAGE + faces.SYSTEM + faces.CALLS
_NO_NOTES = _NEVER + faces.NOTE + faces.EDIT
_SHOWN: dict[Filter, str] = {
    Filter.DEFAULT: "".join(face for face in _EVERY if face not in _NO_NOTES),
    Filter.NO_TOOLS: "".join(face for face in _EVERY if face not in _NO_NOTES + "rwf"),
    Filter.USER_ONLY: faces.USER,
    Filter.LABELED_ONLY: "",
    Filter.FILES: faces.CHANGE,
    Filter.ERRORS: faces.ERROR + faces.FAILURE + faces.STOPPED,
    Filter.ALL: "".join(face for face in _EVERY if face not in _NEVER),
}


def _hides(filter_: Filter) -> dict[int, str]:
    return str.maketrans({face: HIDDEN for face in _EVERY if face not in _SHOWN[filter_]})


_TABLES = {filter_: _hides(filter_) for filter_ in Filter}


@dataclass(frozen=True, slots=True)
class Strand:
    """One segment. `faces` has a letter per entry, `fork_at` is the ordinal in its parent that it leaves from."""

    key: int
    parent: int | None
    fork_at: int
    faces: str
    used: int = 0
    cost: float = 0.0

    def shown(self, filter_: Filter) -> str:
        """`faces` with a dot for what the filter hides."""
        return self.faces.translate(_TABLES[filter_])


@dataclass(frozen=True, slots=True)
class Below:
    """What hangs at and below some place: entries, tips, tokens and US dollars."""

    entries: int
    tips: int
    used: int
    cost: float


@dataclass(slots=True)
class Outline:
    """All strands of a session, parents before their children, and what stands out on them."""

    strands: dict[int, Strand]
    leaf: Place | None = None
    labels: Mapping[Place, str] = field(default_factory=dict)
    pins: frozenset[Place] = frozenset()
    outcomes: Mapping[Place, str] = field(default_factory=dict)
    running: bool = False
    queued: int = 0
    forks: dict[int | None, list[Strand]] = field(init=False)
    path: dict[int, int] = field(init=False)
    below: dict[int, Below] = field(init=False)

    def __post_init__(self) -> None:
        self.forks = {}
        for strand in self.strands.values():
            self.forks.setdefault(strand.parent, []).append(strand)
        self.path = path_of(self.strands, self.leaf)
        self.below = self._below()

    @classmethod
    def of(cls, strands: Iterable[Strand], **facts: object) -> Outline:
        """In whatever order they come; those whose parent is missing are left out."""
        every = {strand.key: strand for strand in strands}
        children: dict[int | None, list[Strand]] = {}
        for strand in every.values():
            children.setdefault(strand.parent, []).append(strand)
        order = sorted(children.get(None, ()), key=lambda strand: strand.key)
        for strand in order:
            order.extend(sorted(children.get(strand.key, ()), key=lambda child: child.key))
        return cls({strand.key: strand for strand in order}, **facts)  # type: ignore[arg-type]

    def marked(self, **facts: Any) -> Outline:
        """The same strands with other marks; what follows from the strands alone is not worked out again."""
        other = copy(self)
        for name, value in facts.items():
            setattr(other, name, value)
        other.path = path_of(other.strands, other.leaf)
        return other

    def without(self, hidden: frozenset[Place]) -> Outline:
        """The outline without what hangs at and below some places; of a strand that is cut short what its entries
        used is taken to be spread evenly.
        """
        cut: dict[int, int] = {}
        for key, ordinal in hidden:
            cut[key] = min(ordinal, cut.get(key, ordinal))
        kept: dict[int, Strand] = {}
        for strand in self.strands.values():
            parent = strand.parent
            if parent is not None and (parent not in kept or strand.fork_at >= len(kept[parent].faces)):
                continue
            end = cut.get(strand.key, len(strand.faces))
            if end >= len(strand.faces):
                kept[strand.key] = strand
            elif end:
                share = end / len(strand.faces)
                kept[strand.key] = replace(
                    strand,
                    faces=strand.faces[:end],
                    used=round(strand.used * share),
                    cost=strand.cost * share,
                )
        return Outline(kept)

    @property
    def entries(self) -> int:
        return sum(len(strand.faces) for strand in self.strands.values())

    def tips(self) -> list[Place]:
        """The last entry of every strand; each is a tip, for what forks from it continues it."""
        return [(strand.key, len(strand.faces) - 1) for strand in self.strands.values() if strand.faces]

    def holds(self, place: Place) -> bool:
        strand = self.strands.get(place[0])
        return strand is not None and place[1] < len(strand.faces)

    def on_path(self, place: Place) -> bool:
        return place[1] <= self.path.get(place[0], -1)

    def forks_of(self, key: int) -> list[Strand]:
        return self.forks.get(key, [])

    def below_place(self, place: Place, used: int = 0, cost: float = 0.0) -> Below:
        """What hangs below an entry, itself included; `used` and `cost` are those of its own strand from it on."""
        key, ordinal = place
        parts = [self.below[child.key] for child in self.forks_of(key) if child.fork_at >= ordinal]
        return Below(
            entries=len(self.strands[key].faces) - ordinal + sum(part.entries for part in parts),
            tips=1 + sum(part.tips for part in parts),
            used=used + sum(part.used for part in parts),
            cost=cost + sum(part.cost for part in parts),
        )

    def _below(self) -> dict[int, Below]:
        found: dict[int, Below] = {}
        for strand in reversed(self.strands.values()):
            parts = [found[child.key] for child in self.forks_of(strand.key)]
            found[strand.key] = Below(
                entries=len(strand.faces) + sum(part.entries for part in parts),
                tips=1 + sum(part.tips for part in parts),
                used=strand.used + sum(part.used for part in parts),
                cost=strand.cost + sum(part.cost for part in parts),
            )
        return found


def path_of(strands: Mapping[int, Strand], leaf: Place | None) -> dict[int, int]:
    """Strand → the last ordinal of the leaf's path in it."""
    found: dict[int, int] = {}
    place: Place | None = leaf
    while place is not None:
        key, ordinal = place
        found[key] = ordinal
        strand = strands.get(key)
        place = (strand.parent, strand.fork_at) if strand and strand.parent is not None else None
    return found
