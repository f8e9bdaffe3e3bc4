"""Following a path that grows: who goes on along it reads and projects only what is new."""

from __future__ import annotations

from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.projection import Context, extended, project
from sessions_app.entry_log.active_path import load_core_path
from sessions_app.entry_log.reading import active_path
from sessions_app.models import Entry


class PathFollower:
    """The active path of one session as a run sees it, leaf after leaf, and what the model sees of it.

    A leaf further down the same segment, under the same compaction, adds its entries to what is known; any other one
    is read anew. It must not outlive the run: texts are erased, and segments mended, while nothing runs.
    """

    def __init__(self) -> None:
        self._leaf: Entry | None = None
        self._path: list[CoreEntry] = []
        self._context: Context = project([])

    def read(self, leaf: Entry) -> tuple[list[CoreEntry], Context]:
        """The active path to a leaf, top first, and its projection; nobody changes either."""
        known, self._leaf = self._leaf, None
        if known is None or not _goes_on(known, leaf):
            self._path = active_path(leaf)
            self._context = project(self._path)
        elif leaf.ordinal > known.ordinal:
            added = load_core_path(leaf, known.depth + 1)
            self._path = [*self._path, *added]
            self._context = extended(self._context, added) or project(self._path)
        self._leaf = leaf
        return self._path, self._context


def _goes_on(known: Entry, leaf: Entry) -> bool:
    return (leaf.segment_id, leaf.compaction_seq) == (known.segment_id, known.compaction_seq) and (
        leaf.ordinal >= known.ordinal
    )
