"""What `make test` runs: the checks, the tests on both databases, the browser; and what could not be run.

Two lanes at a time, because much of a test is waiting for processes; the browser afterwards, in two lanes of
its own. A step's output is shown when it is over.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psutil

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / ".test-results"
# In the environment of everything the suite starts, so that what is left over can be found.
MARK = "TEST_SUITE_MARK"
# Top-level tests that have processes with databases of their own, or none: once is enough.
WITHOUT_DATABASE = {
    "test_bad_input.py",
    "test_cli.py",
    "test_compose.py",
    "test_database_upgrade.py",
    "test_dependencies.py",
    "test_documentation.py",
    "test_following.py",
    "test_markdown.py",
    "test_prompt_providers.py",
    "test_secrets.py",
    "test_stand_in.py",
    "test_supervisor.py",
}
MOST_TRIED_AGAIN = 5
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


@dataclass
class Report:
    """What failed and what was not run, in words for the last lines of the output."""

    failed: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    stopped: bool = False


def main() -> int:
    report = Report()
    begun = time.monotonic()
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir()
    temporary = tempfile.mkdtemp(prefix="aw-")
    # Some tests start processes of another user, who must get through (not look in).
    os.chmod(temporary, 0o711)
    environment = {**os.environ, "TMPDIR": temporary, MARK: uuid.uuid4().hex}
    environment.pop("DATABASE_URL", None)

    def stop(number: int, frame: FrameType | None) -> None:
        # The lanes wait for their processes, and begin no other ones.
        report.stopped = True
        end_leftovers(environment[MARK])
        sys.exit(143)

    signal.signal(signal.SIGTERM, stop)

    files = sorted(path.name for path in (ROOT / "tests").glob("test_*.py"))
    folders = {path.parent.relative_to(ROOT).parts[1] for path in (ROOT / "tests").glob("*/**/test_*.py")}

    def checks_units_and_postgres() -> None:
        step("check", ["make", "check"], environment, report)
        pytest_step("units", [f"tests/{name}" for name in sorted(folders - {"browser"})], environment, report)
        # The whole server is thrown away; dropping its database could only wait for a thread's connection.
        arguments = ["--reuse-db", *(f"tests/{name}" for name in files if name not in WITHOUT_DATABASE)]
        pytest_step("PostgreSQL", arguments, environment, report, [sys.executable, "-m", "tests.postgres"])

    def sqlite() -> None:
        pytest_step("SQLite", [f"tests/{name}" for name in files], environment, report)

    try:
        with ThreadPoolExecutor() as lanes:
            for lane in [lanes.submit(checks_units_and_postgres), lanes.submit(sqlite)]:
                lane.result()
        browser_tests(environment, report)
    finally:
        leftovers = end_leftovers(environment[MARK])
        shutil.rmtree(temporary, ignore_errors=True)
    report.failed += [f"left running: {command}" for command in leftovers]
    for line in report.again:
        print(f"RUN AGAIN: {line}")
    for line in report.not_run:
        print(f"NOT RUN: {line}")
    for line in report.failed:
        print(f"FAILED: {line}")
    print(f"{'FAILED' if report.failed else 'PASSED'} in {time.monotonic() - begun:.0f} s")
    return 1 if report.failed else 0


def browser_tests(environment: dict[str, str], report: Report) -> None:
    if os.environ.get("BROWSER") == "0":
        report.not_run.append("tests/browser (BROWSER=0)")
        return
    found = subprocess.run(
        [sys.executable, "-m", "tests.browser.chromium"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if found.returncode:
        report.failed.append("browser: no Chromium on this machine and none could be installed")
        return
    with_browser = {**environment, "CHROMIUM": found.stdout.strip()}
    with ThreadPoolExecutor() as lanes:
        halves = halved(sorted((ROOT / "tests" / "browser").glob("test_*.py")))
        names = ("browser", "browser beside it")
        waiting = [
            lanes.submit(
                pytest_step, name, [str(path.relative_to(ROOT)) for path in half], with_browser, report
            )
            for name, half in zip(names, halves, strict=True)
        ]
        for lane in waiting:
            lane.result()


def halved(files: list[Path]) -> tuple[list[Path], list[Path]]:
    """Two lists of about the same length in bytes: the longest file goes where there is least."""
    halves: tuple[list[Path], list[Path]] = ([], [])
    for path in sorted(files, key=lambda path: (-path.stat().st_size, path.name)):
        min(halves, key=lambda half: sum(other.stat().st_size for other in half)).append(path)
    return halves


def pytest_step(
    name: str,
    arguments: list[str],
    environment: dict[str, str],
    report: Report,
    prefix: list[str] | None = None,
) -> None:
    results = RESULTS / f"{name.lower()}.xml"
    command = [*(prefix or []), *PYTEST]
    log = step(name, [*command, f"--junitxml={results}", *arguments], environment, report)
    failed = re.findall(r"^(?:FAILED|ERROR) (tests/\S+?\.py::.+?)(?: - |$)", log, re.MULTILINE)
    if name in report.failed and 0 < len(failed) <= MOST_TRIED_AGAIN:
        # Many tests watch real processes by the clock, and a machine may stall under two lanes of them. What fails
        # is tried once more by itself, and named whatever comes of it.
        report.failed.remove(name)
        step(f"{name} again", [*command, *sorted(set(failed))], environment, report)
        report.again += [f"{name}: {test}" for test in sorted(set(failed))]
    if results.exists():
        for case in ElementTree.parse(results).iter("testcase"):
            if (skipped := case.find("skipped")) is not None:
                name_of_test = f"{case.get('classname')}.{case.get('name')}"
                report.not_run.append(f"{name}: {name_of_test} ({skipped.get('message')})")


def step(name: str, command: list[str], environment: dict[str, str], report: Report) -> str:
    """Run it, show its output, note its failure; the output."""
    if report.stopped:
        report.not_run.append(name)
        return ""
    print(f"--- {name}: started", flush=True)
    begun = time.monotonic()
    log = RESULTS / f"{name.lower()}.log"
    with open(log, "wb") as output:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
    text = log.read_text(encoding="utf-8", errors="replace")
    outcome = "FAILED" if done.returncode else "ok"
    print(f"{text}=== {name}: {outcome} in {time.monotonic() - begun:.0f} s\n", flush=True)
    if done.returncode:
        report.failed.append(name)
    return text


def end_leftovers(mark: str) -> list[str]:
    """Kills what the suite's processes left behind; their command lines."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(" ".join(process.cmdline()) or process.name())
                process.kill()
        except psutil.Error:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
