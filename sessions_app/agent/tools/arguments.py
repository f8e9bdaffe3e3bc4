"""The arguments the model sent, put in order and checked before a tool sees them."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.protocols import Validator

from sessions_app.agent.tools.base import Json, Tool, ToolError
from sessions_app.agent.tools.clean_text import without_surrogates_inside

_MOST_FAULTS = 5
_LONGEST_VALUE = 120


def prepare_arguments(tool: Tool, arguments: Any) -> Json:
    """A copy of the arguments that fits the tool's schema. Raises ToolError with a text for the model.

    Half characters are replaced, the tool's own `prepare` mends what models often get wrong (05 ED-01), and a
    null for an optional field, a number or a truth value sent as text are read as what they mean.
    """
    if not isinstance(arguments, dict):
        raise ToolError(f"The arguments of {tool.name} must be a JSON object.")
    prepared: Json = without_surrogates_inside(arguments)
    mend = getattr(tool, "prepare", None)
    if mend is not None:
        prepared = mend(prepared)
    prepared = _mend_types(prepared, tool.parameters)
    validator = Draft202012Validator(tool.parameters)
    faults = sorted(
        validator.iter_errors(prepared), key=lambda fault: [str(part) for part in fault.absolute_path]
    )
    if faults:
        raise ToolError(_readable(tool, faults, validator))
    return prepared


def _mend_types(arguments: Json, schema: Json) -> Json:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    mended = {}
    for name, value in arguments.items():
        wanted = properties.get(name, {}).get("type")
        if value is None and name in properties and name not in required and wanted != "null":
            continue
        mended[name] = _mended(value, wanted)
    return mended


def _mended(value: Any, wanted: Any) -> Any:
    if wanted == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    if wanted in ("integer", "number") and isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return value
        return int(number) if number.is_integer() else number
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _readable(tool: Tool, faults: list[ValidationError], validator: Validator) -> str:
    lines = [f"The arguments of {tool.name} are not valid:"]
    for fault in faults[:_MOST_FAULTS]:
        place = ".".join(str(part) for part in fault.absolute_path)
        lines.append(f"- {place + ': ' if place else ''}{_shortened(fault.message)}")
    if len(faults) > _MOST_FAULTS:
        lines.append(f"- and {len(faults) - _MOST_FAULTS} more")
    fields = ", ".join(validator.schema.get("properties", {}))  # type: ignore[union-attr]
    required = ", ".join(validator.schema.get("required", ()))  # type: ignore[union-attr]
    lines.append(f"Fields: {fields or 'none'}. Required: {required or 'none'}.")
    return "\n".join(lines)


def _shortened(message: str) -> str:
    return (
        message
        if len(message) <= 2 * _LONGEST_VALUE
        else f"{message[:_LONGEST_VALUE]} … {message[-_LONGEST_VALUE:]}"
    )
