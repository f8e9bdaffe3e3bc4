"""Compaction inside a prompt's run: when it happens, in which order, and what comes after an overflow."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from sessions_app.models import CompactionAttempt, Run
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.runner.settling import open_calls
from sessions_app.services import runs
from tests.staging import SUMMARY, Stage, assistant, call, result, stage, user, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)
TOO_LONG = {"error": "overflow", "message": "prompt is too long: 30000 tokens > 20000 maximum"}
BUSY = {"error": "overloaded", "message": "The service is overloaded.", "retryable": True}


def outcomes(stage: Stage) -> list[tuple[str, str]]:
    """Of what was tried; what the guard refused was not."""
    rows = CompactionAttempt.objects.filter(session=stage.session).exclude(outcome="refused").order_by("pk")
    return [(row.reason, row.outcome) for row in rows]


def long_history(stage: Stage, tokens: int = 13_500) -> None:
    stage.say(
        user("Plan the mill."), assistant(words(tokens, "plan")), user("And the wheel."), assistant("Round.")
    )


# --- triggers ---


def test_an_answer_that_fills_the_window_is_followed_by_a_compaction(stage: Stage) -> None:
    """CT-04, 02 §2: after agent_end, and the run ends as completed; 04 §1.3, §1.11."""
    long_history(stage, 10_500)
    run = stage.prompt("Next.", [{"text": words(2_000)}])
    assert run.status == "completed"
    assert stage.kinds()[-3:] == ["user", "assistant", "compaction"]
    kinds = [event["type"] for event in stage.told("agent_end", "compaction", "agent_settled")]
    assert kinds == ["agent_end", "compaction_start", "compaction_end", "agent_settled"]
    end = stage.told("compaction_end")[0]
    assert (end["reason"], end["aborted"], end["willRetry"]) == ("threshold", False, False)
    assert end["result"]["tokensBefore"] > 13_500 > 6_000 > end["result"]["estimatedTokensAfter"]
    assert outcomes(stage) == [("threshold", "compacted")]


def test_the_next_prompt_is_preceded_by_a_compaction_and_goes_on(stage: Stage) -> None:
    """CT-02: the history was too long before anything was said."""
    long_history(stage)
    run = stage.prompt("Next.")
    assert run.status == "completed"
    assert [event["type"] for event in stage.told()] == ["compaction_start", "compaction_end"]
    assert len(stage.requests) == 1
    sent = stage.requests[0].messages
    assert (
        SUMMARY in sent[0]["content"][0]["text"]
        if isinstance(sent[0]["content"], list)
        else sent[0]["content"]
    )
    assert "Next." in str(sent[-1]["content"])


def test_an_aborted_last_answer_counts_before_a_prompt(stage: Stage) -> None:
    """CT-02: aborted ones too."""
    usage = {"input": 15_000, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15_010}
    stage.say(user(words(3_000)), assistant("Half", reason="aborted", usage=usage))
    stage.prompt("Next.")
    assert outcomes(stage) == [("threshold", "compacted")]


def test_a_huge_result_is_compacted_before_the_next_request_of_the_same_run(stage: Stage) -> None:
    """CT-03, B11."""
    big = {"call": "write", "arguments": {"path": "a.txt", "content": words(7_000)}}
    run = stage.prompt("Write it.", [big], [big], [{"text": "Done."}])
    assert run.status == "completed"
    assert stage.kinds() == [
        "user", "assistant", "toolResult", "assistant", "toolResult", "compaction", "assistant",
    ]  # fmt: skip
    ends = [event["type"] for event in stage.told("turn_end", "compaction_start")]
    assert ends == ["turn_end", "turn_end", "compaction_start", "turn_end"]


def test_words_about_to_be_said_count_between_turns(stage: Stage) -> None:
    """B11: queued messages are part of the request."""
    steering = words(9_000, "steer")

    def meanwhile(request: Any) -> list[dict[str, Any]]:
        runs.submit_prompt(session=stage.session, author=stage.author, text=steering)
        return [{"call": "ls", "arguments": {}}]

    stage.say(user("Plan."), assistant(words(3_000)), user("More."), assistant(words(1_200)))
    stage.prompt("Look.", meanwhile, [{"text": "Seen."}])
    kinds = stage.kinds()
    assert kinds[kinds.index("toolResult") :] == ["toolResult", "compaction", "user", "assistant"]


def test_nothing_happens_by_itself_when_it_is_turned_off(stage: Stage) -> None:
    """Guard 1: not even recovery from an overflow."""
    stage.configure(enabled=False)
    long_history(stage)
    run = stage.prompt("Next.", [TOO_LONG])
    assert (run.status, run.error_kind) == ("failed", "overflow")
    assert stage.told() == []
    assert "context_edit" not in stage.kinds()


def test_a_model_has_settings_of_its_own(stage: Stage) -> None:
    """02 §10."""
    stage.configure(modelOverrides={"scripted/scripted": {"reserveTokens": 0}})
    long_history(stage)
    stage.prompt("Next.")
    assert stage.told() == []


def test_an_answer_larger_than_the_window_is_kept_and_compacted(stage: Stage) -> None:
    """CT-07: silent overflow, no retry."""
    usage = {"input": 21_000, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 21_005}
    stage.say(user("Plan."), assistant(words(3_000)))
    run = stage.prompt("Next.", [{"text": "Fine."}, {"stop_reason": "stop", "usage": usage}])
    assert run.status == "completed"
    assert [event["reason"] for event in stage.told("compaction_end")] == ["overflow"]
    assert stage.kinds()[-2:] == ["assistant", "compaction"]
    assert len(stage.requests) == 1


# --- recovery ---


def test_after_an_overflow_the_attempt_is_left_out_then_compacted_then_tried_anew(stage: Stage) -> None:
    """CT-05 and the recovery order of 02 §2."""
    stage.say(user("Plan."), assistant(words(5_000)), user("More."), assistant(words(1_200)))
    run = stage.prompt("Next.", [TOO_LONG], [{"text": "Now it fits."}])
    assert (run.status, run.error) == ("completed", "")
    assert stage.kinds()[-5:] == ["user", "assistant", "context_edit", "compaction", "assistant"]
    kinds = [event["type"] for event in stage.told("agent_start", "agent_end", "compaction")]
    assert kinds == [
        "agent_start",
        "agent_end",
        "compaction_start",
        "compaction_end",
        "agent_start",
        "agent_end",
    ]
    assert [event["willRetry"] for event in stage.told("agent_end", "compaction_end")] == [True, True, False]
    assert "Next." in str(stage.requests[-1].messages[-1]["content"])


def test_a_second_overflow_ends_the_run_with_what_to_do(stage: Stage) -> None:
    """One attempt (02 §2); the second failure is told like a failed compaction."""
    stage.say(user("Plan."), assistant(words(5_000)), user("More."), assistant(words(1_200)))
    run = stage.prompt("Next.", [TOO_LONG], [TOO_LONG], [{"text": "never"}])
    assert (run.status, run.error_kind) == ("failed", "overflow")
    assert "larger window" in run.error
    assert len(stage.requests) == 2
    assert len(stage.asked_summaries) == 1
    assert stage.told("compaction_end")[-1]["errorMessage"] == run.error


def test_an_overflow_with_nothing_older_is_not_retried_and_says_what_is_too_big(stage: Stage) -> None:
    """02 §2: nothing to compact after the omission: it stays, no events, no retry."""
    run = stage.prompt("Next.", [TOO_LONG])
    assert (run.status, stage.told()) == ("failed", [])
    assert stage.kinds() == ["user", "assistant", "context_edit"]
    assert "system prompt" in run.error


def test_an_answer_cut_off_early_is_tried_anew(stage: Stage) -> None:
    """CT-06: below the model's own limit."""
    stage.say(user("Plan."), assistant(words(5_000)), user("More."), assistant(words(1_200)))
    run = stage.prompt("Next.", [{"text": "Half"}, {"stop_reason": "length"}], [{"text": "Whole."}])
    assert run.status == "completed"
    texts = [str(message.get("content")) for message in stage.context()]
    assert not any("Half" in text for text in texts)
    assert any("Whole." in text for text in texts)


