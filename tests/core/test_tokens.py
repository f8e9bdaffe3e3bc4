"""Estimates of messages and contexts."""

from __future__ import annotations

import pytest

from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.messages import Json
from sessions_app.core.projection import project
from sessions_app.core.tokens import (
    Estimate,
    estimate_context,
    estimate_messages,
    estimate_projected,
    estimate_tokens,
    should_compact,
    source_of,
    tokens_of_usage,
    utf16_length,
)
from tests.builders import answer, call, chain, path, usage, words

IMAGE = {"type": "image", "data": "aW1n", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "user", "content": "12345"}, 2),
        ({"role": "user", "content": [{"type": "text", "text": "123"}, {"type": "text"}, IMAGE]}, 1201),
        ({"role": "toolResult", "content": [IMAGE]}, 1200),
        ({"role": "custom", "content": "1234"}, 1),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "12345678"}, IMAGE]}, 2),
        ({"role": "assistant", "content": [call("read", path="a")]}, 4),
        ({"role": "assistant", "content": [{"type": "toolCall", "name": "read"}]}, 1),
        ({"role": "assistant", "content": [{"type": "toolCall", "name": "read", "arguments": None}]}, 2),
        ({"role": "assistant", "content": "a bare string"}, 0),
        ({"role": "bashExecution", "command": "ls", "output": "12"}, 1),
        ({"role": "bashExecution", "command": "ls"}, 1),
        ({"role": "branchSummary", "summary": "12345"}, 2),
        ({"role": "compactionSummary", "summary": "1234"}, 1),
        ({"role": "system", "content": "12", "sections": {"name": "34", "gone": None}}, 1),
        ({"role": "system", "content": "", "toolsAdded": [{"name": "x"}]}, 4),
        ({"role": "system"}, 0),
        ({"role": "system", "content": "", "toolsAdded": []}, 1),
        ({"role": "martian", "content": "12345"}, 0),
        ({"role": "user", "content": "😀😀"}, 1),
        ({"role": "user", "content": "é\ud83d漢字x"}, 2),
    ],
)
def test_a_message_counts_a_quarter_of_its_utf16_units(message: Json, tokens: int) -> None:
    """02 §7, FINDINGS 23."""
    assert estimate_tokens(message) == tokens


def test_lengths_are_utf16_units() -> None:
    assert utf16_length("a😀\ud83d") == 4


@pytest.mark.parametrize(
    ("reported", "tokens"),
    [
        ({"totalTokens": 7}, 7),
        ({"totalTokens": 0, "input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}, 10),
        ({"totalTokens": 0, "input": 1}, None),
        ({"input": 1, "output": 0, "cacheRead": 0, "cacheWrite": True}, None),
        (None, None),
    ],
)
def test_reported_tokens_are_the_total_or_the_sum_of_the_parts(
    reported: Json | None, tokens: int | None
) -> None:
    """FINDINGS 26."""
    assert tokens_of_usage(reported) == tokens


def test_the_plain_estimate_trusts_the_newest_usage_and_adds_what_follows() -> None:
    """02 §7."""
    messages = [answer(usage=usage(100)), answer(usage=usage(50)), {"role": "user", "content": words(5, "x")}]
    assert estimate_context(messages) == Estimate(55, 50, 5, 1)


def test_failed_aborted_and_zero_usage_are_skipped() -> None:
    messages = [
        answer("", usage=usage(100)),
        answer("", usage=usage(1), stopReason="error"),
        answer("", usage=usage(2), stopReason="aborted"),
        answer("", usage=usage(0)),
        answer("", usage=None),
    ]
    assert estimate_context(messages).last_usage_index == 0
    assert estimate_context(messages[1:]) == Estimate(0, 0, 0, None)


def test_usage_from_before_a_compaction_or_edit_is_not_trusted() -> None:
    """02 §7, BUGS B09."""
    for text in ("u:5 a u:7 cut@e1", "u:5 a u:7 omit@nowhere"):
        entries = path(text)
        entries[1].record["message"]["usage"] = usage(9000)
        context = project(entries)
        assert estimate_context(context.messages).usage_tokens == 9000
        assert estimate_projected(context, entries).last_usage_index is None


def test_usage_from_after_the_last_edit_is_trusted() -> None:
    entries = path("u:5 a cut@e1 u:7 a")
    entries[4].record["message"]["usage"] = usage(40)
    assert estimate_projected(project(entries), entries) == Estimate(40, 40, 0, 4)


def test_an_answer_that_is_not_on_the_path_is_not_fresh() -> None:
    entries = path("u a")
    entries[1].record["message"]["usage"] = usage(40)
    assert estimate_projected(project(entries), entries[:1]).last_usage_index is None


def test_without_trusted_usage_the_replayed_prompt_counts_once() -> None:
    """FINDINGS 27."""
    entries = chain(
        {"role": "system", "content": "", "sections": {"a": words(10, "x")}, "timestamp": 1},
        {"role": "system", "content": "", "sections": {"a": words(3, "x")}},
        {"role": "user", "content": words(2, "x")},
    )
    context = project(entries)
    assert estimate_context(context.messages).tokens == 15
    assert estimate_projected(context, entries).tokens == 5
    assert estimate_messages(context.messages) == 15


def test_every_message_has_its_entry() -> None:
    context = project(path("u meta a"))
    assert source_of(context, 1).id == "e3"
    with pytest.raises(IndexError):
        source_of(context, 2)


def test_the_threshold_is_strict() -> None:
    """02 §1."""
    settings = CompactionSettings(reserve_tokens=400_000)
    assert not should_compact(600_000, 1_000_000, settings)
    assert should_compact(600_001, 1_000_000, settings)
    assert should_compact(1, 10, settings)
    assert not should_compact(10**9, 10, CompactionSettings(enabled=False))


@pytest.mark.parametrize("tokens", [float("inf"), float("-inf"), -7, 10**400])
def test_usage_that_no_answer_can_have_does_not_keep_a_context_from_being_measured(tokens: float) -> None:
    """02 §7: a foreign file may say 1e999, or less than nothing."""
    answer = {"role": "assistant", "content": [], "usage": {"totalTokens": tokens}}
    estimate = estimate_context([answer, {"role": "user", "content": "four"}])
    assert estimate.trailing_tokens == 1
    assert estimate.last_usage_index == (0 if tokens == 10**400 else None)
