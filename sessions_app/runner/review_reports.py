"""Quality reports as a worker computes them: the range read from the rows, the report stored with its version."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.projection import latest_edits, project_entry
from sessions_app.models import CompactionAttempt, CompactionReview, Entry, QualityReport, SummaryVersion
from sessions_app.review.report import (
    DEFAULT_WEIGHTS,
    METHOD,
    Material,
    Report,
    build,
    from_json,
    risk_of,
    to_json,
)
from sessions_app.review.sources import Source, sources_of
from sessions_app.review.things import Thing
from sessions_app.runner import progress_guard
from sessions_app.runner.review_records import RISK_OF, ask_for_report, enqueue_report
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

_TRY_AGAIN_AFTER = timedelta(seconds=20)


def compute(version_pk: int) -> None:
    """Compute and store one report; a second delivery of the same task changes nothing. Never raises."""
    version = (
        SummaryVersion.objects.select_related("review__entry__parent", "review__attempt__leaf", "report")
        .filter(pk=version_pk)
        .first()
    )
    if version is None or version.status == SummaryVersion.Status.BEING_MADE:
        return
    try:
        report = build(material_of(version), weights())
    except Exception as error:
        logger.exception("report failed", extra={"version": version_pk})
        QualityReport.objects.filter(version=version).update(
            error=f"{type(error).__name__}: {error}"[:500], computed_at=timezone.now(), method=METHOD
        )
        return
    QualityReport.objects.update_or_create(
        version=version,
        defaults={
            "content": json.dumps(to_json(report)),
            "error": "",
            "method": METHOD,
            "computed_at": timezone.now(),
        },
    )
    SummaryVersion.objects.filter(pk=version.pk).update(coverage=report.coverage)
    version.coverage = report.coverage
    if standing(version.review) == version:
        show_figures(version.review, version, report)


def in_force(review: CompactionReview) -> SummaryVersion | None:
    """The newest that was applied."""
    return review.versions.filter(status=SummaryVersion.Status.APPLIED).order_by("-number").first()


def proposed(review: CompactionReview) -> SummaryVersion | None:
    """The wording that would be used once it is approved: the model's, or the newest of a person."""
    return review.versions.filter(status=SummaryVersion.Status.CANDIDATE).order_by("-number").first()


def standing(review: CompactionReview) -> SummaryVersion | None:
    """What the list tells of: the version in force, or the one that waits for approval."""
    return proposed(review) if review.outcome == CompactionAttempt.Outcome.WAITING else in_force(review)


def show_figures(review: CompactionReview, version: SummaryVersion, report: Report) -> None:
    """The list shows what the version in force keeps; the originals lose nothing."""
    if version.originals:
        figures: dict[str, Any] = {
            "coverage": 100.0,
            "missing": 0,
            "own_missing": 0,
            "unsupported": 0,
            "risk": 0,
        }
    else:
        figures = {
            "coverage": report.coverage,
            "missing": len(report.missing),
            "own_missing": report.own_missing,
            "unsupported": len(report.unsupported),
            "risk": risk_of(report),
        }
    if review.waits:
        # A job stands still: that goes before whatever the summary lost.
        figures["risk"] = max(figures["risk"], RISK_OF[CompactionAttempt.Outcome.WAITING])
    before, after = _sizes(review, report)
    if review.tokens_before is None:
        figures["tokens_before"] = before
    if review.tokens_after is None:
        figures["tokens_after"] = after
    CompactionReview.objects.filter(pk=review.pk).update(**figures)


def _sizes(review: CompactionReview, report: Report) -> tuple[int, int]:
    """The context before and after, where no attempt has measured it; of a branch, its messages and its summary."""
    entry = review.entry
    if entry is None or entry.kind != Kind.COMPACTION or entry.parent is None:
        return report.structure.range_tokens, report.structure.summary_tokens
    before = entry_log.load_context(review.session, leaf=entry.parent)
    after = entry_log.load_context(review.session, leaf=entry)
    return progress_guard.measure(before), progress_guard.measure(after)


def weights() -> Mapping[str, float]:
    return {**DEFAULT_WEIGHTS, **settings.REVIEW_WEIGHTS}


