"""`agentweb doctor`: looks at everything a server needs and says, line by line, what is wrong and what helps."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agentweb import broker
from agentweb.addresses import free_port
from agentweb.data_directory import SOCKET_NAME, SPACE_NEEDED, RunningServer, chosen_directory, running_server
from agentweb.problems import NOT_AVAILABLE, Problem

PACKAGES = (
    "Django",
    "channels",
    "daphne",
    "celery",
    "redis",
    "anthropic",
    "httpx",
    "psycopg",
    "cryptography",
)
# Comfortable space; below SPACE_NEEDED a server does not start at all.
SPACE_WISHED = 10 * SPACE_NEEDED


@dataclass(frozen=True, slots=True)
class Finding:
    """`level` is ok, warn (works, with a drawback) or fail (does not work); `remedy` says what to do."""

    level: str
    text: str
    remedy: str = ""


def examine(write: Callable[[str], None]) -> int:
    """Writes a line per finding; 0 without a `fail`, else 3."""
    failed = 0
    for finding in findings():
        failed += finding.level == "fail"
        write(f"{finding.level:<5} {finding.text}")
        if finding.remedy and finding.level != "ok":
            write(f"      {finding.remedy}")
    return NOT_AVAILABLE if failed else 0


def findings() -> Iterator[Finding]:
    data = chosen_directory()
    yield python_version()
    yield from packages()
    yield from data_directory(data)
    server = None
    try:
        server = running_server(data)
        from agentweb.preparation import set_up_django

        set_up_django()
    except Problem as problem:
        yield Finding("fail", problem.message, problem.remedy)
        return
    yield database()
    yield broker_state(server)
    yield port_state(server)
    yield from providers()
    yield local_execution()
    yield workspaces()
    yield from programs()


def python_version() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 11):  # noqa: UP036  (started by hand, nothing has checked it)
        return Finding("fail", f"Python {version}", "Install Python 3.11 or newer.")
    return Finding("ok", f"Python {version}")


def packages() -> Iterator[Finding]:
    missing = []
    for name in PACKAGES:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Finding("fail", f"Packages missing: {', '.join(missing)}", "make setup")
    else:
        yield Finding("ok", f"Packages: agentweb {importlib.metadata.version('agentweb')} and what it needs")


def data_directory(data: Path) -> Iterator[Finding]:
    existing = next(folder for folder in [data, *data.parents] if folder.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        yield Finding("fail", f"Data directory {data} can't be written", "Mend its rights, or use --data.")
        return
    yield Finding("ok", f"Data directory {data}" + ("" if data.exists() else " (will be made)"))
    if data.exists() and data.stat().st_mode & 0o077:
        yield Finding("warn", "Others on this machine can enter the data directory", f"chmod 700 {data}")
    free = shutil.disk_usage(existing).free
    level = "fail" if free < SPACE_NEEDED else "warn" if free < SPACE_WISHED else "ok"
    yield Finding(level, f"Free space: {free // 1024**2:,} MB", "Free some space; runs store all they do.")


def database() -> Finding:
    from django.db import DatabaseError, connection
    from django.db.migrations.executor import MigrationExecutor

    from agentweb.database_upgrade import explained, refuse_newer_database, sqlite_file

    file = sqlite_file()
    where = str(file) if file else f"{connection.vendor} of DATABASE_URL"
    if file is not None and not (file.exists() and file.stat().st_size):
        return Finding("ok", f"Database {where} (will be made)")
    try:
        if file is not None:
            with closing(sqlite3.connect(file)) as opened:
                (answer,) = opened.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise DatabaseError(answer)
        executor = MigrationExecutor(connection)
        refuse_newer_database(executor)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, sqlite3.Error) as error:
        problem = explained(DatabaseError(str(error)))
        return Finding("fail", problem.message, problem.remedy)
    except Problem as problem:
        return Finding("fail", problem.message, problem.remedy)
    if pending:
        return Finding(
            "warn", f"Database {where} is of an older version", "agentweb up upgrades it, after a copy."
        )
    return Finding("ok", f"Database {where}")


def broker_state(server: RunningServer | None) -> Finding:
    from django.conf import settings

    from agentweb.preparation import try_broker

    if not settings.EMBEDDED_BROKER:
        try:
            try_broker(settings.REDIS_URL)
        except Problem as problem:
            return Finding("fail", problem.message, problem.remedy)
        return Finding("ok", "Broker of REDIS_URL answers")
    try:
        broker.find_valkey()
    except Problem as problem:
        return Finding("fail", problem.message, problem.remedy)
    if server is None:
        return Finding("ok", "Broker: embedded, starts with `agentweb up`")
    if broker.answers(Path(settings.RUNTIME_DIR) / SOCKET_NAME):
        return Finding("ok", "Broker: embedded, answers")
    return Finding(
        "fail",
        "The embedded broker does not answer",
        f"See {settings.DATA_DIR}/logs/broker.log; restart agentweb.",
    )


def port_state(server: RunningServer | None) -> Finding:
    from django.conf import settings

    if server is not None:
        return Finding("ok", f"Server: running ({server.description})")
    try:
        free_port(settings.BIND_HOST, settings.BIND_PORT)
    except OSError as error:
        return Finding(
            "fail",
            f"Can't listen on {settings.BIND_HOST}, port {settings.BIND_PORT}: {error.strerror}",
            "Choose another one: agentweb up --port …",
        )
    return Finding("ok", f"Port {settings.BIND_PORT} on {settings.BIND_HOST} is free")


def providers() -> Iterator[Finding]:
    """Where keys come from; the keys themselves are nobody's business."""
    from django.contrib.auth.models import User
    from django.db import DatabaseError

    from sessions_app import provider_keys

    try:
        operator = User.objects.filter(is_active=True, is_superuser=True).order_by("pk").first()
        found = [key for key in provider_keys.key_status(operator) if key.source]
    except DatabaseError:
        yield Finding("warn", "Provider keys: known once the database exists", "agentweb up")
        return
    for key in found:
        yield Finding("ok", f"Key for {key.label}: present ({key.source})")
    if not found:
        yield Finding(
            "warn",
            "No key for any provider: only the demo model answers",
            "Add one under “Models and keys”, or set ANTHROPIC_API_KEY.",
        )


