"""What is measured: a real `agentweb up` whose model is the stand-in, with the time and memory its processes take."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.running import Up, started

ROOT = Path(__file__).resolve().parent.parent
WORKER_THREADS = 80
# The product's own default, named here so that the targets can count on it.
BATCH_MS = 50


@dataclass(frozen=True)
class Product:
    """`up` is the running server, `stand_in` the address of its model service."""

    up: Up
    stand_in: str

    def processes(self) -> dict[str, psutil.Process]:
        """supervisor, broker, worker, web."""
        return {"supervisor": psutil.Process(self.up.process.pid), **self.up.children()}

    def cpu_seconds(self) -> dict[str, float]:
        """User and system time of each process so far."""
        times = {name: process.cpu_times() for name, process in self.processes().items()}
        return {name: spent.user + spent.system for name, spent in times.items()}

    def memory(self) -> dict[str, float]:
        """Each process's share of memory (PSS) in MB."""
        return {name: pss(process.pid) for name, process in self.processes().items()}


@contextlib.contextmanager
def running_product() -> Iterator[Product]:
    """On a fresh data directory, with one workspace; everything is gone afterwards."""
    with running_stand_in_process() as address, tempfile.TemporaryDirectory(prefix="bench-") as folder:
        workspace = Path(folder) / "work"
        workspace.mkdir()
        with started(
            Path(folder) / "data", "--workspace", str(workspace), "--workers", str(WORKER_THREADS),
            ANTHROPIC_API_KEY="bench", ANTHROPIC_BASE_URL=address,
            AGENTWEB_LIVE_BATCH_MS=str(BATCH_MS),
        ) as up:  # fmt: skip
            yield Product(up, address)


@contextlib.contextmanager
def running_stand_in_process() -> Iterator[str]:
    """The stand-in in a process of its own, so that it writes on time; its address."""
    command = [sys.executable, "-m", "bench.stand_in", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def pss(pid: int) -> float:
    """MB of memory, what is shared divided among those that share it."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