def test_a_recovery_whose_summary_fails_leaves_the_omission_and_ends(stage: Stage) -> None:
    """02 §2: omissions stay, no compaction entry, no internal retry."""
    stage.say(user("Plan."), assistant(words(5_000)), user("More."), assistant(words(1_200)))
    stage.summaries = [[{"error": "auth", "message": "No such key."}]]
    run = stage.prompt("Next.", [TOO_LONG])
    assert run.status == "failed"
    assert run.error == "Context overflow recovery failed: No such key."
    assert stage.kinds()[-2:] == ["assistant", "context_edit"]


def test_a_new_message_gives_a_new_recovery(stage: Stage) -> None:
    """02 §2: the flag is cleared by a user message starting."""
    stage.say(user("Plan."), assistant(words(5_000)), user("More."), assistant(words(1_200)))
    stage.prompt("Next.", [TOO_LONG], [TOO_LONG])
    stage.say(user("Long."), assistant(words(4_000)), user("Longer."), assistant(words(1_100)))
    run = stage.prompt("Once more.", [TOO_LONG], [{"text": "Well."}])
    assert run.status == "completed"


# --- retries ---


def test_a_passing_fault_is_tried_again_and_its_answer_left_out(stage: Stage) -> None:
    """RT-01, RT-05; 04 §1.11."""
    run = stage.prompt("Hello.", [{"text": "Hal"}, BUSY], [{"text": "Hello."}])
    assert (run.status, run.error) == ("completed", "")
    told = [event["type"] for event in stage.told("agent_end", "auto_retry")]
    assert told == ["agent_end", "auto_retry_start", "auto_retry_end", "agent_end"]
    start, end = stage.told("auto_retry")
    assert (start["attempt"], start["maxAttempts"], start["errorMessage"]) == (
        1,
        3,
        "The service is overloaded.",
    )
    assert (end["success"], end["attempt"]) == (True, 1)
    assert stage.kinds() == ["user", "assistant", "context_edit", "assistant"]
    assert len(stage.context()) == 3


