"""A session as one page: every branch readable, its data inside, harmless and complete by itself."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from sessions_app import entry_log
from sessions_app.models import Entry, Session, Workspace
from sessions_app.services.sessions import export_session_text, import_session_text
from tests.hostile import PAYLOADS

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Outline(HTMLParser):
    """Elements with their attributes, and the ids that links lead to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def values(self, name: str) -> list[str]:
        return [value for _tag, attributes in self.elements if (value := attributes.get(name)) is not None]


def say(session: Session, text: str, role: str = "user", **fields: Any) -> Entry:
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1, **fields}
    return entry_log.append(session.pk, {"type": "message", "message": message})


def page_of(client: Client, session: Session) -> str:
    answer = client.get(f"/s/{session.key}/export/", {"page": "1"})
    assert answer.status_code == 200
    assert ".html" in answer.headers["Content-Disposition"]
    return answer.content.decode()


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'id="session-data">"([^"]*)"</script>', page)
    assert found
    data: dict[str, Any] = json.loads(base64.b64decode(found.group(1)))
    return data


def records_of(session: Session) -> list[Any]:
    return [json.loads(line) for line in export_session_text(session=session, whole=True).splitlines()]


def test_it_shows_every_branch_the_active_one_first(alice_client: Client, session: Session) -> None:
    """01 IO-02."""
    first = say(session, "begin here")
    say(session, "the way not taken")
    session.refresh_from_db()
    entry_log.move_leaf(session, first)
    leaf = say(session, "the way taken")
    page = page_of(alice_client, session)
    body = page[page.index("<main>") :]
    assert body.index("begin here") < body.index("the way taken") < body.index("the way not taken")
    data = data_of(page)
    assert data["leafId"] == leaf.entry_id
    assert len(data["entries"]) == session.entries.count()
    assert data["header"]["type"] == "session"
    outline = Outline(page)
    links = outline.values("href")
    assert links
    assert {address.removeprefix("#") for address in links} <= set(outline.values("id"))


def test_what_was_left_out_of_the_context_stays_in_it(alice_client: Client, session: Session) -> None:
    """01 IO-03."""
    attempt = say(session, "an attempt that failed", role="assistant", stopReason="error")
    edit = {"type": "context_edit", "targetId": attempt.entry_id, "replacement": None}
    entry_log.append(session.pk, edit)
    assert "an attempt that failed" in page_of(alice_client, session)


def test_nothing_in_it_runs_or_asks_another_machine(alice_client: Client, session: Session) -> None:
    for markup in PAYLOADS:
        say(session, markup)
        say(session, markup, role="toolResult", toolCallId="c", toolName=markup, isError=True)
        say(session, markup, role="bashExecution", command=markup, output=markup)
    outline = Outline(page_of(alice_client, session))
    scripts = [attributes for tag, attributes in outline.elements if tag == "script"]
    assert [attributes.get("type") for attributes in scripts] == ["application/json"]
    names = {name for _tag, attributes in outline.elements for name in attributes}
    assert not [name for name in names if name.startswith(("on", "hx-"))]
    assert not {"iframe", "object", "embed", "link", "form", "base"} & {tag for tag, _ in outline.elements}
    assert all(source.startswith("data:image/") for source in outline.values("src"))
    assert not [it for it in outline.values("href") if re.match(r"\s*(javascript|data|vbscript):", it, re.I)]


def test_images_are_inside(alice_client: Client, alice: User, workspace: Workspace) -> None:
    message = {
        "role": "user",
        "content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}],
        "timestamp": 1,
    }
    records = [
        {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": message,
        },
    ]
    text = "\n".join(map(json.dumps, records))
    imported = import_session_text(workspace=workspace, owner=alice, text=text)
    assert f"data:image/png;base64,{PIXEL}" in page_of(alice_client, imported)


def test_the_data_inside_is_the_session_and_opens_again(
    alice_client: Client, alice: User, session: Session, workspace: Workspace
) -> None:
    say(session, "words \U0001f600 and \u202e more")
    data = data_of(page_of(alice_client, session))
    text = "\n".join(json.dumps(record) for record in [data["header"], *data["entries"]])
    again = import_session_text(workspace=workspace, owner=alice, text=text)
    assert records_of(again)[1:] == records_of(session)[1:]


def test_an_empty_session_has_nothing_to_export(alice_client: Client, session: Session) -> None:
    answer = alice_client.get(f"/s/{session.key}/export/", {"page": "1"})
    assert answer.status_code == 400
    assert "nothing to export yet" in answer.content.decode()


def test_a_stranger_gets_nothing(charlie_client: Client, session: Session) -> None:
    say(session, "secret words")
    answer = charlie_client.get(f"/s/{session.key}/export/", {"page": "1"})
    assert answer.status_code == 404
    assert b"secret words" not in answer.content


def test_a_long_session_is_written_without_markdown_and_without_recursion(
    alice_client: Client, alice: User, workspace: Workspace
) -> None:
    lines = [json.dumps({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"})]
    for number in range(3_100):
        message = {"role": "user", "content": "**n**", "timestamp": 1}
        parent = str(number - 1) if number else None
        lines.append(
            json.dumps(
                {
                    "type": "message",
                    "id": str(number),
                    "parentId": parent,
                    "timestamp": "t",
                    "message": message,
                }
            )
        )
    imported = import_session_text(workspace=workspace, owner=alice, text="\n".join(lines))
    page = page_of(alice_client, imported)
    assert page.count("<article") == 3_100
    assert "**n**" in page
