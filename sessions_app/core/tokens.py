"""How big messages are, how full a context is, and when it is too full."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.json_text import print_compact_json
from sessions_app.core.messages import Json, block_text, blocks_of, number_of, text_of
from sessions_app.core.projection import Context
from sessions_app.core.system_prompt_log import replay

IMAGE_UNITS = 4800
UNITS_PER_TOKEN = 4
_USAGE_PARTS = ("input", "output", "cacheRead", "cacheWrite")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of a context: reported ones of an answer plus estimates of what came after it.

    `last_usage_index` is that answer's position in the message list, None if nothing reported was used.
    """

    tokens: int
    usage_tokens: int
    trailing_tokens: int
    last_usage_index: int | None


class Threshold(Protocol):
    """The two compaction settings a trigger needs."""

    @property
    def enabled(self) -> Any: ...
    @property
    def reserve_tokens(self) -> int: ...


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, which all limits of session files count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def estimate_tokens(message: Json) -> int:
    """A quarter of the message's UTF-16 units, rounded up (02 §7)."""
    return -(-_units(message) // UNITS_PER_TOKEN)


def _units(message: Json) -> int:
    match message.get("role"):
        case "user" | "custom" | "toolResult":
            content = message.get("content")
            images = sum(1 for block in blocks_of(content) if block.get("type") == "image")
            return utf16_length(text_of(content)) + IMAGE_UNITS * images
        case "assistant":
            return sum(map(_assistant_block_units, blocks_of_list(message.get("content"))))
        case "bashExecution":
            return _field_units(message, "command") + _field_units(message, "output")
        case "branchSummary" | "compactionSummary":
            return _field_units(message, "summary")
        case "system":
            return _system_units(message)
        case _:
            return 0


def blocks_of_list(content: Any) -> list[Json]:
    # An answer whose content is a bare string counts nothing in the reference; no program writes one.
    return blocks_of(content) if isinstance(content, list) else []


def _field_units(holder: Json, field: str) -> int:
    return utf16_length(block_text(holder, field))


def _assistant_block_units(block: Json) -> int:
    match block.get("type"):
        case "text":
            return _field_units(block, "text")
        case "thinking":
            return _field_units(block, "thinking")
        case "toolCall":
            arguments = utf16_length(print_compact_json(block["arguments"])) if "arguments" in block else 0
            return _field_units(block, "name") + arguments
        case _:
            return 0


def _system_units(message: Json) -> int:
    units = utf16_length(text_of(message.get("content")))
    sections = message.get("sections")
    if isinstance(sections, dict):
        units += sum(utf16_length(text) for text in sections.values() if isinstance(text, str))
    tools = message.get("toolsAdded")
    return units + utf16_length(print_compact_json(tools)) if isinstance(tools, list) else units


def tokens_of_usage(usage: Any) -> int | float | None:
    """`totalTokens`, or the sum of the four parts if that is 0; None where a needed number is missing."""
    if not isinstance(usage, dict):
        return None
    total = number_of(usage.get("totalTokens"))
    if total:
        return total
    parts = [number_of(usage.get(part)) for part in _USAGE_PARTS]
    return None if None in parts else sum(part for part in parts if part is not None)


def reported_tokens(message: Json) -> int | float | None:
    """What an answer says the context held; None for other messages, failed answers, and usage of nothing or without end."""
    if message.get("role") != "assistant" or message.get("stopReason") in ("aborted", "error"):
        return None
    tokens = tokens_of_usage(message.get("usage"))
    return tokens if tokens is not None and 0 < tokens < math.inf else None


def estimate_context(messages: Sequence[Json]) -> Estimate:
    """The plain estimate: the newest reported usage plus estimates of later messages (02 §7)."""
    for index in range(len(messages) - 1, -1, -1):
        reported = reported_tokens(messages[index])
        if reported is not None:
            trailing = estimate_messages(messages[index + 1 :])
            return Estimate(int(reported) + trailing, int(reported), trailing, index)
    return _pure_estimate(estimate_messages(messages))


def estimate_projected(context: Context, path: Sequence[Entry]) -> Estimate:
    """The estimate that distrusts usage from before the newest context edit or compaction of the path.

    Without trusted usage the replayed system message counts once (02 §7).
    """
    plain = estimate_context(context.messages)
    if plain.last_usage_index is not None and _is_fresh(context, path, plain.last_usage_index):
        return plain
    system = replay(context.messages)
    tokens = estimate_messages(message for message in context.messages if message.get("role") != "system")
    return _pure_estimate(tokens + (0 if system is None else estimate_tokens(system)))


def _is_fresh(context: Context, path: Sequence[Entry], message_index: int) -> bool:
    answer = source_of(context, message_index)
    for entry in reversed(path):
        if entry is answer:
            return True
        if entry.kind in (Kind.CONTEXT_EDIT, Kind.COMPACTION):
            return False
    return False


def source_of(context: Context, message_index: int) -> Entry:
    """The entry a message of the flat list comes from."""
    position = 0
    for item in context.entries:
        position += len(item.messages)
        if message_index < position:
            return item.entry
    raise IndexError(message_index)


def estimate_messages(messages: Iterable[Json]) -> int:
    """The plain sum of estimates, as shown after a compaction."""
    return sum(map(estimate_tokens, messages))


def _pure_estimate(tokens: int) -> Estimate:
    return Estimate(tokens, 0, tokens, None)


def should_compact(tokens: float, window: int, settings: Threshold) -> bool:
    """Whether the context leaves less than the reserve of the window: strictly more (02 §1)."""
    return bool(settings.enabled) and tokens > window - settings.reserve_tokens
