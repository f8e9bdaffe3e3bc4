"""The command line, as processes: what goes to standard output, what to standard error, and the exit code."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path

import pytest

from agentweb.data_directory import held
from tests.running import AGENTWEB, Up, environment, processes_of, started, wait_for


def run(data: Path, *arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*AGENTWEB, *arguments],
        env=environment(data, **variables), cwd=data.parent, input=stdin, capture_output=True, text=True,
        timeout=110, check=False,
    )  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with started(tmp_path_factory.mktemp("cli") / "data") as running:
        yield running


def sessions(data: Path) -> list[tuple[str, int]]:
    with closing(sqlite3.connect(data / "agentweb.sqlite3")) as database:
        return database.execute(
            "SELECT key, (SELECT count(*) FROM sessions_app_entry e WHERE e.session_id = s.id)"
            " FROM sessions_app_session s ORDER BY id"
        ).fetchall()


# --- Without a server -------------------------------------------------------------------------------


def test_version_is_the_installed_one(data: Path) -> None:
    done = run(data, "version")
    assert (done.returncode, done.stdout) == (0, metadata.version("agentweb") + "\n")
    assert not data.exists()


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["up", "--port", "70000"], ["up", "--workers", "0"], ["prompt"], ["user", "remove", "x"]]
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(data: Path, arguments: list[str]) -> None:
    done = run(data, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "usage: agentweb" in done.stderr


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"DATABASE_URL": "nonsense"}, ["DATABASE_URL"]),
        ({"DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"}, ["DATABASE_URL", "that the server runs"]),
        ({"REDIS_URL": "redis://127.0.0.1:9/0"}, ["REDIS_URL does not answer", "without REDIS_URL"]),
        ({"REDIS_URL": "nonsense"}, ["REDIS_URL does not answer"]),
        (
            {"AGENTWEB_RUN_MAX_TURNS": "many"},
            ["AGENTWEB_RUN_MAX_TURNS must be a whole number", "configuration.md"],
        ),
        ({"SECRET_KEY": "short"}, ["SECRET_KEY is shorter than 32 characters"]),
        ({"AGENTWEB_DATA": "/dev/null/data"}, ["data directory '/dev/null/data' can't be used", "--data"]),
    ],
)
def test_what_keeps_the_server_from_starting_is_said_with_a_remedy(
    data: Path, variables: dict[str, str], words: list[str]
) -> None:
    done = run(data, "up", "--port", "0", **variables)
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr
    assert processes_of(data) == []


def test_a_damaged_database_keeps_the_server_from_starting(data: Path) -> None:
    data.mkdir()
    (data / "agentweb.sqlite3").write_bytes(b"no database " * 1000)
    done = run(data, "up", "--port", "0")
    assert done.returncode == 3
    assert "is damaged" in done.stderr
    assert "Put back a copy" in done.stderr


def test_people_are_added_and_get_links(data: Path) -> None:
    assert (
        run(data, "user", "add", "bob", "--password-stdin", stdin="a long pass phrase\n").stdout
        == "Added bob.\n"
    )
    assert "agentweb login-link carol" in run(data, "user", "add", "carol").stdout
    link = run(data, "login-link", "carol", AGENTWEB_PORT="8999")
    assert link.stdout.startswith("http://127.0.0.1:8999/login/")

    again = run(data, "user", "add", "bob")
    assert again.returncode == 2
    assert "already" in again.stderr
    weak = run(data, "user", "add", "dora", "--password-stdin", stdin="123\n")
    assert weak.returncode == 2
    unknown = run(data, "login-link", "nobody")
    assert unknown.returncode == 2
    assert "agentweb user add nobody" in unknown.stderr


def test_doctor_says_what_is_well_and_what_is_not(data: Path) -> None:
    run(data, "prepare")
    well = run(data, "doctor", ANTHROPIC_API_KEY="sk-very-secret")
    assert well.returncode == 0
    assert "ok    Python" in well.stdout
    assert "Key for Anthropic: present" in well.stdout
    assert "very-secret" not in well.stdout + well.stderr
    ill = run(data, "doctor", REDIS_URL="redis://127.0.0.1:9/0")
    assert ill.returncode == 3
    assert "fail  The broker of REDIS_URL does not answer" in ill.stdout


def test_a_prompt_with_a_model_that_is_not_there_names_those_that_are(up: Up) -> None:
    # Which there are is the server's to say, not this terminal's environment.
    done = run(up.data, "prompt", "--model", "nonsense", "Hello", OPENAI_COMPATIBLE_MODELS="nonsense")
    assert done.returncode == 2
    assert "demo/demo" in done.stderr


@pytest.mark.services
def test_a_refused_prompt_leaves_no_session_and_no_folder(up: Up) -> None:
    before, folder = sessions(up.data), up.data.parent / "refused"
    folder.mkdir()
    done = run(up.data, "prompt", "--workspace", str(folder), "-", stdin="a\0b")
    assert done.returncode == 2
    assert "binary data" in done.stderr
    assert sessions(up.data) == before
    with closing(sqlite3.connect(up.data / "agentweb.sqlite3")) as database:
        assert not database.execute(
            "SELECT 1 FROM sessions_app_workspace WHERE path = ?", [str(folder)]
        ).fetchall()


def test_an_empty_prompt_is_wrong_usage(data: Path) -> None:
    assert run(data, "prompt", "-", stdin=" \n").returncode == 2


def test_a_prompt_does_not_share_the_worker_of_another_prompt(data: Path) -> None:
    with held(data):
        done = run(data, "prompt", "Hello")
    assert done.returncode == 3
    assert "agentweb up" in done.stderr


@pytest.mark.services
def test_a_prompt_without_a_server_starts_what_it_needs_and_leaves_nothing(data: Path) -> None:
    done = run(data, "prompt", "Hello")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert done.stdout.endswith("\n")
    assert processes_of(data) == []
    assert len(sessions(data)) == 1


# --- Through a running server -----------------------------------------------------------------------


@pytest.mark.services
def test_a_prompt_goes_through_the_running_server(up: Up) -> None:
    before = len(sessions(up.data))
    done = run(up.data, "prompt", "-", stdin="Hello")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert len(sessions(up.data)) == before + 1
    own = run(up.data, "prompt", "!echo one; echo two")
    assert (own.returncode, own.stdout) == (0, "one\ntwo\n"), own.stderr


@pytest.mark.services
def test_a_prompt_goes_on_with_a_session_named_by_the_beginning_of_its_key(up: Up) -> None:
    run(up.data, "prompt", "Hello")
    (key, entries) = sessions(up.data)[-1]
    newest = run(up.data, "sessions").stdout.splitlines()[0].split("\t")
    assert (uuid.UUID(newest[0]).hex, newest[3].partition(" ")[0], newest[4]) == (
        uuid.UUID(key).hex,
        "Finished",
        "Hello",
    )
    done = run(up.data, "prompt", "--session", key[:12], "And now?")
    assert f"Session {uuid.UUID(key)}" in done.stderr.splitlines()
    assert done.returncode == 0, done.stderr
    assert sessions(up.data)[-1][0] == key
    assert sessions(up.data)[-1][1] > entries
    assert run(up.data, "prompt", "--session", "zzzz", "Hello").returncode == 2


@pytest.mark.services
def test_json_is_one_event_a_line_and_ends_with_settled(up: Up) -> None:
    done = run(up.data, "prompt", "--json", "Hello")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert done.returncode == 0
    header, key = events[0], sessions(up.data)[-1][0]
    assert (header["type"], header["version"], uuid.UUID(header["id"]).hex) == (
        "session",
        3,
        uuid.UUID(key).hex,
    )
    assert header["timestamp"].endswith("Z")
    assert Path(header["cwd"]).is_dir()
    assert kinds.count("session") == 1
    assert {"agent_start", "turn_start", "message_update", "turn_end", "agent_end"} <= set(kinds)
    ended = [event["message"]["role"] for event in events if event["type"] == "message_end"]
    assert (ended[0], ended[-1]) == ("user", "assistant")
    assert kinds[-1] == "agent_settled"
    assert kinds.count("agent_settled") == 1
    assert "run_end" not in kinds


@pytest.mark.services
def test_a_question_that_nobody_is_there_to_answer_is_exit_code_6(up: Up) -> None:
    (up.data.parent / "asks").mkdir()
    words = ["Add a CHANGELOG entry for the last commit", "--tools", "ask", "--json"]
    asked = run(up.data, "prompt", *words, "--workspace", str(up.data.parent / "asks"))
    assert asked.returncode == 6, asked.stderr
    events = [json.loads(line) for line in asked.stdout.splitlines()]
    assert events[-1]["type"] == "extension_ui_request"
    assert events[-1]["options"] == ["Allow", "Allow for this run", "Deny"]
    assert "Answer in the browser" in asked.stderr
    assert events[0]["id"] in asked.stderr


def test_a_folder_that_is_not_there_is_wrong_usage(up: Up) -> None:
    done = run(up.data, "prompt", "--workspace", str(up.data / "none"), "Hello")
    assert done.returncode == 2
    assert "No such folder" in done.stderr


@pytest.mark.services
def test_a_reader_that_goes_away_causes_no_traceback(up: Up) -> None:
    with subprocess.Popen(
        [*AGENTWEB, "prompt", "--json", "Hello"], env=up.environment, cwd=up.data.parent,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode in {0, 141}
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


@pytest.mark.services
def test_export_and_import_carry_a_session_over(up: Up) -> None:
    """01 IO-04, IO-05: the shell takes the quotes of a path away, of either kind."""
    run(up.data, "prompt", "Hello")
    key, entries = sessions(up.data)[-1]
    exported = run(up.data, "export", key)
    assert exported.returncode == 0, exported.stderr
    (up.data.parent / "over to you.jsonl").write_text(exported.stdout, encoding="utf-8")
    imported = subprocess.run(
        ["/bin/sh", "-c", "\"$@\" import \"over to you.jsonl\" 'over to you.jsonl'", "sh", *AGENTWEB],
        env=environment(up.data), cwd=up.data.parent, capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.count("over to you.jsonl: session ") == 2
    assert [of for _, of in sessions(up.data)[-2:]] == [entries] * 2
    missing = run(up.data, "import", str(up.data.parent / "none.jsonl"))
    assert missing.returncode == 3
    assert "Traceback" not in missing.stderr


# --- While a session is at work ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A server whose demo model takes its time."""
    with started(tmp_path_factory.mktemp("slow") / "data", AGENTWEB_DEMO_PACE="5") as running:
        yield running


