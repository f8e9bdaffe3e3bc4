"""How much of a text the model gets: whole lines from its head or its tail (spec 05 §1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

MAX_LINES = 2000
MAX_BYTES = 50 * 1024


@dataclass(frozen=True, slots=True)
class Truncation:
    """The text that is left, and what was left out. Bytes are those of UTF-8."""

    content: str
    truncated_by: Literal["lines", "bytes"] | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool = False
    first_line_exceeds_limit: bool = False
    max_lines: int = MAX_LINES
    max_bytes: int = MAX_BYTES

    @property
    def truncated(self) -> bool:
        return self.truncated_by is not None

    def to_details(self) -> dict[str, Any]:
        """The form of `details.truncation`."""
        return {
            "truncated": self.truncated,
            "truncatedBy": self.truncated_by,
            "totalLines": self.total_lines,
            "totalBytes": self.total_bytes,
            "outputLines": self.output_lines,
            "outputBytes": self.output_bytes,
            "lastLinePartial": self.last_line_partial,
            "firstLineExceedsLimit": self.first_line_exceeds_limit,
            "maxLines": self.max_lines,
            "maxBytes": self.max_bytes,
        }


def truncate_head(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """The first lines. A first line that alone is too long leaves nothing (`first_line_exceeds_limit`)."""
    lines, size = split_lines(text), byte_size(text)
    if len(lines) <= max_lines and size - text.endswith("\n") <= max_bytes:
        return _whole(text, lines, size, max_lines, max_bytes)
    kept, by = _that_fit(lines, max_lines, max_bytes)
    content = "\n".join(kept)
    return Truncation(
        content=content,
        truncated_by=by,
        total_lines=len(lines),
        total_bytes=size,
        output_lines=len(kept),
        output_bytes=byte_size(content),
        first_line_exceeds_limit=not kept,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def truncate_tail(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """The last lines. Of a last line that alone is too long its end is left (`last_line_partial`)."""
    lines, size = split_lines(text), byte_size(text)
    if len(lines) <= max_lines and size - text.endswith("\n") <= max_bytes:
        return _whole(text, lines, size, max_lines, max_bytes)
    kept, by = _that_fit(reversed(lines), max_lines, max_bytes)
    kept.reverse()
    partial = not kept
    content = _last_bytes(lines[-1], max_bytes) if partial else "\n".join(kept)
    return Truncation(
        content=content,
        truncated_by=by,
        total_lines=len(lines),
        total_bytes=size,
        output_lines=1 if partial else len(kept),
        output_bytes=byte_size(content),
        last_line_partial=partial,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def split_lines(text: str) -> list[str]:
    """Lines ended by LF; a newline at the end does not begin another line, an empty text has none."""
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


def byte_size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def format_size(size: int) -> str:
    """`512B`, `50.0KB`, `4.8MB`."""
    if size < 1024:
        return f"{size}B"
    if size < 1024 * 1024:
        return f"{size / 1024:.1f}KB"
    return f"{size / 1024 / 1024:.1f}MB"


def _whole(text: str, lines: list[str], size: int, max_lines: int, max_bytes: int) -> Truncation:
    return Truncation(
        content=text if size <= max_bytes else text.removesuffix("\n"),
        truncated_by=None,
        total_lines=len(lines),
        total_bytes=size,
        output_lines=len(lines),
        output_bytes=min(size, max_bytes),
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def _that_fit(
    lines: Iterable[str], max_lines: int, max_bytes: int
) -> tuple[list[str], Literal["lines", "bytes"]]:
    kept: list[str] = []
    used = 0
    for line in lines:
        if len(kept) == max_lines:
            return kept, "lines"
        used += byte_size(line) + (1 if kept else 0)
        if used > max_bytes:
            return kept, "bytes"
        kept.append(line)
    raise AssertionError("called for a text that fits")


def _last_bytes(line: str, max_bytes: int) -> str:
    """At most `max_bytes` from the end, on a character boundary."""
    return line.encode("utf-8", "replace")[-max_bytes:].decode("utf-8", "ignore")
