"""A process that ends when the supervisor does, even when that was killed and could say nothing.

`python -m agentweb.child COMMAND …` is `agentweb COMMAND …` with an eye on standard input: the supervisor holds
the other end of that pipe, and the kernel closes it with the supervisor's last breath.
`python -m agentweb.child --exec PROGRAM …` does the same for a program that is not ours.
"""

from __future__ import annotations

import ctypes
import os
import platform
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from agentweb import go_ahead

# How long an orphan may take to save what it was doing.
ORPHAN_SECONDS = 8.0
PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--exec"]:
        return run_program(arguments[1:])
    watched = take_standard_input()
    threading.Thread(target=end_with_parent, args=(watched,), daemon=True, name="parent watch").start()
    from agentweb.cli import main as command

    return command(arguments)


def take_standard_input() -> int:
    """The pipe under another number; standard input becomes empty, so that no grandchild inherits the pipe."""
    watched = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return watched


def end_with_parent(watched: int, orphaned: Callable[[], None] | None = None) -> None:
    """Waits for the pipe to close, then ends this process: politely, and after a while for certain."""
    while os.read(watched, 1024):
        go_ahead.given.set()
    if orphaned:
        orphaned()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def run_program(command: list[str]) -> int:
    if platform.system() == "Linux":
        # Kept across exec; without another process in between.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if parent_is_gone():
            return 1
        os.execv(command[0], command)  # noqa: S606
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    watched = take_standard_input()
    threading.Thread(target=end_with_parent, args=(watched, process.terminate), daemon=True).start()
    return process.wait()


def parent_is_gone() -> bool:
    """Whether the pipe closed before the kernel was asked to tell us."""
    readable, _, _ = select.select([0], [], [], 0)
    return bool(readable) and not os.read(0, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
