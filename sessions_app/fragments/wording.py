"""How numbers, times and spans of time are said in the interface."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.utils.translation import ngettext

OUTCOME_WORDS = {"worked": "worked", "dead_end": "dead end", "in_progress": "in progress"}

_MINUTE = 60
_HOUR = 3600


def tokens(count: float | None) -> str:
    """`812`, `58.3k`, `200k`, `1.2M`."""
    if count is None:
        return "unknown"
    if count < 1000:
        return str(round(count))
    if count < 999_950:
        return _trimmed(count / 1000) + "k"
    return _trimmed(count / 1_000_000) + "M"


def _trimmed(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def money(dollars: float | None) -> str:
    """`$0.84`; below a cent three digits, below a tenth of a cent `<$0.001`, nothing is `$0.00`."""
    if not dollars:
        return "$0.00"
    if dollars < 0.001:
        return "<$0.001"
    return f"${dollars:.3f}" if dollars < 0.01 else f"${dollars:,.2f}"


def duration(milliseconds: float | None) -> str:
    """`12 ms`, `2.1 s`, `48 s`, `2 min 14 s`, `3 h 5 min`."""
    if milliseconds is None or milliseconds < 0:
        return ""
    if milliseconds < 1000:
        return f"{round(milliseconds)} ms"
    seconds = milliseconds / 1000
    if seconds < 9.95:
        return f"{_trimmed(seconds)} s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def size(count: float) -> str:
    """`812 B`, `2.1 KB`, `14.0 MB`."""
    for unit in ("B", "KB", "MB"):
        if count < 1024:
            return f"{round(count)} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GB"


def clock(moment: datetime, now: datetime | None = None) -> str:
    """`14:29` today, `21 Nov 14:29` this year, `21 Nov 2024` before."""
    now = now or datetime.now(UTC)
    if moment.date() == now.date():
        return f"{moment:%H:%M}"
    if moment.year == now.year:
        return f"{moment.day} {moment:%b %H:%M}"
    return f"{moment.day} {moment:%b %Y}"


def moment_of(value: Any) -> datetime | None:
    """The time that a stored timestamp means: ISO text or Unix milliseconds; None for anything else."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def plural(count: int, one: str, many: str = "") -> str:
    """`1 entry`, `31 entries`, `1,204 entries`."""
    return f"{count:,} {ngettext(one, many or one + 's', count)}"
