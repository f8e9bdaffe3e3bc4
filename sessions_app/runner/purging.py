"""Removing deleted sessions for good: when a person asks for it, and by itself when they were deleted long ago."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sessions_app import blobs, entry_log, live
from sessions_app.core.errors import SessionError
from sessions_app.models import Removal, Run, Session, ShelfMark
from sessions_app.transactions import write_transaction

EVERY_SECONDS = 3_600.0
MOST_AT_ONCE = 100


class NotDeleted(SessionError):  # noqa: N818 - it reads as a sentence where it is raised
    """Somebody has brought the session back."""


class StillRunning(SessionError):  # noqa: N818 - it reads as a sentence where it is raised
    """The session's run is still ending."""


class PurgeSweep:
    """Remembers when this process looked last."""

    def __init__(self) -> None:
        self._next = 0.0

    def look(self) -> None:
        """Purge what is old, at most once in `EVERY_SECONDS`. Of several workers one does it, the others find nothing."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY_SECONDS
            purge_old()


def purge_old() -> int:
    """Remove what was deleted more than `TRASH_DAYS` ago; how many sessions."""
    horizon = timezone.now() - timedelta(days=settings.TRASH_DAYS)
    purged = 0
    for session in Session.objects.filter(shelf__deleted_at__lt=horizon).order_by("pk")[:MOST_AT_ONCE]:
        try:
            purge(session, None)
        except (NotDeleted, StillRunning, Session.DoesNotExist):
            continue
        purged += 1
    return purged


def purge(session: Session, author: Any) -> None:
    """Remove a deleted session with its blobs; logged, by nobody (`author` None) for its age.

    Raises NotDeleted, StillRunning; Session.DoesNotExist when it is gone already.
    """
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if not ShelfMark.objects.filter(session=locked, deleted_at__isnull=False).exists():
            raise NotDeleted
        if Run.objects.active().filter(session=locked).exists():
            raise StillRunning
        Removal.objects.create(
            what=Removal.What.SESSION,
            workspace=locked.workspace,
            session_key=locked.key,
            author=author,
            reason="" if author else f"deleted {settings.TRASH_DAYS} days ago",
        )
        runs = list(Run.objects.filter(session=locked).values_list("pk", flat=True))
        entry_log.remove_session(locked)
        transaction.on_commit(lambda: live.forget(session.pk, runs))
    blobs.collect()


purge_sweep = PurgeSweep()
