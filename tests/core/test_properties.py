"""What holds in every session tree."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.core.branch_summary import left_behind, plan_branch_summary
from sessions_app.core.compaction import CompactionPlan, plan_compaction
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.cut_points import find_cut, is_cut_point
from sessions_app.core.entries import Entry, Kind, compaction_entry, label_entry
from sessions_app.core.errors import NothingToCompact
from sessions_app.core.forking import copy_branch
from sessions_app.core.json_text import parse_json, print_compact_json, print_json
from sessions_app.core.projection import extended, project
from sessions_app.core.tokens import estimate_messages
from sessions_app.core.transcript import serialise
from sessions_app.core.tree import Tree
from sessions_app.formats.jsonl import new_header, read_session, write_branch, write_session
from tests.builders import tree
from tests.core.strategies import examples, trees

PLACE = "2031-01-01T00:00:00.000Z"
BUDGETS = st.sampled_from((0, 5, 20, 60, 200, 10_000))


def leaf_of(built: Tree) -> str:
    return built.entries[-1].id


@examples
@given(trees())
def test_a_path_starts_at_a_root_and_follows_parents(built: Tree) -> None:
    for entry in built.entries:
        path = built.path(entry.id)
        assert path[0] in built.roots()
        assert path[-1] is entry
        assert all(child.parent_id == parent.id for parent, child in itertools.pairwise(path))


@examples
@given(trees(), st.data())
def test_a_fork_and_a_clone_see_what_the_branch_they_were_taken_from_sees(
    built: Tree, data: st.DataObject
) -> None:
    """01 FK-01, FK-02, FK-04."""
    target = data.draw(st.sampled_from(built.entries))
    minted = map("minted{}".format, itertools.count())
    for leaf in {target.id, target.parent_id}:
        copies = copy_branch(built, leaf, lambda: next(minted))
        copy, source = project(copies), project(built.path(leaf))
        assert copy.messages == source.messages
        assert (copy.model, copy.thinking_level) == (source.model, source.thinking_level)
        assert Tree(copies).path(copies[-1].id if copies else None) == copies


@examples
@given(trees(smallest=4), BUDGETS, st.lists(st.integers(0, 400), min_size=1, max_size=12))
def test_compactions_that_are_applied_only_where_they_shrink_the_context_come_to_an_end(
    built: Tree, keep: int, sizes: list[int]
) -> None:
    """02 §1: each is measured with the same estimator, and the last of them leaves nothing to gain."""
    path = built.path(leaf_of(built))
    sizes_before = [estimate_messages(project(path).messages)]
    for number, size in enumerate(itertools.cycle(sizes)):
        try:
            plan = plan_compaction(path, CompactionSettings(keep_recent_tokens=keep))
        except NothingToCompact:
            break
        grown = compacted(path, plan, f"new{number}", "s" * size)
        tokens = estimate_messages(project(grown).messages)
        if tokens >= sizes_before[-1]:
            break
        sizes_before.append(tokens)
        # Something is said behind it, or nothing could be planned again.
        path = [*grown, label_entry(f"label{number}", grown[-1].id, PLACE, target_id="e1", label="x")]
    assert sizes_before == sorted(set(sizes_before), reverse=True)
    assert len(sizes_before) <= len(built.entries) + 1


def compacted(path: list[Entry], plan: CompactionPlan, entry_id: str, summary: str) -> list[Entry]:
    entry = compaction_entry(
        entry_id,
        path[-1].id,
        PLACE,
        summary=summary,
        tokens_before=plan.tokens_before,
        first_kept_entry_id=plan.first_kept_entry_id,
    )
    return [*path, entry]


@examples
@given(trees(), trees())
def test_writing_on_another_branch_never_changes_what_a_leaf_sees(built: Tree, other: Tree) -> None:
    before = project(built.path(leaf_of(built)))
    foreign = [
        Entry({**entry.record, "id": f"x{entry.id}", "parentId": f"x{entry.parent_id}"})
        for entry in other.entries
    ]
    grown = Tree([*built.entries, *foreign])
    assert project(grown.path(leaf_of(built))) == before


@examples
@given(trees(), st.integers(min_value=0))
def test_a_context_that_is_extended_is_the_one_of_the_longer_path(built: Tree, place: int) -> None:
    """01 §5. Where it can't be extended, nothing is claimed."""
    path = built.path(leaf_of(built))
    cut = place % (len(path) + 1)
    longer = extended(project(path[:cut]), path[cut:])
    assert longer in (None, project(path))
    edits = {Kind.COMPACTION, Kind.CONTEXT_EDIT}
    assert longer is not None or any(entry.kind in edits for entry in path)


@examples
@given(trees(compactions=False))
def test_without_compactions_the_projection_keeps_the_order_of_the_path(built: Tree) -> None:
    path = built.path(leaf_of(built))
    assert [item.entry for item in project(path).entries] == path


@examples
@given(trees())
def test_only_one_compaction_speaks_and_it_speaks_first(built: Tree) -> None:
    context = project(built.path(leaf_of(built)))
    speaking = [
        index
        for index, item in enumerate(context.entries)
        if item.entry.kind == Kind.COMPACTION and item.visible
    ]
    assert speaking in ([], [0])


