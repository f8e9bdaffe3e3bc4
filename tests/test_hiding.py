"""Hidden branches: out of tree, versions and lists, and back again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app import entry_log
from sessions_app.core.drawing import Outline, Strand
from sessions_app.fragments import comparison, tree_panel
from sessions_app.fragments.outlines import outline_of
from sessions_app.models import Entry, HiddenBranch, Run, Session
from sessions_app.services import hiding
from sessions_app.services.errors import BadInput, Conflict

HTMX = {"hx-request": "true"}


def say(session: Session, words: str, role: str = "user") -> Entry:
    message = {"role": role, "content": [{"type": "text", "text": words}], "timestamp": 1}
    return entry_log.append(session.pk, {"type": "message", "message": message})


def stand_on(session: Session, entry: Entry) -> None:
    session.refresh_from_db()
    entry_log.move_leaf(session, entry)
    session.refresh_from_db()


@pytest.fixture
def forked(session: Session) -> Session:
    """1 root, 2 answer; from there 3-4, 5-6 and 7; one stands on 7."""
    say(session, "Root")
    fork = say(session, "Answer", "assistant")
    say(session, "First way")
    say(session, "First end", "assistant")
    stand_on(session, fork)
    say(session, "Second way")
    say(session, "Second end", "assistant")
    stand_on(session, fork)
    say(session, "Third way")
    session.refresh_from_db()
    return session


def entry(session: Session, seq: int) -> Entry:
    return session.entries.select_related("segment").get(seq=seq)


def leaf_of(session: Session) -> int:
    session.refresh_from_db()
    assert session.leaf is not None
    return session.leaf.seq


def test_a_hidden_branch_leaves_tree_versions_and_tips(forked: Session, alice: User) -> None:
    done = hiding.hide_branch(session=forked, author=alice, entry=entry(forked, 6))
    assert (done.beginning.seq, done.stood) == (5, None)
    assert HiddenBranch.objects.get().author == alice
    place = entry_log.siblings([entry(forked, 7)])[entry(forked, 7).pk]
    assert (place.index, place.count) == (2, 2)
    panel = tree_panel.build(forked)
    assert "Second way" not in [row.words for row in panel.rows]
    assert (panel.branches, panel.hidden_branches) == (2, 1)
    assert [tip.seq for tip in comparison.tips_to_choose(outline_of(forked))] == [7, 4]
    assert outline_of(forked).entries == 5
    whole = outline_of(forked, with_hidden=True)
    assert whole.entries == 7
    assert whole.labels[done.beginning.segment_id, 0] == "hidden"


def test_the_rest_of_a_branch_that_others_leave_from_can_be_hidden(forked: Session, alice: User) -> None:
    hiding.hide_branch(session=forked, author=alice, entry=entry(forked, 4))
    assert sorted(strand.faces for strand in outline_of(forked).strands.values()) == ["u", "ua", "ua"]
    assert entry_log.newest_below(entry(forked, 1)).seq == 7
    assert tree_panel.build(forked).branches == 2


def test_who_stands_on_the_branch_goes_to_the_one_beside_it_and_back(forked: Session, alice: User) -> None:
    done = hiding.hide_branch(session=forked, author=alice, entry=entry(forked, 7))
    assert done.stood is not None
    assert (done.stood.seq, leaf_of(forked)) == (7, 6)
    hiding.show_branch(session=forked, author=alice, entry=done.beginning, stood=done.stood)
    assert leaf_of(forked) == 7
    assert not HiddenBranch.objects.exists()


def test_the_last_branch_that_is_shown_gives_way_to_where_it_left(forked: Session, alice: User) -> None:
    for seq in (3, 5, 7):
        hiding.hide_branch(session=forked, author=alice, entry=entry(forked, seq))
    assert leaf_of(forked) == 2
    assert entry_log.newest_below(entry(forked, 1)).seq == 2
    assert tree_panel.build(forked).hidden_branches == 3


def test_going_into_a_hidden_branch_shows_it_again(forked: Session, alice: User) -> None:
    hiding.hide_branch(session=forked, author=alice, entry=entry(forked, 3))
    stand_on(forked, entry(forked, 4))
    assert not HiddenBranch.objects.exists()


def test_the_only_branch_can_not_be_hidden(session: Session, alice: User) -> None:
    only = say(session, "Only")
    session.refresh_from_db()
    with pytest.raises(Conflict):
        hiding.hide_branch(session=session, author=alice, entry=only)
    stand_on(session, only)
    session.refresh_from_db()
    entry_log.move_leaf(session, None)
    other = say(session, "Another beginning")
    session.refresh_from_db()
    hiding.hide_branch(session=session, author=alice, entry=only)
    with pytest.raises(Conflict):
        hiding.hide_branch(session=session, author=alice, entry=other)
    assert leaf_of(session) == other.seq


def test_the_branch_an_agent_works_on_is_not_hidden_another_is(forked: Session, alice: User) -> None:
    Run.objects.create(session=forked, author=alice, status=Run.Status.RUNNING)
    with pytest.raises(Conflict):
        hiding.hide_branch(session=forked, author=alice, entry=entry(forked, 7))
    hiding.hide_branch(session=forked, author=alice, entry=entry(forked, 3))
    assert leaf_of(forked) == 7


def test_entries_of_other_sessions_are_refused(forked: Session, alice: User) -> None:
    other = Session.objects.create(workspace=forked.workspace, owner=alice)
    with pytest.raises(BadInput):
        hiding.hide_branch(session=other, author=alice, entry=entry(forked, 7))
    with pytest.raises(BadInput):
        hiding.show_branch(session=other, author=alice, entry=entry(forked, 7))


def test_hiding_and_showing_over_http_both_offer_the_way_back(forked: Session, alice_client: Client) -> None:
    address = reverse("hide", args=[forked.key, 7])
    text = alice_client.post(address, headers=HTMX | {"hx-target": "transcript"}).content.decode()
    assert 'id="transcript"' in text
    assert "Branch hidden" in text
    assert '"action": "show", "stood": "7"' in text
    assert "1 hidden" in text
    page = alice_client.get(reverse("session_tree", args=[forked.key])).content.decode()
    assert "Show hidden" in page
    assert "Third way" not in page
    page = alice_client.get(reverse("session_tree", args=[forked.key]), {"hidden": 1}).content.decode()
    assert "Third way" in page
    assert "Without hidden" in page
    details = reverse("entry_details", args=[forked.key, 7])
    assert "Show branch again" in alice_client.get(details).content.decode()
    back = {"action": "show", "stood": "7"}
    text = alice_client.post(address, back, headers=HTMX | {"hx-target": "tree-details"}).content.decode()
    assert "Hidden from here on" not in text
    assert '"action": "hide"' in text
    assert leaf_of(forked) == 7


def test_an_outline_without_a_place_keeps_what_is_above_it() -> None:
    whole = Outline.of([Strand(1, None, 0, "uaua", 40, 4.0), Strand(2, 1, 1, "ua"), Strand(3, 2, 0, "u")])
    cut = whole.without(frozenset({(1, 2)}))
    assert {key: strand.faces for key, strand in cut.strands.items()} == {1: "ua", 2: "ua", 3: "u"}
    assert (cut.strands[1].used, cut.strands[1].cost) == (20, 2.0)
    assert list(whole.without(frozenset({(2, 0)})).strands) == [1]
    assert not cut.holds((1, 2))
