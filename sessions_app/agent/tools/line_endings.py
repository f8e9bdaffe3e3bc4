"""Lines with the endings they have: CRLF, LF, and a lone CR in files that know no LF (05 ED-07)."""

from __future__ import annotations

import re

_BREAK = re.compile("\r\n|\n")


def split_endings(text: str) -> list[tuple[str, str]]:
    """(line, ending) for each line; the last one has no ending, and no text either when the text ends in one."""
    lines = []
    start = 0
    for found in re.finditer("\r" if is_classic_mac(text) else _BREAK, text):
        lines.append((text[start : found.start()], found[0]))
        start = found.end()
    return [*lines, (text[start:], "")]


def is_classic_mac(text: str) -> bool:
    """Whether a lone CR ends a line here. Elsewhere it is a character like any other."""
    return "\n" not in text and "\r" in text


def with_lf(text: str, *, lone_cr_breaks: bool) -> str:
    text = text.replace("\r\n", "\n")
    return text.replace("\r", "\n") if lone_cr_breaks else text
