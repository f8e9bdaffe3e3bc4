"""Paths, children, tips and ancestors, in any tree a file can hold."""

from __future__ import annotations

import pytest

from sessions_app.core.entries import Entry, label_entry, session_info_entry
from sessions_app.core.errors import CyclicTree, UnknownEntry
from sessions_app.core.tree import Tree
from tests.builders import tree


def node(entry_id: str, parent_id: str | None, timestamp: object = "2030-01-01T08:00:00.000Z") -> Entry:
    return Entry({"type": "custom", "id": entry_id, "parentId": parent_id, "timestamp": timestamp})


def ids(entries: list[Entry]) -> list[str]:
    return [entry.id for entry in entries]


def test_a_path_leads_from_the_root_to_the_leaf() -> None:
    """01 §5."""
    built = tree("u a u | e2: u a")
    assert ids(built.path("e5")) == ["e1", "e2", "e4", "e5"]
    assert built.path(None) == []


def test_an_unknown_entry_is_named() -> None:
    with pytest.raises(UnknownEntry, match="'nobody'"):
        tree("u a").path("nobody")


def test_the_last_record_is_the_leaf_of_a_fresh_load() -> None:
    """01 ST-05."""
    assert tree("u a | e1: a").last_id() == "e3"
    assert Tree([]).last_id() is None


def test_orphans_and_entries_that_are_their_own_parent_are_roots_in_file_order() -> None:
    """01 ST-06, FORMAT clarification 9."""
    built = Tree([node("b", "gone", "2031-01-01T00:00:00Z"), node("c", "c"), node("a", None)])
    assert ids(built.roots()) == ["b", "c", "a"]
    assert ids(built.path("c")) == ["c"]
    assert built.find_cycle() is None


def test_children_are_sorted_by_time_and_keep_file_order_where_equal() -> None:
    """01 ST-07, FINDINGS 54."""
    late, early = "2030-01-02T00:00:00Z", "2030-01-01T00:00:00Z"
    built = Tree(
        [
            node("r", None),
            node("x", "r", late),
            node("y", "r", early),
            node("z", "r", late),
            node("q", "r", "?"),
        ]
    )
    assert ids(built.children("r")) == ["y", "x", "z", "q"]
    assert built.children("x") == []


def test_tips_and_branch_points_are_found() -> None:
    built = tree("u a u | e2: u a | root: u")
    assert ids(built.tips()) == ["e3", "e5", "e6"]
    assert ids(built.branch_points()) == ["e2"]
    assert ids(built.roots()) == ["e1", "e6"]


def test_look_ups_find_the_later_of_two_entries_with_one_id() -> None:
    """FINDINGS 52."""
    first, second = node("x", "r"), node("x", "r")
    built = Tree([node("r", None), first, second])
    assert built.get("x") is second
    assert [child is first for child in built.children("r")] == [True, False]
    assert ids(built.branch_points()) == ["r"]
    assert len(built) == 3


def test_the_common_ancestor_is_the_deepest_shared_entry() -> None:
    """03 BS-04."""
    built = tree("u a u a | e2: u a | root: u")
    assert ids([entry for entry in [built.common_ancestor("e4", "e6")] if entry]) == ["e2"]
    assert built.common_ancestor("e4", "e7") is None
    assert built.common_ancestor(None, "e4") is None
    assert built.common_ancestor("e4", None) is None
    ancestor = built.common_ancestor("e1", "e4")
    assert ancestor is not None
    assert ancestor.id == "e1"


def test_a_branch_is_what_one_path_has_and_the_other_has_not() -> None:
    built = tree("u a u a | e2: u a | root: u")
    assert ids(built.branch("e4", "e6")) == ["e3", "e4"]
    assert ids(built.branch("e4", "e7")) == ["e1", "e2", "e3", "e4"]


def test_a_circle_of_parents_is_an_error_and_not_an_endless_walk() -> None:
    """BUGS B56."""
    built = Tree([node("ok", None), node("a", "c"), node("b", "a"), node("c", "b")])
    with pytest.raises(CyclicTree, match="'a'"):
        built.path("a")
    assert built.find_cycle() is not None
    assert built.find_cycle() in built.entries[1:]


def test_a_chain_of_a_hundred_thousand_entries_is_walked() -> None:
    """BUGS B25."""
    count = 100_000
    built = Tree(node(str(number), str(number - 1) if number else None) for number in range(count))
    assert len(built.path(str(count - 1))) == count
    assert built.find_cycle() is None
    assert len(built.tips()) == 1


def test_the_latest_label_wins_whatever_its_branch() -> None:
    """01 LB-01, LB-02."""
    place = "2030-01-01T08:00:00.000Z"
    built = Tree(
        [
            node("a", None),
            node("b", "a"),
            label_entry("l1", "b", place, target_id="a", label="old"),
            label_entry("l2", "a", "2030-01-02T08:00:00.000Z", target_id="a", label="new"),
            label_entry("l3", "a", place, target_id="b", label="x"),
            label_entry("l4", "a", place, target_id="b", label=""),
            label_entry("l5", "a", place, target_id="unknown", label="kept"),
            Entry({"type": "label", "id": "l6", "parentId": "a", "label": "no target"}),
        ]
    )
    assert built.labels() == {"a": "new", "unknown": "kept"}
    assert built.labels_with_times()["a"] == ("new", "2030-01-02T08:00:00.000Z")


def test_the_latest_name_in_the_file_wins_and_an_empty_one_clears() -> None:
    """01 NM-01."""
    place = "2030-01-01T08:00:00.000Z"
    named = [node("a", None), session_info_entry("n1", "a", place, " Two\nlines ")]
    assert Tree(named).name() == "Two lines"
    foreign = Entry({"type": "session_info", "id": "n", "parentId": None, "name": " Two\nlines "})
    assert Tree([*named, foreign]).name() == "Two\nlines"
    assert Tree([*named, Entry({"type": "session_info", "id": "n", "name": None})]).name() is None
    assert Tree([*named, session_info_entry("n2", "a", place, "  ")]).name() is None
    assert Tree([]).name() is None
    assert "a" in Tree(named)
