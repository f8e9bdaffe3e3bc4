"""One pass of the agent: asks the model, carries out its tool calls, and yields what happens until nothing is left."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions_app.agent.answering import Answering, TurnSettings
from sessions_app.agent.events import (
    AgentEnded,
    AgentStarted,
    CallsWaiting,
    LimitReached,
    LoopEvent,
    MessageEnded,
    MessageStarted,
    TurnEnded,
    TurnStarted,
)
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.models_catalogue import ModelInfo
from sessions_app.agent.providers.base import Provider
from sessions_app.agent.sandboxes.base import Sandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tool_batch import ABORTED_BEFORE, CUT_OFF, ToolBatch
from sessions_app.agent.tool_presets import Permit
from sessions_app.agent.tools.base import Tool
from sessions_app.core.messages import tool_calls_of

__all__ = ["Limits", "PassLeft", "TurnSettings", "run_agent"]

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class PassLeft(Exception):  # noqa: N818 - it reads as a sentence where it is raised
    """Raised by `prepare_turn`: a person has to decide first, so the pass is left before its next turn."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a pass ends although the model would go on. None means no limit.

    `deadline_ms` is a time of the loop's clock, `max_cost` dollars spent in this pass.
    """

    max_turns: int | None = None
    deadline_ms: int | None = None
    max_cost: float | None = None


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
    resize_images: bool = True,
    prepare_turn: Callable[[], TurnSettings | None] | None = None,
    permit: Permit = lambda position, tool: "",
    open_answer: Json | None = None,
    goes_on: bool = False,
) -> Iterator[LoopEvent]:
    """Run one pass (04 §1) and yield its events; store and send nothing.

    `inputs` and polled messages come out as message_start and message_end. The caller stores each
    `MessageEnded` before it resumes the generator: `context()`, asked before every request, gives the
    projected messages with those included. `prepare_turn` is called before every turn but the first: there
    the caller may compact, and may return other settings for what follows. `clock` gives milliseconds.

    The pass ends with `AgentEnded` whatever happens; a failure becomes an assistant message with the stop
    reason error or aborted. Closing the generator ends the request and all tools.

    `permit` says which calls may be carried out. Where a person has to be asked the pass is left with
    `CallsWaiting`; given that message as `open_answer`, another call goes on with its tools as if nothing had
    been in between. A pass that `prepare_turn` has left by `PassLeft` ends without a word too; another call that
    `goes_on` begins with the turn it was left before.
    """
    own_stop = StopSignal()
    settings = TurnSettings(provider, model, tools, thinking_level, options or {})
    agent_pass = _Pass(
        settings=settings,
        answering=Answering(
            settings=settings,
            system=system,
            context=context,
            hooks=hooks,
            stop=own_stop,
            clock=clock,
            session_id=session_id,
        ),
        sandbox=sandbox,
        hooks=hooks,
        context=context,
        poll_steering=poll_steering,
        poll_follow_ups=poll_follow_ups,
        stop=own_stop,
        limits=limits,
        clock=clock,
        sequential_tools=sequential_tools,
        resize_images=resize_images,
        prepare_turn=prepare_turn,
        permit=permit,
    )
    # The pass has a switch of its own, so that closing the generator can end its tools without touching the run's.
    with stop.on_request(lambda: own_stop.request(stop.reason)):
        try:
            yield from agent_pass.run(inputs, open_answer, goes_on=goes_on)
        finally:
            own_stop.request("closed")


@dataclass(slots=True)
class _Pass:
    settings: TurnSettings
    answering: Answering
    sandbox: Sandbox
    hooks: Hooks
    context: Callable[[], list[Json]]
    poll_steering: Callable[[], list[Json]]
    poll_follow_ups: Callable[[], list[Json]]
    stop: StopSignal
    limits: Limits
    clock: Callable[[], int]
    sequential_tools: bool
    resize_images: bool
    prepare_turn: Callable[[], TurnSettings | None] | None
    permit: Permit
    messages: list[Json] = field(default_factory=list)
    started_ms: int = 0
    turns: int = 0
    cost: float = 0.0
    continue_once: bool = False
    failure: Exception | None = None  # of the caller's own functions; it becomes the next turn's answer

    def run(
        self, inputs: list[Json], open_answer: Json | None, *, goes_on: bool = False
    ) -> Iterator[LoopEvent]:
        self.started_ms = self.clock()
        if open_answer is None:
            if not goes_on:
                self.hooks.agent_start({"type": "agent_start"})
                yield AgentStarted()
            outcome = yield from self._turn([*inputs, *self._poll(self.poll_steering)])
        else:
            outcome = yield from self._finish_turn(open_answer)
        while True:
            if outcome.waits:
                return
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
            try:
                prepared = self._prepare_next(following)
            except PassLeft:
                return
            outcome = yield from self._turn(prepared)
        ended = AgentEnded(tuple(self.messages), error=self.answering.error)
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
        except PassLeft:
            raise
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
        answer = yield from self.answering.stream(self.settings, self.failure)
        self.cost += _dollars(answer)
        return (yield from self._finish_turn(answer))

    def _finish_turn(self, answer: Json) -> Generator[LoopEvent, None, _TurnOutcome]:
        """What follows an answer: its tools, and the end of the turn."""
        self.messages.append(answer)
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
                resize_images=self.resize_images,
                permit=self.permit,
            )
            if is_final:
                yield from batch.refuse(
                    ABORTED_BEFORE if answer["stopReason"] == "aborted" else _not_run(answer)
                )
            elif answer["stopReason"] == "length":
                yield from batch.refuse(CUT_OFF)
            else:
                if asked := batch.asked():
                    yield CallsWaiting(asked)
                    return _TurnOutcome(waits=True)
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


@dataclass(frozen=True, slots=True)
class _TurnOutcome:
    """`is_final`: error or aborted, the pass ends. `has_results`: the model waits for an answer to its calls.
    `waits`: a person has to be asked before the calls are carried out.
    """

    is_final: bool = False
    has_results: bool = False
    waits: bool = False


def _not_run(answer: Json) -> str:
    return f"This call was not carried out: the answer ended with an error. {answer.get('errorMessage', '')}".rstrip()


def _dollars(message: Json) -> float:
    usage = message.get("usage") or {}
    return float((usage.get("cost") or {}).get("total") or 0.0)
