"""System messages as a log of prompt and tool patches, and the state their replay gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sessions_app.core.messages import Json, text_of


def replay(messages: Iterable[Json]) -> Json | None:
    """One system message with the prompt and tools in force; None if there was no system message (01 §2).

    Contents are joined by blank lines, sections patched in order (null removes, an empty text stays),
    per message tools are removed, then added. The time is the first that a message has.
    """
    contents: list[str] = []
    sections: dict[str, str] = {}
    tools: dict[Any, Json] = {}
    timestamp: Any = None
    for message in messages:
        if message.get("role") != "system":
            continue
        timestamp = message.get("timestamp") if timestamp is None else timestamp
        if content := text_of(message.get("content"), "\n"):
            contents.append(content)
        _patch_sections(sections, message.get("sections"))
        for tool in _objects(message.get("toolsRemoved")):
            tools.pop(tool.get("name"), None)
        for tool in _objects(message.get("toolsAdded")):
            tools[tool.get("name")] = tool
    if timestamp is None and not tools:
        return None
    state: Json = {"role": "system", "content": "\n\n".join(contents)}
    if sections:
        state["sections"] = sections
    if tools:
        state["toolsAdded"] = list(tools.values())
    state["timestamp"] = 0 if timestamp is None else timestamp
    return state


def checkpoint(messages: Iterable[Json], *, timestamp: int) -> Json | None:
    """The replayed state as a compaction stores it, with the time of the compaction in milliseconds."""
    state = replay(messages)
    return None if state is None else {**state, "timestamp": timestamp}


def system_patch(known: Json | None, sections: Mapping[str, str], tools: Sequence[Json]) -> Json | None:
    """The system message, without its time, that turns the replayed state into these sections and tools (01 §2).

    None when nothing changed. A removed section is null; a changed tool is removed and added in one message.
    """
    state = known or {}
    old_sections: dict[str, str] = state.get("sections", {})
    patch: dict[str, str | None] = {
        name: text for name, text in sections.items() if old_sections.get(name) != text
    }
    patch.update((name, None) for name in old_sections if name not in sections)
    old_tools = {tool.get("name"): tool for tool in _objects(state.get("toolsAdded"))}
    wanted = {tool["name"]: tool for tool in tools}
    added = [tool for name, tool in wanted.items() if old_tools.get(name) != tool]
    removed = [tool for name, tool in old_tools.items() if wanted.get(name) != tool]
    if not patch and not added and not removed:
        return None
    message: Json = {"role": "system", "content": ""}
    if patch:
        message["sections"] = patch
    if added:
        message["toolsAdded"] = added
    if removed:
        message["toolsRemoved"] = removed
    return message


def _patch_sections(sections: dict[str, str], patch: Any) -> None:
    if not isinstance(patch, dict):
        return
    for name, text in patch.items():
        if text is None:
            sections.pop(name, None)
        elif isinstance(text, str):
            sections[name] = text


def _objects(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
