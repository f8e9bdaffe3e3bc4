"""The drawing of the tree over HTTP: its page and windows, details, outcomes; what large sessions cost."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app import entry_log, tree_rows
from sessions_app.core.drawing import Outline
from sessions_app.fragments import outlines
from sessions_app.fragments.outlines import outline_of, plain_outline_of
from sessions_app.models import Entry, Membership, OutcomeMark, Pin, Session
from sessions_app.services import outcomes, sessions
from sessions_app.services.errors import BadInput

HTMX = {"hx-request": "true"}


def say(session: Session, words: str, role: str = "user", **more: Any) -> Entry:
    message = {"role": role, "content": [{"type": "text", "text": words}], "timestamp": 1, **more}
    return entry_log.append(session.pk, {"type": "message", "message": message})


def stand_on(session: Session, entry: Entry) -> None:
    session.refresh_from_db()
    entry_log.move_leaf(session, entry)
    session.refresh_from_db()


@pytest.fixture
def forked(session: Session) -> Session:
    """Two branches from one answer; one stands on the second."""
    say(session, "Two boats in one berth")
    fork = say(session, "Let me look.", "assistant")
    say(session, "Ask in the form")
    say(session, "The form asks now.", "assistant", usage={"input": 5, "output": 5, "cost": {"total": 0.5}})
    stand_on(session, fork)
    say(session, "Fix it in the slots")
    say(session, "", "assistant", stopReason="error", errorMessage="The harbour is closed")
    session.refresh_from_db()
    return session


def address(name: str, session: Session, seq: int | None = None) -> str:
    return reverse(name, args=[session.key] if seq is None else [session.key, seq])


def window(client: Client, session: Session, **query: object) -> dict[str, Any]:
    response = client.get(address("tree_window", session), query)
    assert response.status_code == 200
    found: dict[str, Any] = json.loads(response.content)
    return found


def test_the_page_draws_every_entry_of_a_short_session_by_its_name(
    alice_client: Client, forked: Session
) -> None:
    page = alice_client.get(address("session_tree", forked)).content.decode()
    assert page.count('role="tree"') == 1
    assert page.count('role="treeitem"') == 6
    for name in (
        "Two boats in one berth",
        "Ask in the form",
        "Answer: The form asks now.",
        "Error: The harbour",
    ):
        assert f'aria-label="{name}' in page
    assert "6 entries · 2 branches" in page


def test_the_branch_one_stands_on_is_marked_once(alice_client: Client, forked: Session) -> None:
    page = alice_client.get(address("session_tree", forked)).content.decode()
    assert page.count('aria-current="true"') == 1
    assert "Error: The harbour is closed, you are here" in page


def test_a_label_as_the_leaf_leaves_here_where_the_conversation_ends(
    alice_client: Client, forked: Session, alice: User
) -> None:
    target = forked.entries.get(seq=3)
    sessions.set_label(session=forked, author=alice, entry=target, label="idea")
    svg = window(alice_client, forked)["svg"]
    assert "Error: The harbour is closed, you are here" in svg
    assert "Ask in the form, label idea" in svg


def test_a_leaf_that_a_filter_hides_is_nowhere_rather_than_elsewhere(
    alice_client: Client, forked: Session
) -> None:
    assert "you are here" not in window(alice_client, forked, filter="user-only")["svg"]
    stand_on(forked, forked.entries.get(seq=5))
    assert "Fix it in the slots, you are here" in window(alice_client, forked, filter="errors")["svg"]


def test_hits_are_told_by_the_words_around_them(alice_client: Client, forked: Session) -> None:
    """01 TR-09: also where the hit is deep in an entry, or in a call's output."""
    say(forked, "All is well. " * 400 + "Then the picker failed twice.", "toolResult", toolName="bash")
    found = window(alice_client, forked, q="picker failed")
    assert found["hits"] != []
    assert "picker failed" in found["svg"]
    assert "node--hit" in found["svg"]
    page = alice_client.get(address("session_tree", forked), {"q": "picker failed"}).content.decode()
    assert "picker failed" in page


