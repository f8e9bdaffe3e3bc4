"""The workspace fixture, shared by the tests of sandboxes and tools."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions_app.agent.sandboxes import processes
from tests.agent.sandboxes.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = Workspace(folder=tmp_path / "work", spill=tmp_path / "spill")
    made.folder.mkdir()
    made.spill.mkdir()
    yield made
    processes.kill_marked(made.marker)
    shutil.rmtree(made.spill, ignore_errors=True)
