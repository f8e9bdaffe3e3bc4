"""Refuses a request body the way Anthropic's service does: a strict stand-in for its validation."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

Json = dict[str, Any]

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_BLOCKS_OF = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}


class BadRequestError(Exception):
    """What would have been a status 400."""


def check(body: Json, *, signatures: dict[str, str] | None = None) -> None:
    """Raise BadRequestError for the first thing the service would refuse.

    `signatures` maps the signatures the service has given out to the thinking they cover.
    """
    try:
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (UnicodeEncodeError, ValueError) as error:
        raise BadRequestError("The request body is not valid JSON: no low surrogate in string") from error
    messages = body["messages"]
    _require(bool(messages), "messages: at least one message is required")
    _require(messages[0]["role"] == "user", "messages: first message must use the 'user' role")
    _require(messages[-1]["role"] == "user", "This model does not support assistant message prefill.")
    seen: set[str] = set()
    open_calls: set[str] = set()
    images = [block for message in messages for block in _all_blocks(message) if block["type"] == "image"]
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        _require(set(message) == {"role", "content"}, f"{where}: extra inputs are not permitted")
        content = message["content"]
        _require(bool(content), f"{where}: all messages must have non-empty content")
        for block in content:
            _require(
                block["type"] in _BLOCKS_OF[message["role"]], f"{where}: unexpected block {block['type']}"
            )
            _check_block(block, where, many=len(images) > 20)
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if open_calls:
            _require(
                message["role"] == "user" and set(results) >= open_calls,
                f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: {open_calls}",
            )
        _require(
            set(results) <= open_calls, f"{where}: unexpected `tool_use_id` found in `tool_result` blocks"
        )
        _require(len(results) == len(set(results)), f"{where}: each tool_use must have a single result")
        kinds = [block["type"] for block in content]
        _require(
            kinds[: len(results)] == ["tool_result"] * len(results),
            f"{where}: tool_result blocks must come first",
        )
        open_calls = {block["id"] for block in content if block["type"] == "tool_use"}
        _require(not open_calls & seen, f"{where}: `tool_use` ids must be unique")
        _require(len(open_calls) == kinds.count("tool_use"), f"{where}: `tool_use` ids must be unique")
        seen |= open_calls
        if message["role"] == "assistant":
            _require(
                "thinking" not in kinds[-1],
                f"{where}: The final block in an assistant message cannot be `thinking`.",
            )
            _check_thinking(content, where, body, signatures)
    _require(not seen or bool(body.get("tools")), "Requests which have `tool_use` blocks must define tools")


def _check_block(block: Json, where: str, *, many: bool) -> None:
    match block["type"]:
        case "text":
            _require(
                bool(block["text"].strip()), f"{where}: text content blocks must contain non-whitespace text"
            )
        case "tool_use":
            _require(bool(_ID.match(block["id"])), f"{where}: tool_use.id should match pattern")
            _require(bool(_NAME.match(block["name"])), f"{where}: tool_use.name should match pattern")
            _require(isinstance(block["input"], dict), f"{where}: tool_use.input should be an object")
        case "tool_result":
            for inner in block["content"]:
                _require(inner["type"] in ("text", "image"), f"{where}: unexpected block in tool_result")
                _check_block(inner, where, many=many)
                failed = block.get("is_error", False)
                _require(
                    not (failed and inner["type"] == "image"), f"{where}: error results must be text only"
                )
        case "image":
            source = block["source"]
            data = base64.b64decode(source["data"], validate=True)
            _require(len(source["data"]) <= 5 * 1024 * 1024, f"{where}: image exceeds 5 MB maximum")
            kind = {
                b"\x89PN": "image/png",
                b"\xff\xd8\xff": "image/jpeg",
                b"GIF": "image/gif",
                b"RIF": "image/webp",
            }
            _require(kind.get(data[:3]) == source["media_type"], f"{where}: Could not process image")
            if data[:3] == b"\x89PN":
                side = max(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
                _require(
                    side <= (2000 if many else 8000), f"{where}: image dimensions exceed max allowed size"
                )


def _check_thinking(content: list[Json], where: str, body: Json, signatures: dict[str, str] | None) -> None:
    for block in content:
        if block["type"] == "thinking":
            _require(bool(block.get("signature")), f"{where}: thinking.signature: Field required")
            if signatures is not None:
                _require(
                    signatures.get(block["signature"]) == block["thinking"],
                    f"{where}: Invalid `signature` in `thinking` block",
                )


def _all_blocks(message: Json) -> list[Json]:
    blocks = []
    for block in message["content"]:
        blocks.append(block)
        if block["type"] == "tool_result":
            blocks.extend(block["content"])
    return blocks


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BadRequestError(message)
