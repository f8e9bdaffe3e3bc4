"""The drawing of a session's tree, in numbers only: strands, items, lanes and windows; no pixels are drawn here."""

from __future__ import annotations

from sessions_app.core.drawing.layout import Drawing, Edge, Line, draw
from sessions_app.core.drawing.outline import Filter, Outline, Place, Strand
from sessions_app.core.drawing.strands import BOOKKEEPING, Item, Shape, View

__all__ = [
    "BOOKKEEPING",
    "Drawing",
    "Edge",
    "Filter",
    "Item",
    "Line",
    "Outline",
    "Place",
    "Shape",
    "Strand",
    "View",
    "draw",
]