@examples
@given(trees(), BUDGETS)
def test_a_cut_is_no_tool_result_and_keeps_a_suffix_of_the_context(built: Tree, keep: int) -> None:
    entries = project(built.path(leaf_of(built))).entries
    cut = find_cut(entries, 0, keep)
    assert cut is not None
    kept = entries[cut.first_kept :]
    assert kept
    first_visible = next((item for item in kept if item.visible), None)
    if any(map(is_cut_point, entries)) and first_visible is not None:
        assert first_visible.entry.role != "toolResult"
    assert cut.span_start is None or cut.span_start < cut.first_kept


@examples
@given(trees(smallest=4), BUDGETS)
def test_a_compaction_covers_every_message_once_and_cannot_be_repeated_at_once(
    built: Tree, keep: int
) -> None:
    path = built.path(leaf_of(built))
    context = project(path)
    try:
        plan = plan_compaction(path, CompactionSettings(keep_recent_tokens=keep), context)
    except NothingToCompact:
        return
    entry = compaction_entry(
        "new",
        path[-1].id,
        PLACE,
        summary="s",
        tokens_before=plan.tokens_before,
        first_kept_entry_id=plan.first_kept_entry_id,
    )
    after = project([*path, entry])
    gone = [item.entry_id for item in (*plan.history, *plan.span_prefix)]
    kept = [item.entry.id for item in after.entries[1:] if item.visible and item.entry.role != "system"]
    seen = [
        item.entry.id
        for item in context.entries
        if item.visible and item.entry.role != "system" and item.entry.kind != Kind.COMPACTION
    ]
    # Edits that leave the active range with their summarised part may show a kept message again.
    assert gone + [entry_id for entry_id in kept if entry_id in seen] == seen
    try:
        plan_compaction([*path, entry], CompactionSettings(keep_recent_tokens=keep))
        raise AssertionError("a compaction was planned right behind another")
    except NothingToCompact:
        pass


@examples
@given(trees(smallest=4), BUDGETS)
def test_a_short_summary_never_makes_the_context_grow(built: Tree, keep: int) -> None:
    path = [entry for entry in built.path(leaf_of(built)) if entry.kind != Kind.CONTEXT_EDIT]
    context = project(path)
    try:
        plan = plan_compaction(path, CompactionSettings(keep_recent_tokens=keep), context)
    except NothingToCompact:
        return
    entry = compaction_entry(
        "new", None, PLACE, summary="", tokens_before=0, first_kept_entry_id=plan.first_kept_entry_id
    )
    assert estimate_messages(project([*path, entry]).messages) <= estimate_messages(context.messages)


@examples
@given(trees(smallest=2), st.data())
def test_what_is_left_behind_is_the_old_path_minus_the_new_one(built: Tree, data: st.DataObject) -> None:
    ids = [entry.id for entry in built.entries]
    old, new = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))
    left = left_behind(built, old, new)
    target = set(map(id, built.path(new)))
    assert list(left.entries) == [entry for entry in built.path(old) if id(entry) not in target]
    assert list(left.entries) == built.branch(old, new)


@examples
@given(trees(smallest=2), BUDGETS)
def test_a_branch_plan_takes_a_suffix_within_its_budget(built: Tree, budget: int) -> None:
    path = built.path(leaf_of(built))
    everything = [item.entry_id for item in plan_branch_summary(path, 0).items]
    plan = plan_branch_summary(path, budget)
    chosen = [item.entry_id for item in plan.items]
    assert chosen == everything[len(everything) - len(chosen) :]
    summaries = (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
    if budget > 0 and plan.total_tokens > budget:
        assert built.get(chosen[0]).kind in summaries


@examples
@given(trees())
def test_a_session_file_reads_back_as_the_same_session_and_writes_the_same_bytes(built: Tree) -> None:
    header = new_header("s", PLACE, "/work")
    text = "".join(write_session(header, built.entries))
    loaded = read_session(text, lambda: "unused")
    assert [entry.record for entry in loaded.entries] == [entry.record for entry in built.entries]
    assert loaded.repairs == []
    assert "".join(write_session(loaded.header_line or "", loaded.entries, loaded.lines)) == text
    branch = "".join(write_branch(header, built.path(leaf_of(built))))
    again = read_session(branch, lambda: "unused")
    assert "".join(write_branch(again.header or {}, again.entries)) == branch


@examples
@given(trees())
def test_serialising_never_fails_and_never_shows_what_is_hidden(built: Tree) -> None:
    text = serialise(project(built.path(leaf_of(built))).messages)
    assert isinstance(text.encode("utf-8", "surrogatepass"), bytes)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@examples
@given(JSON)
def test_json_reads_back_as_it_was_written(value: object) -> None:
    text = print_json(value)
    assert text.isascii()
    assert print_json(parse_json(text)) == text


@examples
@given(JSON)
def test_compact_json_is_stable(value: object) -> None:
    text = print_compact_json(value)
    assert print_compact_json(parse_json(text)) == text


@examples
@given(st.lists(st.sampled_from(("u", "a", "a t", "a t t")), min_size=1, max_size=12), BUDGETS)
def test_no_cut_parts_a_call_from_its_result(turns: list[str], keep: int) -> None:
    built = tree("u " + " ".join(turns))
    entries = project(built.path(leaf_of(built))).entries
    cut = find_cut(entries, 0, keep)
    assert cut is not None
    calls = {
        block["id"]
        for item in entries[cut.first_kept :]
        for message in item.messages
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "toolCall"
    }
    results = {
        message["toolCallId"]
        for item in entries[cut.first_kept :]
        for message in item.messages
        if message["role"] == "toolResult"
    }
    assert results == calls
