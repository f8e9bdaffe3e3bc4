"""Charts of the reviews' dashboard, drawn on the server as shapes with coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.fragments import wording
from sessions_app.review_figures import NEEDS_A_LOOK, Figures

WIDTH, FLOOR = 284.0, 84.0
_HEIGHT = 76.0
FAILURES = {
    "failed": "Failed",
    "not_smaller": "Not smaller",
    "cancelled": "Cancelled",
    "refused": "Held back",
    "nothing": "Nothing to cut",
}


@dataclass(frozen=True, slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class Word:
    x: float
    y: float
    text: str
    anchor: str = "start"
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """`number` in words first, then the drawing; `says` is its text alternative."""

    title: str
    number: str
    beside: str
    says: str
    rects: Sequence[Rect] = ()
    words: Sequence[Word] = ()
    line: str = ""
    area: str = ""
    mark: float | None = None
    keys: Sequence[tuple[str, str]] = ()


def charts(figures: Figures) -> list[Chart]:
    return [_per_day(figures), _failures(figures), _saved(figures), _coverage(figures), _cost(figures)]


def _per_day(figures: Figures) -> Chart:
    most = max((day.automatic + day.by_hand + day.failed for day in figures.days), default=0) or 1
    step = WIDTH / len(figures.days)
    rects: list[Rect] = []
    for place, day in enumerate(figures.days):
        y = FLOOR
        for count, kind in ((day.automatic, "auto"), (day.by_hand, "hand"), (day.failed, "bad")):
            height = count / most * _HEIGHT
            if count:
                y -= height
                rects.append(_rect(place * step + 1, y, step - 3, max(height - 0.8, 0.8), kind))
    return Chart(
        "Compactions",
        f"{figures.total:,}",
        f"in {len(figures.days)} days",
        f"{figures.total} compactions in {len(figures.days)} days, at most {most} a day",
        rects,
        _dates(figures),
        keys=(("auto", "automatic"), ("hand", "by hand"), ("bad", "failed")),
    )


def _dates(figures: Figures) -> list[Word]:
    first, last = figures.days[0].day, figures.days[-1].day
    return [Word(0, 97, f"{first.day} {first:%b}"), Word(WIDTH, 97, f"{last.day} {last:%b}", "end")]


def _failures(figures: Figures) -> Chart:
    most = max((count for _, count in figures.failures), default=1)
    rects, words = [], []
    for place, (name, count) in enumerate(figures.failures[:4]):
        y = 8 + 23 * place
        width = max(2.0, count / most * 126)
        words += [
            Word(0, y + 8, FAILURES.get(name, name), strong=True),
            Word(134 + width, y + 9, str(count), strong=True),
        ]
        rects.append(_rect(128, y, width, 10, "bad" if place == 0 else "pale"))
    share = f"of {figures.total:,}, {100 * figures.failed // figures.total} %" if figures.total else "of none"
    told = ", ".join(f"{FAILURES.get(name, name)} {count}" for name, count in figures.failures)
    return Chart(
        "Without a result", f"{figures.failed:,}", share, f"Without a result: {told or 'none'}", rects, words
    )


def _saved(figures: Figures) -> Chart:
    sums, total = [], 0
    for day in figures.days:
        total += day.saved
        sums.append(total)
    line = _line(sums)
    return Chart(
        "Tokens saved",
        wording.tokens(total),
        f"for {wording.money(figures.cost)}",
        f"{wording.tokens(total)} tokens saved in {len(figures.days)} days, summed up day by day",
        words=_dates(figures),
        line=line,
        area=f"{line} L{WIDTH:g} {FLOOR:g} L0 {FLOOR:g}Z" if line else "",
    )


def _line(values: Sequence[float]) -> str:
    most = max(values, default=0)
    if not most:
        return ""
    step = WIDTH / max(1, len(values) - 1)
    points = [f"{place * step:.1f} {FLOOR - value / most * 68:.1f}" for place, value in enumerate(values)]
    return "M" + " L".join(points)


def _coverage(figures: Figures) -> Chart:
    most = max(figures.coverage, default=0) or 1
    step = WIDTH / 10
    rects = [
        _rect(
            place * step + 2,
            FLOOR - count / most * 64,
            step - 4.4,
            count / most * 64,
            "bad" if place < 5 else "middle" if place < NEEDS_A_LOOK // 10 else "good",
        )
        for place, count in enumerate(figures.coverage)
        if count
    ]
    median = "none" if figures.median is None else f"{figures.median:.0f}"
    return Chart(
        "Coverage",
        median,
        f"median · {wording.plural(figures.low, 'needs a look', 'need a look')}",
        f"Coverage: median {median}, {figures.low} below {NEEDS_A_LOOK}",
        rects,
        [
            Word(0, 97, "0"),
            Word(WIDTH / 2, 97, "50", "middle"),
            Word(WIDTH, 97, "100", "end"),
            Word(WIDTH * NEEDS_A_LOOK / 100 - 4, 15, f"needs a look below {NEEDS_A_LOOK}", "end"),
        ],
        mark=WIDTH * NEEDS_A_LOOK / 100,
    )


def _cost(figures: Figures) -> Chart:
    most = max((day.cost for day in figures.days), default=0.0) or 1.0
    step = WIDTH / len(figures.days)
    rects = [
        _rect(
            place * step + 1,
            FLOOR - day.cost / most * _HEIGHT,
            step - 3,
            max(day.cost / most * _HEIGHT, 0.8),
            "auto",
        )
        for place, day in enumerate(figures.days)
        if day.cost
    ]
    return Chart(
        "Cost",
        wording.money(figures.cost),
        f"in {len(figures.days)} days",
        f"{wording.money(figures.cost)} in {len(figures.days)} days, at most {wording.money(max((d.cost for d in figures.days), default=0))} a day",
        rects,
        _dates(figures),
    )


def _rect(x: float, y: float, width: float, height: float, kind: str) -> Rect:
    return Rect(round(x, 1), round(y, 1), round(width, 1), round(height, 1), kind)
