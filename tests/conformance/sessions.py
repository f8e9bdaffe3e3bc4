"""Where a case's session lives while questions are asked of it; other stores implement the same protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol

from sessions_app.core.entries import Entry
from sessions_app.core.errors import NotASession
from sessions_app.core.projection import Context, project
from sessions_app.core.tree import Tree
from sessions_app.formats.jsonl import SessionFile, read_session


class Session(Protocol):
    """A loaded session. Whoever answers from rows instead of values implements these."""

    loaded: SessionFile

    def leaf_id(self) -> str | None: ...
    def tree(self) -> Tree: ...
    def path(self, leaf_id: str | None) -> list[Entry]: ...
    def context(self, leaf_id: str | None) -> Context: ...
    def append(self, entries: Iterable[Entry]) -> None: ...


class CoreSession:
    """The session as plain values."""

    def __init__(self, text: str) -> None:
        minted = iter(range(1, 10**8))
        self.loaded = read_session(text, lambda: f"gen{next(minted):05d}")
        self._tree = self.loaded.tree

    def leaf_id(self) -> str | None:
        return self._tree.last_id()

    def tree(self) -> Tree:
        return self._tree

    def path(self, leaf_id: str | None) -> list[Entry]:
        return self._tree.path(leaf_id) if leaf_id is None or leaf_id in self._tree else []

    def context(self, leaf_id: str | None) -> Context:
        return project(self._tree.path(leaf_id))

    def append(self, entries: Iterable[Entry]) -> None:
        self._tree = Tree([*self._tree.entries, *entries])


def open_case(case: dict[str, Any], kind: Any) -> Any:
    """The case's session, or None if its file is refused."""
    try:
        return kind(text_of_case(case))
    except NotASession:
        return None


def text_of_case(case: dict[str, Any]) -> str:
    """The session file of a case."""
    if "sessionLines" in case:
        lines = case["sessionLines"]
        end = "" if case.get("noTrailingNewline") or not lines else "\n"
        return "\n".join(lines) + end
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in case["session"])
