"""Moves in the tree."""

from __future__ import annotations

import pytest

from sessions_app.core.entries import Entry
from sessions_app.core.errors import UnknownEntry
from sessions_app.core.navigation import Destination, destination_of, undo_target
from sessions_app.core.tree import Tree
from tests.builders import tree


def test_a_users_message_goes_back_to_the_editor_and_its_parent_becomes_the_leaf() -> None:
    """01 TR-03."""
    built = tree("u a u:1 note:1")
    assert destination_of(built, "e3") == Destination("e2", "e3 e")
    assert destination_of(built, "e4") == Destination("e3", "e4 e")
    assert destination_of(built, "e1").leaf_id is None


def test_anything_else_becomes_the_leaf_itself() -> None:
    """01 TR-03."""
    assert destination_of(tree("u a t bs"), "e3") == Destination("e3", None)
    assert destination_of(tree("u a t bs"), "e4") == Destination("e4", None)


def test_blocks_are_joined_without_a_separator_and_images_left_out() -> None:
    """01 TR-03."""
    content = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    entry = Entry(
        {"type": "message", "id": "x", "parentId": None, "message": {"role": "user", "content": content}}
    )
    assert destination_of(Tree([entry]), "x") == Destination(None, "ab")


def test_an_unknown_target_is_an_error() -> None:
    """01 TR-02. So is the place before words whose parent is not there."""
    orphan = {"type": "message", "id": "x", "parentId": "gone", "message": {"role": "user", "content": "a"}}
    for built, target in ((tree("u"), "gone"), (Tree([Entry(orphan)]), "x")):
        with pytest.raises(UnknownEntry):
            destination_of(built, target)


def test_undo_goes_back_to_the_latest_user_message_of_the_branch() -> None:
    """01 §6 /undo."""
    built = tree("u a u a | e2: note a")
    for leaf, target in (("e4", "e3"), ("e6", "e1")):
        entry = undo_target(built, leaf)
        assert entry is not None
        assert entry.id == target
    assert undo_target(built, None) is None
    assert undo_target(tree("a"), "e1") is None
