"""The progress guard: automatic compaction gains, or stops on its branch, says what is too big, and knows ways out."""

from __future__ import annotations

import pytest

from sessions_app import entry_log
from sessions_app.agent import models_catalogue
from sessions_app.models import CompactionAttempt, Session
from sessions_app.services import branches, compaction
from tests.staging import Stage, assistant, stage, user, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)


def stuck(stage: Stage) -> None:
    """A kept tail that no summary makes small enough: an answer of 12,500 tokens behind a little history."""
    stage.configure(keepRecentTokens=11_000)
    stage.say(user("Plan."), assistant(words(2_500)), user("Look."), assistant(words(12_500)))


def test_it_stops_where_the_context_stays_above_the_trigger_and_says_what_is_too_big(stage: Stage) -> None:
    """B04: one paid request at most, however many prompts follow."""
    stuck(stage)
    for _ in range(4):
        stage.prompt("Next.")
    assert len(stage.asked_summaries) <= 2  # a history and the beginning of the split span
    assert len(stage.told("compaction_start")) <= 1
    words_of_it = compaction.automatic_problem(stage.session)
    assert "one answer 12,500" in words_of_it
    assert "larger window" in words_of_it
    assert stage.told("compaction_paused")[0]["message"] == words_of_it


def test_it_is_stored_and_stands_only_on_its_branch(stage: Stage) -> None:
    first = stage.say(user("First."), assistant("Yes."))[1]
    stuck(stage)
    stage.prompt("Next.")
    again = Session.objects.get(pk=stage.session.pk)
    assert compaction.automatic_problem(again)
    entry_log.move_leaf(again, first)
    assert compaction.automatic_problem(Session.objects.get(pk=again.pk)) == ""


def test_a_larger_window_is_a_way_out(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck(stage)
    stage.prompt("Next.")
    assert compaction.automatic_problem(stage.session)
    stage.use_window(100_000, monkeypatch, name="large")
    Session.objects.filter(pk=stage.session.pk).update(model="large")
    stage.session.refresh_from_db()
    assert models_catalogue.describe_model("scripted", "large").context_window == 100_000
    assert compaction.automatic_problem(stage.session) == ""


def test_other_settings_are_a_way_out(stage: Stage) -> None:
    stuck(stage)
    stage.prompt("Next.")
    assert compaction.automatic_problem(stage.session)
    stage.configure(keepRecentTokens=500)
    assert compaction.automatic_problem(stage.session) == ""


def test_growing_is_no_way_out_while_the_large_one_is_still_kept(stage: Stage) -> None:
    """B04: no further request is paid for as long as it could not make room."""
    stuck(stage)
    stage.prompt("Next.")
    assert compaction.automatic_problem(stage.session)
    paid = len(stage.asked_summaries)
    stage.prompt("And then?", [{"text": words(1_500)}])
    stage.prompt("And then?")
    assert len(stage.asked_summaries) == paid
    assert compaction.automatic_problem(stage.session)


def test_leaving_the_large_one_out_is_a_way_out(stage: Stage) -> None:
    stuck(stage)
    stage.prompt("Next.")
    large = stage.session.entries.get(seq=4)
    branches.leave_out(session=stage.session, author=stage.author, entry=large)
    stage.session.refresh_from_db()
    assert compaction.automatic_problem(stage.session) == ""


def test_a_context_that_has_grown_past_the_large_one_is_compacted_again(stage: Stage) -> None:
    """What was too big slides out of the kept tail: no person is needed."""
    stuck(stage)
    stage.prompt("Next.")
    assert compaction.automatic_problem(stage.session)
    paid = len(stage.asked_summaries)
    stage.prompt("And then?", [{"text": words(5_600)}])
    stage.prompt("And then?", [{"text": words(5_600)}])
    assert len(stage.asked_summaries) > paid
    assert compaction.automatic_problem(stage.session) == ""
    newest = CompactionAttempt.objects.last()
    assert newest is not None
    assert (newest.outcome, newest.halts) == ("compacted", "")


def test_no_request_is_paid_for_where_nothing_can_be_gained(stage: Stage) -> None:
    """The prediction comes before the request."""
    stage.configure(keepRecentTokens=3_000)
    stage.say(user("Short."), assistant(words(14_500)))
    stage.prompt("Next.")
    assert stage.asked_summaries == []
    outcomes = CompactionAttempt.objects.order_by("pk").values_list("outcome", flat=True)
    assert list(outcomes) == ["not_smaller", "refused"], "looked at before the request and after the answer"
    assert "no gain" in compaction.automatic_problem(stage.session)


def test_compacting_by_hand_works_where_it_has_stopped(stage: Stage) -> None:
    stuck(stage)
    stage.prompt("Next.", [{"text": words(600)}])
    stage.configure(keepRecentTokens=500)
    run = compaction.compact_session(session=stage.session, author=stage.author)
    assert stage.carry_out(run).status == "completed"
    assert compaction.automatic_problem(stage.session) == ""


@pytest.mark.parametrize("reserve", [0, 6_000, 19_000, 25_000])
@pytest.mark.parametrize("keep", [0, 1_000, 12_000, 30_000])
def test_it_terminates_whatever_the_settings(stage: Stage, reserve: int, keep: int) -> None:
    """Gains or stops: summaries are never asked for without end; B04."""
    stage.configure(reserveTokens=reserve, keepRecentTokens=keep)
    for number in range(6):
        stage.prompt(f"Prompt {number}.", [{"text": words(1_500)}, {"call": "ls"}], [{"text": words(900)}])
    assert len(stage.asked_summaries) <= 24
    for attempt in CompactionAttempt.objects.filter(outcome="compacted"):
        assert attempt.tokens_after is not None
        assert attempt.tokens_after < attempt.tokens_before
