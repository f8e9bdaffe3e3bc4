"""Brings the database to this version's shape: a copy first, back to it on failure, never a newer one.

Copies go to DATA/backups (SQLite only; the newest three stay). DATA/version.json says which version of
agentweb used the database last, so that a refusal can name it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from agentweb.data_directory import write_json
from agentweb.problems import Problem

COPIES_KEPT = 3
# A whole check reads the whole file; above this size only the upgrade itself is worth it.
CHECKED_BYTES = 64 * 1024 * 1024
RESTORE = "Put back a copy: stop agentweb, then copy the newest file of {folder} over {file} (and delete {file}-wal)."


def upgrade_database() -> list[str]:
    """Migrates if need be; what was done, a line each. Refuses (`Problem`) what it must not touch."""
    try:
        executor = MigrationExecutor(connection)
        refuse_newer_database(executor)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
        notes = migrate_with_copy(executor, len(pending)) if pending else check_small_file()
    except DatabaseError as error:
        raise explained(error) from error
    write_json(version_file(), {"version": settings.VERSION})
    return notes


def refuse_newer_database(executor: MigrationExecutor) -> None:
    """A database with steps that this version does not know was written by a newer one."""
    known = set(executor.loader.disk_migrations) | set(executor.loader.replacements)
    unknown = sorted(
        name
        for app, name in executor.loader.applied_migrations
        if app == "sessions_app" and (app, name) not in known
    )
    if unknown:
        raise Problem(
            f"The database was written by agentweb {last_version()}; this is {settings.VERSION}, which does not "
            f"know its step {unknown[-1]!r}.",
            f"Install agentweb {last_version()} or newer, or put back a copy from {str(backup_folder())!r}.",
        )


def migrate_with_copy(executor: MigrationExecutor, steps: int) -> list[str]:
    copy = copy_aside() if executor.loader.applied_migrations else None
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except Exception as error:
        if copy is None:
            raise
        put_back(copy)
        raise Problem(
            f"Upgrading the database failed and was undone: {error}",
            f"Go on with agentweb {last_version()}. The copy made before is {str(copy)!r}.",
            code=1,
        ) from error
    return [f"Upgraded the database ({steps} steps). The copy made before is {copy}."] if copy else []


def copy_aside() -> Path | None:
    """A consistent copy of the SQLite file, checked first: a copy of a damaged one would push out a good one."""
    file = sqlite_file()
    if file is None:
        return None
    check_integrity(file)
    folder = backup_folder()
    folder.mkdir(exist_ok=True, mode=0o700)
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    target = folder / f"agentweb-{now}-before-{settings.VERSION}.sqlite3"
    unfinished = target.with_suffix(".part")
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
        unfinished.chmod(0o600)
        unfinished.replace(target)
    except (sqlite3.Error, OSError) as error:
        unfinished.unlink(missing_ok=True)
        raise Problem(
            f"The database could not be copied to {str(folder)!r} before the upgrade: {error}.",
            "Free at least as much space as the database takes, then start again.",
        ) from error
    for old in sorted(folder.glob("agentweb-*.sqlite3"))[:-COPIES_KEPT]:
        old.unlink()
    return target


def put_back(copy: Path) -> None:
    """By SQLite's own backup, so that no reader ever sees half a file."""
    file = sqlite_file()
    assert file is not None  # noqa: S101  (there is a copy, so there is a file)
    connection.close()
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(file)) as target:
        source.backup(target)


def check_small_file() -> list[str]:
    file = sqlite_file()
    if file is not None and file.stat().st_size <= CHECKED_BYTES:
        check_integrity(file)
    return []


def check_integrity(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        (answer,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise sqlite3_problem(str(answer).splitlines()[-1])


def explained(error: DatabaseError) -> Problem:
    """What a person can do about a database that can't be used."""
    words = " ".join(str(error).split()) or type(error).__name__
    if "locked" in words:
        return Problem(
            "The database is busy: another process has held it for too long.", "Try again in a moment."
        )
    if sqlite_file() is None:
        return Problem(
            f"The database of DATABASE_URL can't be used: {words}",
            "Check the address, the name and the password in DATABASE_URL, and that the server runs.",
        )
    return sqlite3_problem(words)


def sqlite3_problem(words: str) -> Problem:
    file, folder = sqlite_file(), backup_folder()
    if "full" in words:
        return Problem(f"The disk that holds {str(file)!r} is full.", "Free some space, then start again.")
    if "readonly" in words or "unable to open" in words:
        return Problem(
            f"The database {str(file)!r} can't be written: {words}.",
            "Give this user the right to read and write it and its folder.",
        )
    return Problem(
        f"The database {str(file)!r} is damaged: {words}.", RESTORE.format(file=file, folder=folder)
    )


def sqlite_file() -> Path | None:
    """The database's file; None for PostgreSQL."""
    if connection.vendor != "sqlite":
        return None
    return Path(os.fspath(connection.settings_dict["NAME"]))


def backup_folder() -> Path:
    return Path(settings.DATA_DIR) / "backups"


def version_file() -> Path:
    return Path(settings.DATA_DIR) / "version.json"


def last_version() -> str:
    """The version that used the data directory last, as far as it is known."""
    try:
        return str(json.loads(version_file().read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return "of another version"
