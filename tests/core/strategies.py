"""Hypothesis strategies for whole session trees."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st

from sessions_app.core.tree import Tree
from tests.builders import tree

examples = settings(max_examples=int(os.environ.get("AGENTWEB_EXAMPLES", "30")), deadline=None)

_PLAIN = ("u", "a", "a", "a", "note", "bash", "bs", "meta", "model", "sys")
_SIZES = st.sampled_from((0, 1, 7, 20, 90))


@st.composite
def trees(draw: st.DrawFn, smallest: int = 1, compactions: bool = True) -> Tree:
    """A tree whose entries were drawn one by one, each with a parent among the earlier ones."""
    built = ""
    parents: list[int] = []
    answered: dict[int, bool] = {}
    count = draw(st.integers(smallest, 25))
    for number in range(1, count + 1):
        parent = draw(st.integers(max(0, number - 4), number - 1)) if draw(st.booleans()) else number - 1
        parents.append(parent)
        word = draw(st.sampled_from(_words(parent, parents, answered, compactions)))
        if word.endswith("@"):
            word += f"e{draw(st.integers(1, max(1, number - 1)))}"
        answered[number] = word == "a" or (answered.get(parent, False))
        size = f":{draw(_SIZES)}" if word[0] in "uatbns" and word != "meta" else ""
        built += f" | {'root' if parent == 0 else f'e{parent}'}: {word}{size}"
    return tree(built)


def _words(parent: int, parents: list[int], answered: dict[int, bool], compactions: bool) -> list[str]:
    words = [*_PLAIN, "omit@", "swap@", "label@"]
    if compactions:
        words.append("cut@")
    if answered.get(parent):
        words += ["t", "t"]
    return words
