"""What errors say when nobody gives them words."""

from __future__ import annotations

from sessions_app.core.errors import NothingToCompact, SessionError, UnknownEntry


def test_an_errors_first_words_are_its_docstring() -> None:
    assert str(NothingToCompact()) == "Nothing to compact."


def test_every_error_of_the_core_is_a_session_error() -> None:
    assert isinstance(UnknownEntry("gone"), SessionError)
    assert str(UnknownEntry("gone")) == "gone"
