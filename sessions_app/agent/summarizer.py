"""Carries out the plan of a compaction or a branch summary with whoever answers summary requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from sessions_app.agent.summary_prompts import (
    Stage,
    SummaryRequest,
    branch_request,
    history_request,
    prefix_request,
)
from sessions_app.agent.transcript_fitting import fold, trim
from sessions_app.core.branch_summary import BranchSummaryPlan
from sessions_app.core.compaction import CompactionPlan
from sessions_app.core.errors import SessionError
from sessions_app.core.messages import Json, number_of, text_of, tool_calls_of
from sessions_app.core.transcript import serialise

SPLIT_HEADING = "\n\n---\n\n**How the request that is still under way began:**\n\n"
NO_HISTORY = "Nothing was said before this request."
BRANCH_PREAMBLE = (
    "The user explored another branch of this conversation before returning here. It is summed up below.\n\n"
)
NO_CONTENT = "The branch that was left holds nothing to summarise."

Ask = Callable[[SummaryRequest], Json]
"""Answers one request with a finished assistant message; may raise what its provider raises."""


class SummaryFailed(SessionError):  # noqa: N818
    """No summary was made.

    `kind` is `error`, `length`, `tool_call` or `blank`; `provider_message` is the text of an `error`.
    """

    def __init__(self, kind: str, stage: Stage, provider_message: str | None = None) -> None:
        self.kind, self.stage, self.provider_message = kind, stage, provider_message
        reasons = {
            "error": f"the provider failed: {provider_message or 'it gave no reason'}",
            "length": "the summary was cut off by the output limit",
            "tool_call": "the model called a tool instead of writing a summary",
            "blank": "the model wrote nothing that could stand for the conversation",
        }
        super().__init__(f"No summary of the {stage} was made: {reasons[kind]}.")


class SummaryCancelled(SessionError):  # noqa: N818
    """The summary was cancelled."""


class Stop(Protocol):
    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Summary:
    """What is stored: the text with its file lists, the usage of all requests, the lists as details.

    `usage` is None if nothing had to be asked; `has_content` is False for a branch that held nothing.
    """

    text: str
    usage: Json | None
    details: Json
    has_content: bool = True


@dataclass(frozen=True, slots=True)
class Rules:
    """How strict to be, and how much a request may hold.

    `lenient` accepts, as the reference does, blank answers and ones cut off by an abort nobody asked for.
    `conversation_units` is the most UTF-16 units of conversation in one request, None for no limit.
    """

    lenient: bool = False
    conversation_units: int | None = None
    stop: Stop | None = None


def summarise_compaction(
    plan: CompactionPlan, ask: Ask, *, custom_instructions: str | None = None, rules: Rules = Rules()
) -> Summary:
    """The summary of a planned compaction (02 §5). Raises SummaryFailed and SummaryCancelled.

    A split span takes two requests, one after the other; without earlier messages the previous summary
    stands for the history as it is.
    """
    usage: Json | None = None
    text, history_usage = _history(plan, ask, custom_instructions, rules)
    usage = add_usage(usage, history_usage)
    if plan.splits_span:
        conversation = serialise(item.message for item in plan.span_prefix)
        request = prefix_request(trim(conversation, rules.conversation_units), custom_instructions)
        answer = _asked(request, ask, rules)
        text += SPLIT_HEADING + _text(answer)
        usage = add_usage(usage, answer.get("usage"))
    lists = plan.file_operations.lists()
    return Summary(text + lists.block, usage, lists.details)


def _history(
    plan: CompactionPlan, ask: Ask, custom_instructions: str | None, rules: Rules
) -> tuple[str, Json | None]:
    summary, usage = plan.previous_summary, None
    if plan.splits_span and not plan.history:
        return (summary if summary is not None else NO_HISTORY), None
    for conversation in fold([item.message for item in plan.history], rules.conversation_units):
        answer = _asked(history_request(conversation, summary, custom_instructions), ask, rules)
        summary, usage = _text(answer), add_usage(usage, answer.get("usage"))
    return summary or "", usage


def summarise_branch(
    plan: BranchSummaryPlan,
    ask: Ask,
    *,
    custom_instructions: str | None = None,
    replace_instructions: bool = False,
    rules: Rules = Rules(),
) -> Summary:
    """The summary of a branch that is left (03). Raises SummaryFailed and SummaryCancelled."""
    if not plan.items:
        return Summary(NO_CONTENT, None, {"readFiles": [], "modifiedFiles": []}, has_content=False)
    conversation = trim(serialise(item.message for item in plan.items), rules.conversation_units)
    request = branch_request(conversation, custom_instructions, replace_instructions=replace_instructions)
    answer = _asked(request, ask, rules)
    lists = plan.file_operations.lists()
    return Summary(BRANCH_PREAMBLE + _text(answer) + lists.block, answer.get("usage"), lists.details)


def _asked(request: SummaryRequest, ask: Ask, rules: Rules) -> Json:
    """An answer that can be stored; a blank one is asked for once more."""
    answer = _checked(request, ask, rules)
    if rules.lenient or not is_blank(_text(answer)):
        return answer
    again = _checked(request, ask, rules)
    if is_blank(_text(again)):
        raise SummaryFailed("blank", request.stage)
    return {**again, "usage": add_usage(answer.get("usage"), again.get("usage"))}


def _checked(request: SummaryRequest, ask: Ask, rules: Rules) -> Json:
    _refuse_if_stopped(rules)
    answer = ask(request)
    _refuse_if_stopped(rules)
    match answer.get("stopReason"):
        case "error":
            raise SummaryFailed("error", request.stage, answer.get("errorMessage") or None)
        case "length":
            raise SummaryFailed("length", request.stage)
        case "aborted" if not rules.lenient or request.stage == "branch":
            raise SummaryCancelled
    if tool_calls_of({**answer, "role": "assistant"}):
        raise SummaryFailed("tool_call", request.stage)
    return answer


def _refuse_if_stopped(rules: Rules) -> None:
    if rules.stop is not None and rules.stop.is_set():
        raise SummaryCancelled


def _text(answer: Json) -> str:
    return text_of(answer.get("content"), separator="\n")


_HEADING = re.compile(r"^\s*(?:#{1,6}\s.*|[-*_]{3,}\s*)$", re.MULTILINE)
_EMPTY_ITEM = re.compile(r"\(\s*none\s*\)|\[[ xX]?\]|^\s*(?:[-*+]|\d+[.)])\s*", re.IGNORECASE | re.MULTILINE)


def is_blank(text: str) -> bool:
    """Whether a summary says nothing: no text, or only headings over "(none)"."""
    rest = _EMPTY_ITEM.sub(" ", _HEADING.sub(" ", text))
    return not any(character.isalnum() for character in rest)


def add_usage(one: Any, other: Any) -> Json | None:
    """The sum of two usages (02 SG-11); optional fields are kept if either has them, None counts nothing."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one if isinstance(one, dict) else other if isinstance(other, dict) else None
    total: Json = {
        name: _sum(one, other, name) for name in ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
    }
    for name in ("cacheWrite1h", "reasoning"):
        if name in one or name in other:
            total[name] = _sum(one, other, name)
    costs = [usage["cost"] if isinstance(usage.get("cost"), dict) else {} for usage in (one, other)]
    total["cost"] = {
        name: _sum(costs[0], costs[1], name)
        for name in ("input", "output", "cacheRead", "cacheWrite", "total")
    }
    total["cost"]["totalFromProvider"] = all(cost.get("totalFromProvider") is True for cost in costs)
    return total


def _sum(one: Json, other: Json, name: str) -> float:
    return (number_of(one.get(name)) or 0) + (number_of(other.get(name)) or 0)
