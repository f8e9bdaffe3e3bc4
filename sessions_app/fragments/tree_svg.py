"""Pieces of SVG of the tree's drawing: lines, shapes, capsules and the words beside them.

Written by hand, not by templates: a window has hundreds of them, and everything foreign goes through `escape`.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import escape

from sessions_app.core import faces
from sessions_app.core.drawing import Item

CAPSULE_HEIGHT = 20
_INSET, _TICK = 11.0, 4.0
_HEAVIEST = (
    ("e", faces.ERROR + faces.FAILURE),
    ("u", faces.USER + faces.SHELL),
    ("t", faces.RESULT + faces.CHANGE + faces.CALLS),
)


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def use(glyph: str, x: float, y: float, size: float, more: str = "") -> str:
    half = size / 2
    return (
        f'<use class="glyph glyph--{glyph}{more}" href="#g-{glyph}" x="{number(x - half)}" y="{number(y - half)}" '
        f'width="{number(size)}" height="{number(size)}"/>'
    )


def text(words: str, x: float, y: float, css: str, anchor: str = "") -> str:
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{css}" x="{number(x)}" y="{number(y)}"{where}>{escape(words)}</text>'


def short_count(count: int) -> str:
    """`31`, `1.2k`, `11.6k`."""
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"


def capsule(item: Item, y: float, entries: str, *, line: str = "") -> str:
    """The capsule with its barcode: a tick per bin of 4 px, coloured by the weightiest kind in it (UI §6). `line` is `path`, `b`
    or empty: which line it is on."""
    count = short_count(item.count)
    top = y - CAPSULE_HEIGHT / 2
    right = item.x + item.width - 9
    room = item.width - _INSET - 9 - 6.4 * len(count) - 4
    bins = max(1, min(int(room // _TICK), len(entries)))
    css = f"cap cap--{line}" if line else "cap"
    box = f'x="{number(item.x)}" y="{number(top)}" width="{number(item.width)}" height="{CAPSULE_HEIGHT}" rx="10"'
    parts = [f'<rect class="{css}" {box}/>']
    for kind, moves in ticks(entries, bins, item.x + _INSET, top + 5.5).items():
        parts.append(f'<path class="tick tick--{kind}" d="{moves}"/>')
    parts.append(text(count, right, y + 4, "t-count", "end"))
    return "".join(parts)


def small_capsule(x: float, y: float, entries: str, *, active: bool) -> str:
    """A capsule of one size, with a short barcode and without its count, around `x`."""
    css = "cap cap--path" if active else "cap"
    parts = [f'<rect class="{css}" x="{number(x - 18)}" y="{number(y - 9)}" width="36" height="18" rx="9"/>']
    for kind, moves in ticks(entries, min(6, len(entries)), x - 10, y - 4.5).items():
        parts.append(f'<path class="tick tick--{kind}" d="{moves}"/>')
    return "".join(parts)


def ticks(entries: str, bins: int, left: float, top: float) -> dict[str, str]:
    """The barcode of a run: by kind, a path of ticks 9 px high."""
    found: dict[str, list[str]] = {}
    for index in range(bins):
        chunk = entries[index * len(entries) // bins : (index + 1) * len(entries) // bins]
        kind = next((kind for kind, among in _HEAVIEST if any(face in chunk for face in among)), "a")
        found.setdefault(kind, []).append(f"M{number(left + _TICK * index)} {number(top)}v9")
    return {kind: "".join(moves) for kind, moves in found.items()}


def elbow(x: float, y: float, to: float, until: float) -> str:
    """From a fork along the vertical to another lane, and on to `until`."""
    sign = 1 if to > y else -1
    return f"M{number(x)} {number(y)}V{number(to - 10 * sign)}a10 10 0 0 {0 if sign > 0 else 1} 10 {10 * sign}H{number(until)}"


def path(css: str, moves: Iterable[str]) -> str:
    joined = "".join(moves)
    return f'<path class="{css}" d="{joined}"/>' if joined else ""


def tag(words: str, x: float, y: float) -> str:
    """A label: a chip with a flag."""
    icon = f'<use class="icon" href="#i-tag" x="{number(x + 5)}" y="{number(y - 6)}" width="12" height="12"/>'
    return chip(words, x, y - 8, "tag-bg", "t-tag", inset=21) + icon


def chip(words: str, x: float, y: float, ground: str, css: str, *, inset: float = 4) -> str:
    """Words on a ground of 17 px. How wide they are only the browser knows: it sets the width (`data-chip`)."""
    width = inset + words_width(words) + 5
    box = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="17" rx="4"'
    return f'<rect class="{ground}" {box} data-chip="{number(inset)}"/>' + text(
        words, x + inset, y + 12.5, css
    )


def words_width(words: str, *, strong: bool = False) -> float:
    """About as wide as the words are at 12 px in the widest of the fonts."""
    return len(words) * (6.7 if strong else 6.1)
