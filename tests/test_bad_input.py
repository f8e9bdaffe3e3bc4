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

from bench.stand_in import running_stand_in
from tests.running import AGENTWEB, Up, environment, started

if TYPE_CHECKING:
    pass

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
