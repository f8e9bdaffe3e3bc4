"""The `grep` tool: lines that match a pattern, in files below a folder (spec 05 §7)."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

from sessions_app.agent.sandboxes.base import Sandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Json, ToolError, ToolResult, UpdateSink
from sessions_app.agent.tools.clean_text import clean_file_text, clean_name
from sessions_app.agent.tools.globs import Glob
from sessions_app.agent.tools.line_search import LARGEST_FILE, Enough, Line, Search, search
from sessions_app.agent.tools.listing import limit_of, listing
from sessions_app.agent.tools.truncation import format_size

_LIMIT = 100
_LONGEST_LINE = 500
_CUT = " … [line cut]"
_MOST_CONTEXT = 100


class GrepTool:
    name = "grep"
    description = (
        "Search the content of files for a regular expression, line by line. What .gitignore leaves out is left out, "
        f"hidden files are not; binary files and files over {format_size(LARGEST_FILE)} are skipped. "
        f"At most {_LIMIT} matches or 50 KB; lines are cut at {_LONGEST_LINE} characters."
    )
    parameters: Json = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The regular expression, or text with literal"},
            "path": {"type": "string", "description": "The folder or file; the working folder when left out"},
            "glob": {"type": "string", "description": "Only files that match, such as *.py or src/**/*.ts"},
            "ignoreCase": {"type": "boolean", "description": "Take capital and small letters as alike"},
            "literal": {"type": "boolean", "description": "Take the pattern as plain text"},
            "context": {"type": "number", "description": "Lines to show before and after each match"},
            "limit": {"type": "number", "description": f"The most matches ({_LIMIT} when left out)"},
        },
        "required": ["pattern"],
    }
    sequential = False

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        limit = limit_of(arguments, _LIMIT)
        path = sandbox.resolve(arguments.get("path") or ".")
        found = sandbox.stat(path)
        if found is None:
            raise ToolError(f"{str(path)!r} does not exist.")
        wanted = Search(
            pattern=arguments["pattern"],
            path=path,
            is_dir=stat.S_ISDIR(found.st_mode),
            glob=Glob(arguments["glob"]) if arguments.get("glob") else None,
            ignore_case=bool(arguments.get("ignoreCase")),
            literal=bool(arguments.get("literal")),
            context=min(_MOST_CONTEXT, max(0, int(arguments.get("context", 0)))),
            most=limit + 1,
        )
        shown = _Shown(wanted, limit)
        with suppress(Enough):
            search(wanted, sandbox, stop, shown.add)
        if stop.is_set():
            raise ToolError("The search was stopped.")
        return shown.result()


class _Shown:
    """The lines of the result, up to the limit."""

    def __init__(self, wanted: Search, limit: int) -> None:
        self._wanted = wanted
        self._limit = limit
        self._lines: list[str] = []
        self._matches = 0
        self._more = False
        self._cut = False

    def add(self, path: Path, lines: list[Line]) -> None:
        name = clean_name(
            path.relative_to(self._wanted.path).as_posix() if self._wanted.is_dir else path.name
        )
        last = 0
        if self._matches == self._limit:
            self._more = True
            raise Enough
        for line in lines:
            is_shown_match = line.is_match and self._matches < self._limit
            self._more = self._more or (line.is_match and not is_shown_match)
            if is_shown_match:
                self._matches += 1
                last = line.number
            elif self._matches == self._limit and line.number > last + self._wanted.context:
                continue  # the surroundings of a match that is not shown
            mark = ":" if is_shown_match else "-"
            self._lines.append(f"{name}{mark}{line.number}{mark} {self._text(line)}")
        if self._more:
            raise Enough

    def result(self) -> ToolResult:
        notices, details = [], {}
        if self._more:
            details["matchLimitReached"] = self._limit
            notices.append(
                f"the limit of {self._limit} matches is reached; for more use limit={self._limit * 2} "
                "or a narrower pattern"
            )
        if self._cut:
            details["linesTruncated"] = True
            notices.append(f"long lines are cut at {_LONGEST_LINE} characters; read shows them whole")
        return listing(self._lines, nothing="No line matches.", notices=notices, details=details)

    def _text(self, line: Line) -> str:
        text = clean_file_text(line.text).replace("\r", "\u240d")
        if len(text) <= _LONGEST_LINE:
            return text
        self._cut = True
        return text[:_LONGEST_LINE] + _CUT
