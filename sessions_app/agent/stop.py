"""How a person's Stop reaches a blocked read or a running process at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StopSignal:
    """A one-way switch shared by the runner, the loop, the provider and the tools of one run.

    Whoever is about to block registers a callback that ends the block (shuts a socket down, kills a
    process group); the callback runs at once in the thread that requests the stop, or immediately when
    the stop was requested before.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.reason = ""

    def request(self, reason: str = "stopped") -> None:
        """Ask for the stop; later calls change nothing."""
        with self._lock:
            if self._event.is_set():
                return
            self.reason = reason
            self._event.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep up to `seconds`; True as soon as a stop was requested."""
        return self._event.wait(seconds)

    @contextmanager
    def on_request(self, callback: Callable[[], None]) -> Iterator[None]:
        """While inside, `callback` runs when a stop is requested. It must be quick and not raise."""
        with self._lock:
            already = self._event.is_set()
            if not already:
                self._callbacks.append(callback)
        if already:
            callback()
        try:
            yield
        finally:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)
