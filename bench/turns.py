"""A long conversation: 200 turns of the demo model in one session, with memory, files and threads of each process.

`python -m bench.turns` prints what it measured and what may not grow, and ends with 1 when something did.
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
# A process's clock ticks in hundredths of a second.
CPU_EARLY, CPU_LATE = (20, 60), (160, 200)
REST_SECONDS = 3.0
# Nobody asks the next thing in the moment of an answer; the worker's thread has then put its work away.
PAUSE_SECONDS = 0.1
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


@dataclass(frozen=True)
class Turns:
    """A conversation of so many turns: each process early and late, the median seconds of early and late turns, and
    the worker's CPU seconds a turn around them, which tell more where others use the machine too.
    """

    early: dict[str, Sample]
    late: dict[str, Sample]
    first: float
    last: float
    cpu_first: float
    cpu_last: float

    @property
    def slower(self) -> float:
        return self.last / self.first

    @property
    def grown(self) -> float:
        """MB of the process that grew most."""
        return max(after.memory - self.early[name].memory for name, after in self.late.items())

    @property
    def added(self) -> int:
        """Files and threads of all processes that are there late and were not early."""
        return sum(
            max(0, after.files - self.early[name].files) + max(0, after.threads - self.early[name].threads)
            for name, after in self.late.items()
        )


def main() -> int:
    argparse.ArgumentParser(prog="python -m bench.turns", description=__doc__).parse_args()
    return told(measure())


def measure() -> Turns:
    with tempfile.TemporaryDirectory(prefix="bench-turns-") as folder:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "notes.txt").write_text("Buy milk.\nTODO: feed the cat.\n", encoding="utf-8")
        with started(Path(folder) / "data", "--workspace", str(work)) as up:
            early, late, spent = asyncio.run(converse(up))
            times = list(turn_times(up.data / "agentweb.sqlite3"))
    cpu = (cpu_of(spent, CPU_EARLY), cpu_of(spent, CPU_LATE))
    return Turns(early, late, median_of(times, EARLY), median_of(times, LATE), *cpu)


def cpu_of(spent: dict[int, float], turns: tuple[int, int]) -> float:
    first, last = (next(done for done in spent if done >= turn) for turn in turns)
    return (spent[last] - spent[first]) / (last - first)


def median_of(times: list[float], turns: tuple[int, int]) -> float:
    return statistics.median(times[turns[0] - 1 : turns[1]])


async def converse(up: Up) -> tuple[dict[str, Sample], dict[str, Sample], dict[int, float]]:
    """One prompt after the other until there were so many turns; samples at a quarter and at the end, and the worker's
    CPU seconds after each number of turns.
    """
    product = Product(up, "")
    early: dict[str, Sample] = {}
    spent: dict[int, float] = {}
    async with await viewers.sign_in(product) as visitor:
        page = await visitor.open_session("demo/demo")
        said = done = 0
        while done < TURNS:
            await visitor.prompt(page, WORDS[said % len(WORDS)].format(n=said))
            said += 1
            while not is_idle(up.data / "agentweb.sqlite3"):
                await asyncio.sleep(0.05)
            await asyncio.sleep(PAUSE_SECONDS)
            done = turn_count(up.data / "agentweb.sqlite3")
            spent[done] = product.cpu_seconds()["worker"]
            if not early and done >= TURNS // 4:
                early = await asyncio.to_thread(samples, product)
    return early, await asyncio.to_thread(samples, product), spent


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


def told(measured: Turns) -> int:
    for name, after in measured.late.items():
        before = measured.early[name]
        print(
            f"{name}: {before.memory:.1f} → {after.memory:.1f} MB, files {before.files} → {after.files}, "
            f"threads {before.threads} → {after.threads}"
        )
    print(
        f"median turn: {measured.first * 1000:.0f} ms (turns {EARLY[0]}-{EARLY[1]}) → {measured.last * 1000:.0f} ms "
        f"(turns {LATE[0]}-{LATE[1]}); CPU of the worker {measured.cpu_first * 1000:.0f} → "
        f"{measured.cpu_last * 1000:.0f} ms a turn"
    )
    good = True
    for what, value, most in (
        ("MB grown", measured.grown, MOST_GROWTH_MB),
        ("files and threads added", measured.added, 0),
        ("times as long", measured.slower, MOST_SLOWER),
    ):
        good = good and value <= most
        print(f"{what}: {value:.3g}, at most {most:g}: {'holds' if value <= most else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
