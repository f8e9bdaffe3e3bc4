"""A run in this process: claimed, leased, and the only one that may write for its session."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from sessions_app import blobs, entry_log, live
from sessions_app.agent.partial_answer import PartialAnswer
from sessions_app.agent.stop import StopSignal
from sessions_app.core.totals import Spending
from sessions_app.models import Entry, QueuedMessage, Run
from sessions_app.runner.compaction_plan import Branch
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

Json = dict[str, Any]

# Tells this process from any other that ever claims a run.
WORKER = f"{socket.gethostname()[:30]}:{os.getpid()}:{secrets.token_hex(6)}"


class LeaseLost(Exception):  # noqa: N818 - it reads as a sentence where it is raised
    """The run was taken from this worker: it may write nothing more."""


@dataclass(slots=True)
class ActiveRun:
    """`tail` is the seq of the newest entry the run has seen; `outcome` what it will end as.

    `tokens` and `cost` (US dollars) are what all its requests have used so far, summaries included. `is_left`: it was
    given back because it waits for a person, and has not ended.
    """

    run: Run
    session_pk: int
    stream: live.RunStream
    stop: StopSignal = field(default_factory=StopSignal)
    partial: PartialAnswer = field(default_factory=PartialAnswer)
    tail: int | None = None
    outcome: str = Run.Status.COMPLETED
    error: str = ""
    error_kind: str = ""
    tokens: int = 0
    cost: float = 0.0
    is_left: bool = False
    follower: entry_log.PathFollower = field(default_factory=entry_log.PathFollower)

    def store(self, fields: Json, *, author: Any = None, delivered: int | None = None) -> Entry | None:
        """Append an entry behind the run's tail; with `delivered`, the queued message goes in the same transaction.

        None when that queued message was taken back meanwhile. Raises LeaseLost, entry_log.LeafMoved.
        """
        uses: list[tuple[Any, str]] = []
        if isinstance(fields.get("message"), dict):
            message, uses = blobs.externalise(fields["message"])
            fields = {**fields, "message": message}
        with write_transaction():
            session = entry_log.lock_session(self.session_pk)
            self.assert_owned()
            if delivered is not None and not QueuedMessage.objects.filter(pk=delivered).delete()[0]:
                return None
            if not entry_log.continues(session, self.tail):
                raise entry_log.LeafMoved
            entry = entry_log.append_locked(session, fields, run=self.run, author=author)
            blobs.record_uses(entry, uses)
        self.tail = entry.seq
        if isinstance(fields.get("message"), dict):
            self.count(fields["message"].get("usage"))
        return entry

    def branch(self) -> Branch | None:
        """The session's active branch as it is now; None for a session without an entry."""
        leaf = self.run.session.leaf = entry_log.current_leaf(self.session_pk)
        return None if leaf is None else Branch(leaf, *self.follower.read(leaf))

    def count(self, usage: Any) -> None:
        """Add a usage to what the run has spent."""
        if isinstance(usage, dict):
            spending = Spending()
            spending.add(usage)
            self.tokens += int(spending.tokens)
            self.cost += spending.cost

    def end_as_stopped(self) -> None:
        """The stop was asked for: by a person, or because the worker goes or has lost the run."""
        if self.stop.reason in {"shutdown", "lease lost"}:
            self.outcome = Run.Status.INTERRUPTED
            self.error = "The server was stopped in the middle. What had been written is kept."
            self.error_kind = "interrupted"
        else:
            self.outcome, self.error, self.error_kind = Run.Status.STOPPED, "", ""

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
            started_at=Coalesce("started_at", Value(now)),
            # One that has waited for a person keeps what it started: its mark is in the environment of its processes.
            marker=Case(When(marker="", then=Value(secrets.token_hex(12))), default="marker"),
        )
        if not taken:
            return None
        run = Run.objects.select_related("session__workspace", "session__leaf", "author").get(pk=run_id)
        session_pk = run.session_id
        facts = {"run": run_id, "status": Run.Status.RUNNING, "agent": run.kind != Run.Kind.COMMAND}
        transaction.on_commit(lambda: live.notify(session_pk, "run", **facts))
    return run


def lease() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)
