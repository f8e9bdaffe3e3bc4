"""The files that two branches changed: what each did to them, whether in the same lines, and how they differ now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions_app.core.messages import number_of
from sessions_app.fragments.diffs import Diff, parse_patch
from sessions_app.fragments.plain_text import one_line
from sessions_app.models import Entry

Json = dict[str, Any]

MOST_DIFFS = 20
"""Changes of one file on one branch that are shown as diffs."""
MOST_FILES = 60
LONGEST_PATCH = 60_000
MOST_ROWS = 100_000
CLOSE = 3
"""Lines so far apart are shown together."""


@dataclass(slots=True)
class Change:
    """What one branch did to one file, with the patches that were kept of it."""

    added: int = 0
    removed: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)
    patches: list[str] = field(default_factory=list)
    diffs: list[Diff] = field(default_factory=list)


def count_change(files: dict[str, Change], entry: Entry, root: str) -> None:
    """Add the change of a tool result to the files of its branch; `root` is the folder that paths are told without."""
    details = entry.record["message"]["details"]
    path = one_line(str(details["path"]).removeprefix(root), 200)
    change = files.setdefault(path, Change())
    added, removed = int(number_of(details.get("added")) or 0), int(number_of(details.get("removed")) or 0)
    change.added, change.removed = change.added + added, change.removed + removed
    first = number_of(details.get("firstChangedLine"))
    if first is not None:
        change.ranges.append((int(first), int(first) + max(added, removed, 1) - 1))
    patch = details.get("diff")
    if isinstance(patch, str):
        change.patches.append(patch[:LONGEST_PATCH])
        if len(change.diffs) < MOST_DIFFS:
            change.diffs.append(parse_patch(patch[:LONGEST_PATCH], name=path))


def files_of(a: Mapping[str, Change], b: Mapping[str, Change], *, against: bool) -> Json:
    """The files that either changed, those of both first; with `against` how A's differs from B's."""
    every = sorted({*a, *b}, key=lambda path: (path not in a or path not in b, path))
    rows = [
        {
            "path": path,
            "a": a.get(path),
            "b": b.get(path),
            "both": _both(a.get(path), b.get(path)),
            "against": difference(a.get(path), b.get(path), path) if against else None,
        }
        for path in every[:MOST_FILES]
    ]
    return {
        "rows": rows,
        "count": len(every),
        "in_both": len(a.keys() & b.keys()),
        "hidden": len(every) - len(rows),
    }


def _both(a: Change | None, b: Change | None) -> Json:
    """Whether both changed the same lines of a file; numbers as each tool call saw them."""
    if a is None or b is None:
        return {}
    for low, high in a.ranges:
        for first, last in b.ranges:
            if low <= last and first <= high:
                start, end = max(low, first), min(high, last)
                return {"same": f"{start}" if start == end else f"{start}–{end}"}
    return {"apart": True}


def difference(a: Change | None, b: Change | None, path: str) -> Diff:
    """How a file on branch B differs from the same on A: lines that only A has are removed, lines that only B has added.

    Both began with the same file, so what the recorded changes added and removed on balance tells it, without the file
    itself. Line numbers are those that the changes saw.
    """
    one, places = _balance(a)
    other, their_places = _balance(b)
    lines: list[tuple[int, str, str]] = []
    for text in {**places, **their_places}:
        count = one[text] - other[text]
        if count and text.strip():
            where = places.get(text, their_places.get(text, 0))
            lines += [(where, "-" if count > 0 else "+", text)] * abs(count)
    lines.sort(key=lambda line: line[0])
    return parse_patch("\n".join(_hunks(lines)), name=path)


def _balance(change: Change | None) -> tuple[Counter[str], dict[str, int]]:
    """Per line how many more of it there are than at the beginning, and where it stood last."""
    balance: Counter[str] = Counter()
    places: dict[str, int] = {}
    for patch in change.patches if change is not None else ():
        for row in parse_patch(patch, MOST_ROWS).rows:
            if row.kind in ("add", "del"):
                text = "".join(piece.text for piece in row.pieces)
                balance[text] += 1 if row.kind == "add" else -1
                places[text] = int(row.new or row.old)
    return balance, places


def _hunks(lines: list[tuple[int, str, str]]) -> Iterator[str]:
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and lines[end][0] - lines[end - 1][0] <= CLOSE:
            end += 1
        yield f"@@ -{lines[start][0]} +{lines[start][0]} @@"
        for wanted in "-+":
            yield from (f"{sign}{text}" for _, sign, text in lines[start:end] if sign == wanted)
        start = end
