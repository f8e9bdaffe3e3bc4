"""Which tools a session's agent has, and which of them ask a person first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessions_app.agent.tools import DEFAULT_TOOLS, create_tools
from sessions_app.agent.tools.base import Tool

READ_ONLY: Final = "read_only"
EDIT: Final = "edit"
ALL: Final = "all"
ASK: Final = "ask"

_LOOKING: Final = ("read", "grep", "find", "ls")
CHANGING: Final = frozenset({"bash", "edit", "write"})

PRESETS: Final[dict[str, tuple[str, ...]]] = {
    READ_ONLY: tuple(name for name in DEFAULT_TOOLS if name in _LOOKING),
    EDIT: tuple(name for name in DEFAULT_TOOLS if name != "bash"),
    ALL: DEFAULT_TOOLS,
    ASK: DEFAULT_TOOLS,
}

Permit = Callable[[int, str], str | None]
"""May the call at this place of its batch, of the tool of this name, be carried out? An empty text: yes; a text: no,
and this is what the model is told; None: a person has to be asked first."""


def tools_of(preset: str, *, resize_images: bool = True) -> list[Tool]:
    """The tools of a preset, in the order of all; an unknown one has those that change nothing."""
    return create_tools(PRESETS.get(preset, PRESETS[READ_ONLY]), resize_images=resize_images)


def asks_first(preset: str, tool: str) -> bool:
    return preset == ASK and tool in CHANGING
