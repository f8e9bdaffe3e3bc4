"""One pass of the agent: asks the model, carries out its tool calls, and yields what happens until nothing is left."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from sessions_app.agent.events import (
    AgentEnded,
    AgentStarted,
    LimitReached,
    LoopEvent,
    MessageEnded,
    MessageStarted,
    MessageUpdated,
    RequestRepaired,
    TurnEnded,
    TurnStarted,
)
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.models_catalogue import ModelInfo, cost_of, output_limit
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
from sessions_app.agent.sandboxes.base import Sandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tool_batch import ABORTED_BEFORE, CUT_OFF, ToolBatch
from sessions_app.agent.tools.base import Tool
from sessions_app.core.messages import ZERO_COST, ZERO_USAGE, assistant_message, tool_calls_of

logger = logging.getLogger(__name__)

Json = dict[str, Any]

STOPPED = "The run was stopped."


@dataclass(frozen=True, slots=True)
class Limits:
    """When a pass ends although the model would go on. None means no limit.

    `deadline_ms` is a time of the loop's clock, `max_cost` dollars spent in this pass.
    """

    max_turns: int | None = None
    deadline_ms: int | None = None
    max_cost: float | None = None


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Who answers the next request and with what. `options` go to the provider as they are."""

    provider: Provider
    model: ModelInfo
    tools: Sequence[Tool] = ()
    thinking_level: str = "off"
    options: Json = field(default_factory=dict)


def run_agent(
    *,
    provider: Provider,
    model: ModelInfo,
    system: Callable[[], str] | str,
    tools: Sequence[Tool],
    sandbox: Sandbox,
    hooks: Hooks,
    inputs: list[Json],
    context: Callable[[], list[Json]],
    poll_steering: Callable[[], list[Json]],
    poll_follow_ups: Callable[[], list[Json]],
    stop: StopSignal,
    limits: Limits,
    clock: Callable[[], int],
    session_id: str,
    thinking_level: str = "off",
    options: Json | None = None,
    sequential_tools: bool = False,
    prepare_turn: Callable[[], TurnSettings | None] | None = None,
) -> Iterator[LoopEvent]:
    """Run one pass (04 §1) and yield its events; store and send nothing.

    `inputs` and polled messages come out as message_start and message_end. The caller stores each
    `MessageEnded` before it resumes the generator: `context()`, asked before every request, gives the
    projected messages with those included. `prepare_turn` is called before every turn but the first: there
    the caller may compact, and may return other settings for what follows. `clock` gives milliseconds.

    The pass ends with `AgentEnded` whatever happens; a failure becomes an assistant message with the stop
    reason error or aborted. Closing the generator ends the request and all tools.
    """
    own_stop = StopSignal()
    settings = TurnSettings(provider, model, tools, thinking_level, options or {})
    agent_pass = _Pass(
        settings=settings,
        system=system,
        sandbox=sandbox,
        hooks=hooks,
        context=context,
        poll_steering=poll_steering,
        poll_follow_ups=poll_follow_ups,
        stop=own_stop,
        limits=limits,
        clock=clock,
        session_id=session_id,
        sequential_tools=sequential_tools,
        prepare_turn=prepare_turn,
    )
    # The pass has a switch of its own, so that closing the generator can end its tools without touching the run's.
    with stop.on_request(lambda: own_stop.request(stop.reason)):
        try:
            yield from agent_pass.run(inputs)
        finally:
            own_stop.request("closed")


