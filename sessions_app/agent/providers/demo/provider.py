"""The demo model as a provider: offline, without a key, deterministic, driving the real loop with real tools."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator

from sessions_app.agent.providers.base import ProviderEvent, ProviderRequest
from sessions_app.agent.providers.demo.conversation import Now, now_of, spans_of, text_of
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.script import Json, Step, next_move
from sessions_app.agent.providers.demo.session import carried_out, opening, understood_of
from sessions_app.agent.providers.demo.summaries import purpose_of, summary
from sessions_app.agent.providers.demo.writing import clip
from sessions_app.agent.stop import StopSignal

#: However long a text is, writing it out takes at most so many seconds.
_LONGEST_TEXT = 9.0
_LONGEST_CALL = 1.5
_PRINTER = json.JSONEncoder(ensure_ascii=False)


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000


class DemoProvider:
    """Answers by a script. `pace` is words per second, 0 as fast as possible; `clock` gives milliseconds.
    Key and address are what every provider is made with; there is nothing to use them for.

    It holds no state: every request is answered from its messages alone, so the same conversation always gets
    the same answer, and it never touches a file or a process itself.
    """

    name = "demo"

    def __init__(
        self,
        *,
        api_key: str = "",
        base_url: str = "",
        pace: float = 35.0,
        clock: Callable[[], int] = _wall_clock,
    ) -> None:
        del api_key, base_url
        self._pace = pace
        self._clock = clock

    def stream(self, request: ProviderRequest, stop: StopSignal) -> Iterator[ProviderEvent]:
        """Yield the answer word by word; a stop ends it at once with what had been written."""
        content: list[Json] = []
        reason = "stop"
        for block in self._blocks(request):
            yield from self._written(block, len(content), content, stop)
            if stop.is_set():
                break
            if block["type"] == "toolCall":
                reason = "toolUse"
        yield ProviderEvent(
            "done", message=self._message(request, content, "aborted" if stop.is_set() else reason)
        )

    def _blocks(self, request: ProviderRequest) -> list[Json]:
        """The whole answer, before it is written out."""
        prompt = text_of(request.messages[-1].get("content")) if request.messages else ""
        purpose = purpose_of(request.options, prompt, tools=bool(request.tools))
        if purpose:
            return [_text(summary(purpose, prompt))]
        now = now_of(spans_of(request.messages))
        tools = frozenset(tool.name for tool in request.tools)
        if not any(now.requests) and not now.images:
            return [
                _text(
                    "There is no request in what the demo model was sent. Write what should be done, for example “summarise this folder”."
                )
            ]
        desk = Desk(tools, now.before, now.images)
        move = next_move(carried_out(now, desk), now.recorded)
        blocks: list[Json] = []
        if request.thinking_level != "off" and now.turns == 0:
            blocks.append(
                {"type": "thinking", "thinking": _thought(now, Desk(tools, now.before, now.images))}
            )
        if isinstance(move, str):
            return [*blocks, _text(opening(now) + move)]
        said = (opening(now) + move.text).strip()
        return [*blocks, *([_text(said)] if said else []), *_calls(request, move)]

    def _written(
        self, block: Json, index: int, content: list[Json], stop: StopSignal
    ) -> Iterator[ProviderEvent]:
        """The events of one block; `content` grows by what has arrived."""
        kind = {"text": "text", "thinking": "thinking", "toolCall": "toolcall"}[block["type"]]
        if block["type"] == "toolCall":
            whole = json.dumps(block["arguments"], ensure_ascii=False)
            pieces = [whole[i : i + 24] for i in range(0, len(whole), 24)]
            yield ProviderEvent("toolcall_start", index, block={"id": block["id"], "name": block["name"]})
            rest = self._rest(len(pieces), _LONGEST_CALL)
        else:
            whole = block[block["type"]]
            pieces = re.findall(r"\s*\S+\s*", whole) or [whole]
            yield ProviderEvent(f"{kind}_start", index)
            rest = self._rest(len(pieces), _LONGEST_TEXT)
        arrived = ""
        for piece in pieces:
            if stop.wait(rest) if rest else stop.is_set():
                break
            arrived += piece
            yield ProviderEvent(f"{kind}_delta", index, delta=piece)
        if stop.is_set() and arrived != whole:
            # A call cut short has no arguments that could be carried out; a text keeps what the reader has seen.
            if arrived and block["type"] != "toolCall":
                content.append({**block, block["type"]: arrived})
            return
        content.append(block)
        yield ProviderEvent(f"{kind}_end", index, block=block)

    def _rest(self, pieces: int, longest: float) -> float:
        """Seconds between two pieces."""
        return min(1.0 / self._pace, longest / max(1, pieces)) if self._pace > 0 else 0.0

    def _message(self, request: ProviderRequest, content: list[Json], reason: str) -> Json:
        read = len(request.system) + _printed_length([m.get("content") for m in request.messages])
        read += sum(len(tool.description) for tool in request.tools)
        read += _printed_length([tool.parameters for tool in request.tools])
        taken, given = -(-read // 4), -(-len(json.dumps(content, ensure_ascii=False)) // 4) if content else 0
        return {
            "role": "assistant",
            "content": content,
            "api": "demo",
            "provider": self.name,
            "model": request.model,
            "usage": {
                "input": taken,
                "output": given,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": taken + given,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
            },
            "stopReason": reason,
            "timestamp": self._clock(),
        }


def _printed_length(values: list[object]) -> int:
    """Characters of the values as JSON, without what a list puts around and between them."""
    return len(_PRINTER.encode(values)) - 2 * max(1, len(values))


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _calls(request: ProviderRequest, step: Step) -> list[Json]:
    """Tool call blocks. Ids come from the place in the conversation and what is asked, so they never repeat on a path."""
    place = hashlib.sha256(
        json.dumps([len(request.messages), request.messages[-3:]], sort_keys=True, default=str).encode()
    )
    blocks: list[Json] = []
    for number, call in enumerate(step.calls):
        digest = place.copy()
        digest.update(f"{number}{call.key()}".encode("utf-8", "surrogatepass"))
        blocks.append(
            {
                "type": "toolCall",
                "id": f"demo_{digest.hexdigest()[:16]}",
                "name": call.name,
                "arguments": call.arguments,
            }
        )
    return blocks


def _thought(now: Now, desk: Desk) -> str:
    """What was recognised, in words; no reasoning is claimed."""
    jobs = [task.rule.name for one in understood_of(now, desk) for task in one.tasks]
    wish = clip(now.requests[-1], 80) if now.requests else ""
    if not jobs:
        return f"“{wish}” matches none of the requests this script knows."
    return f"“{wish}” matches: {', then '.join(jobs)}. The steps follow from the tool results."