def test_a_failed_attempt_takes_the_results_of_its_calls_along(stage: Stage) -> None:
    """RT-05, 02 §2: never a result without its call."""
    run = stage.prompt("Hello.", [{"call": "ls", "arguments": {}}, BUSY], [{"text": "Hello."}])
    assert run.status == "completed"
    assert stage.kinds() == ["user", "assistant", "toolResult", "context_edit", "context_edit", "assistant"]
    assert [m["role"] for m in stage.context() if m["role"] != "system"] == ["user", "assistant"]


def test_faults_that_do_not_pass_end_the_run_after_the_last_attempt(stage: Stage) -> None:
    """RT-04, RT-05."""
    run = stage.prompt("Hello.", *[[BUSY]] * 4)
    assert (run.status, run.error) == ("failed", "The service is overloaded.")
    assert len(stage.requests) == 4
    assert [event["attempt"] for event in stage.told("auto_retry_start")] == [1, 2, 3]
    end = stage.told("auto_retry_end")[-1]
    assert (end["success"], end["attempt"], end["finalError"]) == (False, 3, "The service is overloaded.")


def test_an_empty_purse_is_not_tried_again(stage: Stage) -> None:
    """RT-03."""
    run = stage.prompt(
        "Hello.", [{"error": "quota", "message": "insufficient_quota: rate limit", "retryable": False}]
    )
    assert (run.status, stage.told("auto_retry")) == ("failed", [])


def test_a_throttled_request_is_retried_and_never_compacted(stage: Stage) -> None:
    """B10."""
    long_history(stage, 4_000)
    throttled = {"error": "rate_limit", "message": "429 Too many tokens, rate limit", "retryable": True}
    run = stage.prompt("Hello.", [throttled], [{"text": "Yes."}])
    assert run.status == "completed"
    assert stage.told("compaction") == []


def test_a_wait_longer_than_allowed_fails_at_once(stage: Stage) -> None:
    """RT-06."""
    run = stage.prompt("Hello.", [{**BUSY, "retry_after": 90}])
    assert (run.status, stage.told("auto_retry")) == ("failed", [])


def test_stopping_while_it_waits_ends_the_run_as_stopped(stage: Stage) -> None:
    """RT-05: the wait can be cancelled; 04 §6.1."""
    stage.settings.RETRY_BASE_MS = 30_000
    run = runs.submit_prompt(session=stage.session, author=stage.author, text="Hello.").run
    assert run is not None
    stage.answers = [[BUSY]]
    thread = stage.in_thread(run)
    waited = threading.Event()
    for _ in range(200):
        if stage.told("auto_retry_start"):
            break
        waited.wait(0.05)
    waited.wait(0.2)
    runs.stop_run(session=stage.session, author=stage.author)
    heartbeat.beat()
    thread.join(10)
    run.refresh_from_db()
    assert run.status == "stopped"
    assert stage.told("auto_retry_end")[0]["success"] is False
    assert stage.kinds() == ["user", "assistant", "context_edit"], "no further attempt"


# --- what is stored ---


def test_the_system_prompt_is_kept_in_the_compaction(stage: Stage) -> None:
    """02 §11: the checkpoint."""
    long_history(stage)
    stage.prompt("Next.")
    checkpoint = stage.compaction()["systemMessage"]
    assert {tool["name"] for tool in checkpoint["toolsAdded"]} >= {"read", "bash", "edit", "write"}
    before = stage.session.entries.filter(role="system").count()
    stage.prompt("Next.")
    assert stage.session.entries.filter(role="system").count() == before


