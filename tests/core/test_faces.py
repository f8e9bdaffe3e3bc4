"""The letter that stands for an entry in drawings of the tree."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.core import faces
from sessions_app.core.entries import Entry, Kind


def message(role: str, **fields: Any) -> Entry:
    return Entry({"type": "message", "id": "e1", "message": {"role": role, **fields}})


CALL = {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}
TEXT = {"type": "text", "text": "Done."}


@pytest.mark.parametrize(
    ("entry", "face"),
    [
        (message("user", content="hello"), faces.USER),
        (message("assistant", content=[TEXT, CALL]), faces.ANSWER),
        (message("assistant", content=[CALL]), faces.CALLS),
        (message("assistant", content=[], stopReason="error"), faces.ERROR),
        (message("assistant", content=[CALL], stopReason="aborted"), faces.STOPPED),
        (message("toolResult", content=[TEXT], isError=True), faces.FAILURE),
        (message("toolResult", content=[TEXT], details={"path": "/a", "firstChangedLine": 1}), faces.CHANGE),
        (message("toolResult", content=[TEXT], details={"path": "/a"}), faces.RESULT),
        (message("bashExecution", command="ls"), faces.SHELL),
        (message("system", content="Be brief."), faces.SYSTEM),
        (Entry({"type": "compaction", "id": "e1", "summary": "s"}), faces.COMPACTION),
        (Entry({"type": "label", "id": "e1", "targetId": "e0"}), faces.NOTE),
        (Entry({"type": "usage", "id": "e1"}), faces.USAGE),
        (Entry({"type": "of a later version", "id": "e1"}), faces.UNKNOWN),
        (Entry({"type": "message", "id": "e1", "message": "not a message"}), faces.UNKNOWN),
        (message("assistant", content=7), faces.ANSWER),
    ],
)
def test_every_entry_has_a_face(entry: Entry, face: str) -> None:
    assert faces.face_of(entry) == face


def test_every_kind_has_a_face_of_its_own_making() -> None:
    shown = {faces.face_of(Entry({"type": kind, "id": "e1"})) for kind in Kind if kind != Kind.MESSAGE}
    assert faces.UNKNOWN not in shown
