"""What a full disk, a database that cannot be written and an answer at its limit are told as, in both faces."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from agentweb.cli import known_trouble
from sessions_app import entry_log
from sessions_app.models import Run, Session
from sessions_app.services import runs
from sessions_app.services.errors import Conflict
from sessions_app.views import errors

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def test_an_answer_that_reached_its_limit_can_be_continued(
    session: Session, alice: User, settings: Any
) -> None:
    settings.ALLOW_LOCAL_EXECUTION = True
    Run.objects.create(session=session, author=alice, status=Run.Status.COMPLETED)
    answer = {"role": "assistant", "content": [], "stopReason": "stop", "timestamp": 1}
    entry_log.append(session.pk, {"type": "message", "message": answer})
    with pytest.raises(Conflict):
        runs.raise_and_continue(session=session, author=alice)
    entry_log.append(session.pk, {"type": "message", "message": answer | {"stopReason": "length"}})
    assert runs.raise_and_continue(session=session, author=alice).status == Run.Status.QUEUED


# --- Disk and database ------------------------------------------------------------------------------


def full(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA max_page_count=2")
        database.execute("CREATE TABLE t (x)")
        database.execute("INSERT INTO t VALUES (zeroblob(100000))")


def read_only(file: Path) -> None:
    sqlite3.connect(file).close()
    file.touch()
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        database.execute("CREATE TABLE t (x)")


def damaged(file: Path) -> None:
    file.write_bytes(b"no database " * 1000)
    with closing(sqlite3.connect(file)) as database:
        database.execute("SELECT * FROM sqlite_master")


@pytest.mark.parametrize(
    ("break_it", "page", "terminal"),
    [
        (full, "disk is full", "is full"),
        (read_only, "may not write", "can't be written"),
        (damaged, "is damaged", "is damaged"),
    ],
)
def test_what_sqlite_says_is_told_with_a_remedy_in_both_faces(
    db: None, tmp_path: Path, break_it: Any, page: str, terminal: str, settings: Any, monkeypatch: Any
) -> None:
    with pytest.raises(sqlite3.Error) as raised:
        break_it(tmp_path / "x.sqlite3")
    error = OperationalError(str(raised.value))
    told = errors.trouble(error)
    assert told is not None
    assert page in told[0]
    assert told[1]
    monkeypatch.setattr("agentweb.database_upgrade.sqlite_file", lambda: tmp_path / "x.sqlite3")
    problem = known_trouble(error)
    assert problem is not None
    assert terminal in problem.message
    assert problem.remedy


def test_a_fault_of_ours_is_not_explained_away() -> None:
    assert errors.trouble(ValueError("database or disk is full")) is None
    assert known_trouble(ValueError("full")) is None


@pytest.mark.parametrize("part", [True, False])
def test_a_prompt_that_finds_the_disk_full_is_answered_in_words(
    session: Session, alice: User, monkeypatch: Any, part: bool
) -> None:
    def fail(**kwargs: Any) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(runs, "submit_prompt", fail)
    client = Client(raise_request_exception=False)
    client.force_login(alice)
    response = client.post(
        reverse("submit_prompt", args=[session.key]),
        {"text": "hello"},
        headers={"hx-request": "1"} if part else {},
    )
    assert response.status_code == 503
    assert "disk is full" in response.content.decode()
    assert "Free some space" in response.content.decode()
    assert part == (response.headers.get("HX-Retarget") == "#notices")
