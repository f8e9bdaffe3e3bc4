"""Where everything stands: time runs right, one lane per branch, nothing moves because something was added behind it.

Units are pixels at 100 %. Lane 0 is the first branch; lanes above are negative. A branch takes the nearest lane that
is free from its fork to its tip, alternately above and below, in the order in which branches were made (UI §6).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from math import inf

from sessions_app.core.drawing.choosing import Chosen, choose, hidden_above
from sessions_app.core.drawing.outline import Outline, Place
from sessions_app.core.drawing.strands import GAP, Item, Shape, StrandItems, View, capsule_width

LANE = 58.0
ELBOW = 10.0
MARGIN = 60.0
TIP_WORDS = 130.0
"""Room behind a tip for what is said about it."""
BEHIND_FORK = 30.0
BUNDLE_WIDTH = 170.0

_HOLDING = frozenset({Shape.ENTRY, Shape.FORK, Shape.CAPSULE, Shape.FOLDED})


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a strand along its lane, from `left` to `right`; `fork_x` and `fork_lane` say where it leaves its
    parent (None: a root). Up to `active` it is on the active path; behind the leaf it is `ahead`."""

    strand: int
    lane: int
    left: float
    right: float
    fork_x: float | None
    fork_lane: int
    active: float | None
    ahead: bool
    weight: int


@dataclass(frozen=True, slots=True)
class Edge:
    """From a fork on `lane` down or up to a bundle on another lane."""

    x: float
    lane: int
    to: int


@dataclass(slots=True)
class Drawing:
    """Items by strand, the lane of each strand and of each bundle (by its key), and the lines between them."""

    items: dict[int, list[Item]] = field(default_factory=dict)
    lanes: dict[int, int] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    lines: dict[int, Line] = field(default_factory=dict)
    bundle_lanes: dict[str, int] = field(default_factory=dict)
    attached: dict[int, Item] = field(default_factory=dict)
    chosen: Chosen = field(default_factory=Chosen)
    opened: frozenset[str] = frozenset()
    above: int = 0
    _starts: dict[int, tuple[list[int], list[Item]]] = field(default_factory=dict)

    @property
    def left(self) -> float:
        return -MARGIN

    @property
    def right(self) -> float:
        return max((line.right for line in self.lines.values()), default=0.0) + TIP_WORDS + MARGIN

    @property
    def top(self) -> float:
        every = [*self.lanes.values(), *self.bundle_lanes.values()]
        return min(every, default=0) * LANE - MARGIN

    @property
    def bottom(self) -> float:
        every = [*self.lanes.values(), *self.bundle_lanes.values()]
        return max(every, default=0) * LANE + MARGIN

    def find(self, place: Place) -> Item | None:
        """The item that shows an entry or holds it; None when its strand is not drawn."""
        if place[0] not in self._starts:
            holding = [item for item in self.items.get(place[0], ()) if item.shape in _HOLDING]
            self._starts[place[0]] = [item.start for item in holding], holding
        starts, holding = self._starts[place[0]]
        index = bisect_right(starts, place[1])
        return holding[index - 1] if index else (holding[0] if holding else None)

    def within(self, left: float, top: float, right: float, bottom: float) -> list[Item]:
        """The items that a window touches, lane by lane from left to right."""
        found: list[Item] = []
        for key, items in self.items.items():
            y = self.lanes[key] * LANE
            line = self.lines[key]
            if line.right + TIP_WORDS < left or line.left > right:
                continue
            if top <= y <= bottom:
                found += [item for item in items if item.x <= right and item.x + item.width >= left]
            else:
                found += [
                    item
                    for item in items
                    if item.shape is Shape.BUNDLE
                    and top <= self.bundle_lanes[item.key] * LANE <= bottom
                    and item.x <= right
                    and item.x + BUNDLE_WIDTH >= left
                ]
        return found


