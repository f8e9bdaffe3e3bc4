"""The words of a drawing that is looked at from far: what stays readable when everything else is too small (UI §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from sessions_app.core import faces
from sessions_app.core.drawing import Drawing, Item, Outline, Place, Shape
from sessions_app.core.drawing.layout import LANE
from sessions_app.fragments import tree_svg as svg
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.tree_words import OUTCOME_GLYPHS, Words

ZOOM = 0.22
"""What there must be room at; the words are as large on the screen as those of a drawing at 100 %."""
LONGEST, MOST_NAMES, MOST_SHAPES = 26, 12, 24
_TOLD = frozenset(faces.ERROR + faces.COMPACTION + faces.BRANCH_SUMMARY + faces.STOPPED)
RISE = 8 / ZOOM


class Picture(Protocol):
    """What is looked at from far: a drawing with its outline, the words at hand, and what is said of tips."""

    drawing: Drawing
    outline: Outline
    words: Mapping[Place, Words]
    here: Item | None

    def is_tip(self, item: Item) -> bool: ...

    def of_tip(self, item: Item) -> tuple[str, str]: ...


def far_words(picture: Picture, items: list[Item]) -> str:
    """Labels and errors, and the names of the largest branches as far as nothing lies where they would stand; and larger
    shapes for what stands out.
    """
    taken: dict[int, list[tuple[float, float]]] = {}
    parts: list[str] = []
    names = 0
    for item, words, css in _wanted(picture, items):
        lane = picture.drawing.lanes[item.strand]
        begin, end = item.x, item.x + svg.words_width(words) / ZOOM
        is_name = css == "far-name"
        if is_name and (names == MOST_NAMES or _is_crossed(picture, lane - 1, begin, end)):
            continue
        if any(begin < right and left < end for left, right in taken.get(lane, ())):
            continue
        names += is_name
        taken.setdefault(lane, []).append((begin, end))
        x, y = item.x, lane * LANE - RISE
        if css == "far-bad" and not _is_crossed(picture, lane, item.x + item.width, end):
            x, y = item.x + 12 / ZOOM, lane * LANE + 4 / ZOOM
        elif css == "far-bad" and not _is_crossed(picture, lane + 1, begin, end):
            y = lane * LANE + 16 / ZOOM
        parts.append(svg.text(words, x, y, f"t-halo {css}"))
    parts = [*_shapes(picture, items), *parts]
    return f'<g class="far" aria-hidden="true">{"".join(parts)}</g>' if parts else ""


def _shapes(picture: Picture, items: list[Item]) -> list[str]:
    told = [item for item in items if item.shape in (Shape.ENTRY, Shape.TIMES) and item.face in _TOLD]
    shapes = [(faces.GLYPHS[item.face], item) for item in told]
    tips = ((picture.of_tip(item)[0], item) for item in items if picture.is_tip(item))
    shapes += [(OUTCOME_GLYPHS[outcome], item) for outcome, item in tips if outcome]
    return [
        svg.use(glyph, item.centre, picture.drawing.lanes[item.strand] * LANE, 12 / ZOOM)
        for glyph, item in shapes[:MOST_SHAPES]
    ]


def _wanted(picture: Picture, items: list[Item]) -> Iterator[tuple[Item, str, str]]:
    """What could be said, the most important first."""
    outline = picture.outline
    entries = [item for item in items if item.shape in (Shape.ENTRY, Shape.FORK)]
    for item in entries:
        if item.place in outline.labels:
            yield item, one_line(outline.labels[item.place], LONGEST), "far-label"
    for item in entries:
        if item.face == faces.ERROR and (words := picture.words.get(item.place)):
            yield item, one_line(words.text or "Stopped on an error", LONGEST), "far-bad"
    if picture.here is not None and picture.here in entries:
        yield picture.here, "here", "far-here"
    begins = [item for item in items if item.index == 0 and picture.drawing.lines[item.strand].weight > 2]
    for item in sorted(begins, key=lambda item: -picture.drawing.lines[item.strand].weight):
        if words := picture.words.get(item.place):
            yield item, one_line(words.text, LONGEST), "far-name"


def _is_crossed(picture: Picture, lane: int, begin: float, end: float) -> bool:
    """Whether a line of a lane lies between two places."""
    return any(
        line.lane == lane and (line.left if line.fork_x is None else line.fork_x) < end and begin < line.right
        for line in picture.drawing.lines.values()
    )
