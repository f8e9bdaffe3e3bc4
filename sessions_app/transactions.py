"""Write transactions: short, immediate, and fair between the threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

# SQLite's busy handler is not fair under load (waits of 10 s were measured); a lock in front of it is.
_sqlite_writers = threading.RLock()


@contextmanager
def write_transaction() -> Iterator[None]:
    """One transaction that writes. Nothing inside may wait for a network, a process or a person."""
    if connection.vendor == "sqlite":
        with _sqlite_writers, transaction.atomic():
            yield
    else:
        with transaction.atomic():
            yield
