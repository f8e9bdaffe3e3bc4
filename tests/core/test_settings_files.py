"""Reading and merging settings files."""

from __future__ import annotations

import pytest

from sessions_app.core.compaction_settings import BadSetting, resolve
from sessions_app.core.errors import MalformedPayload
from sessions_app.core.settings_files import merge_settings, read_settings

KEY = "acme/big/model"


@pytest.mark.parametrize("text", ["", "{}", " {} ", "[]", "\ufeff{}"])
def test_a_file_may_be_empty(text: str) -> None:
    assert read_settings(text) == {}


@pytest.mark.parametrize("text", ["null", "5", "true", '"x"', "{oops", "  ", "{} {}", "\ufeff", '{"a":1,}'])
def test_what_is_no_object_is_refused(text: str) -> None:
    """06 §3, FINDINGS 59."""
    with pytest.raises(MalformedPayload):
        read_settings(text)


def test_files_merge_before_the_look_up() -> None:
    """02 §10, FINDINGS 59: a user's override beats a project's ordinary value."""
    user = {"compaction": {"reserveTokens": 111, "modelOverrides": {KEY: {"reserveTokens": 5}}}}
    merged = merge_settings(user, {"compaction": {"reserveTokens": 50}, "theme": ["x"]})
    assert resolve(merged, KEY).reserve_tokens == 5
    assert merged["theme"] == ["x"]
    assert user["compaction"]["reserveTokens"] == 111
    with pytest.raises(BadSetting):
        resolve(merge_settings(user, {"compaction": {"modelOverrides": {KEY: None}}}), KEY)