def test_the_drawer_lists_the_branches_before_anything_is_chosen(
    alice_client: Client, forked: Session
) -> None:
    for number in range(4):
        say(forked, f"Step {number}", "toolResult", toolName="bash", isError=True)
    page = alice_client.get(address("session_tree", forked)).content.decode()
    listed = page.partition('id="tree-details"')[2].partition("<template")[0]
    assert "Fix it in the slots" in listed
    assert "4 failed" in listed
    assert "here" in listed
    assert "1 shorter branch" in listed


def test_a_window_holds_only_what_it_touches(alice_client: Client, forked: Session) -> None:
    whole = window(alice_client, forked)
    left = window(alice_client, forked, x=-300, y=-60, width=200, height=200)
    assert left["whole"] == whole["whole"]
    assert 0 < left["svg"].count("treeitem") < whole["svg"].count("treeitem")


@pytest.mark.parametrize(
    "query",
    [
        {"x": "nan", "y": "inf", "width": "-5", "height": "1e99"},
        {"filter": "everything", "open": "x,1.2,9.9.9", "fold": "a,99999", "root": "1", "at": "7.7"},
        {"root": "99999.3", "q": '"', "entry": "999999999"},
    ],
)
def test_an_address_that_makes_no_sense_is_passed_over(
    alice_client: Client, forked: Session, query: dict[str, str]
) -> None:
    assert alice_client.get(address("session_tree", forked), query).status_code == 200
    assert window(alice_client, forked, **query)["whole"]


def test_filters_and_search_show_hits_where_they_are(alice_client: Client, forked: Session) -> None:
    """01 TR-09; hits on branches that are not active too."""
    mine = window(alice_client, forked, filter="user-only")["svg"]
    assert "The form asks now" not in mine
    assert "Ask in the form" in mine
    found = window(alice_client, forked, q="asks now")
    assert len(found["hits"]) == 1
    assert "Answer: The form asks now., found" in found["svg"]


def test_a_hoisted_branch_is_all_that_is_drawn(alice_client: Client, forked: Session) -> None:
    entry = forked.entries.get(seq=3)
    svg = window(alice_client, forked, root=f"{entry.segment_id}.{entry.ordinal}")["svg"]
    assert "2 entries above" in svg or "entries above" in svg
    assert "Fix it in the slots" not in svg


def test_the_details_of_an_entry_say_what_hangs_below_and_what_going_there_leaves(
    alice_client: Client, forked: Session
) -> None:
    html = alice_client.get(address("entry_details", forked, 3)).content.decode()
    assert "An entry of another branch" in html
    assert "1 entry below" in html
    assert "$0.50" in html
    going = alice_client.get(address("entry_details", forked, 4), {"part": "going"}).content.decode()
    assert "You leave 2 entries" in going
    assert "Summarise with a focus" in going
    assert "?a=6&amp;b=4" in going


def test_a_preview_is_a_few_lines(alice_client: Client, forked: Session) -> None:
    html = alice_client.get(address("entry_details", forked, 6), {"preview": "1"}).content.decode()
    assert "The harbour is closed" in html
    assert "<form" not in html


def test_an_outcome_stands_at_the_tip_and_can_be_taken_back(
    alice_client: Client, forked: Session, alice: User
) -> None:
    where = address("mark_outcome", forked, 3)
    html = alice_client.post(where, {"outcome": "worked", "shown": "3"}, headers=HTMX).content.decode()
    assert OutcomeMark.objects.get().entry.seq == 4
    assert OutcomeMark.objects.get().author == alice
    assert "Marked: worked" in html
    assert "<undo-bar" in html
    assert "worked · $0.50" in window(alice_client, forked)["svg"]
    alice_client.post(where, {"outcome": ""}, headers=HTMX)
    assert not OutcomeMark.objects.exists()


def test_only_known_outcomes_of_the_sessions_own_entries(forked: Session, alice: User) -> None:
    other = Session.objects.create(workspace=forked.workspace, owner=alice, file_id="other")
    with pytest.raises(BadInput):
        outcomes.mark_outcome(session=other, author=alice, entry=forked.entries.get(seq=3), outcome="worked")
    with pytest.raises(BadInput):
        outcomes.mark_outcome(session=forked, author=alice, entry=forked.entries.get(seq=3), outcome="great")


