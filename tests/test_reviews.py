"""Reviews of compactions: what is recorded, and every change with the request that follows from it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps as django_apps
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.agent.models_catalogue import SCRIPTED_MODEL
from sessions_app.agent.providers.anthropic_request import build_body
from sessions_app.agent.providers.base import ProviderRequest
from sessions_app.agent.request_guard import make_valid
from sessions_app.core.system_prompt_log import replay
from sessions_app.models import (
    CompactionAttempt,
    CompactionReview,
    Entry,
    Pin,
    QualityReport,
    Run,
    SummaryExchange,
    SummaryVersion,
)
from sessions_app.runner import review_records, review_reports
from sessions_app.services import compaction, judging, navigation, reviews, sessions, shelf
from sessions_app.services.errors import BadInput, Conflict
from tests.staging import SUMMARY, Stage, assistant, stage, user, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def reports_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the worker that computes them."""
    monkeypatch.setattr(review_records, "enqueue_report", review_reports.compute)


def compacted(stage: Stage) -> CompactionReview:
    """A session with a prompt (and so with a system message), a compaction and a turn after it."""
    stage.prompt("Plan the mill in docs/mill.md. Never touch the dam.", [{"text": words(6_000, "stone")}])
    stage.prompt("And the wheel.", [{"text": words(400, "wheel")}])
    stage.prompt("And the axle. " + words(200, "rim"), [{"text": words(850, "axle")}])
    stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    stage.prompt("What next?", [{"text": "Grind."}])
    return CompactionReview.objects.get()


def told(stage: Stage) -> str:
    """The request that would go out now, as it goes over the wire."""
    context = stage.context()
    state = replay(context)
    spoken = make_valid(
        [message for message in context if message.get("role") != "system"],
        provider="scripted",
        model="scripted",
        tools=(),
        images=False,
    ).messages
    request = ProviderRequest(
        model="m", system=json.dumps({**state, "timestamp": 0} if state else None), messages=spoken
    )
    body = build_body(request, SCRIPTED_MODEL)
    return json.dumps(body, sort_keys=True)


# --- what is recorded ---


def test_a_compaction_is_recorded_with_its_requests_and_its_report(stage: Stage) -> None:
    review = compacted(stage)
    attempt = review.attempt
    assert attempt is not None
    assert (review.outcome, review.reason, review.state) == ("compacted", "manual", "unreviewed")
    assert attempt.replaced == 4
    assert attempt.first_kept
    assert attempt.splits_span is False
    assert attempt.retries == 0
    exchange = SummaryExchange.objects.get(attempt=attempt)
    assert "Plan the mill in docs/mill.md" in exchange.prompt
    assert SUMMARY in json.loads(exchange.answer)["content"][0]["text"]
    version = review.versions.get()
    assert version.summary.startswith(SUMMARY)
    assert version.coverage == review.coverage
    assert review.own_missing
    assert review.risk > 0


def test_a_failed_attempt_is_recorded_with_what_was_asked_and_what_went_wrong(stage: Stage) -> None:
    stage.say(user("Plan."), assistant(words(6_000)), user("On."), assistant(words(1_100)))
    stage.summaries = [[{"error": "server", "message": "The kitchen burns."}]] * 5
    stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    review = CompactionReview.objects.get()
    assert (review.outcome, review.entry, review.versions.count()) == ("failed", None, 0)
    assert "The kitchen burns." in [exchange.error for exchange in SummaryExchange.objects.all()][-1]


def test_a_refused_automatic_one_is_recorded_once_in_a_run_and_does_not_lift_the_halt(stage: Stage) -> None:
    stage.say(user("Plan."), assistant(words(13_500)), user("On."), assistant(words(1_100)))
    stage.summaries = [[{"error": "server", "message": "No."}]] * 9
    stage.prompt("One.")
    stage.prompt("Two.")
    outcomes = list(CompactionAttempt.objects.order_by("pk").values_list("outcome", flat=True))
    assert outcomes[0] == "failed"
    assert set(outcomes[1:]) == {"refused"}
    assert CompactionReview.objects.filter(outcome="refused").count() == len(outcomes) - 1


