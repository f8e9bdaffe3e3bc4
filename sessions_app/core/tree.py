"""The session tree: look-ups, paths, children, tips and common ancestors; never recursive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cmp_to_key
from typing import Any

from sessions_app.core.entries import Entry, Kind, trim
from sessions_app.core.errors import CyclicTree, UnknownEntry
from sessions_app.core.times import milliseconds_of


class Tree:
    """All entries of a session in the order they were written.

    Imported files may hold an id twice: then look-ups find the later entry, while listings show both
    (FINDINGS 52). A missing parent, or an entry that is its own parent, makes a root (01 ST-06).
    """

    __slots__ = ("_children", "_index", "entries")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        self._index: dict[str, Entry] = {entry.id: entry for entry in self.entries}
        self._children: dict[str | None, list[Entry]] | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._index

    def get(self, entry_id: str) -> Entry:
        """The entry with this id. Raises UnknownEntry."""
        try:
            return self._index[entry_id]
        except KeyError:
            raise UnknownEntry(f"no entry {entry_id!r} in this session") from None

    def parent_of(self, entry: Entry) -> Entry | None:
        parent_id = entry.parent_id
        if parent_id is None or parent_id == entry.id:
            return None
        return self._index.get(parent_id)

    def path(self, leaf_id: str | None) -> list[Entry]:
        """Root → the entry `leaf_id`; nothing for None. Raises UnknownEntry and CyclicTree."""
        if leaf_id is None:
            return []
        path = list(self.walk_up(self.get(leaf_id)))
        path.reverse()
        return path

    def walk_up(self, entry: Entry) -> Iterator[Entry]:
        """The entry, its parent and so on to a root. Raises CyclicTree."""
        current: Entry | None = entry
        for _ in range(len(self.entries) + 1):
            if current is None:
                return
            yield current
            current = self.parent_of(current)
        raise CyclicTree(f"following the parents of entry {entry.id!r} never reaches a root")

    def last_id(self) -> str | None:
        """The last entry in file order: the leaf of a freshly loaded session (01 ST-05)."""
        return self.entries[-1].id if self.entries else None

    def roots(self) -> list[Entry]:
        """Entries without a parent here, in file order."""
        return self._links().get(None, [])

    def children(self, entry_id: str) -> list[Entry]:
        """Oldest first by timestamp, in file order where equal (01 ST-07)."""
        return self._links().get(entry_id, [])

    def tips(self) -> list[Entry]:
        """Entries without children, in file order."""
        links = self._links()
        return [entry for entry in self.entries if entry.id not in links]

    def branch_points(self) -> list[Entry]:
        """Entries with more than one child, in file order."""
        links = self._links()
        return [
            entry
            for entry in self.entries
            if self._index[entry.id] is entry and len(links.get(entry.id, ())) > 1
        ]

    def common_ancestor(self, one_id: str | None, other_id: str | None) -> Entry | None:
        """The deepest entry on both paths, the ends included; None for different roots (03 BS-04)."""
        if one_id is None or other_id is None:
            return None
        on_path = {entry.id for entry in self.walk_up(self.get(one_id))}
        for entry in self.walk_up(self.get(other_id)):
            if entry.id in on_path:
                return entry
        return None

    def branch(self, from_id: str, to_id: str) -> list[Entry]:
        """The entries on the path to `from_id` that are not on the path to `to_id`, oldest first."""
        ancestor = self.common_ancestor(from_id, to_id)
        entries: list[Entry] = []
        for entry in self.walk_up(self.get(from_id)):
            if entry is ancestor:
                break
            entries.append(entry)
        entries.reverse()
        return entries

    def find_cycle(self) -> Entry | None:
        """An entry that is among its own ancestors, if there is one; every entry is visited about once."""
        sound: set[str] = set()
        for entry in self.entries:
            current: Entry | None = self._index[entry.id]
            trail: set[str] = set()
            while current is not None and current.id not in sound:
                if current.id in trail:
                    return current
                trail.add(current.id)
                current = self.parent_of(current)
            sound |= trail
        return None

    def name(self) -> str | None:
        """The session's name: the latest in the file, whatever the branch; None if cleared (01 NM-01).

        Files of other programs may hold a name of several lines.
        """
        for entry in reversed(self.entries):
            if entry.kind == Kind.SESSION_INFO:
                name = entry.record.get("name")
                return trim(name) or None if isinstance(name, str) else None
        return None

    def labels(self) -> dict[str, str]:
        """Entry id → label; the latest in file order wins, an empty one clears (01 LB-01)."""
        return {target: label for target, (label, _) in self.labels_with_times().items()}

    def labels_with_times(self) -> dict[str, tuple[str, Any]]:
        """Entry id → label and the timestamp of the entry that set it (01 LB-02)."""
        labels: dict[str, tuple[str, Any]] = {}
        for entry in self.entries:
            if entry.kind != Kind.LABEL:
                continue
            target, label = entry.record.get("targetId"), entry.record.get("label")
            if isinstance(target, str):
                labels.pop(target, None)
                if isinstance(label, str) and label:
                    labels[target] = (label, entry.timestamp)
        return labels

    def _links(self) -> dict[str | None, list[Entry]]:
        if self._children is None:
            children: dict[str | None, list[Entry]] = {}
            for entry in self.entries:
                parent = self.parent_of(entry)
                children.setdefault(None if parent is None else parent.id, []).append(entry)
            for parent_id, siblings in children.items():
                if parent_id is not None and len(siblings) > 1:
                    siblings.sort(key=cmp_to_key(self._by_time))
            self._children = children
        return self._children

    def _by_time(self, one: Entry, other: Entry) -> int:
        # Of entries with one id the later one's time counts, as for every look-up.
        first = milliseconds_of(self._index[one.id].timestamp)
        second = milliseconds_of(self._index[other.id].timestamp)
        if first is None or second is None:
            return 0
        return (first > second) - (first < second)
