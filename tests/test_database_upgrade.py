"""Upgrading a database: from every earlier state, with a copy, back on failure, never a newer one."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from agentweb import database_upgrade
from agentweb.database_upgrade import explained, upgrade_database
from agentweb.problems import Problem

STATES = ["zero", *sorted(name for app, name in MigrationLoader(None).graph.nodes if app == "sessions_app")]


@pytest.fixture
def database(tmp_path: Path, settings: Any, django_db_blocker: Any) -> Iterator[Path]:
    """An SQLite file of this test alone in place of the usual database; its data directory is `tmp_path`."""
    file = tmp_path / "agentweb.sqlite3"
    settings.DATA_DIR = tmp_path
    with django_db_blocker.unblock(), in_place_of_the_usual(file):
        yield file


@contextmanager
def in_place_of_the_usual(file: Path) -> Iterator[None]:
    usual = connections["default"]
    # Nobody pulls the plug here: no waiting for the disk.
    options = {"init_command": "PRAGMA synchronous=OFF"}
    engine = "django.db.backends.sqlite3"
    own = {**usual.settings_dict, "ENGINE": engine, "NAME": str(file), "OPTIONS": options}
    connections["default"] = DatabaseWrapper(own, "default")
    yield
    connections["default"].close()
    connections["default"] = usual


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> dict[str, Path]:
    """By state, a database that came so far with a person in it: one that went all the way, copied at each state."""
    folder = tmp_path_factory.mktemp("earlier")
    file = folder / "agentweb.sqlite3"
    files = {}
    with django_db_blocker.unblock(), in_place_of_the_usual(file):
        call_command("migrate", "auth", verbosity=0)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO auth_user (username, password, first_name, last_name, email, is_superuser, is_staff,"
                " is_active, date_joined) VALUES ('alice', '', '', '', '', 1, 1, 1, '2026-01-01')"
            )
        for state in STATES:
            if state != "zero":
                call_command("migrate", "sessions_app", state, verbosity=0)
            connection.close()
            files[state] = Path(shutil.copyfile(file, folder / f"{state}.sqlite3"))
        call_command("migrate", verbosity=0)
    return files | {"newest": file}


def people(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as opened:
        return [name for (name,) in opened.execute("SELECT username FROM auth_user")]


def copies(file: Path) -> list[Path]:
    return sorted((file.parent / "backups").glob("*.sqlite3"))


def test_a_new_database_is_made_without_a_copy(database: Path) -> None:
    assert upgrade_database() == []
    assert people(database) == []
    assert copies(database) == []
    assert json.loads((database.parent / "version.json").read_text())["version"]


@pytest.mark.parametrize("state", STATES)
def test_a_database_of_every_earlier_state_is_upgraded_and_keeps_its_rows(
    database: Path, earlier: dict[str, Path], state: str
) -> None:
    shutil.copyfile(earlier[state], database)

    notes = upgrade_database()

    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    assert people(database) == ["alice"]
    (copy,) = copies(database)
    assert people(copy) == ["alice"]
    assert copy.stat().st_mode & 0o077 == 0
    assert str(copy) in notes[0]


def test_an_up_to_date_database_is_left_alone(database: Path, earlier: dict[str, Path]) -> None:
    shutil.copyfile(earlier["newest"], database)
    upgrade_database()
    assert upgrade_database() == []
    assert copies(database) == []


def test_a_failed_upgrade_puts_the_old_state_back(
    database: Path, earlier: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copyfile(earlier["zero"], database)

    def fail_half_way(*arguments: Any, **options: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM auth_user")
            cursor.execute("CREATE TABLE half_done (id integer)")
        raise DatabaseError("no such column")

    monkeypatch.setattr(database_upgrade, "call_command", fail_half_way)
    with pytest.raises(Problem, match="failed and was undone: no such column") as caught:
        upgrade_database()

    assert str(copies(database)[0]) in caught.value.remedy
    assert people(database) == ["alice"]
    with closing(sqlite3.connect(database)) as opened:
        assert not opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'half_done'").fetchone()


def test_only_the_newest_three_copies_stay(database: Path, earlier: dict[str, Path]) -> None:
    shutil.copyfile(earlier["zero"], database)
    made = [database_upgrade.copy_aside() for _ in range(5)]
    assert copies(database) == made[2:]


def test_a_database_of_a_newer_version_is_refused_by_name(database: Path, earlier: dict[str, Path]) -> None:
    shutil.copyfile(earlier["newest"], database)
    upgrade_database()
    (database.parent / "version.json").write_text('{"version": "9.1.0"}')
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('sessions_app', '0999_later', '2030-01-01')"
        )
    with pytest.raises(Problem, match=r"written by agentweb 9\.1\.0") as caught:
        upgrade_database()
    assert "Install agentweb 9.1.0 or newer" in caught.value.remedy
    assert caught.value.code == 3


def test_a_file_that_is_no_database_is_named_with_the_way_back(database: Path) -> None:
    database.write_bytes(b"not a database, whatever its name says" * 100)
    with pytest.raises(Problem, match="is damaged") as caught:
        upgrade_database()
    assert "backups" in caught.value.remedy


def test_a_damaged_page_is_found_before_anything_is_copied_or_changed(
    database: Path, earlier: dict[str, Path]
) -> None:
    shutil.copyfile(earlier["zero"], database)
    with closing(sqlite3.connect(database)) as opened:
        opened.execute("PRAGMA journal_mode=DELETE")
        (root,) = opened.execute("SELECT rootpage FROM sqlite_master WHERE name = 'auth_user'").fetchone()
        (size,) = opened.execute("PRAGMA page_size").fetchone()
    content = bytearray(database.read_bytes())
    content[(root - 1) * size : root * size] = b"\xaa" * size
    database.write_bytes(content)

    with pytest.raises(Problem, match="is damaged"):
        upgrade_database()
    assert copies(database) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("database or disk is full", "The disk that holds"),
        ("attempt to write a readonly database", "can't be written"),
        ("unable to open database file", "can't be written"),
    ],
)
def test_what_sqlite_complains_about_is_told_with_a_remedy(database: Path, words: str, message: str) -> None:
    problem = explained(DatabaseError(words))
    assert message in problem.message
    assert str(database) in problem.message
    assert problem.remedy
    assert problem.code == 3
