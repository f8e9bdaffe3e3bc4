"""Compaction settings: defaults, overrides per model, and the refusal of values that are no token counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.core.errors import MalformedPayload
from sessions_app.core.json_text import string_of
from sessions_app.core.messages import Json, number_of

DEFAULT_RESERVE_TOKENS = 16384
DEFAULT_KEEP_RECENT_TOKENS = 20000
LARGEST_TOKEN_COUNT = 2**53 - 1


class BadSetting(MalformedPayload):
    """A setting that was asked for has a value it cannot have.

    `where` is `ordinary`, `override` or `override-entry`; `field` the setting's name, `key` the
    `provider/model` of an override, `shown` the offending value as text.
    """

    def __init__(self, where: str, *, shown: str, field: str | None = None, key: str | None = None) -> None:
        self.where, self.shown, self.field, self.key = where, shown, field, key
        if where == "override-entry":
            message = f"compaction.modelOverrides[{key!r}] must be an object, not {shown}"
        else:
            place = f"modelOverrides[{key!r}]." if where == "override" else ""
            message = f"compaction.{place}{field} must be a whole number from 0 to 2^53-1, not {shown}"
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """`reserve_tokens` is the room that triggers, `keep_recent_tokens` the recent past that stays verbatim."""

    enabled: Any = True
    reserve_tokens: int = DEFAULT_RESERVE_TOKENS
    keep_recent_tokens: int = DEFAULT_KEEP_RECENT_TOKENS


@dataclass(frozen=True, slots=True)
class BranchSummarySettings:
    reserve_tokens: Any = DEFAULT_RESERVE_TOKENS
    skip_prompt: Any = False


def resolve(settings: Mapping[str, Any], model_key: str | None = None) -> CompactionSettings:
    """All three for the model `provider/modelId`, each by itself (02 §10). Raises BadSetting.

    `settings` is the whole merged settings object.
    """
    return CompactionSettings(
        enabled=resolve_enabled(settings),
        reserve_tokens=resolve_tokens(settings, "reserveTokens", DEFAULT_RESERVE_TOKENS, model_key),
        keep_recent_tokens=resolve_tokens(
            settings, "keepRecentTokens", DEFAULT_KEEP_RECENT_TOKENS, model_key
        ),
    )


def resolve_enabled(settings: Mapping[str, Any]) -> Any:
    """`compaction.enabled` as it stands; null or absent is true. It does not depend on the model."""
    enabled = _object(settings.get("compaction")).get("enabled")
    return True if enabled is None else enabled


def resolve_tokens(settings: Mapping[str, Any], field: str, default: int, model_key: str | None) -> int:
    """Override → ordinary → default; an ordinary value is checked even where an override wins.

    Raises BadSetting for an ordinary value, a matching override's value or a matching override that is
    malformed; other overrides are not looked at. Absent falls back, null does not.
    """
    compaction = _object(settings.get("compaction"))
    value = default
    if field in compaction:
        value = _token_count(compaction[field], "ordinary", field=field)
    overrides = _object(compaction.get("modelOverrides"))
    if model_key is None or model_key not in overrides:
        return value
    entry = overrides[model_key]
    if not isinstance(entry, dict):
        raise BadSetting("override-entry", key=model_key, shown=string_of(entry))
    if field in entry:
        value = _token_count(entry[field], "override", field=field, key=model_key)
    return value


def resolve_branch_summary(settings: Mapping[str, Any]) -> BranchSummarySettings:
    """The branch summary's own settings; no model changes them (03)."""
    values = _object(settings.get("branchSummary"))
    reserve, skip = values.get("reserveTokens"), values.get("skipPrompt")
    return BranchSummarySettings(
        reserve_tokens=DEFAULT_RESERVE_TOKENS if reserve is None else reserve,
        skip_prompt=False if skip is None else skip,
    )


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _token_count(value: Any, where: str, *, field: str, key: str | None = None) -> int:
    number = number_of(value)
    # Written numbers are doubles: 9007199254740991.2 is the largest count itself, 2e4 a whole number.
    if number is None or number != number // 1 or not 0 <= number <= LARGEST_TOKEN_COUNT:
        raise BadSetting(where, shown=string_of(value), field=field, key=key)
    return int(number)
