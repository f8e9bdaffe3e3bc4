"""Finding the places of an edit in a text and replacing them, every other byte untouched (05 ED-03 to ED-08).

The text is looked at through a *view*: its lines joined by LF. When an edit is not found as it is, all of them are
looked for in the fuzzy view, in which each line has its typographic variants and trailing space evened out. Both
views have the same lines as the text, so a place in a view is a place in the text.
"""

from __future__ import annotations

import difflib
import itertools
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.agent.tools.base import ToolError
from sessions_app.agent.tools.clean_text import clean_file_text
from sessions_app.agent.tools.line_endings import split_endings, with_lf

_TYPOGRAPHY = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys(
        "\u00a0\u1680\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
    )
)
_MOST_COUNTED = 100
_MOST_COMPARED = 5000  # lines in which the nearest one is looked for
_LONGEST_QUOTE = 160


@dataclass(frozen=True, slots=True)
class Edit:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Edited:
    """The new text, and whether the places were found only in the fuzzy view."""

    text: str
    fuzzy: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an edit's text lies in the view, as character positions; `number` is its position among the edits."""

    start: int
    end: int
    number: int


class _View:
    """Lines joined by LF, and where each begins."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.text = "\n".join(lines)
        self._starts = [0]
        for line in lines[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def line_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def start_of(self, line: int) -> int:
        return self._starts[line]

    def end_of(self, line: int) -> int:
        return self._starts[line] + len(self.lines[line])


def apply_edits(text: str, edits: Sequence[Edit]) -> Edited:
    """All edits are looked for in `text`, none in what another one made. Raises ToolError."""
    if not edits:
        raise ToolError("edits is empty: at least one is needed.")
    lone_cr_breaks = "\n" not in text
    edits = [
        Edit(
            with_lf(edit.old, lone_cr_breaks=lone_cr_breaks), with_lf(edit.new, lone_cr_breaks=lone_cr_breaks)
        )
        for edit in edits
    ]
    for number, edit in enumerate(edits):
        if not edit.old:
            raise ToolError(f"{_name(number, edits)}oldText is empty. To make a new file use write.")
    lines = split_endings(text)
    exact, fuzzy = _View([line for line, _ in lines]), _View([_evened_out(line) for line, _ in lines])
    is_exact = all(edit.old in exact.text for edit in edits)
    view = exact if is_exact else fuzzy
    places = [_place(view, fuzzy, edits, number, is_exact=is_exact) for number in range(len(edits))]
    places.sort(key=lambda place: (place.start, place.end))
    for before, after in itertools.pairwise(places):
        if after.start < before.end:
            first, second = sorted((before.number, after.number))
            raise ToolError(f"edits[{first}] and edits[{second}] overlap. Merge them into one.")
    result = _Writing(lines, view).write(
        [(_narrowed(view, place, edits), edits[place.number]) for place in places]
    )
    if result == text:
        raise ToolError("Nothing would change: the new text is the same as the old.")
    return Edited(result, fuzzy=not is_exact)


def _place(view: _View, fuzzy: _View, edits: Sequence[Edit], number: int, *, is_exact: bool) -> _Place:
    old = edits[number].old
    evened_out = "\n".join(_evened_out(line) for line in old.split("\n"))
    sought = old if is_exact else evened_out
    start = view.text.find(sought) if sought else -1
    if start < 0:
        raise ToolError(f"{_name(number, edits)}oldText was not found in the file.{_nearest(view, old)}")
    # Counted in the fuzzy view even when found exactly: what looks the same to the model is the same.
    counted, counting = (evened_out, fuzzy) if evened_out.strip() else (sought, view)
    found = _occurrences(counting.text, counted)
    if len(found) > 1:
        several = f"{len(found)}{' or more' if len(found) == _MOST_COUNTED else ''} times"
        places = ", ".join(str(counting.line_at(position) + 1) for position in found[:10])
        more = " …" if len(found) > 10 else ""
        raise ToolError(
            f"{_name(number, edits)}oldText occurs {several} (lines {places}{more}). "
            "Add lines around it until it occurs once."
        )
    return _Place(start, start + len(sought), number)


def _occurrences(text: str, sought: str) -> list[int]:
    """Overlapping ones too: which of them was meant is just as unclear."""
    found: list[int] = []
    position = text.find(sought)
    while position >= 0 and len(found) < _MOST_COUNTED:
        found.append(position)
        position = text.find(sought, position + 1)
    return found


def _narrowed(view: _View, place: _Place, edits: Sequence[Edit]) -> tuple[int, int, str]:
    """(start, end, new text) without the whole lines that the edit only repeats to be unique."""
    old, new = edits[place.number].old.split("\n"), edits[place.number].new.split("\n")
    shared = min(len(old), len(new)) - 1
    head = 0
    while head < shared and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shared - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = view.start_of(view.line_at(place.start) + head) if head else place.start
    end = view.end_of(view.line_at(place.end) - tail) if tail else place.end
    return start, end, "\n".join(new[head : len(new) - tail])


class _Writing:
    """Puts the new text together from original lines and replaced places."""

    def __init__(self, lines: list[tuple[str, str]], view: _View) -> None:
        self._lines = lines
        self._view = view
        self._parts: list[str] = []

    def write(self, replaced: Sequence[tuple[tuple[int, int, str], Edit]]) -> str:
        position = 0
        for (start, end, new), _ in replaced:
            self._keep(position, start)
            ending = self._ending(self._view.line_at(start))
            self._add(new if ending == "\n" else new.replace("\n", ending))
            position = end
        self._keep(position, len(self._view.text))
        return "".join(self._parts)

    def _keep(self, start: int, end: int) -> None:
        first, last = self._view.line_at(start), self._view.line_at(end)
        for number in range(first, last + 1):
            seen, begin = self._view.lines[number], self._view.start_of(number)
            since = start - begin if number == first else 0
            until = end - begin if number == last else len(seen)
            original, ending = self._lines[number]
            # A line that is not touched keeps its bytes, also where the fuzzy view shows it differently.
            whole = since == 0 and until == len(seen)
            self._add(original if whole else seen[since:until])
            if number < last:
                self._add(ending)

    def _add(self, part: str) -> None:
        if not part:
            return
        if part[0] == "\n" and self._parts and self._parts[-1].endswith("\r"):
            # A CR that belonged to a line would swallow this break: CR, CRLF keeps both.
            part = f"\r{part}"
        self._parts.append(part)

    def _ending(self, line: int) -> str:
        """Of this line; the last line has none and goes by the one before."""
        return self._lines[line][1] or (self._lines[line - 1][1] if line else "") or "\n"


def _evened_out(line: str) -> str:
    if line.isascii():
        return line.rstrip()
    return unicodedata.normalize("NFKC", line).translate(_TYPOGRAPHY).rstrip()


def _name(number: int, edits: Sequence[Edit]) -> str:
    return f"edits[{number}]: " if len(edits) > 1 else ""


def _nearest(view: _View, old: str) -> str:
    """The line that most resembles the first line of what was sought."""
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    if not first or len(view.lines) > _MOST_COMPARED:
        return " It must match the file exactly, spaces and line breaks included."
    stripped = [line.strip()[:_LONGEST_QUOTE] for line in view.lines]
    close = difflib.get_close_matches(first[:_LONGEST_QUOTE], stripped, n=1, cutoff=0.6)
    if not close:
        return " Nothing in it resembles its first line: read the file again."
    number = stripped.index(close[0])
    quoted = clean_file_text(view.lines[number][:_LONGEST_QUOTE]).replace("\r", " ")
    return f" The nearest line is {number + 1}: {quoted}"
