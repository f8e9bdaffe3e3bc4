"""One supervised process: started, its output kept, restarted with growing pauses, ended for certain."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agentweb import go_ahead

LOG_BYTES = 5 * 1024 * 1024
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
# In the names of variables whose values are nobody else's business.
SECRET_PARTS = (
    "KEY",
    "SECRET",
    "TOKEN",
    "PASS",
    "CREDENTIAL",
    "AUTH",
    "DATABASE_URL",
    "REDIS_URL",
    "BASE_URL",
)
# A process that lived this long has got over whatever it died of before.
HEALTHY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """What to run: `command` follows `python -m agentweb.child`."""

    name: str
    command: tuple[str, ...]
    # Seconds between asking it to end and killing it.
    stop_seconds: float


class Child:
    """A process of the supervisor. All methods are for the one thread that supervises.

    With `waits` it imports what it needs but does nothing before `go_ahead`.
    """

    def __init__(
        self, spec: ChildSpec, environment: dict[str, str], log: Path, *, echo: bool, waits: bool = False
    ) -> None:
        self.spec = spec
        self.environment = environment
        self.log = log
        self.echo = echo
        self.waits = waits
        self.process: subprocess.Popen[bytes] | None = None
        self.failures = 0
        self.started = 0.0
        self.restart_at = 0.0
        self.last_lines: deque[str] = deque(maxlen=12)
        self.killed = False

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agentweb.child", *self.spec.command],
            # Held open for as long as we live; see agentweb.child.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment | ({go_ahead.VARIABLE: "1"} if self.waits else {}),
            # A Ctrl-C in the terminal is for the supervisor, which knows the right order.
            start_new_session=True,
        )
        self.started = time.monotonic()
        self.restart_at = 0.0
        self.last_lines.clear()
        assert self.process.stdout is not None  # noqa: S101  (PIPE, for the type checker)
        threading.Thread(target=self.keep_output, args=(self.process.stdout,), daemon=True).start()

    def go_ahead(self) -> None:
        """What it waited for is there; also for the process that follows this one, should it have died."""
        self.waits = False
        if self.process is not None and self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.write(b"\n")
                self.process.stdin.flush()

    def keep_output(self, output: BinaryIO) -> None:
        """Writes what the process says to its log, of which one older part is kept."""
        with output:
            for line in output:
                self.last_lines.append(line.decode(errors="replace").rstrip())
                if self.echo:
                    sys.stderr.write(f"[{self.spec.name}] {self.last_lines[-1]}\n")
                try:
                    if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
                        self.log.replace(self.log.with_suffix(".log.1"))
                    with open(self.log, "ab") as file:
                        file.write(line)
                except OSError:
                    # A full disk must not stop the process whose output nobody reads any more.
                    continue

    def tend(self, say: Callable[[str], None]) -> None:
        """Notices that it ended and starts it again when its pause is over."""
        if self.restart_at:
            if time.monotonic() >= self.restart_at:
                self.start()
            return
        if self.process is None or self.process.poll() is None:
            return
        if time.monotonic() - self.started > HEALTHY_SECONDS:
            self.failures = 0
        pause = PAUSES[min(self.failures, len(PAUSES) - 1)]
        self.failures += 1
        self.restart_at = time.monotonic() + pause
        self.close_pipe()
        say(f"The {self.spec.name} ended ({how(self.process.returncode)}); starting it again in {pause:g} s.")
        for line in list(self.last_lines)[-3:]:
            say(f"  {line}")
        say(f"  More in {self.log}")

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ask_to_end(self) -> None:
        if self.alive:
            self.signal(signal.SIGTERM)

    def end_by(self, deadline: float) -> None:
        """Waits until the deadline (monotonic), then kills."""
        self.restart_at = 0.0
        if self.process is None:
            return
        try:
            self.process.wait(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.killed = True
            self.signal(signal.SIGKILL)
            self.process.wait()
        self.close_pipe()

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)

    def close_pipe(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            # The word to go ahead may still be on its way to a process that has died before.
            with contextlib.suppress(OSError):
                self.process.stdin.close()


def how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}" if -code in list(signal.Signals) else f"signal {-code}"
    return f"exit code {code}"


def without_secrets(environment: dict[str, str]) -> dict[str, str]:
    """For programs that are not ours: unlike our own processes they do not hide their environment."""
    return {
        name: value
        for name, value in environment.items()
        if not any(part in name.upper() for part in SECRET_PARTS)
    }


def environment_for_children(**changes: str) -> dict[str, str]:
    """Ours, with output unbuffered so that a crash's last words arrive, and two heaps where the C library would take
    one for every thread and give little of them back: a tenth less memory after many runs at once."""
    heaps = os.environ.get("MALLOC_ARENA_MAX", "2")
    return {**os.environ, "PYTHONUNBUFFERED": "1", "MALLOC_ARENA_MAX": heaps, **changes}
