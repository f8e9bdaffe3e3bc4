"""What is left behind when the leaf moves."""

from __future__ import annotations

from sessions_app.core.branch_summary import left_behind, plan_branch_summary, token_budget
from sessions_app.core.cut_points import is_cut_point, starts_span
from sessions_app.core.entries import Entry
from sessions_app.core.projection import project
from sessions_app.core.transcript import BRANCH_PREFIX, BRANCH_SUFFIX, user_text_of
from tests.builders import answer, call, message_entry, path, tree

PLACE = "2030-01-01T08:00:00.000Z"


def collected(text: str, old: str | None, target: str) -> tuple[str | None, list[str]]:
    left = left_behind(tree(text), old, target)
    return left.common_ancestor_id, [entry.id for entry in left.entries]


def items(entries: list[Entry], budget: int = 0) -> list[str]:
    return [item.entry_id for item in plan_branch_summary(entries, budget).items]


def test_the_branch_up_to_the_common_ancestor_is_collected() -> None:
    """03 BS-04, BS-05 and the worked example."""
    assert collected("u a u a | e1: u a", "e4", "e6") == ("e1", ["e2", "e3", "e4"])


def test_compactions_do_not_stop_the_walk() -> None:
    """03 BS-05."""
    assert collected("u a u cut@e3 u | e1: a", "e5", "e6") == ("e1", ["e2", "e3", "e4", "e5"])


def test_going_back_to_a_message_leaves_that_message_out() -> None:
    """03 BS-06."""
    assert collected("u a u a", "e4", "e3") == ("e3", ["e4"])


def test_going_forward_leaves_nothing_behind() -> None:
    """03 BS-07."""
    assert collected("u a u a", "e2", "e4") == ("e2", [])


def test_other_roots_and_no_old_leaf_have_no_ancestor() -> None:
    """03 BS-04."""
    assert collected("u a | root: u", "e2", "e3") == (None, ["e1", "e2"])
    assert collected("u a", None, "e2") == (None, [])
    assert collected("u a", "gone", "e2") == (None, [])
    assert collected("u a", "e2", "gone") == (None, ["e1", "e2"])


def test_tool_results_and_bookkeeping_are_skipped_and_system_messages_are_not() -> None:
    """03 BS-10."""
    assert items(path("u sys a t meta note bs bash cut@e2")) == ["e1", "e2", "e3", "e6", "e7", "e8", "e9"]


def test_an_empty_branch_summary_is_an_item() -> None:
    """03 BS-10, FINDINGS 47."""
    assert items([Entry({"type": "branch_summary", "id": "b", "timestamp": PLACE, "summary": ""})]) == ["b"]


def test_the_newest_that_fit_are_taken() -> None:
    """03 BS-09."""
    plan = plan_branch_summary(path("u a u a"), 25)
    assert [item.entry_id for item in plan.items] == ["e3", "e4"]
    assert (plan.total_tokens, plan.token_budget) == (20, 25)
    assert items(path("u a u a"), 20) == ["e3", "e4"], "the budget itself still fits"
    assert items(path("u a u a"), 5) == []


def test_a_budget_of_nothing_is_no_limit() -> None:
    """03 BS-09, FINDINGS 43."""
    assert items(path("u a u a"), 0) == ["e1", "e2", "e3", "e4"]
    assert items(path("u a u a"), -5) == ["e1", "e2", "e3", "e4"]


def test_a_summary_that_does_not_fit_is_taken_below_ninety_percent() -> None:
    """03 BS-09."""
    assert items(path("u bs:50 u a"), 30) == ["e2", "e3", "e4"]
    assert items(path("u cut@-:50 u a"), 30) == ["e2", "e3", "e4"]
    assert items(path("u bs:50 u a"), 21) == ["e3", "e4"]
    assert items(path("u u:50 u a"), 30) == ["e3", "e4"]


def test_a_window_that_is_unknown_counts_as_128000() -> None:
    assert token_budget(0, 16384) == 128_000 - 16384
    assert token_budget(200_000, 16384) == 200_000 - 16384


def test_edits_in_the_branch_apply_to_messages_and_not_to_summaries() -> None:
    """03 BS-10, FINDINGS 46."""
    entries = path("u a bs note omit@e2 swap@e1:1 omit@e3 swap@e4:1")
    plan = plan_branch_summary(entries, 0)
    assert [item.entry_id for item in plan.items] == ["e1", "e3", "e4"]
    assert plan.items[0].message["content"] == "e6 e"
    assert plan.items[2].message["content"] == "e8 e"


def test_files_come_from_all_summaries_but_only_from_visited_calls() -> None:
    """03 BS-11."""
    summary = {"type": "branch_summary", "timestamp": PLACE, "summary": "s"}
    entries = [
        Entry({**summary, "id": "b1", "details": {"readFiles": ["far"]}}),
        Entry({**summary, "id": "b2", "fromHook": True, "details": {"readFiles": ["hook"]}}),
        Entry(
            {
                "type": "compaction",
                "id": "c",
                "timestamp": PLACE,
                "summary": "",
                "details": {"readFiles": ["cut"]},
            }
        ),
        message_entry("x0", None, answer(content=[call("write", path="unseen")])),
        message_entry("x1", None, answer("long " * 50, content=[call("write", path="broke it")])),
        message_entry("x2", None, {"role": "user", "content": "x" * 40}),
    ]
    plan = plan_branch_summary(entries, 12)
    assert [item.entry_id for item in plan.items] == ["x2"]
    lists = plan.file_operations.lists()
    assert (lists.read_files, lists.modified_files) == (["far"], ["broke it"])


def test_the_model_reads_a_branch_summary_as_the_users_words_and_a_cut_may_be_there() -> None:
    """03 BS-21."""
    (item,) = project(path("bs:5")).entries
    (message,) = item.messages
    assert message["role"] == "branchSummary"
    assert user_text_of(message) == f"{BRANCH_PREFIX}{message['summary']}{BRANCH_SUFFIX}"
    assert BRANCH_PREFIX.endswith("<summary>\n")
    assert BRANCH_SUFFIX == "</summary>"
    assert is_cut_point(item)
    assert starts_span(item)
