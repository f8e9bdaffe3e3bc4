"""What this product answers to a settings case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessions_app.core.compaction_settings import (
    DEFAULT_KEEP_RECENT_TOKENS,
    DEFAULT_RESERVE_TOKENS,
    BadSetting,
    resolve,
    resolve_branch_summary,
    resolve_enabled,
    resolve_tokens,
)
from sessions_app.core.errors import MalformedPayload
from sessions_app.core.settings_files import merge_settings, read_settings

Json = dict[str, Any]


def answer_settings(case: Json) -> Json:
    options = case["options"]
    errors: list[str] = []
    user = read_layer("global", options.get("globalText"), errors)
    project = {}
    if options.get("projectTrusted", True):
        project = read_layer("project", options.get("projectText"), errors)
    settings = merge_settings(user, project)
    model = options.get("model")
    key = None if model is None else f"{model['provider']}/{model['id']}"
    return {
        "loadErrors": errors,
        "resolved": outcome(lambda: resolved(settings, key)),
        "enabled": outcome(lambda: resolve_enabled(settings)),
        "reserveTokens": outcome(
            lambda: resolve_tokens(settings, "reserveTokens", DEFAULT_RESERVE_TOKENS, key)
        ),
        "keepRecentTokens": outcome(
            lambda: resolve_tokens(settings, "keepRecentTokens", DEFAULT_KEEP_RECENT_TOKENS, key)
        ),
        "branchSummary": outcome(lambda: branch_summary(settings)),
    }


def read_layer(scope: str, text: str | None, errors: list[str]) -> Json:
    try:
        return {} if text is None else read_settings(text)
    except MalformedPayload:
        errors.append(scope)
        return {}


def resolved(settings: Json, key: str | None) -> Json:
    found = resolve(settings, key)
    return {
        "enabled": found.enabled,
        "reserveTokens": found.reserve_tokens,
        "keepRecentTokens": found.keep_recent_tokens,
    }


def branch_summary(settings: Json) -> Json:
    found = resolve_branch_summary(settings)
    return {"reserveTokens": found.reserve_tokens, "skipPrompt": found.skip_prompt}


def outcome(getter: Callable[[], Any]) -> Json:
    try:
        return {"value": getter()}
    except BadSetting as error:
        fields = {"where": error.where, "field": error.field, "key": error.key, "shown": error.shown}
        return {"error": {name: value for name, value in fields.items() if value is not None}}
