"""Two branches beside each other over HTTP, and carrying an entry over."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app import entry_log
from sessions_app.models import Entry, Run, Session
from sessions_app.services import carrying
from sessions_app.services.errors import BadInput, Conflict
from tests.test_views_tree import HTMX, address, forked, say, stand_on

__all__ = ["forked"]


def change(session: Session, path: str, first: int, added: int, diff: str = "") -> Entry:
    details = {"path": path, "firstChangedLine": first, "added": added, "removed": 0, "diff": diff}
    return say(session, "Edited.", "toolResult", toolName="edit", toolCallId="c1", details=details)


def page_of(client: Client, session: Session, **query: object) -> str:
    return client.get(address("session_compare", session), query).content.decode()


def test_what_each_branch_did_since_they_parted(alice_client: Client, forked: Session) -> None:
    page = page_of(alice_client, forked, a=6, b=4)
    assert "They share 2 entries" in page
    assert "Let me look." in page
    assert "Two boats" not in page.partition("What A did")[2]
    assert "Fix it in the slots" in page
    assert "The form asks now." in page
    assert "$0.50" in page


def test_the_second_branch_has_its_own_line_whichever_of_the_two_was_first(
    alice_client: Client, forked: Session
) -> None:
    for a, b in ((6, 4), (4, 6)):
        assert 'class="edge edge--b"' in page_of(alice_client, forked, a=a, b=b)


def test_without_tips_the_leaf_is_beside_the_branch_that_is_longest_beside_it(
    alice_client: Client, forked: Session
) -> None:
    stand_on(forked, forked.entries.get(seq=2))
    aside = say(forked, "And a third way?")
    stand_on(forked, forked.entries.get(seq=6))
    page = page_of(alice_client, forked)
    assert 'value="6" selected' in page
    assert 'value="4" selected' in page
    assert f'value="{aside.seq}"' in page


def test_one_branch_alone_says_how_to_get_a_second(alice_client: Client, session: Session) -> None:
    say(session, "Alone")
    assert "One branch only" in page_of(alice_client, session)
    assert "One branch only" in page_of(alice_client, session, a=1, b=1)


def test_files_of_both_say_whether_the_same_lines_were_changed(
    alice_client: Client, session: Session
) -> None:
    patch = "--- a\n+++ a\n@@ -10,1 +10,2 @@\n same\n+fresh line\n"
    fork = say(session, "Begin")
    change(session, "slots.py", 10, 5, patch)
    one = change(session, "form.py", 1, 1)
    stand_on(session, fork)
    other = change(session, "slots.py", 12, 2)
    page = page_of(alice_client, session, a=one.seq, b=other.seq)
    assert "same lines, 12–13" in page
    assert "fresh line" in page
    assert "2, of these 1 in both" in page
    assert "untouched" in page


def test_equal_stretches_are_folded(alice_client: Client, session: Session) -> None:
    fork = say(session, "Begin")
    for words in ("First", "Same one", "Same two"):
        say(session, words)
    one = say(session, "End")
    stand_on(session, fork)
    for words in ("Another first", "Same one", "Same two"):
        say(session, words)
    other = say(session, "Another end")
    page = page_of(alice_client, session, a=one.seq, b=other.seq).partition("What A did")[2]
    assert "2 entries alike on both" in page
    assert "Same one" not in page


def test_long_branches_are_shown_in_parts(alice_client: Client, session: Session) -> None:
    fork = say(session, "Begin")
    for number in range(70):
        say(session, f"One {number}")
    session.refresh_from_db()
    one = session.leaf
    assert one is not None
    stand_on(session, fork)
    other = say(session, "Other")
    page = page_of(alice_client, session, a=one.seq, b=other.seq).partition("What A did")[2]
    assert "One 59" in page
    assert "One 60" not in page
    assert "from line 1 of 70" in page
    later = page_of(alice_client, session, a=one.seq, b=other.seq, **{"from": 60}).partition("What A did")[2]
    assert "One 69" in later
    assert "One 59" not in later


def test_a_file_of_a_against_the_same_of_b_leaves_out_what_both_did(
    alice_client: Client, session: Session
) -> None:
    fork = say(session, "Begin")
    change(session, "slots.py", 3, 2, "@@ -3,1 +3,2 @@\n-old\n+shared\n+of one\n")
    one = change(session, "slots.py", 4, 1, "@@ -4,1 +4,1 @@\n-of one\n+of one, again\n")
    stand_on(session, fork)
    other = change(session, "slots.py", 3, 2, "@@ -3,1 +3,2 @@\n-old\n+shared\n+of the other\n")
    asked = {"a": one.seq, "b": other.seq}
    assert "Diff A against B" in page_of(alice_client, session, **asked)
    page = page_of(alice_client, session, **asked, diff=1)
    rows = re.findall(r"diff__row--(add|del)\".*?<code>(.*?)</code>", page)
    assert [(kind, re.sub("<[^>]+>", "", text)) for kind, text in rows] == [
        ("del", "of one, again"),
        ("add", "of the other"),
    ]


def test_what_is_carried_is_in_the_next_request_of_that_branch_and_names_its_origin(
    forked: Session, alice: User
) -> None:
    source, tip = forked.entries.get(seq=3), forked.entries.get(seq=6)
    made = carrying.carry(session=forked, author=alice, entry=source, tip=tip)
    forked.refresh_from_db()
    assert forked.leaf == made.entry
    assert made.entry.parent == tip
    told = str(entry_log.load_context(forked).messages[-1])
    assert "Ask in the form" in told
    assert f"entry {source.entry_id}" in told
    assert made.entry.record["details"]["seq"] == 3


def test_carrying_goes_to_the_other_branch_and_back(alice_client: Client, forked: Session) -> None:
    """To a branch one is not on; the way back stands where one stood."""
    where = address("carry", forked)
    form = {"seq": "5", "tip": "4", "key": "once"}
    html = alice_client.post(where, form, headers=HTMX).content.decode()
    alice_client.post(where, form, headers=HTMX)
    forked.refresh_from_db()
    assert forked.leaf is not None
    assert (forked.leaf.seq, forked.entries.count()) == (7, 7)
    assert "Carried" in html
    assert '"seq": "7", "tip": "6"' in html
    alice_client.post(where, {"action": "undo", "seq": "7", "tip": "6"}, headers=HTMX)
    forked.refresh_from_db()
    assert forked.leaf.seq == 6


@pytest.mark.parametrize(("seq", "tip"), [(1, 6), (6, 4)])
def test_nothing_is_carried_to_its_own_branch_or_without_words(
    forked: Session, alice: User, seq: int, tip: int
) -> None:
    with pytest.raises(BadInput):
        carrying.carry(
            session=forked, author=alice, entry=forked.entries.get(seq=seq), tip=forked.entries.get(seq=tip)
        )


def test_nothing_is_carried_while_the_agent_is_at_work(forked: Session, alice: User) -> None:
    Run.objects.create(session=forked, status=Run.Status.RUNNING)
    with pytest.raises(Conflict):
        carrying.carry(
            session=forked, author=alice, entry=forked.entries.get(seq=3), tip=forked.entries.get(seq=6)
        )


def test_entries_of_other_sessions_are_neither_compared_nor_carried(
    alice_client: Client, forked: Session, alice: User
) -> None:
    other = Session.objects.create(workspace=forked.workspace, owner=alice, file_id="other")
    strange = say(other, "Elsewhere")
    arguments: dict[str, Any] = {"session": forked, "author": alice, "tip": forked.entries.get(seq=6)}
    with pytest.raises(BadInput):
        carrying.carry(entry=strange, **arguments)
    response = alice_client.post(reverse("carry", args=[other.key]), {"seq": "99", "tip": "1"}, headers=HTMX)
    assert response.status_code == 404
