"""Seconds from `agentweb up` on an existing data directory to the first answer of /health/, beside bare imports.

`python -m bench.ready` measures once and prints it.
"""

from __future__ import annotations

import contextlib
import http.client
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from agentweb.addresses import free_port
from bench.product import ROOT
from tests.running import environment

# What a web server and a worker can't do without of the three, in one process.
IMPORTS = "import django.core.asgi, celery.apps.worker, daphne.server"
PATIENCE = 90.0


@dataclass(frozen=True)
class Ready:
    """Seconds."""

    first: float
    second: float
    imports: float

    @property
    def ratio(self) -> float:
        return self.second / self.imports


def measure() -> Ready:
    """The first start makes the database and gathers the static files; the second finds both."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        data = Path(folder) / "data"
        first, second = time_to_ready(data), time_to_ready(data)
    return Ready(first, second, statistics.median(time_of_imports() for _ in range(3)))


def time_to_ready(data: Path) -> float:
    port = free_port("127.0.0.1", 0)
    command = [sys.executable, "-m", "agentweb.cli", "up", "--port", str(port)]
    began = time.monotonic()
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(data), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            while not is_healthy(port):
                if process.poll() is not None or time.monotonic() - began > PATIENCE:
                    raise RuntimeError("the server did not start")
                time.sleep(0.01)
            return time.monotonic() - began
        finally:
            process.terminate()


def is_healthy(port: int) -> bool:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        try:
            connection.request("GET", "/health/")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def time_of_imports() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
    return time.monotonic() - began


def main() -> None:
    result = measure()
    print(
        f"first start {result.first:.2f} s, second {result.second:.2f} s, "
        f"imports {result.imports:.2f} s: ratio {result.ratio:.2f}"
    )


if __name__ == "__main__":
    main()
