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
        ("2030-99-99", None),
        ("20300101T080000Z", None),
        (None, None),
        (True, None),
    ],
)
def test_timestamps_are_read_in_every_form_old_files_have(timestamp: Any, milliseconds: int | None) -> None:
    """01 ST-02."""
    assert milliseconds_of(timestamp) == milliseconds


def test_iso_text_and_milliseconds_are_the_same_moment() -> None:
    assert iso_of(1893484800007) == "2030-01-01T08:00:00.007Z"
    assert milliseconds_of(iso_of(1893484800007)) == 1893484800007
