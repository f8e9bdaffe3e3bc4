"""The write tool (05 §4)."""

from __future__ import annotations

import os

import pytest

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import ToolError
from tests.agent.sandboxes.workspace import Workspace, text_of


def test_a_new_file_is_written_with_its_folders(workspace: Workspace) -> None:
    """05 §4.1."""
    result = workspace.call("write", path="a/b/c.txt", content="x\ny\n")
    path = workspace.folder / "a/b/c.txt"
    assert path.read_text() == "x\ny\n"
    assert text_of(result) == "Wrote 4B to a/b/c.txt."
    assert result.details == {
        "path": str(path), "created": True, "firstChangedLine": 1, "added": 2, "removed": 0,
        "diff": f"--- {path}\n+++ {path}\n@@ -0,0 +1,2 @@\n+x\n+y\n",
    }  # fmt: skip


def test_a_file_that_is_there_is_replaced_and_the_change_told(workspace: Workspace) -> None:
    """05 §4.1."""
    workspace.file("f", "a\nb\nc\n")
    details = workspace.call("write", path="f", content="a\nB\nc").details
    assert (details["created"], details["added"], details["removed"], details["firstChangedLine"]) == (
        False,
        2,
        2,
        2,
    )
    assert "\\ No newline at end of file" in details["diff"]


@pytest.mark.parametrize("content", ["a\r\nb", "\ufeffx", "", "a\rb\n", "é😀", "\0"])
def test_the_content_is_written_as_given(workspace: Workspace, content: str) -> None:
    """05 §4.1."""
    workspace.call("write", path="f", content=content)
    assert (workspace.folder / "f").read_bytes() == content.encode()


def test_half_a_character_is_replaced(workspace: Workspace) -> None:
    workspace.call("write", path="f", content="a\ud83d")
    assert (workspace.folder / "f").read_text() == "a\ufffd"


def test_a_binary_or_large_file_is_replaced_without_a_diff(workspace: Workspace) -> None:
    path = workspace.file("f", b"\xff\xfe")
    assert workspace.call("write", path="f", content="x").details == {"path": str(path), "created": False}
    workspace.file("f", b"x" * 2_000_000)
    assert "diff" not in workspace.call("write", path="f", content="x").details
    assert "diff" not in workspace.call("write", path="f", content="y\n" * 900_000).details


@pytest.mark.parametrize("path", ["../x", "/etc/agentweb-test", "link/x"])
def test_nothing_is_written_outside(workspace: Workspace, path: str) -> None:
    (workspace.folder / "link").symlink_to("/tmp")
    with pytest.raises(SandboxError, match="outside the workspace"):
        workspace.call("write", path=path, content="x")


def test_folders_and_pipes_are_not_replaced(workspace: Workspace) -> None:
    os.mkfifo(workspace.folder / "pipe")
    workspace.file("folder/a")
    for path in ("pipe", "folder"):
        with pytest.raises(SandboxError):
            workspace.call("write", path=path, content="x")


def test_a_stopped_write_writes_nothing(workspace: Workspace) -> None:
    stop = StopSignal()
    stop.request()
    with pytest.raises(ToolError, match="Nothing was written"):
        workspace.call("write", stop=stop, path="f", content="x")
    assert not (workspace.folder / "f").exists()
