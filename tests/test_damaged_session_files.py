"""Session files that are damaged, foreign or odd: told by line, nothing half-written, nothing lost."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app import entry_log
from sessions_app.models import Entry, Session, Workspace
from sessions_app.services import sessions
from sessions_app.services.errors import BadInput

pytestmark = pytest.mark.django_db

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2030-01-01T00:00:00.000Z", "cwd": "/"}


def said(number: int, parent: Any = "before", **fields: Any) -> dict[str, Any]:
    before = f"e{number - 1}" if number > 1 else None
    message = {"role": "user", "content": f"word {number}", "timestamp": number}
    entry = {"type": "message", "id": f"e{number}", "parentId": before if parent == "before" else parent}
    return entry | {"timestamp": "2030-01-01T00:00:01.000Z", "message": message} | fields


def lines(*records: Any, end: str = "\n") -> bytes:
    texts = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return (end.join(texts) + end).encode("utf-8", "surrogatepass")


SOUND = lines(HEADER, said(1), said(2))


def upload(client: Client, workspace: Workspace, content: bytes) -> Any:
    file = SimpleUploadedFile("old.jsonl", content)
    return client.post(reverse("session_import"), {"workspace": workspace.pk, "file": file}, follow=True)


def bring_in(workspace: Workspace, content: bytes) -> tuple[Session, list[str]]:
    told: list[str] = []
    owner = User.objects.get(username="alice")
    session = sessions.import_session_text(
        workspace=workspace, owner=owner, text=BytesIO(content), repaired=told.append
    )
    return session, told


@pytest.mark.parametrize(
    ("content", "entries", "words"),
    [
        (SOUND[:-20], 1, "Line 3: skipped: not JSON"),
        (SOUND + SOUND, 4, "Line 4: skipped: a second session header"),
        (SOUND + SOUND, 4, "Line 5: the id 'e1' is used twice; the later entry counts"),
        (SOUND[:-1] + SOUND, 3, "Line 3: skipped: more than one JSON value on the line"),
        (b"\xef\xbb\xbf" + SOUND, 2, "Line 1: a byte order mark was dropped"),
        (lines(HEADER, said(1), said(1)), 2, "Line 3: the id 'e1' is used twice"),
        (lines(HEADER, said(1, "gone")), 1, "Line 2: the parent 'gone' is missing; the entry became a root"),
        (lines(HEADER, said(1, "e1")), 1, "Line 2: an entry that is its own parent became a root"),
        (lines(HEADER, said(1, 5)), 1, "Line 2: the parent 5 is missing"),
        (lines(HEADER, said(1, id=7)), 1, "Line 2: an entry without an id was given one"),
        (lines(HEADER, "[1]", said(1)), 1, "Line 2: skipped: not a JSON object"),
        (lines(HEADER, said(1)) + b'{"type":"custom","id":"x","n":NaN}\n', 1, "Line 3: skipped: not JSON"),
        (lines(HEADER, said(1)) + b"\xff\xfe\n", 1, "Line 3: bytes that are not UTF-8 were replaced"),
        (lines(HEADER | {"version": 9}, said(1)), 1, "The file is of version 9, newer than 3: it is read as it is."),
        (b"", 0, "The file is empty: the session is a new one."),
        (lines(HEADER, *["{"] * 30), 0, "And 10 more."),
    ],
)  # fmt: skip
def test_what_was_mended_or_passed_over_is_told_by_its_line(
    alice: User, workspace: Workspace, content: bytes, entries: int, words: str
) -> None:
    session, told = bring_in(workspace, content)
    assert any(sentence.startswith(words) for sentence in told), told
    assert session.entries.count() == entries


def test_the_browser_is_told_once_and_a_refusal_in_words(alice_client: Client, workspace: Workspace) -> None:
    page = upload(alice_client, workspace, SOUND[:-20])
    assert "Line 3: skipped: not JSON" in page.content.decode()
    again = alice_client.get(reverse("session", args=[Session.objects.get().key])).content.decode()
    assert "word 1" in again
    assert "Line 3" not in again
    for content, words in ((b"", "empty"), (b"\x89PNG\r\n", "old.jsonl is not a session")):
        page = upload(alice_client, workspace, content)
        assert page.status_code == 400
        assert words in page.content.decode()
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "no line of the file is a JSON object"),
        (SOUND.partition(b"\n")[2], "line 1: a session file begins with a header"),
        (b"[1, 2]\n" + SOUND, "line 1: a session file begins with a header"),
        (lines(HEADER | {"id": 5}, said(1)), 'whose "id" is a string'),
        (lines(HEADER, said(1, "e3"), said(2), said(3)), "is among its own ancestors"),
    ],
)
def test_what_is_no_session_is_refused_by_its_line_and_writes_nothing(
    alice: User, workspace: Workspace, content: bytes, words: str
) -> None:
    with pytest.raises(BadInput) as refused:
        bring_in(workspace, content)
    assert words in str(refused.value)
    assert not Session.objects.exists()
    assert not Entry.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        lines(HEADER, said(1), said(2), end="\r\n"),
        lines(HEADER, said(1), {"type": "label", "id": "e2", "parentId": "e1", "targetId": "gone", "label": "x"}),
        lines(HEADER, said(1), {"type": "context_edit", "id": "e2", "parentId": "e1", "targetId": "gone", "replacement": None}),
        lines(HEADER, said(1, message="words")),
        lines(HEADER, said(1, message={"role": "user", "content": {"text": 5}})),
        lines(HEADER, said(1, message={"role": "user", "content": "a\x00b \ud83d"})),
        lines(HEADER, said(1, message={"role": "assistant", "content": [{"type": "toolCall", "id": 5, "name": None}]})),
        lines(HEADER, {"type": "compaction", "id": "e1", "parentId": None, "summary": 5, "tokensBefore": "many"}),
        lines(HEADER, {"type": "of tomorrow", "id": "e1", "parentId": None, "timestamp": "then"}),
    ],
)  # fmt: skip
def test_odd_values_can_be_read_and_go_out_as_they_came(
    alice: User, workspace: Workspace, content: bytes
) -> None:
    session, told = bring_in(workspace, content)
    assert told == []
    text = sessions.export_session_text(session=session, whole=True)
    assert text.encode("utf-8", "surrogatepass") == content
    assert entry_log.load_context(session).thinking_level == "off"
