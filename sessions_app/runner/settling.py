"""How a run ends: its open calls answered and its row closed in one transaction, then whatever waited begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from sessions_app import blobs, entry_log, live
from sessions_app.core.json_text import print_json
from sessions_app.core.messages import call_id_of, tool_calls_of
from sessions_app.models import Blob, CompactionAttempt, Entry, Run, Session
from sessions_app.runner import review_records
from sessions_app.runner.active_run import ActiveRun, LeaseLost
from sessions_app.runner.queued_words import waiting_words
from sessions_app.runner.starting import begin_what_waits
from sessions_app.transactions import write_transaction

Json = dict[str, Any]

STOPPED_CALL = "Stopped before there was a result."


def settle(active: ActiveRun) -> bool:
    """End the run in one transaction with its open calls; False when a completed one has more to do.

    What was queued between the last look and now keeps a prompt's run alive: nothing may wait unseen.
    """
    with write_transaction():
        session = entry_log.lock_session(active.session_pk)
        active.assert_owned()
        goes_on = active.run.kind == Run.Kind.PROMPT and active.outcome == Run.Status.COMPLETED
        if goes_on and not _must_make_room(session) and waiting_words(session.pk).exists():
            return False
        if active.run.kind != Run.Kind.COMMAND:
            close_open_calls(session, active.run, reason=STOPPED_CALL)
        end_run(
            active.run,
            session,
            status=active.outcome,
            error=active.error,
            error_kind=active.error_kind,
            spent={"tokens": active.tokens, "cost": active.cost},
        )
    return True


def _must_make_room(session: Session) -> bool:
    """Another run waits for this one to end."""
    return Run.objects.filter(session=session, status=Run.Status.WAITING).exists()


def fail(active: ActiveRun, error: str, kind: str) -> None:
    """End the run as failed with these words; whoever took the run over meanwhile ends it instead."""
    active.outcome, active.error, active.error_kind = Run.Status.FAILED, error, kind
    with suppress(LeaseLost, DatabaseError):
        settle(active)


def announce_settled(active: ActiveRun) -> None:
    aborted = active.outcome in {Run.Status.STOPPED, Run.Status.INTERRUPTED}
    active.stream.add({"type": "agent_settled", "aborted": aborted, "status": active.outcome})


def end_run(
    run: Run,
    session: Session,
    *,
    status: str,
    error: str = "",
    error_kind: str = "",
    at: datetime | None = None,
    spent: Json | None = None,
) -> None:
    """Set a run's end, with the `tokens` and `cost` it has `spent`. The caller holds the session's row and has
    stored what was open.
    """
    now = at or timezone.now()
    Run.objects.filter(pk=run.pk).update(
        status=status,
        ended_at=now,
        lease_until=None,
        checkpoint="",
        output="",
        error=error[:4000],
        error_kind=error_kind[:30],
        **(spent or {}),
    )
    if run.kind != Run.Kind.COMMAND:
        tell_held_results(session)
    for held in CompactionAttempt.objects.filter(run=run, outcome=CompactionAttempt.Outcome.WAITING):
        review_records.close_held(held, CompactionAttempt.Outcome.CANCELLED, error=error)
    for attempt in CompactionAttempt.objects.filter(run=run, outcome=CompactionAttempt.Outcome.STARTED):
        attempt.outcome, attempt.error = CompactionAttempt.Outcome.CANCELLED, error[:4000]
        attempt.save(update_fields=["outcome", "error"])
        review_records.record_attempt(attempt)
    Session.objects.filter(pk=session.pk).update(updated_at=now)
    session_pk, run_pk = session.pk, run.pk
    transaction.on_commit(lambda: live.notify(session_pk, "run", run=run_pk, status=status))
    if run.kind != Run.Kind.COMMAND:
        begin_what_waits(run, session)


def tell_result(session: Session, run: Run, message: Json, uses: Sequence[tuple[int, str]]) -> None:
    """A command's result becomes an entry; while the agent is at work it is held, so that it comes never between a
    call and its result (04 QU-07). `uses`: the blobs it refers to, by id and name. The caller holds the session's row.
    """
    if Run.objects.active().filter(session=session).exists():
        Run.objects.filter(pk=run.pk).update(held=print_json({"message": message, "uses": list(uses)}))
        return
    session.refresh_from_db(fields=["leaf", "next_seq"])
    entry = entry_log.append_locked(
        session, {"type": "message", "message": message}, run=run, author=run.author
    )
    blobs.record_uses(entry, [(Blob.objects.get(pk=pk), name) for pk, name in uses])


def tell_held_results(session: Session) -> None:
    """What was held while the run that ends now was at work, in the order in which it was started."""
    for run in Run.objects.filter(session=session, kind=Run.Kind.COMMAND).exclude(held="").order_by("pk"):
        held = json.loads(run.held)
        Run.objects.filter(pk=run.pk).update(held="")
        tell_result(session, run, held["message"], held["uses"])


def close_open_calls(session: Session, run: Run, *, reason: str) -> list[Entry]:
    """Give each call of the last answer that has no result one, so that none stays open (04 TX-03, B41).

    The caller holds the session's row; the results are appended in the order of the calls.
    """
    written = []
    for call in open_calls(session):
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


def open_calls(session: Session) -> list[Json]:
    """Calls of the newest assistant entry above the leaf that no result entry below it answers."""
    answered: set[Any] = set()
    entry = session.leaf
    while entry is not None:
        if entry.kind == "message" and entry.role == "assistant":
            calls = tool_calls_of(entry.record.get("message") or {})
            return [call for call in calls if call_id_of(call.get("id")) not in answered]
        if entry.kind == "message" and entry.role == "toolResult":
            answered.add(call_id_of((entry.record.get("message") or {}).get("toolCallId")))
        elif entry.kind == "message" or entry.kind not in entry_log.METADATA_KINDS:
            return []
        entry = entry.parent
    return []
