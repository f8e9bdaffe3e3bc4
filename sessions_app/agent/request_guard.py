"""Makes every provider request valid, whatever the history holds, and says what it had to repair (spec 04 §4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions_app.agent.call_ids import CallIds
from sessions_app.agent.providers.base import ToolSpec
from sessions_app.agent.request_content import BLOCKED_IMAGES, NO_IMAGES, Cleaner
from sessions_app.core.messages import Json, text_block

NO_RESULT = "No result provided: the run ended before this call had one."
NO_BEGINNING = "(The beginning of this conversation is not available.)"
GO_ON = "(Continue.)"

# Answers that are not shown to the model again: they failed, were stopped, or never ended.
UNFINISHED = ("error", "aborted", "pending")


@dataclass(frozen=True, slots=True)
class GuardedRequest:
    """`messages` have the roles user, assistant and toolResult only; `repairs` are sentences for a person."""

    messages: list[Json]
    repairs: list[str]


def make_valid(
    messages: list[Json],
    *,
    provider: str,
    model: str,
    tools: Sequence[ToolSpec],
    images: bool,
    images_blocked: bool = False,
) -> GuardedRequest:
    """The messages in a form every provider accepts. Never raises and never changes its arguments.

    Unfinished answers go with their results; every call gets exactly one result directly behind it; nothing
    else stands between; ids are unique and well formed; thinking stays only with the model it came from;
    the first message and the last are not an answer. Without `tools`, calls are told as text. Applied to its
    own result it changes nothing.
    """
    note = BLOCKED_IMAGES if images_blocked else None if images else NO_IMAGES
    cleaner = Cleaner(provider=provider, model=model, instead_of_images=note)
    spoken = [
        message for message in map(cleaner.clean_message, _objects(messages, cleaner.repairs)) if message
    ]
    paired = _Pairing(CallIds(provider), cleaner.repairs).pair(spoken)
    if not tools:
        paired = _without_calls(paired)
    return GuardedRequest(
        cleaner.limit_images(_with_ends(paired, cleaner.repairs)), _summed_up(cleaner.repairs)
    )


def _objects(messages: Sequence[object], repairs: list[str]) -> list[Json]:
    kept = [message for message in messages if isinstance(message, dict)]
    if len(kept) < len(messages):
        repairs.append("Something that is no message was left out.")
    return kept


@dataclass(slots=True)
class _Span:
    """One answer with calls, its results as they come, and what was said meanwhile."""

    answer: Json
    calls: list[Json]  # the answer's call blocks, with their final ids
    given: list[str]  # the ids as the history has them
    results: list[Json | None] = field(default_factory=list)
    meanwhile: list[Json] = field(default_factory=list)


class _Pairing:
    """Walks the messages once; each answer opens a span that the next answer, or the end, closes."""

    def __init__(self, ids: CallIds, repairs: list[str]) -> None:
        self._ids = ids
        self._repairs = repairs
        self._out: list[Json] = []
        self._span: _Span | None = None
        self._unfinished: set[str] = set()  # ids of calls in unfinished answers since the last finished one

    def pair(self, messages: list[Json]) -> list[Json]:
        for message in messages:
            if message["role"] == "toolResult":
                self._result(message)
            elif message["role"] == "assistant":
                self._answer(message)
            elif self._span is not None:
                # Said while the tools ran: it must not come between a call and its result.
                self._span.meanwhile.append(message)
            else:
                self._out.append(message)
        self._close()
        return self._out

    def _answer(self, message: Json) -> None:
        calls = [block for block in message["content"] if block["type"] == "toolCall"]
        if message.get("stopReason") in UNFINISHED:
            self._unfinished.update(call["id"] for call in calls)
            return
        if not message["content"]:
            return
        self._close()
        self._unfinished.clear()
        if not calls:
            self._out.append(message)
            return
        given = [call["id"] for call in calls]
        ids = [self._ids.unique(call_id) for call_id in given]
        if ids != given:
            calls = [{**call, "id": call_id} for call, call_id in zip(calls, ids, strict=True)]
            queue = iter(calls)
            content = [next(queue) if block["type"] == "toolCall" else block for block in message["content"]]
            message = {**message, "content": content}
        if len(set(given)) < len(given):
            self._repairs.append("Two calls of one answer had the same id; one got a new one.")
        self._span = _Span(message, calls, given, [None] * len(calls))

    def _result(self, message: Json) -> None:
        span = self._span
        given = message["toolCallId"]
        open_positions = [
            index
            for index, call_id in enumerate(span.given if span else ())
            if span is not None and call_id == given and span.results[index] is None
        ]
        if given in self._unfinished:
            return
        if span is None or not open_positions:
            self._repairs.append("A tool result without its call was left out.")
            return
        index = open_positions[0]
        call = span.calls[index]
        span.results[index] = {**message, "toolCallId": call["id"], "toolName": call["name"]}

    def _close(self) -> None:
        span, self._span = self._span, None
        if span is None:
            return
        self._out.append(span.answer)
        for call, result in zip(span.calls, span.results, strict=True):
            if result is None:
                self._repairs.append("A tool call without a result got a note in its place.")
            self._out.append(result or _missing_result(call, span.answer))
        self._out.extend(span.meanwhile)


def _missing_result(call: Json, answer: Json) -> Json:
    return {
        "role": "toolResult",
        "toolCallId": call["id"],
        "toolName": call["name"],
        "content": [text_block(NO_RESULT)],
        "isError": True,
        "timestamp": answer.get("timestamp", 0),
    }


def _without_calls(messages: list[Json]) -> list[Json]:
    """Calls and results told as text: a request that declares no tools must not hold any."""
    told: list[Json] = []
    for message in messages:
        if message["role"] == "toolResult":
            head = text_block(f"[Result of {message['toolName']}]")
            told.append(
                {
                    "role": "user",
                    "content": [head, *message["content"]],
                    "timestamp": message.get("timestamp", 0),
                }
            )
        elif message["role"] == "assistant" and any(
            block["type"] == "toolCall" for block in message["content"]
        ):
            # Thinking goes too: its signature counts only before the calls it led to.
            content = [_call_as_text(block) for block in message["content"] if block["type"] != "thinking"]
            told.append({**message, "content": content})
        else:
            told.append(message)
    return told


def _call_as_text(block: Json) -> Json:
    if block["type"] != "toolCall":
        return block
    return text_block(f"[Called {block['name']} with {json.dumps(block['arguments'], ensure_ascii=False)}]")


def _with_ends(messages: list[Json], repairs: list[str]) -> list[Json]:
    """A request begins with a user message and does not end in an answer."""
    if not messages or messages[0]["role"] != "user":
        messages = [_user(NO_BEGINNING, messages[0] if messages else {}), *messages]
        repairs.append("The conversation did not begin with a user message; a note stands in its place.")
    if messages[-1]["role"] == "assistant":
        messages = [*messages, _user(GO_ON, messages[-1])]
    return messages


def _user(text: str, beside: Json) -> Json:
    return {"role": "user", "content": [text_block(text)], "timestamp": beside.get("timestamp", 0)}


def _summed_up(repairs: list[str]) -> list[str]:
    """Each repair once, with its number if it happened more often."""
    counts: dict[str, int] = {}
    for repair in repairs:
        counts[repair] = counts.get(repair, 0) + 1
    return [repair if count == 1 else f"{repair} ({count} times)" for repair, count in counts.items()]
