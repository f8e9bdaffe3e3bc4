"""The built-in tools. A new one is one file and one line here."""

from __future__ import annotations

from importlib import import_module

from sessions_app.agent.tools.base import Tool

__all__ = ["DEFAULT_TOOLS", "create_tools"]

# Imported when they are made: who only shows what tools said does not need them.
_TOOLS = {
    "read": "ReadTool",
    "bash": "BashTool",
    "edit": "EditTool",
    "write": "WriteTool",
    "grep": "GrepTool",
    "find": "FindTool",
    "ls": "LsTool",
}
DEFAULT_TOOLS = tuple(_TOOLS)


def create_tools(names: tuple[str, ...] = DEFAULT_TOOLS, *, resize_images: bool = True) -> list[Tool]:
    """The tools of these names, in their order. An unknown name raises KeyError."""
    return [
        _create(name, _TOOLS[name], **({"resize_images": resize_images} if name == "read" else {}))
        for name in names
    ]


def _create(module: str, kind: str, **settings: bool) -> Tool:
    made: Tool = getattr(import_module(f"{__name__}.{module}"), kind)(**settings)
    return made
