"""Settings files: one JSON object each, a project's merged over a user's."""

from __future__ import annotations

from sessions_app.core.errors import MalformedPayload
from sessions_app.core.json_text import parse_json
from sessions_app.core.messages import Json

_BYTE_ORDER_MARK = "\ufeff"


def read_settings(text: str) -> Json:
    """The object in a settings file; nothing for an empty file (06 §3).

    Raises MalformedPayload for what is no JSON and for null, text, numbers and booleans; such a file is
    left out with a notice and never overwritten. A list has no settings in it, and is no error.
    """
    if not text:
        return {}
    try:
        value = parse_json(text.removeprefix(_BYTE_ORDER_MARK))
    except ValueError as error:
        raise MalformedPayload(f"the settings are not JSON: {error}") from error
    if isinstance(value, list):
        return {}
    if not isinstance(value, dict):
        raise MalformedPayload("the settings are not a JSON object")
    return value


def merge_settings(user: Json, project: Json) -> Json:
    """Project over user: objects merge, everything else (lists and null too) replaces (06 §3)."""
    merged = dict(user)
    pending = [(merged, project)]
    while pending:
        target, source = pending.pop()
        for name, value in source.items():
            base = target.get(name)
            if isinstance(value, dict) and isinstance(base, dict):
                target[name] = dict(base)
                pending.append((target[name], value))
            else:
                target[name] = value
    return merged