def test_what_summaries_use_counts(stage: Stage) -> None:
    """SG-11, TT-01."""
    used = {"input": 100, "output": 50, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 150}
    stage.summaries = [[{"text": SUMMARY}, {"stop_reason": "stop", "usage": used}]]
    long_history(stage)
    before = stage.session.tokens
    run = stage.prompt("Next.")
    assert stage.compaction()["usage"]["input"] >= 100
    assert CompactionAttempt.objects.get().usage
    assert stage.session.tokens - before >= 150
    assert run.tokens >= 150


def test_a_retried_summary_is_told(stage: Stage) -> None:
    """SG-10."""
    stage.summaries = [[BUSY]]
    long_history(stage)
    stage.prompt("Next.")
    kinds = [event["type"] for event in stage.told()]
    assert kinds == [
        "compaction_start", "summarization_retry_scheduled", "summarization_retry_attempt_start",
        "summarization_retry_finished", "compaction_end",
    ]  # fmt: skip
    assert stage.told("summarization_retry_scheduled")[0]["source"] == "compaction"


@pytest.mark.parametrize(
    "answer",
    [
        [{"text": " \n"}],
        [{"text": "## Goal\n(none)\n## Next Steps\n1. (none)"}],
        [{"thinking": "What to write?"}],
        [{"text": "## Goal\nHalf"}, {"stop_reason": "length"}],
        [{"call": "ls", "arguments": {}}],
    ],
)
def test_what_is_no_summary_is_never_stored(stage: Stage, answer: list[dict[str, Any]]) -> None:
    """B06, B07, 02 §6; the run goes on with its context as it was."""
    stage.summaries = [answer, answer]
    long_history(stage)
    run = stage.prompt("Next.")
    assert run.status == "completed"
    assert "compaction" not in stage.kinds()
    assert stage.told("compaction_end")[0]["errorMessage"].startswith("Auto-compaction failed: ")
    assert outcomes(stage) == [("threshold", "failed")]


def test_a_summary_that_is_no_smaller_is_not_applied(stage: Stage) -> None:
    stage.summaries = [[{"text": "## Goal\n" + words(15_000)}]] * 9
    long_history(stage)
    stage.prompt("Next.")
    assert "compaction" not in stage.kinds()
    assert outcomes(stage) == [("threshold", "not_smaller")]


def test_a_failed_automatic_compaction_is_not_paid_for_again_at_once(stage: Stage) -> None:
    """Never a paid request twice for nothing."""
    stage.summaries = [[{"error": "auth", "message": "No."}]]
    long_history(stage)
    for _ in range(3):
        stage.prompt("Next.")
    assert len(stage.asked_summaries) == 1


def test_calls_without_a_result_are_seen_as_open(stage: Stage) -> None:
    """B01: what the transaction that writes a compaction looks for."""
    stage.say(user("Look."), assistant(call("one"), call("two"), reason="toolUse"), result("one", "there"))
    assert [found["id"] for found in open_calls(stage.session)] == ["two"]


def test_runs_count_what_they_spend(stage: Stage) -> None:
    run = stage.prompt("Hello.", [{"text": words(50)}])
    assert run.tokens >= 50
    assert Run.objects.get(pk=run.pk).turns == 1


def test_an_answer_cut_off_in_its_calls_goes_on_with_the_next_turn(stage: Stage) -> None:
    """CT-08: no recovery; the calls get an error result each."""
    cut = [{"call": "ls"}, {"stop_reason": "length"}]
    run = stage.prompt("Look.", cut, [{"text": "Well."}])
    assert run.status == "completed"
    assert stage.kinds() == ["user", "assistant", "toolResult", "assistant"]
    assert stage.told() == []


def test_the_rules_of_the_project_and_the_newest_words_are_in_the_request_behind_a_compaction(
    stage: Stage,
) -> None:
    """B14: word for word, whatever the summary says."""
    rules = "Sentinel: never touch the ledger, whatever happens."
    (Path(stage.session.workspace.path) / "AGENTS.md").write_text(rules, encoding="utf-8")
    long_history(stage)
    wanted = "Do the wheel, then the stone, then the sluice."
    stage.prompt(wanted)
    assert stage.kinds().count("compaction") == 1
    sent = stage.requests[-1]
    assert rules in sent.system
    assert sent.messages[-1]["content"][-1]["text"] == wanted
