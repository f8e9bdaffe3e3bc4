"""Turns a request into the body of Anthropic's messages API."""

from __future__ import annotations

import re

from sessions_app.agent.models_catalogue import ModelInfo, clamp_level
from sessions_app.agent.providers.base import Json, ProviderRequest
from sessions_app.core.messages import blocks_of

# Tokens of thinking for models that take a budget, and what is left for the answer at least (04 §6).
BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 16384, "max": 16384}
LEAST_ANSWER = 1024
LEAST_BUDGET = 1024

EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}

# Lets the service leave out thinking whose history has changed (compaction, edits) instead of refusing the request.
BINDING_BETA = "thinking-binding-controls-2026-08-01"

REFUSED_IMAGE = "(An image was left out: the service could not take it.)"
_PLACE = re.compile(r"messages\.(\d+)\.content\.(\d+)(?:(?:\.[a-z_]+)*?\.content\.(\d+))?")

IMAGES_OF_FAILED_CALL = "Images of the failed call {name}:"


def build_body(request: ProviderRequest, model: ModelInfo) -> Json:
    """The body without `stream`. `options["cacheRetention"]` is none, short (default) or long (04 §9)."""
    thinking = _thinking(request, model)
    keeps_thinking = thinking.get("thinking", {}).get("type") in ("adaptive", "enabled")
    body: Json = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": build_messages(request.messages, keep_thinking=keeps_thinking),
        **thinking,
    }
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system}]
    if request.tools:
        # In an order of their own, so that switching tools on and off in another order changes nothing.
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in sorted(request.tools, key=lambda tool: tool.name)
        ]
    _mark_for_cache(body, request.options.get("cacheRetention", "short"))
    return body


def extra_headers(body: Json) -> dict[str, str]:
    """The headers a body needs beside the usual ones."""
    return {"anthropic-beta": BINDING_BETA} if "block_binding" in body.get("thinking", {}) else {}


def build_messages(messages: list[Json], *, keep_thinking: bool) -> list[Json]:
    """Stored messages in Anthropic's form; results in a row become one user message."""
    built: list[Json] = []
    results: list[Json] = []
    late_images: list[Json] = []
    for message in messages:
        if message["role"] == "toolResult":
            result, images = _result(message)
            results.append(result)
            late_images.extend(images)
            continue
        if results:
            built.append({"role": "user", "content": [*results, *late_images]})
            results, late_images = [], []
        if message["role"] == "assistant":
            content = [
                built_block
                for block in blocks_of(message["content"])
                if (built_block := _answer_block(block, keep_thinking))
            ]
            if content:
                built.append({"role": "assistant", "content": content})
        else:
            built.append(
                {
                    "role": "user",
                    "content": [_visible_block(block) for block in blocks_of(message["content"])],
                }
            )
    if results:
        built.append({"role": "user", "content": [*results, *late_images]})
    return built


def _result(message: Json) -> tuple[Json, list[Json]]:
    """One tool_result block, and what has to follow all of them: a failed result must hold text only."""
    content = [_visible_block(block) for block in blocks_of(message["content"])]
    images: list[Json] = []
    if message.get("isError"):
        images = [block for block in content if block["type"] == "image"]
        content = [block for block in content if block["type"] != "image"]
        if images:
            images.insert(0, {"type": "text", "text": IMAGES_OF_FAILED_CALL.format(name=message["toolName"])})
            content = content or [{"type": "text", "text": "(see the images below)"}]
    result: Json = {"type": "tool_result", "tool_use_id": message["toolCallId"], "content": content}
    if message.get("isError"):
        result["is_error"] = True
    return result, images


def _visible_block(block: Json) -> Json:
    if block["type"] == "image":
        source = {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}
        return {"type": "image", "source": source}
    return {"type": "text", "text": block["text"]}


