"""System messages as a log of prompt and tool patches, and the state their replay gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sessions_app.core.messages import Json


def replay(messages: Iterable[Json]) -> Json | None:
    """One system message with the prompt and tools in force; None if there was no system message (01 §2).

    Contents are joined by blank lines, sections patched in order (null removes, an empty text stays),
    per message tools are removed, then added. The time is the first message's.
    """
    contents: list[str] = []
    sections: dict[str, str] = {}
    tools: dict[Any, Json] = {}
    timestamp: Any = None
    found = False
    for message in messages:
        if message.get("role") != "system":
            continue
        if not found:
            found, timestamp = True, message.get("timestamp")
        content = message.get("content")
        if isinstance(content, str) and content:
            contents.append(content)
        _patch_sections(sections, message.get("sections"))
        for tool in _objects(message.get("toolsRemoved")):
            tools.pop(tool.get("name"), None)
        for tool in _objects(message.get("toolsAdded")):
            tools[tool.get("name")] = tool
    if not found:
        return None
    state: Json = {"role": "system", "content": "\n\n".join(contents)}
    if sections:
        state["sections"] = sections
    if tools:
        state["toolsAdded"] = list(tools.values())
    state["timestamp"] = timestamp
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
