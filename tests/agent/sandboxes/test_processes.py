"""Nothing that a run started outlives its stop, however it hides."""

from __future__ import annotations

import subprocess
import threading
import time

import pytest

from sessions_app.agent.sandboxes import processes
from sessions_app.agent.stop import StopSignal
from tests.agent.sandboxes.workspace import Workspace

ESCAPES = {
    "plain": "sleep 600",
    "pipeline": "sleep 600 | cat",
    "own session": "(setsid sleep 600 &); sleep 600",
    "double fork": "( (setsid sh -c 'sleep 600; true' &) & ); sleep 600",
    "emptied environment": "(env -i setsid sleep 600 >/dev/null 2>&1 &); sleep 600",
    "deaf to signals": "trap '' TERM INT HUP; while :; do sleep 1; done",
    "loop of sleeps": "for i in 1 2 3; do sleep 30; touch f$i; done",
    "fork loop": "again() { sleep 0.005; (again &) ; }; for i in 1 2 3 4 5; do (again &); done; sleep 600",
    "fork loop in new sessions": "printf 'sleep 0.005; setsid sh again.sh &' > again.sh; sh again.sh; sleep 600",
}


@pytest.mark.parametrize("command", ESCAPES.values(), ids=ESCAPES.keys())
def test_a_stop_leaves_no_process_behind(workspace: Workspace, command: str) -> None:
    """05 §6.6, B44."""
    ended, _, seconds = workspace.run(command, stop_after=0.3)
    assert ended.stopped
    assert ended.exit_code is None
    assert ended.survivors == 0
    assert workspace.living() == []
    assert seconds < 3.3


def test_a_timeout_leaves_no_process_of_the_command_behind(workspace: Workspace) -> None:
    """05 §6.6, B44."""
    ended, _, seconds = workspace.run("(setsid sleep 600 &); sleep 600", timeout=0.2)
    assert ended.timed_out
    assert workspace.living() == []
    assert seconds < 3.2


def test_a_timeout_spares_what_another_command_left_running(workspace: Workspace) -> None:
    sandbox = workspace.sandbox()
    sandbox.exec("setsid sleep 600 >/dev/null 2>&1 &", stop=StopSignal(), on_data=lambda data: None)
    [server] = workspace.living()
    sandbox.exec("sleep 600", stop=StopSignal(), on_data=lambda data: None, timeout=0.2)
    assert workspace.living() == [server]


def test_a_stop_ends_what_earlier_commands_of_the_run_left_running(workspace: Workspace) -> None:
    """05 §6.6, B44."""
    sandbox, stop = workspace.sandbox(), StopSignal()
    sandbox.exec("setsid sleep 600 >/dev/null 2>&1 &", stop=stop, on_data=lambda data: None)
    assert len(workspace.living()) == 1
    threading.Timer(0.2, stop.request).start()
    assert sandbox.exec("sleep 600", stop=stop, on_data=lambda data: None).stopped
    assert workspace.living() == []


def test_kill_all_ends_background_processes_and_counts_them(workspace: Workspace) -> None:
    workspace.run("setsid sleep 600 & sleep 600 &")
    assert len(workspace.living()) == 2
    assert workspace.sandbox().kill_all() == 2
    assert workspace.living() == []
    assert workspace.sandbox().kill_all() == 0


def test_another_process_can_end_the_processes_of_a_run_whose_worker_died(workspace: Workspace) -> None:
    """05 §6.9, B44."""
    workspace.run("setsid sleep 600 &")
    assert processes.kill_marked(workspace.marker) == 1
    assert processes.living(workspace.marker) == []


def test_other_runs_and_unmarked_processes_are_spared(workspace: Workspace) -> None:
    bystander = subprocess.Popen(["sleep", "600"], env={processes.RUN_VARIABLE: f"{workspace.marker}9"})
    try:
        workspace.run("setsid sleep 600 &")
        assert processes.kill_marked(workspace.marker) == 1
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_background_server_survives_its_own_output_after_the_command(workspace: Workspace) -> None:
    workspace.run("(while :; do echo tick; sleep 0.02; done) & echo started")
    time.sleep(0.3)
    assert workspace.living() != []
