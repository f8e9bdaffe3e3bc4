"""The list of reviews: filters, rows in words, and its export."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone

from sessions_app.fragments.review_parts import REASONS
from sessions_app.models import CompactionReview

FILTERS: Final[Mapping[str, tuple[str, Q]]] = {
    "review": ("To review", Q(state="unreviewed", outcome__in=["compacted", "waiting"])),
    "held": ("Holding a job", Q(state="unreviewed", outcome="waiting")),
    "own": ("Your words missing", Q(own_missing__gt=0)),
    "failed": ("Failed", Q(outcome__in=["failed", "not_smaller", "refused"])),
    "changed": ("Edited or reverted", Q(state__in=["edited", "reverted"])),
    "all": ("All", Q()),
}
_STATES: Final = {
    "unreviewed": ("line", "Unreviewed", ""),
    "approved": ("ok", "Approved", "check"),
    "edited": ("accent", "Edited", "edit"),
    "reverted": ("plain", "Reverted", "undo"),
    "rejected": ("bad", "Rejected", "x"),
}
_OUTCOMES: Final = {
    "waiting": ("warn", "Waits for approval"),
    "rejected": ("bad", "Rejected"),
    "failed": ("bad", "Failed"),
    "not_smaller": ("warn", "Not smaller"),
    "cancelled": ("plain", "Cancelled"),
    "refused": ("warn", "Held back"),
    "nothing": ("plain", "Nothing to cut"),
}
COLUMNS: Final = (
    "id", "session", "session_key", "workspace", "kind", "reason", "outcome", "state", "tokens_before", "tokens_after",
    "coverage", "missing", "own_missing", "unsupported", "risk", "cost", "created_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which filter, and the words that were searched for."""

    name: str
    query: str


@dataclass(frozen=True, slots=True)
class Row:
    """One review as the table says it."""

    review: CompactionReview
    level: int
    level_name: str
    chip: str
    state: str
    icon: str
    why: str
    saved: str
    coverage: int | None
    tone: str
    age: str
    address: str


def chosen(
    visible: QuerySet[CompactionReview], asked: Mapping[str, str]
) -> tuple[QuerySet[CompactionReview], Chosen]:
    """The rows asked for, the riskiest first; one join, so that a page costs the same whatever there is."""
    name = asked.get("show", "")
    state = Chosen(name if name in FILTERS else "all", " ".join(asked.get("q", "").split())[:200])
    rows = visible.filter(FILTERS[state.name][1])
    if state.query:
        rows = rows.filter(
            Q(session__name__icontains=state.query)
            | Q(session__title__icontains=state.query)
            | Q(session__workspace__name__icontains=state.query)
            | Q(versions__summary__icontains=state.query)
        ).distinct()
    related = ("session__workspace", "reviewed_by", "entry")
    return rows.select_related(*related).order_by("-risk", "-id"), state


def filters(visible: QuerySet[CompactionReview], state: Chosen) -> list[dict[str, Any]]:
    counts = visible.aggregate(
        **{name: Count("pk", filter=rule) for name, (_, rule) in FILTERS.items() if name != "all"},
        all=Count("pk"),
    )
    return [
        {"name": name, "words": words, "count": counts[name], "on": state.name == name}
        for name, (words, _) in FILTERS.items()
    ]


def row_of(review: CompactionReview) -> Row:
    chip, state, icon = _STATES[review.state]
    if review.outcome in _OUTCOMES:
        chip, state = _OUTCOMES[review.outcome]
        icon = "error" if chip == "bad" else ""
    elif review.reviewed_by is not None:
        state = f"{state} by {review.reviewed_by.get_username()}"
    level = 3 if review.risk >= 50 else 2 if review.risk >= 20 else 1
    coverage = None if review.coverage is None else round(review.coverage)
    return Row(
        review,
        level,
        ("", "Low", "Some", "High")[level],
        chip,
        state,
        icon,
        REASONS.get(review.reason, review.reason).capitalize(),
        _saved(review),
        coverage,
        "" if coverage is None else "low" if coverage < 50 else "mid" if coverage < 70 else "high",
        _age(review),
        reverse("compaction_review", args=[review.session.key, review.entry.seq])
        if review.entry
        else reverse("attempt_review", args=[review.pk]),
    )


def _saved(review: CompactionReview) -> str:
    if not review.tokens_before or review.tokens_after is None:
        return "—"
    return f"{max(0, round(100 * (1 - review.tokens_after / review.tokens_before)))} %"


def _age(review: CompactionReview) -> str:
    seconds = (timezone.now() - review.created_at).total_seconds()
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    if seconds < 86400:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86400:.0f} d"


def export(rows: QuerySet[CompactionReview], form: str) -> HttpResponse | StreamingHttpResponse:
    """All rows, without the texts of the sessions."""
    if form == "json":
        content = json.dumps([_values(review) for review in rows.iterator(chunk_size=500)])
        answer: HttpResponse | StreamingHttpResponse = HttpResponse(content, content_type="application/json")
    else:
        answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    name = "compactions.json" if form == "json" else "compactions.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _lines(rows: QuerySet[CompactionReview]) -> Iterator[str]:
    yield _line(COLUMNS)
    for review in rows.iterator(chunk_size=500):
        yield _line([_safe(value) for value in _values(review).values()])


def _line(values: Any) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(values)
    return buffer.getvalue()


def _safe(value: Any) -> Any:
    """A name that begins like a formula must not become one in a spreadsheet."""
    return "'" + value if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _values(review: CompactionReview) -> dict[str, Any]:
    own = {
        "session": str(review.session),
        "session_key": str(review.session.key),
        "workspace": review.session.workspace.name,
        "created_at": review.created_at.isoformat(),
        "id": review.pk,
    }
    return {name: own[name] if name in own else getattr(review, name) for name in COLUMNS}
