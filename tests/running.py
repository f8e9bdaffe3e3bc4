"""A real `agentweb up` for tests: started on a free port, watched through /proc, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import psutil

AGENTWEB = [sys.executable, "-m", "agentweb.cli"]
START_SECONDS = 90.0


def environment(data: Path, **changes: str) -> dict[str, str]:
    """What a process under test sees: ours without any setting, its own data, workspaces below the temp folder."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("AGENTWEB_", "DJANGO_"))
    }
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        kept.pop(name, None)
    roots = str(data.parent)
    return {**kept, "AGENTWEB_DATA": str(data), "AGENTWEB_ROOTS": roots, "AGENTWEB_DEMO_PACE": "0", **changes}


@dataclass
class Up:
    """A running `agentweb up`; `output` and `errors` are the lines so far."""

    process: subprocess.Popen[str]
    data: Path
    environment: dict[str, str]
    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def link(self) -> str:
        return re.findall(r"http://\S+", self.output[-1])[0]

    @property
    def address(self) -> str:
        return self.link.partition("/login/")[0]

    def read(self) -> list[threading.Thread]:
        readers = []
        for pipe, lines in ((self.process.stdout, self.output), (self.process.stderr, self.errors)):
            assert pipe is not None
            readers.append(threading.Thread(target=keep, args=(pipe, lines), daemon=True))
            readers[-1].start()
        return readers

    def wait_until_ready(self) -> Up:
        wait_for(lambda: self.output or self.process.poll() is not None, START_SECONDS)
        assert self.output, "".join(self.errors[-4:])
        return self

    def children(self) -> dict[str, psutil.Process]:
        """By what they are: broker, worker, web."""
        found = {}
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                line = " ".join(child.cmdline())
            except psutil.Error:
                continue
            for name, sign in (("broker", "valkey-server"), ("worker", "child worker"), ("web", "child web")):
                if sign in line:
                    found[name] = child
        return found

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=40)


def keep(pipe: TextIO, lines: list[str]) -> None:
    with pipe:
        lines.extend(iter(pipe.readline, ""))


@contextlib.contextmanager
def started(data: Path, *arguments: str, wait: bool = True, **variables: str) -> Iterator[Up]:
    """Runs `agentweb up` on a free port until the end of the block, and kills what should be left."""
    env = environment(data, **variables)
    process = subprocess.Popen(
        [*AGENTWEB, "up", "--port", "0", *arguments],
        env=env,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    up = Up(process, data, env)
    readers = up.read()
    try:
        yield up.wait_until_ready() if wait else up
    finally:
        up.stop()
        for reader in readers:
            reader.join(timeout=10)
        for left in processes_of(data):
            left.kill()


def processes_of(data: Path) -> list[psutil.Process]:
    """Whatever runs for this data directory, whoever started it."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and belongs_to(process, data):
                found.append(process)
    return found


def belongs_to(process: psutil.Process, data: Path) -> bool:
    """By its command line, which all may read, or its environment, which the product's own processes hide."""
    if str(data) in process.cmdline():
        return True
    return process.environ().get("AGENTWEB_DATA") == str(data)


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
