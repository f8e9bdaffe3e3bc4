"""Knows the sockets of an HTTP client, so that a stop can end a read that waits for a silent server."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any


class OpenSockets:
    """Give `trace` to every request as its trace extension; `shut_down` then ends whatever is being read.

    Closing a response from another thread does not wake its reader; shutting the socket down does, also while
    the response's first byte is still awaited.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._shut = False

    def trace(self, name: str, details: dict[str, Any]) -> None:
        """Called by the transport at each of its steps; remembers new connections."""
        if not name.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        stream = details.get("return_value")
        found = None if stream is None else stream.get_extra_info("socket")
        if not isinstance(found, socket.socket):
            return
        with self._lock:
            self._sockets = [known for known in self._sockets if known.fileno() != -1]
            self._sockets.append(found)
            shut = self._shut
        if shut:
            _shut_down(found)

    def shut_down(self) -> None:
        """End all reads and writes, and those of connections that are just being made."""
        with self._lock:
            self._shut = True
            sockets = list(self._sockets)
        for known in sockets:
            _shut_down(known)

    def reopen(self) -> None:
        """Before a new request: new connections are welcome again."""
        with self._lock:
            self._shut = False


def _shut_down(known: socket.socket) -> None:
    # The plain socket's method: that of an SSL socket would also drop its state under the reader's hands.
    with contextlib.suppress(OSError):
        socket.socket.shutdown(known, socket.SHUT_RDWR)
