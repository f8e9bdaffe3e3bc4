"""One strand as a row of items: shapes for what stands out, capsules for the runs between, one item for many branches."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from enum import StrEnum
from math import log2

from sessions_app.core import faces
from sessions_app.core.drawing.outline import HIDDEN, Filter, Outline, Place, Strand

FOLDED_FROM = 5
"""A run of at least so many entries becomes a capsule (UI §6)."""
NOTHING_FOLDED = 60
"""Up to so many entries in all every one is a shape."""
BULK = 2_000
"""From so many entries on compactions and errors are counted, and short branches bundled."""
SHORT_BRANCH = 30
NEWEST = 3
"""Entries at the end of a running branch that stay shapes."""
OPENED = 40
"""An opened capsule of more entries opens into parts."""
PARTS = 12

GLYPH, GAP = 18.0, 22.0

BOOKKEEPING = faces.NOTE + faces.USAGE + faces.SYSTEM + faces.EDIT
_STANDS_OUT = re.compile(f"[{faces.COMPACTION}{faces.BRANCH_SUMMARY}{faces.ERROR}{faces.STOPPED}]")
_BRANCH_SUMMARY = re.compile(faces.BRANCH_SUMMARY)
_SHOWN = re.compile(rf"[^{HIDDEN}]")


class Shape(StrEnum):
    """What an item is drawn as; an `entry` by its face."""

    ENTRY = "entry"
    FORK = "fork"
    CAPSULE = "capsule"
    TIMES = "times"
    """Several compactions or errors in the capsule before it."""
    BUNDLE = "bundle"
    """Short branches that leave the capsule before it."""
    FOLDED = "folded"
    """A whole subtree."""
    ABOVE = "above"
    """What lies above the root of a hoisted drawing."""
    RUNNING = "running"
    QUEUED = "queued"


@dataclass(frozen=True, slots=True)
class View:
    """What a person has chosen to see. `opened` capsules by their keys, `folded` subtrees by strand,
    `unbundled` bundles by their keys, `root` of a hoisted subtree, `hits` of a search."""

    filter: Filter = Filter.DEFAULT
    opened: frozenset[str] = frozenset()
    folded: frozenset[int] = frozenset()
    root: Place | None = None
    hits: frozenset[Place] = frozenset()


@dataclass(slots=True)
class Item:
    """One thing on a strand: the entries from ordinal `start` to `end`, of which `count` are shown.

    `key` opens or folds it; `within` is the key of the opened capsule it came out of. `x` is its left edge.
    """

    strand: int
    start: int
    end: int
    shape: Shape
    face: str = ""
    count: int = 1
    key: str = ""
    within: str = ""
    hits: int = 0
    width: float = GLYPH
    x: float = 0.0
    index: int = 0
    bundled: list[int] = field(default_factory=list)

    @property
    def centre(self) -> float:
        return self.x + self.width / 2

    @property
    def place(self) -> Place:
        return self.strand, self.start

    def moved(self, by: float) -> Item:
        """The same so many pixels further right. A large drawing moves thousands: nothing is looked at twice."""
        return Item(
            self.strand, self.start, self.end, self.shape, self.face, self.count, self.key, self.within, self.hits,
            self.width, self.x + by, self.index, self.bundled,
        )  # fmt: skip


def capsule_width(count: int) -> float:
    """Grows with the logarithm, in steps of 12, so that a growing run seldom moves what is behind it (UI §6)."""
    wanted = 40 + 11 * log2(max(count, 1))
    return float(min(140, max(56, 56 + 12 * round((wanted - 56) / 12))))


@dataclass(slots=True)
class StrandItems:
    """Makes the items of one strand; `kept` places have a shape of their own, `bundles`
    maps the ordinal of a fork to the short branches there."""

    outline: Outline
    view: View
    strand: Strand
    kept: Set[Place]
    forks: set[int]
    bundles: dict[int, list[int]]
    bulk: bool
    small: bool
    first: int = 0
    _shown: str = field(init=False)
    _bundle_forks: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._shown = self.strand.shown(self.view.filter)
        self._bundle_forks = sorted(self.bundles)

    def make(self) -> list[Item]:
        length = len(self.strand.faces)
        stops = sorted(self._stops(length))
        items: list[Item] = []
        previous = self.first - 1
        for stop in [*stops, length]:
            items += self._run(previous + 1, stop, depth=0, within="")
            if stop < length:
                items += self._single(stop)
            previous = stop
        for index, item in enumerate(items):
            item.index = index
        return items

    def _stops(self, length: int) -> set[int]:
        """Ordinals that are an item of their own."""
        stops = {fork for fork in self.forks if fork < length}
        stops |= {ordinal for _, ordinal in self.kept if self._is_kept(ordinal)}
        if self.small:
            stops |= {match.start() for match in _SHOWN.finditer(self._shown)}
        pattern = _BRANCH_SUMMARY if self.bulk else _STANDS_OUT
        stops |= {match.start() for match in pattern.finditer(self._shown)}
        if self._shows(self.first) and (self.strand.faces[self.first] == faces.USER or length == 1):
            stops.add(self.first)
        # The person's message right behind a fork says what the path went on with.
        for fork in self.forks:
            if fork + 1 < length and self._shown[fork + 1] == faces.USER:
                stops.add(fork + 1)
        stops |= self._end(length)
        return {stop for stop in stops if self.first <= stop < length}

    def _end(self, length: int) -> set[int]:
        """The tip; of a running branch the newest few."""
        at_work = self.outline.running and self.outline.leaf == (self.strand.key, length - 1)
        wanted = NEWEST if at_work else 1
        found: set[int] = set()
        for ordinal in range(length - 1, max(self.first, length - 40) - 1, -1):
            if self._shows(ordinal):
                found.add(ordinal)
                if len(found) == wanted:
                    break
        return found

    def _is_kept(self, ordinal: int) -> bool:
        place = (self.strand.key, ordinal)
        if place in self.view.hits:
            return True
        if place == self.outline.leaf and place not in self.outline.labels:
            # Where one stands is shown, an answer of calls alone too (01 TR-09), and with our own filters whatever it is.
            face = self.strand.faces[ordinal]
            own = self.view.filter in (Filter.FILES, Filter.ERRORS) and face not in BOOKKEEPING
            return self._shows(ordinal) or face == faces.CALLS or own
        if self.view.filter in (Filter.DEFAULT, Filter.LABELED_ONLY, Filter.ALL, Filter.NO_TOOLS):
            return True
        return self._shows(ordinal)

    def _shows(self, ordinal: int) -> bool:
        return 0 <= ordinal < len(self._shown) and self._shown[ordinal] != HIDDEN

    def _single(self, ordinal: int) -> Iterator[Item]:
        face = self.strand.faces[ordinal]
        place = (self.strand.key, ordinal)
        plain = place not in self.kept and face not in "ucbesxh"
        is_fork = ordinal in self.forks and (plain or not self._shows(ordinal))
        shape = Shape.FORK if is_fork and place not in self.kept else Shape.ENTRY
        yield self._item(ordinal, ordinal, shape, face, hits=int(place in self.view.hits))
        if ordinal in self.bundles:
            yield self._bundle(ordinal, ordinal, self.bundles[ordinal])

    def _run(self, start: int, end: int, *, depth: int, within: str) -> Iterator[Item]:
        """The entries from `start` up to, not including, `end`."""
        count = end - start - self._shown.count(HIDDEN, start, end)
        bundled = self._bundled(start, end) if self.bundles else []
        if count == 0:
            if bundled:
                yield self._bundle(start, end - 1, bundled)
            return
        key = f"{self.strand.key}.{start}.{depth}"
        if count < FOLDED_FROM or self.small or (key in self.view.opened and count <= OPENED):
            for match in _SHOWN.finditer(self._shown, start, end):
                item = self._item(match.start(), match.start(), Shape.ENTRY, self.strand.faces[match.start()])
                item.within = key if key in self.view.opened else within
                yield item
            if bundled:
                yield self._bundle(start, end - 1, bundled)
        elif key in self.view.opened:
            yield from self._parts(start, end, count, depth, key)
        else:
            yield from self._capsule(start, end, count, key, within)
            if bundled:
                yield self._bundle(start, end - 1, bundled)

    def _bundled(self, start: int, end: int) -> list[int]:
        """The short branches that leave a run, in order."""
        first, last = bisect_left(self._bundle_forks, start), bisect_left(self._bundle_forks, end)
        return [key for fork in self._bundle_forks[first:last] for key in self.bundles[fork]]

    def _capsule(self, start: int, end: int, count: int, key: str, within: str) -> Iterator[Item]:
        capsule = self._item(start, end - 1, Shape.CAPSULE, "", count=count, width=capsule_width(count))
        capsule.key, capsule.within = key, within
        yield capsule
        if self.bulk:
            for face in (faces.COMPACTION, faces.ERROR):
                if times := self._shown.count(face, start, end):
                    first = self._shown.index(face, start, end)
                    if times == 1:
                        yield self._item(first, first, Shape.ENTRY, face)
                    else:
                        yield self._item(first, end - 1, Shape.TIMES, face, count=times)

    def _parts(self, start: int, end: int, count: int, depth: int, within: str) -> Iterator[Item]:
        """An opened run that is still long: about a dozen parts, each beginning at a message of the person's if it can."""
        step = max(FOLDED_FROM, -(-(end - start) // PARTS))
        cursor = start
        while cursor < end:
            stop = min(end, cursor + step)
            if stop < end:
                found = self.strand.faces.find(faces.USER, stop, min(end, stop + step // 2))
                stop = found if found >= 0 else stop
            yield from self._run(cursor, stop, depth=depth + 1, within=within)
            cursor = stop

    def _bundle(self, start: int, end: int, bundled: list[int]) -> Item:
        item = self._item(start, end, Shape.BUNDLE, "", count=len(bundled), width=16.0)
        item.key = f"b{self.strand.key}.{start}.{end}"
        item.bundled = bundled
        return item

    def _item(
        self,
        start: int,
        end: int,
        shape: Shape,
        face: str,
        *,
        count: int = 1,
        width: float = GLYPH,
        hits: int = 0,
    ) -> Item:
        return Item(self.strand.key, start, end, shape, face, count, width=width, hits=hits)
