"""What is written down of every compaction and branch summary for those who review them."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from sessions_app.core.entries import Kind
from sessions_app.core.json_text import print_json
from sessions_app.core.messages import number_of
from sessions_app.models import (
    CompactionAttempt,
    CompactionReview,
    Entry,
    QualityReport,
    Session,
    SummaryExchange,
    SummaryVersion,
)
from sessions_app.runner.carried import without_carried
from sessions_app.runner.summary_writer import Exchange
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Outcome = CompactionAttempt.Outcome

REPORT_TASK = "sessions_app.report"
_SUMMARIES = (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
# How risky an attempt is that became nothing (yet): the conversation stands still or may come to a stop.
RISK_OF = {
    Outcome.WAITING: 75,
    Outcome.FAILED: 60,
    Outcome.NOT_SMALLER: 35,
    Outcome.REFUSED: 30,
    Outcome.REJECTED: 10,
    Outcome.CANCELLED: 5,
}


def stored_facts(entry: Entry | None) -> Json:
    """What the attempt's row says of the entry it became."""
    if entry is None:
        return {}
    summary = str(entry.record.get("summary") or "")
    text = without_carried(summary) or ""
    return {"carried": summary[len(text) :]}


def record_attempt(attempt: CompactionAttempt, exchanges: Sequence[Exchange] = ()) -> CompactionReview:
    """The review of an attempt that is over, its requests, and the report to be computed if it became an entry.

    In the transaction that ends the attempt.
    """
    review, made = CompactionReview.objects.get_or_create(
        attempt=attempt,
        defaults={
            "session_id": attempt.session_id,
            "entry": attempt.entry,
            "reason": attempt.reason,
            "outcome": attempt.outcome,
            "tokens_before": attempt.tokens_before,
            "tokens_after": attempt.tokens_after,
            "cost": cost_of_usage(attempt.usage),
            "risk": RISK_OF.get(Outcome(attempt.outcome), 0),
            "created_at": attempt.created_at,
        },
    )
    if not made:
        return review
    if attempt.entry is not None:
        record_first_version(
            review,
            attempt.entry,
            instructions=attempt.instructions,
            provider=attempt.provider,
            model=attempt.model,
            usage=attempt.usage,
            duration_ms=attempt.duration_ms,
            tokens_after=attempt.tokens_after,
        )
    keep_exchanges(exchanges, attempt=attempt)
    return review


def close_held(
    attempt: CompactionAttempt,
    outcome: str,
    *,
    entry: Entry | None = None,
    version: SummaryVersion | None = None,
    after: int | None = None,
    error: str = "",
    halts: str = "",
) -> None:
    """Write down what became of a summary that has waited."""
    facts: dict[str, Any] = {"tokens_after": after} if after is not None else {}
    with write_transaction():
        CompactionAttempt.objects.filter(pk=attempt.pk).update(
            outcome=outcome,
            entry=entry,
            halts=halts,
            error=error[:4000],
            **facts,
            **stored_facts(entry),
        )
        review = CompactionReview.objects.get(attempt=attempt)
        risk = RISK_OF.get(Outcome(outcome), review.risk)
        CompactionReview.objects.filter(pk=review.pk).update(outcome=outcome, entry=entry, risk=risk, **facts)
        others = review.versions.filter(status=SummaryVersion.Status.CANDIDATE)
        if version is not None and entry is not None:
            carried = stored_facts(entry)["carried"]
            others.filter(pk=version.pk).update(
                status=SummaryVersion.Status.APPLIED, entry=entry, carried=carried, **facts
            )
            compute_again(version)
        others.exclude(pk=version.pk if version is not None else 0).update(
            status=SummaryVersion.Status.DISCARDED
        )


def record_branch_summary(entry: Entry, exchanges: Sequence[Exchange] = ()) -> CompactionReview:
    """The review of a branch summary, in the transaction that stores its entry."""
    review = record_entry(entry, reason="branch")
    keep_exchanges(exchanges, version=review.versions.get(number=1))
    return review


