"""Puts a streamed answer together: block by block, with the events the loop gets and the message at the end."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sessions_app.agent.providers.base import Json, ProviderEvent
from sessions_app.agent.request_content import clean_text, clean_value

# Which field of a block its deltas fill, and the first part of its events' names.
_FIELDS = {"text": "text", "thinking": "thinking"}
_NAMES = {"text": "text", "thinking": "thinking", "toolCall": "toolcall"}


@dataclass(slots=True)
class _Open:
    block: Json
    pieces: list[str] = field(default_factory=list)
    held: str = ""  # the first half of a character whose second half has not come yet
    closed: bool = False


class AnswerBuilder:
    """Blocks are numbered in the order they begin, which is their position in the finished message."""

    def __init__(self, *, api: str, provider: str, model: str) -> None:
        self._head: Json = {"role": "assistant", "api": api, "provider": provider, "model": model}
        self._blocks: list[_Open] = []
        self._usage: Json | None = None
        self.extra: Json = {}

    @property
    def is_empty(self) -> bool:
        return not self._blocks

    @property
    def has_calls(self) -> bool:
        return any(opened.closed and opened.block["type"] == "toolCall" for opened in self._blocks)

    def set_usage(self, **tokens: int) -> None:
        """Take over the token counts that are known now; `totalTokens` follows from them."""
        usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, **(self._usage or {}), **tokens}
        usage["totalTokens"] = usage["input"] + usage["output"] + usage["cacheRead"] + usage["cacheWrite"]
        self._usage = usage

    def begin(self, block: Json) -> tuple[int, ProviderEvent]:
        """Start a block; returns its number and its start event."""
        index = len(self._blocks)
        self._blocks.append(_Open(block))
        shown = {"id": block["id"], "name": block["name"]} if block["type"] == "toolCall" else None
        return index, ProviderEvent(
            f"{_NAMES[block['type']]}_start", index=index, block=shown, usage=self._usage
        )

    def extend(self, index: int, delta: str) -> ProviderEvent | None:
        """Add text to a block; None when there is nothing to show yet."""
        opened = self._blocks[index]
        text = opened.held + delta
        opened.held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            opened.held, text = text[-1], text[:-1]
        if not text:
            return None
        text = clean_text(text)
        opened.pieces.append(text)
        return ProviderEvent(
            f"{_NAMES[opened.block['type']]}_delta", index=index, delta=text, usage=self._usage
        )

    def set_field(self, index: int, **fields: Any) -> None:
        """Add to a block what is not streamed to anybody, such as the signature of thinking."""
        self._blocks[index].block.update(fields)

    def field_of(self, index: int, name: str) -> str:
        return str(self._blocks[index].block.get(name, ""))

    def end(self, index: int) -> ProviderEvent:
        """Finish a block; returns its end event with the whole block."""
        opened = self._blocks[index]
        opened.closed = True
        if opened.held:
            opened.pieces.append(clean_text(opened.held))
            opened.held = ""
        kind = opened.block["type"]
        if kind == "toolCall":
            _fill_arguments(opened.block, "".join(opened.pieces))
        else:
            opened.block[_FIELDS[kind]] = "".join(opened.pieces)
        return ProviderEvent(f"{_NAMES[kind]}_end", index=index, block=dict(opened.block), usage=self._usage)

    def message(self, stop_reason: str, error_message: str | None = None) -> Json:
        """The answer so far. Calls that were not finished are left out: nobody knows what they were to be."""
        content = [block for opened in self._blocks if (block := _settled(opened)) is not None]
        message: Json = {**self._head, **self.extra, "content": content, "stopReason": stop_reason}
        if self._usage is not None:
            message["usage"] = dict(self._usage)
        if error_message is not None:
            message["errorMessage"] = error_message
        return message


def _settled(opened: _Open) -> Json | None:
    if opened.closed:
        return dict(opened.block)
    kind = opened.block["type"]
    text = "".join(opened.pieces)
    return None if kind == "toolCall" or not text else {**opened.block, _FIELDS[kind]: text}


def _fill_arguments(block: Json, text: str) -> None:
    """Read a call's arguments; what is no JSON object is kept beside, so that the call can be refused with it."""
    try:
        arguments = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        block["arguments"] = clean_value(arguments)
    else:
        block["arguments"] = {}
        block["malformedArguments"] = text
