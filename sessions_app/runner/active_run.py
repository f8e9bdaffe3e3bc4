"""A run in this process: claimed, leased, and the only one that may write for its session."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sessions_app import blobs, entry_log, live
from sessions_app.agent.partial_answer import PartialAnswer
from sessions_app.agent.stop import StopSignal
from sessions_app.models import Entry, QueuedMessage, Run, Session
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

Json = dict[str, Any]

# Tells this process from any other that ever claims a run.
WORKER = f"{socket.gethostname()[:30]}:{os.getpid()}:{secrets.token_hex(6)}"


class LeaseLost(Exception):  # noqa: N818 - it reads as a sentence where it is raised
    """The run was taken from this worker: it may write nothing more."""


@dataclass(slots=True)
class ActiveRun:
    """`tail` is the seq of the newest entry the run has seen; `outcome` what it will end as."""

    run: Run
    session_pk: int
    stream: live.RunStream
    stop: StopSignal = field(default_factory=StopSignal)
    partial: PartialAnswer = field(default_factory=PartialAnswer)
    tail: int | None = None
    outcome: str = Run.Status.COMPLETED
    error: str = ""
    error_kind: str = ""

    def store(self, fields: Json, *, author: Any = None, delivered: int | None = None) -> Entry | None:
        """Append an entry behind the run's tail; with `delivered`, the queued message goes in the same transaction.

        None when that queued message was taken back meanwhile. Raises LeaseLost, entry_log.LeafMoved.
        """
        uses: list[tuple[Any, str]] = []
        if isinstance(fields.get("message"), dict):
            message, uses = blobs.externalise(fields["message"])
            fields = {**fields, "message": message}
        with write_transaction():
            entry_log.lock_session(self.session_pk)
            self.assert_owned()
            if delivered is not None and not QueuedMessage.objects.filter(pk=delivered).delete()[0]:
                return None
            entry = entry_log.append(
                self.session_pk, fields, run=self.run, author=author, expected_leaf_seq=self.tail
            )
            blobs.record_uses(entry, uses)
        self.tail = entry.seq
        return entry

    def assert_owned(self) -> None:
        """Inside the transaction that writes: is the run still ours?"""
        owned = Run.objects.filter(pk=self.run.pk, owner=WORKER, status=Run.Status.RUNNING)
        if not owned.exists():
            raise LeaseLost


def claim(run_id: int) -> Run | None:
    """Take a queued run for this process; None when somebody else has it or it is over (B33)."""
    now = timezone.now()
    with write_transaction():
        taken = Run.objects.filter(pk=run_id, status=Run.Status.QUEUED).update(
            status=Run.Status.RUNNING,
            owner=WORKER,
            lease_until=now + lease(),
            started_at=now,
            marker=secrets.token_hex(12),
        )
        if not taken:
            return None
        run = Run.objects.select_related("session__workspace", "session__leaf", "author").get(pk=run_id)
        session_pk = run.session_id
        transaction.on_commit(lambda: live.notify(session_pk, "run", run=run_id, status=Run.Status.RUNNING))
    return run


def lease() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


def end_run(
    run: Run,
    session: Session,
    *,
    status: str,
    error: str = "",
    error_kind: str = "",
    at: datetime | None = None,
) -> None:
    """Set a run's end. The caller holds the session's row and has stored what was open."""
    now = at or timezone.now()
    Run.objects.filter(pk=run.pk).update(
        status=status,
        ended_at=now,
        lease_until=None,
        checkpoint="",
        error=error[:4000],
        error_kind=error_kind[:30],
    )
    Session.objects.filter(pk=session.pk).update(updated_at=now)
    session_pk, run_pk = session.pk, run.pk
    transaction.on_commit(lambda: live.notify(session_pk, "run", run=run_pk, status=status))


def close_open_calls(session: Session, run: Run, *, reason: str) -> list[Entry]:
    """Give each call of the last answer that has no result one, so that none stays open (04 TX-03, B41).

    The caller holds the session's row; the results are appended in the order of the calls.
    """
    session.refresh_from_db(fields=["leaf", "next_seq"])
    open_calls = _open_calls(session)
    written = []
    for call in open_calls:
        message = {
            "role": "toolResult",
            "toolCallId": call.get("id"),
            "toolName": call.get("name"),
            "content": [{"type": "text", "text": reason}],
            "isError": True,
            "timestamp": int(timezone.now().timestamp() * 1000),
        }
        written.append(entry_log.append_locked(session, {"type": "message", "message": message}, run=run))
    return written


def _open_calls(session: Session) -> list[Json]:
    """Calls of the newest assistant entry above the leaf that no result entry below it answers."""
    answered: set[Any] = set()
    entry = session.leaf
    while entry is not None:
        if entry.kind == "message" and entry.role == "assistant":
            message = entry.record.get("message", {})
            content = message.get("content")
            calls = (
                [b for b in content if isinstance(b, dict) and b.get("type") == "toolCall"]
                if isinstance(content, list)
                else []
            )
            return [call for call in calls if call.get("id") not in answered]
        if entry.kind == "message" and entry.role == "toolResult":
            answered.add(entry.record.get("message", {}).get("toolCallId"))
        elif entry.kind == "message" or entry.kind not in entry_log.METADATA_KINDS:
            return []
        entry = entry.parent
    return []
