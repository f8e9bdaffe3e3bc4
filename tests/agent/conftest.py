"""The stand-in for model services, one for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.stand_in import running_stand_in


@pytest.fixture(scope="session")
def stand_in() -> Iterator[str]:
    """The base URL of a running stand-in."""
    with running_stand_in() as server:
        yield server.url
