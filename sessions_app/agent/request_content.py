"""Cleans the content of messages for a request: roles turned to text, thinking, images, characters."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from sessions_app.agent.image_header import read_image_header
from sessions_app.core.messages import Json, block_text, blocks_of, text_block
from sessions_app.core.transcript import user_text_of

NO_IMAGES = "(An image was left out: this model takes text only.)"
BLOCKED_IMAGES = "(An image was left out: images are not sent from here.)"
BAD_IMAGE = "(An image was left out: it cannot be read.)"
LARGE_IMAGE = "(An image was left out: it is too large.)"
OLD_IMAGE = "(An older image was left out: the request holds too many.)"
NO_OUTPUT = "(no output)"

# What the strictest service takes: type, base64 bytes of one image, pixels of a side when there are many and
# when there are few, how many in all, base64 bytes of all.
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
LARGEST_IMAGE = 5 * 1024 * 1024
MANY_IMAGES = 20
LONGEST_SIDE_OF_MANY = 2000
LONGEST_SIDE = 8000
MOST_IMAGES = 100
LARGEST_TOTAL = 24 * 1024 * 1024

_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]")


def clean_text(text: str) -> str:
    """Text that encodes as UTF-8 and every store takes: pairs joined, lone halves and NUL replaced."""
    if text.isascii() and "\x00" not in text:
        return text
    joined = _SURROGATE_PAIR.sub(
        lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text
    )
    return _UNSENDABLE.sub("�", joined)


def clean_value(value: Any, depth: int = 0) -> Any:
    """A JSON value with all its texts cleaned; what is no JSON, or nested too deep, becomes text or null."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and value not in (float("inf"), float("-inf")) else None
    if depth > 100:
        return None
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(item, depth + 1) for item in value]
    return clean_text(str(value))


