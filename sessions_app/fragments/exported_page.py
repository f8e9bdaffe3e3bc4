"""A whole session as one page that needs nothing else: every branch, the tree beside it, its data inside (01 IO-02).

No script and no address is in it: it can be sent to somebody, opened without a network, and read in ten years.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString, mark_safe

from sessions_app.core.bare_words import bare_words
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.messages import Json, block_text, blocks_of, text_of, tool_calls_of
from sessions_app.core.system_prompt_log import replay
from sessions_app.core.totals import total
from sessions_app.fragments import wording
from sessions_app.fragments.plain_text import one_line, visible
from sessions_app.fragments.speakers import speaker
from sessions_app.markdown import render_markdown

MOST_WITH_MARKDOWN = 3_000
"""Entries up to which words are set as Markdown; in a longer session they stand as they were written."""

_STYLES = ("css/layers.css", "css/tokens.css", "css/code.css", "css/exported.css")
_NAMES: dict[str, str] = {
    Kind.MODEL_CHANGE: "Model changed",
    Kind.THINKING_LEVEL_CHANGE: "Thinking changed",
    Kind.LABEL: "Label",
    Kind.SESSION_INFO: "Renamed",
    Kind.CONTEXT_EDIT: "Context edited",
    Kind.USAGE: "Usage",
    Kind.CUSTOM: "Extension state",
}

_SAID = ("label", "name", "modelId", "thinkingLevel")
_FRAME = frozenset({"type", "id", "parentId", "timestamp"})


@dataclass(frozen=True, slots=True)
class ExportedEntry:
    """One entry as it is shown. `ways` are the first entries of the branches that leave here, if there are several."""

    number: int
    kind: str
    who: str
    when: str
    shape: str
    blocks: list[dict[str, Any]]
    label: str
    active: bool
    begins_branch: bool
    parent: int | None
    ways: list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Landmark:
    """A line of the tree beside the page."""

    number: int
    words: str
    shape: str
    indent: int
    active: bool


@dataclass(frozen=True, slots=True)
class Node:
    """An entry with its place: `parent` by number (its seq)."""

    entry: CoreEntry
    parent: int | None

    @property
    def number(self) -> int:
        return self.entry.seq


def render_exported_page(
    *, title: str, header: Json, nodes: Sequence[Node], leaf: int | None, version: str
) -> str:
    """The page. `nodes` in the order of writing, with images inlined; `leaf` by number."""
    children: dict[int | None, list[int]] = defaultdict(list)
    of = {node.number: node for node in nodes}
    for node in nodes:
        children[node.parent if node.parent in of else None].append(node.number)
    active = _path_to(leaf, of)
    labels = _labels(nodes)
    markdown = len(nodes) <= MOST_WITH_MARKDOWN
    order = list(_in_order(children, active))
    shown = [
        _shown(of[number], depth, children, active, labels, markdown=markdown) for number, depth in order
    ]
    path = [of[number].entry for number in sorted(active)]
    prompt = replay(message for entry in path if (message := entry.message)) or {}
    data = {
        "header": header,
        "entries": [node.entry.record for node in nodes],
        "leafId": of[leaf].entry.id if leaf in of else None,
        "systemPrompt": {"content": prompt.get("content", ""), "sections": prompt.get("sections", {})},
        "tools": prompt.get("toolsAdded", []),
    }
    totals = total(node.entry for node in nodes)
    facts = {
        "title": title,
        "styles": _styles(),
        "entries": [entry for entry, _landmark in shown],
        "landmarks": [landmark for _entry, landmark in shown if landmark],
        "branches": sum(1 for number in of if not children[number]),
        "count": len(nodes),
        "tokens": wording.tokens(totals.spending.tokens),
        "cost": wording.money(totals.spending.cost),
        "exported": timezone.now(),
        "version": version,
        "data": base64.b64encode(json.dumps(data).encode()).decode(),
    }
    return render_to_string("sessions_app/export.html", facts)


@cache
def _styles() -> SafeString:
    texts = []
    for name in _STYLES:
        found = finders.find(name)
        if not isinstance(found, str):
            raise FileNotFoundError(f"the style sheet {name} is not among the static files")
        with open(found, encoding="utf-8") as file:
            texts.append(file.read())
    return mark_safe("\n".join(texts))  # noqa: S308 (our own files)


def _path_to(leaf: int | None, of: dict[int, Node]) -> set[int]:
    path: set[int] = set()
    while leaf in of and leaf not in path:
        path.add(leaf)
        leaf = of[leaf].parent
    return path


def _in_order(children: dict[int | None, list[int]], active: set[int]) -> Iterator[tuple[int, int]]:
    """Every number with the depth of its branch: a path to its tip first, the active one before the others."""
    waiting = [(number, 0) for number in reversed(_active_first(children[None], active))]
    while waiting:
        number, depth = waiting.pop()
        yield number, depth
        ways = _active_first(children[number], active)
        waiting += [(way, depth + (place > 0)) for place, way in reversed(list(enumerate(ways)))]


def _active_first(ways: list[int], active: set[int]) -> list[int]:
    return sorted(ways, key=lambda number: (number not in active, number))


def _labels(nodes: Sequence[Node]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for node in nodes:
        record = node.entry.record
        if node.entry.kind == Kind.LABEL and isinstance(record.get("targetId"), str):
            labels[record["targetId"]] = block_text(record, "label")
    return labels


def _shown(
    node: Node,
    depth: int,
    children: dict[int | None, list[int]],
    active: set[int],
    labels: dict[str, str],
    *,
    markdown: bool,
) -> tuple[ExportedEntry, Landmark | None]:
    entry = node.entry
    siblings = children[node.parent] if node.parent in children else children[None]
    ways = children[node.number]
    who, shape, blocks = _content(entry, markdown=markdown)
    label = labels.get(entry.id, "")
    is_branch = len(siblings) > 1
    words = one_line(bare_words(next((block["text"] for block in blocks if block.get("text")), "")[:400]), 70)
    shown = ExportedEntry(
        number=node.number,
        kind=entry.kind,
        who=who,
        when=_when(entry.timestamp),
        shape=shape,
        blocks=blocks,
        label=label,
        active=node.number in active,
        begins_branch=is_branch,
        parent=node.parent,
        ways=[(way, "this branch" if way in active else "another branch") for way in ways]
        if len(ways) > 1
        else [],
    )
    if shape in {"user", "compaction", "branch"} or is_branch or label:
        return shown, Landmark(node.number, label or words or who, shape, min(depth, 6), shown.active)
    return shown, None


def _when(timestamp: Any) -> str:
    moment = parse_datetime(timestamp) if isinstance(timestamp, str) else None
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def _content(entry: CoreEntry, *, markdown: bool) -> tuple[str, str, list[dict[str, Any]]]:
    """Who speaks, the shape of the node, and the blocks."""
    record, message = entry.record, entry.message
    if message is not None:
        return _of_message(message, markdown=markdown)
    match entry.kind:
        case Kind.COMPACTION:
            return "Compaction", "compaction", [_words(block_text(record, "summary"), markdown=markdown)]
        case Kind.BRANCH_SUMMARY:
            return "Branch summary", "branch", [_words(block_text(record, "summary"), markdown=markdown)]
        case Kind.CUSTOM_MESSAGE:
            return "Note for the agent", "custom", _blocks(record.get("content"), markdown=markdown)
        case _:
            said = next((text for name in _SAID if (text := block_text(record, name))), "")
            rest = {key: value for key, value in record.items() if key not in _FRAME}
            name = _NAMES.get(entry.kind, entry.kind or "Unknown")
            if said:
                return f"{name}: {one_line(said, 120)}", "note", []
            return name, "note", [_raw(rest)] if rest else []


def _of_message(message: Json, *, markdown: bool) -> tuple[str, str, list[dict[str, Any]]]:
    role = message.get("role")
    blocks = _blocks(message.get("content"), markdown=markdown)
    match role:
        case "user":
            return "You", "user", blocks
        case "assistant":
            calls = [
                {
                    "kind": "call",
                    "name": one_line(block_text(call, "name"), 80),
                    "raw": _printed(call.get("arguments")),
                }
                for call in tool_calls_of(message)
            ]
            if error := block_text(message, "errorMessage"):
                blocks = [*blocks, {"kind": "error", "text": visible(error)}]
            return speaker(message) or "Agent", "assistant", [*blocks, *calls]
        case "toolResult":
            failed = message.get("isError") is True
            text = visible(text_of(message.get("content"), "\n"))
            images = [block for block in blocks if block["kind"] == "image"]
            result = {"kind": "output", "text": text, "failed": failed}
            return (
                f"Result of {one_line(block_text(message, 'toolName'), 60) or 'a tool'}",
                "tool",
                [result, *images],
            )
        case "bashExecution":
            command = {"kind": "call", "name": "$", "raw": visible(block_text(message, "command"))}
            return (
                "Command",
                "shell",
                [command, {"kind": "output", "text": visible(block_text(message, "output"))}],
            )
        case "system":
            return (
                "Instructions",
                "note",
                [_raw({key: value for key, value in message.items() if key != "role"})],
            )
        case _:
            return one_line(str(role or "Message"), 60), "custom", blocks


def _blocks(content: Any, *, markdown: bool) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [_words(content, markdown=markdown)] if content.strip() else []
    shown: list[dict[str, Any]] = []
    for block in blocks_of(content):
        if block.get("type") == "text" and block_text(block).strip():
            shown.append(_words(block_text(block), markdown=markdown))
        elif block.get("type") == "thinking" and block_text(block, "thinking").strip():
            shown.append({"kind": "thinking", "text": visible(block_text(block, "thinking"))})
        elif block.get("type") == "image" and (source := _image(block)):
            shown.append({"kind": "image", "source": source})
    return shown


def _image(block: Json) -> str:
    media_type, data = block_text(block, "mimeType"), block_text(block, "data")
    if media_type not in {"image/png", "image/jpeg", "image/gif", "image/webp"}:
        return ""
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return ""
    return f"data:{media_type};base64,{data}"


def _words(text: str, *, markdown: bool) -> dict[str, Any]:
    html = mark_safe(render_markdown(text)) if markdown else None  # noqa: S308 (sanitised by render_markdown)
    return {"kind": "words", "text": visible(text), "html": html}


def _raw(value: Any) -> dict[str, Any]:
    return {"kind": "raw", "raw": _printed(value)}


def _printed(value: Any) -> str:
    return visible(value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False))
