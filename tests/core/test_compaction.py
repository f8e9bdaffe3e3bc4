"""The plan of a compaction."""

from __future__ import annotations

import pytest

from sessions_app.core.compaction import CompactionPlan, plan_compaction
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.entries import Entry
from sessions_app.core.errors import NothingToCompact
from sessions_app.core.projection import project
from tests.builders import answer, call, message_entry, path


def plan(text: str, keep: int) -> CompactionPlan:
    return plan_compaction(path(text), CompactionSettings(keep_recent_tokens=keep))


def ids(messages: tuple[object, ...]) -> list[str]:
    return [message.entry_id for message in messages]  # type: ignore[attr-defined]


def test_what_lies_before_the_cut_is_summarised() -> None:
    """02 §3."""
    planned = plan("sys u a u a", 20)
    assert planned.first_kept_entry_id == "e4"
    assert ids(planned.history) == ["e2", "e3"]
    assert not planned.splits_span
    assert (planned.tokens_before, planned.previous_summary) == (50, None)


def test_a_split_span_gets_its_beginning_summarised_apart() -> None:
    """02 CP-06, §3.5."""
    planned = plan("u a u a a", 10)
    assert ids(planned.history) == ["e1", "e2"]
    assert ids(planned.span_prefix) == ["e3", "e4"]
    assert planned.splits_span


def test_kept_messages_of_the_last_compaction_are_part_of_the_next_range() -> None:
    """02 §11."""
    planned = plan("u a u a cut@e3 u a u a", 20)
    assert ids(planned.history) == ["e3", "e4", "e6", "e7"]
    assert planned.previous_summary is not None
    assert planned.previous_summary.startswith("e5")


def test_after_retaining_nothing_the_range_begins_behind_the_compaction() -> None:
    """02 §11."""
    assert ids(plan("u a cut@- u a u a", 20).history) == ["e4", "e5"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("u a cut@e2", "just been compacted"),
        ("u a", "too small"),
        ("meta", "too small"),
    ],
)
def test_nothing_to_compact_says_why(text: str, reason: str) -> None:
    """02 §3.1, §3.7, BUGS B06."""
    with pytest.raises(NothingToCompact, match=reason):
        plan(text, 5000)


def test_a_compaction_as_the_only_active_entry_leaves_nothing() -> None:
    entries = path("u a cut@- meta")
    context = project(entries)
    with pytest.raises(NothingToCompact, match="too small"):
        plan_compaction(entries, CompactionSettings(), context)
    with pytest.raises(NothingToCompact, match="follows the last"):
        plan_compaction(entries, CompactionSettings(), project(entries[:3]))


def test_metadata_behind_a_compaction_is_no_obstacle() -> None:
    """FINDINGS 6."""
    assert plan("u a u a cut@e1 meta", 20).first_kept_entry_id == "e3"


def test_files_come_from_the_summarised_calls_and_the_last_details() -> None:
    """02 §8."""
    old = path("u a cut@e1")
    old[2].record["details"] = {"readFiles": ["r", "x"], "modifiedFiles": ["m"]}
    result = {
        "role": "toolResult",
        "toolCallId": "c",
        "content": [],
        "nestedCalls": {"calls": [{"name": "write", "arguments": {"path": "n"}}]},
    }
    entries = [
        *old,
        message_entry("x1", "e3", answer(content=[call("edit", path="x"), call("read", path="y")])),
        message_entry("x2", "x1", result),
        *[Entry({**entry.record, "id": f"k{entry.id}"}) for entry in path("u a")],
    ]
    lists = plan_compaction(entries, CompactionSettings(keep_recent_tokens=20)).file_operations.lists()
    assert lists.read_files == ["r", "y"]
    assert lists.modified_files == ["m", "n", "x"]


def test_calls_of_omitted_answers_do_not_count() -> None:
    """02 §8, FINDINGS 15."""
    entries = path("u a omit@e2 u a")
    entries[1].record["message"]["content"].append(call("write", path="w"))
    planned = plan_compaction(entries, CompactionSettings(keep_recent_tokens=20))
    assert planned.file_operations.lists().modified_files == []


def test_an_older_programs_summary_that_is_no_text_counts_as_none() -> None:
    entries = path("u a cut@e1 u a u a")
    entries[2].record["summary"] = None
    assert plan_compaction(entries, CompactionSettings(keep_recent_tokens=20)).previous_summary is None


def test_calls_in_the_beginning_of_a_split_span_count_for_the_file_lists() -> None:
    """02 §8: history and prefix."""
    entries = [
        message_entry("e1", None, {"role": "user", "content": "x" * 40}),
        message_entry("e2", "e1", answer("a" * 40, content=[call("edit", path="p.py")])),
        message_entry("e3", "e2", answer("b" * 40)),
    ]
    plan = plan_compaction(entries, CompactionSettings(keep_recent_tokens=5))
    assert (plan.history, [item.entry_id for item in plan.span_prefix]) == ((), ["e1", "e2"])
    assert plan.file_operations.lists().modified_files == ["p.py"]
