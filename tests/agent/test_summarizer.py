"""Plans carried out with somebody who answers."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.agent import prompts
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.summarizer import (
    BRANCH_PREAMBLE,
    NO_CONTENT,
    NO_HISTORY,
    SPLIT_HEADING,
    Rules,
    SummaryCancelled,
    SummaryFailed,
    add_usage,
    is_blank,
    summarise_branch,
    summarise_compaction,
)
from sessions_app.agent.summary_prompts import SummaryRequest
from sessions_app.core.branch_summary import plan_branch_summary
from sessions_app.core.compaction import CompactionPlan, plan_compaction
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.messages import Json
from sessions_app.core.transcript import serialise
from tests.builders import answer, call, path, usage


class Script:
    """Answers one request after the other, and remembers them."""

    def __init__(self, *answers: Json) -> None:
        self.answers = list(answers)
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> Json:
        self.requests.append(request)
        return self.answers.pop(0)


def plan(text: str, keep: int = 20) -> CompactionPlan:
    return plan_compaction(path(text), CompactionSettings(keep_recent_tokens=keep))


def test_one_request_summarises_the_history() -> None:
    """02 SG-01, SG-06, SG-12."""
    planned = plan("u a u a")
    ask = Script(answer("## Goal\nfix it", usage=usage(5)))
    summary = summarise_compaction(planned, ask)
    (request,) = ask.requests
    text = serialise(item.message for item in planned.history)
    assert (request.stage, request.system) == ("history", prompts.load("summariser"))
    assert request.prompt == f"<conversation>\n{text}\n</conversation>\n\n" + prompts.load("compaction")
    assert summary.text == "## Goal\nfix it"
    assert summary.usage == usage(5)
    assert summary.details == {"readFiles": [], "modifiedFiles": []}


def test_a_previous_summary_is_updated() -> None:
    """02 SG-04."""
    ask = Script(answer("new"))
    summarise_compaction(plan("u a cut@- u a u a"), ask)
    assert "\n\n<previous-summary>\ne3 e3" in ask.requests[0].prompt
    assert ask.requests[0].prompt.endswith(prompts.load("compaction_update"))


def test_custom_instructions_are_an_additional_focus_everywhere() -> None:
    """02 SG-05."""
    ask = Script(answer("one"), answer("two"))
    summarise_compaction(plan("u a u a a", keep=10), ask, custom_instructions="list the ports")
    assert [request.prompt.endswith("list the ports") for request in ask.requests] == [True, True]


def test_a_split_span_takes_two_requests_one_after_the_other() -> None:
    """02 SG-02, SG-11."""
    ask = Script(answer("the past", usage=usage(5)), answer("the beginning", usage=usage(7)))
    summary = summarise_compaction(plan("u a u a a", keep=10), ask)
    assert [request.stage for request in ask.requests] == ["history", "prefix"]
    assert "<conversation>" not in ask.requests[1].prompt
    assert summary.text == "the past" + SPLIT_HEADING + "the beginning"
    assert summary.usage is not None
    assert summary.usage["totalTokens"] == 12


def test_a_split_without_history_keeps_the_previous_summary_word_for_word() -> None:
    """02 SG-03."""
    planned = plan("u a cut@- u a a", keep=10)
    summary = summarise_compaction(planned, Script(answer("beginning")))
    assert summary.text == f"{planned.previous_summary}{SPLIT_HEADING}beginning"
    without = summarise_compaction(plan("u a a", keep=10), Script(answer("beginning")))
    assert without.text == NO_HISTORY + SPLIT_HEADING + "beginning"


def test_files_are_listed_under_the_summary() -> None:
    """02 SG-12, §8."""
    entries = path("u a u a")
    entries[1].record["message"]["content"].append(call("read", path="a.py"))
    planned = plan_compaction(entries, CompactionSettings(keep_recent_tokens=20))
    summary = summarise_compaction(planned, Script(answer("text")))
    assert summary.text == "text\n\n<read-files>\na.py\n</read-files>"
    assert summary.details["readFiles"] == ["a.py"]


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"stopReason": "error", "errorMessage": "no"}, "error"),
        ({"stopReason": "length"}, "length"),
        ({"content": [call("read")]}, "tool_call"),
    ],
)
def test_an_answer_that_is_no_summary_is_never_stored(fields: Json, kind: str) -> None:
    """02 §6, BUGS B07."""
    with pytest.raises(SummaryFailed) as failure:
        summarise_compaction(plan("u a u a"), Script(answer("part", **fields)))
    assert (failure.value.kind, failure.value.stage) == (kind, "history")
    assert failure.value.provider_message == fields.get("errorMessage")


def test_a_failed_prefix_discards_the_history_answer() -> None:
    """FINDINGS 37."""
    ask = Script(answer("past"), answer("x", stopReason="length"))
    with pytest.raises(SummaryFailed) as failure:
        summarise_compaction(plan("u a u a a", keep=10), ask)
    assert failure.value.stage == "prefix"


@pytest.mark.parametrize("blank", ["", " \n ", "## Goal\n(none)\n\n### Done\n- [ ] (none)\n1. (none)"])
def test_a_blank_summary_is_asked_for_once_more_and_then_refused(blank: str) -> None:
    """02 §6, BUGS B06."""
    summary = summarise_compaction(
        plan("u a u a"), Script(answer(blank, usage=usage(1)), answer("ok", usage=usage(2)))
    )
    assert summary.text == "ok"
    assert summary.usage is not None
    assert summary.usage["totalTokens"] == 3
    with pytest.raises(SummaryFailed, match="nothing that could stand"):
        summarise_compaction(plan("u a u a"), Script(answer(blank), answer(blank)))
    lenient = summarise_compaction(plan("u a u a"), Script(answer(blank)), rules=Rules(lenient=True))
    assert lenient.text == blank


def test_headings_with_something_under_them_are_no_blank() -> None:
    assert not is_blank("## Goal\nkeep the (none) marker")


def test_an_aborted_answer_is_a_cancelled_summary() -> None:
    """02 §6."""
    aborted = answer("half", stopReason="aborted")
    with pytest.raises(SummaryCancelled):
        summarise_compaction(plan("u a u a"), Script(aborted))
    assert summarise_compaction(plan("u a u a"), Script(aborted), rules=Rules(lenient=True)).text == "half"
    with pytest.raises(SummaryCancelled):
        summarise_branch(plan_branch_summary(path("u"), 0), Script(aborted), rules=Rules(lenient=True))


def test_a_stop_discards_an_answer_that_came_too_late() -> None:
    """BUGS B17."""
    stop = StopSignal()

    def ask(request: SummaryRequest) -> Json:
        stop.request()
        return answer("late")

    with pytest.raises(SummaryCancelled):
        summarise_compaction(plan("u a u a"), ask, rules=Rules(stop=stop))


def test_a_conversation_above_the_room_is_folded_piece_by_piece() -> None:
    """BUGS B05."""
    ask = Script(
        answer("one", usage=usage(1)), answer("two", usage=usage(2)), answer("three", usage=usage(4))
    )
    planned = plan("u:450 a:450 u:450 u a")
    summary = summarise_compaction(planned, ask, rules=Rules(conversation_units=2000))
    assert len(ask.requests) == 3
    assert "<previous-summary>\none\n</previous-summary>" in ask.requests[1].prompt
    assert "<previous-summary>\ntwo\n</previous-summary>" in ask.requests[2].prompt
    assert summary.text == "three"
    assert summary.usage is not None
    assert summary.usage["totalTokens"] == 7


def test_a_branch_summary_begins_with_a_preamble() -> None:
    """03 BS-12, BS-03."""
    planned = plan_branch_summary(path("u a"), 0)
    ask = Script(answer("tried", usage=usage(3)), answer("x"), answer("x"))
    summary = summarise_branch(planned, ask)
    assert summary.text == BRANCH_PREAMBLE + "tried"
    assert summary.usage == usage(3)
    summarise_branch(planned, ask, custom_instructions="only ports", replace_instructions=True)
    summarise_branch(planned, ask, custom_instructions="and ports")
    conversation = f"<conversation>\n{serialise(item.message for item in planned.items)}\n</conversation>\n\n"
    assert ask.requests[0].prompt == conversation + prompts.load("branch_summary")
    assert ask.requests[1].prompt == conversation + "only ports"
    assert ask.requests[2].prompt.startswith(conversation + prompts.load("branch_summary"))
    assert ask.requests[2].prompt.endswith("and ports")


def test_a_branch_that_holds_nothing_asks_nobody() -> None:
    """03 BS-15."""
    summary = summarise_branch(plan_branch_summary(path("meta"), 0), Script())
    assert (summary.text, summary.usage, summary.has_content) == (NO_CONTENT, None, False)
    assert summary.details == {"readFiles": [], "modifiedFiles": []}


def test_what_is_filled_into_a_prompt_is_not_looked_into() -> None:
    assert "${conversation} costs $5" in prompts.fill(
        "turn_prefix", conversation="${conversation} costs $5", focus=""
    )


@pytest.mark.parametrize("one", [None, "odd"])
def test_usage_that_is_missing_adds_nothing(one: Any) -> None:
    assert add_usage(one, usage(3)) == usage(3)
    assert add_usage(usage(3), one) == usage(3)
    assert add_usage(one, one) is None


def test_optional_usage_fields_are_kept_if_either_side_has_them() -> None:
    """02 SG-11, FINDINGS 41."""
    total = add_usage(
        {**usage(1), "reasoning": 4}, {"input": 2, "cost": {"total": 1, "totalFromProvider": True}}
    )
    assert total is not None
    assert (total["input"], total["reasoning"], total["cost"]["total"]) == (3, 4, 1)
    assert "cacheWrite1h" not in total
    assert total["cost"]["totalFromProvider"] is False
    assert add_usage({"cost": 5}, {"cost": None}) is not None


COMPACTION_SECTIONS = [
    "## Goal", "## Constraints & Preferences", "## Progress", "### Done", "### In Progress", "### Blocked",
    "## Key Decisions", "## Next Steps", "## Critical Context",
]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "sections"),
    [
        ("compaction", COMPACTION_SECTIONS),
        ("branch_summary", COMPACTION_SECTIONS[:-1]),
        ("turn_prefix", ["## Original Request", "## Progress So Far", "## Context Needed to Continue"]),
    ],
)
def test_each_kind_of_summary_is_asked_for_in_its_sections(prompt: str, sections: list[str]) -> None:
    """02 §5, 03 BS-12: that of a branch ends with the next steps."""
    headings = [line for line in prompts.load(prompt).splitlines() if line.startswith("##")]
    assert headings == sections
