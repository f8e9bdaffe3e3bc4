"""Figures over many compactions: how many, how they failed, what they saved and cost, what they kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Avg, Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from sessions_app.models import CompactionReview

DAYS = 30
NEEDS_A_LOOK = 70
"""Coverage below which somebody should look."""
_COMPACTED = Q(outcome="compacted")
_BY_HAND = Q(reason="manual")
_FAILED = Q(outcome__in=["failed", "not_smaller", "cancelled", "refused", "rejected", "nothing"])


@dataclass(frozen=True, slots=True)
class Day:
    """One day: automatic, by hand, failed; tokens saved and US dollars."""

    day: date
    automatic: int
    by_hand: int
    failed: int
    saved: int
    cost: float


@dataclass(frozen=True, slots=True)
class WorstSession:
    key: str
    name: str
    coverage: float
    count: int
    own_missing: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the last DAYS days; `coverage` counts by tenths from 0 to 100."""

    days: Sequence[Day]
    failures: Sequence[tuple[str, int]]
    coverage: Sequence[int]
    median: float | None
    low: int
    worst: Sequence[WorstSession]

    @property
    def total(self) -> int:
        return sum(day.automatic + day.by_hand + day.failed for day in self.days)

    @property
    def failed(self) -> int:
        return sum(day.failed for day in self.days)

    @property
    def saved(self) -> int:
        return sum(day.saved for day in self.days)

    @property
    def cost(self) -> float:
        return sum(day.cost for day in self.days)


def figures(visible: QuerySet[CompactionReview]) -> Figures:
    """A handful of queries, whatever the number of rows."""
    today = timezone.now().date()
    first = today - timedelta(days=DAYS - 1)
    recent = visible.filter(created_at__date__gte=first, kind=CompactionReview.Kind.COMPACTION).order_by()
    return Figures(
        days=_days(recent, first),
        failures=_failures(recent),
        coverage=(buckets := _coverage(recent)),
        median=_median(recent, sum(buckets)),
        low=recent.filter(coverage__lt=NEEDS_A_LOOK).count(),
        worst=_worst(recent),
    )


def _days(recent: QuerySet[CompactionReview], first: date) -> list[Day]:
    saved = Sum(
        F("tokens_before") - F("tokens_after"), filter=_COMPACTED & Q(tokens_after__lt=F("tokens_before"))
    )
    rows = (
        recent.annotate(day=TruncDate("created_at"))
        .values("day")
        .annotate(
            by_hand=Count("pk", filter=_BY_HAND & _COMPACTED),
            automatic=Count("pk", filter=_COMPACTED & ~_BY_HAND),
            failed=Count("pk", filter=_FAILED),
            saved=saved,
            spent=Sum("cost"),
        )
    )
    found = {row["day"]: row for row in rows}
    days = []
    for place in range(DAYS):
        day = first + timedelta(days=place)
        row = dict[str, Any](found.get(day) or {})
        days.append(
            Day(
                day,
                row.get("automatic", 0),
                row.get("by_hand", 0),
                row.get("failed", 0),
                row.get("saved") or 0,
                row.get("spent") or 0.0,
            )
        )
    return days


def _failures(recent: QuerySet[CompactionReview]) -> list[tuple[str, int]]:
    rows = recent.filter(_FAILED).values_list("outcome").annotate(count=Count("pk"))
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _coverage(recent: QuerySet[CompactionReview]) -> list[int]:
    counts = Counter[int]()
    for value, count in recent.exclude(coverage=None).values_list("coverage").annotate(count=Count("pk")):
        counts[min(9, int(value // 10))] += count
    return [counts[place] for place in range(10)]


def _median(recent: QuerySet[CompactionReview], count: int) -> float | None:
    if not count:
        return None
    values = recent.exclude(coverage=None).order_by("coverage").values_list("coverage", flat=True)
    return values[count // 2]


def _worst(recent: QuerySet[CompactionReview]) -> list[WorstSession]:
    rows = (
        recent.exclude(coverage=None)
        .values("session__key", "session__name", "session__title")
        .annotate(average=Avg("coverage"), count=Count("pk"), own=Sum("own_missing"))
        .order_by("average")[:6]
    )
    return [
        WorstSession(
            str(row["session__key"]),
            row["session__name"] or row["session__title"] or "New session",
            round(row["average"], 1),
            row["count"],
            row["own"] or 0,
        )
        for row in rows
    ]


def waiting_for(user: Any) -> int:
    """How many compactions wait for this reviewer; 0 for those who review nowhere. One query."""
    return CompactionReview.objects.may_review(user).waiting().count()
