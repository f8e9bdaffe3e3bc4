"""What a change did to a file, for people: a unified diff and its size (05 ED-09)."""

from __future__ import annotations

import difflib
import itertools
from pathlib import Path

from sessions_app.agent.tools.base import Json
from sessions_app.agent.tools.clean_text import clean_file_text

CONTEXT_LINES = 4
LONGEST = 1 << 20  # characters of a file that are compared
_MOST_COMPARED = 4_000  # lines between the first and the last change; comparing more takes seconds


def change_details(path: Path, before: str, after: str) -> Json:
    """`{path, diff, added, removed, firstChangedLine}`; lines count from 1 in the new file.

    `diff` is absent when the change is too large to compare.
    """
    old, new = _lines(before), _lines(after)
    head = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    rest = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], rest))
    details: Json = {"path": str(path), "firstChangedLine": head + 1}
    if (
        len(before) > LONGEST
        or len(after) > LONGEST
        or len(old) + len(new) - 2 * (head + tail) > _MOST_COMPARED
    ):
        return details | {"added": len(new) - head - tail, "removed": len(old) - head - tail}
    # Only what changed and its surroundings: equal text before and after would cost time for nothing.
    start, after_end = max(0, head - CONTEXT_LINES), min(tail, CONTEXT_LINES)
    old_part, new_part = old[start : len(old) - tail + after_end], new[start : len(new) - tail + after_end]
    hunks = [
        _hunk(group, old_part, new_part, start)
        for group in difflib.SequenceMatcher(None, old_part, new_part, autojunk=False).get_grouped_opcodes(
            CONTEXT_LINES
        )
    ]
    body = [line for hunk in hunks for line in hunk]
    details["added"] = sum(line.startswith("+") for line in body)
    details["removed"] = sum(line.startswith("-") for line in body)
    details["diff"] = clean_file_text("".join([f"--- {path}\n", f"+++ {path}\n", *body])).replace(
        "\r\n", "\n"
    )
    return details


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _hunk(
    group: list[tuple[str, int, int, int, int]], old: list[str], new: list[str], start: int
) -> list[str]:
    first, last = group[0], group[-1]
    old_range = _range(first[1] + start, last[2] + start)
    new_range = _range(first[3] + start, last[4] + start)
    lines = [f"@@ -{old_range} +{new_range} @@\n"]
    for kind, old_from, old_to, new_from, new_to in group:
        if kind == "equal":
            lines += [_marked(" ", line) for line in old[old_from:old_to]]
            continue
        lines += [_marked("-", line) for line in old[old_from:old_to]]
        lines += [_marked("+", line) for line in new[new_from:new_to]]
    return lines


def _marked(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _range(first: int, end: int) -> str:
    """As `diff -u` writes it: an empty range names the line before it."""
    length = end - first
    if length == 1:
        return str(first + 1)
    return f"{first + 1 if length else first},{length}"
