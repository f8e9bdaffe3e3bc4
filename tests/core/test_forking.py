"""A branch copied into another session."""

from __future__ import annotations

from sessions_app.core.forking import copy_branch
from sessions_app.core.tree import Tree
from tests.builders import tree


def copied(text: str, leaf: str | None) -> Tree:
    minted = iter(["n1", "n2", "n3"])
    return Tree(copy_branch(tree(text), leaf, lambda: next(minted)))


def test_ids_stay_and_labels_move_to_the_end() -> None:
    """01 FK-04."""
    copy = copied("u label@e1 a label@e3 u | e1: label@e5", "e5")
    assert [(entry.id, entry.parent_id) for entry in copy.entries] == [
        ("e1", None),
        ("e3", "e1"),
        ("e5", "e3"),
        ("n1", "e5"),
        ("n2", "n1"),
        ("n3", "n2"),
    ]
    assert copy.labels() == {"e1": "here", "e3": "here", "e5": "here"}
    assert copy.entries[3].timestamp == tree("u label@e1").entries[1].timestamp
    assert [entry.seq for entry in copy.entries] == [1, 2, 3, 4, 5, 6]


def test_a_boundary_on_a_label_moves_to_the_next_entry_that_stays() -> None:
    """01 FK-04, LB-03."""
    copy = copied("u a label@e1 label@e2 u cut@e3 u", "e7")
    assert copy.get("e6").record["firstKeptEntryId"] == "e5"


def test_other_boundaries_and_retain_none_stay_as_they_are() -> None:
    assert copied("u label@e1 a cut@e1", "e4").get("e4").record["firstKeptEntryId"] == "e1"
    assert copied("u cut@-", "e2").get("e2").record["firstKeptEntryId"] == "e2"


def test_labels_of_entries_left_behind_are_left_behind() -> None:
    copy = copied("u a u label@e3", "e2")
    assert copy.labels() == {}
    assert len(copy) == 2


def test_copying_nothing_gives_nothing() -> None:
    assert len(copied("u label@e1", None)) == 0
    assert len(copied("label@gone", "e1")) == 0
