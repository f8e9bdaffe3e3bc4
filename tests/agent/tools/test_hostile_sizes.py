"""Commands that flood and multiply: in small in every run of the tests, in their whole size where AGENTWEB_EXAMPLES asks
for the long forms.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from sessions_app import blobs
from sessions_app.agent.stop import StopSignal
from tests.agent.sandboxes.workspace import Workspace, text_of

IS_LONG = int(os.environ.get("AGENTWEB_EXAMPLES", "0")) >= 1000
FLOOD = 1_000_000_000 if IS_LONG else 100_000_000
FORKS = 200 if IS_LONG else 25
MOST_GROWTH = 50_000_000


class Memory:
    """The most that this process has grown while it was watched."""

    def __enter__(self) -> Memory:
        self._process, self._over = psutil.Process(), threading.Event()
        self._before = self.peak = self._process.memory_info().rss
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            self.peak = max(self.peak, self._process.memory_info().rss)

    @property
    def growth(self) -> int:
        return self.peak - self._before


def test_a_flood_of_output_costs_little_memory_and_is_kept_whole(workspace: Workspace) -> None:
    """05 §6.8: a gigabyte, or a tenth of it, through the tool into its file."""
    workspace.call("bash", command="seq 400000")  # what every long output needs once
    with Memory() as memory:
        result = workspace.call("bash", command=f"yes 'a line of sixteen' | head -c {FLOOD}")
    assert not result.is_error
    assert result.details["truncation"]["totalBytes"] == FLOOD
    path = Path(result.details["fullOutputPath"])
    assert path.stat().st_size == FLOOD
    assert "a line of sixteen" in text_of(result)
    path.unlink()
    assert memory.growth < MOST_GROWTH


def test_hundreds_of_forked_and_deaf_processes_are_gone_after_a_stop(workspace: Workspace) -> None:
    """05 §6.6, B44: each in a session of its own, none listening to SIGTERM; by the run's mark none is left."""
    deaf = "trap '' TERM INT HUP; while :; do sleep 60; done"
    command = f"for i in $(seq {FORKS}); do (setsid sh -c \"{deaf}\" &) ; done; trap '' TERM; while :; do sleep 60; done"
    sandbox, stop = workspace.sandbox(), StopSignal()
    ended: list[float] = []

    def stop_when_all_are_there() -> None:
        deadline = time.monotonic() + 60
        while len(workspace.living()) < FORKS and time.monotonic() < deadline:
            time.sleep(0.05)
        ended.append(time.monotonic())
        stop.request()

    watcher = threading.Thread(target=stop_when_all_are_there)
    watcher.start()
    result = sandbox.exec(command, stop=stop, on_data=lambda data: None)
    seconds = time.monotonic() - ended[0]
    watcher.join()
    assert result.stopped
    assert result.survivors == 0
    assert workspace.living() == []
    assert seconds < 3


@pytest.mark.django_db
def test_a_kept_output_is_taken_over_without_being_read_into_memory(settings: Any, tmp_path: Path) -> None:
    """05 §6.8: what is on disk moves to where blobs lie."""
    settings.BLOB_DIR, settings.SPILL_DIR = tmp_path / "blobs", tmp_path / "spill"
    path = tmp_path / "spill" / "run" / "output.log"
    path.parent.mkdir(parents=True)
    for _ in range(2):
        path.touch()
        os.truncate(path, FLOOD)
        with Memory() as memory:
            message, uses = blobs.externalise({"details": {"fullOutputPath": str(path)}})
        assert memory.growth < MOST_GROWTH
        assert message["details"]["fullOutput"]["size"] == FLOOD
        assert not path.exists()
        assert blobs.path_of(uses[0][0].sha256).stat().st_size == FLOOD
    assert len(list((tmp_path / "blobs").rglob("*"))) == 2
