"""Lets a process import what it needs while the data directory is still being prepared for it."""

from __future__ import annotations

import os
import threading

# Set by the supervisor; then the first byte that comes by standard input (agentweb.child) is the word to go.
VARIABLE = "AGENTWEB_WAITS"

given = threading.Event()
if not os.environ.pop(VARIABLE, ""):
    given.set()
