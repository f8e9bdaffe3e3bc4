"""The tour: a finished session to look at, brought in once for everybody who asks, in a folder of its own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from sessions_app import formats
from sessions_app.models import Entry, Session, Workspace
from sessions_app.services import sessions, workspaces

FILE = Path(formats.__file__).with_name("tour.jsonl")


def open_tour(user: Any) -> Session:
    """The user's own tour; its file's id tells whether it is there already. Raises ServiceError."""
    there = Session.objects.visible_to(user).filter(owner=user, file_id=file_id()).first()
    if there is not None:
        return there
    # Nobody's folder: so nothing in it can be taken for the work of the tour's agent.
    workspace = workspaces.add_workspace(
        user=user, path=str(_folder() / str(user.pk)), name="Tour", create=True, by_operator=True
    )
    text = FILE.read_text(encoding="utf-8")
    return sessions.import_session_text(workspace=workspace, owner=user, text=text, name=FILE.name)


def is_tour(session: Session) -> bool:
    """Whether it is the tour as it was brought in, not a copy or a branch of it in a session of its own."""
    return session.file_id == file_id()


def beginning(session: Session) -> Entry | None:
    """The first thing that was said in it."""
    return session.entries.filter(role="user").order_by("seq").first()


def without_tour(choices: QuerySet[Workspace]) -> QuerySet[Workspace]:
    """Folders to begin work in: not those made for a tour."""
    return choices.exclude(path__startswith=f"{_folder()}/")


@cache
def file_id() -> str:
    with FILE.open(encoding="utf-8") as lines:
        return str(json.loads(lines.readline())["id"])


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "tour"
