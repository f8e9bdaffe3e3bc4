"""Foreign text made fit to be shown: no terminal codes, no invisible controls, and never too much of it."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app.agent.tools.clean_text import clean_output, without_surrogates

MAX_SCANNED = 200_000
"""Characters of one text that are looked at for a page; the rest is offered as a download."""
MAX_LINE = 2_000
"""Characters of one line that are shown."""


def visible(text: str) -> str:
    """The text as a person would have seen it in a terminal: codes gone, `\\r` progress collapsed, controls
    dropped, and direction overrides spelled out (`<U+202E>`) instead of obeyed."""
    return clean_output(without_surrogates(text).encode())


def one_line(text: str, limit: int = 200) -> str:
    """The beginning of a text on one line, for titles, labels and summaries of cards."""
    line = " ".join(visible(text[: limit * 8]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of an output. `total` counts all lines; `cut` says that something is not shown."""

    text: str
    shown: int
    total: int
    cut: bool
    tail: bool


def excerpt(text: str, lines: int, *, tail: bool = False) -> Excerpt:
    """The first (or last) lines of an output, each at most `MAX_LINE` characters long."""
    text = text.removesuffix("\n")
    total = text.count("\n") + 1 if text else 0
    scanned = text[-MAX_SCANNED:] if tail else text[:MAX_SCANNED]
    every = visible(scanned).split("\n") if scanned else []
    kept = every[-lines:] if tail else every[:lines]
    shortened = [_short_line(line) for line in kept]
    cut = len(kept) < len(every) or len(scanned) < len(text) or shortened != kept
    return Excerpt("\n".join(shortened), len(kept), max(total, len(kept)), cut, tail)


def _short_line(line: str) -> str:
    if len(line) <= MAX_LINE:
        return line
    return f"{line[:MAX_LINE]}… {len(line) - MAX_LINE:,} more characters"
