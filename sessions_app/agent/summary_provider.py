"""Puts summary requests to a provider: sized to the window, without cache writes, tried again when it passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sessions_app.agent.models_catalogue import ModelInfo, output_limit
from sessions_app.agent.providers.base import Provider, ProviderError, ProviderRequest
from sessions_app.agent.request_size import request_tokens
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.summarizer import Ask, SummaryCancelled, SummaryFailed
from sessions_app.agent.summary_prompts import SummaryRequest
from sessions_app.core.failures import is_transient
from sessions_app.core.messages import Json, user_message

_UNITS_PER_TOKEN = 3.5
_PROMPT_TOKENS = 1500
_ANSWER_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`max_retries` more attempts after a passing fault, waiting `base · 2ⁿ` up to `max` milliseconds (04 RT-04)."""

    enabled: bool = True
    max_retries: int = 3
    base_delay_ms: int = 2000
    max_delay_ms: int = 60_000

    def delay_ms(self, retry: int) -> int:
        """The wait before retry number `retry`, counted from 1."""
        delay: int = self.base_delay_ms * 2 ** (retry - 1)
        return min(delay, self.max_delay_ms)


NO_RETRY = RetryPolicy(enabled=False)

OnRetry = Callable[[str, Json], None]
"""Hears `summarization_retry_scheduled`, `_attempt_start` and `_finished` with their fields (02 SG-10)."""


def provider_ask(
    provider: Provider,
    model: ModelInfo,
    stop: StopSignal,
    *,
    thinking_level: str,
    session_id: str,
    clock: Callable[[], int],
) -> Ask:
    """Requests to one provider and model, fixed at the start of the summary (02 SG-07…09).

    `session_id` is the routing id, fresh for each summary unless the caller has its own.
    """
    level = thinking_level if model.reasoning else "off"

    def ask(request: SummaryRequest) -> Json:
        messages = [user_message(request.prompt, timestamp=clock())]
        sent = ProviderRequest(
            model=model.id,
            system=request.system,
            messages=messages,
            thinking_level=level,
            max_tokens=output_limit(
                model, request_tokens(system=request.system, messages=messages, tools=())
            ),
            session_id=session_id,
            options={"cacheRetention": "none"},
        )
        for event in provider.stream(sent, stop):
            if event.kind == "done" and event.message is not None:
                return event.message
        raise ProviderError("the answer ended before it was complete", kind="protocol", retryable=True)

    return ask


def conversation_units(model: ModelInfo, previous_summary: str | None = None) -> int:
    """How many UTF-16 units of conversation fit one request beside instructions, old summary and answer."""
    tokens = model.context_window - _PROMPT_TOKENS - min(model.max_tokens, _ANSWER_TOKENS)
    return int(tokens / 1.15 * _UNITS_PER_TOKEN) - len(previous_summary or "")


def with_retries(ask: Ask, policy: RetryPolicy, stop: StopSignal, on_retry: OnRetry) -> Ask:
    """The same requests, each tried again after a passing fault. Raises SummaryFailed for the last fault."""

    def persistent(request: SummaryRequest) -> Json:
        retry = 0
        while True:
            answer, fault, passing = _attempt(ask, request)
            if fault is None or not passing or not policy.enabled or retry >= policy.max_retries:
                if retry:
                    on_retry("summarization_retry_finished", {"attempt": retry, "success": fault is None})
                if answer is None:
                    raise SummaryFailed("error", request.stage, fault)
                return answer
            retry += 1
            delay = policy.delay_ms(retry)
            fields = {
                "attempt": retry,
                "maxAttempts": policy.max_retries,
                "delayMs": delay,
                "errorMessage": fault,
            }
            on_retry("summarization_retry_scheduled", fields)
            if stop.wait(delay / 1000):
                raise SummaryCancelled
            on_retry("summarization_retry_attempt_start", {"attempt": retry})

    return persistent


def _attempt(ask: Ask, request: SummaryRequest) -> tuple[Json | None, str | None, bool]:
    """The answer if there is one, what went wrong if something did, and whether that may pass."""
    try:
        answer = ask(request)
    except ProviderError as error:
        return None, str(error), error.retryable
    if answer.get("stopReason") != "error":
        return answer, None, False
    fault = str(answer.get("errorMessage") or "")
    return answer, fault, is_transient(fault)
