"""Which files the edits and writes of a branch changed, and by how many lines."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app.core.messages import number_of
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.tree_paths import lay_out
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
    layout = lay_out(session, session.leaf)
    if not layout.length:
        return []
    results = Entry.objects.filter(layout.all(), role="toolResult", payload__contains='"firstChangedLine"')
    found: dict[str, ChangedFile] = {}
    root = session.workspace.path.rstrip("/") + "/"
    for entry in results.order_by("-depth").only("payload")[:MOST_RESULTS]:
        message = entry.record.get("message")
        details = message.get("details") if isinstance(message, dict) else None
        if not isinstance(details, dict) or not isinstance(details.get("path"), str):
            continue
        path = one_line(details["path"].removeprefix(root), 300)
        file = found.setdefault(path, ChangedFile(path))
        file.added += int(number_of(details.get("added")) or 0)
        file.removed += int(number_of(details.get("removed")) or 0)
    return list(found.values())
