"""Provider errors told apart by their text."""

from __future__ import annotations

import pytest

from sessions_app.core.failures import is_known_overflow, is_overflow, is_spent, is_transient

OVERFLOW = [
    "prompt is too long: 213462 tokens > 200000 maximum",
    "Prompt exceeds max length",
    "Prompt has 5,000 tokens, but the configured context size is 4,096 tokens",
    "Range of input length should be [1, 30720]",
    "413 Request Entity Too Large",
    '{"type":"request_too_large","message":"Request exceeds the maximum size"}',
    "Your input exceeds the context window of this model",
    "This model's maximum context length is 8192 tokens",
    "Please reduce the length of the messages",
    "Token limit exceeded",
    "too many tokens in the prompt",
    "input is too long for requested model",
    "context_length_exceeded",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "the request exceeds the available context size",
    "tokens to keep from the initial prompt is greater than the context length",
    "Context window is exceeded",
]
TRANSIENT = [
    "Overloaded",
    "the server is busy",
    "model is at capacity",
    "Rate limit reached",
    "429 Too Many Requests",
    "HTTP 500",
    "502 Bad Gateway",
    "503 service unavailable",
    "error 524",
    "Internal server error",
    "Provider returned error",
    "Network error",
    "Connection reset by peer",
    "read ECONNRESET",
    "EAI_AGAIN",
    "Request timed out",
    "terminated",
    "stream ended early",
    "WebSocket closed 1006",
    "please retry your request",
    "ResourceExhausted",
    "other side closed",
    "upstream connect error or disconnect",
]
SPENT = [
    "You exceeded your current quota, please retry after payment",
    "insufficient_quota (429)",
    "Billing hard limit has been reached, 429",
    "You are out of budget (503)",
    "usage limit reached, rate limit",
    "You have hit your usage limit, try again later",
]


@pytest.mark.parametrize("text", OVERFLOW)
def test_too_much_context_is_an_overflow_and_never_retried(text: str) -> None:
    """04 §7 overflow patterns; 04 §7.7."""
    assert is_overflow(text)
    assert not is_transient(text)


@pytest.mark.parametrize(
    "text",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "This model's maximum context length is 8192 tokens",
        "exceeds the model's maximum context length of 8,192 tokens",
        "The input token count (5) exceeds the maximum number of tokens allowed (4)",
        "acme API error (413): no body",
        "413 Request Entity Too Large",
        "context_length_exceeded",
    ],
)
def test_the_words_that_the_reference_knows_are_an_overflow_in_the_core_too(text: str) -> None:
    """04 §7; 02 CT-05."""
    assert is_known_overflow(text)
    assert not is_known_overflow(f"{text} (rate limit)")


@pytest.mark.parametrize("text", ["maximum context length", "HTTP 413", "the conversation is too long"])
def test_other_wordings_are_an_overflow_to_the_runner_only(text: str) -> None:
    """04 §7: a provider nobody knew can be recovered from as well."""
    assert not is_known_overflow(text)
    assert is_overflow(text)


def test_a_refusal_without_a_word_is_an_overflow_of_the_one_provider_that_tells_it_so() -> None:
    """04 §7."""
    assert is_known_overflow("400 status code (no body)", "cerebras")
    assert not is_known_overflow("400 status code (no body)", "acme")


@pytest.mark.parametrize("text", TRANSIENT)
def test_passing_faults_are_transient(text: str) -> None:
    """04 RT-02."""
    assert is_transient(text)
    assert not is_overflow(text)


@pytest.mark.parametrize("text", SPENT)
def test_an_empty_purse_is_never_retried(text: str) -> None:
    """04 RT-03."""
    assert is_spent(text)
    assert not is_transient(text)


@pytest.mark.parametrize(
    "text",
    [
        "Too many tokens per minute, please wait",
        "429: too many tokens",
        "ThrottlingException: too many tokens",
    ],
)
def test_throttling_that_speaks_of_tokens_is_no_overflow(text: str) -> None:
    """BUGS B10; 04 §7.7."""
    assert not is_overflow(text)


@pytest.mark.parametrize("text", ["invalid api key", "model 5003 not found", "image 14130 is broken", ""])
def test_other_faults_are_neither(text: str) -> None:
    """04 RT-02: numbers stand alone."""
    assert not is_overflow(text)
    assert not is_transient(text)