def draw(
    outline: Outline,
    view: View,
    before: Drawing | None = None,
    known_lanes: Mapping[int, int] | None = None,
) -> Drawing:
    """The whole drawing; it costs a few steps per item and none per entry. `before` is a drawing of the same outline whose
    view differed in what was opened, if in anything: the strands that this leaves alone are taken from it. A strand stays
    on its known lane as long as that is free.
    """
    known = known_lanes or {}
    drawing = Drawing(chosen=_chosen(outline, view, before), opened=view.opened)
    kept = _kept_by_strand(outline, view)
    if view.root is not None and view.root[0] in outline.strands:
        drawing.above = hidden_above(outline, view.root)
    lanes = _Lanes()
    siblings: dict[int | None, int] = {}
    changed = _strands_of(view.opened ^ before.opened) if before is not None else frozenset()
    newest = max(outline.strands, default=0)
    for strand in drawing.chosen.strands:
        key = strand.key
        parent = strand.parent if strand.parent in drawing.items else None
        fork = drawing.find((parent, strand.fork_at)) if parent is not None else None
        left = fork.centre + BEHIND_FORK if fork is not None else 0.0
        if before is not None and key not in changed and _stays(before, drawing, key):
            items = _at(before.items[key], left)
        else:
            items = _items(outline, view, drawing, key, kept.get(key, frozenset()))
            _spread(items, left)
        right = items[-1].x + items[-1].width if items else left
        fork_lane = drawing.lanes[parent] if parent is not None else 0
        begin = fork.centre if fork is not None else left
        number = siblings.get(parent, 0)
        siblings[parent] = number + 1
        side = -1 if number % 2 == 0 else 1
        if fork is None:
            lane = lanes.take(0, 1, begin, right + TIP_WORDS, stay=True)
        else:
            end = right + TIP_WORDS
            # Work goes on on the newest branch: it takes a lane on which it never meets another.
            reach = inf if key == newest else end
            lane = lanes.take(fork_lane, side, begin, end, reach=reach, known=known.get(key))
        drawing.items[key], drawing.lanes[key] = items, lane
        drawing.levels[key] = drawing.levels[parent] + 1 if parent is not None else 1
        if fork is not None:
            drawing.attached[key] = fork
        drawing.lines[key] = _line(outline, drawing, key, lane, left, fork, fork_lane)
    _place_bundles(drawing, lanes)
    return drawing


def _chosen(outline: Outline, view: View, before: Drawing | None) -> Chosen:
    """Which strands are drawn; only bundles that are opened or closed change that."""
    if before is None or any(key.startswith("b") for key in view.opened ^ before.opened):
        return choose(outline, view)
    return before.chosen


def _strands_of(keys: Iterable[str]) -> frozenset[int]:
    return frozenset(int(key.removeprefix("b").partition(".")[0]) for key in keys)


def _stays(before: Drawing, drawing: Drawing, key: int) -> bool:
    """Whether the same leaves a strand at the same places as before."""
    old, new = before.chosen, drawing.chosen
    return old is new or (
        key in before.items
        and old.forks.get(key) == new.forks.get(key)
        and old.bundles.get(key) == new.bundles.get(key)
    )


def _at(items: list[Item], left: float) -> list[Item]:
    """The items of a strand that begins at `left` now; themselves where that is where they were."""
    if not items or items[0].x == left:
        return items
    by = left - items[0].x
    return [item.moved(by) for item in items]


def _kept_by_strand(outline: Outline, view: View) -> dict[int, set[Place]]:
    """Strand → the places on it that keep a shape of their own whatever the filter and however long the run."""
    kept: dict[int, set[Place]] = {}
    for place in (*outline.labels, *outline.outcomes, *outline.pins, *view.hits):
        kept.setdefault(place[0], set()).add(place)
    if outline.leaf is not None:
        kept.setdefault(outline.leaf[0], set()).add(outline.leaf)
    return kept


