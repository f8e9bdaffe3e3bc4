"""Compactions that wait for approval: a run that waits holds no worker, and goes on as was decided, whatever restarts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.consumers.page_news import Shown, read_news
from sessions_app.models import (
    CompactionAttempt,
    CompactionReview,
    Membership,
    QueuedMessage,
    Run,
    SummaryVersion,
    Workspace,
)
from sessions_app.review_figures import waiting_for
from sessions_app.runner import recovery, review_records, review_reports
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.services import judging, reviews, runs
from sessions_app.services.errors import Conflict
from tests.staging import SUMMARY, Stage, assistant, stage, user, words

if TYPE_CHECKING:
    from sessions_app.models import Session

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)
TOO_LONG = {"error": "overflow", "message": "prompt is too long: 30000 tokens > 20000 maximum"}
EDITED = "## Goal\nBuild the mill by the river, never touch the dam."


@pytest.fixture(autouse=True)
def _before(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports come at once in place of the worker that computes them."""
    monkeypatch.setattr(review_records, "enqueue_report", review_reports.compute)
    policy(stage.session, review_policy="before")


def policy(session: Session, **values: Any) -> None:
    Workspace.objects.filter(pk=session.workspace_id).update(**values)


def long_history(stage: Stage, tokens: int = 13_500) -> None:
    stage.say(
        user("Plan the mill."), assistant(words(tokens, "plan")), user("And the wheel."), assistant("Round.")
    )


def left_before_the_first_request(stage: Stage) -> Run:
    long_history(stage)
    return stage.prompt("Next.", [{"text": "On it."}])


def left_between_turns(stage: Stage) -> Run:
    big = {"call": "write", "arguments": {"path": "a.txt", "content": words(7_000)}}
    return stage.prompt("Write it.", [big], [big], [{"text": "Done."}])


def left_at_the_end(stage: Stage) -> Run:
    long_history(stage, 10_500)
    return stage.prompt("Next.", [{"text": words(2_000)}])


def held() -> CompactionReview:
    return CompactionReview.objects.select_related("attempt").get(outcome="waiting")


def decided() -> CompactionReview:
    """The one there is, beside what the guard holds back after a rejection."""
    return CompactionReview.objects.exclude(outcome="refused").get()


def reviewer(stage: Stage, role: str = "reviewer") -> User:
    person = User.objects.create_user(role, password="x")
    Membership.objects.create(workspace=stage.session.workspace, user=person, role=role)
    return person


LEFT = [left_before_the_first_request, left_between_turns, left_at_the_end]


@pytest.mark.parametrize("leave", LEFT)
def test_a_run_that_waits_for_review_holds_no_worker_and_no_lease(stage: Stage, leave: Any) -> None:
    run = leave(stage)
    assert (run.status, run.owner, run.lease_until) == ("reviewing", "", None)
    assert heartbeat.active_count() == 0
    assert "compaction" not in stage.kinds()
    assert recovery.sweep(lambda run_id: None) == 0
    version = held().versions.get()
    assert version.status == "candidate"
    assert "1. Grind." in version.summary
    assert "<carried>" not in version.summary
    assert version.report.content
    assert held().attempt.exchanges.count() == len(stage.asked_summaries) > 0
    assert [event["type"] for event in stage.told("compaction")] == ["compaction_start", "compaction_held"]


@pytest.mark.parametrize("leave", LEFT)
def test_an_approved_summary_is_used_and_the_run_goes_on_where_it_was(stage: Stage, leave: Any) -> None:
    run = leave(stage)
    asked = len(stage.asked_summaries)
    judging.approve(review=held(), actor=reviewer(stage))
    assert stage.carry_out(run).status == "completed"
    assert stage.kinds().count("compaction") == 1
    assert len(stage.asked_summaries) == asked
    review = decided()
    assert (review.state, review.outcome, review.entry is not None) == ("approved", "compacted", True)
    assert reviews.in_force(review) == review.versions.get()
    names = [event["type"] for event in stage.events]
    assert names.count("compaction_end") == 1
    assert (names.count("agent_start"), names.count("agent_end"), names.count("run_end")) == (1, 1, 1)
    if leave is not left_at_the_end:
        # The next request is what the new state says.
        said = str(stage.requests[-1].messages[0]["content"])
        assert "1. Grind." in said
        assert said.count("<carried>") <= 1
        assert stage.kinds()[-1] == "assistant"


@pytest.mark.parametrize("leave", LEFT)
def test_a_rejected_summary_is_not_used_and_the_run_goes_on_without(stage: Stage, leave: Any) -> None:
    run = leave(stage)
    judging.reject(review=held(), actor=reviewer(stage), words="The dam is gone.")
    assert stage.carry_out(run).status == "completed"
    assert "compaction" not in stage.kinds()
    review = decided()
    assert (review.state, review.outcome, review.entry) == ("rejected", "rejected", None)
    assert "did not approve" in stage.told("compaction_end")[-1]["errorMessage"]
    assert "1. Grind." not in str(stage.requests[-1].messages)


