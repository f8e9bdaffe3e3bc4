"""What goes wrong outside of the program: a message with a remedy each time, nothing lost, the session usable after it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from agentweb.cli import known_trouble
from bench.stand_in import running_stand_in
from sessions_app import entry_log
from sessions_app.models import Run, Session
from sessions_app.services import runs
from sessions_app.services.errors import Conflict
from sessions_app.views import errors
from tests.running import AGENTWEB, Up, environment, started

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MODEL = "anthropic/claude-sonnet-5"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with (
        running_stand_in() as service,
        started(
            tmp_path_factory.mktemp("bad") / "data",
            ANTHROPIC_API_KEY="sk-stand-in",
            ANTHROPIC_BASE_URL=service.url,
            AGENTWEB_RETRY_ENABLED="0",
        ) as running,
    ):
        yield running


def prompt(up: Up, *arguments: str, **how: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*AGENTWEB, "prompt", *arguments], env=up.environment, cwd=up.data.parent, capture_output=True,
        timeout=100, check=False, **how,
    )  # fmt: skip


def newest_session(data: Path) -> tuple[str, int]:
    """Its key, and how many entries it has."""
    with closing(sqlite3.connect(data / "agentweb.sqlite3")) as database:
        row = database.execute(
            "SELECT key, (SELECT count(*) FROM sessions_app_entry e WHERE e.session_id = s.id)"
            " FROM sessions_app_session s ORDER BY id DESC"
        ).fetchone()
    return str(row[0]), int(row[1])


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """Standard error, once it is clear that it holds a message and a remedy."""
    words = done.stderr.decode()
    assert "Traceback" not in words
    message, _, remedy = words.partition("\n")
    assert message.startswith("agentweb: ")
    assert remedy.startswith("  ")
    return words


# --- The prompt itself ------------------------------------------------------------------------------


@pytest.mark.services
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The prompt is empty"),
        (b" \n\t", "The prompt is empty"),
        (b"word " * 1_000_000, "5.0 MB; at most 1.0 MB"),
        (b"a\0b", "binary data"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "not UTF-8 text (at byte 1)"),
    ],
)
def test_a_prompt_that_is_no_prompt_is_wrong_usage(up: Up, content: bytes, words: str) -> None:
    done = prompt(up, "-", input=content)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in said(done)


def test_a_closed_standard_input_is_said(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *AGENTWEB, "prompt", "-"],
        env=environment(tmp_path / "data"), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "Standard input is closed" in said(done)


@pytest.mark.services
def test_a_terminal_that_can_not_show_a_character_gets_its_escape(up: Up) -> None:
    up.environment["PYTHONIOENCODING"] = "ascii"
    try:
        done = prompt(up, "--model", MODEL, "Häppy")
    finally:
        del up.environment["PYTHONIOENCODING"]
    assert done.returncode == 0, done.stderr
    assert b"H\\xe4ppy" in done.stdout


@pytest.mark.services
def test_an_unknown_model_names_those_that_would_answer(up: Up) -> None:
    words = said(prompt(up, "--model", "anthropic/nonsense", "Hello"))
    assert "demo/demo" in words
    assert MODEL in words
    assert "OPENAI_COMPATIBLE_MODELS" in said(prompt(up, "--model", "openai-compatible/x", "Hello"))


@pytest.mark.services
def test_a_file_that_is_no_session_is_named(up: Up) -> None:
    file = up.data.parent / "picture.png"
    file.write_bytes(b"\x89PNG\r\n")
    done = subprocess.run(
        [*AGENTWEB, "import", str(file)], env=up.environment, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert "picture.png is not a session file" in said(done)


# --- The provider -----------------------------------------------------------------------------------


@pytest.mark.services
@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("fail 400", "does not accept this request"),
        ("fail 401", "does not accept the key"),
        ("fail 402", "nothing left"),
        ("fail 429", "fewer requests"),
        ("fail 500", "The provider failed"),
        ("fail 529", "too much to do"),
        ("refuse", "other words"),
        ("cut off", "Check the network"),
        ("overflow", ""),
    ],
)
def test_each_fault_of_a_provider_has_a_remedy_and_the_session_goes_on(
    up: Up, text: str, remedy: str
) -> None:
    failed = prompt(up, "--model", MODEL, text)
    assert failed.returncode == 1
    key, entries = newest_session(up.data)
    words = said(failed)
    assert remedy in words
    assert "Everything up to here is kept" in words
    after = prompt(up, "--session", key, "hello")
    assert (after.returncode, after.stdout) == (0, b"Hello there.\n")
    assert newest_session(up.data)[1] > entries


@pytest.mark.services
def test_a_folder_that_vanishes_stops_the_job_and_its_return_lets_it_go_on(up: Up) -> None:
    folder = up.data.parent / "vanishing"
    folder.mkdir()
    assert prompt(up, "--model", MODEL, "--workspace", str(folder), "hello").returncode == 0
    key, _ = newest_session(up.data)
    shutil.rmtree(folder)
    gone = prompt(up, "--session", key, "tools, please")
    assert gone.returncode == 1
    assert f"The folder {folder} is gone" in said(gone)
    folder.mkdir()
    assert prompt(up, "--session", key, "hello").returncode == 0


@pytest.mark.services
def test_without_a_key_it_says_where_to_put_one_and_another_model_goes_on(tmp_path: Path) -> None:
    with started(tmp_path / "data") as keyless:
        failed = prompt(keyless, "--model", MODEL, "hello")
        assert failed.returncode == 1
        assert "Models and keys" in failed.stderr.decode()
        key, _ = newest_session(keyless.data)
        assert prompt(keyless, "--session", key, "--model", "demo/demo", "Hello").returncode == 0


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