def material_of(version: SummaryVersion) -> Material:
    """What a version's report is made of. For another summary, replace `summary` in it."""
    entry = version.review.entry
    if entry is not None and entry.kind == Kind.BRANCH_SUMMARY:
        return Material(
            sources_of(_messages(_left_branch(entry))), version.summary, files=_files(version.details)
        )
    replaced, tail, previous = range_of(version.review, version.first_kept)
    sources = sources_of(_messages(replaced))
    said = "\n".join(source.text for source in sources_of(_messages(tail)))
    return Material(
        sources,
        version.summary,
        tail=said,
        carried=version.carried,
        files=_files(version.details),
        previous=previous,
    )


def with_summary(material: Material, summary: str) -> Material:
    return replace(material, summary=summary)


def with_things(material: Material, things: Sequence[Thing]) -> Material:
    """What was found in the range before need not be looked for again."""
    return replace(material, things=things)


def stored(version: SummaryVersion) -> Report | None:
    """The report, if it has been computed by the method of now; otherwise it is asked for again."""
    report = QualityReport.objects.filter(version=version).first()
    if report is None or (report.computed_at is not None and report.method != METHOD):
        with write_transaction():
            QualityReport.objects.filter(version=version).delete()
            ask_for_report(version)
        return None
    return from_json(json.loads(report.content)) if report.content else None


def split_path(
    entry: Entry, first_kept: str
) -> tuple[Sequence[CoreEntry], Sequence[CoreEntry], Source | None]:
    """What a compaction with that boundary replaces, what it keeps, and the summary before it."""
    if entry.parent is None:
        return (), (), None
    first, _ = entry_log.replaced_depths(entry)
    path = entry_log.load_core_path(entry.parent, first)
    end = next((place for place, core in enumerate(path) if core.id == first_kept), len(path))
    return path[:end], path[end:], _previous(entry.parent)


def range_of(
    review: CompactionReview, first_kept: str
) -> tuple[Sequence[CoreEntry], Sequence[CoreEntry], Source | None]:
    """`split_path` of a review, also of one whose summary is not in use."""
    if review.entry is not None:
        return split_path(review.entry, first_kept)
    attempt = review.attempt
    if attempt is None or attempt.leaf is None:
        return (), (), None
    path = entry_log.load_core_path(attempt.leaf, attempt.range_first or 0)
    end = next((place for place, core in enumerate(path) if core.id == first_kept), len(path))
    return path[:end], path[end:], _previous(attempt.leaf)


def kept_sources(review: CompactionReview, first_kept: str) -> list[Source]:
    """The messages that a compaction with that boundary keeps as they are."""
    _, kept, _ = range_of(review, first_kept)
    return sources_of(_messages(kept))


def _previous(parent: Entry) -> Source | None:
    if parent.compaction_seq is None:
        return None
    before = Entry.objects.get(session_id=parent.session_id, seq=parent.compaction_seq)
    text = str(before.record.get("summary") or "")
    return Source(before.seq, "assistant", text, len(text))


def _left_branch(entry: Entry) -> Sequence[CoreEntry]:
    tip = entry_log.find_by_id(entry.session_id, entry.record.get("fromId"))
    if tip is None:
        return ()
    return entry_log.load_core_path(tip, entry_log.common_depth(tip, entry) + 1)


def _messages(path: Sequence[CoreEntry]) -> list[tuple[int, dict[str, Any]]]:
    """As the model saw them: context edits count, summaries of earlier compactions do not."""
    edits = latest_edits(path)
    return [
        (core.seq, message)
        for core in path
        if core.kind != Kind.COMPACTION
        for message in project_entry(core, edits.get(core.id)).messages
    ]


def _files(details: str) -> list[str]:
    try:
        parsed = json.loads(details) if details else {}
    except ValueError:
        return []
    if not isinstance(parsed, dict):
        return []
    lists = [parsed.get("readFiles"), parsed.get("modifiedFiles")]
    return [name for names in lists if isinstance(names, list) for name in names if isinstance(name, str)]


def sweep_reports() -> int:
    """Hand on again what nobody computed: the broker may have lost the word."""
    now = timezone.now()
    late = QualityReport.objects.filter(computed_at=None, asked_at__lt=now - _TRY_AGAIN_AFTER).exclude(
        version__status=SummaryVersion.Status.BEING_MADE
    )
    sent = 0
    for pk, version_pk in list(late.values_list("pk", "version_id")[:20]):
        if QualityReport.objects.filter(pk=pk, computed_at=None, asked_at__lt=now - _TRY_AGAIN_AFTER).update(
            asked_at=now
        ):
            enqueue_report(version_pk)
            sent += 1
    return sent
