"""Where a move in the session tree leads, and which words it gives back to the editor."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.messages import text_of
from sessions_app.core.tree import Tree


@dataclass(frozen=True, slots=True)
class Destination:
    """The new leaf, None being before the first entry; `editor_text` is None if nothing is handed back."""

    leaf_id: str | None
    editor_text: str | None


def destination_of(tree: Tree, target_id: str) -> Destination:
    """A user's message or a custom message is taken back for editing, anything else becomes the leaf (01 TR-03).

    Raises UnknownEntry, also for words whose parent is not there: nothing stands before them.
    """
    target = tree.get(target_id)
    if not speaks_for_user(target):
        return Destination(target.id, None)
    before = target.record.get("parentId")
    return Destination(None if before is None else tree.get(before).id, words_of(target))


def speaks_for_user(entry: Entry) -> bool:
    return entry.kind == Kind.CUSTOM_MESSAGE or entry.role == "user"


def words_of(entry: Entry) -> str:
    """The text of a message or custom message entry, text blocks joined without a separator."""
    holder = entry.message if entry.kind == Kind.MESSAGE else entry.record
    return text_of((holder or {}).get("content"))


def undo_target(tree: Tree, leaf_id: str | None) -> Entry | None:
    """The latest user message of the active branch, where /undo goes back to; None if there is none."""
    if leaf_id is None:
        return None
    for entry in tree.walk_up(tree.get(leaf_id)):
        if entry.role == "user":
            return entry
    return None
