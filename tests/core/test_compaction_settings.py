"""Compaction settings and their refusals."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.core.compaction_settings import (
    BadSetting,
    BranchSummarySettings,
    CompactionSettings,
    resolve,
    resolve_branch_summary,
)

KEY = "acme/big/model"


def with_override(**fields: Any) -> dict[str, Any]:
    return {"compaction": {"reserveTokens": 111, "modelOverrides": {KEY: fields}}}


def test_defaults_hold_where_nothing_is_set() -> None:
    """02 §10."""
    assert resolve({}) == CompactionSettings(True, 16384, 20000)
    assert resolve({"compaction": [], "branchSummary": True}) == CompactionSettings(True, 16384, 20000)
    assert resolve({"compaction": {"enabled": None}}).enabled is True
    assert resolve({"compaction": {"enabled": "no"}}).enabled == "no"


def test_each_value_falls_back_alone() -> None:
    """02 §10: override → ordinary → default."""
    settings = with_override(keepRecentTokens=5)
    assert resolve(settings, KEY) == CompactionSettings(True, 111, 5)
    assert resolve(settings, "acme/other") == CompactionSettings(True, 111, 20000)
    assert resolve(settings) == CompactionSettings(True, 111, 20000)


@pytest.mark.parametrize("value", [0, -0.0, 2e4, 2**53 - 1, 9007199254740991.2])
def test_whole_numbers_are_valid_however_they_are_written(value: float) -> None:
    """FINDINGS 57."""
    assert resolve({"compaction": {"reserveTokens": value}}).reserve_tokens == int(value)


@pytest.mark.parametrize("value", [-1, 1.5, 2**53, float("inf"), "5", None, True, [1], {}])
def test_anything_else_is_refused_even_where_an_override_wins(value: Any) -> None:
    """02 §10, FINDINGS 56."""
    settings = with_override(reserveTokens=5)
    settings["compaction"]["reserveTokens"] = value
    with pytest.raises(BadSetting, match="reserveTokens") as refusal:
        resolve(settings, KEY)
    assert (refusal.value.where, refusal.value.field) == ("ordinary", "reserveTokens")


def test_only_the_matching_override_is_looked_at() -> None:
    settings = with_override(reserveTokens=-1)
    assert resolve(settings, "acme/other").reserve_tokens == 111
    with pytest.raises(BadSetting, match="big/model") as refusal:
        resolve(settings, KEY)
    assert (refusal.value.where, refusal.value.key, refusal.value.shown) == ("override", KEY, "-1")


@pytest.mark.parametrize(("entry", "shown"), [(None, "null"), (False, "false"), ("x", "x"), ([1, 2], "1,2")])
def test_an_override_entry_must_be_an_object(entry: Any, shown: str) -> None:
    """02 §10."""
    with pytest.raises(BadSetting, match="must be an object") as refusal:
        resolve({"compaction": {"modelOverrides": {KEY: entry}}}, KEY)
    assert (refusal.value.where, refusal.value.shown) == ("override-entry", shown)


def test_overrides_of_the_wrong_type_are_ignored() -> None:
    """FINDINGS 58."""
    assert resolve({"compaction": {"modelOverrides": "x"}}, KEY).reserve_tokens == 16384


def test_branch_summaries_have_settings_of_their_own() -> None:
    """03: no override applies."""
    assert resolve_branch_summary(with_override(reserveTokens=5)) == BranchSummarySettings(16384, False)
    settings = {"branchSummary": {"reserveTokens": 7, "skipPrompt": True}}
    assert resolve_branch_summary(settings) == BranchSummarySettings(7, True)
