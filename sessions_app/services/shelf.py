"""Putting away and taking back: archive and delete; and the two acts that can't be undone, purge and erase."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from sessions_app import blobs, entry_log, live
from sessions_app.models import (
    CompactionAttempt,
    Entry,
    Membership,
    QualityReport,
    Question,
    QueuedMessage,
    Removal,
    Run,
    Session,
    ShelfMark,
    SummaryExchange,
    SummaryVersion,
)
from sessions_app.runner import purging
from sessions_app.services.errors import BadInput, Conflict, NotAllowed
from sessions_app.services.runs import stop_run
from sessions_app.transactions import write_transaction


def archive_session(*, session: Session, author: Any) -> None:
    """Out of the list, still readable and usable; saying something in it brings nothing back by itself."""
    _mark(session, author, archived_at=timezone.now())


def unarchive_session(*, session: Session, author: Any) -> None:
    _mark(session, author, archived_at=None)


def delete_session(*, session: Session, author: Any) -> None:
    """Out of sight for everybody, restorable for `TRASH_DAYS`. What runs is stopped, what waits is dropped."""
    stop_run(session=session, author=author, return_queue=True)
    _mark(session, author, deleted_at=timezone.now())
    live.notify(session.pk, "erased")


def restore_session(*, session: Session, author: Any) -> None:
    _mark(session, author, deleted_at=None)


def purge_session(*, session: Session, author: Any) -> None:
    """Remove a deleted session for good, with its blobs. For its owner and admins of the workspace.

    Raises NotAllowed; Conflict while its run is still ending.
    """
    _check_may_remove(session, author)
    try:
        purging.purge(session, author)
    except purging.NotDeleted:
        raise Conflict("This session is not deleted.", "Delete it first.") from None
    except purging.StillRunning:
        raise Conflict("Its run is still being stopped.", "Try again in a moment.") from None


def may_remove(session: Session, user: Any) -> bool:
    """Purging and erasing: the session's owner, and admins of its workspace."""
    is_admin = Membership.objects.filter(
        workspace=session.workspace_id, user=user, role=Membership.Role.ADMIN
    ).exists()
    return is_admin or session.owner_id == user.pk


def erase_entry(*, session: Session, author: Any, entry: Entry, reason: str) -> None:
    """Really remove an entry's text and blobs: from the database, the search, the live stream and every stored
    request and version that may hold it. A tombstone with the reason stays, and the tree stays valid. Logged.

    Raises NotAllowed, BadInput without a reason, Conflict while something runs.
    """
    _check_may_remove(session, author)
    reason = " ".join(reason.split())[:300]
    if not reason:
        raise BadInput("Say why; the reason stays in the place of the text.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if Run.objects.active().filter(session=locked).exists():
            raise Conflict("Something is running in this session.", "Wait until it ends, or stop it.")
        unused = entry_log.erase_text(locked, entry, reason)
        _blank_copies(locked, entry)
        Removal.objects.create(
            what=Removal.What.ENTRY,
            workspace=locked.workspace,
            session_key=locked.key,
            seq=entry.seq,
            reason=reason,
            author=author,
        )
        runs = list(Run.objects.filter(session=locked).values_list("pk", flat=True))
        transaction.on_commit(lambda: live.forget(session.pk, runs))
        transaction.on_commit(lambda: live.notify(session.pk, "leaf", seq=entry.seq))
    blobs.drop_unused(unused)


def _blank_copies(session: Session, entry: Entry) -> None:
    """Requests, candidates and reports of compactions and questions about tool calls quote the history; which of them quote this entry can't be told
    for sure, so all of the session go. The summaries in force are entries of their own."""
    attempts = CompactionAttempt.objects.filter(session=session)
    SummaryExchange.objects.filter(attempt__in=attempts).update(system="", prompt="", answer="")
    SummaryExchange.objects.filter(version__review__session=session).update(system="", prompt="", answer="")
    attempts.update(carried="", error="", file_lists="", instructions="")
    versions = SummaryVersion.objects.filter(review__session=session)
    QualityReport.objects.filter(version__in=versions).delete()
    # A version that was in force is an entry too; it stays what the entry says, unless that is what was erased.
    unheld = versions.filter(Q(entry=None) | Q(entry=entry))
    unheld.update(summary="", carried="", details="", instructions="", error="")
    Question.objects.filter(run__session=session).update(arguments="{}", preview="")
    Run.objects.filter(session=session).update(checkpoint="", request="", output="", held="", error="")
    QueuedMessage.objects.filter(session=session).delete()


def _check_may_remove(session: Session, author: Any) -> None:
    if not may_remove(session, author):
        raise NotAllowed("Only the owner of the session and admins of its workspace may remove for good.")


def _mark(session: Session, author: Any, **when: Any) -> None:
    """Raises BadInput when the session was removed for good meanwhile."""
    with write_transaction():
        if not Session.objects.select_for_update().filter(pk=session.pk).exists():
            raise BadInput("This session was removed for good.")
        ShelfMark.objects.update_or_create(session=session, defaults={**when, "author": author})
