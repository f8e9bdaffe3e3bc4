"""The summary request fits the window whatever the history; what a provider refuses is made smaller, then done by rule."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.agent.extractive_summary import NOTE
from sessions_app.agent.providers.base import ProviderRequest
from sessions_app.agent.request_size import request_tokens
from sessions_app.core.messages import text_of
from sessions_app.models import CompactionAttempt
from sessions_app.services import compaction
from tests.staging import SUMMARY, Stage, Steps, assistant, call, result, stage, user, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)
TOO_LONG: dict[str, Any] = {
    "error": "overflow",
    "message": "prompt is too long: 30000 tokens > 20000 maximum",
}


def sizes(stage: Stage) -> list[int]:
    return [
        request_tokens(system=asked.system, messages=asked.messages, tools=asked.tools)
        for asked in stage.asked_summaries
    ]


def test_a_history_of_more_than_the_window_is_folded(stage: Stage) -> None:
    """B05: 1.3 × window."""
    for number in range(13):
        stage.say(user(f"Question {number}."), assistant(words(2_000, f"answer{number}")))
    stage.say(user("Last."), assistant(words(1_100)))
    run = compaction.compact_session(session=stage.session, author=stage.author)
    assert stage.carry_out(run).status == "completed"
    assert len(stage.asked_summaries) >= 3
    assert max(sizes(stage)) < 20_000
    asked = [text_of(request.messages[0]["content"]) for request in stage.asked_summaries]
    assert all(any(f"Question {number}." in text for text in asked) for number in range(13))
    assert "<previous-summary>" in asked[1]


def test_a_previous_summary_and_instructions_take_room_too(stage: Stage) -> None:
    stage.say(user("A"), assistant(words(2_000)), user("B"), assistant(words(1_200)))
    stage.summaries = [[{"text": "## Goal\n" + words(1_500, "old")}]]
    stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    for number in range(8):
        stage.say(user(f"Question {number}."), assistant(words(2_000)))
    stage.carry_out(
        compaction.compact_session(
            session=stage.session, author=stage.author, instructions=words(2_000, "focus")
        )
    )
    assert max(sizes(stage)) < 20_000


def test_a_refused_request_is_made_smaller(stage: Stage) -> None:
    """The window we know may be larger than the real one."""

    def strict(request: ProviderRequest) -> Steps:
        too_much = request_tokens(system="", messages=request.messages, tools=()) > 4_500
        return [TOO_LONG] if too_much else [{"text": SUMMARY}]

    stage.say(*(message for n in range(4) for message in (user(f"Q{n}"), assistant(words(2_000)))))
    stage.say(user("Last."), assistant(words(1_100)))
    stage.summaries = [strict] * 30
    run = stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    assert (run.status, run.error) == ("completed", "")


def test_recovery_goes_by_rule_when_nothing_is_accepted(stage: Stage) -> None:
    """Visibly marked, with sections, the newest request, constraints, open items, errors and file lists."""
    stage.say(
        user("You must never touch the dam."),
        assistant("I decided to use oak because it lasts.", call("one", "write", path="mill.txt"), reason="toolUse"),
        {**result("one", "Error: disk full"), "isError": True, "toolName": "write"},
        assistant("1. Next build the wheel.", words(5_000)),
        user("Now the wheel, then the roof."),
        assistant(words(1_200)),
    )  # fmt: skip
    stage.summaries = [[TOO_LONG]] * 30
    run = stage.prompt("Go on.", [TOO_LONG], [{"text": "Now it fits."}])
    assert (run.status, run.error) == ("completed", "")
    summary = stage.compaction()["summary"]
    assert summary.startswith(NOTE)
    for wanted in (
        "## Goal", "## Constraints & Preferences", "### Blocked", "## Next Steps", "never touch the dam", "oak",
        "Next build the wheel", "disk full", "write: mill.txt", "<modified-files>\nmill.txt\n</modified-files>",
        "Now the wheel, then the roof.",
    ):  # fmt: skip
        assert wanted in summary, wanted
    assert CompactionAttempt.objects.get().outcome == "compacted"


def test_by_rule_can_be_forbidden(stage: Stage) -> None:
    stage.settings.COMPACTION_EXTRACTIVE = "never"
    stage.say(user("A"), assistant(words(5_000)), user("B"), assistant(words(1_200)))
    stage.summaries = [[TOO_LONG]] * 30
    run = stage.prompt("Go on.", [TOO_LONG])
    assert run.status == "failed"
    assert "prompt is too long" in run.error


def test_by_hand_a_refusal_is_told(stage: Stage) -> None:
    """By default rules stand in only where a run could not go on otherwise."""
    stage.say(user("A"), assistant(words(5_000)), user("B"), assistant(words(1_200)))
    stage.summaries = [[TOO_LONG]] * 30
    run = stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    assert (run.status, CompactionAttempt.objects.get().outcome) == ("failed", "failed")
    stage.settings.COMPACTION_EXTRACTIVE = "always"
    stage.summaries = [[TOO_LONG]] * 30
    run = stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    assert run.status == "completed"


def test_calls_left_behind_by_going_back_get_a_result_first(stage: Stage) -> None:
    """B01: the leaf stands on an answer whose results lie on another branch."""
    stage.say(user("A"), assistant(words(5_000)), user("B"))
    stage.say(assistant(words(1_200), call("one"), reason="toolUse"))
    run = stage.carry_out(compaction.compact_session(session=stage.session, author=stage.author))
    assert run.status == "completed"
    assert stage.kinds()[-3:] == ["assistant", "toolResult", "compaction"]


def test_a_small_window_recovers_although_the_reserve_is_larger(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of 9,000 tokens under the default reserve: nothing at the threshold, but an overflow is recovered from."""
    stage.use_window(9_000, monkeypatch)
    stage.configure(reserveTokens=16_384, keepRecentTokens=20_000)
    stage.say(*(message for n in range(3) for message in (user(f"Q{n}"), assistant(words(1_800)))))
    for _ in range(2):
        stage.say(user("More."), assistant(words(2_300)))
        run = stage.prompt("Go on.", [TOO_LONG], [{"text": "Fits."}])
        assert (run.status, run.error) == ("completed", "")
