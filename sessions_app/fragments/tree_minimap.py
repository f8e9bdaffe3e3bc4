"""The whole drawing in small: one path for all lines, squares for errors and compactions, a dot for here."""

from __future__ import annotations

from sessions_app.core import faces
from sessions_app.core.drawing import Shape
from sessions_app.core.drawing.layout import LANE
from sessions_app.fragments import tree_svg as svg
from sessions_app.fragments.tree_drawing import Picture

WIDTH, HEIGHT = 224.0, 86.0
MOST_LINES, MOST_MARKS = 300, 60
LARGEST_X, LARGEST_Y = 0.25, 12 / LANE
"""Of a pixel of the drawing: a long tree with few lanes is not one thin line, a small one is not blown up."""
_MARKED = frozenset({faces.ERROR, faces.COMPACTION})


def minimap_of(picture: Picture) -> str:
    """SVG of 224 × 86 px; its data say how far a pixel of the drawing goes in it, and where the drawing's top is."""
    drawing, whole, number = picture.drawing, picture.whole, svg.number
    across, down = min(WIDTH / whole.width, LARGEST_X), min(HEIGHT / whole.height, LARGEST_Y)
    top = (HEIGHT - whole.height * down) / 2

    def x_of(x: float) -> str:
        return number((x - whole.x) * across)

    def y_of(lane: int) -> float:
        return (lane * LANE - whole.y) * down + top

    moves: list[str] = []
    active: list[str] = []
    for line in sorted(drawing.lines.values(), key=lambda line: -(line.right - line.left))[:MOST_LINES]:
        y = number(y_of(line.lane))
        start = f"M{x_of(line.left)} {y}"
        if line.fork_x is not None:
            start = f"M{x_of(line.fork_x)} {number(y_of(line.fork_lane))}V{y}H{x_of(line.left)}"
        until = line.active if line.active is not None else line.right
        (active if line.active is not None else moves).append(f"{start}H{x_of(until)}")
        if until < line.right:
            moves.append(f"M{x_of(until)} {y}H{x_of(line.right)}")
    marks = [
        (item, drawing.lanes[key])
        for key, items in drawing.items.items()
        for item in items
        if item.face in _MARKED and item.shape in (Shape.ENTRY, Shape.TIMES)
    ][:MOST_MARKS]
    squares = "".join(
        f'<rect class="mini-{"bad" if item.face == faces.ERROR else "fold"}" '
        f'x="{number((item.centre - whole.x) * across - 2)}" y="{number(y_of(lane) - 2)}" width="4" height="4"/>'
        for item, lane in marks
    )
    dot = ""
    if picture.here is not None:
        cy = number(y_of(drawing.lanes[picture.here.strand]))
        dot = f'<circle class="mini-here" cx="{x_of(picture.here.centre)}" cy="{cy}" r="3.5"/>'
    scales = f'data-across="{across:.6f}" data-down="{down:.6f}" data-top="{number(top)}"'
    return (
        f'<svg class="mini-svg" viewBox="0 0 {number(WIDTH)} {number(HEIGHT)}" aria-hidden="true" {scales}>'
        f"{svg.path('mini-line', moves)}{svg.path('mini-path', active)}{squares}{dot}</svg>"
    )
