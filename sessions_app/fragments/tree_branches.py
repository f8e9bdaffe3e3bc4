"""The branches of a tree as a list: what each begins with, how long it is, what it cost and what came of it."""

from __future__ import annotations

from typing import Any

from sessions_app.core import faces
from sessions_app.core.drawing import Outline, Place, Strand
from sessions_app.fragments.tree_words import OUTCOME_GLYPHS, words_at
from sessions_app.fragments.wording import OUTCOME_WORDS

Json = dict[str, Any]

MOST = 12
SHORT, LARGE = 5, 30
"""Entries: shorter branches are only counted; where as long a one leaves, what goes on is a branch of its own."""


def begin_of(outline: Outline, strand: Strand) -> Place:
    """What a tip is known by: the person's message behind the last place where a long branch left, else the first."""
    forks = [
        child.fork_at for child in outline.forks_of(strand.key) if outline.below[child.key].entries >= LARGE
    ]
    found = strand.faces.find(faces.USER, max(forks, default=-1) + 1)
    return strand.key, max(0, found if found >= 0 else strand.faces.find(faces.USER))


def branches_of(outline: Outline) -> tuple[list[Json], int]:
    """The longest, in the order in which they were begun, and how many others there are. Each is named by the first message
    of the person's in it.
    """
    worth = [
        strand
        for strand in outline.strands.values()
        if len(strand.faces) >= SHORT
        or (strand.key, len(strand.faces) - 1) in outline.outcomes
        or (outline.leaf is not None and outline.leaf[0] == strand.key)
    ]
    longest = sorted(worth, key=lambda strand: -len(strand.faces))[:MOST]
    strands = {strand.key: strand for strand in sorted(longest, key=lambda strand: strand.key)}
    begins = {key: (key, max(0, strand.faces.find(faces.USER))) for key, strand in strands.items()}
    words = words_at(begins.values())
    rows = []
    for key, strand in strands.items():
        begin, tip = begins[key], (key, len(strand.faces) - 1)
        if begin not in words:
            continue
        outcome = outline.outcomes.get(tip, "")
        last = strand.faces.rstrip(faces.NOTE)[-1:]
        rows.append(
            {
                "seq": words[begin].seq,
                "place": f"{begin[0]}.{begin[1]}",
                "words": words[begin].text or words[begin].name,
                "glyph": OUTCOME_GLYPHS.get(outcome) or faces.GLYPHS.get(last, "note"),
                "entries": len(strand.faces),
                "cost": strand.cost,
                "failed": strand.faces.count(faces.FAILURE),
                "outcome": OUTCOME_WORDS.get(outcome, ""),
                "on_path": key in outline.path,
                "is_here": outline.leaf is not None and outline.leaf[0] == key,
            }
        )
    return rows, len(outline.strands) - len(rows)
