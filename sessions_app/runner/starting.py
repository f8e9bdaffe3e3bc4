"""How a run begins: a row in the database, and a worker woken once the row is in."""

from __future__ import annotations

import json
import logging
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from sessions_app import live
from sessions_app.models import Run, Session
from sessions_app.runner.queued_words import waiting_words

logger = logging.getLogger(__name__)

Json = dict[str, Any]

RUN_TASK = "sessions_app.run"


def enqueue(run_id: int) -> None:
    """Hand a run to whichever worker is free. Never raises: the sweep tries again when the broker is back."""
    # Celery is imported by the first who sends: most of what imports this module never does.
    from kombu.exceptions import OperationalError

    tasks = import_string(settings.TASKS_APPLICATION)
    try:
        tasks.send_task(RUN_TASK, args=[run_id], retry=False)
    except (OSError, OperationalError) as error:
        logger.warning("the broker did not take run %s: %s", run_id, error)


def start_run(
    session: Session,
    author: Any,
    *,
    kind: str = Run.Kind.PROMPT,
    request: Json | None = None,
    limits_of: Run | None = None,
) -> Run:
    """A run on a locked session: queued, or waiting for the active one to end.

    A worker is woken when the transaction is in. `limits_of`: a run whose ceilings are doubled.
    """
    turns, minutes, cents = settings.RUN_MAX_TURNS, settings.RUN_MAX_MINUTES, settings.RUN_MAX_CENTS
    is_free = kind == Run.Kind.COMMAND or not Run.objects.active().filter(session=session).exists()
    run = Run.objects.create(
        session=session,
        author=author,
        kind=kind,
        status=Run.Status.QUEUED if is_free else Run.Status.WAITING,
        provider=session.provider,
        model=session.model,
        request=json.dumps(request) if request else "",
        max_turns=(limits_of.max_turns or 0) * 2 or None if limits_of else turns or None,
        max_seconds=(limits_of.max_seconds or 0) * 2 or None if limits_of else minutes * 60 or None,
        max_cost=(limits_of.max_cost or 0) * 2 or None if limits_of else cents / 100 or None,
    )
    if is_free:
        wake_for(run)
    return run


def begin_what_waits(ended: Run, session: Session) -> None:
    """After a run's end, in its transaction: the waiting run begins, else what was said during a compaction is
    delivered (02 §12), also when that failed or was cancelled.
    """
    waiting = Run.objects.filter(session=session, status=Run.Status.WAITING).order_by("pk").first()
    if waiting is not None:
        waiting.status, waiting.enqueued_at = Run.Status.QUEUED, timezone.now()
        waiting.save(update_fields=["status", "enqueued_at"])
        wake_for(waiting)
        return
    if ended.kind == Run.Kind.PROMPT:
        return
    queued = waiting_words(session.pk).select_related("author").first()
    if queued is not None:
        start_run(session, queued.author, request={"deliver": True})


def wake_for(run: Run) -> None:
    """Hand a queued run to a worker, and tell its viewers, once the caller's transaction is in."""
    run_pk, session_pk = run.pk, run.session_id
    transaction.on_commit(lambda: enqueue(run_pk))
    facts = {"run": run_pk, "status": Run.Status.QUEUED, "agent": run.kind != Run.Kind.COMMAND}
    transaction.on_commit(lambda: live.notify(session_pk, "run", **facts))
