"""Puts the measurements of several rounds together: medians, the targets they are held against, and the machine."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from bench.appends import Appends
from bench.product import BATCH_MS
from bench.ready import IMPORTS, Ready
from bench.streaming import Streaming
from bench.tree_report import tree_rows
from bench.trees import Growth, Opened
from bench.turns import EARLY, LATE, MOST_GROWTH_MB, MOST_SLOWER, TURNS, Turns

T = TypeVar("T")

MOST_IDLE_MB = 350
MOST_CPU_RATIO = 3.0
MOST_READY_RATIO = 3.0
_PROCESSES = ("supervisor", "broker", "worker", "web")


@dataclass
class Rounds:
    """What each round measured (streaming by runs and seconds), and the machine's load average (one minute) at each one's beginning and end."""

    streaming: dict[tuple[int, float], list[Streaming]] = field(default_factory=dict)
    idle: list[dict[str, float]] = field(default_factory=list)
    idle_again: list[dict[str, float]] = field(default_factory=list)
    ready: list[Ready] = field(default_factory=list)
    appends: dict[tuple[str, int], list[Appends]] = field(default_factory=dict)
    turns: list[Turns] = field(default_factory=list)
    trees: list[list[Opened]] = field(default_factory=list)
    growths: list[list[Growth]] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Target:
    """A measured value beside the most it may be."""

    name: str
    value: float
    most: float
    unit: str = ""

    @property
    def line(self) -> str:
        verdict = "met" if self.value <= self.most else "missed"
        return f"| {self.name} | {self.value:.4g} {self.unit} | {self.most:.4g} {self.unit} | {verdict} |"


def median(values: Sequence[T], of: Callable[[T], float]) -> float:
    return statistics.median(of(value) for value in values)


def targets(rounds: Rounds) -> list[Target]:
    """Only of what was measured."""
    found = []
    for (runs, seconds), results in rounds.streaming.items():
        if runs == 64:
            wrong = max(result.lost + result.doubled for result in results)
            found.append(Target("64 runs: deltas lost or doubled, worst round", wrong, 0))
        if runs == 16:
            most = BATCH_MS + 3 * median(results, lambda it: it.bare_p99)
            p99 = median(results, lambda it: it.p99)
            found.append(
                Target(
                    f"{runs} runs of {seconds:g} s: p99 of the added latency (batch + 3 x bare)",
                    p99,
                    most,
                    "ms",
                )
            )
            ratio = median(results, lambda it: it.cpu_ratio)
            found.append(
                Target(
                    f"{runs} runs of {seconds:g} s: CPU of worker, web and broker in bare readers",
                    ratio,
                    MOST_CPU_RATIO,
                )
            )
    for name, memories in (
        ("idle memory, just started", rounds.idle),
        ("idle memory, after runs", rounds.idle_again),
    ):
        if memories:
            most_used = median(memories, lambda it: sum(it.values()))
            found.append(Target(name, most_used, MOST_IDLE_MB, "MB"))
    if rounds.ready:
        ratio = median(rounds.ready, lambda it: it.ratio)
        found.append(Target("ready, in bare imports", ratio, MOST_READY_RATIO))
    if rounds.turns:
        found += [
            Target(
                "200 turns: growth of a process",
                median(rounds.turns, lambda it: it.grown),
                MOST_GROWTH_MB,
                "MB",
            ),
            Target("200 turns: files and threads added", median(rounds.turns, lambda it: it.added), 0),
            Target(
                "200 turns: late turns in early ones", median(rounds.turns, lambda it: it.slower), MOST_SLOWER
            ),
        ]
    return found


def written(rounds: Rounds) -> str:
    """The whole of RESULTS.md."""
    parts = [_head(rounds)]
    if found := targets(rounds):
        lines = "".join(f"{target.line}\n" for target in found)
        parts.append(f"## Targets\n\n| | measured | at most | |\n|---|---|---|---|\n{lines}")
    if rounds.streaming:
        parts.append(_streaming(rounds))
    if rounds.idle:
        parts.append(_memory(rounds))
    if rounds.ready:
        parts.append(_ready(rounds.ready))
    if rounds.appends:
        parts.append(_appends(rounds))
    if rounds.turns:
        parts.append(_turns(rounds.turns))
    parts.append(tree_rows(rounds.trees, rounds.growths))
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _head(rounds: Rounds) -> str:
    count = max((len(results) for results in rounds.streaming.values()), default=len(rounds.ready))
    loads = ", ".join(f"{load:.1f}" for load in rounds.loads)
    return (
        "# Measured\n\n"
        f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}; medians of {count} rounds. "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors ({_processor()}), "
        f"Python {platform.python_version()}. Provider, product and viewers share this machine.\n\n"
        f"Load average before and after each round: {loads}. Above the number of processors, times say more about "
        "the neighbours than about the product: compare ratios.\n"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def _streaming(rounds: Rounds) -> str:
    lines = [
        "## From the provider's write to the browser's socket\n",
        (
            "Each run answers at 50 deltas a second, all runs begin in the same moment. *Bare* is a process that reads the "
            "same streams with the same library in threads (one client, nothing done with the text). Latency in "
            f"milliseconds; the product gathers deltas for {BATCH_MS} ms. CPU in milliseconds for 1,000 deltas, from the "
            "prompts' POST to the stored answers on the pages: what a run costs once (storing, telling, preparing) is in "
            "it, so long answers show better what a delta costs.\n"
        ),
        "| runs | seconds | deltas | lost | doubled | p50 | p99 | bare p50 | bare p99 | CPU worker | web | broker | bare | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (runs, seconds), results in rounds.streaming.items():
        cells = [
            f"{runs}",
            f"{seconds:g}",
            f"{sum(result.delivered for result in results)} of {sum(result.sent for result in results)}",
            f"{sum(result.lost for result in results)}",
            f"{sum(result.doubled for result in results)}",
            f"{median(results, lambda it: it.p50):.1f}",
            f"{median(results, lambda it: it.p99):.0f}",
            f"{median(results, lambda it: it.bare_p50):.2f}",
            f"{median(results, lambda it: it.bare_p99):.1f}",
            *(
                f"{median(results, lambda it, name=name: it.cpu[name]):.0f}"  # type: ignore[misc]
                for name in ("worker", "web", "broker")
            ),
            f"{median(results, lambda it: it.bare_cpu):.0f}",
            f"{median(results, lambda it: it.cpu_ratio):.1f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _memory(rounds: Rounds) -> str:
    rows: dict[str, Sequence[dict[str, float]]] = {"just started": rounds.idle}
    for (runs, seconds), results in rounds.streaming.items():
        rows[f"{runs} runs of {seconds:g} s, largest seen"] = [result.memory for result in results]
    rows["idle again"] = rounds.idle_again
    lines = [
        "## Memory\n",
        "MB of PSS (shared pages divided among those that share them).\n",
        "| | " + " | ".join(_PROCESSES) + " | all |",
        "|---" * (len(_PROCESSES) + 2) + "|",
    ]
    for name, memories in rows.items():
        each = [median(memories, lambda it, name=name: it.get(name, 0.0)) for name in _PROCESSES]  # type: ignore[misc]
        lines.append(f"| {name} | " + " | ".join(f"{size:.0f}" for size in each) + f" | {sum(each):.0f} |")
    return "\n".join(lines)


def _ready(results: Sequence[Ready]) -> str:
    return (
        "## Time to ready\n\n"
        "Seconds from `agentweb up` to the first answer of `/health/`, and to import what web server and worker need of "
        f"Django, Celery and daphne (`{IMPORTS}`).\n\n"
        "| first start | second start | imports | second in imports |\n|---|---|---|---|\n"
        f"| {median(results, lambda it: it.first):.2f} | {median(results, lambda it: it.second):.2f} | "
        f"{median(results, lambda it: it.imports):.2f} | {median(results, lambda it: it.ratio):.1f} |\n"
    )


def _appends(rounds: Rounds) -> str:
    lines = [
        "## Storing entries\n",
        (
            "`entry_log.append` with an 800-character message, each writer a thread with a session of its own; the viewers' "
            "notices go to a broker. SQLite as the product sets it up; PostgreSQL by a Unix socket, without fsync.\n"
        ),
        "| database | writers | appends a second | p50 ms | p99 ms | longest ms |",
        "|---|---|---|---|---|---|",
    ]
    for (database, writers), results in rounds.appends.items():
        lines.append(
            f"| {database} | {writers} | {median(results, lambda it: it.rate):.0f} | "
            f"{median(results, lambda it: it.p50):.1f} | {median(results, lambda it: it.p99):.0f} | "
            f"{median(results, lambda it: it.largest):.0f} |"
        )
    return "\n".join(lines)


def _turns(results: Sequence[Turns]) -> str:
    """Times in milliseconds, memory in MB."""
    rows = [
        (
            "ms a turn, median",
            *(median(results, of) * 1000 for of in (lambda it: it.first, lambda it: it.last)),
        ),
        (
            "CPU ms a turn, worker",
            *(median(results, of) * 1000 for of in (lambda it: it.cpu_first, lambda it: it.cpu_last)),
        ),
    ]
    for name in sorted(results[0].late):
        for what in ("memory", "files", "threads"):
            early = statistics.median(getattr(result.early[name], what) for result in results)
            late = statistics.median(getattr(result.late[name], what) for result in results)
            rows.append((f"{what.replace('memory', 'MB')}, {name}", early, late))
    lines = [
        "## A long conversation\n",
        (
            f"{TURNS} turns of the demo model in one session, with tools: turns {EARLY[0]} to {EARLY[1]} beside "
            f"{LATE[0]} to {LATE[1]}; each process after a quarter of the turns and in the end.\n"
        ),
        "| | early | late |",
        "|---|---|---|",
        *(f"| {what} | {early:.0f} | {late:.0f} |" for what, early, late in rows),
    ]
    return "\n".join(lines)
