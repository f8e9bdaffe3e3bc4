"""Two texts side by side: which passages both have, in the same or nearly the same words, and which only one has."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.keywords import STOP, stem
from sessions_app.agent.providers.demo.outlines import EMPTY
from sessions_app.agent.providers.demo.passages import Passage, passages_of
from sessions_app.agent.providers.demo.writing import bullets, clip, link

_ALIKE = 0.5


def side_by_side(one: str, first: str, two: str, second: str, wanted: str = "") -> str:
    """What both files say and what only one says; with `wanted` only passages under a heading that has this word."""
    ones, twos = _pieces(one, first, wanted), _pieces(two, second, wanted)
    both: list[tuple[Passage, Passage]] = []
    for piece in ones:
        best = max(twos, key=lambda other: _share(piece.text, other.text), default=None)
        if best is not None and _share(piece.text, best.text) >= _ALIKE:
            both.append((piece, best))
    in_both = {id(p) for pair in both for p in pair}
    parts = [
        "**In both:**\n\n"
        + bullets(
            f"{_plain(a)} ({link(one, a.line)}"
            + (f"; {link(two, b.line)}: {_plain(b)})" if a.text != b.text else f", {link(two, b.line)})")
            for a, b in both[:15]
        )
        if both
        else "**In both:** nothing in the same or nearly the same words."
    ]
    for path, pieces in ((one, ones), (two, twos)):
        only = [p for p in pieces if id(p) not in in_both]
        if only:
            parts.append(f"**Only in {link(path)}:**\n\n" + bullets(_plain(p) for p in only[:15]))
    return "\n\n".join([*parts, "Compared by their words, not by their meaning."])


def _pieces(path: str, text: str, wanted: str) -> list[Passage]:
    every = [p for p in passages_of(path, text) if p.kind in {"item", "sentence"} and not EMPTY.match(p.text)]
    under = [p for p in every if wanted and stem(wanted) in p.heading.lower()]
    return under or every


def _plain(piece: Passage) -> str:
    return clip(re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", piece.text), 160)


def _share(one: str, two: str) -> float:
    """How many of their words two passages have in common, from 0 to 1."""
    a, b = ({stem(w) for w in re.findall(r"[^\W\d_]{3,}", t.lower()) if w not in STOP} for t in (one, two))
    return len(a & b) / len(a | b) if a and b else 0.0
