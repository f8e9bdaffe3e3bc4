"""Finding the lines of files that match a pattern: by ripgrep where it is there, else by ourselves, alike.

Both leave out what `.gitignore` files leave out, binary files and files that are too large, and go through
folders by name. Patterns are matched line by line.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from sessions_app.agent.sandboxes.base import Sandbox, SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import ToolError
from sessions_app.agent.tools.globs import Glob

LARGEST_FILE = 20 * 1024 * 1024
_SECONDS_FOR_A_LINE = 1.0
_SECONDS_FOR_A_FILE = 0.5
# Patterns that may see a whole file differently from its lines.
_LOOKS_FURTHER = re.compile(r"\(\?|\\[AZzGKbBR]|[+*?}]\+")


@dataclass(frozen=True, slots=True)
class Search:
    """`path` is a real file or folder; `most` matches of a file are enough."""

    pattern: str
    path: Path
    is_dir: bool
    glob: Glob | None = None
    ignore_case: bool = False
    literal: bool = False
    context: int = 0
    most: int = 100


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str
    is_match: bool


class Enough(Exception):  # noqa: N818 - news rather than a fault
    """Raised by the listener when it wants no more."""


Found = Callable[[Path, list[Line]], None]


def search(wanted: Search, sandbox: Sandbox, stop: StopSignal, found: Found) -> None:
    """Calls `found` for each file with matches, lines in order, context included. Raises ToolError."""
    expression = _compiled(wanted)
    program = sandbox.program("rg")
    if program is None or not _Ripgrep(wanted, sandbox, found).run(program, stop):
        _by_ourselves(wanted, expression, sandbox, stop, found)


def _compiled(wanted: Search) -> regex.Pattern[str]:
    pattern = regex.escape(wanted.pattern) if wanted.literal else wanted.pattern
    try:
        return regex.compile(pattern, regex.MULTILINE | (regex.IGNORECASE if wanted.ignore_case else 0))
    except regex.error as error:
        raise ToolError(f"The pattern is malformed: {error}. For plain text use literal=true.") from error


def _by_ourselves(
    wanted: Search, expression: regex.Pattern[str], sandbox: Sandbox, stop: StopSignal, found: Found
) -> None:
    for path in _files(wanted, sandbox, stop):
        text = _text(path, sandbox)
        if text is None or not _may_match(expression, wanted, text):
            continue
        lines = text.removesuffix("\n").split("\n")
        matching = []
        for number, line in enumerate(lines):
            if stop.is_set():
                return
            if _matches(expression, line):
                matching.append(number)
                if len(matching) == wanted.most:
                    break
        if matching:
            found(path, _with_context(lines, matching, wanted.context))


def _files(wanted: Search, sandbox: Sandbox, stop: StopSignal) -> Iterator[Path]:
    if not wanted.is_dir:
        yield wanted.path
        return
    for path, is_dir in sandbox.walk(wanted.path, stop):
        if not is_dir and (
            wanted.glob is None or wanted.glob.matches(path.relative_to(wanted.path).as_posix())
        ):
            yield path


def _text(path: Path, sandbox: Sandbox) -> str | None:
    """None for what is not searched: links, devices, binary or large files, what cannot be read."""
    try:
        found = sandbox.stat(path)
        if found is None or not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
            return None
        content = sandbox.read_bytes(path, LARGEST_FILE)
    except SandboxError:
        return None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", "replace")
    elif b"\0" in content:
        return None
    else:
        text = content.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n")  # the end of a line for `$` as well


def _may_match(expression: regex.Pattern[str], wanted: Search, text: str) -> bool:
    """A quick look at the whole file; True when in doubt."""
    if not wanted.literal and _LOOKS_FURTHER.search(wanted.pattern):
        return True
    try:
        return expression.search(text, concurrent=True, timeout=_SECONDS_FOR_A_FILE) is not None
    except TimeoutError:
        return True


def _matches(expression: regex.Pattern[str], line: str) -> bool:
    try:
        return expression.search(line, concurrent=True, timeout=_SECONDS_FOR_A_LINE) is not None
    except TimeoutError as error:
        raise ToolError("The pattern takes too long on some lines. Make it simpler.") from error


def _with_context(lines: list[str], matching: list[int], context: int) -> list[Line]:
    wanted = {
        number
        for match in matching
        for number in range(max(0, match - context), min(len(lines), match + context + 1))
    }
    matches = set(matching)
    return [Line(number + 1, lines[number], number in matches) for number in sorted(wanted)]


class _Ripgrep:
    """One run of ripgrep, its JSON lines read as they come."""

    def __init__(self, wanted: Search, sandbox: Sandbox, found: Found) -> None:
        self._wanted = wanted
        self._sandbox = sandbox
        self._found = found
        self._ignored = sandbox.ignored_below(wanted.path) if wanted.is_dir else None
        self._rest = bytearray()
        self._lines: list[Line] = []
        self._any = False

    def run(self, program: str, stop: StopSignal) -> bool:
        """False when ripgrep does not take the pattern (it knows no look-around) and nothing was found."""
        command = shlex.join([program, *self._options(), "--", str(self._wanted.path)])
        ended = self._sandbox.exec(command, stop=stop, on_data=self._receive, env={})
        return self._any or ended.exit_code in (0, 1, None)

    def _options(self) -> list[str]:
        wanted = self._wanted
        options = [
            "--no-config", "--no-messages", "--json", "--sort=path", "--crlf", "--hidden", "--glob=!.git",
            # Only .gitignore files count, with or without a repository; those above are asked for each file.
            "--no-require-git", "--no-ignore-parent", "--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global",
            f"--max-filesize={LARGEST_FILE}", f"--max-count={wanted.most}", f"--context={wanted.context}",
        ]  # fmt: skip
        if wanted.ignore_case:
            options.append("--ignore-case")
        if wanted.literal:
            options.append("--fixed-strings")
        return [*options, f"--regexp={wanted.pattern}"]

    def _receive(self, data: bytes) -> None:
        *complete, rest = data.split(b"\n")
        for line in complete:
            self._rest += line
            self._take(bytes(self._rest))
            self._rest.clear()
        self._rest += rest

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return  # a complaint about the pattern
        kind, data = event["type"], event["data"]
        if kind == "begin":
            self._lines = []
        elif kind in ("match", "context"):
            text = _decoded(data["lines"]).removesuffix("\n").removesuffix("\r")
            self._lines.append(Line(data["line_number"], text, kind == "match"))
        elif kind == "end" and data["binary_offset"] is None and self._lines:
            path = Path(_decoded(data["path"], "surrogateescape"))
            if self._is_wanted(path):
                self._any = True
                self._found(path, self._lines)

    def _is_wanted(self, path: Path) -> bool:
        if self._ignored is None:
            return True
        glob = self._wanted.glob
        matches = glob is None or glob.matches(path.relative_to(self._wanted.path).as_posix())
        return matches and not self._ignored(path, False)


def _decoded(value: dict[str, Any], errors: str = "replace") -> str:
    """ripgrep gives what is no UTF-8 in base64."""
    return value["text"] if "text" in value else base64.b64decode(value["bytes"]).decode("utf-8", errors)
