"""What happens in one pass of the agent loop, as values; `to_wire` gives each its form of spec 10."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app.agent.providers.base import ProviderError
from sessions_app.agent.tools.base import ToolResult

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """A pass begins."""

    def to_wire(self) -> Json:
        return {"type": "agent_start"}


@dataclass(frozen=True, slots=True)
class AgentEnded:
    """A pass is over. It is not the end of the activity: only `agent_settled`, sent by the runner, is.

    `messages` are all messages of this pass in order. `error` is the provider's fault behind an error
    ending, for the runner's retry policy; `will_retry` is the runner's to set. Neither `error` nor
    anything of it goes over the wire.
    """

    messages: tuple[Json, ...]
    will_retry: bool = False
    error: ProviderError | None = None

    def to_wire(self) -> Json:
        return {"type": "agent_end", "messages": list(self.messages), "willRetry": self.will_retry}


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The next model request and its tools begin."""

    def to_wire(self) -> Json:
        return {"type": "turn_start"}


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn's message and all its results are stored.

    `drafts` are entries that `turn_end` hooks ask for (07 §3, boundary drafts); the runner validates and
    appends them before it resumes the loop. They do not go over the wire.
    """

    message: Json
    tool_results: tuple[Json, ...]
    drafts: tuple[Json, ...] = ()

    def to_wire(self) -> Json:
        return {"type": "turn_end", "message": self.message, "toolResults": list(self.tool_results)}


@dataclass(frozen=True, slots=True)
class MessageStarted:
    """A message appears; an assistant's is empty yet and has the stop reason `pending`."""

    message: Json

    def to_wire(self) -> Json:
        return {"type": "message_start", "message": self.message}


@dataclass(frozen=True, slots=True)
class MessageUpdated:
    """One step of an answer. `usage` is what is known so far of the whole message's usage.

    `update` is the nested event of spec 10, e.g. `{"type": "text_delta", "contentIndex": 0, "delta": "…"}`.
    """

    usage: Json
    update: Json

    def to_wire(self) -> Json:
        return {"type": "message_update", "usage": self.usage, "assistantMessageEvent": self.update}


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """The message as it counts. The runner stores it before it resumes the loop."""

    message: Json

    def to_wire(self) -> Json:
        return {"type": "message_end", "message": self.message}


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is looked at; it may still be refused."""

    call_id: str
    tool_name: str
    arguments: Json

    def to_wire(self) -> Json:
        return {
            "type": "tool_execution_start",
            "toolCallId": self.call_id,
            "toolName": self.tool_name,
            "args": self.arguments,
        }


@dataclass(frozen=True, slots=True)
class ToolUpdated:
    """A partial result that replaces the one before."""

    call_id: str
    tool_name: str
    arguments: Json
    partial: ToolResult

    def to_wire(self) -> Json:
        return {
            "type": "tool_execution_update",
            "toolCallId": self.call_id,
            "toolName": self.tool_name,
            "args": self.arguments,
            "partialResult": result_to_wire(self.partial),
        }


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call has its result. `duration_ms` is None when the tool did not run (04 TX-05)."""

    call_id: str
    tool_name: str
    result: ToolResult
    duration_ms: int | None = None

    def to_wire(self) -> Json:
        wire: Json = {
            "type": "tool_execution_end",
            "toolCallId": self.call_id,
            "toolName": self.tool_name,
            "result": result_to_wire(self.result),
            "isError": self.result.is_error,
        }
        if self.duration_ms is not None:
            wire["durationMs"] = self.duration_ms
        return wire


@dataclass(frozen=True, slots=True)
class RequestRepaired:
    """The request guard had to repair the history before it could be sent; `repairs` says what, for a person."""

    repairs: tuple[str, ...]

    def to_wire(self) -> Json:
        return {"type": "request_repaired", "repairs": list(self.repairs)}


@dataclass(frozen=True, slots=True)
class LimitReached:
    """The pass ends here because of a limit. `kind` is turns, time or cost.

    `value` is how much of it the pass has used: turns, milliseconds, dollars.
    """

    kind: str
    value: float

    def to_wire(self) -> Json:
        return {"type": "limit_reached", "kind": self.kind, "value": self.value}


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that a person has to allow. `position` is its place among the calls of its message; `arguments` are in
    order and fit the tool's schema.
    """

    position: int
    call_id: str
    tool_name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class CallsWaiting:
    """The pass is left here, with none of the message's calls carried out, until a person has answered.

    Nothing follows, not even `AgentEnded`; `run_agent` goes on from here when it is given the message again.
    """

    asked: tuple[AskedCall, ...]

    def to_wire(self) -> Json:
        return {"type": "calls_waiting", "toolCallIds": [call.call_id for call in self.asked]}


LoopEvent = (
    AgentStarted
    | AgentEnded
    | TurnStarted
    | TurnEnded
    | MessageStarted
    | MessageUpdated
    | MessageEnded
    | ToolStarted
    | ToolUpdated
    | ToolEnded
    | RequestRepaired
    | LimitReached
    | CallsWaiting
)


def result_to_wire(result: ToolResult) -> Json:
    """`{content, details}` of a partial or final tool result."""
    return {"content": result.content, "details": result.details}
