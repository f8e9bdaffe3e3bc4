"""Plays a script instead of asking a model: for tests of everything around the model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sessions_app.agent.providers.base import ProviderError, ProviderEvent, ProviderRequest
from sessions_app.agent.stop import StopSignal
from sessions_app.core.messages import text_of

Json = dict[str, Any]
Answer = Sequence[Json]

DELTA_SIZE = 20
LONGEST_WAIT = 60.0


class ScriptUsedUpError(ProviderError):
    """More was asked than the script has answers for."""

    def __init__(self, position: int) -> None:
        super().__init__(
            f"The script is used up: it has no answer number {position + 1}.", kind="bad_request"
        )


@dataclass(slots=True)
class Script:
    """Answers in the order they are asked for, and answers to requests whose newest user text holds a phrase.

    Each conversation is played from the beginning. An answer is a list of steps:

    - `{"text": "…"}`, `{"thinking": "…", "signature"?: "…"}`, `{"call": name, "arguments": {…}, "id"?: "…"}`
    - `{"delay": seconds}` before what follows; `{"pace": deltas per second}` for all that follows
    - `{"wait_for_stop": true}` until somebody stops the run
    - `{"error": kind, "message"?, "retryable"?, "status"?, "retry_after"?}` ends it with a ProviderError
    - `{"stop_reason": "length", "usage"?: {…}}` says how it ends; else toolUse after calls, stop without
    """

    answers: list[Answer] = field(default_factory=list)
    replies: dict[str, list[Answer]] = field(default_factory=dict)
    _positions: dict[tuple[str, str], int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_answer(self, request: ProviderRequest) -> Answer:
        """The answer to this request. Raises ScriptUsedUpError."""
        phrase = self._phrase_in(_newest_user_text(request.messages))
        answers = self.answers if phrase is None else self.replies[phrase]
        key = (request.session_id, phrase or "")
        with self._lock:
            position = self._positions.get(key, 0)
            self._positions[key] = position + 1
        if position >= len(answers):
            raise ScriptUsedUpError(position)
        return answers[position]

    def _phrase_in(self, text: str) -> str | None:
        return next((phrase for phrase in self.replies if phrase in text), None)


_files: dict[str, Script] = {}
_files_lock = threading.Lock()


def load_script(path: str) -> Script:
    """The script in a JSON file, `{"answers": […], "replies": {…}}`; read once, played on by all runs of this
    process.
    """
    with _files_lock:
        if path not in _files:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            _files[path] = Script(content.get("answers", []), content.get("replies", {}))
        return _files[path]


class ScriptedProvider:
    """`script` is a list of answers, a Script, or a function from the request to an answer."""

    name = "scripted"
    api = "scripted"

    def __init__(
        self,
        script: Sequence[Answer] | Script | Callable[[ProviderRequest], Answer] | None = None,
        *,
        api_key: str = "",
        base_url: str = "",
    ) -> None:
        self.requests: list[ProviderRequest] = []
        if script is None:
            script = load_script(base_url)
        if callable(script):
            self._next: Callable[[ProviderRequest], Answer] = script
        else:
            self._next = (script if isinstance(script, Script) else Script(list(script))).next_answer

    def stream(self, request: ProviderRequest, stop: StopSignal) -> Iterator[ProviderEvent]:
        """Play the next answer."""
        self.requests.append(request)
        return _Playing(request, stop).play(self._next(request))


class _Playing:
    def __init__(self, request: ProviderRequest, stop: StopSignal) -> None:
        self._request = request
        self._stop = stop
        self._content: list[Json] = []
        self._pace = 0.0
        self._stop_reason = ""
        self._usage: Json | None = None
        self._written = 0

    def play(self, answer: Answer) -> Iterator[ProviderEvent]:
        for step in answer:
            if not self._stop.is_set():
                yield from self._step(step)
        yield ProviderEvent("done", message=self._message())

    def _step(self, step: Json) -> Iterator[ProviderEvent]:
        if "text" in step:
            yield from self._spoken("text", "text", step["text"], {"type": "text", "text": ""})
        elif "thinking" in step:
            block = {"type": "thinking", "thinking": ""}
            yield from self._spoken("thinking", "thinking", step["thinking"], block)
            if step.get("signature"):
                self._content[-1]["thinkingSignature"] = step["signature"]
        elif "call" in step:
            yield from self._called(step)
        elif "delay" in step:
            self._stop.wait(step["delay"])
        elif "pace" in step:
            self._pace = step["pace"]
        elif "wait_for_stop" in step:
            if not self._stop.wait(LONGEST_WAIT):
                raise ProviderError("The script waited for a stop that did not come.", kind="timeout")
        elif "error" in step:
            raise ProviderError(
                step.get("message", f"scripted {step['error']}"),
                kind=step["error"],
                retryable=step.get("retryable", False),
                status=step.get("status"),
                retry_after=step.get("retry_after"),
                partial=self._message() if self._content else None,
            )
        else:
            self._stop_reason = step.get("stop_reason", self._stop_reason)
            self._usage = step.get("usage", self._usage)

    def _spoken(self, kind: str, key: str, text: str, block: Json) -> Iterator[ProviderEvent]:
        index = len(self._content)
        self._content.append(block)
        yield ProviderEvent(f"{kind}_start", index=index)
        for start in range(0, len(text), DELTA_SIZE):
            if self._pace:
                self._stop.wait(1 / self._pace)
            if self._stop.is_set():
                return
            delta = text[start : start + DELTA_SIZE]
            block[key] += delta
            self._written += len(delta)
            yield ProviderEvent(f"{kind}_delta", index=index, delta=delta)
        yield ProviderEvent(f"{kind}_end", index=index, block=dict(block))

    def _called(self, step: Json) -> Iterator[ProviderEvent]:
        index = len(self._content)
        call: Json = {
            "type": "toolCall",
            "id": step.get("id") or f"call_{len(self._request.messages)}_{index}",
            "name": step["call"],
            "arguments": step.get("arguments", {}),
        }
        yield ProviderEvent("toolcall_start", index=index, block={"id": call["id"], "name": call["name"]})
        written = json.dumps(call["arguments"])
        self._written += len(written)
        yield ProviderEvent("toolcall_delta", index=index, delta=written)
        self._content.append(call)
        yield ProviderEvent("toolcall_end", index=index, block=dict(call))

    def _message(self) -> Json:
        called = any(block["type"] == "toolCall" for block in self._content)
        reason = self._stop_reason or ("toolUse" if called else "stop")
        spoken = sum(len(text_of(message.get("content"))) for message in self._request.messages)
        usage = {"input": (len(self._request.system) + spoken) // 4, "output": self._written // 4}
        usage |= {"cacheRead": 0, "cacheWrite": 0}
        usage["totalTokens"] = sum(usage.values())
        return {
            "role": "assistant",
            "content": list(self._content),
            "api": ScriptedProvider.api,
            "provider": ScriptedProvider.name,
            "model": self._request.model,
            "usage": self._usage or usage,
            "stopReason": "aborted" if self._stop.is_set() else reason,
        }


def _newest_user_text(messages: Sequence[Json]) -> str:
    for message in reversed(messages):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    return ""
