"""Which files the edits and writes of a branch changed, and by how many lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessions_app import tree_rows
from sessions_app.core.messages import number_of
from sessions_app.fragments.plain_text import one_line
from sessions_app.models import Entry, Session

MOST_RESULTS = 200
"""Newest tool results that are looked at."""


@dataclass(slots=True)
class ChangedFile:
    """Lines added and removed by all changes together."""

    path: str
    added: int = 0
    removed: int = 0


def changed_files(session: Session) -> list[ChangedFile]:
    """Files changed on the active branch, the latest first."""
    found: dict[str, ChangedFile] = {}
    for path, details in _changes(session):
        file = found.setdefault(path, ChangedFile(path))
        file.added += int(number_of(details.get("added")) or 0)
        file.removed += int(number_of(details.get("removed")) or 0)
    return list(found.values())


def patches_of(session: Session, path: str) -> list[str]:
    """What the active branch did to one file, as unified patches in the order they were made."""
    patches = [
        details.get("patch") or details.get("diff")
        for changed, details in _changes(session)
        if changed == path
    ]
    return [patch for patch in reversed(patches) if isinstance(patch, str)]


def _changes(session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    """Path and details of the results of edits and writes, the latest first."""
    if session.leaf is None:
        return
    newest = tree_rows.path_changes(session.leaf, MOST_RESULTS)
    results = Entry.objects.in_bulk(newest)
    root = session.workspace.path.rstrip("/") + "/"
    for pk in newest:
        message = results[pk].record.get("message")
        details = message.get("details") if isinstance(message, dict) else None
        if isinstance(details, dict) and isinstance(details.get("path"), str):
            yield one_line(details["path"].removeprefix(root), 300), details
