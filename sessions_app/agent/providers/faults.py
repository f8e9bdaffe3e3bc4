"""Tells what a failed request means from its status, its type and its words (spec 04 §7)."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping

from sessions_app.agent.providers.base import ProviderError
from sessions_app.core.failures import is_overflow, is_spent

RETRYABLE = frozenset({"rate_limit", "overloaded", "network", "timeout", "server", "protocol"})

_THROTTLE = re.compile(
    r"rate.?limit|too many requests|throttl|tokens? per (?:minute|day)|please wait|slow down|resource.?exhausted",
    re.I,
)
_OVERLOADED = re.compile(
    r"overloaded|at capacity|currently busy|server is busy|temporarily unavailable", re.I
)
_SPEND_LIMIT = re.compile(r"spend(?:ing)? limit|payment required", re.I)
_UNKNOWN_MODEL = re.compile(r"model", re.I)

_KIND_OF_TYPE = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
    "billing_error": "quota",
    "insufficient_quota": "quota",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "timeout_error": "timeout",
    "api_error": "server",
    "server_error": "server",
    "context_length_exceeded": "overflow",
    "request_too_large": "overflow",
    "model_not_found": "unknown_model",
    "not_found_error": "unknown_model",
}
_KIND_OF_STATUS = {401: "auth", 402: "quota", 403: "auth", 408: "timeout", 413: "overflow", 429: "rate_limit",
                   503: "overloaded", 504: "timeout", 524: "timeout", 529: "overloaded"}  # fmt: skip


def kind_of(*, status: int | None, error_type: str, text: str) -> str:
    """The `kind` of a ProviderError. Status and type count before words, except where both mislead.

    A throttled request may speak of too many tokens, and a used-up quota may come as a rate limit.
    """
    throttled = status == 429 or error_type == "rate_limit_error"
    if (is_spent(text) or _SPEND_LIMIT.search(text)) and (throttled or status in (None, 200, 400, 402, 403)):
        return "quota"
    known = _KIND_OF_TYPE.get(error_type)
    if throttled or (_THROTTLE.search(text) and known in (None, "rate_limit")):
        return "quota" if known == "quota" else "rate_limit"
    if known == "unknown_model" and not _UNKNOWN_MODEL.search(text):
        return "bad_request"
    if known is not None:
        return known
    if status in _KIND_OF_STATUS:
        return _KIND_OF_STATUS[status]
    if is_overflow(text):
        return "overflow"
    if _OVERLOADED.search(text):
        return "overloaded"
    if status == 404 and _UNKNOWN_MODEL.search(text):
        return "unknown_model"
    if status is not None and status >= 500:
        return "server"
    return "bad_request" if status is not None and status >= 400 else "server"


def failure(
    text: str,
    *,
    status: int | None = None,
    error_type: str = "",
    headers: Mapping[str, str] | None = None,
    secret: str = "",
) -> ProviderError:
    """The ProviderError for what a service answered. `secret` is blotted out of the text: some repeat the key."""
    if secret:
        text = text.replace(secret, "…")
    kind = kind_of(status=status, error_type=error_type, text=text)
    return ProviderError(
        text, kind=kind, retryable=kind in RETRYABLE, status=status, retry_after=retry_after_of(headers or {})
    )


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds the service asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text is not None else None
    except ValueError:
        return None
