"""The bash tool: what the model is told about a command (05 §6)."""

from __future__ import annotations

import itertools
import stat
import threading
import time
from pathlib import Path

import pytest

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools import command_output
from sessions_app.agent.tools.base import ToolError
from tests.agent.sandboxes.workspace import Workspace, text_of


def test_the_output_comes_back(workspace: Workspace) -> None:
    """05 §6.4."""
    result = workspace.call("bash", command="echo out; echo err >&2")
    assert text_of(result) == "out\nerr"
    assert not result.is_error
    assert result.details["exitCode"] == 0
    assert result.details["durationMs"] >= 0


def test_a_failure_is_an_error_with_output_and_code(workspace: Workspace) -> None:
    """05 §6.5."""
    result = workspace.call("bash", command="echo before; exit 3")
    assert text_of(result) == "before\n\nThe command exited with code 3."
    assert result.is_error
    assert result.details["exitCode"] == 3
    assert workspace.call("bash", command="kill -9 $$").details["exitCode"] == 137


def test_no_output_is_said(workspace: Workspace) -> None:
    """05 §6.5."""
    assert text_of(workspace.call("bash", command="true")) == "(no output)"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 2147484])
def test_an_impossible_timeout_is_refused(workspace: Workspace, timeout: float) -> None:
    """05 §6.1."""
    with pytest.raises(ToolError, match="timeout must be"):
        workspace.call("bash", command="touch ran", timeout=timeout)
    assert not (workspace.folder / "ran").exists()


def test_a_timeout_keeps_the_output_so_far(workspace: Workspace) -> None:
    """05 §6.6."""
    result = workspace.call("bash", command="echo begun; sleep 60", timeout=1)
    assert text_of(result) == "begun\n\nThe command was ended after 1 s: its time was up."
    assert result.is_error
    assert result.details["exitCode"] is None


def test_a_stop_keeps_the_output_so_far(workspace: Workspace) -> None:
    """05 §6.6, B44."""
    stop = StopSignal()
    threading.Timer(1, stop.request).start()
    with pytest.raises(ToolError) as caught:
        workspace.call("bash", stop=stop, command="echo begun; (setsid sleep 600 &); sleep 60")
    assert str(caught.value) == "begun\n\nThe command was stopped."
    assert caught.value.details is not None
    assert caught.value.details["exitCode"] is None
    assert workspace.living() == []


def test_a_stop_before_the_start_starts_nothing(workspace: Workspace) -> None:
    stop = StopSignal()
    stop.request()
    with pytest.raises(ToolError, match="not started"):
        workspace.call("bash", stop=stop, command="touch ran")
    assert not (workspace.folder / "ran").exists()


def test_too_many_lines_leave_the_last_ones_and_a_file_with_all(workspace: Workspace) -> None:
    """05 §1.9, §6.8."""
    result = workspace.call("bash", command="seq 3000")
    text = text_of(result)
    path = Path(result.details["fullOutputPath"])
    assert text.startswith("1001\n1002\n")
    assert text.endswith(f"3000\n\n[Lines 1001-3000 of 3000 are shown. All of it: {path}]")
    assert path.read_text() == "".join(f"{number}\n" for number in range(1, 3001))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert result.details["truncation"]["truncatedBy"] == "lines"
    assert text_of(workspace.call("read", path=str(path), limit=1)).startswith("1\n")


def test_more_than_memory_keeps_is_counted_and_written_as_a_whole(workspace: Workspace) -> None:
    result = workspace.call("bash", command="yes 0123456789 | head -n 400000; printf last")
    cut = result.details["truncation"]
    assert (cut["totalLines"], cut["totalBytes"]) == (400_001, 4_400_004)
    assert "last\n\n[Lines 398002-400001 of 400001 are shown." in text_of(result)
    assert Path(result.details["fullOutputPath"]).stat().st_size == 4_400_004


def test_of_one_endless_line_the_end_is_shown(workspace: Workspace) -> None:
    """05 §1.7."""
    result = workspace.call("bash", command="head -c 5000000 /dev/zero | tr '\\0' x; printf END")
    assert "xEND\n\n[The last 50.0KB of line 1 are shown. All of it: " in text_of(result)
    assert len(text_of(result)) < 51500
    assert result.details["truncation"]["lastLinePartial"]


