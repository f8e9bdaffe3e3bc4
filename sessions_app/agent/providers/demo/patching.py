"""From a file's old and new lines to edits whose old text occurs exactly once (05 ED-04, ED-05)."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence

_PLAIN = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "–": "-",
        "—": "-",
        "−": "-",
        "\u00a0": " ",
        "\u2009": " ",
        "\u202f": " ",
    }
)


def edits_between(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of (old text, new text); each takes as many neighbouring lines as make it unique, none overlap."""
    regions: list[list[int]] = [
        [i1, i2, j1, j2]
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    whole = _seen("\n".join(old))
    for region in regions:
        _widen(region, old, whole)
    merged: list[list[int]] = []
    for region in regions:
        if merged and region[0] <= merged[-1][1]:
            before = merged[-1]
            shift = region[3] - region[1]
            before[1] = max(before[1], region[1])
            before[3] = before[1] + shift
        else:
            merged.append(list(region))
    return [("\n".join(old[i1:i2]), "\n".join(new[j1:j2])) for i1, i2, j1, j2 in merged]


def _widen(region: list[int], old: Sequence[str], whole: str) -> None:
    """Take in lines above and below, in turn, until the old text is there once."""
    upwards = True
    while True:
        part = _seen("\n".join(old[region[0] : region[1]]))
        # A deletion keeps a neighbour: without one, the line break it stood behind would stay.
        if part.strip() and _times(part, whole) == 1 and region[2] < region[3]:
            return
        if region[0] == 0 and region[1] == len(old):
            return
        if (upwards and region[0] > 0) or region[1] == len(old):
            region[0] -= 1
            region[2] -= 1
        else:
            region[1] += 1
            region[3] += 1
        upwards = not upwards


def _times(part: str, whole: str) -> int:
    """How often a text occurs, overlapping places counted: "a a" stands twice in "a a a"."""
    first = whole.find(part)
    return 0 if first < 0 else 1 if whole.find(part, first + 1) < 0 else 2


def _seen(text: str) -> str:
    """The view in which the edit tool counts occurrences."""
    return "\n".join(
        line.rstrip() for line in unicodedata.normalize("NFKC", text).translate(_PLAIN).split("\n")
    )