def test_imported_compactions_get_what_can_be_told(stage: Stage) -> None:
    compacted(stage)
    text = sessions.export_session_text(session=stage.session)
    made = sessions.import_session_text(
        workspace=stage.session.workspace, owner=stage.author, text=text, name="x"
    )
    review = CompactionReview.objects.get(session=made)
    assert review.reason == "imported"
    assert review.tokens_before
    assert review.coverage == CompactionReview.objects.get(session=stage.session).coverage


def test_a_report_that_was_lost_is_asked_for_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_records, "enqueue_report", lambda pk: None)
    review = compacted(stage)
    report = QualityReport.objects.get(version__review=review)
    assert report.computed_at is None
    QualityReport.objects.update(asked_at="2020-01-01T00:00:00Z")
    monkeypatch.setattr(review_reports, "enqueue_report", review_reports.compute)
    assert review_reports.sweep_reports() == 1
    assert review_reports.sweep_reports() == 0
    assert reviews.stored_report(review.versions.get()) is not None


# --- changes ---


def test_an_edit_is_told_to_the_model_and_later_turns_stay(stage: Stage) -> None:
    review = compacted(stage)
    version = reviews.edit(
        review=review, author=stage.author, summary="## Goal\nNever touch the dam.", why="lost"
    )
    request = told(stage)
    assert "Never touch the dam." in request
    assert "Build the mill" not in request
    assert "What next?" in request
    assert "Grind." in request
    assert (version.number, version.why, version.made) == (2, "lost", "edited")
    review.refresh_from_db()
    assert review.state == "edited"
    stage.prompt("Go on.")
    sent = json.dumps(stage.requests[-1].messages)
    assert "Never touch the dam." in sent
    assert "What next?" in sent
    assert stage.requests[-1].system == stage.requests[-2].system


def test_undo_restores_the_earlier_request_byte_for_byte(stage: Stage) -> None:
    review = compacted(stage)
    before = told(stage)
    reviews.edit(review=review, author=stage.author, summary="Something else")
    edited = told(stage)
    assert edited != before
    reviews.undo(review=review, author=stage.author)
    assert told(stage) == before
    review.refresh_from_db()
    assert review.state == "unreviewed"
    reviews.undo(review=review, author=stage.author)
    assert told(stage) == edited


def test_a_version_whose_text_was_erased_is_not_restored_and_the_others_are(stage: Stage) -> None:
    review = compacted(stage)
    before = told(stage)
    reviews.edit(review=review, author=stage.author, summary="A secret")
    secret = review.versions.get(number=2)
    assert secret.entry is not None
    reviews.undo(review=review, author=stage.author)
    shelf.erase_entry(session=stage.session, author=stage.author, entry=secret.entry, reason="private")
    secret.refresh_from_db()
    with pytest.raises(Conflict, match="was erased"):
        reviews.restore(review=review, author=stage.author, version=secret)
    assert told(stage) == before
    reviews.restore(review=review, author=stage.author, version=review.versions.get(number=1))
    assert told(stage) == before


def test_a_version_can_be_restored_to_the_letter(stage: Stage) -> None:
    review = compacted(stage)
    before = told(stage)
    reviews.edit(review=review, author=stage.author, summary="One")
    reviews.edit(review=review, author=stage.author, summary="Two")
    reviews.restore(review=review, author=stage.author, version=review.versions.get(number=1))
    assert told(stage) == before


def test_reverting_tells_the_originals_with_all_later_work(stage: Stage) -> None:
    review = compacted(stage)
    compacted_request = told(stage)
    system = stage.requests[-1].system
    reviews.revert(review=review, author=stage.author)
    request = told(stage)
    assert "Plan the mill in docs/mill.md. Never touch the dam." in request
    assert "What next?" in request
    assert SUMMARY[:20] not in request
    assert reviews.REVERTED_WORDS not in request
    stage.prompt("Go on.")
    assert stage.requests[-1].system == system
    assert "Plan the mill in docs/mill.md." in json.dumps(stage.requests[-1].messages)
    review.refresh_from_db()
    assert (review.state, review.missing) == ("reverted", 0)
    del compacted_request


def test_reverting_is_undone_to_the_byte(stage: Stage) -> None:
    review = compacted(stage)
    before = told(stage)
    reviews.revert(review=review, author=stage.author)
    reviews.undo(review=review, author=stage.author)
    assert told(stage) == before