def test_a_short_output_leaves_no_file(workspace: Workspace) -> None:
    result = workspace.call("bash", command="seq 2000")
    assert "truncation" not in result.details
    assert list(workspace.spill.iterdir()) == []


def test_progress_that_was_drawn_over_does_not_count(workspace: Workspace) -> None:
    result = workspace.call(
        "bash", command="for i in $(seq 9000); do printf '\\r%s of 9000 done' $i; done; echo"
    )
    assert text_of(result) == "9000 of 9000 done"
    assert "truncation" not in result.details


@pytest.mark.parametrize(
    "command", ["printf 'a\\0b'", "head -c 3000 /dev/urandom", "printf '\\033]0;t\\007\\355\\240\\275'"]
)
def test_any_output_can_be_stored(workspace: Workspace, command: str) -> None:
    """B35, B50."""
    text = text_of(workspace.call("bash", command=command))
    text.encode()
    assert "\0" not in text
    assert "\x1b" not in text


def test_partial_results_come_every_100_ms_and_replace_one_another(workspace: Workspace) -> None:
    """05 §1.5, §6.4."""
    workspace.call("bash", command="for i in 1 2 3 4; do echo $i; sleep 0.15; done")
    texts = [text_of(update) for update in workspace.updates]
    assert 2 <= len(texts) <= 6
    assert texts[0] == "1\n"
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))


def test_a_flood_gives_few_and_short_partial_results(workspace: Workspace) -> None:
    workspace.call("bash", command="timeout 0.5 yes 'a line of output'")
    assert 1 <= len(workspace.updates) <= 8
    assert all(len(text_of(update)) <= 51200 for update in workspace.updates)


def test_background_processes_do_not_hold_the_tool(workspace: Workspace) -> None:
    """05 §6.7."""
    started = time.monotonic()
    assert text_of(workspace.call("bash", command="sleep 300 & echo done")) == "done"
    assert time.monotonic() - started < 5


def test_that_only_background_processes_were_left_is_said(workspace: Workspace) -> None:
    """05 §6.6."""
    chatter = "(while :; do echo x; sleep 0.02; done) & exit 0"
    result = workspace.call("bash", command=chatter, timeout=1.2)
    assert result.is_error
    assert "The shell had already finished" in text_of(result)


def test_too_much_output_ends_the_command_and_says_so(workspace: Workspace) -> None:
    result = workspace.call("bash", sandbox=workspace.sandbox(output_limit=2_000_000), command="yes")
    assert result.is_error
    assert "printed more than is allowed" in text_of(result)


class FullDisk(LocalSandbox):
    """Has no room for long outputs."""

    def new_output_file(self):  # type: ignore[no-untyped-def]
        raise SandboxError("The disk is full.", code="full")


def test_without_room_for_the_whole_output_the_model_gets_the_end_all_the_same(workspace: Workspace) -> None:
    sandbox = FullDisk(workspace.folder, run_marker=workspace.marker)
    result = workspace.call("bash", sandbox=sandbox, command="seq 500000")
    assert text_of(result).endswith("[Lines 498001-500000 of 500000 are shown. The disk is full.]")
    assert "fullOutputPath" not in result.details
    assert not result.is_error


def test_memory_for_output_is_bounded(workspace: Workspace) -> None:
    output = command_output.CommandOutput(workspace.sandbox())
    for _ in range(200):
        output.add(b"x" * 65536)
        assert output._kept < command_output.KEPT + 2 * 65536
    assert output.finish().truncation.total_bytes == 200 * 65536


def test_scripts_get_the_first_and_the_last_half_of_a_megabyte(workspace: Workspace) -> None:
    """05 §1.6: not stored and not sent, only for whoever asks."""
    result = workspace.call("bash", command="echo begun; seq 400000; echo ended; exit 3")
    assert result.structured is not None
    structured = result.structured()
    text = structured.pop("output")
    assert structured == {"exitCode": 3, "leftOutBytes": 2688895 + 12 - (1 << 20), "timedOut": False}
    assert text.startswith("begun\n1\n2\n")
    assert text.endswith("400000\nended\n")
    assert len(text) < (1 << 20) + 100
    short = workspace.call("bash", command="echo hello").structured
    assert short is not None
    assert short()["output"] == "hello\n"
