"""Finding and ending every process a run has started, also those that left its group and session.

A process carries two marks that its children inherit: the variable `AGENTWEB_RUN` in its environment and, on
Linux, a hard limit for core files that spells the run's number. The second one survives `env -i` and servers
that write their title over their environment (redis, nginx, PostgreSQL).
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

RUN_VARIABLE = "AGENTWEB_RUN"
COMMAND_VARIABLE = "AGENTWEB_COMMAND"
KILL_SECONDS = 2.5
_PROC = Path("/proc")
_LIMIT_UNIT = 512  # a shell counts core limits in such blocks
_NUMBER_BITS = 16
_LOOKS = 50


@dataclass(frozen=True, slots=True)
class Mark:
    """The processes of a run, or of one of its commands when `command` (1, 2, …) is given."""

    run: str
    command: int | None = None

    @property
    def variable(self) -> bytes:
        if self.command is None:
            return f"{RUN_VARIABLE}={self.run}".encode()
        return f"{COMMAND_VARIABLE}={self.run}.{self.command}".encode()

    @property
    def core_blocks(self) -> int:
        """The hard limit for core files, in shell blocks; without a command the last 16 bits are zero."""
        digest = hashlib.sha256(self.run.encode()).digest()
        number = 1 << 32 | int.from_bytes(digest[:4], "big")
        return number << _NUMBER_BITS | (self.command or 0) % (1 << _NUMBER_BITS)

    def is_on(self, environment: bytes, core_blocks: int | None) -> bool:
        if self.variable in environment.split(b"\0"):
            return True
        if core_blocks is None:
            return False
        if self.command is None:
            return core_blocks >> _NUMBER_BITS == self.core_blocks >> _NUMBER_BITS
        return core_blocks == self.core_blocks


def living(marker: str) -> list[int]:
    """The ids of all processes of the run that are still alive."""
    return list(_marked(Mark(marker)))


def kill_marked(marker: str, *, command: int | None = None, seconds: float = KILL_SECONDS) -> int:
    """End every process of the run (or of one command), again and again until none is left; the number killed.

    Gives up after `seconds`; whoever must know asks `living` afterwards.
    """
    return kill(Mark(marker, command), seconds=seconds)


def kill(mark: Mark, *, seconds: float = KILL_SECONDS) -> int:
    """As `kill_marked`."""
    killed: set[int] = set()
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        found = False
        for process in _marked(mark):  # each at once: what forks must not get the time to
            found = True
            if _send(process, signal.SIGKILL, mark):
                killed.add(process)
        if not found:
            break
        time.sleep(0.005)  # a killed process needs a moment to go
    return len(killed)


def survivors(mark: Mark) -> int:
    return len(list(_marked(mark)))


def _marked(mark: Mark) -> Iterator[int]:
    """Looks again for what was born while it looked: a chain of forks has mostly moved on meanwhile."""
    seen = {os.getpid()}
    for _ in range(_LOOKS):
        fresh = set(psutil.pids() if sys.platform == "darwin" else _linux_ids()) - seen
        if not fresh:
            return
        for process in sorted(fresh, reverse=True):
            if _carries(process, mark):
                yield process
        seen |= fresh


def _linux_ids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]


def _carries(process: int, mark: Mark) -> bool:
    if sys.platform == "darwin":
        try:
            values = psutil.Process(process).environ()
        except (psutil.Error, OSError):
            return False
        return mark.is_on(b"\0".join(os.fsencode(f"{name}={value}") for name, value in values.items()), None)
    folder = f"/proc/{process}"
    environment, limits = _content(f"{folder}/environ"), _content(f"{folder}/limits")
    return mark.is_on(environment, _core_blocks(limits)) and not _is_zombie(_content(f"{folder}/stat"))


def _content(path: str) -> bytes:
    # Gone meanwhile, or somebody else's.
    with suppress(OSError):
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            parts = []
            while part := os.read(opened, 1 << 16):
                parts.append(part)
            return b"".join(parts)
        finally:
            os.close(opened)
    return b""


def _core_blocks(limits: bytes) -> int | None:
    for line in limits.splitlines():
        if line.startswith(b"Max core file size"):
            hard = line.split()[5]
            return int(hard) // _LIMIT_UNIT if hard.isdigit() else None
    return None


def _is_zombie(status: bytes) -> bool:
    # The name in brackets may hold anything, brackets too.
    return status.rpartition(b")")[2].split()[:1] in ([], [b"Z"], [b"X"])


def _send(process: int, number: signal.Signals, mark: Mark) -> bool:
    """Never hits a stranger that was given the id of a process that has ended meanwhile."""
    with suppress(ProcessLookupError, PermissionError):
        if not hasattr(os, "pidfd_open"):
            os.kill(process, number)
            return True
        handle = os.pidfd_open(process)
        try:
            if _carries(process, mark):
                signal.pidfd_send_signal(handle, number)
                return True
        finally:
            os.close(handle)
    return False
