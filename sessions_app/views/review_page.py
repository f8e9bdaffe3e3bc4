"""What a review's page shows, in the product and in the admin."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, QueryDict

from sessions_app.core.tokens import UNITS_PER_TOKEN, utf16_length
from sessions_app.fragments import review_parts
from sessions_app.fragments.folds import split_summary
from sessions_app.models import CompactionReview, Run, SummaryVersion
from sessions_app.review.report import Report
from sessions_app.review.sources import Source
from sessions_app.runner import review_reports
from sessions_app.services import reviews
from sessions_app.services.sessions import available_models

_KEPT_SHOWN = 40
TABS = ("report", "summary", "replaced", "comments")


def facts(
    request: HttpRequest, review: CompactionReview, *, acts: str, may_edit: bool, may_review: bool
) -> dict[str, Any]:
    """Everything the columns need. `acts` is the address that the names of acts are put behind."""
    asked = request.GET
    current = reviews.standing(review)
    shown = _shown(review, asked, current)
    report = reviews.stored_report(shown) if shown is not None else None
    mode = next((name for name in ("edit", "regenerate", "boundary") if name in asked and may_edit), "")
    tab = asked.get("tab", "") if asked.get("tab") in TABS else ("summary" if mode else "report")
    fixed = "" if review.waits else reviews.why_fixed(review)
    return {
        "review": review,
        "session": review.session,
        "acts": acts,
        "number": review_parts.number_of_compaction(review.entry),
        "facts": review_parts.facts_line(review),
        "current": current,
        "shown": shown,
        "report": report,
        "report_problem": _problem(shown),
        "may_edit": may_edit and not fixed,
        "otherwise": review.session.workspace.get_review_default_display() if review.waits else "",
        "may_review": may_review,
        "fixed": fixed if may_edit and review.entry is not None else "",
        "mode": mode if not fixed else "",
        "tab": "replaced" if mode == "boundary" else tab,
        "once": uuid.uuid4().hex,
        "at_work": Run.objects.active().filter(session=review.session_id).exists(),
        "bars": review_parts.bars_of(report.classes) if report is not None else [],
        **_columns(review, shown, report, asked, mode),
        **_versions(review, shown, asked),
        "comments": [event for event in review.events.select_related("actor") if event.act == "commented"],
        "history": list(review.events.select_related("actor", "version").order_by("-id")[:50]),
        "models": available_models(request.user) if mode == "regenerate" else [],
        "exchanges": _exchanges(review, shown),
    }


def _shown(
    review: CompactionReview, asked: QueryDict, current: SummaryVersion | None
) -> SummaryVersion | None:
    text = asked.get("version", "")
    if text.isdecimal() and len(text) < 9:
        return review.versions.filter(number=int(text)).first() or current
    return current or review.versions.order_by("-number").first()


def _problem(shown: SummaryVersion | None) -> str:
    stored = getattr(shown, "report", None) if shown is not None else None
    return stored.error if stored is not None else ""


def _columns(
    review: CompactionReview,
    shown: SummaryVersion | None,
    report: Report | None,
    asked: QueryDict,
    mode: str,
) -> dict[str, Any]:
    if shown is None:
        return {"replaced": [], "kept": [], "lines": [], "findings": [], "range_count": 0}
    material = review_reports.material_of(shown)
    sources = list(material.sources)
    everything = "all" in asked or mode == "boundary"
    text = asked.get("from", "")
    start = int(text) if text.isdecimal() and len(text) < 9 else 0
    tail = _tail(review, shown)
    seqs = {source.seq for source in (*sources, *tail)}
    times = review_parts.times_of(review.session_id, seqs)
    rows, following = review_parts.source_rows(sources, report, times, everything=everything, start=start)
    kept, _ = review_parts.source_rows(tail[:_KEPT_SHOWN], None, times, everything=True, kept=True)
    body, carried = split_summary(shown.summary + shown.carried)
    lines = review_parts.summary_rows(report, sources, times) if report is not None else None
    return {
        "replaced": rows,
        "following": following,
        "everything": everything,
        "kept": kept,
        "kept_more": max(0, len(tail) - _KEPT_SHOWN),
        "lines": lines if lines is not None else review_parts.plain_rows(shown.summary),
        "carried": carried,
        "body": body,
        "findings": review_parts.findings_of(report, times) if report is not None else [],
        "unsupported": report.unsupported if report is not None else [],
        "structure": report.structure if report is not None else None,
        "range_count": len({source.seq for source in sources}),
        "summary_tokens": -(-utf16_length(shown.summary) // UNITS_PER_TOKEN),
    }


def _tail(review: CompactionReview, shown: SummaryVersion) -> list[Source]:
    if review.kind != CompactionReview.Kind.COMPACTION or shown.originals:
        return []
    return review_reports.kept_sources(review, shown.first_kept)


def _versions(review: CompactionReview, shown: SummaryVersion | None, asked: QueryDict) -> dict[str, Any]:
    rows = list(review.versions.select_related("author", "run").order_by("-number"))
    # Of a summary that never came into force, all there are.
    applied = (
        rows if review.entry is None else [row for row in rows if row.status == SummaryVersion.Status.APPLIED]
    )
    against = None
    text = asked.get("diff", "")
    if text.isdecimal() and len(text) < 9 and shown is not None:
        against = next((row for row in rows if row.number == int(text)), None)
    candidates = [row for row in rows if row not in applied and row.status != SummaryVersion.Status.DISCARDED]
    return {
        "versions": [(row, review_parts.version_words(row)) for row in applied],
        "candidates": [
            (row, review_parts.plain_rows(row.summary), review_parts.version_words(row)) for row in candidates
        ],
        "writing": any(row.status == "being_made" for row in candidates),
        "before": next((row for row in applied if shown is not None and row.number < shown.number), None),
        "against": against,
        "diff": review_parts.diff_rows(against.summary, shown.summary) if against and shown else [],
    }


def _exchanges(review: CompactionReview, shown: SummaryVersion | None) -> list[Any]:
    if shown is not None and shown.number > 1 and shown.exchanges.exists():
        return list(shown.exchanges.all())
    if review.attempt is not None:
        return list(review.attempt.exchanges.all())
    return list(shown.exchanges.all()) if shown is not None else []
