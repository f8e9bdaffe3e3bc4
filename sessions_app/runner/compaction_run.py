"""A compaction that a person asked for, as a run of its own."""

from __future__ import annotations

import json

from sessions_app.agent.models_catalogue import describe_model
from sessions_app.models import CompactionAttempt, Run, SummaryVersion
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.compaction import Compactor
from sessions_app.runner.compaction_parts import Attempted
from sessions_app.runner.extensions import hooks_of
from sessions_app.runner.providers import close_provider, open_provider
from sessions_app.runner.regeneration import regenerate
from sessions_app.runner.settling import announce_settled, settle

Outcome = CompactionAttempt.Outcome


def compact_by_hand(active: ActiveRun) -> None:
    """Works even where automatic compaction is off (CT-01). The session is free again before the end is told."""
    run = active.run
    request = json.loads(run.request or "{}")
    if "version" in request:
        regenerate(
            active, SummaryVersion.objects.select_related("review__entry__parent").get(pk=request["version"])
        )
        return
    model = describe_model(run.provider, run.model)
    provider = open_provider(run, model)

    def free_the_session(attempted: Attempted) -> None:
        _conclude(active, attempted)
        settle(active)

    compactor = Compactor(
        active,
        provider=provider,
        model=model,
        thinking_level=run.session.thinking_level,
        hooks=hooks_of(run.session),
        before_end=free_the_session,
    )
    try:
        compactor.by_hand(str(request.get("instructions") or ""), request.get("firstKept"))
    finally:
        close_provider(provider)
    announce_settled(active)


def _conclude(active: ActiveRun, attempted: Attempted) -> None:
    match attempted.outcome:
        case Outcome.COMPACTED:
            active.outcome = Run.Status.COMPLETED
        case Outcome.CANCELLED if active.stop.is_set():
            active.end_as_stopped()
        case Outcome.CANCELLED:
            active.outcome = Run.Status.STOPPED
        case Outcome.NOTHING:
            active.outcome, active.error = Run.Status.FAILED, attempted.error
            active.error_kind = "nothing_to_compact"
        case _:
            active.outcome, active.error, active.error_kind = Run.Status.FAILED, attempted.error, "compaction"
