"""Breaks the product in one line at a time and looks whether the named test turns red.

`python -m tests.proofs.mutate [--only TEXT] [--jobs N]`. Works in copies of the tree, never in the tree itself, and
ends with `N of N killed`; a breakage that no test notices, or one that is not in the code any more, is a failure.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.suite import MARK, end_leftovers

ROOT = Path(__file__).parent.parent.parent
BREAKAGES = Path(__file__).parent / "breakages.toml"
# What the tests need: the packages, what they read, and how pytest is set up.
COPIED = (
    "agentweb",
    "sessions_app",
    "templates",
    "static",
    "tests",
    "bench",
    "docs",
    "manage.py",
    "pyproject.toml",
)
NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.png")
OURS = ("agentweb", "sessions_app", "tests", "bench")
# Loaded once, and there in every process that is forked from this one: most of a short test run is imports.
LOADED = (
    "pytest", "pytest_django.plugin", "pytest_asyncio.plugin", "pytest_timeout", "syrupy", "hypothesis.strategies",
    "django.db.models", "django.core.management", "django.template", "django.forms", "django.test", "django.urls",
    "PIL.Image", "PIL.PngImagePlugin", "jsonschema", "regex", "httpx", "anthropic", "psutil", "pathspec", "redis",
    "celery", "channels", "markdown_it", "pygments.lexers", "nh3", "cryptography.fernet",
)  # fmt: skip
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:faker",
           "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip
KILLED, SURVIVED, UNCLEAR = "killed", "SURVIVED", "UNCLEAR"
SECONDS_FOR_ONE = 300


@dataclass(frozen=True, slots=True)
class Breakage:
    """One line of a file, what it becomes, and the tests (as pytest names them) of which one must fail then."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.file}: {self.old.strip()}  →  {self.new.strip()}"


def read_breakages(path: Path = BREAKAGES) -> list[Breakage]:
    with open(path, "rb") as file:
        rows = tomllib.load(file)["breakage"]
    return [Breakage(row["file"], row["old"], row["new"], tuple(row["tests"])) for row in rows]


def stale(breakages: Sequence[Breakage], root: Path = ROOT) -> list[str]:
    """Those whose old text is not in the code exactly once, in words."""
    found = []
    for breakage in breakages:
        count = (root / breakage.file).read_text(encoding="utf-8").count(breakage.old)
        if count != 1:
            found.append(f"{breakage.file}: {breakage.old.strip()!r} occurs {count} times")
    return found


@contextmanager
def broken(breakage: Breakage, tree: Path) -> Iterator[None]:
    """The copy with that line changed; mended again afterwards."""
    path = tree / breakage.file
    sound = path.read_text(encoding="utf-8")
    # What was compiled may look as new as the source: a change within the same second, of the same length.
    compiled = Path(importlib.util.cache_from_source(path))
    compiled.unlink(missing_ok=True)
    path.write_text(sound.replace(breakage.old, breakage.new), encoding="utf-8")
    try:
        yield
    finally:
        compiled.unlink(missing_ok=True)
        path.write_text(sound, encoding="utf-8")


def run_tests(tests: Sequence[str], tree: Path) -> tuple[int, str]:
    """pytest's exit code and what it said, from a forked process; -1 when it took too long."""
    log = tree / "pytest.log"
    child = os.fork()
    if child == 0:
        _become_pytest(tests, tree, log)
    end = time.monotonic() + SECONDS_FOR_ONE
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), log.read_text(encoding="utf-8", errors="replace")
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -1, f"took more than {SECONDS_FOR_ONE} s"
        time.sleep(0.02)


def _become_pytest(tests: Sequence[str], tree: Path, log: Path) -> None:
    """Never returns. The copy's packages are imported, and none of this tree's."""
    code = 70
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(output, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(tree)
        os.environ.pop("DATABASE_URL", None)
        os.environ |= {"TMPDIR": str(tree / "tmp"), "PYTHONPATH": str(tree)}
        tempfile.tempdir = None
        sys.path[:] = [str(tree), *(entry for entry in sys.path if Path(entry or ".").resolve() != ROOT)]
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        import pytest

        code = int(pytest.main([*OPTIONS, *tests]))
        sys.stdout.flush()
    finally:
        os._exit(code)


def verdict(breakage: Breakage, tree: Path) -> tuple[str, str]:
    """What became of it, and what pytest said where that is not plain."""
    with broken(breakage, tree):
        code, said = run_tests(breakage.tests, tree)
    if code == 0:
        return SURVIVED, ""
    # Only a test that ran and failed has noticed anything: neither a missing one nor a file that can't be imported.
    return (KILLED, "") if code == 1 and "\nFAILED " in said else (UNCLEAR, said[-2000:])


@contextmanager
def copies(count: int) -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory(prefix="agentweb-mutate-", ignore_cleanup_errors=True) as folder:
        # Some tests start processes of another user, who must get through.
        os.chmod(folder, 0o711)
        made = [Path(folder) / str(number) for number in range(count)]
        for tree in made:
            (tree / "tmp").mkdir(parents=True)
            for name in COPIED:
                source = ROOT / name
                if source.is_dir():
                    shutil.copytree(source, tree / name, ignore=NOT_COPIED)
                else:
                    shutil.copy2(source, tree / name)
        yield made


def play(breakages: Sequence[Breakage], trees: Sequence[Path]) -> Iterator[tuple[Breakage, str, str]]:
    """The verdicts as they come: one process per copy, each with one breakage at a time."""
    forking = multiprocessing.get_context("fork")
    waiting: Any = forking.SimpleQueue()
    done: Any = forking.SimpleQueue()

    def serve(tree: Path) -> None:
        while (number := waiting.get()) is not None:
            done.put((number, *verdict(breakages[number], tree)))

    servers = [forking.Process(target=serve, args=(tree,), daemon=True) for tree in trees]
    for server in servers:
        server.start()
    # The queues are pipes: what waits in them is small.
    for number in [*range(len(breakages)), *(None for _ in servers)]:
        waiting.put(number)
    for _ in breakages:
        number, outcome, why = done.get()
        yield breakages[number], outcome, why
    for server in servers:
        server.join()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutate")
    parser.add_argument("--only", default="", help="only breakages whose file or text holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="how many at a time")
    arguments = parser.parse_args()
    chosen = [breakage for breakage in read_breakages() if arguments.only in breakage.title]
    if gone := stale(chosen):
        print("\n".join(gone))
        return 1
    for name in LOADED:
        importlib.import_module(name)
    # What a broken product did not end is found by this in its environment.
    os.environ[MARK] = uuid.uuid4().hex
    try:
        return play_all(chosen, arguments.jobs)
    finally:
        end_leftovers(os.environ[MARK])


def play_all(chosen: Sequence[Breakage], jobs: int) -> int:
    counts: Counter[str] = Counter()
    with copies(jobs) as trees:
        code, said = run_tests(sorted({test for breakage in chosen for test in breakage.tests}), trees[0])
        if code != 0:
            print(f"{said}\nWithout any breakage the named tests must be green.")
            return 1
        for breakage, outcome, why in play(chosen, trees):
            counts[outcome] += 1
            print(f"{outcome:8} {breakage.title}", flush=True)
            if why:
                print(why, flush=True)
    print(f"{counts[KILLED]} of {len(chosen)} killed")
    return 0 if counts[KILLED] == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
