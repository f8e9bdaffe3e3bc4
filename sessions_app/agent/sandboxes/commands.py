"""Running one shell command: output as it comes, a sure end for it and for everything it started."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sessions_app.agent.sandboxes import file_errors, processes
from sessions_app.agent.sandboxes.base import ExecResult, SandboxError
from sessions_app.agent.stop import StopSignal

_POLL = 0.05  # how long a stop may go unnoticed
_IDLE = 0.1  # silence after which background children no longer keep a finished command
_LINGER = 2.0  # and how long they may keep it by talking on
_CHUNK = 1 << 16
_REST = 16  # chunks

# A tiny shell sets what a child must have before the command runs: setting it between fork and exec in a process
# with many threads could deadlock. No core files, the hard limit as the run's mark, the memory limit, and the
# kernel prefers a command over the server when memory runs out. What the system forbids is left out.
_LAUNCHER = """
{ ulimit -Sc 0; ulimit -Hc "$1"; } 2>/dev/null
if [ "$2" != - ]; then ulimit -d "$2" || exit 126; fi
{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null
shift 2
exec "$@"
"""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run and within which bounds. `memory` is bytes of data for each process."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    mark: processes.Mark
    timeout: float
    output_limit: int | None
    memory: int | None


def run(command: Command, *, stop: StopSignal, on_data: Callable[[bytes], None]) -> ExecResult:
    """Runs it to its end. What was started in the background lives on after a normal end.

    Stop ends every process of the run; timeout, too much output or an exception of `on_data` those of the
    command.
    """
    if stop.is_set():
        return ExecResult(None, stopped=True)
    process, output = _start(command)
    ended = _Reading(command, process, output, stop, on_data)
    try:
        reason = ended.read()
    except BaseException:
        _end(process, command.mark)
        os.close(output)
        raise
    left = 0
    if reason is not None:
        mark = processes.Mark(command.mark.run) if reason == "stopped" else command.mark
        left = _end(process, mark)
        _pass_on_rest(output, on_data)
    lingering = not ended.at_end
    if lingering and reason is None:
        # Without a reader the children's next word would kill them.
        threading.Thread(target=_discard, args=(output,), daemon=True, name="command-output").start()
    else:
        os.close(output)
    return ExecResult(
        exit_code=_exit_code(process.wait()) if reason is None or ended.exited else None,
        stopped=reason == "stopped",
        timed_out=reason == "timed_out",
        output_exceeded=reason == "output_exceeded",
        lingering=lingering and ended.exited,
        survivors=left,
    )


class _Reading:
    """Passes the output on until the command is over; `read` gives the reason to end it by force, or None."""

    def __init__(
        self,
        command: Command,
        process: subprocess.Popen[bytes],
        output: int,
        stop: StopSignal,
        on_data: Callable[[bytes], None],
    ) -> None:
        self.at_end = False
        self.exited = False
        self._command = command
        self._process = process
        self._output = output
        self._stop = stop
        self._on_data = on_data
        self._started = time.monotonic()
        self._received = 0

    def read(self) -> str | None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            exited_at = heard_at = self._started
            while True:
                if reason := self._must_end():
                    return reason
                if self.at_end:
                    if self._has_exited():
                        return None
                    self._stop.wait(_POLL / 5)
                    continue
                if selector.select(_POLL if not self.exited else _IDLE / 4):
                    self._pass_on()
                    heard_at = time.monotonic()
                now = time.monotonic()
                if not self.exited:
                    if self._has_exited():
                        exited_at = heard_at = now
                elif now - heard_at >= _IDLE or now - exited_at >= _LINGER:
                    return None

    def _must_end(self) -> str | None:
        if self._stop.is_set():
            return "stopped"
        if time.monotonic() - self._started >= self._command.timeout:
            return "timed_out"
        if self._command.output_limit is not None and self._received > self._command.output_limit:
            return "output_exceeded"
        return None

    def _pass_on(self) -> None:
        data = os.read(self._output, _CHUNK)
        if data:
            self._received += len(data)
            self._on_data(data)
        else:
            self.at_end = True

    def _has_exited(self) -> bool:
        self.exited = self.exited or _exited(self._process)
        return self.exited


def _start(command: Command) -> tuple[subprocess.Popen[bytes], int]:
    memory = "-" if command.memory is None else str(command.memory // 1024)
    argv = ["/bin/sh", "-c", _LAUNCHER, "sh", str(command.mark.core_blocks), memory, *command.argv]
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            argv,
            cwd=command.cwd,
            env=dict(command.environment),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
        )
    except OSError as error:
        os.close(reading)
        raise file_errors.in_words(error, error.filename or command.cwd) from error
    except ValueError as error:
        os.close(reading)
        raise SandboxError("A command must not contain NUL characters.") from error
    finally:
        os.close(writing)
    return process, reading


def _exited(process: subprocess.Popen[bytes]) -> bool:
    """Without collecting its status: until then the number of its group cannot be given to strangers."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes], mark: processes.Mark) -> int:
    """The number of processes that could not be ended."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    processes.kill(mark)
    with suppress(subprocess.TimeoutExpired):  # a process waiting for a broken disk cannot be ended
        process.wait(timeout=1)
    return processes.survivors(mark)


def _pass_on_rest(output: int, on_data: Callable[[bytes], None]) -> None:
    """What was still on its way when the command was ended."""
    os.set_blocking(output, False)
    with suppress(BlockingIOError):
        for _ in range(_REST):
            if not (data := os.read(output, _CHUNK)):
                break
            on_data(data)


def _exit_code(status: int) -> int:
    return 128 - status if status < 0 else status


def _discard(output: int) -> None:
    with os.fdopen(output, "rb", buffering=0) as reading, suppress(OSError):
        while reading.read(_CHUNK):
            pass