@dataclass(slots=True)
class _Pass:
    settings: TurnSettings
    system: Callable[[], str] | str
    sandbox: Sandbox
    hooks: Hooks
    context: Callable[[], list[Json]]
    poll_steering: Callable[[], list[Json]]
    poll_follow_ups: Callable[[], list[Json]]
    stop: StopSignal
    limits: Limits
    clock: Callable[[], int]
    session_id: str
    sequential_tools: bool
    prepare_turn: Callable[[], TurnSettings | None] | None
    messages: list[Json] = field(default_factory=list)
    started_ms: int = 0
    turns: int = 0
    cost: float = 0.0
    error: ProviderError | None = None
    continue_once: bool = False
    failure: Exception | None = None  # of the caller's own functions; it becomes the next turn's answer
    told: set[str] = field(default_factory=set)  # repairs that were reported in this pass

    def run(self, inputs: list[Json]) -> Iterator[LoopEvent]:
        self.started_ms = self.clock()
        self.hooks.agent_start({"type": "agent_start"})
        yield AgentStarted()
        pending = [*inputs, *self._poll(self.poll_steering)]
        while True:
            outcome = yield from self._turn(pending)
            if outcome.is_final:
                break
            limit = self._limit()
            if limit is not None:
                if outcome.has_results:
                    yield limit
                break  # the queues stay as they are
            following = self._next_messages(wanted=outcome.has_results)
            if following is None:
                break
            pending = self._prepare_next(following)
        ended = AgentEnded(tuple(self.messages), error=self.error)
        self.hooks.agent_end(ended.to_wire())
        yield ended

    def _poll(self, poll: Callable[[], list[Json]]) -> list[Json]:
        """Queued messages; none after a stop, which leaves the queues as they are (04 QU-08)."""
        if self.stop.is_set() or self.failure is not None:
            return []
        try:
            return poll()
        except Exception as error:
            logger.exception("reading the queues failed")
            self.failure = error
            return []

    def _next_messages(self, *, wanted: bool) -> list[Json] | None:
        """What to say before the next request; None when no other request is needed (04 §1, QU-01)."""
        pending = self._poll(self.poll_steering)
        if not wanted and not pending:
            pending = self._poll(self.poll_follow_ups)
        if wanted or pending or self.failure is not None:
            return pending
        return [] if self.continue_once and self._can_continue() else None

    def _can_continue(self) -> bool:
        """Whether the context ends in something to answer (07 §3)."""
        try:
            messages = [message for message in self.context() if message.get("role") != "system"]
        except Exception as error:
            logger.exception("reading the context failed")
            self.failure = error
            return True
        return bool(messages) and messages[-1].get("role") != "assistant"

    def _prepare_next(self, pending: list[Json]) -> list[Json]:
        if self.stop.is_set() or self.failure is not None or self.prepare_turn is None:
            return pending
        try:
            self.settings = self.prepare_turn() or self.settings
        except Exception as error:
            logger.exception("preparing the next turn failed")
            self.failure = error
        return pending or self._poll(self.poll_steering)  # 04 QU-03

    def _limit(self) -> LimitReached | None:
        limits = self.limits
        if self.stop.is_set():
            return None
        if limits.max_turns is not None and self.turns >= limits.max_turns:
            return LimitReached("turns", self.turns)
        if limits.deadline_ms is not None and self.clock() >= limits.deadline_ms:
            return LimitReached("time", self.clock() - self.started_ms)
        if limits.max_cost is not None and self.cost >= limits.max_cost:
            return LimitReached("cost", self.cost)
        return None

    def _turn(self, pending: list[Json]) -> Generator[LoopEvent, None, _TurnOutcome]:
        self.hooks.turn_start({"type": "turn_start", "turnIndex": self.turns, "timestamp": self.clock()})
        yield TurnStarted()
        for message in pending:
            yield from self._say(message)
        self.continue_once = False  # this request is the further one that was asked for
        answer = yield from self._answer()
        self.turns += 1
        calls = tool_calls_of(answer)
        is_final = answer["stopReason"] in ("error", "aborted")
        results: list[Json] = []
        terminates = False
        if calls:
            batch = ToolBatch(
                calls=calls,
                tools=self.settings.tools,
                sandbox=self.sandbox,
                hooks=self.hooks,
                stop=self.stop,
                clock=self.clock,
                sequential=self.sequential_tools,
            )
            if is_final:
                yield from batch.refuse(
                    ABORTED_BEFORE if answer["stopReason"] == "aborted" else _not_run(answer)
                )
            elif answer["stopReason"] == "length":
                yield from batch.refuse(CUT_OFF)
            else:
                yield from batch.run()
            for result in batch.messages():
                results.append((yield from self._say(result)))
                self.cost += _dollars(result)
            terminates = batch.terminates
        boundary = self.hooks.turn_end(
            {
                "type": "turn_end",
                "turnIndex": self.turns - 1,
                "message": answer,
                "toolResults": results,
                "outcome": answer["stopReason"],
            }
        )
        self.continue_once = bool(boundary["continue"])
        yield TurnEnded(answer, tuple(results), tuple(boundary["entries"]))
        return _TurnOutcome(is_final=is_final, has_results=bool(results) and not terminates)

    def _say(self, message: Json) -> Generator[LoopEvent, None, Json]:
        """A whole message as start and end; returns it as hooks left it."""
        self.hooks.message_start({"type": "message_start", "message": message})
        yield MessageStarted(message)
        message = self.hooks.message_end(message)
        self.messages.append(message)
        yield MessageEnded(message)
        return message

    def _answer(self) -> Generator[LoopEvent, None, Json]:
        """Stream one assistant message; any failure becomes one (04 §2)."""
        started = False
        final: Json | None = None
        if not self.stop.is_set():
            try:
                request = yield from self._request()
                with closing(_as_generator(self.settings.provider.stream(request, self.stop))) as stream:
                    for event in stream:
                        if not started:
                            started = True
                            yield self._message_started()
                        if event.kind == "done":
                            final = event.message
                            break
                        yield self._message_updated(event)
                if final is None and not self.stop.is_set():
                    raise ProviderError("The answer ended without its end.", kind="protocol", retryable=True)
            except ProviderError as error:
                final = self._failed(error, partial=error.partial)
            except Exception as error:
                logger.exception("the request failed", extra={"provider": self.settings.model.provider})
                final = self._failed(error, partial=None)
        if final is None:
            final = self._synthetic("aborted", STOPPED)
        if not started:
            yield self._message_started()
        final = self.hooks.message_end(self._completed(final))
        self.cost += _dollars(final)
        self.messages.append(final)
        yield MessageEnded(final)
        return final

    def _request(self) -> Generator[LoopEvent, None, ProviderRequest]:
        if self.failure is not None:
            raise self.failure
        settings = self.settings
        messages = self.hooks.context_with_system(self.hooks.context(self.context()))
        specs = tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in settings.tools)
        guarded = make_valid(
            messages,
            provider=settings.model.provider,
            model=settings.model.id,
            tools=specs,
            images=settings.model.images,
        )
        news = tuple(repair for repair in guarded.repairs if repair not in self.told)
        if news:
            self.told.update(news)
            yield RequestRepaired(news)
        system = self.system if isinstance(self.system, str) else self.system()
        tokens = request_tokens(system=system, messages=guarded.messages, tools=specs)
        return ProviderRequest(
            model=settings.model.id,
            system=system,
            messages=guarded.messages,
            tools=specs,
            thinking_level=settings.thinking_level,
            max_tokens=output_limit(settings.model, tokens),
            session_id=self.session_id,
            options=settings.options,
            taps=self._taps(),
        )

    def _taps(self) -> ProviderTaps:
        hooks = self.hooks
        return ProviderTaps(
            headers=hooks.before_provider_headers if hooks.has("before_provider_headers") else None,
            payload=hooks.before_provider_request if hooks.has("before_provider_request") else None,
            response=hooks.after_provider_response if hooks.has("after_provider_response") else None,
            stream_event=hooks.provider_stream_event if hooks.has("provider_stream_event") else None,
        )

    def _message_started(self) -> MessageStarted:
        event = MessageStarted(self._synthetic("pending", None))
        self.hooks.message_start(event.to_wire())
        return event

    def _message_updated(self, event: ProviderEvent) -> MessageUpdated:
        updated = MessageUpdated(event.usage or {}, _nested_update(event))
        if self.hooks.has("message_update"):
            self.hooks.message_update(updated.to_wire())
        return updated

    def _failed(self, error: Exception, *, partial: Json | None) -> Json:
        """The answer a failure leaves: what had arrived, marked as error, or as aborted after a stop."""
        if self.stop.is_set():
            return {**(partial or self._synthetic("aborted", STOPPED)), "stopReason": "aborted"}
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
        settings = self.settings
        return assistant_message(
            [],
            api=getattr(settings.provider, "api", settings.model.provider),
            provider=settings.model.provider,
            model=settings.model.id,
            timestamp=self.clock(),
            stop_reason=stop_reason,
            error_message=error_message,
        )

    def _completed(self, message: Json) -> Json:
        """The provider's message with what the loop knows better: time, level and cost."""
        usage = {**ZERO_USAGE, "cost": dict(ZERO_COST), **(message.get("usage") or {})}
        usage["cost"] = cost_of(usage, self.settings.model)
        completed = {
            **message,
            "provider": self.settings.model.provider,
            "thinkingLevel": self.settings.thinking_level,
            "usage": usage,
            "timestamp": self.clock(),
        }
        if completed["stopReason"] == "aborted":
            completed.setdefault("errorMessage", STOPPED)
        return completed


@dataclass(frozen=True, slots=True)
class _TurnOutcome:
    """`is_final`: error or aborted, the pass ends. `has_results`: the model waits for an answer to its calls."""

    is_final: bool
    has_results: bool


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


def _not_run(answer: Json) -> str:
    return f"This call was not carried out: the answer ended with an error. {answer.get('errorMessage', '')}".rstrip()


def _dollars(message: Json) -> float:
    usage = message.get("usage") or {}
    return float((usage.get("cost") or {}).get("total") or 0.0)
