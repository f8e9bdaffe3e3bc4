"""What a failed request means, from status, type and words that often contradict each other."""

from __future__ import annotations

import email.utils
import time

import pytest

from sessions_app.agent.providers.faults import failure, kind_of, retry_after_of


@pytest.mark.parametrize(
    ("status", "error_type", "text", "kind"),
    [
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "overflow"),
        (400, "", "This model's maximum context length is 8192 tokens", "overflow"),
        (400, "", "the request exceeds the available context size, try increasing it", "overflow"),
        (413, "request_too_large", "Request exceeds the maximum size", "overflow"),
        (429, "rate_limit_error", "Too many tokens, please wait before trying again.", "rate_limit"),
        (429, "", "Too many requests", "rate_limit"),
        (400, "", "ThrottlingException: Too many tokens, please wait", "rate_limit"),
        (
            None,
            "rate_limit_error",
            "Number of request tokens has exceeded your per-minute rate limit",
            "rate_limit",
        ),
        (529, "overloaded_error", "Overloaded", "overloaded"),
        (None, "overloaded_error", "Overloaded", "overloaded"),
        (503, "", "upstream unavailable", "overloaded"),
        (500, "api_error", "Internal server error", "server"),
        (502, "", "<html>Bad gateway</html>", "server"),
        (504, "timeout_error", "took too long", "timeout"),
        (401, "authentication_error", "invalid x-api-key", "auth"),
        (403, "permission_error", "not allowed", "auth"),
        (402, "billing_error", "pay", "quota"),
        (400, "invalid_request_error", "Your credit balance is too low", "quota"),
        (400, "invalid_request_error", "You have reached your specified workspace spend limit", "quota"),
        (429, "insufficient_quota", "You exceeded your current quota", "quota"),
        (429, "rate_limit_error", "usage limit reached for your plan", "quota"),
        (404, "not_found_error", "model: claude-nothing", "unknown_model"),
        (404, "", "page not found", "bad_request"),
        (
            400,
            "invalid_request_error",
            "messages.3: tool_use ids were found without tool_result",
            "bad_request",
        ),
        (422, "", "stream_options: extra fields not permitted", "bad_request"),
    ],
)
def test_kinds(status: int | None, error_type: str, text: str, kind: str):
    assert kind_of(status=status, error_type=error_type, text=text) == kind


def test_passing_faults_may_be_tried_again_and_final_ones_not():
    assert failure("Overloaded", status=529).retryable
    assert failure("boom", status=500).retryable
    assert not failure("prompt is too long", status=400).retryable
    assert not failure("invalid key", status=401).retryable


def test_the_time_to_wait():
    assert retry_after_of({"retry-after": "12"}) == 12
    assert retry_after_of({"retry-after-ms": "1500", "retry-after": "12"}) == 1.5
    assert retry_after_of({"retry-after": "soon"}) is None
    assert retry_after_of({}) is None
    later = retry_after_of({"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert later is not None
    assert 20 < later <= 30
