"""One run by its id: claimed, kept alive, carried out by its kind, ended whatever comes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from sessions_app import entry_log, integrity, live, search_index
from sessions_app.models import Run
from sessions_app.runner.active_run import ActiveRun, LeaseLost, claim
from sessions_app.runner.branch_summary_run import BranchSummaryRun
from sessions_app.runner.command_run import run_command
from sessions_app.runner.compaction_run import compact_by_hand
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.runner.prompt_run import PromptRun
from sessions_app.runner.providers import CannotStart
from sessions_app.runner.settling import announce_settled, fail

logger = logging.getLogger(__name__)

_WORK: Final[dict[str, Callable[[ActiveRun], None]]] = {
    Run.Kind.PROMPT: lambda active: PromptRun(active).drive(),
    Run.Kind.COMPACTION: compact_by_hand,
    Run.Kind.COMMAND: run_command,
    Run.Kind.BRANCH_SUMMARY: lambda active: BranchSummaryRun(active).drive(),
}


def carry_out(run_id: int) -> None:
    """Carry out a run by its id. A run that is not queued any more is left alone. Never raises."""
    run = claim(run_id)
    if run is None:
        return
    session = run.session
    if notice := integrity.mend_leaf(session):
        logger.warning("%s", notice, extra={"session": session.pk})
    active = ActiveRun(
        run,
        session.pk,
        live.RunStream(run.pk, session.pk),
        tail=session.leaf.seq if session.leaf else None,
        tokens=run.tokens,
        cost=run.cost,
    )
    if run.stop_requested:
        active.stop.request("stopped")
    logger.info("run started", extra={"run": run.pk, "session": session.pk})
    heartbeat.add(active)
    try:
        with suppress(LeaseLost):
            _WORK[run.kind](active)
    except CannotStart as refusal:
        fail(active, str(refusal), refusal.kind)
        announce_settled(active)
    except Exception as error:
        logger.exception("run failed", extra={"run": run.pk})
        fail(active, f"Something went wrong inside the server: {type(error).__name__}: {error}", "internal")
    finally:
        heartbeat.remove(active)
        active.follower = (
            entry_log.PathFollower()
        )  # the run's parts refer to each other and may stay for a while
        if not active.is_left:
            active.stream.close(active.outcome)
    search_index.catch_up_with(session.pk)
    logger.info(
        "run left for an answer" if active.is_left else "run ended",
        extra={"run": run.pk, "status": active.outcome},
    )
