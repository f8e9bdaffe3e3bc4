"""A unified patch as rows with line numbers, signs and the words that changed."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace

from sessions_app.markdown import coloured_lines

MAX_ROWS = 400
"""Rows of a diff that are shown; the rest is folded (UI: Diff)."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a line; `marked` when it is what changed in it; `colour` ends the class of its kind of code."""

    text: str
    marked: bool = False
    colour: str = ""


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


def parse_patch(patch: str, limit: int = MAX_ROWS, *, name: str = "") -> Diff:
    """Rows of a unified patch of one file; whatever is no patch gives no rows. `name` is the file's: it says how the
    code is coloured."""
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
    if name:
        shown = _with_colours(shown, name)
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


def _with_colours(rows: list[Row], name: str) -> list[Row]:
    """Both sides are read as code of their own, so that a string that was opened in a line above is one here too."""
    result = list(rows)
    for left_out in ("add", "del"):
        places = [place for place, row in enumerate(rows) if row.kind not in {left_out, "hunk"}]
        text = "\n".join(_text_of(rows[place]) for place in places)
        for place, line in zip(places, coloured_lines(text, name), strict=False):
            row = rows[place]
            result[place] = replace(row, pieces=_recoloured(row.pieces, line))
    return result


def _text_of(row: Row) -> str:
    return "".join(piece.text for piece in row.pieces)


def _recoloured(pieces: tuple[Piece, ...], line: list[tuple[str, str]]) -> tuple[Piece, ...]:
    """The pieces, cut where the colour changes. Where the line reads differently they stay as they are."""
    if "".join(text for text, _ in line) != "".join(piece.text for piece in pieces):
        return pieces
    found: list[Piece] = []
    stretches = [[text, colour] for text, colour in line if text]
    for piece in pieces:
        rest = piece.text
        while rest:
            text, colour = stretches[0]
            taken = text[: len(rest)]
            found.append(Piece(taken, piece.marked, colour))
            rest = rest[len(taken) :]
            if len(taken) < len(text):
                stretches[0] = [text[len(taken) :], colour]
            else:
                stretches.pop(0)
    return tuple(found)
