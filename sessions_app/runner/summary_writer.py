"""Gets summaries written for a run: requests that fit, tried again when a fault passes, by rule when nothing else helps."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.conf import settings

from sessions_app.agent.extractive_summary import extract
from sessions_app.agent.models_catalogue import ModelInfo, cost_of
from sessions_app.agent.providers.base import Provider, ProviderError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.summarizer import (
    Ask,
    Rules,
    Summary,
    SummaryFailed,
    add_usage,
    summarise_branch,
    summarise_compaction,
)
from sessions_app.agent.summary_prompts import SummaryRequest
from sessions_app.agent.summary_provider import (
    RetryPolicy,
    conversation_units,
    provider_ask,
    with_retries,
)
from sessions_app.core.branch_summary import BranchSummaryPlan
from sessions_app.core.compaction import CompactionPlan
from sessions_app.core.errors import SessionError
from sessions_app.core.failures import is_overflow
from sessions_app.core.messages import Json
from sessions_app.core.tokens import utf16_length
from sessions_app.core.transcript import serialise

_SMALLER_TRIES = 3
_SHRINK = 2
# Characters of a summary by rule: an eighth of the window, between these.
_EXTRACT_UNITS = (6_000, 40_000)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as it was put, and what came back: a finished message, or what went wrong."""

    request: SummaryRequest
    answer: Json | None
    error: str
    duration_ms: int


class _RequestRefused(SessionError):  # noqa: N818 - it reads as a sentence where it is raised
    """The provider says that the request is larger than its window."""


def retry_policy() -> RetryPolicy:
    return RetryPolicy(
        enabled=settings.RETRY_ENABLED,
        max_retries=settings.RETRY_MAX,
        base_delay_ms=settings.RETRY_BASE_MS,
        max_delay_ms=settings.RETRY_LONGEST_MS,
    )


class SummaryWriter:
    """One summary's requests, with the provider, model and level there were when it began (02 SG-09).

    `usage` is what all requests so far have used, those of failed attempts included; None before the first.
    `exchanges` are all of them with their exact text, in order; `retries` counts those that were put again.
    """

    def __init__(
        self,
        provider: Provider,
        model: ModelInfo,
        *,
        thinking_level: str,
        stop: StopSignal,
        announce: Callable[[Json], None],
        source: str,
        reason: str | None = None,
    ) -> None:
        self._model = model
        self._stop = stop
        self._announce = announce
        self._told = {"source": source} | ({"reason": reason} if reason else {})
        self.usage: Json | None = None
        self.exchanges: list[Exchange] = []
        self.retries = 0
        asked = provider_ask(
            provider,
            model,
            stop,
            thinking_level=thinking_level,
            session_id=secrets.token_hex(16),
            clock=lambda: time.time_ns() // 1_000_000,
        )
        self._ask: Ask = with_retries(
            self._counted(self._recorded(asked)), retry_policy(), stop, self._on_retry
        )

    def compaction(self, plan: CompactionPlan, instructions: str, *, by_rule: bool) -> Summary:
        """The summary of a plan; what does not fit is folded, and halved again while the provider refuses it.

        `by_rule` allows a summary that no model wrote when even that is refused. Raises SummaryFailed and
        SummaryCancelled.
        """
        conversation = [item.message for item in (*plan.history, *plan.span_prefix)]
        refused = ""
        for units in self._sizes(utf16_length(serialise(conversation)), plan.previous_summary, instructions):
            try:
                rules = Rules(conversation_units=units, stop=self._stop)
                return summarise_compaction(
                    plan, self._ask, custom_instructions=instructions or None, rules=rules
                )
            except _RequestRefused as refusal:
                refused = str(refusal)
        if not by_rule:
            raise SummaryFailed("error", "history", refused)
        low, high = _EXTRACT_UNITS
        room = min(max(self._model.context_window // 2, low), high)
        text = extract(conversation, previous_summary=plan.previous_summary, units=room)
        lists = plan.file_operations.lists()
        return Summary(text + lists.block, self.usage, lists.details)

    def branch(self, plan: BranchSummaryPlan, instructions: str, *, replace: bool) -> Summary:
        """The summary of a branch that is left. Raises SummaryFailed and SummaryCancelled."""
        refused = ""
        length = utf16_length(serialise(item.message for item in plan.items))
        for units in self._sizes(length, None, instructions):
            try:
                return summarise_branch(
                    plan,
                    self._ask,
                    custom_instructions=instructions or None,
                    replace_instructions=replace,
                    rules=Rules(conversation_units=units, stop=self._stop),
                )
            except _RequestRefused as refusal:
                refused = str(refusal)
        raise SummaryFailed("error", "branch", refused)

    def _sizes(self, length: int, previous_summary: str | None, instructions: str) -> Iterator[int]:
        """How much conversation to put into one request, less with every refusal."""
        units = conversation_units(self._model, previous_summary) - utf16_length(instructions)
        for _ in range(1 + _SMALLER_TRIES):
            yield units
            units = min(units, length) // _SHRINK

    def _recorded(self, ask: Ask) -> Ask:
        def recorded(request: SummaryRequest) -> Json:
            began = time.monotonic()
            answer: Json | None = None
            error = "cancelled"
            try:
                answer = ask(request)
                error = str(answer.get("errorMessage") or "")
            except ProviderError as failure:
                error = str(failure)
                raise
            finally:
                took = int((time.monotonic() - began) * 1000)
                self.exchanges.append(Exchange(request, answer, error, took))
            return answer

        return recorded

    def _counted(self, ask: Ask) -> Ask:
        def counted(request: SummaryRequest) -> Json:
            try:
                answer = ask(request)
            except ProviderError as error:
                if error.kind == "overflow" or is_overflow(str(error)):
                    raise _RequestRefused(str(error)) from error
                raise
            if answer.get("stopReason") == "error" and is_overflow(str(answer.get("errorMessage") or "")):
                raise _RequestRefused(str(answer["errorMessage"]))
            usage = answer.get("usage")
            if isinstance(usage, dict):
                usage = {**usage, "cost": cost_of(usage, self._model)}
                self.usage = add_usage(self.usage, usage)
            return {**answer, "usage": usage}

        return counted

    def _on_retry(self, kind: str, fields: Json) -> None:
        self.retries += kind == "summarization_retry_attempt_start"
        self._announce({"type": kind, **fields, **self._told})
