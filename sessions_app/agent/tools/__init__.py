"""The built-in tools. A new one is one file and one line here."""

from __future__ import annotations

from sessions_app.agent.tools.arguments import prepare_arguments
from sessions_app.agent.tools.base import Tool
from sessions_app.agent.tools.bash import BashTool
from sessions_app.agent.tools.edit import EditTool
from sessions_app.agent.tools.find import FindTool
from sessions_app.agent.tools.grep import GrepTool
from sessions_app.agent.tools.ls import LsTool
from sessions_app.agent.tools.read import ReadTool
from sessions_app.agent.tools.write import WriteTool

__all__ = ["DEFAULT_TOOLS", "create_tools", "prepare_arguments"]

_TOOLS: dict[str, type[Tool]] = {
    tool.name: tool for tool in (ReadTool, BashTool, EditTool, WriteTool, GrepTool, FindTool, LsTool)
}
DEFAULT_TOOLS: tuple[str, ...] = tuple(_TOOLS)


def create_tools(names: tuple[str, ...] = DEFAULT_TOOLS) -> list[Tool]:
    """The tools of these names, in their order. An unknown name raises KeyError."""
    return [_TOOLS[name]() for name in names]
