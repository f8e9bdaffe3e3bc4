"""Messages as session files store them: plain JSON objects, their shapes, and how to make and read them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Json = dict[str, Any]


class TextBlock(TypedDict):
    type: Literal["text"]
    text: str


class ThinkingBlock(TypedDict):
    type: Literal["thinking"]
    thinking: str
    thinkingSignature: NotRequired[str]
    redacted: NotRequired[bool]


class ToolCallBlock(TypedDict):
    type: Literal["toolCall"]
    id: str
    name: str
    arguments: Json


class ImageBlock(TypedDict):
    """`data` is base64."""

    type: Literal["image"]
    data: str
    mimeType: str


class Cost(TypedDict):
    """Dollars."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    total: float


class Usage(TypedDict):
    """Tokens. `reasoning` is part of `output`, `cacheWrite1h` part of `cacheWrite`."""

    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    totalTokens: int
    cost: Cost
    cacheWrite1h: NotRequired[int]
    reasoning: NotRequired[int]


class UserMessage(TypedDict):
    """`timestamp` is Unix milliseconds, here and in every message."""

    role: Literal["user"]
    content: str | list[TextBlock | ImageBlock]
    timestamp: int


class AssistantMessage(TypedDict):
    role: Literal["assistant"]
    content: list[TextBlock | ThinkingBlock | ToolCallBlock]
    api: str
    provider: str
    model: str
    usage: Usage
    stopReason: Literal["stop", "length", "toolUse", "error", "aborted", "deferred"]
    timestamp: int
    errorMessage: NotRequired[str]
    responseModel: NotRequired[str]
    thinkingLevel: NotRequired[str]


class ToolResultMessage(TypedDict):
    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: list[TextBlock | ImageBlock]
    isError: bool
    timestamp: int
    details: NotRequired[Any]
    usage: NotRequired[Usage]
    nestedCalls: NotRequired[Json]
    durationMs: NotRequired[int]


class SystemMessage(TypedDict):
    """One patch of the prompt-and-tool log; a null section is a removed one (spec 01 §2)."""

    role: Literal["system"]
    content: str
    timestamp: int
    sections: NotRequired[dict[str, str | None]]
    toolsAdded: NotRequired[list[Json]]
    toolsRemoved: NotRequired[list[Json]]


class BashExecutionMessage(TypedDict):
    role: Literal["bashExecution"]
    command: str
    output: str
    cancelled: bool
    truncated: bool
    timestamp: int
    exitCode: NotRequired[int | None]
    fullOutputPath: NotRequired[str]
    excludeFromContext: NotRequired[bool]


ZERO_COST: Cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
ZERO_USAGE: Usage = {
    "input": 0,
    "output": 0,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 0,
    "cost": ZERO_COST,
}


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def user_message(text: str, images: list[Json] | None = None, *, timestamp: int) -> Json:
    """What a person said; `images` are image blocks and follow the text."""
    content: Any = [text_block(text), *images] if images else text
    return {"role": "user", "content": content, "timestamp": timestamp}


def assistant_message(
    content: list[Json],
    *,
    api: str,
    provider: str,
    model: str,
    timestamp: int,
    usage: Json | None = None,
    stop_reason: str = "stop",
    error_message: str | None = None,
) -> Json:
    message: Json = {
        "role": "assistant",
        "content": content,
        "api": api,
        "provider": provider,
        "model": model,
        "usage": usage if usage is not None else {**ZERO_USAGE, "cost": dict(ZERO_COST)},
        "stopReason": stop_reason,
        "timestamp": timestamp,
    }
    if error_message is not None:
        message["errorMessage"] = error_message
    return message


def tool_result_message(
    tool_call_id: str,
    tool_name: str,
    content: list[Json],
    *,
    timestamp: int,
    is_error: bool = False,
    details: Any = None,
    duration_ms: int | None = None,
) -> Json:
    message: Json = {
        "role": "toolResult",
        "toolCallId": tool_call_id,
        "toolName": tool_name,
        "content": content,
        "isError": is_error,
        "timestamp": timestamp,
    }
    if details is not None:
        message["details"] = details
    if duration_ms is not None:
        message["durationMs"] = duration_ms
    return message


def blocks_of(content: Any) -> list[Json]:
    """Content as a list of blocks: a string is one text block, whatever is no block is left out."""
    if isinstance(content, str):
        return [text_block(content)]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return []


def text_of(content: Any, separator: str = "") -> str:
    """The text of a string or of the text blocks in a list; a text block without text is empty."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [
        block_text(block) for block in content if isinstance(block, dict) and block.get("type") == "text"
    ]
    return texts[0] if len(texts) == 1 else separator.join(texts)


def block_text(block: Json, field: str = "text") -> str:
    value = block.get(field)
    return value if isinstance(value, str) else ""


def tool_calls_of(message: Json) -> list[Json]:
    """The tool call blocks of an assistant message, in order."""
    if message.get("role") != "assistant":
        return []
    return [block for block in blocks_of(message.get("content")) if block.get("type") == "toolCall"]


def call_id_of(value: Any) -> str:
    """A call's id as it can be compared and kept in a set; a foreign file may hold anything in its place."""
    return value if isinstance(value, str) else ""


def number_of(value: Any) -> float | int | None:
    """The value if it is a number (True and False are none)."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
