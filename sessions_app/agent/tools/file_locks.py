"""One change at a time to each file, by whatever path it is named (05 ED-11, 04 TX-09)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_guard = threading.Lock()
_locks: dict[Path, tuple[threading.Lock, int]] = {}


@contextmanager
def changing(real_path: Path) -> Iterator[None]:
    """Waits until nobody else in this process changes the file. `real_path` has no symbolic links left."""
    with _guard:
        lock, waiting = _locks.get(real_path, (threading.Lock(), 0))
        _locks[real_path] = (lock, waiting + 1)
    try:
        with lock:
            yield
    finally:
        with _guard:
            lock, waiting = _locks[real_path]
            if waiting == 1:
                del _locks[real_path]
            else:
                _locks[real_path] = (lock, waiting - 1)