def record_imported(session: Session) -> None:
    """Reviews of the summaries of a session that came in a file, with what can be told from it."""
    for entry in session.entries.filter(kind__in=_SUMMARIES).order_by("seq"):
        record_entry(entry, reason=CompactionAttempt.Reason.IMPORTED)


def record_entry(entry: Entry, *, reason: str) -> CompactionReview:
    """The review of a summary nobody has an attempt of: what the entry tells."""
    record = entry.record
    usage = record.get("usage") if isinstance(record.get("usage"), dict) else None
    review, made = CompactionReview.objects.get_or_create(
        entry=entry,
        defaults={
            "session_id": entry.session_id,
            "kind": (
                CompactionReview.Kind.COMPACTION
                if entry.kind == Kind.COMPACTION
                else CompactionReview.Kind.BRANCH_SUMMARY
            ),
            "reason": reason,
            "outcome": Outcome.COMPACTED,
            "cost": cost_of_usage(json.dumps(usage) if usage else ""),
            "created_at": entry.created_at,
        },
    )
    if made:
        record_first_version(review, entry, usage=json.dumps(usage) if usage else "")
    return review


def record_first_version(review: CompactionReview, entry: Entry, **facts: Any) -> SummaryVersion:
    record = entry.record
    summary = storable(str(record.get("summary") or ""))
    text = without_carried(summary) or ""
    version = SummaryVersion.objects.create(
        review=review,
        number=1,
        entry=entry,
        author=entry.author,
        summary=text,
        carried=summary[len(text) :],
        details=json.dumps(record["details"]) if record.get("details") is not None else "",
        first_kept=storable(str(record.get("firstKeptEntryId") or ""))[:200],
        created_at=entry.created_at,
        **facts,
    )
    ask_for_report(version)
    return version


def ask_for_report(version: SummaryVersion) -> None:
    """A worker computes it; should the word be lost, the sweep finds the row."""
    QualityReport.objects.get_or_create(version=version)
    pk = version.pk
    transaction.on_commit(lambda: enqueue_report(pk))


def compute_again(version: SummaryVersion) -> None:
    """What the report is made of has changed: it is computed anew."""
    QualityReport.objects.filter(version=version).delete()
    ask_for_report(version)


def enqueue_report(version_pk: int) -> None:
    """Never raises: the sweep tries again when the broker is back."""
    from kombu.exceptions import OperationalError

    tasks = import_string(settings.TASKS_APPLICATION)
    try:
        tasks.send_task(REPORT_TASK, args=[version_pk], retry=False)
    except (OSError, OperationalError) as error:
        logger.warning("the broker did not take the report on version %s: %s", version_pk, error)


def keep_exchanges(
    exchanges: Sequence[Exchange],
    *,
    attempt: CompactionAttempt | None = None,
    version: SummaryVersion | None = None,
) -> None:
    SummaryExchange.objects.bulk_create(
        SummaryExchange(
            attempt=attempt,
            version=version,
            position=position,
            stage=exchange.request.stage,
            system=storable(exchange.request.system),
            prompt=storable(exchange.request.prompt),
            answer=print_json(exchange.answer) if exchange.answer is not None else "",
            error=storable(exchange.error)[:4000],
            duration_ms=exchange.duration_ms,
        )
        for position, exchange in enumerate(exchanges, start=1)
    )


def storable(text: str) -> str:
    """Columns take no NUL and no halves of surrogate pairs; a request may hold both."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def cost_of_usage(usage: str) -> float:
    """US dollars of a stored usage; 0 where it names none."""
    try:
        parsed = json.loads(usage) if usage else {}
    except ValueError:
        return 0.0
    cost = parsed.get("cost") if isinstance(parsed, dict) else None
    return float(number_of(cost.get("total")) or 0.0) if isinstance(cost, dict) else 0.0
