"""Finding sessions by name, by words and by filter, on either database."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from sessions_app import entry_log, search_index
from sessions_app.models import Entry, Membership, Run, SearchProgress, Session, Workspace
from sessions_app.services import search
from sessions_app.services.search import find_sessions

HTMX = {"HX-Request": "true"}


def say(session: Session, text: str, role: str = "user", **fields: Any) -> Entry:
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1, **fields}
    return entry_log.append(session.pk, {"type": "message", "message": message})


def hits(user: User, text: str, **options: Any) -> list[str]:
    found = find_sessions(user=user, text=text, **options)
    return [
        "".join(piece for piece, _wanted in hit.pieces)
        for group in found.groups
        for finding in group.findings
        for hit in finding.hits
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cart", True),
        ("CART total", True),
        ("total cart", True),
        ('"cart total"', True),
        ('"total cart"', False),
        ("tot", True),
        ('"tot"', False),
        ("cart.py", True),
        ("py.cart", False),
        ("café", True),
        ("cafe", True),
        ("本", True),
        ("日語", False),
        ("rounding elsewhere", False),
        ("o'brien \\ ' : & | ! * ( )", True),
    ],
)
def test_an_entry_is_found_by_all_of_its_words(
    alice: User, session: Session, query: str, found: bool
) -> None:
    say(session, "The cart total in cart.py rounds down at the Café of O'Brien 日本語.")
    say(session, "Something elsewhere.", role="assistant")
    assert bool(hits(alice, query)) is found


def test_what_was_said_on_a_branch_one_has_left_is_found(alice: User, session: Session) -> None:
    first = say(session, "begin")
    say(session, "a forgotten zebra")
    session.refresh_from_db()
    entry_log.move_leaf(session, first)
    say(session, "another way")
    assert hits(alice, "zebra") == ["a forgotten zebra"]


def test_the_newest_are_shown_and_the_others_counted(alice: User, session: Session) -> None:
    for number in range(5):
        say(session, f"zebra {number}")
    (group,) = find_sessions(user=alice, text="zebra").groups
    assert [hit.pieces[-1][0].strip() for hit in group.findings[0].hits] == ["4", "3", "2"]
    assert group.findings[0].more == 2
    assert len(hits(alice, "zebra", current=session.key)) == 5


def test_entries_appended_later_are_found_too(alice: User, session: Session) -> None:
    say(session, "first")
    assert hits(alice, "second") == []
    say(session, "second")
    assert hits(alice, "second") == ["second"]


def test_what_could_not_be_read_in_time_is_said_and_read_by_the_next_search(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(session, "zebra")
    monkeypatch.setattr(search, "CATCH_UP_SECONDS", 0)
    assert find_sessions(user=alice, text="zebra").unread == session.entries.count()
    monkeypatch.undo()
    assert find_sessions(user=alice, text="zebra").unread == 0
    assert hits(alice, "zebra")


def test_a_search_never_looks_into_sessions_one_may_not_see(
    alice: User, charlie: User, session: Session
) -> None:
    say(session, "zebra")
    assert hits(charlie, "zebra") == []
    assert not SearchProgress.objects.exists()
    Membership.objects.create(workspace=session.workspace, user=charlie, role=Membership.Role.VIEWER)
    assert hits(charlie, "zebra") == ["zebra"]


def test_words_that_are_forgotten_are_not_found(alice: User, session: Session) -> None:
    entry = say(session, "zebra")
    assert hits(alice, "zebra")
    search_index.forget([entry.pk])
    assert hits(alice, "zebra") == []
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM entry_words")
        assert cursor.fetchone()[0] == 0


def test_an_entry_of_huge_words_and_controls_can_be_read(alice: User, session: Session) -> None:
    say(session, "x" * 70_000 + " \x00 zebra \ud800" + " word" * 30_000)
    say(session, "tail zebra")
    assert hits(alice, "tail zebra")


def test_filters_show_what_runs_what_is_mine_and_what_is_labelled(
    alice: User, bob: User, session: Session, workspace: Workspace
) -> None:
    other = Session.objects.create(workspace=workspace, owner=bob, file_id="other")
    Run.objects.create(session=other, status=Run.Status.RUNNING)
    entry = say(session, "here")
    label = {"type": "label", "targetId": entry.entry_id, "label": "good"}
    entry_log.append(session.pk, label)

    def shown(only: str) -> list[Session]:
        found = find_sessions(user=alice, only=only)
        return [finding.row.session for group in found.groups for finding in group.findings]

    assert set(shown("")) == {session, other}
    assert shown("running") == [other]
    assert shown("mine") == [session]
    assert shown("labelled") == [session]
    entry_log.append(session.pk, {"type": "label", "targetId": entry.entry_id})
    assert shown("labelled") == []


def test_the_list_shows_hits_with_links_and_marks(alice_client: Client, session: Session) -> None:
    entry = say(session, "<b>zebra</b> crossing")
    page = alice_client.get("/", {"q": "zebra"}, headers=HTMX).content.decode()
    assert f"/s/{session.key}/entries/{entry.seq}/" in page
    assert "<mark>zebra</mark>" in page
    assert "&lt;b&gt;" in page
    whole = alice_client.get("/", {"q": "zebra"}).content.decode()
    assert "<mark>zebra</mark>" in whole
    nothing = alice_client.get("/", {"q": "unicorn"}, headers=HTMX).content.decode()
    assert "is nowhere in your sessions" in nothing
    calm = alice_client.get("/", {"only": "running"}, headers=HTMX).content.decode()
    assert "Nothing is at work." in calm
