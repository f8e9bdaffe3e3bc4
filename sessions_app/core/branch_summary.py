"""The plan of a branch summary: what is left behind when the leaf moves, and how much of it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.file_lists import FileOperations
from sessions_app.core.messages import Json
from sessions_app.core.projection import (
    branch_summary_message_of,
    compaction_summary_message_of,
    latest_edits,
    project_entry,
)
from sessions_app.core.tokens import estimate_tokens
from sessions_app.core.tree import Tree

DEFAULT_CONTEXT_WINDOW = 128_000
_SUMMARY_KINDS = (Kind.COMPACTION, Kind.BRANCH_SUMMARY)


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """The entries between the old leaf and the common ancestor, oldest first; the ancestor may be None."""

    common_ancestor_id: str | None
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class BranchItem:
    """One message that goes into the summary request, its entry and its estimated tokens."""

    entry_id: str
    message: Json
    tokens: int


@dataclass(frozen=True, slots=True)
class BranchSummaryPlan:
    """A branch summary before anything is asked of a model; `token_budget` ≤ 0 means no limit."""

    items: tuple[BranchItem, ...]
    total_tokens: int
    token_budget: int
    file_operations: FileOperations


def left_behind(tree: Tree, old_leaf_id: str | None, target_id: str) -> LeftBehind:
    """What going from a leaf to a target leaves behind (03 BS-04…07).

    Unknown ids have an empty path. Raises CyclicTree.
    """
    if old_leaf_id is None or old_leaf_id not in tree:
        return LeftBehind(None, ())
    kept = {entry.id for entry in tree.path(target_id)} if target_id in tree else set()
    entries: list[Entry] = []
    for entry in tree.walk_up(tree.get(old_leaf_id)):
        if entry.id in kept:
            return LeftBehind(entry.id, tuple(reversed(entries)))
        entries.append(entry)
    return LeftBehind(None, tuple(reversed(entries)))


def token_budget(context_window: int, reserve_tokens: int) -> int:
    """How much may be summarised: the window, or 128,000 where it is unknown, minus the reserve (03 BS-09)."""
    return (context_window or DEFAULT_CONTEXT_WINDOW) - reserve_tokens


def plan_branch_summary(entries: Sequence[Entry], budget: int) -> BranchSummaryPlan:
    """Newest first, what fits the budget; a summary is still taken while less than 90 % is used (03 BS-09)."""
    operations = FileOperations()
    for entry in entries:
        if entry.kind == Kind.BRANCH_SUMMARY:
            operations.add_details(entry.record)
    edits = latest_edits(entries)
    items: list[BranchItem] = []
    total = 0
    for entry in reversed(entries):
        message = _message_of(entry, edits.get(entry.id))
        if message is None:
            continue
        operations.add_calls(message, nested=False)
        tokens = estimate_tokens(message)
        fits = budget <= 0 or total + tokens <= budget
        if not fits and not (entry.kind in _SUMMARY_KINDS and total < budget * 0.9):
            break
        items.append(BranchItem(entry.id, message, tokens))
        total += tokens
        if not fits:
            break
    items.reverse()
    return BranchSummaryPlan(tuple(items), total, budget, operations)


def _message_of(entry: Entry, edit: Entry | None) -> Json | None:
    """What an entry adds; tool results are left out, their calls are seen in the answer (03 BS-10).

    Edits reach messages and custom messages; summaries stay, even an empty one.
    """
    match entry.kind:
        case Kind.BRANCH_SUMMARY:
            return branch_summary_message_of(entry)
        case Kind.COMPACTION:
            return compaction_summary_message_of(entry)
    if entry.role == "toolResult":
        return None
    messages = project_entry(entry, edit).messages
    return messages[0] if messages else None
