"""Conversations that would not fit."""

from __future__ import annotations

from sessions_app.agent.transcript_fitting import SMALLEST_ROOM, fold, trim
from sessions_app.core.messages import Json, user_message
from sessions_app.core.tokens import utf16_length
from sessions_app.core.transcript import serialise


def said(*texts: str) -> list[Json]:
    return [user_message(text, timestamp=1) for text in texts]


def test_without_a_limit_there_is_one_piece() -> None:
    messages = said("a" * 5000, "b")
    assert list(fold(messages, None)) == [serialise(messages)]
    assert trim("x" * 9000, None) == "x" * 9000


def test_pieces_end_between_messages_and_hold_everything() -> None:
    messages = said("a" * 900, "b" * 900, "", "c" * 900)
    pieces = list(fold(messages, 2000))
    assert "\n\n".join(pieces) == serialise(messages)
    assert len(pieces) == 2
    assert all(len(piece) <= 2000 for piece in pieces)


def test_a_message_larger_than_a_piece_loses_its_middle_and_says_so() -> None:
    """BUGS B05: last resort, with a visible note."""
    pieces = list(fold(said("x" * 3000 + "y" * 3000, "short"), 2000))
    assert len(pieces[0]) <= 2000
    assert "characters were left out here" in pieces[0]
    assert pieces[0].startswith("[User]: xxx")
    assert pieces[0].endswith("yyy")


def test_nothing_said_is_one_empty_piece() -> None:
    assert list(fold([], 2000)) == [""]


def test_a_tiny_room_is_not_taken_at_its_word() -> None:
    assert trim("x" * SMALLEST_ROOM, 5) == "x" * SMALLEST_ROOM


def test_wide_characters_are_counted_in_utf16_units() -> None:
    assert utf16_length(trim("😀" * 3000, 2000)) <= 2000
