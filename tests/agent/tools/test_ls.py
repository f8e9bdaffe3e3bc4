"""The ls tool (05 §7)."""

from __future__ import annotations

import os

import pytest

from sessions_app.agent.sandboxes.base import SandboxError
from tests.agent.sandboxes.workspace import Workspace, text_of


def test_names_are_sorted_without_regard_to_case(workspace: Workspace) -> None:
    """05 §7.3."""
    for name in ("b", "A", ".hidden", "c/x", "B2"):
        workspace.file(name)
    (workspace.folder / "to-c").symlink_to("c")
    (workspace.folder / "nowhere").symlink_to("missing")
    (workspace.folder / "outside").symlink_to("/etc")
    assert text_of(workspace.call("ls")) == ".hidden\nA\nb\nB2\nc/\noutside\nto-c/"


def test_an_empty_folder_is_named(workspace: Workspace) -> None:
    """05 §7.3."""
    assert text_of(workspace.call("ls", path=".")) == "(empty folder)"


def test_a_limit_is_said_only_when_something_is_left_out(workspace: Workspace) -> None:
    """05 §1.4."""
    for number in range(3):
        workspace.file(f"{number}")
    result = workspace.call("ls", limit=2)
    assert text_of(result) == "0\n1\n\n[the limit of 2 entries is reached; for more use limit=4]"
    assert result.details == {"entryLimitReached": 2}
    assert text_of(workspace.call("ls", limit=3)) == "0\n1\n2"
    assert text_of(workspace.call("ls", limit=-5)).startswith("0\n\n[the limit of 1 ")


def test_names_of_any_bytes_can_be_shown(workspace: Workspace) -> None:
    """B38."""
    for name in (b"a\nb", b"\xff", b"\x1b[31m"):
        with open(os.path.join(os.fsencode(workspace.folder), name), "wb"):
            pass
    assert text_of(workspace.call("ls")).split("\n") == ["␛[31m", "a␊b", "\ufffd"]


@pytest.mark.parametrize(
    ("path", "said"), [("zz", "does not exist"), ("f", "a file"), ("..", "outside the workspace")]
)
def test_what_is_no_folder_is_refused(workspace: Workspace, path: str, said: str) -> None:
    """05 §7.3."""
    workspace.file("f")
    with pytest.raises(SandboxError, match=said):
        workspace.call("ls", path=path)
