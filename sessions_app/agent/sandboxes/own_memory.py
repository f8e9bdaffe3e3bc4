"""Keeps commands from reading the keys of the process that runs them.

A command runs as the same user, and that user may otherwise read `/proc/<pid>/environ` and the memory of all its
processes. The superuser still can.
"""

from __future__ import annotations

import ctypes
import functools
import sys

_PR_SET_DUMPABLE = 4


@functools.cache
def hide_from_commands() -> None:
    """From now on the memory, environment and open files of this process are its own; without effect off Linux.

    Programs it starts are not affected: each must hide by itself. No core dump is written any more.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
