"""`agentweb up`: starts everything, watches it, and leaves nothing behind, however it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from agentweb import broker
from agentweb.addresses import address, usable_port
from agentweb.children import Child, ChildSpec, environment_for_children
from agentweb.data_directory import RunningServer, held, running_server, runtime_directory, write_server
from agentweb.problems import Problem
from tests.running import AGENTWEB, Up, environment, processes_of, started, wait_for

IDLE_MEGABYTES = 350


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One server for the tests that do it no harm."""
    with started(tmp_path_factory.mktemp("up") / "data") as running:
        yield running


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str


def get(up: Up, path: str) -> Answer:
    place = urlsplit(up.address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    with closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        return Answer(response.status, dict(response.headers), response.read().decode())


@pytest.mark.services
def test_up_prints_one_line_with_a_link_that_works(up: Up) -> None:
    assert len(up.output) == 1
    assert get(up, urlsplit(up.link).path).status == 200
    health = get(up, "/health/")
    assert health.status == 200
    assert json.loads(health.text)["status"] == "ok"


@pytest.mark.services
def test_style_sheets_come_with_hashed_names(up: Up) -> None:
    page = get(up, urlsplit(up.link).path).text
    sheet = page.partition('rel="stylesheet"')[2].partition('href="')[2].partition('"')[0]
    answer = get(up, sheet)
    assert answer.status == 200
    assert "max-age=315360000" in answer.headers["Cache-Control"]


@pytest.mark.services
def test_the_broker_listens_on_a_private_socket_only(up: Up) -> None:
    listening = [c for c in up.children()["broker"].net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert listening == []
    assert runtime_directory(up.data).stat().st_mode & 0o077 == 0


@pytest.mark.services
def test_idle_it_takes_little_memory(up: Up) -> None:
    processes = [psutil.Process(up.process.pid), *up.children().values()]
    used = sum(getattr(p.memory_full_info(), "pss", p.memory_info().rss) for p in processes) / 1024**2
    assert len(processes) == 4
    assert used < IDLE_MEGABYTES


@pytest.mark.services
def test_a_second_start_names_the_first(up: Up) -> None:
    done = subprocess.run([*AGENTWEB, "up"], env=up.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert f"process {up.process.pid}" in done.stderr
    assert up.address in done.stderr


@pytest.mark.services
def test_a_dead_worker_is_started_again_and_that_is_said(up: Up) -> None:
    first = up.children()["worker"]
    first.kill()
    wait_for(lambda: up.children().get("worker", first).pid != first.pid)
    wait_for(lambda: any("The worker ended (signal SIGKILL)" in line for line in up.errors))


@pytest.mark.services
def test_nothing_is_left_after_sigterm(tmp_path: Path) -> None:
    with started(tmp_path / "data") as up:
        assert len(processes_of(up.data)) >= 4
        assert up.stop() == 0
        assert [line.strip() for line in up.errors][-2:] == ["Stopping…", "Stopped."]
        assert processes_of(up.data) == []
        assert running_server(up.data) is None
        assert not (runtime_directory(up.data) / "valkey.sock").exists()


@pytest.mark.services
def test_nothing_is_left_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    with started(tmp_path / "data") as up:
        up.process.kill()
        wait_for(lambda: processes_of(up.data) == [], 20)
        with started(up.data) as again:
            assert again.link


@contextmanager
def long_command(up: Up) -> Iterator[Callable[[], list[int]]]:
    """A run whose command has started another process and waits; gives the ids of those that are left."""
    seconds = str(30_000 + up.process.pid)
    client = subprocess.Popen(
        [*AGENTWEB, "prompt", f"run `sleep {seconds} & sleep {seconds}`"],
        env=up.environment, cwd=up.data.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def left() -> list[int]:
        return [p.pid for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", seconds]]

    try:
        wait_for(lambda: len(left()) == 2)
        yield left
    finally:
        client.kill()
        client.wait()


@pytest.mark.services
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_commands_of_runs_end_with_the_server(tmp_path: Path, number: signal.Signals) -> None:
    """05 §6.9, B44."""
    with started(tmp_path / "data") as up, long_command(up) as left:
        up.stop(number)
        wait_for(lambda: left() == [] and processes_of(up.data) == [], 30)


@pytest.mark.services
def test_commands_that_outlived_everything_end_with_the_next_start(tmp_path: Path) -> None:
    """05 §6.9, B44."""
    with started(tmp_path / "data") as up, long_command(up) as left:
        worker = up.children()["worker"]
        up.process.kill()
        worker.kill()
        assert len(left()) == 2
        with started(up.data) as again:
            assert left() == []
            assert any("had left running" in line for line in again.errors)


@pytest.mark.services
def test_it_can_be_stopped_while_it_starts(tmp_path: Path) -> None:
    with started(tmp_path / "data", wait=False) as up:
        wait_for(lambda: (up.data / "server.json").exists())
        begun = time.monotonic()
        assert up.stop(signal.SIGINT) == 0
        assert time.monotonic() - begun < 10
        assert up.output == []
        assert processes_of(up.data) == []


@pytest.mark.services
def test_files_that_the_broker_cannot_load_are_moved_aside(tmp_path: Path) -> None:
    files = tmp_path / "data" / "broker" / "appendonlydir"
    files.mkdir(parents=True)
    (files / "appendonly.aof.manifest").write_text("this is no manifest\n")
    with started(tmp_path / "data") as up:
        assert any("they are now in" in line for line in up.errors)
        assert list(up.data.glob("broker-unreadable-*"))


def test_a_taken_port_is_told_with_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Problem, match=f"Port {port} of 127.0.0.1 is taken") as caught:
            usable_port("127.0.0.1", port)
    assert "agentweb up --port" in caught.value.remedy


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(Problem, match=r"Can't listen on 192\.0\.2\.1"):
        usable_port("192.0.2.1", 8420)


@pytest.mark.parametrize(
    ("host", "variables", "expected"),
    [
        ("127.0.0.1", {}, "http://127.0.0.1:8420"),
        ("0.0.0.0", {}, "http://127.0.0.1:8420"),
        ("::1", {}, "http://[::1]:8420"),
        ("127.0.0.1", {"AGENTWEB_HTTPS": "1", "AGENTWEB_HOSTS": "a.example,b"}, "https://a.example"),
    ],
)
def test_a_link_leads_where_a_browser_gets_in(
    monkeypatch: pytest.MonkeyPatch, host: str, variables: dict[str, str], expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert address(host, 8420) == expected


def test_a_data_directory_is_held_by_one(tmp_path: Path) -> None:
    with held(tmp_path):
        write_server(tmp_path, RunningServer(4711, "127.0.0.1", 8421))
        assert running_server(tmp_path) == RunningServer(4711, "127.0.0.1", 8421)
        with (
            pytest.raises(Problem, match=r"already running .*process 4711, http://127.0.0.1:8421/"),
            held(tmp_path),
        ):
            pass
    assert running_server(tmp_path) is None
    with held(tmp_path):
        pass


def test_a_data_directory_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(Problem, match="can't be used") as caught, held(tmp_path / "data"):
        pass
    assert "--data" in caught.value.remedy


def test_the_socket_of_a_deep_data_directory_is_short_enough(tmp_path: Path) -> None:
    deep = tmp_path / ("long-name-" * 12)
    assert len(str(runtime_directory(deep) / "valkey.sock")) < 104
    assert runtime_directory(deep) == runtime_directory(deep)


def test_a_socket_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Problem, match="belongs to another user"):
        broker.prepare_folders(tmp_path, tmp_path / "run")


def test_a_child_that_dies_is_started_again_after_growing_pauses(tmp_path: Path) -> None:
    said: list[str] = []
    spec = ChildSpec("clock", ("--exec", "/bin/sh", "-c", "echo broken; exit 3"), 1.0)
    child = Child(spec, environment_for_children(), tmp_path / "clock.log", echo=False)
    child.start()
    wait_for(lambda: child.tend(said.append) or len([line for line in said if "ended" in line]) == 2)
    child.end_by(time.monotonic())
    assert said[0] == "The clock ended (exit code 3); starting it again in 0.5 s."
    assert "  broken" in said
    assert any("starting it again in 1 s." in line for line in said)
    assert (tmp_path / "clock.log").read_text() == "broken\nbroken\n"


def test_a_process_that_dies_before_the_word_to_go_ahead_is_told_of(tmp_path: Path) -> None:
    """A web server that can't even be imported must not take the supervisor along."""
    spec = ChildSpec("stillborn", ("--exec", "/bin/sh", "-c", "echo no such module; exit 1"), 5.0)
    child = Child(spec, environment_for_children(), tmp_path / "stillborn.log", echo=False, waits=True)
    child.start()
    wait_for(lambda: not child.alive and child.last_lines)
    child.go_ahead()
    said: list[str] = []
    child.tend(said.append)
    assert said[:2] == ["The stillborn ended (exit code 1); starting it again in 0.5 s.", "  no such module"]
    child.end_by(0.0)


def test_a_child_that_will_not_end_is_killed(tmp_path: Path) -> None:
    spec = ChildSpec(
        "stone", ("--exec", "/bin/sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"), 0.3
    )
    child = Child(spec, environment_for_children(), tmp_path / "stone.log", echo=False)
    child.start()
    wait_for(lambda: child.last_lines)
    child.ask_to_end()
    child.end_by(time.monotonic() + 0.3)
    assert child.killed
    assert not child.alive


def test_children_end_when_the_pipe_of_their_parent_closes(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [AGENTWEB[0], "-m", "agentweb.child", "worker"],
        stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(tmp_path / "data"),
    )  # fmt: skip
    os.close(reading)
    os.close(writing)
    assert process.wait(timeout=30) != 0
