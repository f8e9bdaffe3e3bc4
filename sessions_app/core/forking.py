"""The entries of one branch as the beginning of another session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sessions_app.core.entries import Entry, Kind, label_entry
from sessions_app.core.messages import Json
from sessions_app.core.tree import Tree


def copy_branch(tree: Tree, leaf_id: str | None, mint_id: Callable[[], str]) -> list[Entry]:
    """The path to a leaf with its ids kept and its labels moved to the end (01 FK-04).

    Labels leave the chain, and what they carried is chained anew; a kept boundary on a label moves to the
    next entry that stays. Then every copied target gets its label, with a minted id and the old time.
    """
    path = tree.path(leaf_id)
    stays = [entry for entry in path if entry.kind != Kind.LABEL]
    copies: list[Entry] = []
    boundaries = _boundaries(path)
    for entry in stays:
        record: Json = {**entry.record, "parentId": copies[-1].id if copies else None}
        kept = record.get("firstKeptEntryId")
        if entry.kind == Kind.COMPACTION and isinstance(kept, str) and kept in boundaries:
            record["firstKeptEntryId"] = boundaries[kept]
        copies.append(Entry(record, len(copies) + 1))
    return [*copies, *_labels(tree, copies, mint_id)]


def _boundaries(path: Sequence[Entry]) -> dict[str, str]:
    """Label id → id of the next entry on the path that is no label."""
    boundaries: dict[str, str] = {}
    following: str | None = None
    for entry in reversed(path):
        if entry.kind != Kind.LABEL:
            following = entry.id
        elif following is not None:
            boundaries[entry.id] = following
    return boundaries


def _labels(tree: Tree, copies: Sequence[Entry], mint_id: Callable[[], str]) -> list[Entry]:
    copied = {entry.id for entry in copies}
    parent = copies[-1].id if copies else None
    labels: list[Entry] = []
    for target, (label, timestamp) in tree.labels_with_times().items():
        if target in copied:
            entry = label_entry(mint_id(), parent, timestamp, target_id=target, label=label)
            labels.append(Entry(entry.record, len(copies) + len(labels) + 1))
            parent = entry.id
    return labels
