"""Pages made of a hostile session hold its values as text only, and an imported file reaches nothing of others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app import blobs, entry_log, fragments
from sessions_app.models import QueuedMessage, Session, Workspace
from sessions_app.services import sessions
from tests import hostile

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# The scripts of base.html have a source or are the import map; nothing below may add one.
ADDRESSES = {
    "src",
    "href",
    "action",
    "formaction",
    "srcdoc",
    "srcset",
    "poster",
    "data",
    "xlink:href",
    "content",
}

# Each moves the payloads on, so that each short field gets several.
SHIFTS = (0, 7, 14)


class Foreign(HTMLParser):
    """Collects what came from the session and became more than text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.articles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        self.articles += tag == "article"
        if (
            tag in {"iframe", "style", "base", "math", "object", "embed", "session-stream"}
            and "data-seq" not in facts
        ):
            self.found.append(f"<{tag}>")
        if (
            tag == "script"
            and facts.get("type") != "importmap"
            and not facts.get("src", "").startswith("/static/")
        ):
            self.found.append("<script>")
        for name, value in facts.items():
            if name.startswith(("on", "hx-on")) or name == "style":
                self.found.append(f"{name} on <{tag}>")
            is_address = name in ADDRESSES or name.startswith("hx-")
            led_away = "evil.example" in value and not (tag == "a" and "noopener" in facts.get("rel", ""))
            if (
                is_address
                and name != "content"
                and (led_away or re.match(r"[\s\x00-\x1f]*(javascript|data:text|vbscript)", value, re.I))
            ):
                self.found.append(f"{name}={value[:60]}")

    handle_startendtag = handle_starttag


@pytest.fixture
def bad(request: pytest.FixtureRequest, workspace: Workspace, alice: User, bob: User) -> Session:
    text = hostile.session_file(getattr(request, "param", 0))
    made = sessions.import_session_text(workspace=workspace, owner=alice, text=text, name="<b>")
    shown = hostile.ALL.replace("\x00", "").encode(errors="replace").decode()
    QueuedMessage.objects.create(session=made, author=bob, text=shown, position=0)
    made.refresh_from_db()
    return made


def pages(session: Session, *, parts: bool) -> Iterator[str]:
    """Every part, and each kind of whole page once: a page holds the transcript anyway."""
    yield reverse("session_list")
    yield reverse("session", args=[session.key])
    yield reverse("session_tree", args=[session.key])
    yield reverse("session_history", args=[session.key])
    yield reverse("session_changes", args=[session.key])
    yield reverse("session_print", args=[session.key])
    yield reverse("palette")
    yield reverse("session_older", args=[session.key]) + "?before=30"
    for seq in session.entries.values_list("seq", flat=True) if parts else (1, 21):
        yield reverse("entry", args=[session.key, seq]) + "?full=1"


@pytest.mark.parametrize("bad", SHIFTS, indirect=True)
@pytest.mark.parametrize("headers", [{}, {"hx-request": "true"}], ids=["pages", "parts"])
def test_no_page_of_a_hostile_session_holds_its_markup(
    bad: Session, alice_client: Client, headers: dict[str, str]
) -> None:
    """B52."""
    seen = 0
    for address in pages(bad, parts=bool(headers)):
        response = alice_client.get(address, headers=headers, follow=True)
        assert response.status_code == 200, address
        page = Foreign()
        content = response.getvalue() if response.streaming else response.content
        page.feed(content.decode())
        assert page.found == [], address
        seen += page.articles
    assert seen > 50


def test_parts_that_the_socket_sends_hold_no_markup_either(bad: Session, alice: User) -> None:
    """B52."""
    block = {"type": "text", "text": hostile.ALL}
    call = {
        "type": "toolCall",
        "id": hostile.short(),
        "name": hostile.short(),
        "arguments": {"command": hostile.ALL},
    }
    message = {
        "role": "assistant",
        "model": hostile.short(),
        "content": [block, {"type": "thinking", "thinking": hostile.ALL}, call],
    }
    parts = [
        fragments.render_live_message(fragments.live_message_of(hostile.short(), message)),
        fragments.render_tool_running(call, tail=hostile.ALL),
        fragments.render_queue(bad, user=alice),
        fragments.render_run_status(bad, user=alice),
        fragments.render_tree(bad, user=alice),
        fragments.render_session_meta(bad, user=alice),
        fragments.render_session_name(bad, user=alice),
        fragments.render_retrying(hostile.short(), {"errorMessage": hostile.ALL, "delayMs": 1000}),
        fragments.render_session_row(bad, user=alice),
    ]
    for part in parts:
        page = Foreign()
        page.feed(part)
        assert page.found == []


def test_an_export_gives_back_what_was_imported(bad: Session, alice_client: Client) -> None:
    response = alice_client.get(reverse("session_export", args=[bad.key]) + "?whole=1")
    assert response["Content-Disposition"].startswith('attachment; filename="')
    assert response.content.decode().count("\n") == bad.entries.count() + 1
    assert all(json.loads(line) for line in response.content.decode().splitlines())


def test_a_header_in_the_data_is_no_header_of_the_answer(session: Session, alice_client: Client) -> None:
    sha = store(session, b"<script>alert(1)</script>", "text/html\r\nX-Evil: 1")
    response = alice_client.get(reverse("session_blob", args=[session.key, sha, 'a\tb".html']))
    content = response.getvalue()
    assert content.startswith(b"<script>")
    assert response["Content-Type"] == "application/octet-stream"
    assert "X-Evil" not in response
    assert response["Content-Disposition"].startswith("attachment")


def test_an_imported_file_reaches_no_image_of_another_session(
    session: Session, workspace: Workspace, charlie: User
) -> None:
    sha = store(session, b"secret picture", "image/png")
    block = {"type": "image", "blob": sha, "mimeType": "image/png"}
    line = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-11-30T12:00:00.000Z",
            "message": {"role": "user", "content": [block], "timestamp": 1}}  # fmt: skip
    header = {"type": "session", "version": 3, "id": "x", "timestamp": "2026-11-30T12:00:00.000Z", "cwd": "/"}
    text = f"{json.dumps(header)}\n{json.dumps(line)}\n"
    theirs = sessions.import_session_text(workspace=workspace, owner=charlie, text=text)
    secret = "c2VjcmV0IHBpY3R1cmU="
    assert secret in sessions.export_session_text(session=session)
    for whole in (True, False):
        assert secret not in sessions.export_session_text(session=theirs, whole=whole)
    messages: list[Any] = entry_log.load_context(theirs).messages
    assert secret not in json.dumps(blobs.inline_images(messages, session_pk=theirs.pk))


def store(session: Session, content: bytes, media_type: str) -> str:
    """A blob in the newest entry of the session; its hash."""
    blob = blobs.store(content, media_type)
    block = {"type": "image", "blob": blob.sha256, "mimeType": media_type}
    message = {"role": "user", "content": [block], "timestamp": 1}
    entry = entry_log.append(session.pk, {"type": "message", "message": message})
    blobs.record_uses(entry, [(blob, "image-1.png")])
    session.refresh_from_db()
    return str(blob.sha256)
