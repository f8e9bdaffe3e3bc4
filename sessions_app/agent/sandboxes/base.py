"""The port to the world tools act in: files and processes of one workspace (spec 05 §9)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from sessions_app.agent.stop import StopSignal


class SandboxError(Exception):
    """Outside the workspace, missing, unreadable …; the text names the path and the remedy."""

    def __init__(self, message: str, *, code: str = "error") -> None:
        super().__init__(message)
        # outside | missing | not_a_directory | is_a_directory | denied | read_only | full | too_large | special | error
        self.code = code


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How a command ended. `exit_code` is None when it was killed by stop, timeout or the output ceiling."""

    exit_code: int | None
    stopped: bool = False
    timed_out: bool = False
    lingering: bool = False  # the shell had ended, but background children still held its output
    output_exceeded: bool = False  # it printed more than the operator's ceiling and was ended
    survivors: int = 0  # processes that were still alive after everything was tried to end them


class Sandbox(Protocol):
    """Every path is resolved to its real place and refused outside the roots. All methods raise SandboxError."""

    cwd: Path

    def resolve(self, path: str) -> Path:
        """The real path of what the model named (spec 05 §2): relative to cwd, `@`, `~`, `file://` accepted."""
        ...

    def read_bytes(self, path: Path, limit: int | None = None) -> bytes: ...

    def open_read(self, path: Path) -> BinaryIO:
        """A regular file for reading; FIFOs, devices and directories are refused at once."""
        ...

    def write_bytes(self, path: Path, content: bytes) -> None:
        """Atomically (temporary file and rename, mode kept), making parent folders."""
        ...

    def stat(self, path: Path) -> os.stat_result | None:
        """What is there, symbolic links not followed; None when nothing is."""
        ...

    def list_dir(self, path: Path) -> list[str]: ...

    def walk(self, path: Path, stop: StopSignal) -> Iterator[tuple[Path, bool]]:
        """(path, is_dir) of everything below that ignore files leave, hidden included, `.git` not.

        Sorted by name in every folder, a folder before its content. Symbolic links are not followed.
        """
        ...

    def ignored_below(self, path: Path) -> Callable[[Path, bool], bool]:
        """Tells for (path, is_dir) below `path` whether `walk(path)` would leave it out."""
        ...

    def program(self, *names: str) -> str | None:
        """The full path of the first of these programs that commands here would find, if any."""
        ...

    def exec(
        self,
        command: str,
        *,
        stop: StopSignal,
        on_data: Callable[[bytes], None],
        timeout: float | None = None,
        env: dict[str, str] | None = None,
    ) -> ExecResult:
        """Run by the shell in cwd in its own process group, stdin closed, output merged in arrival order.

        When `on_data` raises, the command is ended and the exception passes on. `env` replaces the variables
        that describe the session.
        """
        ...

    def new_output_file(self) -> tuple[BinaryIO, Path]:
        """A new private file (mode 0600, random name) for output too long to keep in memory."""
        ...

    def kill_all(self) -> int:
        """End every process this run started, found by the run's marker; the number killed."""
        ...
