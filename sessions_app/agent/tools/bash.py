"""The `bash` tool: a shell command in the workspace (spec 05 §6)."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

from sessions_app.agent.sandboxes.base import ExecResult, Sandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Json, ToolError, ToolResult, UpdateSink
from sessions_app.agent.tools.command_output import CommandOutput, Output
from sessions_app.agent.tools.listing import text_result
from sessions_app.agent.tools.partial_output import PartialOutput
from sessions_app.agent.tools.truncation import MAX_BYTES, MAX_LINES, format_size

_UPDATE_SECONDS = 0.1
_LONGEST_TIMEOUT = 2147483.647
_NO_OUTPUT = "(no output)"


class BashTool:
    name = "bash"
    description = (
        "Run a bash command in the working folder. Standard output and standard error come back together; of a "
        f"long output the last {MAX_LINES} lines or {MAX_BYTES // 1024} KB, and the path of a file with all of it. "
        "There is no terminal and no input. Background processes live until the run ends."
    )
    parameters: Json = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command"},
            "timeout": {
                "type": "number",
                "description": "Seconds after which it is ended (none when left out)",
            },
        },
        "required": ["command"],
    }
    sequential = False

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        timeout = _checked(arguments.get("timeout"))
        if stop.is_set():
            raise ToolError("The command was not started: the run was stopped.")
        output = CommandOutput(sandbox)
        started = time.monotonic()
        with PartialOutput(
            output, lambda text: on_update(text_result(text)), seconds=_UPDATE_SECONDS
        ) as partial:
            ended = sandbox.exec(arguments["command"], stop=stop, on_data=partial.add, timeout=timeout)
        seconds = time.monotonic() - started
        final = output.finish()
        text, details = _told(final, ended, seconds)
        details["durationMs"] = round(seconds * 1000)
        if ended.stopped:
            raise ToolError(text, details=details)
        is_error = ended.exit_code != 0 or ended.timed_out or ended.output_exceeded
        return replace(
            text_result(text, details, is_error=is_error), structured=lambda: _structured(output, ended)
        )


def _structured(output: CommandOutput, ended: ExecResult) -> Json:
    text, left_out = output.for_scripts()
    return {
        "output": text,
        "exitCode": ended.exit_code,
        "leftOutBytes": left_out,
        "timedOut": ended.timed_out,
    }


def _checked(timeout: Any) -> float | None:
    if timeout is None:
        return None
    if not math.isfinite(timeout) or not 0 < timeout <= _LONGEST_TIMEOUT:
        raise ToolError(f"timeout must be more than 0 and at most {_LONGEST_TIMEOUT} seconds.")
    return float(timeout)


def _told(output: Output, ended: ExecResult, seconds: float) -> tuple[str, Json]:
    """The text for the model and the details for the browser."""
    details: Json = {"exitCode": ended.exit_code}
    parts = [output.text.rstrip("\n") or _NO_OUTPUT]
    if output.truncation.truncated:
        details["truncation"] = output.truncation.to_details()
        parts.append(f"[{_left_out(output)}]")
    if output.path is not None:
        details["fullOutputPath"] = str(output.path)
    if said := _ending(ended, seconds):
        parts.append(said)
    return "\n\n".join(parts), details


def _left_out(output: Output) -> str:
    cut = output.truncation
    where = f"All of it: {output.path}" if output.path is not None else output.problem
    if cut.last_line_partial:
        return f"The last {format_size(cut.output_bytes)} of line {cut.total_lines} are shown. {where}"
    first = cut.total_lines - cut.output_lines + 1
    limit = f" (limit {format_size(cut.max_bytes)})" if cut.truncated_by == "bytes" else ""
    return f"Lines {first}-{cut.total_lines} of {cut.total_lines} are shown{limit}. {where}"


def _ending(ended: ExecResult, seconds: float) -> str:
    alive = (
        f" {ended.survivors} of its processes could not be ended and may still be running."
        if ended.survivors
        else ""
    )
    if ended.stopped or ended.timed_out or ended.output_exceeded:
        if ended.stopped:
            said = "The command was stopped."
        elif ended.timed_out:
            said = f"The command was ended after {seconds:.0f} s: its time was up."
        else:
            said = "The command was ended because it printed more than is allowed here."
        if ended.lingering:
            said += " The shell had already finished; only background processes still held its output."
        return said + alive
    if ended.exit_code:
        return f"The command exited with code {ended.exit_code}."
    return ""