@pytest.mark.parametrize("leave", LEFT)
def test_what_is_edited_while_it_waits_is_what_is_used(stage: Stage, leave: Any) -> None:
    run = leave(stage)
    person = reviewer(stage)
    reviews.edit(review=held(), author=person, summary=EDITED, why="the dam")
    assert Run.objects.get(pk=run.pk).status == "reviewing"
    judging.approve(review=held(), actor=person)
    stage.carry_out(run)
    assert stage.compaction()["summary"].startswith(EDITED)
    review = decided()
    assert [event.act for event in review.events.all()] == ["edited", "approved"]
    assert [(row.number, row.status) for row in review.versions.all()] == [(1, "discarded"), (2, "applied")]


def test_an_edit_of_what_waits_is_undone_before_and_after_it_is_used(stage: Stage) -> None:
    run = left_before_the_first_request(stage)
    person = reviewer(stage)
    reviews.edit(review=held(), author=person, summary=EDITED)
    assert reviews.undo(review=held(), author=person).summary == SUMMARY
    reviews.edit(review=held(), author=person, summary=EDITED)
    judging.approve(review=held(), actor=person)
    stage.carry_out(run)
    assert reviews.undo(review=decided(), author=person).summary == SUMMARY
    assert stage.compaction()["summary"].startswith(SUMMARY)


@pytest.mark.parametrize(("default", "state"), [("approve", "approved"), ("reject", "rejected")])
def test_nobody_deciding_in_time_does_what_the_workspace_has_laid_down(
    stage: Stage, default: str, state: str
) -> None:
    policy(stage.session, review_default=default)
    run = left_before_the_first_request(stage)
    assert held().decide_by is not None
    CompactionReview.objects.update(decide_by=timezone.now() - timedelta(seconds=1))
    assert recovery.sweep(lambda run_id: None) == 1
    assert recovery.sweep(lambda run_id: None) == 0
    assert stage.carry_out(run).status == "completed"
    review = decided()
    assert (review.state, review.reviewed_by) == (state, None)
    assert review.events.get().words == "Nobody decided in time."
    assert ("compaction" in stage.kinds()) == (state == "approved")


def test_recovery_and_what_a_person_asks_for_never_wait(stage: Stage) -> None:
    stage.say(user("Plan."), assistant(words(9_000)), user("And the wheel."), assistant("Round."))
    assert stage.prompt("Next.", [TOO_LONG], [{"text": "Fits."}]).status == "completed"
    assert CompactionAttempt.objects.get().reason == "overflow"


@pytest.mark.parametrize(
    "values", [{"review_policy": "after"}, {"review_policy": "off"}, {"review_above_tokens": 19_000}]
)
def test_other_policies_and_small_contexts_do_not_wait(stage: Stage, values: dict[str, Any]) -> None:
    policy(stage.session, **values)
    assert left_before_the_first_request(stage).status == "completed"
    assert "compaction" in stage.kinds()


def test_stop_ends_a_run_that_waits_and_uses_nothing(stage: Stage) -> None:
    run = left_at_the_end(stage)
    runs.stop_run(session=stage.session, author=stage.author)
    with pytest.raises(Conflict):
        judging.approve(review=held(), actor=reviewer(stage))
    assert stage.carry_out(run).status == "stopped"
    assert "compaction" not in stage.kinds()
    assert decided().outcome == "cancelled"


def test_words_sent_meanwhile_are_said_once_the_run_goes_on(stage: Stage) -> None:
    run = left_at_the_end(stage)
    runs.submit_prompt(session=stage.session, author=stage.author, text="Use oak.")
    judging.approve(review=held(), actor=reviewer(stage))
    assert stage.carry_out(run).status == "completed"
    assert stage.kinds()[-3:] == ["compaction", "user", "assistant"]
    assert not QueuedMessage.objects.exists()


def test_the_first_decision_counts(stage: Stage) -> None:
    left_before_the_first_request(stage)
    review, person = held(), reviewer(stage)
    judging.approve(review=review, actor=person)
    for act in (judging.approve, judging.reject):
        with pytest.raises(Conflict):
            act(review=review, actor=person)
    with pytest.raises(Conflict):
        reviews.edit(review=review, author=person, summary=EDITED)
    assert judging.approve_all(reviews=[review], actor=person) == 0
    assert review.events.count() == 1


def test_a_worker_lost_after_the_decision_leaves_the_run_to_another(stage: Stage) -> None:
    """The broker forgets the word that was sent: the sweep sends it again, and whoever takes it does what was decided."""
    run = left_between_turns(stage)
    judging.approve(review=held(), actor=reviewer(stage))
    Run.objects.update(enqueued_at=timezone.now() - timedelta(minutes=1))
    sent: list[int] = []
    recovery.sweep(sent.append)
    assert sent == [run.pk]
    assert stage.carry_out(run).status == "completed"
    assert stage.carry_out(run).status == "completed"
    assert stage.kinds().count("compaction") == 1


