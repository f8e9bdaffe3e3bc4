"""Turns a request into the body of the chat completions API that many services share."""

from __future__ import annotations

import json

from sessions_app.agent.providers.base import Json, ProviderRequest
from sessions_app.core.messages import blocks_of, text_of

# Fields under which services stream their reasoning; one of them as a thinking block's signature means that the
# service wants it back there.
REASONING_FIELDS = ("reasoning_content", "reasoning")
IMAGES = "images"  # not a field of the body, but refused like one by models that cannot see
NO_IMAGES = "(An image was left out: the service could not take it.)"
EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}


def build_body(request: ProviderRequest, *, reasoning: bool, without: frozenset[str] = frozenset()) -> Json:
    """The body. `without` names what this service refused before: optional fields, or IMAGES."""
    messages = build_messages(request.system, request.messages)
    if IMAGES in without:
        messages = [_without_images(message) for message in messages]
    body: Json = {
        "model": request.model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in sorted(request.tools, key=lambda tool: tool.name)
        ]
    if reasoning and request.thinking_level in EFFORTS:
        body["reasoning_effort"] = EFFORTS[request.thinking_level]
    if "max_tokens" in without:
        body["max_completion_tokens"] = request.max_tokens
    return {key: value for key, value in body.items() if key not in without}


def build_messages(system: str, messages: list[Json]) -> list[Json]:
    """Stored messages in the service's form. User messages in a row are joined: many services want turns."""
    built: list[Json] = [{"role": "system", "content": system}] if system.strip() else []
    late_images: list[Json] = []
    for message in messages:
        if message["role"] == "toolResult":
            built.append(_result(message))
            late_images.extend(block for block in blocks_of(message["content"]) if block["type"] == "image")
            continue
        if late_images:
            _add_user(built, [{"type": "text", "text": "Images of the results above:"}, *late_images])
            late_images = []
        if message["role"] == "assistant":
            built.append(_answer(message))
        else:
            _add_user(built, blocks_of(message["content"]))
    if late_images:
        _add_user(built, [{"type": "text", "text": "Images of the results above:"}, *late_images])
    return built


def _add_user(built: list[Json], blocks: list[Json]) -> None:
    parts = [_part(block) for block in blocks]
    if built and built[-1]["role"] == "user":
        parts = [*_parts_of(built.pop()["content"]), *parts]
    if all(part["type"] == "text" for part in parts):
        built.append({"role": "user", "content": "\n\n".join(part["text"] for part in parts)})
    else:
        built.append({"role": "user", "content": parts})


def has_images(body: Json) -> bool:
    """Whether a body holds images."""
    return any(
        isinstance(message["content"], list)
        and any(part["type"] == "image_url" for part in message["content"])
        for message in body["messages"]
    )


def _without_images(message: Json) -> Json:
    if not isinstance(message["content"], list):
        return message
    texts = [part["text"] if part["type"] == "text" else NO_IMAGES for part in message["content"]]
    return {**message, "content": "\n\n".join(texts)}


def _parts_of(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _part(block: Json) -> Json:
    if block["type"] == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{block['mimeType']};base64,{block['data']}"}}
    return {"type": "text", "text": block["text"]}


def _answer(message: Json) -> Json:
    text = text_of(message["content"])
    calls = [block for block in blocks_of(message["content"]) if block["type"] == "toolCall"]
    built: Json = {"role": "assistant", "content": text or None}
    for block in blocks_of(message["content"]):
        field = block.get("thinkingSignature")
        if block["type"] == "thinking" and field in REASONING_FIELDS:
            built[field] = built.get(field, "") + block["thinking"]
    if calls:
        built["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": json.dumps(call["arguments"], ensure_ascii=False),
                },
            }
            for call in calls
        ]
    elif not text:
        built["content"] = ""
    return built


def _result(message: Json) -> Json:
    texts = [block["text"] for block in blocks_of(message["content"]) if block["type"] == "text"]
    content = "\n".join(texts) or "(see the images below)"
    return {"role": "tool", "tool_call_id": message["toolCallId"], "content": content}
