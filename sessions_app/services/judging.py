"""Approving, rejecting and commenting on compactions; and the words of a summary that waits for approval."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Max
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.models import CompactionAttempt, CompactionReview, ReviewEvent, SummaryVersion
from sessions_app.runner import approval, review_records, review_reports
from sessions_app.services import commands
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.transactions import write_transaction

Act = ReviewEvent.Act
Made = SummaryVersion.Made
Outcome = CompactionAttempt.Outcome
State = CompactionReview.State
Status = SummaryVersion.Status

LONGEST_SUMMARY = 200_000
_LONGEST_WORDS = 4_000


def approve(*, review: CompactionReview, actor: Any, words: str = "") -> None:
    """A job that waits goes on with the summary. Raises Conflict when that was decided meanwhile."""
    _decide(review, actor, State.APPROVED, Act.APPROVED, words)


def reject(*, review: CompactionReview, actor: Any, words: str = "") -> None:
    """A job that waits goes on without the summary. Raises Conflict when that was decided meanwhile."""
    _decide(review, actor, State.REJECTED, Act.REJECTED, words)


def approve_all(*, reviews: Iterable[CompactionReview], actor: Any) -> int:
    """Approve many; those approved already, or decided on meanwhile, stay as they are. The number approved."""
    count = 0
    for review in reviews:
        if review.outcome == Outcome.WAITING:
            count += approval.decide(review, True, actor=actor)
        elif review.state != State.APPROVED:
            approve(review=review, actor=actor)
            count += 1
    return count


def _decide(review: CompactionReview, actor: Any, state: str, act: str, words: str) -> None:
    if review.outcome == Outcome.WAITING:
        if not approval.decide(review, state == State.APPROVED, actor=actor, words=words):
            raise _decided()
        return
    with write_transaction():
        mark(review, actor, state)
        tell(review, actor, act, words)


def _decided() -> Conflict:
    return Conflict("That was decided meanwhile, and the job has gone on.", "Look at the conversation.")


def comment(*, review: CompactionReview, actor: Any, words: str, line: int | None = None) -> ReviewEvent:
    """Words on the whole summary, or on one of its lines. Raises BadInput."""
    tidy = words.strip()
    if not tidy or len(tidy) > _LONGEST_WORDS:
        raise BadInput(f"A comment has between 1 and {_LONGEST_WORDS:,} characters.")
    return tell(review, actor, Act.COMMENTED, tidy, line=line)


# --- a summary that waits ---


def reword(
    *, review: CompactionReview, author: Any, summary: str, why: str = "", key: str = ""
) -> SummaryVersion:
    """Other words for a summary that is not in use yet: they are what is approved. Raises BadInput, Conflict."""
    return _reworded(review, author, checked_summary(summary), Made.EDITED, why, key)


def undo_rewording(*, review: CompactionReview, author: Any, key: str = "") -> SummaryVersion:
    """The words before the newest change of a summary that waits. Raises Conflict."""
    current = review_reports.proposed(review)
    before = current.based_on if current is not None else None
    if before is None:
        raise Conflict("There is nothing to undo: this is what the compaction wrote.")
    return _reworded(review, author, before.summary, Made.UNDONE, f"version {before.number}", key)


def _reworded(
    review: CompactionReview, author: Any, summary: str, made: Made, why: str, key: str
) -> SummaryVersion:
    with write_transaction():
        entry_log.lock_session(review.session_id)
        if (earlier := commands.earlier_result(author, key)) is not None:
            return SummaryVersion.objects.get(pk=int(earlier.rpartition(":")[2]))
        review.refresh_from_db()
        before = review_reports.proposed(review)
        if not review.waits or before is None:
            raise _decided()
        version = SummaryVersion.objects.create(
            review=review,
            number=next_number(review),
            made=made,
            status=Status.CANDIDATE,
            based_on=before,
            author=author,
            why=why.strip()[:500],
            summary=summary,
            details=before.details,
            first_kept=before.first_kept,
        )
        SummaryVersion.objects.filter(pk=before.pk).update(status=Status.DISCARDED)
        review_records.ask_for_report(version)
        tell(review, author, Act.UNDONE if made == Made.UNDONE else Act.EDITED, why, version=version)
        commands.remember(author, key, f"version:{version.pk}")
    return version


# --- what is shared with changes of what is in force ---


def checked_summary(summary: str) -> str:
    text = summary.replace("\r\n", "\n").strip()
    if not text:
        raise BadInput("A summary can't be empty.", "Revert the compaction to have no summary.")
    if len(text) > LONGEST_SUMMARY:
        raise BadInput(f"A summary has at most {LONGEST_SUMMARY:,} characters.")
    return text


def next_number(review: CompactionReview) -> int:
    return (review.versions.aggregate(most=Max("number"))["most"] or 0) + 1


def mark(review: CompactionReview, actor: Any, state: str) -> None:
    review.state, review.reviewed_by, review.reviewed_at = state, actor, timezone.now()
    review.save(update_fields=["state", "reviewed_by", "reviewed_at"])


def tell(
    review: CompactionReview,
    actor: Any,
    act: str,
    words: str = "",
    *,
    line: int | None = None,
    version: SummaryVersion | None = None,
) -> ReviewEvent:
    return ReviewEvent.objects.create(
        review=review, actor=actor, act=act, words=words, line=line, version=version
    )
