"""Tells what a command has printed so far, while it prints."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sessions_app.agent.tools.command_output import CommandOutput


class PartialOutput:
    """Passes the newest output on at most every `seconds`, also when the command has fallen silent.

    `tell` is called in a thread of its own; `add` takes what arrives.
    """

    def __init__(self, output: CommandOutput, tell: Callable[[str], None], *, seconds: float) -> None:
        self._output = output
        self._tell_text = tell
        self._seconds = seconds
        self._fresh = threading.Event()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> PartialOutput:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._fresh.set()
        if self._thread is not None:
            self._thread.join()

    def add(self, data: bytes) -> None:
        self._output.add(data)
        self._fresh.set()
        if self._thread is None:
            # Most commands end within the first interval: the thread waits it out before the first update.
            self._thread = threading.Thread(target=self._tell, daemon=True, name="partial-output")
            self._thread.start()

    def _tell(self) -> None:
        while not self._over.wait(self._seconds):
            self._fresh.wait()
            if self._over.is_set():
                return
            self._fresh.clear()
            self._tell_text(self._output.latest())