def test_originals_that_do_not_fit_are_refused_with_the_way_out(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = compacted(stage)
    stage.use_window(9_000, monkeypatch)
    with pytest.raises(Conflict, match="room for 3,000") as refused:
        reviews.revert(review=review, author=stage.author)
    assert "Move the boundary up" in refused.value.remedy


def test_the_boundary_moves_up_without_a_request(stage: Stage) -> None:
    review = compacted(stage)
    answer = stage.session.entries.filter(role="assistant").order_by("seq")[0]
    reviews.move_boundary(review=review, author=stage.author, first_kept=answer)
    request = told(stage)
    assert "stone stone" in request
    assert "Build the mill" in request
    assert len(stage.asked_summaries) == 1


def test_the_boundary_moves_down_by_a_candidate_that_changes_nothing_until_chosen(stage: Stage) -> None:
    review = compacted(stage)
    before = told(stage)
    wheel = stage.session.entries.filter(role="assistant").order_by("seq")[2]
    stage.summaries = [[{"text": "## Goal\nThe wheel turns."}]]
    candidate = reviews.move_boundary(review=review, author=stage.author, first_kept=wheel)
    assert candidate.run is not None
    run = stage.carry_out(candidate.run)
    assert (run.status, run.error) == ("completed", "")
    assert told(stage) == before
    candidate.refresh_from_db()
    assert (candidate.status, candidate.made) == ("candidate", "moved")
    assert "And the axle." in candidate.exchanges.get().prompt
    reviews.choose(review=review, author=stage.author, version=candidate)
    assert "The wheel turns." in told(stage)


def test_everything_above_a_message_is_summarised_and_the_rest_stays(stage: Stage) -> None:
    """“Summarise up to here” on the transcript, before there is a summary and behind one."""
    stage.prompt("Plan the mill.", [{"text": words(300, "stone")}])
    stage.prompt("And the wheel.", [{"text": "Round."}])
    stage.prompt("And the axle.", [{"text": "Long."}])
    asked = stage.session.entries.filter(role="user").last()
    assert asked is not None
    run = compaction.compact_session(session=stage.session, author=stage.author, first_kept=asked)
    assert stage.carry_out(run).status == "completed"
    assert stage.compaction()["firstKeptEntryId"] == asked.entry_id
    assert [message["role"] for message in stage.context()] == [
        "system", "compactionSummary", "user", "assistant",
    ]  # fmt: skip
    assert compaction.moves_boundary(session=stage.session, first_kept=asked) is not None
    stage.prompt("What next?", [{"text": "Grind."}])
    later = stage.session.entries.filter(role="user").last()
    assert later is not None
    assert compaction.moves_boundary(session=stage.session, first_kept=later) is None
    stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author, first_kept=later))
    assert [message["role"] for message in stage.context()][1:] == [
        "compactionSummary", "user", "assistant",
    ]  # fmt: skip
    assert CompactionReview.objects.filter(outcome="compacted").count() == 2


def test_nothing_above_a_message_and_the_middle_of_a_call_are_refused(stage: Stage) -> None:
    stage.prompt("Look.", [{"call": "ls", "arguments": {}}], [{"text": "Empty."}])
    first = stage.session.entries.filter(role="user").first()
    result = stage.session.entries.filter(role="toolResult").first()
    for entry, words_said in ((first, "Nothing that is told"), (result, "A result stays")):
        assert entry is not None
        with pytest.raises(Conflict, match=words_said):
            compaction.compact_session(session=stage.session, author=stage.author, first_kept=entry)
        assert not compaction.preview(session=stage.session, first_kept=entry).possible


def test_candidates_stand_side_by_side_until_one_is_chosen(stage: Stage) -> None:
    review = compacted(stage)
    for words_ in ("One", "Two"):
        stage.summaries = [[{"text": f"## Goal\nCandidate {words_}"}]]
        candidate = reviews.regenerate(review=review, author=stage.author, instructions="Keep the dam.")
        assert candidate.run is not None
        stage.carry_out(candidate.run)
    assert "Keep the dam." in candidate.exchanges.get().prompt
    found = review.versions.filter(status="candidate")
    assert [version.coverage is not None for version in found] == [True, True]
    chosen = found[0]
    reviews.choose(review=review, author=stage.author, version=chosen)
    assert "Candidate One" in told(stage)
    reviews.undo(review=review, author=stage.author)
    assert "Build the mill" in told(stage)


