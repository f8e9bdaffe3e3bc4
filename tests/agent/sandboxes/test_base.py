"""The port to the world: whoever stands behind it, the seven tools act there and nowhere else (05 §9)."""

from __future__ import annotations

import io
import os
import stat as modes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sessions_app.agent.sandboxes.base import ExecResult, SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools import create_tools
from sessions_app.agent.tools.base import ToolResult
from tests.agent.sandboxes.workspace import text_of


class Elsewhere:
    """A world in memory below a folder that is not on this machine."""

    cwd = Path("/elsewhere")

    def __init__(self) -> None:
        self.files: dict[Path, bytes] = {}
        self.commands: list[str] = []

    def resolve(self, path: str) -> Path:
        return self.cwd / path if path != "." else self.cwd

    def read_bytes(self, path: Path, limit: int | None = None) -> bytes:
        return self.open_read(path).read(-1 if limit is None else limit)

    def open_read(self, path: Path) -> BinaryIO:
        if path not in self.files:
            raise SandboxError(f"{path} does not exist.", code="missing")
        return io.BytesIO(self.files[path])

    def write_bytes(self, path: Path, content: bytes) -> None:
        self.files[path] = content

    def stat(self, path: Path) -> os.stat_result | None:
        if path in self.files:
            return os.stat_result((modes.S_IFREG, 0, 0, 1, 0, 0, len(self.files[path]), 0, 0, 0))
        if any(path in file.parents for file in self.files):
            return os.stat_result((modes.S_IFDIR, 0, 0, 1, 0, 0, 0, 0, 0, 0))
        return None

    def list_dir(self, path: Path) -> list[str]:
        return sorted({file.relative_to(path).parts[0] for file in self.files if path in file.parents})

    def walk(self, path: Path, stop: StopSignal) -> Iterator[tuple[Path, bool]]:
        yield from ((file, False) for file in sorted(self.files))

    def ignored_below(self, path: Path) -> Callable[[Path, bool], bool]:
        return lambda path, is_dir: False

    def program(self, *names: str) -> str | None:
        return None

    def exec(self, command: str, *, on_data: Callable[[bytes], None], **_: Any) -> ExecResult:
        self.commands.append(command)
        on_data(b"from elsewhere\n")
        return ExecResult(0)

    def new_output_file(self) -> tuple[BinaryIO, Path]:
        raise SandboxError("There is no room.", code="full")

    def kill_all(self) -> int:
        return 0


def test_all_tools_act_where_the_port_leads() -> None:
    """05 §9.1."""
    world = Elsewhere()
    tools = {tool.name: tool for tool in create_tools()}

    def use(tool: str, **arguments: Any) -> ToolResult:
        return tools[tool].run(arguments, world, StopSignal(), lambda partial: None)

    assert text_of(use("write", path="notes.txt", content="one\ntwo\n")).startswith("Wrote")
    use("edit", path="notes.txt", edits=[{"oldText": "two", "newText": "three"}])
    assert world.files == {Path("/elsewhere/notes.txt"): b"one\nthree\n"}
    assert text_of(use("read", path="notes.txt")) == "one\nthree\n"
    assert text_of(use("grep", pattern="thr", path=".")) == "notes.txt:2: three"
    assert text_of(use("find", pattern="*.txt", path=".")) == "notes.txt"
    assert text_of(use("ls", path=".")) == "notes.txt"
    assert text_of(use("bash", command="uname")) == "from elsewhere"
    assert world.commands == ["uname"]
    assert not Path("/elsewhere").exists()