def test_a_worker_lost_while_it_uses_the_summary_ends_the_wait(stage: Stage) -> None:
    run = left_at_the_end(stage)
    judging.approve(review=held(), actor=reviewer(stage))
    Run.objects.update(status="running", owner="gone", lease_until=timezone.now() - timedelta(seconds=1))
    assert recovery.sweep(lambda run_id: None) == 1
    run.refresh_from_db()
    assert (run.status, decided().outcome) == ("interrupted", "cancelled")


def test_what_was_erased_meanwhile_is_not_used(stage: Stage) -> None:
    run = left_before_the_first_request(stage)
    SummaryVersion.objects.update(summary="")
    judging.approve(review=held(), actor=reviewer(stage))
    assert stage.carry_out(run).status == "completed"
    assert "compaction" not in stage.kinds()


# --- where it is seen ---


def test_the_chat_the_list_and_the_rail_say_that_a_job_waits(
    stage: Stage, alice: User, alice_client: Client
) -> None:
    left_before_the_first_request(stage)
    page = alice_client.get(reverse("session", args=[stage.session.key])).content.decode()
    assert "Waiting for review" in page
    assert f'id="held-{held().pk}"' in page
    news = read_news(alice, stage.session.pk, Shown(), ())
    assert news is not None
    parts = {frame["target"]: frame["html"] for frame in news.frames if frame["t"] == "part"}
    assert "waits for review" in parts["questions"]
    assert waiting_for(alice) == 1
    rows = alice_client.get(reverse("reviews") + "?show=held").content.decode()
    assert "Waits for approval" in rows
    assert reverse("attempt_review", args=[held().pk]) in rows


def test_it_is_edited_and_approved_on_its_page_which_then_leads_to_the_compaction(
    stage: Stage, alice_client: Client
) -> None:
    run = left_before_the_first_request(stage)
    review = held()
    address = reverse("attempt_review", args=[review.pk])
    page = alice_client.get(address).content.decode()
    assert "A job waits for this summary." in page
    assert "Build the mill." in page
    assert "Regenerate" not in page
    assert "Save" in alice_client.get(f"{address}?edit=1").content.decode()
    coverage = alice_client.post(f"{address}coverage/", {"summary": EDITED})
    assert "as you type" in coverage.content.decode()
    answer = alice_client.post(f"{address}edit/", {"summary": EDITED, "key": "k"}, follow=True)
    assert "It is used once it is approved." in answer.content.decode()
    assert alice_client.post(f"{address}approve/", headers={"HX-Request": "true"}).status_code == 204
    stage.carry_out(run)
    assert alice_client.get(address).headers["Location"].startswith(f"/s/{stage.session.key}/compactions/")
    assert stage.compaction()["summary"].startswith(EDITED)


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("viewer", {"": 200, "comment": 302, "edit": 403, "approve": 403, "reject": 403, "coverage": 403}),
        ("member", {"": 200, "comment": 302, "edit": 302, "approve": 403, "reject": 403, "coverage": 200}),
        ("reviewer", {"": 200, "comment": 302, "edit": 302, "approve": 302, "reject": 409, "coverage": 200}),
        ("stranger", {"": 404, "comment": 404, "edit": 404, "approve": 404, "reject": 404, "coverage": 404}),
    ],
)
def test_who_may_do_what_with_it(stage: Stage, role: str, may: dict[str, int]) -> None:
    left_before_the_first_request(stage)
    client = Client()
    client.force_login(
        reviewer(stage, role) if role != "stranger" else User.objects.create_user("stranger", password="x")
    )
    address = reverse("attempt_review", args=[held().pk])
    for act, status in may.items():
        form = {"summary": EDITED, "words": "Hm."}
        answer = client.post(f"{address}{act}/", form) if act else client.get(address)
        assert (act, answer.status_code) == (act, status)
    assert Client().get(address).status_code == 302


@pytest.mark.parametrize(
    ("names", "status"), [(["review"], "queued"), (["edit"], "reviewing"), ([], "reviewing")]
)
def test_the_admin_decides_with_the_permission_to_review(stage: Stage, names: list[str], status: str) -> None:
    run = left_before_the_first_request(stage)
    person = reviewer(stage, "viewer")
    User.objects.filter(pk=person.pk).update(is_staff=True)
    wanted = [f"{name}_compactionreview" for name in ["view", *names]]
    person.user_permissions.add(*Permission.objects.filter(codename__in=wanted))
    client = Client()
    client.force_login(User.objects.get(pk=person.pk))
    address = reverse("admin:sessions_app_compactionreview_change", args=[held().pk])
    assert "A job waits for this summary." in client.get(address).content.decode()
    client.post(f"{address}approve/")
    run.refresh_from_db()
    assert run.status == status
