"""Where a path is cut."""

from __future__ import annotations

import pytest

from sessions_app.core.cut_points import find_cut, is_cut_point, raw_entries
from sessions_app.core.projection import project
from tests.builders import chain, path


def cut(text: str, keep: int, start: int = 0) -> tuple[str, str | None]:
    """The ids of the first kept entry and of the split span's start."""
    entries = project(path(text)).entries
    found = find_cut(entries, start, keep)
    assert found is not None
    begin = None if found.span_start is None else entries[found.span_start].entry.id
    return entries[found.first_kept].entry.id, begin


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("u", True),
        ("a", True),
        ("bash", True),
        ("note", True),
        ("bs", True),
        ("a t", False),
        ("sys", False),
        ("cut@-", False),
        ("u omit@e1", False),
        ("meta", False),
    ],
)
def test_a_tool_result_system_message_compaction_or_omitted_entry_is_never_a_cut_point(
    text: str, is_one: bool
) -> None:
    """02 CP-01."""
    entries = project(path(text)).entries
    item = entries[0] if "omit" in text else entries[-1]
    assert is_cut_point(item) is is_one


def test_stored_messages_with_summary_roles_are_cut_points() -> None:
    """02 CP-01."""
    roles = ("custom", "branchSummary", "compactionSummary")
    entries = project(chain(*({"role": role, "summary": "s", "content": "c"} for role in roles))).entries
    assert [is_cut_point(item) for item in entries] == [True, True, True]


def test_the_cut_keeps_the_newest_entries_that_reach_the_budget() -> None:
    """02 CP-02."""
    assert cut("u a u a u a", 20) == ("e5", None)
    assert cut("u a u a u a", 21) == ("e4", "e3")
    assert cut("u a u a u a", 40) == ("e3", None)


def test_nothing_kept_means_cutting_at_the_newest_entry_that_has_a_size() -> None:
    """FINDINGS 2."""
    assert cut("u a u a u:0", 0) == ("e4", "e3")


def test_a_budget_crossed_at_a_tool_result_moves_to_the_next_cut_point() -> None:
    """02 CP-02."""
    assert cut("u a t t:90 a u a", 50) == ("e5", "e1")


def test_trailing_tool_results_over_the_budget_are_kept_with_their_answer() -> None:
    """02 CP-02 last clause, FINDINGS 3."""
    assert cut("u a u a t t:900", 50) == ("e4", "e3")


def test_a_budget_never_reached_cuts_at_the_first_cut_point() -> None:
    """02 CP-03."""
    assert cut("sys sys u a", 5000) == ("e3", None)


def test_bookkeeping_in_front_of_the_kept_message_is_kept_and_makes_the_cut_a_split() -> None:
    """02 CP-04, FINDINGS 1."""
    assert cut("u a meta model u a", 20) == ("e3", "e1")


def test_the_scan_back_stops_at_an_older_compaction() -> None:
    """02 CP-04, FINDINGS 9."""
    assert cut("u a cut@e1 meta u a cut@e1 u:0", 20, start=1) == ("e4", "e1")


def test_bash_notes_and_branch_summaries_start_spans_too() -> None:
    """02 CP-05, FINDINGS 4."""
    assert cut("bash a a", 10) == ("e3", "e1")
    assert cut("note a a", 10) == ("e3", "e1")
    assert cut("bs a a", 10) == ("e3", "e1")


def test_without_a_span_start_in_range_nothing_is_split() -> None:
    """FINDINGS 5."""
    assert cut("a a a", 10) == ("e3", None)
    assert cut("u a cut@e2 a u a", 30, start=1) == ("e4", None)


def test_a_range_without_cut_points_keeps_all_of_it() -> None:
    """FORMAT clarification 2."""
    assert cut("sys meta sys", 1) == ("e1", None)


def test_an_empty_range_has_no_cut() -> None:
    assert find_cut([], 0, 10) is None


def test_an_omitted_attempt_behind_the_candidate_moves_the_cut_over_it() -> None:
    """02 CP-07, FINDINGS 19."""
    assert cut("u a u:90 a omit@e4", 50) == ("e4", "e3")
    assert cut("u a u:90 a t omit@e4 omit@e5 meta", 50) == ("e4", "e3")
    assert cut("u a:90 a omit@e3", 50) == ("e3", "e1")


@pytest.mark.parametrize(
    "behind",
    ["meta model", "note omit@e4", "a omit@e4 note", "a u omit@e4", "a sys omit@e4"],
)
def test_metadata_an_omitted_note_or_anything_visible_does_not_move_it(behind: str) -> None:
    """02 CP-07, FINDINGS 21."""
    entries = project(path("u a u:90 " + behind)).entries
    found = find_cut(entries, 0, 50)
    assert found is not None
    assert entries[found.first_kept].entry.id != "e4"


def test_an_older_compaction_behind_the_candidate_keeps_the_cut_where_it_is() -> None:
    """02 CP-07."""
    assert cut("u a u:90 a omit@e4 cut@e3 cut@e1 meta", 50, start=1) == ("e3", None)


def test_below_the_budget_an_omitted_attempt_moves_nothing() -> None:
    """FINDINGS 22."""
    assert cut("u a u a omit@e4", 5000) == ("e1", None)


def test_a_replacement_behind_the_candidate_blocks_unless_its_target_is_omitted_there() -> None:
    """02 CP-08, FINDINGS 20."""
    assert cut("u a u:90 a omit@e4 swap@e1", 50) == ("e3", None)
    assert cut("u a u:90 a omit@e4 swap@nowhere", 50) == ("e3", None)
    assert cut("u a u:90 a swap@e4 omit@e4", 50) == ("e4", "e3")
    assert cut("u a u:90 a swap@e2 omit@e2 omit@e4", 50) == ("e2", "e1")
    assert cut("u a swap@e1 u:90 a omit@e5", 50) == ("e5", "e4")


def test_on_the_raw_path_every_compaction_has_its_size_and_edits_do_nothing() -> None:
    """FORMAT clarification 2."""
    entries = raw_entries(path("u a cut@e1:90 u omit@e4"))
    found = find_cut(entries, 0, 50)
    assert found is not None
    assert entries[found.first_kept].entry.id == "e4"
    assert entries[3].visible
