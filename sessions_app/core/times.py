"""The two spellings of a moment in session files: ISO text on entries, milliseconds in messages."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds_of(timestamp: Any) -> int | None:
    """Unix milliseconds of an entry's timestamp; old files may hold the number itself. None if unreadable."""
    if isinstance(timestamp, bool):
        return None
    if isinstance(timestamp, int):
        return timestamp
    if isinstance(timestamp, float):
        return int(timestamp) if math.isfinite(timestamp) else None
    # Python knows more ISO spellings than session files have.
    if not isinstance(timestamp, str) or timestamp[4:5] != "-" or timestamp[7:8] != "-":
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def iso_of(milliseconds: int) -> str:
    """`2030-01-01T08:00:00.000Z` for Unix milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"
