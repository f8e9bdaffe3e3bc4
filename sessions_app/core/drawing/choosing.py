"""Which strands are drawn, which are bundled at their fork, and which are folded."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from sessions_app.core import faces
from sessions_app.core.drawing.outline import HIDDEN, Filter, Outline, Place, Strand
from sessions_app.core.drawing.strands import BULK, NOTHING_FOLDED, SHORT_BRANCH, View

_STRUCTURAL = (Filter.DEFAULT, Filter.ALL, Filter.NO_TOOLS)


@dataclass(slots=True)
class Chosen:
    """`strands` in the order they are laid out; `first` is the ordinal a strand is drawn from; `bundles` and
    `forks` say per strand at which ordinals something leaves it."""

    strands: list[Strand] = field(default_factory=list)
    first: dict[int, int] = field(default_factory=dict)
    bundles: dict[int, dict[int, list[int]]] = field(default_factory=dict)
    forks: dict[int, set[int]] = field(default_factory=dict)
    bulk: bool = False
    small: bool = False
    shown: int = 0


def choose(outline: Outline, view: View) -> Chosen:
    """Parents before their children, else in the order in which branches were made. A strand that holds nothing the filter shows is left out, but for the path."""
    matches = _matches(outline, view)
    roots = _roots(outline, view)
    total = sum(matches[strand.key][0] for strand in roots)
    chosen = Chosen(bulk=total > BULK, small=total <= NOTHING_FOLDED, shown=total)
    opened = _opened_bundles(view)
    pending = [strand.key for strand in roots]
    heapify(pending)
    for strand in roots:
        chosen.first[strand.key] = view.root[1] if view.root is not None else 0
    while pending:
        strand = outline.strands[heappop(pending)]
        chosen.strands.append(strand)
        first = chosen.first[strand.key]
        forks = chosen.forks.setdefault(strand.key, set())
        if strand.key in view.folded:
            continue
        for child in outline.forks_of(strand.key):
            if child.fork_at < first or not (matches[child.key][0] or child.key in outline.path):
                continue
            if chosen.bulk and _is_short(outline, child, matches) and not _is_opened(child, opened):
                chosen.bundles.setdefault(strand.key, {}).setdefault(child.fork_at, []).append(child.key)
                continue
            forks.add(child.fork_at)
            chosen.first[child.key] = 0
            heappush(pending, child.key)
    return chosen


def _roots(outline: Outline, view: View) -> list[Strand]:
    if view.root is not None and view.root[0] in outline.strands:
        return [outline.strands[view.root[0]]]
    return outline.forks.get(None, [])


def _matches(outline: Outline, view: View) -> dict[int, tuple[int, bool]]:
    """Strand → how many entries of its subtree are shown, and whether one of them must not be bundled."""
    notable = {key for key, _ in (*outline.labels, *outline.pins, *outline.outcomes, *view.hits)}
    found: dict[int, tuple[int, bool]] = {}
    for strand in reversed(outline.strands.values()):
        shown = strand.shown(view.filter)
        count = len(shown) - shown.count(HIDDEN)
        if view.filter not in _STRUCTURAL:
            count += _kept_marks(outline, view, strand.key)
        stands_out = strand.key in notable or faces.ERROR in shown or strand.key in outline.path
        for child in outline.forks_of(strand.key):
            below, special = found[child.key]
            count, stands_out = count + below, stands_out or special
        found[strand.key] = count, stands_out
    return found


def _kept_marks(outline: Outline, view: View, key: int) -> int:
    marks = outline.labels if view.filter is Filter.LABELED_ONLY else {}
    return sum(place[0] == key for place in marks) + sum(place[0] == key for place in view.hits)


def _is_short(outline: Outline, strand: Strand, matches: dict[int, tuple[int, bool]]) -> bool:
    return outline.below[strand.key].entries < SHORT_BRANCH and not matches[strand.key][1]


def _opened_bundles(view: View) -> list[tuple[int, int, int]]:
    found = []
    for key in view.opened:
        if key.startswith("b"):
            numbers = key[1:].split(".")
            if len(numbers) == 3 and all(number.isdecimal() for number in numbers):
                found.append((int(numbers[0]), int(numbers[1]), int(numbers[2])))
    return found


def _is_opened(strand: Strand, opened: list[tuple[int, int, int]]) -> bool:
    return any(strand.parent == key and start <= strand.fork_at <= end for key, start, end in opened)


def hidden_above(outline: Outline, root: Place) -> int:
    """How many entries lie above a place on its path."""
    count, place = root[1], root
    while (parent := outline.strands[place[0]].parent) is not None:
        place = (parent, outline.strands[place[0]].fork_at)
        count += place[1] + 1
    return count