def _answer_block(block: Json, keep_thinking: bool) -> Json | None:
    match block["type"]:
        case "text":
            return {"type": "text", "text": block["text"]}
        case "toolCall":
            return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": block["arguments"]}
        case "thinking" if keep_thinking and block.get("thinkingSignature"):
            if block.get("redacted"):
                return {"type": "redacted_thinking", "data": block["thinkingSignature"]}
            return {
                "type": "thinking",
                "thinking": block["thinking"],
                "signature": block["thinkingSignature"],
            }
        case _:
            return None


def _thinking(request: ProviderRequest, model: ModelInfo) -> Json:
    """The fields `thinking` and `output_config` for the wanted level (04 §6)."""
    level = clamp_level(request.thinking_level, model)
    if model.thinking == "adaptive":
        if level == "off":
            return {"thinking": {"type": model.thinking_off}}
        thinking: Json = {"type": "adaptive", "display": "summarized"}
        if model.bound_thinking:
            thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        return {"thinking": thinking, "output_config": {"effort": EFFORTS[level]}}
    if model.thinking == "budget" and level != "off":
        budget = min(BUDGETS[level], request.max_tokens - LEAST_ANSWER)
        if budget >= LEAST_BUDGET and not _continues_without_thinking(request.messages):
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {}


def _continues_without_thinking(messages: list[Json]) -> bool:
    """Whether the calls being answered came without thinking: such a turn cannot go on with a budget."""
    if messages[-1]["role"] != "toolResult":
        return False
    answer = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    return answer is not None and not blocks_of(answer["content"])[0].get("thinkingSignature")


def _mark_for_cache(body: Json, retention: str) -> None:
    if retention == "none":
        return
    marker: Json = {"type": "ephemeral", "ttl": "1h"} if retention == "long" else {"type": "ephemeral"}
    if "system" in body:
        body["system"][-1]["cache_control"] = marker
    if "tools" in body:
        body["tools"][-1]["cache_control"] = marker
    last_user = next((message for message in reversed(body["messages"]) if message["role"] == "user"), None)
    if last_user is not None:
        last_user["content"][-1]["cache_control"] = marker


def mended_body(body: Json, complaint: str) -> Json | None:
    """The body without what the service just refused, so that it cannot refuse a session for ever; None if
    nothing can be done.

    An image it names becomes a note. When it refuses the signature of some thinking, all thinking goes: the
    rest would hang in the air.
    """
    place = _PLACE.search(complaint)
    if place is None:
        return None
    if "thinking" in complaint and "signature" in complaint:
        messages = [_without_thinking(message) for message in body["messages"]]
        return {**body, "messages": messages} if messages != body["messages"] else None
    if "image" not in complaint.lower():
        return None
    path = [int(number) for number in place.groups() if number is not None]
    messages = list(body["messages"])
    if path[0] >= len(messages):
        return None
    content = _with_note(messages[path[0]]["content"], path[1:])
    if content is None:
        return None
    messages[path[0]] = {**messages[path[0]], "content": content}
    return {**body, "messages": messages}


def _without_thinking(message: Json) -> Json:
    content = [
        block for block in message["content"] if block["type"] not in ("thinking", "redacted_thinking")
    ]
    return message if len(content) == len(message["content"]) else {**message, "content": content}


def _with_note(content: list[Json], path: list[int]) -> list[Json] | None:
    """The blocks with the image at `path` (its place, or a result's place and its place in there) as a note."""
    index, *rest = path
    if index >= len(content):
        return None
    block = content[index]
    if block["type"] == "image":
        marker = {key: block[key] for key in ("cache_control",) if key in block}
        replaced: Json = {"type": "text", "text": REFUSED_IMAGE, **marker}
    elif block["type"] == "tool_result":
        images = [place for place, inner in enumerate(block["content"]) if inner["type"] == "image"]
        inner_path = rest or images[:1]  # some complaints name only the result
        inner_content = _with_note(block["content"], inner_path) if inner_path else None
        if inner_content is None:
            return None
        replaced = {**block, "content": inner_content}
    else:
        return None
    return [*content[:index], replaced, *content[index + 1 :]]
