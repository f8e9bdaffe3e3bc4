"""A unified patch as rows with line numbers, signs and the words that changed."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

MAX_ROWS = 400
"""Rows of a diff that are shown; the rest is folded (UI: Diff)."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a line; `marked` when it is what changed in it."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `kind` is `add`, `del`, `same` or `hunk`; numbers are empty where the side lacks the line."""

    kind: str
    old: str
    new: str
    sign: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """`added` and `removed` count lines of the whole patch, `hidden` the rows beyond `MAX_ROWS`."""

    rows: tuple[Row, ...]
    added: int
    removed: int
    hidden: int


def parse_patch(patch: str, limit: int = MAX_ROWS) -> Diff:
    """Rows of a unified patch of one file; whatever is no patch gives no rows."""
    rows: list[Row] = []
    added = removed = old = new = 0
    inside = False
    for line in patch.split("\n"):
        if match := _HUNK.match(line):
            old, new = int(match[1]), int(match[2])
            if inside:
                rows.append(Row("hunk", "", "", "", (Piece("…"),)))
            inside = True
        elif not inside:
            continue
        elif line.startswith("+"):
            rows.append(Row("add", "", str(new), "+", (Piece(line[1:]),)))
            new, added = new + 1, added + 1
        elif line.startswith("-"):
            rows.append(Row("del", str(old), "", "−", (Piece(line[1:]),)))
            old, removed = old + 1, removed + 1
        elif line.startswith(" "):
            rows.append(Row("same", str(old), str(new), "", (Piece(line[1:]),)))
            old, new = old + 1, new + 1
    shown = _with_words(rows[:limit])
    return Diff(tuple(shown), added, removed, max(0, len(rows) - limit))


def _with_words(rows: list[Row]) -> list[Row]:
    """Mark what differs where as many lines were removed as added, line by line."""
    result = list(rows)
    start = 0
    while start < len(rows):
        removed = _stretch(rows, start, "del")
        added = _stretch(rows, start + removed, "add")
        if removed and removed == added:
            for offset in range(removed):
                first, second = start + offset, start + removed + offset
                result[first], result[second] = _marked_pair(rows[first], rows[second])
        start += max(1, removed + added)
    return result


def _stretch(rows: list[Row], start: int, kind: str) -> int:
    count = 0
    while start + count < len(rows) and rows[start + count].kind == kind:
        count += 1
    return count


def _marked_pair(removed: Row, added: Row) -> tuple[Row, Row]:
    before, after = removed.pieces[0].text, added.pieces[0].text
    if max(len(before), len(after)) > 400:
        return removed, added
    old_words, new_words = _WORDS.findall(before), _WORDS.findall(after)
    matcher = difflib.SequenceMatcher(None, old_words, new_words, autojunk=False)
    if matcher.ratio() < 0.4:
        return removed, added
    old_pieces: list[Piece] = []
    new_pieces: list[Piece] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if a != b:
            old_pieces.append(Piece("".join(old_words[a:b]), tag != "equal"))
        if c != d:
            new_pieces.append(Piece("".join(new_words[c:d]), tag != "equal"))
    return (
        Row(removed.kind, removed.old, removed.new, removed.sign, tuple(old_pieces)),
        Row(added.kind, added.old, added.new, added.sign, tuple(new_pieces)),
    )
