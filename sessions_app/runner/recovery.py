"""What is done about runs whose worker is gone: enqueue again what nobody claimed, close what nobody holds."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from sessions_app import entry_log, live
from sessions_app.agent.partial_answer import Unfinished, unfinished_of
from sessions_app.agent.sandboxes.processes import kill_marked
from sessions_app.models import Run
from sessions_app.runner import approval, permissions
from sessions_app.runner.settling import close_open_calls, end_run, tell_result
from sessions_app.runner.starting import begin_what_waits, enqueue
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

Json = dict[str, Any]

# A queued run that has waited this long was not delivered: the broker may have lost it.
_UNCLAIMED_AFTER = timedelta(seconds=6)

LOST = "The worker that ran this was lost; the tool's result was never recorded."
INTERRUPTED = "The worker stopped in the middle. What had been written is kept; nothing was done twice."


def sweep(send: Callable[[int], None] = enqueue) -> int:
    """One look at all active runs; the number acted on. Many processes may sweep at once."""
    now = timezone.now()
    acted = 0
    late = Run.objects.filter(status=Run.Status.QUEUED, enqueued_at__lt=now - _UNCLAIMED_AFTER)
    for run_id in list(late.values_list("pk", flat=True)[:100]):
        # Whoever moves the time on is the one that enqueues; claiming makes a second delivery harmless.
        if Run.objects.filter(
            pk=run_id, status=Run.Status.QUEUED, enqueued_at__lt=now - _UNCLAIMED_AFTER
        ).update(enqueued_at=now):
            send(run_id)
            acted += 1
    left = Run.objects.filter(status=Run.Status.WAITING).exclude(
        session__in=Run.objects.active().values("session")
    )
    for run in list(left.select_related("session")[:100]):
        acted += _begin_if_free(run)
    dead = Run.objects.filter(status=Run.Status.RUNNING, lease_until__lt=now)
    for run_id in list(dead.values_list("pk", flat=True)[:100]):
        acted += close_interrupted(run_id)
    return acted + permissions.time_out() + approval.time_out()


def _begin_if_free(run: Run) -> int:
    """A run that still waits although nothing runs: what it waited for was ended by other hands."""
    with write_transaction():
        session = entry_log.lock_session(run.session_id)
        if Run.objects.active().filter(session=session).exists():
            return 0
        begin_what_waits(run, session)
    return 1


def close_interrupted(run_id: int) -> int:
    """End a run whose lease has expired: keep its partial answer, answer its open calls, kill its processes.

    The run is never started again: its tools may have acted (B33). 1 when this call closed it, else 0.
    """
    found = Run.objects.filter(pk=run_id).first()
    if found is None:
        return 0
    kill_marked(found.marker)
    known = [u for u in (unfinished_of(live.read_run(run_id)), _checkpoint(found)) if u is not None]
    with write_transaction():
        session = entry_log.lock_session(found.session_id)
        run = Run.objects.select_for_update().get(pk=run_id)
        if run.status != Run.Status.RUNNING or run.lease_until is None or run.lease_until > timezone.now():
            return 0
        if run.kind == Run.Kind.COMMAND:
            tell_result(session, run, _lost_command(run), ())
        else:
            partial = _newest_unstored(known, run)
            if partial is not None:
                message = {**partial, "errorMessage": INTERRUPTED}
                entry_log.append_locked(session, {"type": "message", "message": message}, run=run)
            close_open_calls(session, run, reason=LOST)
        end_run(run, session, status=Run.Status.INTERRUPTED, error=INTERRUPTED, error_kind="interrupted")
    live.RunStream(run_id, found.session_id).close(Run.Status.INTERRUPTED)
    logger.info("run closed as interrupted", extra={"run": run_id, "session": found.session_id})
    return 1


def _lost_command(run: Run) -> Json:
    """The result of a command whose worker is gone: what it had printed, as cancelled."""
    request = json.loads(run.request)
    message: Json = {
        "role": "bashExecution",
        "command": request["command"],
        "output": run.output,
        "exitCode": None,
        "cancelled": True,
        "truncated": False,
        "timestamp": int(timezone.now().timestamp() * 1000),
    }
    return message | ({"excludeFromContext": True} if request.get("exclude") else {})


def _checkpoint(run: Run) -> Unfinished | None:
    if not run.checkpoint:
        return None
    value: Unfinished = json.loads(run.checkpoint)
    return value


def _newest_unstored(known: list[Unfinished], run: Run) -> Json | None:
    """Stream and checkpoint tell of the same answer or of different ones: the longest that is not stored counts."""
    stored = run.entries.filter(kind="message", role="assistant").count()
    messages = [u["message"] for u in known if u["answer"] > stored and u["message"].get("content")]
    return max(messages, key=lambda message: len(json.dumps(message["content"])), default=None)
