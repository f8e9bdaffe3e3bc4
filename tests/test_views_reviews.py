"""The pages of reviews: what they show, what is done on them, and who may."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.models import CompactionReview, Membership
from sessions_app.services import navigation, reviews
from tests.conftest import client_of, create_person
from tests.staging import Stage, assistant, stage, user
from tests.test_reviews import compacted, reports_at_once, told

__all__ = ["reports_at_once", "stage"]

pytestmark = pytest.mark.django_db(transaction=True)
ACTS = [
    "approve",
    "reject",
    "comment",
    "edit",
    "restore",
    "undo",
    "choose",
    "discard",
    "regenerate",
    "move",
    "revert",
    "pin",
]


def address(review: CompactionReview, act: str = "") -> str:
    assert review.entry is not None
    page = reverse("compaction_review", args=[review.session.key, review.entry.seq])
    return f"{page}{act}/" if act else page


def member(stage: Stage, role: str) -> Client:
    person = create_person(role)
    Membership.objects.create(workspace=stage.session.workspace, user=person, role=role)
    return client_of(person)


def test_the_page_shows_range_summary_and_report(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    page = alice_client.get(address(review)).content.decode()
    assert '<mark class="miss" title="missing">Never touch the dam' in page
    assert "Build the mill." in page
    assert "Kept from here on" in page
    assert "Version 1, in force" in page
    assert "Pin all" in page
    assert 'aria-label="Requests"' in page or "Requests" in page


def test_every_mode_of_the_page_opens(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    reviews.edit(review=review, author=stage.author, summary="## Goal\nOther `words`")
    for query in (
        "edit=1",
        "regenerate=1",
        "boundary=1",
        "all=1",
        "version=1",
        "version=2&diff=1",
        "from=1",
        "tab=comments",
    ):
        answer = alice_client.get(f"{address(review)}?{query}")
        assert answer.status_code == 200, query
    models = alice_client.get(f"{address(review)}?regenerate=1").content.decode()
    assert 'value="demo/demo"' in models
    assert "></option>" not in models
    assert "Other `words`" in alice_client.get(f"{address(review)}?version=2&diff=1").content.decode()


def test_an_edit_on_the_page_is_told_to_the_model(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    answer = alice_client.post(
        address(review, "edit"), {"summary": "Keep the dam.", "why": "it was lost"}, follow=True
    )
    assert "The edited summary is in force." in answer.content.decode()
    assert "Keep the dam." in told(stage)
    alice_client.post(address(review, "undo"))
    assert "Keep the dam." not in told(stage)


def test_coverage_is_told_while_one_types(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    page = alice_client.post(
        address(review, "coverage"), {"summary": "Never touch the dam."}
    ).content.decode()
    assert "as you type" in page
    assert "Constraints" in page


def test_a_comment_may_stand_on_a_line(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    alice_client.post(address(review, "comment"), {"words": "L2: which mill?"})
    event = review.events.get()
    assert (event.line, event.words) == (2, "which mill?")


def test_a_message_s_menu_moves_the_boundary_of_the_summary_in_force(
    stage: Stage, alice_client: Client
) -> None:
    review = compacted(stage)
    second = stage.session.entries.filter(role="user")[1]
    chat = f"/s/{stage.session.key}/"
    assert f"compact/?up_to={second.seq}" in alice_client.get(chat).content.decode()
    dialog = alice_client.get(f"{chat}compact/?up_to={second.seq}").content.decode()
    assert "Summarise up to here" in dialog
    assert "Move the boundary" in dialog
    before = told(stage)
    alice_client.post(f"{chat}compact/", {"up_to": second.seq, "key": "m"})
    version = reviews.in_force(review)
    assert version is not None
    assert (version.made, version.first_kept) == ("moved", second.entry_id)
    assert "And the wheel." in told(stage)
    alice_client.post(address(review, "undo"))
    assert told(stage) == before
    assert alice_client.post(f"{chat}compact/", {"up_to": 9999}).status_code == 404


def test_the_chat_leads_to_the_review(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    assert address(review) in alice_client.get(reverse("session", args=[stage.session.key])).content.decode()


def test_the_list_shows_the_riskiest_first_and_can_be_filtered_and_exported(
    stage: Stage, alice_client: Client
) -> None:
    review = compacted(stage)
    page = alice_client.get(reverse("reviews")).content.decode()
    assert str(review.session) in page
    assert "Compactions" in page
    assert "Nothing matches" in alice_client.get(reverse("reviews"), {"q": "no such words"}).content.decode()
    table = b"".join(alice_client.get(reverse("export_reviews"))).decode()  # type: ignore[call-overload]
    assert table.splitlines()[0].startswith("id,session,")
    rows = json.loads(alice_client.get(reverse("export_reviews"), {"format": "json"}).content)
    assert [row["id"] for row in rows] == [review.pk]


def test_a_list_without_compactions_says_what_will_be_there(alice_client: Client) -> None:
    assert "No compactions yet" in alice_client.get(reverse("reviews")).content.decode()


def test_reviewers_are_told_how_many_wait(stage: Stage) -> None:
    compacted(stage)
    assert 'aria-label="1 waiting"' in member(stage, "reviewer").get(reverse("session_list")).content.decode()
    assert (
        "waiting"
        not in member(stage, "viewer").get(reverse("session_list")).content.decode().split("</nav>")[0]
    )


# --- who may ---


def test_a_stranger_sees_and_does_nothing(stage: Stage, charlie_client: Client) -> None:
    review = compacted(stage)
    assert charlie_client.get(address(review)).status_code == 404
    assert [charlie_client.post(address(review, act)).status_code for act in (*ACTS, "coverage")] == [
        404
    ] * 13
    assert str(review.session) not in charlie_client.get(reverse("reviews")).content.decode()
    assert len(b"".join(charlie_client.get(reverse("export_reviews"))).splitlines()) == 1  # type: ignore[call-overload]
    charlie_client.post(reverse("approve_reviews"), {"review": review.pk})
    review.refresh_from_db()
    assert review.state == "unreviewed"


def test_a_viewer_reads_and_comments_only(stage: Stage) -> None:
    review = compacted(stage)
    client = member(stage, "viewer")
    assert client.get(address(review)).status_code == 200
    for act in ACTS:
        expected = 302 if act == "comment" else 403
        assert client.post(address(review, act), {"words": "Hm."}).status_code == expected, act
    assert client.post(address(review, "coverage")).status_code == 403
    page = client.get(f"{address(review)}?edit=1").content.decode()
    assert "Put in force" not in page
    assert "Pin all" not in page


def test_a_member_changes_but_does_not_approve(stage: Stage) -> None:
    review = compacted(stage)
    client = member(stage, "member")
    assert client.post(address(review, "approve")).status_code == 403
    assert client.post(address(review, "reject")).status_code == 403
    assert client.post(reverse("approve_reviews"), {"review": review.pk}).status_code == 403
    assert client.post(address(review, "edit"), {"summary": "x"}).status_code == 302


def test_after_a_decision_the_next_one_is_a_click_away(stage: Stage, alice_client: Client) -> None:
    first = compacted(stage)
    other = CompactionReview.objects.create(
        session=stage.session, reason="manual", outcome="compacted", risk=90
    )
    page = alice_client.post(address(first, "approve"), follow=True).content.decode()
    assert reverse("attempt_review", args=[other.pk]) in page
    assert "Next to review" in page


def test_a_reviewer_approves_one_and_many(stage: Stage) -> None:
    review = compacted(stage)
    client = member(stage, "reviewer")
    assert client.post(address(review, "reject"), {"words": "No."}).status_code == 302
    client.post(reverse("approve_reviews"), {"review": [review.pk, "x", "999999"]})
    review.refresh_from_db()
    assert review.state == "approved"


def test_an_act_nobody_knows_is_not_there(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    assert alice_client.post(address(review, "explode")).status_code == 404
    assert alice_client.post(address(review, "restore"), {"version": "7"}).status_code == 404
    assert alice_client.post(address(review, "move"), {"seq": "x"}).status_code == 404


def test_a_branch_summary_is_reviewed_but_not_changed(stage: Stage, alice_client: Client) -> None:
    stage.say(
        user("Plan docs/mill.md, never touch the dam."),
        assistant("Done."),
        user("And on?"),
        assistant("Yes."),
    )
    first = stage.session.entries.order_by("seq")[1]
    moved = navigation.navigate(
        session=stage.session, author=stage.author, entry=first, summarise="summarise"
    )
    assert moved.run is not None
    stage.carry_out(moved.run)
    review = CompactionReview.objects.get(kind="branch_summary")
    assert (review.reason, review.outcome, review.versions.get().exchanges.count()) == (
        "branch",
        "compacted",
        1,
    )
    page = alice_client.get(address(review)).content.decode()
    assert "Branch summary" in page
    assert "Pin all" not in page
    assert alice_client.post(address(review, "revert")).status_code == 409
    assert address(review) in alice_client.get(reverse("session", args=[stage.session.key])).content.decode()
