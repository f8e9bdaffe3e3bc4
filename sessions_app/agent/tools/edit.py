"""The `edit` tool: replaces places of a text file (spec 05 §5)."""

from __future__ import annotations

import json
from pathlib import Path

from sessions_app.agent.sandboxes.base import Sandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Json, ToolError, ToolResult, UpdateSink
from sessions_app.agent.tools.clean_text import clean_name
from sessions_app.agent.tools.diff import change_details
from sessions_app.agent.tools.edit_matching import Edit, Edited, apply_edits
from sessions_app.agent.tools.file_locks import changing
from sessions_app.agent.tools.listing import text_result
from sessions_app.agent.tools.truncation import format_size

_LARGEST = 50 * 1024 * 1024
_BOM = "\ufeff"
_STOPPED = "The file was not changed: the run was stopped."


class EditTool:
    name = "edit"
    description = (
        "Change a text file by replacing pieces of it. Each oldText must occur exactly once in the file as it is now "
        "and is replaced by its newText; pieces must not overlap. Several changes to one file belong in one call. "
        "Line endings are kept."
    )
    parameters: Json = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the working folder or absolute"},
            "edits": {
                "type": "array",
                "description": "The replacements",
                "items": {
                    "type": "object",
                    "properties": {
                        "oldText": {
                            "type": "string",
                            "description": "What is there, with enough around it to be unique",
                        },
                        "newText": {"type": "string", "description": "What replaces it"},
                    },
                    "required": ["oldText", "newText"],
                },
            },
        },
        "required": ["path", "edits"],
    }
    sequential = False

    def prepare(self, arguments: Json) -> Json:
        """Forms that models send instead of a list of edits (05 ED-01)."""
        prepared = dict(arguments)
        edits = prepared.get("edits")
        if isinstance(edits, str):
            try:
                edits = json.loads(edits)
            except ValueError:
                return prepared
        if isinstance(edits, dict):
            edits = [edits]
        if isinstance(prepared.get("oldText"), str) and isinstance(prepared.get("newText"), str):
            legacy = {"oldText": prepared.pop("oldText"), "newText": prepared.pop("newText")}
            edits = [*(edits if isinstance(edits, list) else []), legacy]
        if edits is not None:
            prepared["edits"] = edits
        return prepared

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        edits = _edits(arguments)
        path = sandbox.resolve(arguments["path"])
        with changing(path):
            _go_on(stop)
            before = _read(sandbox, path)
            _go_on(stop)
            after, edited = _edited(before, edits)
            _go_on(stop)
            sandbox.write_bytes(path, after.encode("utf-8", "surrogateescape"))
        return text_result(_told(arguments["path"], edits, edited), change_details(path, before, after))

    def preview(self, arguments: Json, sandbox: Sandbox) -> Json:
        """The details of the result, with nothing changed. Raises ToolError and SandboxError like `run`."""
        path = sandbox.resolve(arguments["path"])
        before = _read(sandbox, path)
        return change_details(path, before, _edited(before, _edits(arguments))[0])


def _edits(arguments: Json) -> list[Edit]:
    return [Edit(edit["oldText"], edit["newText"]) for edit in arguments["edits"]]


def _edited(before: str, edits: list[Edit]) -> tuple[str, Edited]:
    """The whole new text, and what the matching says about it."""
    bom, text = (_BOM, before[1:]) if before.startswith(_BOM) else ("", before)
    edited = apply_edits(text, edits)
    return bom + edited.text, edited


def _go_on(stop: StopSignal) -> None:
    if stop.is_set():
        raise ToolError(_STOPPED)


def _read(sandbox: Sandbox, path: Path) -> str:
    content = sandbox.read_bytes(path, _LARGEST + 1)
    if len(content) > _LARGEST:
        raise ToolError(f"{str(path)!r} is too large to edit (more than {format_size(_LARGEST)}).")
    # Bytes that are no UTF-8 come back as they were.
    return content.decode("utf-8", "surrogateescape")


def _told(named: str, edits: list[Edit], edited: Edited) -> str:
    places = "1 place" if len(edits) == 1 else f"{len(edits)} places"
    text = f"Changed {places} in {clean_name(named)}."
    if edited.fuzzy:
        text += " The text was found only when quotes, dashes and spaces were taken as alike."
    return text
