"""Small stand-ins for the ports around the loop: tools that do as told, a sandbox that counts, a clock that ticks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sessions_app.agent.events import LoopEvent, MessageEnded
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.loop import Limits, run_agent
from sessions_app.agent.models_catalogue import ModelInfo, Price
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import ToolResult
from sessions_app.core.messages import user_message

Json = dict[str, Any]

MODEL = ModelInfo(
    provider="scripted", id="script-1", name="Script", context_window=100_000, max_tokens=8192,
    thinking="adaptive", levels=("off", "low", "high"), images=True, cost=Price(input=1.0, output=10.0),
)  # fmt: skip


class CountingSandbox:
    """No files, no processes; remembers that it was asked to end them."""

    cwd = Path("/workspace")

    def __init__(self) -> None:
        self.kills = 0

    def kill_all(self) -> int:
        self.kills += 1
        return 0


class FunctionTool:
    """A tool made of a function `(arguments, stop, on_update) -> ToolResult | str`."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        sequential: bool = False,
        parameters: Json | None = None,
    ) -> None:
        self.name = name
        self.description = f"Test tool {name}"
        self.parameters = parameters or {"type": "object"}
        self.sequential = sequential
        self._function = function

    def run(self, arguments: Json, sandbox: Any, stop: StopSignal, on_update: Any) -> ToolResult:
        returned = self._function(arguments, stop, on_update)
        return text_result(returned) if isinstance(returned, str) else returned


def text_result(text: str, **fields: Any) -> ToolResult:
    return ToolResult(content=[{"type": "text", "text": text}], **fields)


class Conversation:
    """A session in memory: stores each finished message the way the runner does."""

    def __init__(self, provider: Any, tools: Sequence[Any] = (), **settings: Any) -> None:
        self.messages: list[Json] = list(settings.pop("history", []))
        self.steering: list[list[Json]] = []
        self.follow_ups: list[list[Json]] = []
        self.stop: StopSignal = settings.pop("stop", None) or StopSignal()
        self.sandbox = CountingSandbox()
        self.provider = provider
        self.arguments: Json = {
            "model": MODEL, "system": "You are a test.", "hooks": Hooks(), "limits": Limits(),
            "clock": ticking_clock(), "session_id": "s1", **settings,
        }  # fmt: skip
        self.tools = tools

    def start(self, *texts: str) -> Iterator[LoopEvent]:
        """The loop's events, each finished message stored before the loop goes on."""
        events = run_agent(
            provider=self.provider,
            tools=self.tools,
            sandbox=self.sandbox,  # type: ignore[arg-type]
            inputs=[user_message(text, timestamp=1) for text in texts],
            context=lambda: list(self.messages),
            poll_steering=lambda: self.steering.pop(0) if self.steering else [],
            poll_follow_ups=lambda: self.follow_ups.pop(0) if self.follow_ups else [],
            stop=self.stop,
            **self.arguments,
        )
        try:
            for event in events:
                if isinstance(event, MessageEnded):
                    self.messages.append(event.message)
                yield event
        finally:
            events.close()  # type: ignore[attr-defined]

    def run(self, *texts: str) -> list[Json]:
        """All events of a pass in their wire form."""
        return [event.to_wire() for event in self.start(*texts)]


def ticking_clock() -> Callable[[], int]:
    counter = itertools.count(1_000)
    return lambda: next(counter)


def names(events: Sequence[Json]) -> list[str]:
    return [event["type"] for event in events]


def of_type(events: Sequence[Json], name: str) -> list[Json]:
    return [event for event in events if event["type"] == name]


def results(conversation: Conversation) -> list[Json]:
    return [message for message in conversation.messages if message["role"] == "toolResult"]


def result_texts(conversation: Conversation) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"]) for message in results(conversation)
    ]


def call(name: str, call_id: str, **arguments: Any) -> Json:
    return {"call": name, "id": call_id, "arguments": arguments}