def local_execution() -> Finding:
    from django.db import DatabaseError

    from sessions_app.runner.execution_policy import local_execution_problem

    try:
        problem = local_execution_problem()
    except DatabaseError:
        problem = ""
    if problem:
        return Finding("fail", problem, "See docs/operations.md on commands of agents.")
    who = "root" if os.getuid() == 0 else "this user"
    if os.getuid() == 0:
        return Finding(
            "warn", f"Agents run commands as {who}, without a sandbox", "Run agentweb as an ordinary user."
        )
    return Finding("ok", f"Agents run commands as {who}, without a sandbox")


def workspaces() -> Finding:
    from django.conf import settings

    unusable = [str(root) for root in settings.WORKSPACE_ROOTS if not os.access(root, os.R_OK | os.X_OK)]
    if unusable:
        return Finding(
            "fail", f"AGENTWEB_ROOTS names what can't be read: {', '.join(unusable)}", "Correct it."
        )
    return Finding("ok", f"Workspaces below {', '.join(map(str, settings.WORKSPACE_ROOTS))}")


def programs() -> Iterator[Finding]:
    """What tools use when it is there; each has a slower stand-in or is only often wanted."""
    for names, purpose, package in (
        (("rg",), "searches files quickly", "ripgrep"),
        (("fd", "fdfind"), "finds files quickly", "fd-find"),
        (("git",), "is what agents use most", "git"),
        (("bash",), "runs the agents' commands", "bash"),
    ):
        found = next(filter(None, map(shutil.which, names)), None)
        if found:
            yield Finding("ok", f"{names[0]}: {found}")
        else:
            yield Finding(
                "warn", f"{names[0]} is not installed; it {purpose}", f"Debian: apt install {package}"
            )