@contextmanager
def prompting(
    slow: Up, *arguments: str, words: str = "Tell me something long"
) -> Iterator[subprocess.Popen[str]]:
    """`agentweb prompt` at work; killed at the end of the block should it still be there."""
    with subprocess.Popen(
        [*AGENTWEB, "prompt", *arguments, words], env=slow.environment, cwd=slow.data.parent,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.services
@pytest.mark.parametrize("words", ["Tell me something long", "!echo begun; sleep 300"])
def test_ctrl_c_stops_the_run_and_says_130(slow: Up, words: str) -> None:
    with prompting(slow, words=words) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=40)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    with closing(sqlite3.connect(slow.data / "agentweb.sqlite3")) as database:
        (status,) = database.execute("SELECT status FROM sessions_app_run ORDER BY id DESC").fetchone()
    assert status == "stopped"


@pytest.mark.services
def test_a_session_at_work_refuses_a_prompt_or_takes_it_into_its_queue(slow: Up) -> None:
    before = len(sessions(slow.data))
    with prompting(slow) as first:
        wait_for(lambda: len(sessions(slow.data)) > before and sessions(slow.data)[-1][1])
        key = sessions(slow.data)[-1][0]

        refused = run(slow.data, "prompt", "--session", key, "Me too")
        assert refused.returncode == 4
        assert "--queue" in refused.stderr

        with prompting(slow, "--session", key, "--queue") as queued:
            wait_for(lambda: queue_length(slow.data) == 1)
            queued.send_signal(signal.SIGINT)
            queued.communicate(timeout=40)
        assert queued.returncode == 130
        assert queue_length(slow.data) == 0
        assert first.poll() is None
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=40)


def queue_length(data: Path) -> int:
    with closing(sqlite3.connect(data / "agentweb.sqlite3")) as database:
        (count,) = database.execute("SELECT count(*) FROM sessions_app_queuedmessage").fetchone()
    return int(count)
