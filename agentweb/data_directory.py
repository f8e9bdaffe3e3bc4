"""The data directory: made private, checked, and held by one server at a time.

Whoever holds the lock (`flock` on DATA/lock, released by the kernel even after SIGKILL) may start a broker and
a worker. DATA/server.json says where the holder listens. No Django here: the supervisor stays small.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from agentweb.problems import Problem

SOCKET_NAME = "valkey.sock"
# Below this a run could not store its entries for long.
SPACE_NEEDED = 50 * 1024 * 1024
# Somebody who only looks whether a server runs holds the lock for a moment.
LOCK_SECONDS = 0.5


# What decides which models a server offers.
OFFERED = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_COMPATIBLE_API_KEY", "OPENAI_COMPATIBLE_BASE_URL",
    "OPENAI_COMPATIBLE_MODELS", "AGENTWEB_SCRIPT",
)  # fmt: skip
_SAID = ("OPENAI_COMPATIBLE_MODELS", "AGENTWEB_SCRIPT")


def offers() -> dict[str, str]:
    """Those of this process's environment that are set: the names of models, of keys and addresses only that they are."""
    return {
        name: os.environ[name] if name in _SAID else "set-in-the-server"
        for name in OFFERED
        if os.environ.get(name)
    }


@dataclass(frozen=True, slots=True)
class RunningServer:
    """Who holds a data directory; port 0 when it serves no pages (a lone `agentweb prompt`); what it `offers`."""

    pid: int
    host: str = ""
    port: int = 0
    offers: dict[str, str] = field(default_factory=dict)

    @property
    def description(self) -> str:
        where = f", http://{self.host}:{self.port}/" if self.port else ""
        return f"process {self.pid}{where}"


def chosen_directory() -> Path:
    """As the settings choose it; read here so that nothing of Django is needed."""
    return Path(os.environ.get("AGENTWEB_DATA") or "~/.agentweb").expanduser().resolve()


def runtime_directory(data_directory: Path) -> Path:
    """Where the broker's socket lives: inside the data directory, or, where that path is too long for a
    Unix socket (104 bytes on macOS), a private folder of the same name for every process."""
    inside = data_directory / "run"
    if len(str(inside / SOCKET_NAME).encode()) < 100:
        return inside
    digest = hashlib.sha256(str(data_directory).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"agentweb-{os.getuid()}-{digest}"


def make_ready(path: Path) -> None:
    """Creates the directory (mode 0700) and tries what a server needs of it: writing, and space."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = path / f".probe-{os.getpid()}"
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        raise Problem(
            f"The data directory {str(path)!r} can't be used: {error.strerror}.",
            "Give this user the right to write there, free some space, or name another directory with --data.",
        ) from error
    free = shutil.disk_usage(path).free
    if free < SPACE_NEEDED:
        raise Problem(
            f"The data directory {str(path)!r} has only {free // 1024 // 1024} MB left.",
            "Free some space, or name another directory with --data.",
        )


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Holds the directory for as long as the block lasts; a `Problem` when a server has it."""
    make_ready(path)
    with open(path / "lock", "a+b") as file:
        if not locked(file.fileno(), LOCK_SECONDS):
            server = read_server(path)
            who = server.description if server else "another process"
            raise Problem(
                f"agentweb is already running in {str(path)!r} ({who}).",
                "Use that one, stop it, or start with another --data directory.",
            )
        try:
            yield
        finally:
            (path / "server.json").unlink(missing_ok=True)


def running_server(path: Path) -> RunningServer | None:
    """Who holds the directory now, or None."""
    try:
        with open(path / "lock", "r+b") as file:
            if locked(file.fileno(), 0):
                return None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Problem(
            f"The data directory {str(path)!r} can't be used: {error.strerror}.",
            "Run this as the user that started the server, or name another directory with --data.",
        ) from error
    return read_server(path) or RunningServer(pid=0)


def locked(descriptor: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.05)
        else:
            return True


def write_server(path: Path, server: RunningServer) -> None:
    """Tells others where the holder listens."""
    write_json(path / "server.json", asdict(server))


def read_server(path: Path) -> RunningServer | None:
    try:
        return RunningServer(**json.loads((path / "server.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_json(path: Path, value: object) -> None:
    """Whole or not at all, also when the power goes."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
