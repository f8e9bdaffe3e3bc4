"""How fast entries are stored, through `entry_log.append` as a run does it, on SQLite and on PostgreSQL.

`python -m bench.appends` measures both once; with `--here` it measures the database that the settings name.
The PostgreSQL server is the tests' own: on this machine, by a Unix socket, without waiting for the disk (fsync
off); SQLite as the product uses it (WAL, synchronous NORMAL).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.deltas import percentile
from bench.product import ROOT
from tests.broker import Broker
from tests.postgres import running_postgres
from tests.running import environment

Json = dict[str, Any]

SECONDS = 4.0
TEXT = "A tool's result or an answer of a model has about so many words. " * 12


@dataclass(frozen=True)
class Appends:
    """Appends a second in all, and the milliseconds one takes; each writer has a session of its own."""

    database: str
    writers: int
    rate: float
    p50: float
    p99: float
    largest: float


def measure() -> list[Appends]:
    """Each append also tells the session's viewers, so a broker runs beside the database."""
    found = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        broker = Broker(Path(folder))
        broker.start()
        try:
            found += measured("SQLite", Path(folder) / "sqlite", REDIS_URL=broker.url)
            with running_postgres() as address:
                postgres = Path(folder) / "postgres"
                found += measured("PostgreSQL", postgres, REDIS_URL=broker.url, DATABASE_URL=address)
        finally:
            broker.stop()
    return found


def measured(database: str, data: Path, **variables: str) -> list[Appends]:
    """In a process of its own, because settings are read once."""
    data.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "bench.appends", "--here"], cwd=ROOT, env=environment(data, **variables),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [Appends(database, **facts) for facts in json.loads(done.stdout.splitlines()[-1])]


def measure_here() -> list[Json]:
    from agentweb.preparation import set_up_django

    set_up_django()
    from django.core.management import call_command

    from sessions_app.services import accounts, sessions, workspaces

    call_command("migrate", verbosity=0)
    user = accounts.first_user()
    workspace = workspaces.add_workspace(user=user, path=os.environ["AGENTWEB_DATA"], by_operator=True)
    results = []
    for writers in (1, 16):
        keys = [sessions.create_session(workspace=workspace, owner=user).pk for _ in range(writers)]
        times: list[list[float]] = [[] for _ in keys]
        stop = time.monotonic() + SECONDS
        threads = [
            threading.Thread(target=append_until, args=(stop, key, its))
            for key, its in zip(keys, times, strict=True)
        ]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spent = time.monotonic() - began
        all_times = [int(value * 1e6) for its in times for value in its]
        results.append(
            {
                "writers": writers,
                "rate": len(all_times) / spent,
                "p50": percentile(all_times, 0.50) / 1000,
                "p99": percentile(all_times, 0.99) / 1000,
                "largest": max(all_times) / 1000,
            }
        )
    return results


def append_until(stop: float, session: int, times: list[float]) -> None:
    from django.db import connection

    from sessions_app import entry_log

    message = {"role": "user", "content": TEXT, "timestamp": 1}
    while (began := time.monotonic()) < stop:
        entry_log.append(session, {"type": "message", "message": message})
        times.append(time.monotonic() - began)
    connection.close()


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--here", action="store_true")
    if parser.parse_args(arguments).here:
        print(json.dumps(measure_here()))
        return
    for result in measure():
        print(
            f"{result.database:10} {result.writers:2} writers: {result.rate:5.0f}/s, p50 {result.p50:.1f} ms, "
            f"p99 {result.p99:.1f} ms, largest {result.largest:.0f} ms"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
