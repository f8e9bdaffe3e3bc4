"""Compaction that a person asks for: its run, what is queued meanwhile, cancelling, and the dry run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.agent.hooks import Hooks
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.models import CompactionAttempt, QueuedMessage, Run
from sessions_app.runner import compaction as compaction_module
from sessions_app.runner import compaction_run, recovery
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.services import compaction, runs, sessions
from sessions_app.services.errors import BadInput, Conflict
from tests.agent.images import image_block, png
from tests.staging import SUMMARY, Stage, assistant, stage, user, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)


def history(stage: Stage) -> None:
    stage.say(
        user("Plan the mill."), assistant(words(5_000)), user("And the wheel."), assistant(words(1_200))
    )


def compact(stage: Stage, instructions: str = "", key: str = "") -> Run:
    return compaction.compact_session(
        session=stage.session, author=stage.author, instructions=instructions, key=key
    )


def until(condition: Any) -> None:
    for _ in range(400):
        if condition():
            return
        threading.Event().wait(0.025)
    raise AssertionError("it did not happen in time")


def test_it_replaces_older_messages_by_their_summary(stage: Stage) -> None:
    history(stage)
    run = stage.carry_out(compact(stage, "Keep the numbers."))
    assert (run.kind, run.status, run.error) == ("compaction", "completed", "")
    assert stage.kinds() == ["user", "assistant", "user", "assistant", "compaction"]
    record = stage.compaction()
    assert record["summary"].startswith(SUMMARY)
    assert record["fromHook"] is False
    assert "Keep the numbers." in str(stage.asked_summaries[0].messages)
    attempt = CompactionAttempt.objects.get()
    assert (attempt.reason, attempt.outcome, attempt.instructions) == (
        "manual",
        "compacted",
        "Keep the numbers.",
    )
    assert attempt.entry is not None
    assert attempt.tokens_after is not None
    assert attempt.tokens_after < attempt.tokens_before
    kinds = [event["type"] for event in stage.events]
    assert kinds == ["compaction_start", "compaction_end", "agent_settled", "run_end"]


def test_it_works_where_automatic_compaction_is_off(stage: Stage) -> None:
    """CT-01."""
    stage.configure(enabled=False)
    history(stage)
    assert stage.carry_out(compact(stage)).status == "completed"


def test_the_requests_have_no_tools_and_write_no_cache(stage: Stage) -> None:
    """SG-06, SG-08: and a routing id of their own."""
    history(stage)
    stage.carry_out(compact(stage))
    asked = stage.asked_summaries[0]
    assert (asked.tools, asked.options) == ((), {"cacheRetention": "none"})
    assert asked.session_id not in ("", str(stage.session.key))


def test_nothing_to_compact_is_said_at_once(stage: Stage) -> None:
    with pytest.raises(Conflict, match="empty"):
        compact(stage)
    stage.say(user("Hello."), assistant("Hello."))
    with pytest.raises(Conflict, match="too small"):
        compact(stage)
    assert not Run.objects.exists()
    assert stage.asked_summaries == []


def test_just_compacted_is_said_too(stage: Stage) -> None:
    history(stage)
    stage.carry_out(compact(stage))
    with pytest.raises(Conflict, match="just been compacted"):
        compact(stage)


def test_a_repeated_command_gives_the_same_run(stage: Stage) -> None:
    history(stage)
    assert compact(stage, key="k1").pk == compact(stage, key="k1").pk


def test_a_second_one_is_refused_politely(stage: Stage) -> None:
    """B16."""
    history(stage)
    compact(stage)
    with pytest.raises(Conflict, match="already"):
        compact(stage)


def test_very_long_instructions_are_refused(stage: Stage) -> None:
    with pytest.raises(BadInput):
        compact(stage, "x" * 10_001)


def test_a_failure_stores_nothing_and_says_why(stage: Stage) -> None:
    """02 §6."""
    history(stage)
    before = stage.session.entries.count()
    stage.summaries = [[{"error": "auth", "message": "No such key."}]]
    run = stage.carry_out(compact(stage))
    assert (run.status, run.error) == ("failed", "Compaction failed: No such key.")
    assert stage.session.entries.count() == before
    end = stage.told("compaction_end")[0]
    assert (end["aborted"], end["errorMessage"]) == (False, run.error)
    assert "result" not in end


def test_what_is_said_meanwhile_waits_and_is_delivered(stage: Stage) -> None:
    """B18, 02 §12; 04 §1.5."""
    history(stage)

    def meanwhile(request: Any) -> list[dict[str, Any]]:
        sent = runs.submit_prompt(
            session=stage.session,
            author=stage.author,
            text="Go on.",
            images=[image_block(png())],
            mode="follow_up",
        )
        assert sent.queued is not None
        return [{"text": SUMMARY}]

    stage.summaries = [meanwhile]
    compact(stage)
    done = stage.carry_out_all()
    assert [(run.kind, run.status) for run in done] == [("compaction", "completed"), ("prompt", "completed")]
    assert stage.kinds()[-3:] == ["compaction", "user", "assistant"]
    assert not QueuedMessage.objects.exists()
    assert [block["type"] for block in stage.requests[-1].messages[-1]["content"]] == ["text", "image"]


def test_what_is_said_meanwhile_is_delivered_after_a_failure_too(stage: Stage) -> None:
    """02 §12."""
    history(stage)

    def meanwhile(request: Any) -> list[dict[str, Any]]:
        runs.submit_prompt(session=stage.session, author=stage.author, text="Go on.")
        return [{"error": "auth", "message": "No."}]

    stage.summaries = [meanwhile]
    compact(stage)
    assert [run.status for run in stage.carry_out_all()] == ["failed", "completed"]
    assert stage.kinds()[-2:] == ["user", "assistant"]


def test_words_taken_back_in_time_start_no_request(stage: Stage) -> None:
    history(stage)
    run = compact(stage)
    queued = runs.submit_prompt(session=stage.session, author=stage.author, text="Go on.").queued
    assert queued is not None
    stage.carry_out(run)
    runs.remove_queued(session=stage.session, author=stage.author, queued_id=queued.pk)
    assert [run.status for run in stage.carry_out_all()] == ["completed"]
    assert stage.requests == []


def test_a_running_answer_is_stopped_first_and_never_resumed(stage: Stage) -> None:
    """CT-01: the compaction waits for its end."""
    history(stage)
    stage.answers = [[{"text": "Half an ans"}, {"wait_for_stop": True}]]
    prompt = runs.submit_prompt(session=stage.session, author=stage.author, text="Next.").run
    assert prompt is not None
    thread = stage.in_thread(prompt)
    until(lambda: stage.requests)
    run = compact(stage)
    assert run.status == "waiting"
    heartbeat.beat()
    thread.join(10)
    run.refresh_from_db()
    assert run.status == "queued"
    stage.carry_out_all()
    prompt.refresh_from_db()
    run.refresh_from_db()
    assert (prompt.status, run.status) == ("stopped", "completed")
    assert stage.kinds()[-3:] == ["user", "assistant", "compaction"]
    assert len(stage.requests) == 1


def test_a_prompt_nobody_has_begun_gives_way(stage: Stage) -> None:
    history(stage)
    prompt = runs.submit_prompt(session=stage.session, author=stage.author, text="Next.").run
    assert prompt is not None
    run = compact(stage)
    prompt.refresh_from_db()
    assert (prompt.status, run.status) == ("stopped", "queued")


def test_stopping_ends_what_waits_too(stage: Stage) -> None:
    history(stage)
    prompt = runs.submit_prompt(session=stage.session, author=stage.author, text="Next.").run
    assert prompt is not None
    Run.objects.filter(pk=prompt.pk).update(status="running", owner="another worker")
    run = compact(stage)
    assert run.status == "waiting"
    runs.stop_run(session=stage.session, author=stage.author)
    run.refresh_from_db()
    assert run.status == "stopped"


def test_cancelling_drops_the_late_summary(stage: Stage) -> None:
    """B17."""
    history(stage)
    stage.summaries = [[{"text": "## Goal\nHalf"}, {"wait_for_stop": True}]]
    run = compact(stage)
    thread = stage.in_thread(run)
    until(lambda: stage.asked_summaries)
    runs.stop_run(session=stage.session, author=stage.author)
    heartbeat.beat()
    thread.join(10)
    run.refresh_from_db()
    assert run.status == "stopped"
    assert "compaction" not in stage.kinds()
    assert CompactionAttempt.objects.get().outcome == "cancelled"
    end = stage.told("compaction_end")[0]
    assert end["aborted"] is True
    assert "errorMessage" not in end


def test_a_stop_that_is_only_in_the_database_counts_as_well(stage: Stage) -> None:
    """Whoever is first: the summary that comes after the stop was asked for is dropped."""
    history(stage)

    def stopped_meanwhile(request: Any) -> list[dict[str, Any]]:
        runs.stop_run(session=stage.session, author=stage.author)
        return [{"text": SUMMARY}]

    stage.summaries = [stopped_meanwhile]
    run = stage.carry_out(compact(stage))
    assert run.status == "stopped"
    assert "compaction" not in stage.kinds()


def test_labels_and_names_given_meanwhile_do_not_disturb_it(stage: Stage) -> None:
    """B43: metadata aside, the leaf must not have moved."""
    history(stage)

    def meanwhile(request: Any) -> list[dict[str, Any]]:
        entry = stage.session.entries.order_by("seq")[0]
        sessions.set_label(session=stage.session, author=stage.author, entry=entry, label="begin")
        return [{"text": SUMMARY}]

    stage.summaries = [meanwhile]
    assert stage.carry_out(compact(stage)).status == "completed"
    assert stage.kinds()[-2:] == ["label", "compaction"]


def test_a_compaction_of_a_leaf_that_moved_is_dropped(stage: Stage) -> None:
    """Commit only if the leaf has not moved."""
    history(stage)
    first = stage.session.entries.order_by("seq")[1]

    def moved_meanwhile(request: Any) -> list[dict[str, Any]]:
        entry_log.move_leaf(stage.session, first)
        return [{"text": SUMMARY}]

    stage.summaries = [moved_meanwhile]
    run = stage.carry_out(compact(stage))
    assert run.status == "failed"
    assert stage.kinds() == ["user", "assistant"]


# --- the dry run ---


def test_a_preview_says_what_would_happen_and_does_nothing(stage: Stage) -> None:
    history(stage)
    found = compaction.preview(session=stage.session)
    assert (found.possible, found.problem, found.requests) == (True, "", 2)
    assert (found.summarised, found.kept, found.splits_span) == (3, 1, True)
    assert found.first_kept == stage.session.leaf
    assert found.tokens_before > 6_000 > found.tokens_after
    assert (found.window, found.trigger) == (20_000, 14_000)
    assert (stage.asked_summaries, CompactionAttempt.objects.count(), stage.session.entries.count()) == (
        [],
        0,
        4,
    )


def test_a_preview_says_why_nothing_would_happen(stage: Stage) -> None:
    assert compaction.preview(session=stage.session).problem == "Nothing to compact: the session is empty."
    stage.say(user("Hello."))
    found = compaction.preview(session=stage.session)
    assert (found.possible, found.tokens_before) == (False, found.tokens_after)


def test_a_preview_knows_what_it_would_cost(stage: Stage) -> None:
    history(stage)
    stage.session.provider, stage.session.model = "anthropic", "claude-haiku-4-5"
    stage.session.save()
    stage.configure(keepRecentTokens=1_000)
    assert 0.005 < compaction.preview(session=stage.session).cost < 0.05


# --- hooks ---


class Listening:
    """Hooks whose calls are kept; `answer` is what session_before_compact gives."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any] | None = None) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        hooks = Hooks()
        for name in ("session_before_compact", "session_compact", "session_compact_failed"):
            hooks.add(name, self._listener(name, answer if name == "session_before_compact" else None))
        monkeypatch.setattr(compaction_run, "hooks_of", lambda session: hooks)

    def _listener(self, name: str, answer: dict[str, Any] | None) -> Callable[[dict[str, Any]], Any]:
        def heard(event: dict[str, Any]) -> dict[str, Any] | None:
            self.calls.append((name, event))
            return answer

        return heard

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def test_hooks_are_called_in_their_order(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """02 §2, 07 §2."""
    heard = Listening(monkeypatch)
    history(stage)
    stage.carry_out(compact(stage, "Focus."))
    assert heard.names() == ["session_before_compact", "session_compact"]
    before, after = heard.calls[0][1], heard.calls[1][1]
    assert before["preparation"]["isSplitTurn"] is True
    assert (before["reason"], before["customInstructions"], before["willRetry"]) == (
        "manual",
        "Focus.",
        False,
    )
    assert (after["fromExtension"], after["compactionEntry"]["type"]) == (False, "compaction")


def test_an_extension_may_cancel(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Listening(monkeypatch, {"cancel": True})
    history(stage)
    run = stage.carry_out(compact(stage))
    assert (run.status, stage.asked_summaries) == ("stopped", [])
    assert heard.names() == ["session_before_compact", "session_compact_failed"]
    failed = heard.calls[1][1]
    assert failed["aborted"] is True
    assert "errorMessage" not in failed


def test_an_extension_may_bring_its_own_summary_and_keep_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """02 §11: retain-none names itself."""
    Listening(monkeypatch, {"compaction": {"summary": "Mine.", "tokensBefore": 7, "details": {"a": 1}}})
    history(stage)
    assert stage.carry_out(compact(stage)).status == "completed"
    record = stage.compaction()
    assert (record["firstKeptEntryId"], record["fromHook"]) == (record["id"], True)
    assert (record["tokensBefore"], record["details"]) == (7, {"a": 1})
    assert stage.asked_summaries == []
    assert len([m for m in stage.context() if m["role"] != "system"]) == 1


def test_a_compaction_row_is_the_same_as_the_cores_own(stage: Stage) -> None:
    """The keys of a session file, in their order."""
    history(stage)
    stage.carry_out(compact(stage))
    record = stage.compaction()
    assert list(record) == [
        "type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId", "tokensBefore", "usage", "details",
        "fromHook",
    ]  # fmt: skip
    assert CoreEntry.from_json(CoreEntry(record).to_json()).record == record


def test_the_runner_refuses_to_write_behind_an_open_call(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B01."""
    history(stage)
    monkeypatch.setattr(compaction_module, "open_calls", lambda session: [{"id": "one"}])
    run = stage.carry_out(compact(stage))
    assert run.error == "Compaction failed: a tool call is still open."


def test_a_dead_worker_leaves_no_compaction_and_no_waiting_words(stage: Stage) -> None:
    """B32: the attempt is closed with the run, what was said is delivered by the next one."""
    history(stage)
    run = compact(stage)
    runs.submit_prompt(session=stage.session, author=stage.author, text="Go on.")
    Run.objects.filter(pk=run.pk).update(
        status="running", owner="dead", lease_until=timezone.now() - timedelta(seconds=5)
    )
    CompactionAttempt.objects.create(session=stage.session, run=run, reason="manual", settings="{}")
    assert recovery.sweep(lambda _: None) == 1
    run.refresh_from_db()
    assert (run.status, CompactionAttempt.objects.get().outcome) == ("interrupted", "cancelled")
    stage.carry_out_all()
    assert stage.kinds()[-2:] == ["user", "assistant"]
    assert "compaction" not in stage.kinds()


def test_a_run_that_waits_for_nothing_any_more_begins(stage: Stage) -> None:
    """What it waited for was ended by other hands."""
    history(stage)
    prompt = runs.submit_prompt(session=stage.session, author=stage.author, text="Next.").run
    assert prompt is not None
    Run.objects.filter(pk=prompt.pk).update(status="running", owner="other", lease_until=timezone.now())
    run = compact(stage)
    Run.objects.filter(pk=prompt.pk).update(status="failed")
    assert recovery.sweep(lambda _: None) == 1
    assert recovery.sweep(lambda _: None) == 0
    run.refresh_from_db()
    assert run.status == "queued"


def test_a_compaction_that_finds_nothing_left_says_so(stage: Stage) -> None:
    """It was asked for while a prompt ran, and that has compacted already."""
    history(stage)
    run = compact(stage)
    fields = {"type": "compaction", "summary": "S", "firstKeptEntryId": "none", "tokensBefore": 1}
    entry_log.append(stage.session.pk, fields)
    run = stage.carry_out(run)
    assert (run.status, run.error_kind) == ("failed", "nothing_to_compact")
    assert CompactionAttempt.objects.get().outcome == "nothing"
