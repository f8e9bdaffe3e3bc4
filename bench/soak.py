"""What `make soak` runs: the long forms of the property tests and simulators, and many replayed sessions under faults.

One seed decides everything and is told: `make soak ARGS="--seed 123"` does all of it again, `--seed 123 --runs 1`
plays that one session again. Ends with a summary, and with 1 when something did not hold.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES
from tests.browser.replay import Replay, Result, arena
from tests.browser.replay_plan import make_plan

ROOT = Path(__file__).parent.parent
# A fresh server now and then: the pauses before restarts grow with every death of a process.
RUNS_PER_SERVER = 8
# Replays mostly wait, for a lease to run out or a page to come back.
SIDE_BY_SIDE = 2


@dataclass(frozen=True)
class LongForm:
    """Test files whose size a variable sets, and how large it is in the long form."""

    name: str
    variable: str
    size: int
    # What tells that a file is one of these.
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Passed:
    """How a long form ended."""

    form: LongForm
    good: bool
    seconds: float
    words: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="of the first session; the others count on")
    parser.add_argument("--runs", type=int, default=60, help="replayed sessions (0: none)")
    parser.add_argument("--lease", type=int, default=15, help="seconds until a dead worker's run is closed")
    parser.add_argument("--examples", type=int, default=500, help="per property of a tree (0: none)")
    parser.add_argument(
        "--sessions", type=int, default=2000, help="per property of a request or loop (0: none)"
    )
    parser.add_argument("--steps", type=int, default=2000, help="of the simulator (0: none)")
    chosen = parser.parse_args()
    end_when_told()
    seed = chosen.seed if chosen.seed is not None else int(time.time()) % 1_000_000
    only_replay = chosen.seed is not None and chosen.runs == 1
    forms = [
        LongForm("properties of trees", "AGENTWEB_EXAMPLES", chosen.examples, ("tests.core.strategies",)),
        LongForm("requests and loops", "AGENTWEB_SESSIONS", chosen.sessions, ("AGENTWEB_SESSIONS",)),
        LongForm("simulator", "AGENTWEB_STEPS", chosen.steps, ("AGENTWEB_STEPS",)),
    ]
    passed = [] if only_replay else [play_long_form(form, seed) for form in forms if form.size]
    results = list(replay(range(seed, seed + chosen.runs), chosen.lease)) if chosen.runs else []
    print(f'\n=== everything again: make soak ARGS="--seed {seed}"')
    for one in passed:
        print(f"{one.form.name:22} {one.form.variable}={one.form.size}: {one.words} in {one.seconds:.0f} s")
    if chosen.runs:
        print(summary(results, chosen.runs, chosen.lease))
    good = all(one.good for one in passed)
    good = good and len(results) == chosen.runs and not any(result.problems for result in results)
    print("PASSED" if good else "FAILED")
    return 0 if good else 1


def end_when_told() -> None:
    """Servers and browsers end too when this process is told to."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))


def play_long_form(form: LongForm, seed: int) -> Passed:
    """Its test files with many examples, sessions or steps."""
    files = sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if any(mark in path.read_text(encoding="utf-8") for mark in form.marks)
    )
    print(f"=== {form.name}, {form.variable}={form.size}, seed {seed}: {' '.join(files)}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=3600", *files]
    command += [f"--hypothesis-seed={seed}", f"--randomly-seed={seed}"]
    begun, last = time.monotonic(), "said nothing"
    variables = {form.variable: str(form.size), "AGENTWEB_SEED": str(seed)}
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True
    ) as pytest:
        assert pytest.stdout is not None
        for words in pytest.stdout:
            print(words, end="", flush=True)
            last = words.strip() or last
    return Passed(form, pytest.returncode == 0, time.monotonic() - begun, last.partition(" in ")[0])


def replay(seeds: range, lease: int) -> Iterator[Result]:
    """One result per seed, told as it comes; fewer when a server or browser could not go on."""
    print(f"=== replay of seeds {seeds.start} to {seeds.stop - 1}, lease {lease} s", flush=True)
    parts = [
        (seeds[first : first + RUNS_PER_SERVER], lease) for first in range(0, len(seeds), RUNS_PER_SERVER)
    ]
    with multiprocessing.get_context("spawn").Pool(SIDE_BY_SIDE, end_when_told, maxtasksperchild=1) as pool:
        for results in pool.imap_unordered(play_part, parts):
            yield from results


def play_part(part: tuple[range, int]) -> list[Result]:
    """The sessions of some seeds on a server and in a browser of their own."""
    seeds, lease = part
    results: list[Result] = []
    try:
        with (
            sync_playwright() as playwright,
            tempfile.TemporaryDirectory(prefix="aw-soak-") as folder,
            playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES) as browser,
            arena(browser, Path(folder), lease=lease) as place,
        ):
            for seed in seeds:
                results.append(Replay(place, make_plan(seed)).play())
                print(line(results[-1]), flush=True)
    except Exception:  # the other servers' sessions still say something
        print(f"seeds {seeds.start} to {seeds.stop - 1}: the harness or the server gave up", flush=True)
        traceback.print_exc()
    return results


def line(result: Result) -> str:
    plan = result.plan
    words = f"{plan.seed:>7}  {plan.shape:5} {plan.provider:17} {' '.join(result.statuses):32} {', '.join(result.done)}"
    problems = "".join(f"\n         ! {words}" for words in dict.fromkeys(result.problems))
    return words + problems


def summary(results: list[Result], wanted: int, lease: int) -> str:
    """A table of what was done and what was measured."""
    faults = Counter(kind for result in results for kind in result.done)
    statuses = Counter(status for result in results for status in result.statuses)
    bad = [str(result.plan.seed) for result in results if result.problems]
    rows = [
        ("sessions replayed", f"{len(results)} of {wanted} in {sum(r.seconds for r in results):.0f} s"),
        ("runs", ", ".join(f"{status} {count}" for status, count in statuses.most_common())),
        ("faults", ", ".join(f"{kind} {count}" for kind, count in faults.most_common())),
        ("looks at pages", str(sum(r.looks for r in results))),
        ("text lost by a kill", spread([s for r in results for s in r.lost], "allowed 2")),
        ("kill to closed", spread([s for r in results for s in r.closed], f"allowed {lease + 10}")),
        ("pages agree after", spread([s for r in results for s in r.caught_up], "")),
        ("seeds with violations", ", ".join(bad) or "none"),
    ]
    return "\n".join(f"{name:22} {value}" for name, value in rows)


def spread(seconds: list[float], allowed: str) -> str:
    if not seconds:
        return "never"
    ordered = sorted(seconds)
    middle = ordered[len(ordered) // 2]
    return f"{len(ordered)} times, median {middle:.2f} s, most {ordered[-1]:.2f} s {f'({allowed})' if allowed else ''}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
