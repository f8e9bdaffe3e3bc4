"""When a context is compacted without being asked."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.entries import Entry
from sessions_app.core.messages import Json
from sessions_app.core.projection import project
from sessions_app.core.times import milliseconds_of
from sessions_app.core.triggers import (
    SelectedModel,
    Trigger,
    check_after_answer,
    check_between_turns,
    newest_answer,
)
from tests.builders import START, answer, path, usage

MODEL = SelectedModel("acme", "m-one", context_window=1000, max_tokens=100)
SETTINGS = CompactionSettings(reserve_tokens=200)
OVERFLOW = Trigger("overflow", will_retry=True)


def check(entries: list[Entry], **fields: Any) -> Trigger | None:
    given = {"model": MODEL, "settings": SETTINGS, **fields}
    return check_after_answer(project(entries), entries, **given)


def with_answer(text: str, number: int, **fields: Any) -> list[Entry]:
    """The path of `text`, its entry `number` being an answer with these fields."""
    entries = path(text)
    old: Json = entries[number - 1].record["message"]
    entries[number - 1].record["message"] = {**answer("", timestamp=old["timestamp"]), **fields}
    return entries


def test_the_answers_own_usage_is_held_against_the_threshold() -> None:
    """02 §1 threshold source, strict."""
    assert check(with_answer("u a", 2, usage=usage(801))) == Trigger("threshold")
    assert check(with_answer("u a", 2, usage=usage(800))) is None


def test_nothing_happens_when_compaction_is_off() -> None:
    """02 §1 guard 1: not even after an overflow."""
    off = CompactionSettings(enabled=False)
    entries = with_answer("u a", 2, stopReason="error", errorMessage="prompt is too long")
    assert check(entries, settings=off) is None
    assert check(path("u")) is None


def test_an_aborted_answer_counts_only_before_a_new_prompt() -> None:
    """02 CT-02, CT-04."""
    entries = with_answer("u:900 a", 2, stopReason="aborted", usage=usage(900))
    assert check(entries) is None
    assert check(entries, skip_aborted=False) == Trigger("threshold")


def test_an_answer_from_before_the_compaction_triggers_nothing() -> None:
    """02 §1 guard 3, BUGS B09."""
    assert check(with_answer("u a cut@e1 u", 2, usage=usage(900))) is None
    fresh = with_answer("u cut@e1 a", 3, usage=usage(900))
    assert check(fresh) == Trigger("threshold")
    undated = with_answer("u a cut@e1 u", 2, usage=usage(900), timestamp=None)
    assert check(undated) == Trigger("threshold")
    compacted = milliseconds_of(undated[2].timestamp)
    assert compacted is not None
    assert check(with_answer("u a cut@e1 u", 2, usage=usage(900), timestamp=compacted)) is None
    later = with_answer("u a cut@e1 u", 2, usage=usage(900), timestamp=compacted + 1)
    assert check(later) == Trigger("threshold")


def test_an_overflow_error_is_recovered_once_with_a_retry() -> None:
    """02 CT-05."""
    entries = with_answer("u a", 2, stopReason="error", errorMessage="prompt is too long")
    assert check(entries) == OVERFLOW


def test_an_overflow_error_of_another_model_does_not_count() -> None:
    """02 §1 guard 4."""
    entries = with_answer("u a", 2, stopReason="error", errorMessage="prompt is too long")
    assert check(entries, model=SelectedModel("acme", "bigger", 10**6, 100)) is None


def test_an_overflow_error_that_was_edited_away_does_not_count() -> None:
    """02 §1 guard 5."""
    failed = {"stopReason": "error", "errorMessage": "prompt is too long"}
    assert check(with_answer("u a omit@e2", 2, **failed)) is None
    assert check(with_answer("u a omit@e1", 2, **failed)) == OVERFLOW
    # Edits of other entries, and a compaction that keeps it, leave it what it is.
    assert check(with_answer("u a omit@e1", 2, **failed)) == OVERFLOW
    late = {**failed, "timestamp": START + 10**6}
    assert check(with_answer("u a cut@e1", 2, **late)) == OVERFLOW
    assert check(with_answer("u a omit@e1 cut@e1", 2, **late)) is None


@pytest.mark.parametrize("text", ["bad key", None])
def test_another_error_is_no_overflow(text: str | None) -> None:
    assert check(with_answer("u a", 2, stopReason="error", errorMessage=text)) is None


def test_a_length_stop_below_the_models_own_limit_is_an_overflow() -> None:
    """02 CT-06."""
    assert check(with_answer("u a", 2, stopReason="length", usage=usage(300, output=99))) == OVERFLOW
    assert check(with_answer("u a", 2, stopReason="length", usage=usage(300, output=100))) is None


def test_a_length_stop_counts_though_something_else_was_edited() -> None:
    """02 §1 guard 5: as long as it is part of the projection."""
    cut_off = {"stopReason": "length", "usage": usage(300, output=99)}
    assert check(with_answer("u a omit@e1", 2, **cut_off)) == OVERFLOW
    assert check(with_answer("u a omit@e2", 2, **cut_off)) is None


@pytest.mark.parametrize("reported", [usage(0), None])
def test_where_nothing_was_ever_reported_the_messages_are_measured(reported: Any) -> None:
    """02 §1 threshold source."""
    assert check(with_answer("u:900 a", 2, usage=reported)) == Trigger("threshold")
    assert check(with_answer("u:100 a", 2, usage=reported)) is None


def test_a_length_stop_before_the_first_word_of_a_full_window_is_one_too() -> None:
    model = SelectedModel("acme", "m-one", context_window=1000, max_tokens=0)
    assert check(with_answer("u a", 2, stopReason="length", usage=usage(990)), model=model) == OVERFLOW
    assert check(with_answer("u a", 2, stopReason="length", usage=usage(700)), model=model) is None


def test_an_answer_whose_input_exceeded_the_window_is_kept() -> None:
    """02 CT-07."""
    assert check(with_answer("u a", 2, usage=usage(1001))) == Trigger("overflow")
    assert check(with_answer("u a omit@e1", 2, usage=usage(1001))) is None


def test_usage_that_is_missing_or_partial_triggers_nothing() -> None:
    """Where the reference raises."""
    assert check(with_answer("u a", 2, usage=None)) is None
    assert check(with_answer("u a", 2, usage=None, stopReason="length")) is None
    assert check(with_answer("u a", 2, usage={"input": 5, "totalTokens": 5}, stopReason="length")) is None
    assert check(with_answer("u a", 2, usage={"totalTokens": 0, "output": 1}, stopReason="toolUse")) is None


def test_with_edits_in_the_context_the_projected_estimate_decides() -> None:
    """02 §1 threshold source."""
    assert check(with_answer("u:900 a omit@nowhere", 2, usage=usage(10))) == Trigger("threshold")


def test_a_failed_answer_is_measured_by_the_last_valid_usage() -> None:
    """02 §1 threshold source."""
    entries = with_answer("u a u:50 a", 4, stopReason="error", errorMessage="x")
    assert check(entries) is None
    entries[1].record["message"]["usage"] = usage(790)
    assert check(entries) == Trigger("threshold")


def test_a_failed_answer_is_not_measured_by_usage_from_before_the_compaction() -> None:
    entries = with_answer("u a cut@e1 u:50 a", 5, stopReason="error", errorMessage="x")
    entries[1].record["message"]["usage"] = usage(790)
    assert check(entries) is None


def test_between_turns_the_projected_context_decides() -> None:
    """02 CT-03, BUGS B11."""
    for text, trigger in (("u a t:900", Trigger("threshold")), ("u a t:700", None)):
        entries = path(text)
        assert check_between_turns(project(entries), entries, 1000, SETTINGS) == trigger


def test_a_path_may_have_no_answer() -> None:
    assert newest_answer(path("u")) is None