def test_a_candidate_that_fails_says_why(stage: Stage) -> None:
    review = compacted(stage)
    stage.summaries = [[{"error": "server", "message": "No flour."}]] * 5
    candidate = reviews.regenerate(review=review, author=stage.author)
    assert candidate.run is not None
    stage.carry_out(candidate.run)
    candidate.refresh_from_db()
    assert (candidate.status, candidate.error) == ("failed", "No flour.")


def test_missing_things_are_pinned_with_their_own_words(stage: Stage) -> None:
    review = compacted(stage)
    before = told(stage)
    report = reviews.stored_report(review.versions.get())
    assert report is not None
    finding = next(item for item in report.missing if item.thing.kind == "constraint")
    assert "Never touch the dam" in finding.thing.text
    reviews.pin_missing(review=review, author=stage.author, findings=[finding])
    assert "Never touch the dam" in told(stage)
    assert "stone stone" not in told(stage)
    review.refresh_from_db()
    newest = reviews.in_force(review)
    assert newest is not None
    again = reviews.stored_report(newest)
    assert again is not None
    assert next(i for i in again.judged if i.thing.key == finding.thing.key).status == "carried"
    reviews.undo(review=review, author=stage.author)
    assert told(stage) == before
    assert not Pin.objects.exists()


def test_a_later_compaction_takes_the_edited_summary_along(stage: Stage) -> None:
    review = compacted(stage)
    reviews.edit(review=review, author=stage.author, summary="## Goal\nThe dam is holy.")
    stage.prompt("More.", [{"text": words(3_000)}])
    stage.prompt("Even more. " + words(300, "rim"), [{"text": words(800)}])
    stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    assert "The dam is holy." in str(stage.asked_summaries[-1].messages)
    with pytest.raises(Conflict, match="later compaction"):
        reviews.edit(review=review, author=stage.author, summary="x")
    assert CompactionReview.objects.count() == 2


def test_nothing_is_changed_on_another_branch_or_while_a_run_is_active(stage: Stage) -> None:
    review = compacted(stage)
    first = stage.session.entries.filter(role="user").order_by("seq")[0]
    run = Run.objects.create(session=stage.session, status="running", author=stage.author)
    with pytest.raises(Conflict):
        reviews.revert(review=review, author=stage.author)
    run.delete()
    navigation.navigate(session=stage.session, author=stage.author, entry=first)
    review.session.refresh_from_db()
    with pytest.raises(Conflict, match="another branch"):
        reviews.edit(review=review, author=stage.author, summary="x")


def test_a_change_that_arrives_twice_is_made_once(stage: Stage) -> None:
    review = compacted(stage)
    for _ in range(2):
        version = reviews.edit(review=review, author=stage.author, summary="Once", key="k1")
    assert version.number == 2
    assert SummaryVersion.objects.count() == 2


def test_an_empty_summary_and_an_empty_comment_are_refused(stage: Stage) -> None:
    review = compacted(stage)
    with pytest.raises(BadInput):
        reviews.edit(review=review, author=stage.author, summary="  ")
    with pytest.raises(BadInput):
        judging.comment(review=review, actor=stage.author, words=" ")


def test_who_did_what_is_kept(stage: Stage) -> None:
    review = compacted(stage)
    judging.comment(review=review, actor=stage.author, words="The dam?", line=2)
    reviews.edit(review=review, author=stage.author, summary="Better")
    judging.approve(review=review, actor=stage.author)
    assert [event.act for event in review.events.all()] == ["commented", "edited", "approved"]
    assert {event.actor for event in review.events.all()} == {stage.author}


def test_live_coverage_follows_what_is_typed(stage: Stage) -> None:
    review = compacted(stage)
    judged = reviews.live_coverage(review=review, summary="Never touch the dam, plan it in docs/mill.md")
    kept = {item.thing.kind for item in judged if item.status != "missing"}
    assert {"constraint", "path"} <= kept


