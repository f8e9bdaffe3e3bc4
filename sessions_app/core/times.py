"""The two spellings of a moment in session files: ISO text on entries, milliseconds in messages."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1).toordinal()
# The calendar repeats itself after 400 years; Python's ends sooner than a file's may.
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
# The last moment that a script's clock knows.
_LAST = 8_640_000_000_000_000

_ISO = re.compile(
    r"""(?P<year> \d{4} | [+-]\d{6}) (?: -(?P<month>\d\d) (?: -(?P<day>\d\d) )? )?
    (?: [Tt\ ] (?P<hour>\d\d):(?P<minute>\d\d) (?: :(?P<second>\d\d) (?: \.(?P<fraction>\d+) )? )?
        (?P<offset> [Zz] | [+-]\d\d:?\d\d )? )?""",
    re.VERBOSE | re.ASCII,
)


def milliseconds_of(timestamp: Any) -> int | None:
    """Unix milliseconds of an entry's timestamp; old files may hold the number itself (01 ST-02). None if unreadable.

    Text is an ISO date, or date and time, as scripts read it: without an offset it is UTC, a month has 31 days, and
    midnight may be 24:00.
    """
    if isinstance(timestamp, str):
        return _of_text(timestamp)
    if isinstance(timestamp, bool) or not isinstance(timestamp, int | float):
        return None
    return int(timestamp) if math.isfinite(timestamp) and abs(timestamp) <= _LAST else None


def _of_text(text: str) -> int | None:
    found = _ISO.fullmatch(text)
    if found is None or found["year"] == "-000000":
        return None
    month, day, hour, minute, second = (
        int(found[name] or least)
        for name, least in (("month", 1), ("day", 1), ("hour", 0), ("minute", 0), ("second", 0))
    )
    milliseconds = int(f"{found['fraction'] or '0':0<3}"[:3])
    within = 1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute <= 59 and second <= 59
    if not within or (hour == 24 and (minute or second or milliseconds)):
        return None
    offset = _offset_minutes(found["offset"])
    if offset is None:
        return None
    seconds = 60 * (60 * (24 * _days(int(found["year"]), month, day) + hour) + minute - offset) + second
    moment = 1000 * seconds + milliseconds
    return moment if abs(moment) <= _LAST else None


def _days(year: int, month: int, day: int) -> int:
    """Since the first of January 1970; a day beyond the end of a month is one of the next."""
    cycles = year // _CYCLE_YEARS - 1
    first = date(year - _CYCLE_YEARS * cycles, month, 1).toordinal()
    return first + _CYCLE_DAYS * cycles + day - 1 - _FIRST_DAY


def _offset_minutes(offset: str | None) -> int | None:
    """East of Greenwich; None if there is no such offset."""
    if offset is None or offset in "Zz":
        return 0
    hours, minutes = int(offset[1:3]), int(offset[-2:])
    if hours > 23 or minutes > 59:
        return None
    return (60 * hours + minutes) * (-1 if offset[0] == "-" else 1)


def iso_of(milliseconds: int) -> str:
    """`2030-01-01T08:00:00.000Z` for Unix milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"
