"""Entry timestamps and milliseconds."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.core.times import iso_of, milliseconds_of


@pytest.mark.parametrize(
    ("timestamp", "milliseconds"),
    [
        ("2030-01-01T08:00:00.000Z", 1893484800000),
        ("2030-01-01T09:00:00.250+01:00", 1893484800250),
        ("2030-01-01T08:00:00", 1893484800000),
        (1893484800000, 1893484800000),
        (1893484800000.5, 1893484800000),
        (float("inf"), None),
        ("yesterday", None),
        ("2030-01-01T08:00:05.1239Z", 1893484805123),
        ("2030-01-01 08:00+0130", 1893479400000),
        ("2030-01-01T24:00:00Z", 1893542400000),
        ("2030-02-30T08:00:00Z", 1898668800000),
        ("2030-01-01t08:00:00z", 1893484800000),
        ("2030", 1893456000000),
        ("2030-01", 1893456000000),
        ("-000001-01-01T00:00:00Z", -62198755200000),
        ("+275761-01-01", None),
        ("-000000-01-01", None),
        ("2030-01-01T24:00:01Z", None),
        ("2030-01-01T08:00+24:00", None),
        ("2030-01-01T08Z", None),
        ("2030-99-99", None),
        (9e15, None),
        ("20300101T080000Z", None),
        (None, None),
        (True, None),
    ],
)
def test_timestamps_are_read_in_every_form_old_files_have(timestamp: Any, milliseconds: int | None) -> None:
    """01 ST-02."""
    assert milliseconds_of(timestamp) == milliseconds


@pytest.mark.parametrize(
    "timestamp", ["Jan 1, 2030", "2030/01/01", "Tue, 01 Jan 2030 08:00:00 GMT", "2030-1-1"]
)
def test_other_spellings_of_a_date_are_no_time(timestamp: str) -> None:
    """01 ST-02: a script's clock guesses what they mean, we do not."""
    assert milliseconds_of(timestamp) is None


def test_iso_text_and_milliseconds_are_the_same_moment() -> None:
    assert iso_of(1893484800007) == "2030-01-01T08:00:00.007Z"
    assert milliseconds_of(iso_of(1893484800007)) == 1893484800007
