"""A long conversation: 200 turns of the demo model in one session, with memory, files and threads of each process.

`python -m bench.turns` prints what it measured and what may not grow; it ends with 1 when something did.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench import viewers
from bench.product import Product, pss
from tests.running import Up, started

TURNS = 200
MOST_GROWTH_MB = 8.0
MOST_SLOWER = 1.2
EARLY, LATE = (31, 50), (181, 200)
REST_SECONDS = 3.0
# What asks for one or more tools each, and for none.
WORDS = (
    "What files are in this folder?",
    "Read notes.txt",
    "Find every TODO and group them by file",
    "Create a file page-{n}.txt with the text line {n}",
    "Search for milk",
    "What did you do so far?",
)


@dataclass(frozen=True)
class Sample:
    """Of one process after so many turns: MB (PSS), open files, threads."""

    memory: float
    files: int
    threads: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.turns", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    wanted: int = parser.parse_args().turns
    with tempfile.TemporaryDirectory(prefix="bench-turns-") as folder:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "notes.txt").write_text("Buy milk.\nTODO: feed the cat.\n", encoding="utf-8")
        with started(Path(folder) / "data", "--workspace", str(work)) as up:
            early, late = asyncio.run(converse(up, wanted))
            seconds = list(turn_times(up.data / "agentweb.sqlite3"))
    return told(early, late, seconds[:wanted])


async def converse(up: Up, wanted: int) -> tuple[dict[str, Sample], dict[str, Sample]]:
    """One prompt after the other until there were so many turns; samples at a quarter and at the end."""
    viewers.MODEL = "demo/demo"
    product = Product(up, "")
    early: dict[str, Sample] = {}
    async with await viewers.sign_in(product) as visitor:
        page = await visitor.open_session()
        said = done = 0
        while done < wanted:
            await visitor.prompt(page, WORDS[said % len(WORDS)].format(n=said))
            said += 1
            while not is_idle(up.data / "agentweb.sqlite3"):
                await asyncio.sleep(0.05)
            done = turn_count(up.data / "agentweb.sqlite3")
            if not early and done >= wanted // 4:
                early = await asyncio.to_thread(samples, product)
    print(f"{done} turns after {said} prompts", flush=True)
    return early, await asyncio.to_thread(samples, product)


def samples(product: Product) -> dict[str, Sample]:
    time.sleep(REST_SECONDS)
    found = {}
    for name, process in product.processes().items():
        if name in {"worker", "web"}:
            found[name] = Sample(pss(process.pid), process.num_fds(), process.num_threads())
    return found


def query(database: Path, text: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        return connection.execute(text).fetchall()


def is_idle(database: Path) -> bool:
    return query(database, "SELECT count(*) FROM sessions_app_run WHERE ended_at IS NULL") == [(0,)]


def turn_count(database: Path) -> int:
    [(count,)] = query(database, "SELECT count(*) FROM sessions_app_entry WHERE role = 'assistant'")
    return int(str(count))


def turn_times(database: Path) -> Iterator[float]:
    """Seconds of each turn: from where the one before ended, or its run began, to its last entry."""
    rows = query(
        database,
        "SELECT r.id, r.started_at, e.role, e.created_at FROM sessions_app_entry e"
        " JOIN sessions_app_run r ON r.id = e.run_id WHERE e.role IN ('assistant', 'toolResult') ORDER BY e.seq",
    )
    run: object = None
    began = ended = 0.0
    for run_id, run_began, role, stored in rows:
        if run_id != run or role == "assistant":
            if ended:
                yield ended - began
            began = seconds(run_began) if run_id != run else ended
            run = run_id
        ended = seconds(stored)
    if ended:
        yield ended - began


def seconds(stored: object) -> float:
    return datetime.fromisoformat(re.sub(r"[+Z].*$", "", str(stored))).timestamp()


def told(early: dict[str, Sample], late: dict[str, Sample], times: list[float]) -> int:
    good = True
    for name in late:
        before, after = early[name], late[name]
        grown = after.memory - before.memory
        holds = grown <= MOST_GROWTH_MB and after.files <= before.files and after.threads <= before.threads
        good = good and holds
        print(
            f"{name}: {before.memory:.1f} → {after.memory:.1f} MB ({grown:+.1f}, at most +{MOST_GROWTH_MB:.0f}), "
            f"files {before.files} → {after.files}, threads {before.threads} → {after.threads}: "
            f"{'holds' if holds else 'MISSED'}"
        )
    if len(times) >= LATE[1]:
        first = statistics.median(times[EARLY[0] - 1 : EARLY[1]])
        last = statistics.median(times[LATE[0] - 1 : LATE[1]])
        holds = last <= first * MOST_SLOWER
        good = good and holds
        print(
            f"median turn: {first * 1000:.0f} ms (turns {EARLY[0]}-{EARLY[1]}) → {last * 1000:.0f} ms "
            f"(turns {LATE[0]}-{LATE[1]}), {last / first:.2f} times, at most {MOST_SLOWER}: "
            f"{'holds' if holds else 'MISSED'}"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
