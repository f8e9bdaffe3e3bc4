"""What `make soak` runs: many replayed sessions under faults, and the long forms of the property tests and simulators.

Each session is decided by one seed: `make soak ARGS="--seed 123 --runs 1"` plays that one again. Ends with 1 when
something did not hold.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES
from tests.browser.replay import Replay, Result, arena
from tests.browser.replay_plan import make_plan

ROOT = Path(__file__).parent.parent
# A fresh server now and then: the pauses before restarts grow with every death of a process.
RUNS_PER_SERVER = 8
# Files of tests whose size these variables set, or that take their settings from there.
SCALING = ("AGENTWEB_EXAMPLES", "AGENTWEB_STEPS", "tests.core.strategies")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="of the first run; the others count on")
    parser.add_argument("--runs", type=int, default=60, help="replayed sessions (0: none)")
    parser.add_argument("--lease", type=int, default=15, help="seconds until a dead worker's run is closed")
    parser.add_argument("--examples", type=int, default=2000, help="per property test (0: none)")
    parser.add_argument("--steps", type=int, default=2000, help="of each simulator")
    chosen = parser.parse_args()
    # Also when told to end, servers and browser must.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))
    seed = chosen.seed if chosen.seed is not None else int(time.time()) % 1_000_000
    only_replay = chosen.seed is not None and chosen.runs == 1
    good = True
    if chosen.examples and not only_replay:
        good = long_forms(chosen.examples, chosen.steps)
    if chosen.runs:
        results = list(replay(range(seed, seed + chosen.runs), chosen.lease))
        print(summary(results, chosen.runs, chosen.lease))
        good = good and len(results) == chosen.runs and not any(result.problems for result in results)
    print("PASSED" if good else "FAILED")
    return 0 if good else 1


def long_forms(examples: int, steps: int) -> bool:
    """The property tests and simulators with many examples; whether they passed."""
    files = sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if any(name in path.read_text(encoding="utf-8") for name in SCALING)
    )
    print(f"=== {examples} examples, {steps} steps: {' '.join(files)}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=3600", *files]
    variables = {"AGENTWEB_EXAMPLES": str(examples), "AGENTWEB_STEPS": str(steps)}
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode == 0


def replay(seeds: range, lease: int) -> Iterator[Result]:
    """One result per seed, told as it comes; fewer when a server or browser could not go on."""
    print(f"=== replay of seeds {seeds.start} to {seeds.stop - 1}, lease {lease} s", flush=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        try:
            for first in range(0, len(seeds), RUNS_PER_SERVER):
                part = seeds[first : first + RUNS_PER_SERVER]
                try:
                    with (
                        tempfile.TemporaryDirectory(prefix="aw-soak-") as folder,
                        arena(browser, Path(folder), lease=lease) as place,
                    ):
                        for seed in part:
                            result = Replay(place, make_plan(seed)).play()
                            print(line(result), flush=True)
                            yield result
                except Exception:  # the other servers' runs still say something
                    print(
                        f"seeds {part.start} to {part.stop - 1}: the harness or the server gave up",
                        flush=True,
                    )
                    traceback.print_exc()
        finally:
            browser.close()


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
