"""The port to whoever answers: one request in, a stream of events out, ending in one finished message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from sessions_app.agent.stop import StopSignal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told of a tool; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Json


@dataclass(frozen=True, slots=True)
class ProviderTaps:
    """Where hooks may reach the vendor's wire (spec 07 §3, the provider hooks); None where nobody listens.

    `headers` may change the extra headers in place, `payload` returns the body to send, `response` gets
    `{status, headers}`, `stream_event` each raw event of the stream.
    """

    headers: Callable[[dict[str, str]], None] | None = None
    payload: Callable[[Json], Json] | None = None
    response: Callable[[Json], None] | None = None
    stream_event: Callable[[Json], None] | None = None


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One request, already made valid by the request guard.

    `messages` have the stored shape (roles `user`, `assistant`, `toolResult` only) in an order every
    provider accepts. `system` is the whole system prompt. `thinking_level` is one of off, minimal, low,
    medium, high, xhigh, max. `max_tokens` is the output limit in tokens. `options` are the provider's own,
    named in its module.
    """

    model: str
    system: str
    messages: list[Json]
    tools: tuple[ToolSpec, ...] = ()
    thinking_level: str = "off"
    max_tokens: int = 8192
    session_id: str = ""
    options: Json = field(default_factory=dict)
    taps: ProviderTaps = ProviderTaps()


@dataclass(frozen=True, slots=True)
class ProviderEvent:
    """One step of an answer.

    `kind` is text_start, text_delta, text_end, thinking_start, thinking_delta, thinking_end,
    toolcall_start, toolcall_delta, toolcall_end or done. `index` is the content block's position in the
    finished message. `delta` carries text of *_delta; `block` the finished block of *_end and, for
    toolcall_start, `{id, name}`; `message` the finished assistant message (stored shape of spec 01 §2)
    of `done`, which is always the last event. An answer cut short by the stop signal is `done` too, with
    stopReason `aborted` and what had arrived. `usage` is what is known so far, if anything is.
    """

    kind: str
    index: int = 0
    delta: str = ""
    block: Json | None = None
    message: Json | None = None
    usage: Json | None = None


class ProviderError(Exception):
    """The provider could not answer. `retryable` tells a passing fault from a final one.

    `kind` is one of: auth, missing_key, unknown_model, overflow, rate_limit, quota, overloaded, network, timeout,
    bad_request, server, refused, protocol. `partial` is the assistant message received so far, if any.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        retryable: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
        partial: Json | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after
        self.partial = partial


class Provider(Protocol):
    """A provider is made for one run with its key and base URL passed in; it never reads the environment."""

    name: str

    def stream(self, request: ProviderRequest, stop: StopSignal) -> Iterator[ProviderEvent]:
        """Yield the answer's events. Raises ProviderError; never retries after the first event."""
        ...
