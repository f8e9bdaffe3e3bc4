"""Summary requests put to a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sessions_app.agent.models_catalogue import ModelInfo
from sessions_app.agent.providers.base import ProviderError, ProviderEvent, ProviderRequest
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.summarizer import SummaryCancelled, SummaryFailed
from sessions_app.agent.summary_prompts import SummaryRequest
from sessions_app.agent.summary_provider import (
    NO_RETRY,
    RetryPolicy,
    conversation_units,
    provider_ask,
    with_retries,
)
from sessions_app.core.messages import Json
from tests.builders import answer

REQUEST = SummaryRequest("history", "be brief", "the conversation")
QUICK = RetryPolicy(max_retries=2, base_delay_ms=1, max_delay_ms=1)
PLAIN = ModelInfo("acme", "m-one", "One", context_window=200_000, max_tokens=8192)
REASONING = ModelInfo(
    "acme",
    "m-two",
    "Two",
    context_window=20_000,
    max_tokens=64_000,
    thinking="budget",
    levels=("low", "high"),
)


class Recorder:
    """A provider that answers at once and keeps what it was sent."""

    name = "recorder"

    def __init__(self, *, finish: bool = True) -> None:
        self.finish = finish
        self.sent: list[ProviderRequest] = []

    def stream(self, request: ProviderRequest, stop: StopSignal) -> Iterator[ProviderEvent]:
        self.sent.append(request)
        yield ProviderEvent("text_delta", delta="a")
        if self.finish:
            yield ProviderEvent("done", message=answer("summary"))


def asking(provider: Recorder, model: ModelInfo, level: str = "high") -> Callable[[SummaryRequest], Json]:
    return provider_ask(
        provider, model, StopSignal(), thinking_level=level, session_id="fresh", clock=lambda: 5
    )


def test_a_request_has_no_tools_no_cache_writes_and_its_own_routing_id() -> None:
    """02 SG-06…08; 04 §9.2."""
    provider = Recorder()
    assert asking(provider, PLAIN)(REQUEST) == answer("summary")
    (sent,) = provider.sent
    assert sent.messages == [{"role": "user", "content": "the conversation", "timestamp": 5}]
    assert (sent.model, sent.system, sent.tools, sent.session_id) == ("m-one", "be brief", (), "fresh")
    assert sent.options == {"cacheRetention": "none"}
    assert sent.max_tokens == 8192


def test_only_a_reasoning_model_is_given_the_sessions_level() -> None:
    """02 SG-09."""
    provider = Recorder()
    asking(provider, PLAIN)(REQUEST)
    asking(provider, REASONING)(REQUEST)
    assert [sent.thinking_level for sent in provider.sent] == ["off", "high"]


def test_the_output_limit_fits_the_window() -> None:
    """02 SG-07."""
    provider = Recorder()
    asking(provider, REASONING)(SummaryRequest("history", "", "x" * 35_000))
    assert 0 < provider.sent[0].max_tokens < 10_000


def test_an_answer_that_never_ends_is_a_passing_fault() -> None:
    with pytest.raises(ProviderError) as fault:
        asking(Recorder(finish=False), PLAIN)(REQUEST)
    assert fault.value.retryable


def test_the_room_for_a_conversation_leaves_space_for_the_rest() -> None:
    """BUGS B05."""
    assert conversation_units(PLAIN) < 200_000 * 3.5
    assert conversation_units(PLAIN, "x" * 1000) == conversation_units(PLAIN) - 1000


def scripted(*answers: Json | ProviderError) -> tuple[Callable[[SummaryRequest], Json], list[int]]:
    left, asked = list(answers), [0]

    def ask(request: SummaryRequest) -> Json:
        asked[0] += 1
        given = left.pop(0)
        if isinstance(given, ProviderError):
            raise given
        return given

    return ask, asked


def failed(text: str) -> Json:
    return answer("", stopReason="error", errorMessage=text)


def test_a_passing_fault_is_tried_again_and_told() -> None:
    """02 SG-10."""
    told: list[tuple[str, Json]] = []
    ask, asked = scripted(failed("503"), ProviderError("cut", kind="network", retryable=True), answer("ok"))
    tried = with_retries(ask, QUICK, StopSignal(), lambda kind, fields: told.append((kind, fields)))
    assert tried(REQUEST)["content"][0]["text"] == "ok"
    assert asked == [3]
    assert [kind.removeprefix("summarization_retry_") for kind, _ in told] == [
        "scheduled",
        "attempt_start",
        "scheduled",
        "attempt_start",
        "finished",
    ]
    assert told[0][1] == {"attempt": 1, "maxAttempts": 2, "delayMs": 1, "errorMessage": "503"}
    assert told[-1][1] == {"attempt": 2, "success": True}


def test_retries_are_bounded() -> None:
    """FINDINGS 40."""
    ask, asked = scripted(*[failed("503")] * 5)
    assert with_retries(ask, QUICK, StopSignal(), lambda kind, fields: None)(REQUEST)["errorMessage"] == "503"
    assert asked == [3]


@pytest.mark.parametrize("policy", [QUICK, NO_RETRY])
def test_other_faults_are_not_tried_again(policy: RetryPolicy) -> None:
    text = "bad key" if policy is QUICK else "503"
    ask, asked = scripted(failed(text), answer("never"))
    assert with_retries(ask, policy, StopSignal(), lambda kind, fields: None)(REQUEST)["errorMessage"] == text
    assert asked == [1]


def test_a_providers_final_fault_is_a_failed_summary() -> None:
    ask, _ = scripted(ProviderError("no such model", kind="unknown_model"))
    with pytest.raises(SummaryFailed) as failure:
        with_retries(ask, QUICK, StopSignal(), lambda kind, fields: None)(REQUEST)
    assert (failure.value.kind, failure.value.provider_message) == ("error", "no such model")


def test_a_stop_ends_the_wait() -> None:
    stop = StopSignal()
    stop.request()
    ask, _ = scripted(failed("503"), answer("never"))
    with pytest.raises(SummaryCancelled):
        with_retries(ask, RetryPolicy(base_delay_ms=60_000), stop, lambda kind, fields: None)(REQUEST)


def test_waits_double_up_to_a_limit() -> None:
    """04 RT-04."""
    assert [RetryPolicy().delay_ms(retry) for retry in (1, 2, 3, 9)] == [2000, 4000, 8000, 60_000]
