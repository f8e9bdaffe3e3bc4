"""A summary that waits for a reviewer before it is used: put before them, decided on, timed out; a run that waits holds
no worker.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from sessions_app import entry_log, live
from sessions_app.models import (
    CompactionAttempt,
    CompactionReview,
    ReviewEvent,
    Run,
    SummaryVersion,
    Workspace,
)
from sessions_app.runner import review_records, review_reports
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.carried import without_carried
from sessions_app.runner.compaction_parts import Made
from sessions_app.runner.permissions import hand_on
from sessions_app.runner.summary_writer import Exchange
from sessions_app.transactions import write_transaction

Outcome = CompactionAttempt.Outcome
State = CompactionReview.State
Status = SummaryVersion.Status

NOT_APPROVED: Final = (
    "A reviewer did not approve the summary, so nothing was summed up. Automatic compaction has stopped on this branch "
    "until the context has grown; compact by hand, or go back to an earlier message."
)
_NOBODY: Final = "Nobody decided in time."


def hold(
    active: ActiveRun, attempt: CompactionAttempt, made: Made, exchanges: Sequence[Exchange]
) -> CompactionReview:
    """Put the summary before the reviewers and give the run back. In the caller's transaction, the session locked."""
    workspace = Workspace.objects.get(sessions__pk=active.session_pk)
    review = review_records.record_attempt(attempt, exchanges)
    review.decide_by = timezone.now() + timedelta(minutes=workspace.review_minutes)
    review.save(update_fields=["decide_by"])
    summary = review_records.storable(made.summary)
    text = without_carried(summary) or ""
    version = SummaryVersion.objects.create(
        review=review,
        number=1,
        status=Status.CANDIDATE,
        run=active.run,
        provider=attempt.provider,
        model=attempt.model,
        summary=text,
        carried=summary[len(text) :],
        details=json.dumps(made.details) if made.details is not None else "",
        first_kept=made.first_kept_entry_id or "",
        tokens_after=attempt.tokens_after,
        usage=attempt.usage,
        duration_ms=attempt.duration_ms,
    )
    review_records.ask_for_report(version)
    Run.objects.filter(pk=active.run.pk).update(
        status=Run.Status.REVIEWING,
        owner="",
        lease_until=None,
        checkpoint="",
        error=active.error[:4000],
        error_kind=active.error_kind,
        tokens=active.tokens,
        cost=active.cost,
    )
    return review


def leave(active: ActiveRun, reason: str) -> None:
    """Once `hold` is in: this worker has nothing more to do with the run."""
    active.is_left = True
    active.stream.add({"type": "compaction_held", "reason": reason})
    active.stream.flush()
    live.notify(active.session_pk, "run", run=active.run.pk, status=Run.Status.REVIEWING)


def held_by(run: Run) -> CompactionAttempt | None:
    """The attempt whose summary the run waits for, decided on or not."""
    return CompactionAttempt.objects.filter(run=run, outcome=Outcome.WAITING).order_by("-pk").first()


def approved(attempt: CompactionAttempt) -> SummaryVersion | None:
    """The wording to use; None if it was rejected, never decided on, or erased meanwhile."""
    review = CompactionReview.objects.filter(attempt=attempt, state=State.APPROVED).first()
    version = review_reports.proposed(review) if review is not None else None
    return version if version is not None and version.summary else None


def decide(review: CompactionReview, approve: bool, *, actor: Any = None, words: str = "") -> bool:
    """Approve or reject what a run waits for, and hand it on. False when it does not wait any more."""
    now = timezone.now()
    with write_transaction():
        entry_log.lock_session(review.session_id)
        waiting = CompactionReview.objects.filter(
            pk=review.pk, outcome=Outcome.WAITING, state=State.UNREVIEWED
        )
        found = waiting.select_related("attempt__run").first()
        run = found.attempt.run if found is not None and found.attempt is not None else None
        if found is None or run is None or run.status != Run.Status.REVIEWING:
            return False
        state = State.APPROVED if approve else State.REJECTED
        waiting.update(state=state, reviewed_by=actor, reviewed_at=now)
        act = ReviewEvent.Act.APPROVED if approve else ReviewEvent.Act.REJECTED
        ReviewEvent.objects.create(
            review=found, actor=actor, act=act, words=words, version=review_reports.proposed(found)
        )
        hand_on(run, now=now)
    return True


def time_out() -> int:
    """Do what the workspace has laid down where nobody has decided; how many. Many processes may do it at once."""
    late = CompactionReview.objects.filter(
        outcome=Outcome.WAITING, state=State.UNREVIEWED, decide_by__lt=timezone.now()
    ).select_related("session__workspace")
    return sum(
        decide(
            review,
            review.session.workspace.review_default == Workspace.Unreviewed.APPROVE,
            words=_NOBODY,
        )
        for review in list(late[:100])
    )