class Cleaner:
    """Turns stored messages of any role into the three a provider knows; `repairs` gathers what was wrong.

    `instead_of_images` stands where images are not sent, once for several in a row (04 §4).
    """

    def __init__(self, *, provider: str, model: str, instead_of_images: str | None) -> None:
        self._provider = provider
        self._model = model
        self._no_images = text_block(instead_of_images) if instead_of_images else None
        self.repairs: list[str] = []

    def clean_message(self, message: Json) -> Json | None:
        """The message for the request; None when nothing of it is to be sent.

        Blocks are new objects with known fields only. A `system` message is part of the system prompt and
        never among the messages.
        """
        match message.get("role"):
            case "user" | "custom":
                return self._said(message, message.get("content"))
            case "assistant":
                return self._answered(message)
            case "toolResult":
                return self._resulted(message)
            case "bashExecution":
                return self._said(message, user_text_of(message))
            case "compactionSummary" | "branchSummary":
                return (
                    self._said(message, user_text_of(message))
                    if block_text(message, "summary").strip()
                    else None
                )
            case "system":
                return None
            case _:
                self.repairs.append("A message of an unknown kind was left out.")
                return None

    def _said(self, message: Json, content: Any) -> Json | None:
        blocks = self._visible(content)
        return {"role": "user", "content": blocks, "timestamp": _time(message)} if blocks else None

    def _resulted(self, message: Json) -> Json:
        return {
            "role": "toolResult",
            "toolCallId": str(message.get("toolCallId") or ""),
            "toolName": str(message.get("toolName") or ""),
            "content": self._visible(message.get("content")) or [text_block(NO_OUTPUT)],
            "isError": bool(message.get("isError")),
            "timestamp": _time(message),
        }

    def _answered(self, message: Json) -> Json:
        same = message.get("provider") == self._provider and message.get("model") == self._model
        content = [
            cleaned
            for block in blocks_of(message.get("content"))
            if (cleaned := self._answer_block(block, same=same))
        ]
        # The last block of an answer must not be thinking, and thinking alone says nothing.
        while content and content[-1]["type"] == "thinking":
            content.pop()
        cleaned_message: Json = {"role": "assistant", "content": content, "timestamp": _time(message)}
        for key in ("api", "provider", "model", "stopReason"):
            if isinstance(message.get(key), str):
                cleaned_message[key] = message[key]
        return cleaned_message

    def _answer_block(self, block: Json, *, same: bool) -> Json | None:
        match block.get("type"):
            case "text":
                text = self._text(block.get("text"))
                return text_block(text) if text.strip() else None
            case "thinking":
                return _kept_thinking(block) if same else None
            case "toolCall":
                return self._call(block)
            case _:
                return None

    def _call(self, block: Json) -> Json | None:
        name = block.get("name")
        if not isinstance(name, str) or not name:
            self.repairs.append("A tool call without a name was left out.")
            return None
        return {
            "type": "toolCall",
            "id": str(block.get("id") or ""),  # raw, to be matched with its result; the pairing cleans both
            "name": _TOOL_NAME.sub("_", name)[:64],
            "arguments": self._arguments(block.get("arguments")),
        }

    def _arguments(self, arguments: Any) -> Json:
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                arguments = {}
        if not isinstance(arguments, dict):
            return {}
        cleaned = clean_value(arguments)
        return cleaned if isinstance(cleaned, dict) else {}

    def _visible(self, content: Any) -> list[Json]:
        """Text and image blocks of a user message or a result; blank ones go."""
        blocks: list[Json] = []
        for block in blocks_of(content):
            cleaned: Json | None = None
            if block.get("type") == "image":
                cleaned = self._image(block)
            elif block.get("type") == "text":
                text = self._text(block.get("text"))
                cleaned = text_block(text) if text.strip() else None
            if cleaned is None or (blocks and cleaned == blocks[-1] == self._no_images):
                continue
            blocks.append(cleaned)
        return blocks

    def _text(self, text: Any) -> str:
        if not isinstance(text, str):
            return ""
        cleaned = clean_text(text)
        if cleaned != text:
            self.repairs.append("Characters that cannot be sent were replaced.")
        return cleaned

    def _image(self, block: Json) -> Json:
        if self._no_images is not None:
            return self._no_images
        data = block.get("data")
        header = None
        if isinstance(data, str) and data:
            try:
                header = read_image_header(base64.b64decode(data, validate=True))
            except (binascii.Error, ValueError):
                header = None
        if header is None or header.mime_type not in IMAGE_TYPES:
            self.repairs.append("An image that cannot be read was left out.")
            return text_block(BAD_IMAGE)
        if len(str(data)) > LARGEST_IMAGE or max(header.width, header.height) > LONGEST_SIDE:
            self.repairs.append("An image that is too large was left out.")
            return text_block(LARGE_IMAGE)
        # The type is what the bytes say: services refuse an image under another's name.
        return {"type": "image", "data": data, "mimeType": header.mime_type}

    def limit_images(self, messages: list[Json]) -> list[Json]:
        """The messages with older images left out where a request would hold too many, or too much of them."""
        blocks = [block for message in messages for block in message["content"] if block["type"] == "image"]
        notes: dict[int, str] = {}
        if len(blocks) > MANY_IMAGES:
            notes = {
                id(block): LARGE_IMAGE for block in blocks if _longest_side(block) > LONGEST_SIDE_OF_MANY
            }
        count, total = 0, 0
        for block in reversed(blocks):
            if id(block) in notes:
                continue
            count, total = count + 1, total + len(block["data"])
            if count > MOST_IMAGES or total > LARGEST_TOTAL:
                notes[id(block)] = OLD_IMAGE
        if not notes:
            return messages
        self.repairs.extend("An image was left out because the request holds many." for _ in notes)
        return [
            {**message, "content": [_noted(block, notes.get(id(block))) for block in message["content"]]}
            for message in messages
        ]


def _kept_thinking(block: Json) -> Json | None:
    """Thinking of the same model, untouched: a signature covers every character of it."""
    kept: Json = {"type": "thinking"}
    for key in ("thinking", "thinkingSignature"):
        value = block.get(key)
        if isinstance(value, str):
            if _UNSENDABLE.search(value):
                return None
            kept[key] = value
    if block.get("redacted"):
        kept["redacted"] = True
    kept.setdefault("thinking", "")
    return kept if kept.get("thinkingSignature") or kept["thinking"].strip() else None


def _noted(block: Json, note: str | None) -> Json:
    return block if note is None else text_block(note)


def _longest_side(block: Json) -> int:
    header = read_image_header(base64.b64decode(block["data"]))
    return 0 if header is None else max(header.width, header.height)


def _time(message: Json) -> int:
    value = message.get("timestamp")
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