def test_a_later_version_is_told_to_replace_what_the_first_one_did(stage: Stage) -> None:
    review = compacted(stage)
    assert review.entry is not None
    version = reviews.edit(review=review, author=stage.author, summary="Other words")
    assert version.entry is not None
    assert entry_log.replaced_depths(version.entry) == entry_log.replaced_depths(review.entry)


# --- in the reference ---

PI = os.environ.get("PI_DIR", "")
PROJECT = """
import path from "node:path"; import fs from "node:fs"; import os from "node:os"; import { pathToFileURL } from "node:url";
const [dir, file] = process.argv.slice(2);
const root = path.resolve(dir, "node_modules/@earendil-works/pi-coding-agent/dist/core");
const { SessionManager } = await import(pathToFileURL(path.join(root, "session-manager.js")).href);
const home = fs.mkdtempSync(path.join(os.tmpdir(), "pi-"));
const session = SessionManager.open(file, home, home);
console.log(JSON.stringify(session.buildSessionContext().messages));
process.exit(0);
"""


@pytest.mark.skipif(not PI, reason="PI_DIR names no installation of the reference")
@pytest.mark.parametrize("action", ["edit", "undo", "boundary", "revert", "revert and undo", "pin"])
def test_the_reference_projects_the_same_messages_after_each_change(
    stage: Stage, action: str, tmp_path: Path
) -> None:
    review = compacted(stage)
    original = [m for m in stage.context() if m["role"] == "compactionSummary"]
    by = {"review": review, "author": stage.author}
    if action in ("edit", "undo"):
        reviews.edit(**by, summary="## Goal\nAnother")
    elif action == "boundary":
        reviews.move_boundary(
            **by, first_kept=stage.session.entries.filter(role="assistant").order_by("seq")[0]
        )
    elif action.startswith("revert"):
        reviews.revert(**by)
    else:
        report = reviews.stored_report(review.versions.get())
        assert report is not None
        reviews.pin_missing(**by, findings=report.missing)
    if action.endswith("undo"):
        reviews.undo(**by)
    file = tmp_path / "session.jsonl"
    stage.session.refresh_from_db()
    file.write_text(sessions.export_session_text(session=stage.session), encoding="utf-8")
    script = tmp_path / "project.mjs"
    script.write_text(PROJECT, encoding="utf-8")
    ran = subprocess.run(
        [f"{PI}/node_modules/.bin/node", str(script), PI, str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    projected: list[dict[str, Any]] = json.loads(ran.stdout)
    assert projected == json.loads(json.dumps(stage.context()))
    if action == "revert":
        spoken = [m for m in projected if m["role"] != "system"]
        first = Entry.objects.filter(session=stage.session, role="user").order_by("seq")[0]
        assert spoken[0] == first.record["message"]
        assert not [m for m in projected if m["role"] == "compactionSummary"]
    assert original


def test_summaries_from_before_there_were_reviews_get_theirs(stage: Stage) -> None:
    """By the migration; a database that has them all already is left as it is."""
    review = compacted(stage)
    reviews.edit(review=review, author=stage.author, summary="Other words.")
    fields = {"type": "branch_summary", "summary": "Left.", "fromId": "x", "usage": {"cost": {"total": "1"}}}
    entry_log.append(stage.session.pk, fields)
    entry_log.append(stage.session.pk, {"type": "compaction", "summary": "Old.\0", "tokensBefore": 1})
    migration = importlib.import_module("sessions_app.migrations.0016_reviews_of_older_summaries")
    migration.record(django_apps, None)
    rows = CompactionReview.objects.order_by("pk").values_list("reason", "outcome", "state", "cost")
    assert list(rows) == [
        ("manual", "compacted", "edited", 0.0),
        ("branch", "compacted", "unreviewed", 1.0),
        ("imported", "compacted", "unreviewed", 0.0),
    ]
    first = SummaryVersion.objects.filter(review=review).first()
    CompactionReview.objects.all().delete()
    migration.record(django_apps, None)
    assert CompactionReview.objects.count() == 4  # the edit's own compaction counts as one now
    again = SummaryVersion.objects.get(review__attempt__isnull=False)
    assert first is not None
    assert (again.summary, again.carried, again.first_kept) == (
        first.summary,
        first.carried,
        first.first_kept,
    )
    assert review_reports.sweep_reports() == 0  # asked for just now
    QualityReport.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    assert review_reports.sweep_reports() == 4
