"""The `find` tool: files and folders by name (spec 05 §7)."""

from __future__ import annotations

from sessions_app.agent.sandboxes.base import Sandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Json, ToolError, ToolResult, UpdateSink
from sessions_app.agent.tools.clean_text import clean_name
from sessions_app.agent.tools.globs import Glob
from sessions_app.agent.tools.listing import limit_of, listing

_LIMIT = 1000


class FindTool:
    name = "find"
    description = (
        "Find files and folders by a pattern such as *.py (a name at any depth) or src/**/*.ts (a path from the "
        "searched folder). What .gitignore leaves out is left out, hidden files are not; a pattern in lower case "
        f"ignores case. At most {_LIMIT} results or 50 KB."
    )
    parameters: Json = {
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "description": "The pattern: * ? [a-z] {a,b} and ** for any folders",
            },
            "path": {
                "type": "string",
                "description": "The folder to search; the working folder when left out",
            },
            "limit": {"type": "number", "description": f"The most results ({_LIMIT} when left out)"},
        },
        "required": ["pattern"],
    }
    sequential = False

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        pattern: str = arguments["pattern"]
        limit = limit_of(arguments, _LIMIT)
        top = sandbox.resolve(arguments.get("path") or ".")
        glob = Glob(pattern, ignore_case=pattern == pattern.lower())
        lines: list[str] = []
        details: Json = {}
        notices = []
        for path, is_dir in sandbox.walk(top, stop):
            relative = path.relative_to(top).as_posix()
            if not glob.matches(relative):
                continue
            if len(lines) == limit:
                details["resultLimitReached"] = limit
                notices.append(
                    f"the limit of {limit} results is reached; for more use limit={limit * 2} or a narrower pattern"
                )
                break
            lines.append(clean_name(relative) + ("/" if is_dir else ""))
        if stop.is_set():
            raise ToolError("The search was stopped.")
        return listing(lines, nothing="Nothing matches the pattern.", notices=notices, details=details)
