"""The compaction settings from the environment: by model, and refused at start where a value cannot be."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from agentweb.settings import compaction_settings, env_choice
from sessions_app.agent.models_catalogue import describe_model
from sessions_app.runner.compaction_rules import compaction_settings as in_force

HAIKU = describe_model("anthropic", "claude-haiku-4-5")


def test_without_any_setting_the_defaults_hold() -> None:
    found = in_force(HAIKU)
    assert (found.enabled, found.reserve_tokens, found.keep_recent_tokens) == (True, 16_384, 20_000)


def test_each_value_of_a_model_is_resolved_by_itself(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """02 §10."""
    monkeypatch.setenv("AGENTWEB_COMPACTION_KEEP_RECENT_TOKENS", "5000")
    monkeypatch.setenv(
        "AGENTWEB_COMPACTION_MODEL_OVERRIDES", '{"anthropic/claude-haiku-4-5": {"reserveTokens": 30000}}'
    )
    settings.COMPACTION = compaction_settings()
    found = in_force(HAIKU)
    assert (found.reserve_tokens, found.keep_recent_tokens) == (30_000, 5_000)
    assert in_force(describe_model("demo", "demo")).reserve_tokens == 16_384


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("AGENTWEB_COMPACTION_RESERVE_TOKENS", "-1", "reserveTokens"),
        ("AGENTWEB_COMPACTION_KEEP_RECENT_TOKENS", "many", "whole number"),
        ("AGENTWEB_COMPACTION_MODEL_OVERRIDES", "{", "not JSON"),
        ("AGENTWEB_COMPACTION_MODEL_OVERRIDES", '{"a/b": 7}', "must be an object"),
        ("AGENTWEB_COMPACTION_MODEL_OVERRIDES", '{"a/b": {"keepRecentTokens": 1.5}}', "keepRecentTokens"),
        ("AGENTWEB_COMPACTION_MODEL_OVERRIDES", "[1]", "must be a JSON object"),
        ("AGENTWEB_COMPACTION_ENABLED", "perhaps", "1 or 0"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    """02 §10, §6: an error when they are read."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=told):
        compaction_settings()


def test_a_choice_must_be_one_of_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTWEB_COMPACTION_EXTRACTIVE", "sometimes")
    with pytest.raises(ImproperlyConfigured, match="never, recovery, always"):
        env_choice("AGENTWEB_COMPACTION_EXTRACTIVE", "recovery", ("never", "recovery", "always"))
