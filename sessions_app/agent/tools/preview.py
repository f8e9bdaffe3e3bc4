"""What a call would change, before it does: shown to the person who is asked to allow it."""

from __future__ import annotations

from sessions_app.agent.sandboxes.base import Sandbox, SandboxError
from sessions_app.agent.tools.base import Json, ToolError
from sessions_app.agent.tools.edit import EditTool
from sessions_app.agent.tools.write import WriteTool

_TOOLS: dict[str, EditTool | WriteTool] = {"edit": EditTool(), "write": WriteTool()}


def preview(tool: str, arguments: Json, sandbox: Sandbox) -> Json:
    """The details its result would have (`{path, diff, added, removed, …}`), with nothing changed yet.

    Empty for a tool that changes no file by itself; `{problem}` says why the call would fail as things are.
    """
    changing = _TOOLS.get(tool)
    if changing is None:
        return {}
    try:
        return changing.preview(arguments, sandbox)
    except (ToolError, SandboxError) as error:
        return {"problem": str(error)}
