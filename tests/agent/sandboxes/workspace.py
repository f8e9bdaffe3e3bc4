"""A workspace on disk for tests of sandboxes and tools, with a run of its own."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sessions_app.agent.sandboxes import processes
from sessions_app.agent.sandboxes.base import ExecResult
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools import create_tools
from sessions_app.agent.tools.arguments import prepare_arguments
from sessions_app.agent.tools.base import Json, ToolResult


@dataclass
class Workspace:
    """`folder` is the sandbox's cwd; what a test starts is gone when it ends."""

    folder: Path
    spill: Path
    marker: str = field(default_factory=lambda: f"test-{secrets.token_hex(6)}")
    updates: list[ToolResult] = field(default_factory=list)

    def sandbox(self, **settings: Any) -> LocalSandbox:
        return LocalSandbox(self.folder, run_marker=self.marker, spill_dir=self.spill, **settings)

    def file(self, name: str, content: str | bytes = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def call(
        self,
        tool: str,
        *,
        sandbox: LocalSandbox | None = None,
        stop: StopSignal | None = None,
        **arguments: Any,
    ) -> ToolResult:
        """As the loop does it: arguments prepared and checked, then run."""
        [chosen] = create_tools((tool,))
        prepared: Json = prepare_arguments(chosen, arguments)
        return chosen.run(prepared, sandbox or self.sandbox(), stop or StopSignal(), self.updates.append)

    def run(
        self, command: str, *, stop_after: float | None = None, timeout: float | None = None, **settings: Any
    ) -> tuple[ExecResult, bytes, float]:
        """How it ended, what it printed and how many seconds it took."""
        stop = StopSignal()
        if stop_after is not None:
            threading.Timer(stop_after, stop.request).start()
        output: list[bytes] = []
        started = time.monotonic()
        ended = self.sandbox(**settings).exec(command, stop=stop, on_data=output.append, timeout=timeout)
        return ended, b"".join(output), time.monotonic() - started

    def living(self) -> list[int]:
        return processes.living(self.marker)


def text_of(result: ToolResult) -> str:
    return "".join(block["text"] for block in result.content if block["type"] == "text")