def test_a_viewer_reads_the_tree_and_is_offered_no_command(
    client: Client, forked: Session, charlie: User
) -> None:
    Membership.objects.create(workspace=forked.workspace, user=charlie, role=Membership.Role.VIEWER)
    client.force_login(charlie)
    html = client.get(address("entry_details", forked, 3)).content.decode()
    assert "Below this entry" in html
    assert "hx-post" not in html
    assert client.post(address("mark_outcome", forked, 3), {"outcome": "worked"}).status_code == 403


def test_pins_and_labels_are_told_with_the_name(alice_client: Client, forked: Session, alice: User) -> None:
    Pin.objects.create(entry=forked.entries.get(seq=1), author=alice)
    assert "Two boats in one berth, pinned" in window(alice_client, forked)["svg"]


def test_the_outline_reads_no_entry_and_counts_what_each_branch_used(forked: Session) -> None:
    found = outline_of(forked)
    assert sorted(strand.faces for strand in found.strands.values()) == ["uaua", "ue"]
    assert found.below[min(found.strands)].cost == pytest.approx(0.5)


def test_a_window_of_a_long_session_asks_no_more_than_of_a_short_one(
    alice_client: Client, session: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(120):
        say(session, f"Message {number}", "user" if number % 4 == 0 else "assistant")
    with django_assert_max_num_queries(24):
        found = window(alice_client, session)
    assert found["svg"].count("treeitem") < 12


def test_what_is_known_of_a_session_is_read_on_not_anew(
    forked: Session, django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A test is one open transaction, of which nothing would be kept.
    monkeypatch.setattr(outlines, "connection", SimpleNamespace(in_atomic_block=False))
    first = plain_outline_of(forked)
    with django_assert_num_queries(0):
        assert plain_outline_of(forked) is first
    say(forked, "One more", "assistant")
    stand_on(forked, forked.entries.get(seq=4))
    say(forked, "Behind the other tip", usage={"input": 1, "output": 1, "cost": {"total": 0.25}})
    stand_on(forked, forked.entries.get(seq=1))
    say(forked, "A third branch")
    forked.refresh_from_db()
    with django_assert_num_queries(1):
        read = plain_outline_of(forked)
    assert read == Outline.of(tree_rows.strands_of(forked))
    assert sorted(strand.faces for strand in read.strands.values()) == ["u", "uauau", "uea"]


def test_on_a_narrow_screen_time_runs_down_and_the_active_path_is_the_first_line(
    alice_client: Client, forked: Session
) -> None:
    """UI §6: a row per item, branches before what goes on from their fork."""
    found = window(alice_client, forked, down=1, width=390, height=700)
    places = re.findall(r'data-seq="(\d)"', found["svg"])
    assert places == ["1", "2", "3", "4", "5", "6"]
    assert found["whole"][2] == 390
    glyphs = re.findall(r'<use class="glyph glyph--\w+" href="#g-(\w+)" x="([\d.]+)"', found["svg"])
    lefts = [round(float(x)) for _, x in glyphs]
    assert len(set(lefts[:2] + lefts[4:])) <= 2
    assert all(x > max(lefts[0], lefts[5]) for x in lefts[2:4])
    part = window(alice_client, forked, down=1, width=390, height=200, y=170)
    assert 0 < part["svg"].count("treeitem") < 6


def test_an_entry_of_another_branch_can_be_carried_from_the_drawer(
    alice_client: Client, forked: Session
) -> None:
    for seq, offered in ((4, True), (1, False)):
        part = alice_client.get(address("entry_details", forked, seq), {"part": "going"}).content.decode()
        assert ("Carry over to where you are" in part) is offered


def test_an_answer_of_calls_is_told_by_what_it_calls(alice_client: Client, forked: Session) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "harbour/slots.py"}}
    message = {"role": "assistant", "content": [call], "timestamp": 1}
    entry = entry_log.append(forked.pk, {"type": "message", "message": message})
    shown = alice_client.get(address("entry_details", forked, entry.seq)).content.decode()
    assert "read harbour/slots.py" in shown
