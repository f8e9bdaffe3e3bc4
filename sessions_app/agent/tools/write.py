"""The `write` tool: a whole file, as given (spec 05 §4)."""

from __future__ import annotations

from pathlib import Path

from sessions_app.agent.sandboxes.base import Sandbox, SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Json, ToolError, ToolResult, UpdateSink
from sessions_app.agent.tools.clean_text import clean_name
from sessions_app.agent.tools.diff import LONGEST, change_details
from sessions_app.agent.tools.file_locks import changing
from sessions_app.agent.tools.listing import text_result
from sessions_app.agent.tools.truncation import format_size


class WriteTool:
    name = "write"
    description = (
        "Write a file. Missing folders are made; a file that is there is replaced. "
        "For changes to an existing file use edit."
    )
    parameters: Json = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the working folder or absolute"},
            "content": {"type": "string", "description": "The whole content"},
        },
        "required": ["path", "content"],
    }
    sequential = False

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        content: str = arguments["content"]
        path = sandbox.resolve(arguments["path"])
        with changing(path):
            if stop.is_set():
                raise ToolError("Nothing was written: the run was stopped.")
            created = sandbox.stat(path) is None
            before = "" if created else _text_before(sandbox, path)
            encoded = content.encode()
            sandbox.write_bytes(path, encoded)
        details: Json = {"path": str(path)} if before is None else change_details(path, before, content)
        details["created"] = created
        return text_result(f"Wrote {format_size(len(encoded))} to {clean_name(arguments['path'])}.", details)

    def preview(self, arguments: Json, sandbox: Sandbox) -> Json:
        """The details of the result, with nothing written. Raises SandboxError like `run`."""
        path = sandbox.resolve(arguments["path"])
        created = sandbox.stat(path) is None
        before = "" if created else _text_before(sandbox, path)
        if before is None:
            return {"path": str(path), "created": created}
        return change_details(path, before, arguments["content"]) | {"created": created}


def _text_before(sandbox: Sandbox, path: Path) -> str | None:
    """What a text file held; None when it cannot be compared."""
    try:
        content = sandbox.read_bytes(path, LONGEST + 1)
        return content.decode() if len(content) <= LONGEST else None
    except (SandboxError, UnicodeDecodeError):
        return None
