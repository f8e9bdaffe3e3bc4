"""What had to be put in order before a request is noted where people see it, and nothing stored is changed."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.fragments import render_entry
from tests.staging import Stage, assistant, call, result, stage, user

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)


def notes(stage: Stage) -> list[Any]:
    return list(stage.session.entries.filter(kind="custom").order_by("seq"))


def test_repairs_are_noted_once_and_the_history_stays(stage: Stage) -> None:
    """04 §4.2, B41, B43."""
    written = stage.say(
        user("Look."), assistant(call("a"), call("b"), reason="toolUse"), result("zz", "whose?"), user("And?")
    )
    before = [entry.payload for entry in written]
    stage.prompt("Go.", [{"call": "ls", "arguments": {}}], [{"text": "ok"}])
    [note] = notes(stage)
    assert note.record["data"]["repairs"] == [
        "A tool result without its call was left out.",
        "A tool call without a result got a note in its place. (2 times)",
    ]
    assert stage.told("request_repaired")
    for entry in written:
        entry.refresh_from_db()
    assert [entry.payload for entry in written] == before
    html = render_entry(note, user=stage.author)
    assert "The history was put in order for the model" in html
    assert "A tool result without its call was left out." in html
    assert "what is stored stays as it is" in html
    # What is known already is not told again; what is new is.
    stage.prompt("More.")
    assert len(notes(stage)) == 1
    stage.say(assistant("", reason="toolUse"), user("a\x01\ud800b"), result("yy", "whose?"))
    stage.prompt("Yet more.")
    assert len(notes(stage)) == 1
    assert all("request_repaired" not in str(message) for message in stage.context())
