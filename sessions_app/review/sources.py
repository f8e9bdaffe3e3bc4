"""The conversation a summary replaced, as texts with a speaker, an entry each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from sessions_app.core.json_text import print_compact_json
from sessions_app.core.messages import Json, block_text, blocks_of, text_of, tool_calls_of
from sessions_app.core.transcript import cut_tool_result, user_text_of

Speaker = Literal["user", "assistant", "tool"]
_SHELLS = frozenset({"bash", "shell"})
_MADE_UP = frozenset({"custom", "branchSummary", "compactionSummary"})


@dataclass(frozen=True, slots=True)
class Source:
    """One message: the entry's seq, who speaks, the words as they are shown, and the commands among them.

    `own` is where the speaker's own words end in `text`; behind them stand the calls of tools. Of a tool's result
    only what a summariser is shown counts (02 §9).
    """

    seq: int
    speaker: Speaker
    text: str
    own: int
    commands: tuple[str, ...] = ()
    name: str = ""
    call_ids: tuple[str, ...] = field(default=())


def sources_of(messages: Iterable[tuple[int, Json]]) -> list[Source]:
    """The messages with their entries' seqs, in path order; those without words are left out."""
    found = []
    for seq, message in messages:
        source = _source(seq, message)
        if source is not None and source.text.strip():
            found.append(source)
    return found


def _source(seq: int, message: Json) -> Source | None:
    match message.get("role"):
        case "assistant":
            return _answer(seq, message)
        case "toolResult":
            text = cut_tool_result(text_of(message.get("content")))
            return Source(seq, "tool", text, len(text), name=block_text(message, "toolName"))
        case "bashExecution":
            text = user_text_of(message)
            return Source(seq, "tool", text, len(text), (block_text(message, "command"),), "!")
        case "system":
            return None
        case role:
            text = user_text_of(message)
            speaker: Speaker = "assistant" if role in _MADE_UP else "user"
            return Source(seq, speaker, text, len(text))


def _answer(seq: int, message: Json) -> Source:
    blocks = blocks_of(message.get("content"))
    words = "\n".join(block_text(block) for block in blocks if block.get("type") == "text")
    calls, commands = [], []
    for call in tool_calls_of(message):
        name = block_text(call, "name")
        arguments = call.get("arguments")
        values = arguments if isinstance(arguments, dict) else {}
        command = values.get("command")
        if name in _SHELLS and isinstance(command, str):
            commands.append(command)
        shown = ", ".join(
            f"{key}: {value if isinstance(value, str) else print_compact_json(value)}"
            for key, value in values.items()
        )
        calls.append(f"{name} {cut_tool_result(shown)}")
    text = "\n".join([part for part in (words, *calls) if part])
    return Source(seq, "assistant", text, len(words), tuple(commands))
