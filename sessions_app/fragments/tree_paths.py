"""The tree by its segments: which stretches make up the active path, and what hangs beside it.

Nothing here reads an entry's record: a session of 50,000 entries is a few hundred segments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.core.drawing import BOOKKEEPING, Outline, Place
from sessions_app.fragments.outlines import shown_outline_of
from sessions_app.models import Entry, Session


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of the active path: entries of one segment from ordinal 0 to `last`, the first at depth `depth`."""

    segment: int
    depth: int
    last: int


@dataclass(frozen=True, slots=True)
class Branch:
    """What leaves the path after depth `depth` (-1: another root). It begins at `ordinal` of `segment`;
    `count` entries and `forks` further forks lie in it."""

    depth: int
    segment: int
    ordinal: int
    count: int
    forks: int


@dataclass(frozen=True, slots=True)
class Layout:
    """`ahead` is what lies below the leaf when it stands on an inner entry."""

    outline: Outline
    stretches: tuple[Stretch, ...]
    branches: tuple[Branch, ...]
    ahead: tuple[Branch, ...]
    length: int
    entries: int

    def places(self, depths: Iterable[int]) -> list[Place]:
        """Where the path's entries at some depths stand."""
        found: list[Place] = []
        wanted = sorted(depths)
        index = 0
        for stretch in self.stretches:
            end = stretch.depth + stretch.last
            while index < len(wanted) and wanted[index] <= end:
                found.append((stretch.segment, wanted[index] - stretch.depth))
                index += 1
        return found

    def faces(self) -> str:
        """A letter for every entry of the path, from the top down."""
        return "".join(
            self.outline.strands[stretch.segment].faces[: stretch.last + 1] for stretch in self.stretches
        )

    def depth_of(self, place: Place) -> int | None:
        """The depth of an entry that lies on the path."""
        for stretch in self.stretches:
            if stretch.segment == place[0]:
                return stretch.depth + place[1] if place[1] <= stretch.last else None
        return None


def lay_out(session: Session, leaf: Entry | None) -> Layout:
    """The layout of a session seen from its leaf."""
    outline = shown_outline_of(session)
    strands = outline.strands
    rows = [(key, strands[key].parent) for key in sorted(strands)]
    parents: dict[int, tuple[int | None, int]] = {
        key: (strand.parent, strand.fork_at) for key, strand in strands.items()
    }
    lengths = {key: len(strand.faces) for key, strand in strands.items()}
    forks: dict[int | None, list[int]] = defaultdict(list)
    for pk, parent in rows:
        forks[parent].append(pk)
    stretches = _stretches(leaf, parents)
    on_path = {stretch.segment: stretch for stretch in stretches}
    weights = _weights(forks, lengths)
    branches: list[Branch] = []
    for stretch in stretches:
        branches += _beside(stretch, on_path, forks, parents, lengths, weights)
    branches += [Branch(-1, pk, 0, *weights[pk]) for pk in forks[None] if pk not in on_path]
    bottom = leaf.depth if leaf is not None else -1
    # A label or a setting that somebody left behind is no branch to go to.
    branches = [branch for branch in branches if branch.forks or not _is_bookkeeping(outline, branch)]
    beside = sorted((branch for branch in branches if branch.depth < bottom or leaf is None), key=_order)
    ahead = sorted((branch for branch in branches if leaf is not None and branch.depth == bottom), key=_order)
    return Layout(outline, tuple(stretches), tuple(beside), tuple(ahead), bottom + 1, sum(lengths.values()))


def _is_bookkeeping(outline: Outline, branch: Branch) -> bool:
    told = outline.strands[branch.segment].faces[branch.ordinal :]
    return all(face in BOOKKEEPING for face in told)


def _order(branch: Branch) -> tuple[int, int]:
    return branch.depth, branch.segment


def _stretches(leaf: Entry | None, parents: dict[int, tuple[int | None, int]]) -> list[Stretch]:
    if leaf is None:
        return []
    found: list[Stretch] = []
    segment: int | None = leaf.segment_id
    last, depth = leaf.ordinal, leaf.depth
    while segment is not None:
        found.append(Stretch(segment, depth - last, last))
        depth = depth - last - 1
        segment, last = parents[segment]
    return found[::-1]


def _weights(forks: dict[int | None, list[int]], lengths: dict[int, int]) -> dict[int, tuple[int, int]]:
    """Per segment: entries and forks in its whole subtree. From the bottom up, without recursion."""
    order = list(forks[None])
    for segment in order:
        order.extend(forks.get(segment, ()))
    counts = dict(lengths)
    depths = {segment: len(forks.get(segment, ())) for segment in order}
    above = {child: parent for parent, children in forks.items() for child in children}
    for segment in reversed(order):
        parent = above[segment]
        if parent is not None:
            counts[parent] += counts[segment]
            depths[parent] += depths[segment]
    return {segment: (counts[segment], depths[segment]) for segment in order}


def _beside(
    stretch: Stretch,
    on_path: dict[int, Stretch],
    forks: dict[int | None, list[int]],
    parents: dict[int, tuple[int | None, int]],
    lengths: dict[int, int],
    weights: dict[int, tuple[int, int]],
) -> list[Branch]:
    """Branches that leave this stretch: forks at its entries, and the rest of its own segment."""
    found: list[Branch] = []
    rest_count, rest_forks = lengths[stretch.segment] - stretch.last - 1, 0
    for child in forks.get(stretch.segment, ()):
        if child in on_path:
            continue
        ordinal = parents[child][1]
        if ordinal <= stretch.last:
            found.append(Branch(stretch.depth + ordinal, child, 0, *weights[child]))
        else:
            rest_count += weights[child][0]
            rest_forks += weights[child][1] + 1
    if lengths[stretch.segment] > stretch.last + 1:
        found.append(
            Branch(stretch.depth + stretch.last, stretch.segment, stretch.last + 1, rest_count, rest_forks)
        )
    return found
