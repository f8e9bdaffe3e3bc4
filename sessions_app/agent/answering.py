"""Asks the model for one message and yields it as it comes; whatever goes wrong becomes a message too (04 §2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from sessions_app.agent.events import LoopEvent, MessageEnded, MessageStarted, MessageUpdated, RequestRepaired
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.models_catalogue import ModelInfo, clamp_level, cost_of, output_limit
from sessions_app.agent.providers.base import (
    Provider,
    ProviderError,
    ProviderEvent,
    ProviderRequest,
    ProviderTaps,
    ToolSpec,
)
from sessions_app.agent.request_content import clean_text
from sessions_app.agent.request_guard import make_valid
from sessions_app.agent.request_size import request_tokens
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Tool
from sessions_app.core.messages import ZERO_COST, ZERO_USAGE, assistant_message

logger = logging.getLogger(__name__)

Json = dict[str, Any]

STOPPED = "The run was stopped."


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Who answers the next request and with what. `options` go to the provider as they are."""

    provider: Provider
    model: ModelInfo
    tools: Sequence[Tool] = ()
    thinking_level: str = "off"
    options: Json = field(default_factory=dict)


class Answering:
    """The asking side of one pass. `error` is the provider's fault behind the newest answer, if there was one."""

    def __init__(
        self,
        *,
        settings: TurnSettings,
        system: Callable[[], str] | str,
        context: Callable[[], list[Json]],
        hooks: Hooks,
        stop: StopSignal,
        clock: Callable[[], int],
        session_id: str,
    ) -> None:
        self._settings = settings
        self._system = system
        self._context = context
        self._hooks = hooks
        self._stop = stop
        self._clock = clock
        self._session_id = session_id
        self._told: set[str] = set()  # repairs that were reported in this pass
        self.error: ProviderError | None = None

    def stream(self, settings: TurnSettings, failure: Exception | None) -> Generator[LoopEvent, None, Json]:
        """One assistant message from its start to its end; returns it as it is to be stored.

        `failure` is what went wrong before the request: it becomes the answer at once.
        """
        self._settings = settings
        self.error = None
        started = False
        final: Json | None = None
        if not self._stop.is_set():
            try:
                request = yield from self._request(failure)
                with closing(_as_generator(self._settings.provider.stream(request, self._stop))) as stream:
                    for event in stream:
                        if not started:
                            started = True
                            yield self._message_started()
                        if event.kind == "done":
                            final = event.message
                            break
                        yield self._message_updated(event)
                if final is None and not self._stop.is_set():
                    raise ProviderError("The answer ended without its end.", kind="protocol", retryable=True)
            except ProviderError as error:
                final = self._failed(error, partial=error.partial)
            except Exception as error:
                logger.exception("the request failed", extra={"provider": self._settings.model.provider})
                final = self._failed(error, partial=None)
        if final is None:
            final = self._synthetic("aborted", STOPPED)
        if not started:
            yield self._message_started()
        final = self._hooks.message_end(self._completed(final))
        yield MessageEnded(final)
        return final

    def _request(self, failure: Exception | None) -> Generator[LoopEvent, None, ProviderRequest]:
        if failure is not None:
            raise failure
        settings = self._settings
        messages = self._hooks.context_with_system(self._hooks.context(self._context()))
        specs = tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in settings.tools)
        guarded = make_valid(
            messages,
            provider=settings.model.provider,
            model=settings.model.id,
            tools=specs,
            images=settings.model.images,
            images_blocked=bool(settings.options.get("blockImages")),
        )
        news = tuple(repair for repair in guarded.repairs if repair not in self._told)
        if news:
            self._told.update(news)
            yield RequestRepaired(news)
        system = self._system if isinstance(self._system, str) else self._system()
        tokens = request_tokens(system=system, messages=guarded.messages, tools=specs)
        return ProviderRequest(
            model=settings.model.id,
            system=system,
            messages=guarded.messages,
            tools=specs,
            thinking_level=settings.thinking_level,
            max_tokens=output_limit(settings.model, tokens),
            session_id=self._session_id,
            options=settings.options,
            taps=self._taps(),
        )

    def _taps(self) -> ProviderTaps:
        hooks = self._hooks
        return ProviderTaps(
            headers=hooks.before_provider_headers if hooks.has("before_provider_headers") else None,
            payload=hooks.before_provider_request if hooks.has("before_provider_request") else None,
            response=hooks.after_provider_response if hooks.has("after_provider_response") else None,
            stream_event=hooks.provider_stream_event if hooks.has("provider_stream_event") else None,
        )

    def _message_started(self) -> MessageStarted:
        event = MessageStarted(self._synthetic("pending", None))
        self._hooks.message_start(event.to_wire())
        return event

    def _message_updated(self, event: ProviderEvent) -> MessageUpdated:
        updated = MessageUpdated(event.usage or {}, _nested_update(event))
        if self._hooks.has("message_update"):
            self._hooks.message_update(updated.to_wire())
        return updated

    def _failed(self, error: Exception, *, partial: Json | None) -> Json:
        """The answer a failure leaves: what had arrived, marked as error, or as aborted after a stop."""
        if self._stop.is_set():
            message = partial or self._synthetic("aborted", STOPPED)
            return {**message, "stopReason": "aborted", "errorMessage": STOPPED}
        if isinstance(error, ProviderError):
            self.error = error
            text = clean_text(str(error)) or error.kind
            diagnostic = {"type": "provider_error", "kind": error.kind, "retryable": error.retryable}
            if error.status is not None:
                diagnostic["status"] = error.status
        else:
            text = clean_text(f"{type(error).__name__}: {error}")
            diagnostic = {"type": "internal_error", "kind": type(error).__name__, "retryable": False}
        message = {**(partial or self._synthetic("error", text)), "stopReason": "error", "errorMessage": text}
        message["diagnostics"] = [diagnostic]
        return message

    def _synthetic(self, stop_reason: str, error_message: str | None) -> Json:
        settings = self._settings
        return assistant_message(
            [],
            api=getattr(settings.provider, "api", settings.model.provider),
            provider=settings.model.provider,
            model=settings.model.id,
            timestamp=self._clock(),
            stop_reason=stop_reason,
            error_message=error_message,
        )

    def _completed(self, message: Json) -> Json:
        """The provider's message with what the loop knows better: time, level and cost."""
        usage = {**ZERO_USAGE, "cost": dict(ZERO_COST), **(message.get("usage") or {})}
        usage["cost"] = cost_of(usage, self._settings.model)
        completed = {
            **message,
            "provider": self._settings.model.provider,
            "thinkingLevel": self._settings.thinking_level,
            "usage": usage,
            "timestamp": self._clock(),
        }
        used = clamp_level(self._settings.thinking_level, self._settings.model)
        if used != self._settings.thinking_level:
            completed["providerThinkingLevel"] = used
        if completed["stopReason"] == "aborted":
            completed.setdefault("errorMessage", STOPPED)
        return completed


def _nested_update(event: ProviderEvent) -> Json:
    """The `assistantMessageEvent` of spec 10 for a provider's event."""
    update: Json = {"type": event.kind, "contentIndex": event.index}
    block = event.block or {}
    match event.kind:
        case "text_delta" | "thinking_delta" | "toolcall_delta":
            update["delta"] = event.delta
        case "text_end":
            update["content"] = block.get("text", "")
        case "thinking_end":
            update["content"] = block.get("thinking", "")
        case "toolcall_start":
            update["id"] = block.get("id", "")
            update["toolName"] = block.get("name", "")
        case "toolcall_end":
            update["toolCall"] = block
    return update


def _as_generator(events: Iterator[ProviderEvent]) -> Generator[ProviderEvent, None, None]:
    # A provider may return any iterator; as a generator it can be closed, and closing reaches the provider's own.
    try:
        yield from events
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
