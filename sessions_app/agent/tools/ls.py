"""The `ls` tool: what is in a folder (spec 05 §7)."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from sessions_app.agent.sandboxes.base import Sandbox, SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Json, ToolError, ToolResult, UpdateSink
from sessions_app.agent.tools.clean_text import clean_name
from sessions_app.agent.tools.listing import limit_of, listing

_LIMIT = 500


class LsTool:
    name = "ls"
    description = (
        "List a folder: names in alphabetical order, hidden ones included, folders with a slash at the end. "
        f"At most {_LIMIT} entries or 50 KB."
    )
    parameters: Json = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The folder; the working folder when left out"},
            "limit": {"type": "number", "description": f"The most entries to list ({_LIMIT} when left out)"},
        },
    }
    sequential = False

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        limit = limit_of(arguments, _LIMIT)
        folder = sandbox.resolve(arguments.get("path") or ".")
        lines: list[str] = []
        details: dict[str, Any] = {}
        notices = []
        for name in sorted(sandbox.list_dir(folder), key=lambda name: (name.casefold(), name)):
            if stop.is_set():
                raise ToolError("Listing the folder was stopped.")
            shown = _shown(sandbox, folder, name)
            if shown is None:
                continue
            if len(lines) == limit:
                details["entryLimitReached"] = limit
                notices.append(f"the limit of {limit} entries is reached; for more use limit={limit * 2}")
                break
            lines.append(shown)
        return listing(lines, nothing="(empty folder)", notices=notices, details=details)


def _shown(sandbox: Sandbox, folder: Path, name: str) -> str | None:
    """The name as listed; None for what is gone meanwhile and for links that lead nowhere."""
    found = sandbox.stat(folder / name)
    if found is not None and stat.S_ISLNK(found.st_mode):
        try:
            found = sandbox.stat(sandbox.resolve(str(folder / name)))
        except SandboxError:  # where it leads is not ours to look at
            return clean_name(name)
    if found is None:
        return None
    return clean_name(name) + ("/" if stat.S_ISDIR(found.st_mode) else "")
