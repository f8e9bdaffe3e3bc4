"""How commands run: what they see, what is heard of them and what bounds them."""

from __future__ import annotations

import os
import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.stop import StopSignal
from tests.agent.sandboxes.workspace import Workspace


def test_both_outputs_arrive_in_order(workspace: Workspace) -> None:
    """05 §6.4."""
    ended, output, _ = workspace.run("for i in 1 2 3; do echo out$i; echo err$i >&2; done")
    assert ended.exit_code == 0
    assert output == b"out1\nerr1\nout2\nerr2\nout3\nerr3\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("no-such-program-here", 127)],
)
def test_the_exit_code_is_that_of_the_shell(workspace: Workspace, command: str, code: int) -> None:
    """05 §6.5."""
    assert workspace.run(command)[0].exit_code == code


def test_a_background_child_does_not_hold_the_command(workspace: Workspace) -> None:
    """05 §6.7."""
    ended, output, seconds = workspace.run("sleep 300 & echo done")
    assert (ended.exit_code, output, ended.lingering) == (0, b"done\n", True)
    assert seconds < 5


def test_a_talking_background_child_does_not_hold_the_command_either(workspace: Workspace) -> None:
    """05 §6.7."""
    ended, output, seconds = workspace.run("(while :; do echo x; sleep 0.01; done) & echo done")
    assert ended.exit_code == 0
    assert b"done" in output
    assert seconds < 8


def test_a_command_that_closes_its_output_is_waited_for(workspace: Workspace) -> None:
    ended, _, seconds = workspace.run("exec >&- 2>&-; sleep 0.3; exit 5")
    assert ended.exit_code == 5
    assert seconds >= 0.3


def test_standard_input_is_closed(workspace: Workspace) -> None:
    """05 §6.2."""
    ended, output, seconds = workspace.run("cat; read line || echo nothing")
    assert (ended.exit_code, output) == (0, b"nothing\n")
    assert seconds < 2


def test_a_command_does_not_read_what_the_server_is_told(workspace: Workspace) -> None:
    """05 §6.2: the server's own standard input."""
    reading, writing = os.pipe()
    own = os.dup(0)
    os.write(writing, b"for the server\n")
    os.close(writing)
    try:
        os.dup2(reading, 0)
        _, output, _ = workspace.run("cat")
    finally:
        os.dup2(own, 0)
        os.close(own)
        os.close(reading)
    assert output == b""


def test_a_command_sees_no_variable_of_the_server(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B55."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@host/db")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    _, output, _ = workspace.run("env")
    seen = dict(line.split("=", 1) for line in output.decode().splitlines())
    assert "secret" not in output.decode()
    assert seen["LANG"] == "de_DE.UTF-8"
    assert seen["TERM"] == "dumb"
    assert seen["AI_AGENT"] == "agentweb"
    assert seen["AGENTWEB_RUN"] == workspace.marker


def test_session_variables_are_read_anew_for_each_command(workspace: Workspace) -> None:
    """05 §6.3."""
    numbers = iter(range(10))
    sandbox = workspace.sandbox(session_env=lambda: {"AGENTWEB_LEVEL": str(next(numbers))})
    heard: list[bytes] = []
    for _ in range(2):
        sandbox.exec("echo $AGENTWEB_LEVEL", stop=StopSignal(), on_data=heard.append)
    sandbox.exec("echo ${AGENTWEB_LEVEL:-none}", stop=StopSignal(), on_data=heard.append, env={})
    assert b"".join(heard) == b"0\n1\nnone\n"


def test_the_prefix_runs_before_each_command(workspace: Workspace) -> None:
    """05 §6.2."""
    assert workspace.run("echo $greeting", command_prefix="greeting=hello")[1] == b"hello\n"


def test_the_operator_may_name_another_shell(workspace: Workspace) -> None:
    """05 §6.2."""
    assert workspace.run("echo $0", shell="/bin/sh")[1] == b"/bin/sh\n"


def test_the_operators_ceiling_applies_without_a_timeout(workspace: Workspace) -> None:
    """05 §6.1."""
    ended, output, seconds = workspace.run("echo begun; sleep 60", max_timeout=1)
    assert ended.timed_out
    assert output == b"begun\n"
    assert seconds < 5


def test_too_much_output_ends_the_command(workspace: Workspace) -> None:
    ended, output, _ = workspace.run("yes", output_limit=1_000_000)
    assert ended.output_exceeded
    assert 1_000_000 < len(output) < 4_000_000


def test_memory_of_a_command_is_bounded(workspace: Workspace) -> None:
    command = "head -c 400000000 /dev/zero | tail -c 350000000 | wc -c"
    _, output, _ = workspace.run(command, memory_limit=100_000_000)
    assert b"350000000" not in output
    assert workspace.run("echo fits", memory_limit=100_000_000)[1] == b"fits\n"


def test_a_gigabyte_streams_through_bounded_memory(workspace: Workspace) -> None:
    received = 0

    def count(data: bytes) -> None:
        nonlocal received
        received += len(data)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    workspace.sandbox().exec("head -c 1000000000 /dev/zero", stop=StopSignal(), on_data=count)
    assert received == 1_000_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


def test_an_exception_of_the_listener_ends_the_command_and_passes_on(workspace: Workspace) -> None:
    def refuse(data: bytes) -> None:
        raise RuntimeError("enough")

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        workspace.sandbox().exec("echo x; sleep 600", stop=StopSignal(), on_data=refuse)
    assert workspace.living() == []
    assert time.monotonic() - started < 3


def test_after_a_stop_nothing_is_started(workspace: Workspace) -> None:
    stop = StopSignal()
    stop.request()
    ended = workspace.sandbox().exec("touch started", stop=stop, on_data=lambda data: None)
    assert ended.stopped
    assert not (workspace.folder / "started").exists()


def test_a_missing_working_folder_is_named(workspace: Workspace) -> None:
    """05 §6.2."""
    workspace.folder.rmdir()
    with pytest.raises(SandboxError, match="work") as caught:
        workspace.run("true")
    assert caught.value.code == "missing"


def test_a_nul_in_a_command_is_refused(workspace: Workspace) -> None:
    with pytest.raises(SandboxError, match="NUL"):
        workspace.run("echo a\0b")


def test_many_commands_run_side_by_side_from_threads(workspace: Workspace) -> None:
    sandbox = workspace.sandbox()

    def one(number: int) -> bytes:
        heard: list[bytes] = []
        sandbox.exec(f"echo {number}; sleep 0.05; echo {number}", stop=StopSignal(), on_data=heard.append)
        return b"".join(heard)

    with ThreadPoolExecutor(16) as pool:
        outputs = list(pool.map(one, range(48)))
    assert outputs == [f"{number}\n{number}\n".encode() for number in range(48)]


def test_no_file_descriptor_or_thread_is_left_open(workspace: Workspace) -> None:
    workspace.run("true")
    before = (
        len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0,
        threading.active_count(),
    )
    for _ in range(5):
        workspace.run("echo x")
        workspace.run("sleep 60", timeout=0.05)
    after = (
        len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0,
        threading.active_count(),
    )
    assert after == before
