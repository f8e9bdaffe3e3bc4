"""What a tool is: a name, a schema and one function that acts through the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sessions_app.agent.sandboxes.base import Sandbox
from sessions_app.agent.stop import StopSignal

Json = dict[str, Any]


class ToolError(Exception):
    """The tool could not do it and the model may try again; the text is what the model reads."""

    def __init__(self, message: str, *, details: Json | None = None) -> None:
        super().__init__(message)
        self.details = details


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model gets back: text and image blocks, and details for the browser (diff, exit code …).

    `terminate` asks for the pass to end after this batch; it counts only when every result asks (04 TX-07).
    `usage` is what the tool itself spent on a model, in the stored form of spec 01. `structured` makes the result for
    scripts, which neither the model nor the history gets (05 §1).
    """

    content: list[Json]
    details: Json = field(default_factory=dict)
    is_error: bool = False
    terminate: bool = False
    usage: Json | None = None
    structured: Callable[[], Json] | None = None


UpdateSink = Callable[[ToolResult], None]


class Tool(Protocol):
    """One file per tool. `parameters` is a JSON schema; `sequential` tools never run beside another."""

    name: str
    description: str
    parameters: Json
    sequential: bool

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        """Do it. Arguments are already validated against the schema. Raises ToolError.

        `on_update` takes partial results that replace one another; a stop kills what runs and raises ToolError.
        """
        ...
