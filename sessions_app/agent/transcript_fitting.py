"""Makes a conversation fit a summary request that would otherwise exceed the model's window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessions_app.core.messages import Json
from sessions_app.core.tokens import utf16_length
from sessions_app.core.transcript import serialise

SMALLEST_ROOM = 2000
_SEPARATOR_UNITS = 2


def fold(messages: Sequence[Json], units: int | None) -> Iterator[str]:
    """The conversation text, in as many pieces of at most `units` UTF-16 units as it takes.

    Pieces end between messages; only a message that fills a piece by itself is trimmed.
    """
    if units is None:
        yield serialise(messages)
        return
    units = max(units, SMALLEST_ROOM)
    piece: list[str] = []
    size = 0
    for message in messages:
        part = trim(serialise([message]), units)
        if not part:
            continue
        length = utf16_length(part) + _SEPARATOR_UNITS
        if piece and size + length > units + _SEPARATOR_UNITS:
            yield "\n\n".join(piece)
            piece, size = [], 0
        piece.append(part)
        size += length
    yield "\n\n".join(piece)


def trim(text: str, units: int | None) -> str:
    """The text with its middle left out, and said so, if it is longer than `units` UTF-16 units."""
    if units is None or utf16_length(text) <= max(units, SMALLEST_ROOM):
        return text
    room = max(units, SMALLEST_ROOM) - 100
    # A character takes at most two units, so halves counted in characters cannot be too long.
    half = room // 2 if text.isascii() else room // 4
    left_out = len(text) - 2 * half
    note = (
        f"\n\n[... {left_out} characters were left out here, because the text does not fit the model ...]\n\n"
    )
    return text[:half] + note + text[-half:]