def _items(outline: Outline, view: View, drawing: Drawing, key: int, kept: Set[Place]) -> list[Item]:
    chosen, strand = drawing.chosen, outline.strands[key]
    first = chosen.first[key]
    if key in view.folded:
        below = outline.below[key].entries - first
        folded = Item(
            key, first, len(strand.faces) - 1, Shape.FOLDED, count=below, width=capsule_width(below)
        )
        folded.key = f"f{key}"
        return [folded]
    made = StrandItems(
        outline,
        view,
        strand,
        kept=kept,
        forks=chosen.forks.get(key, set()),
        bundles=chosen.bundles.get(key, {}),
        bulk=chosen.bulk,
        small=chosen.small,
        first=first,
    ).make()
    if drawing.above and not drawing.items:
        above = Item(
            key, first, first - 1, Shape.ABOVE, count=drawing.above, width=capsule_width(drawing.above)
        )
        made.insert(0, above)
    tip = (key, len(strand.faces) - 1)
    if outline.leaf == tip:
        if outline.running:
            made.append(Item(key, tip[1] + 1, tip[1] + 1, Shape.RUNNING, width=22.0))
        if outline.queued:
            made.append(Item(key, tip[1] + 2, tip[1] + 2, Shape.QUEUED, count=outline.queued))
    for index, item in enumerate(made):
        item.index = index
    return made


def _spread(items: list[Item], left: float) -> None:
    """Set every item's x."""
    cursor = left
    for item in items:
        item.x = cursor
        cursor += item.width + GAP


def _line(
    outline: Outline, drawing: Drawing, key: int, lane: int, left: float, fork: Item | None, fork_lane: int
) -> Line:
    items = drawing.items[key]
    right = items[-1].centre if items else left
    active: float | None = None
    if key in outline.path:
        active = right
        held = drawing.find((key, outline.path[key]))
        end = len(outline.strands[key].faces) - 1
        if held is not None and (outline.path[key] < end or not outline.running):
            active = held.centre if outline.path[key] < end else right
    return Line(
        key,
        lane,
        left,
        right,
        fork.centre if fork is not None else None,
        fork_lane,
        active,
        outline.leaf is not None and outline.leaf[0] == key,
        outline.below[key].entries,
    )


def _place_bundles(drawing: Drawing, lanes: _Lanes) -> None:
    number = 0
    for key, items in drawing.items.items():
        for item in items:
            if item.shape is Shape.BUNDLE:
                side = 1 if number % 2 == 0 else -1
                number += 1
                begin = item.x
                drawing.bundle_lanes[item.key] = lanes.take(
                    drawing.lanes[key], side, begin, begin + BUNDLE_WIDTH
                )


class _Lanes:
    """Which stretches of which lanes are taken."""

    def __init__(self) -> None:
        self._taken: dict[int, list[tuple[float, float]]] = {}

    def take(
        self,
        near: int,
        side: int,
        begin: float,
        end: float,
        *,
        stay: bool = False,
        reach: float | None = None,
        known: int | None = None,
    ) -> int:
        """The nearest lane to `near` that is free from `begin` to `reach` (else `end`), on `side` first; with `stay` `near`
        itself counts. A `known` lane that is free from `begin` to `end` goes first.
        """
        if known is not None and self._is_free(known, begin, end):
            insort(self._taken.setdefault(known, []), (begin, end))
            return known
        distance = 0 if stay else 1
        while True:
            for lane in (near + side * distance, near - side * distance):
                if self._is_free(lane, begin, end if reach is None else reach):
                    insort(self._taken.setdefault(lane, []), (begin, end))
                    return lane
            distance += 1

    def _is_free(self, lane: int, begin: float, end: float) -> bool:
        """The stretches of a lane never overlap, so only the neighbours matter."""
        taken = self._taken.get(lane, ())
        index = bisect_right(taken, (begin, end))
        before = index == 0 or taken[index - 1][1] <= begin
        return before and (index == len(taken) or taken[index][0] >= end)
