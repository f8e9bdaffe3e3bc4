"""The sandbox on this machine: tools act as the server's user, files only inside the listed roots.

It confines what the file tools touch, not what a command may do: commands run with the rights of the server's user.
"""

from __future__ import annotations

import itertools
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from sessions_app.agent.sandboxes import commands, file_errors, processes
from sessions_app.agent.sandboxes.base import ExecResult, SandboxError
from sessions_app.agent.sandboxes.environment import ALLOWED, command_environment
from sessions_app.agent.sandboxes.ignore_rules import IgnoreRules
from sessions_app.agent.sandboxes.own_memory import hide_from_commands
from sessions_app.agent.sandboxes.rooted_files import RootedFiles
from sessions_app.agent.stop import StopSignal

LONGEST_COMMAND = 7200.0
MOST_OUTPUT = 2 << 30
_UNICODE_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


class LocalSandbox:
    """The `Sandbox` port for one run in one workspace; safe to use from several threads.

    `run_marker` is the run's id, `env_allow` names the server's variables a command may see, `session_env` gives
    the variables that describe the session at the moment a command starts. `max_timeout` (seconds),
    `output_limit` (bytes a command may print) and `memory_limit` (bytes of data for each process) are the
    operator's ceilings. Long outputs are written to `spill_dir`, which can be read by tools but not changed, as can
    what lies in `readable`.
    `begins_run`: no other sandbox has run a command of this run before.
    """

    def __init__(
        self,
        cwd: Path,
        roots: Sequence[Path] = (),
        *,
        run_marker: str,
        env_allow: Iterable[str] = ALLOWED,
        session_env: Callable[[], Mapping[str, str]] | None = None,
        shell: str | None = None,
        command_prefix: str = "",
        max_timeout: float = LONGEST_COMMAND,
        output_limit: int | None = MOST_OUTPUT,
        memory_limit: int | None = None,
        spill_dir: Path | None = None,
        readable: Sequence[Path] = (),
        begins_run: bool = False,
    ) -> None:
        hide_from_commands()
        self.cwd = Path(os.path.realpath(cwd))
        self._spill_dir = spill_dir
        self._readable = list(readable)
        self._files = RootedFiles([self.cwd, *roots], [*self._readable, *([spill_dir] if spill_dir else [])])
        self._marker = run_marker
        self._env_allow = tuple(env_allow)
        self._session_env = session_env or dict
        self._shell = shell
        self._command_prefix = command_prefix
        self._max_timeout = max_timeout
        self._output_limit = output_limit
        self._memory_limit = memory_limit
        self._command_numbers = itertools.count(1)
        # Whether a process of the run may be there: another sandbox may have started some before.
        self._has_started = not begins_run

    def resolve(self, path: str) -> Path:
        if not path.strip():
            raise SandboxError("The path is empty.")
        return self._files.real(self._named(path))

    def read_bytes(self, path: Path, limit: int | None = None) -> bytes:
        with self.open_read(path) as file:
            try:
                return file.read(-1 if limit is None else limit)
            except OSError as error:
                raise file_errors.in_words(error, path) from error

    def open_read(self, path: Path) -> BinaryIO:
        return self._files.open_read(path)

    def write_bytes(self, path: Path, content: bytes) -> None:
        self._files.write(path, content)

    def stat(self, path: Path) -> os.stat_result | None:
        return self._files.stat(path)

    def list_dir(self, path: Path) -> list[str]:
        return [name for name, _ in self._files.scan(path)]

    def walk(self, path: Path, stop: StopSignal) -> Iterator[tuple[Path, bool]]:
        real = self._files.real(path)
        rules = self._rules(real)
        pending = [iter(self._entries(real, rules))]
        while pending:
            if stop.is_set():
                return
            entry = next(pending[-1], None)
            if entry is None:
                pending.pop()
                continue
            yield entry
            found, is_dir = entry
            if is_dir:
                try:
                    pending.append(iter(self._entries(found, rules)))
                except SandboxError:
                    continue  # unreadable, or gone meanwhile

    def ignored_below(self, path: Path) -> Callable[[Path, bool], bool]:
        rules = self._rules(self._files.real(path))
        return lambda found, is_dir: rules.leaves_out(found, is_dir=is_dir)

    def program(self, *names: str) -> str | None:
        search = self._environment({})["PATH"]
        return next(filter(None, (shutil.which(name, path=search) for name in names)), None)

    def exec(
        self,
        command: str,
        *,
        stop: StopSignal,
        on_data: Callable[[bytes], None],
        timeout: float | None = None,
        env: dict[str, str] | None = None,
    ) -> ExecResult:
        mark = processes.Mark(self._marker, next(self._command_numbers))
        self._has_started = True
        if self._command_prefix:
            command = f"{self._command_prefix}\n{command}"
        return commands.run(
            commands.Command(
                argv=[self._shell_path(), "-c", command],
                cwd=self.cwd,
                environment=self._environment(self._session_env() if env is None else env, mark),
                mark=mark,
                timeout=self._max_timeout if timeout is None else min(timeout, self._max_timeout),
                output_limit=self._output_limit,
                memory=self._memory_limit,
            ),
            stop=stop,
            on_data=on_data,
        )

    def new_output_file(self) -> tuple[BinaryIO, Path]:
        if self._spill_dir is None:
            self._spill_dir = Path(os.path.realpath(tempfile.mkdtemp(prefix="agentweb-output-")))
            self._files = RootedFiles(self._files.roots, [*self._readable, self._spill_dir])
        path = self._spill_dir / f"output-{secrets.token_hex(12)}.log"
        try:
            self._spill_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise file_errors.in_words(error, path) from error
        return os.fdopen(opened, "w+b"), path

    def kill_all(self) -> int:
        # Looking takes milliseconds: every process of the machine is asked.
        return processes.kill_marked(self._marker) if self._has_started else 0

    def _named(self, path: str) -> Path:
        """What the model named as an absolute path; a file that exists under the literal name comes first."""
        literal = Path(os.path.abspath(self.cwd / path)) if "\0" not in path else None
        if literal is not None and os.path.lexists(literal):
            return self.cwd / path
        return self.cwd / self._expanded(_UNICODE_SPACES.sub(" ", path))

    def _expanded(self, path: str) -> str:
        path = path.removeprefix("@")
        if path.startswith("file://"):
            parts = urlsplit(path)
            if parts.netloc not in ("", "localhost"):
                raise SandboxError(f"{path!r} names a file on another machine.", code="outside")
            return unquote(parts.path)
        if path == "~" or path.startswith("~/"):
            return self._environment({}).get("HOME", "/") + path[1:]
        return path

    def _rules(self, path: Path) -> IgnoreRules:
        """Those of the whole workspace; who names an ignored folder wants to see what is in it."""
        rules = IgnoreRules(self._files.root_of(path), self._ignore_file)
        return IgnoreRules(path, self._ignore_file) if rules.leaves_out(path, is_dir=True) else rules

    def _ignore_file(self, path: Path, limit: int) -> bytes | None:
        try:
            return self.read_bytes(path, limit)
        except SandboxError:
            return None

    def _entries(self, folder: Path, rules: IgnoreRules) -> Iterable[tuple[Path, bool]]:
        found = self._files.scan(folder)
        return (
            (folder / name, is_dir)
            for name, is_dir in found
            if not rules.leaves_out(folder / name, is_dir=is_dir)
        )

    def _environment(self, session: Mapping[str, str], mark: processes.Mark | None = None) -> dict[str, str]:
        extra = dict(session)
        if mark is not None:
            extra[processes.RUN_VARIABLE] = mark.run
            extra[processes.COMMAND_VARIABLE] = f"{mark.run}.{mark.command}"
        return command_environment(self._env_allow, extra)

    def _shell_path(self) -> str:
        return self._shell or _default_shell()


def _default_shell() -> str:
    """Spec 05 §6: /bin/bash, then bash on the path, then sh."""
    if os.access("/bin/bash", os.X_OK):
        return "/bin/bash"
    return shutil.which("bash") or "/bin/sh"
