"""Messages as plain text for a summary prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sessions_app.core.json_text import in_key_order, print_compact_json
from sessions_app.core.messages import Json, block_text, blocks_of, text_of

TOOL_RESULT_LIMIT = 2000
"""UTF-16 units of a tool result that are shown to the summariser."""

COMPACTION_PREFIX = (
    "Everything said before this point has been condensed into the following summary:\n\n<summary>\n"
)
COMPACTION_SUFFIX = "\n</summary>"
BRANCH_PREFIX = "The conversation returned here from another branch; this summary tells what happened there:\n\n<summary>\n"
BRANCH_SUFFIX = "</summary>"


def serialise(messages: Iterable[Json]) -> str:
    """The conversation text: parts under `[User]: ` and the like, separated by blank lines (02 §9)."""
    return "\n\n".join(part for message in messages for part in _parts(message))


def _parts(message: Json) -> Iterator[str]:
    role = message.get("role")
    if role == "assistant":
        yield from _assistant_parts(message)
    elif role == "toolResult":
        text = text_of(message.get("content"))
        if text:
            yield f"[Tool result]: {cut_tool_result(text)}"
    else:
        text = user_text_of(message)
        if text:
            yield f"[User]: {text}"


def _assistant_parts(message: Json) -> Iterator[str]:
    blocks = blocks_of(message.get("content"))
    texts = [block_text(block) for block in blocks if block.get("type") == "text"]
    if texts:
        yield "[Assistant]: " + "\n".join(texts)
    calls = [_call_text(block) for block in blocks if block.get("type") == "toolCall"]
    if calls:
        yield "[Assistant tool calls]: " + "; ".join(calls)


def _call_text(call: Json) -> str:
    arguments = ", ".join(f"{key}={print_compact_json(value)}" for key, value in _named_arguments(call))
    return f"{block_text(call, 'name')}({arguments})"


def _named_arguments(call: Json) -> Iterator[tuple[str, Any]]:
    """Arguments that are no object list their indices, by UTF-16 units for text; a number has none."""
    arguments = call.get("arguments")
    if isinstance(arguments, dict):
        yield from ((key, arguments[key]) for key in in_key_order(arguments))
    elif isinstance(arguments, list):
        yield from ((str(index), item) for index, item in enumerate(arguments))
    elif isinstance(arguments, str):
        yield from ((str(index), unit) for index, unit in enumerate(_utf16_units(arguments)))


def _utf16_units(text: str) -> list[str]:
    encoded = text.encode("utf-16-be", "surrogatepass")
    return [chr(int.from_bytes(encoded[at : at + 2])) for at in range(0, len(encoded), 2)]


def cut_tool_result(text: str) -> str:
    """The first 2000 UTF-16 units, one less where that would halve a character, and how many are missing."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    length = len(encoded) // 2
    if length <= TOOL_RESULT_LIMIT:
        return text
    head = encoded[: TOOL_RESULT_LIMIT * 2]
    if _halves_a_pair(head[-2:], encoded[len(head) : len(head) + 2]):
        head = head[:-2]
    shown = head.decode("utf-16-le", "surrogatepass")
    return f"{shown}\n\n[... {length - TOOL_RESULT_LIMIT} more characters truncated]"


def _halves_a_pair(last: bytes, following: bytes) -> bool:
    high, low = int.from_bytes(last, "little"), int.from_bytes(following, "little")
    return 0xD800 <= high <= 0xDBFF and 0xDC00 <= low <= 0xDFFF


def user_text_of(message: Json) -> str:
    """What the model reads as the user's words; empty for roles that say nothing in that voice."""
    match message.get("role"):
        case "user" | "custom":
            return text_of(message.get("content"))
        case "bashExecution":
            return "" if message.get("excludeFromContext") else bash_text(message)
        case "branchSummary":
            return BRANCH_PREFIX + block_text(message, "summary") + BRANCH_SUFFIX
        case "compactionSummary":
            return COMPACTION_PREFIX + block_text(message, "summary") + COMPACTION_SUFFIX
        case _:
            return ""


def bash_text(message: Json) -> str:
    """A command the user ran and its output, as the model reads it (05 §8)."""
    output = block_text(message, "output")
    text = f"Ran `{block_text(message, 'command')}`\n"
    text += f"```\n{output}\n```" if output else "(no output)"
    exit_code = message.get("exitCode")
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif exit_code is not None and exit_code != 0:
        text += f"\n\nCommand exited with code {print_compact_json(exit_code)}"
    if message.get("truncated") and message.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return text
