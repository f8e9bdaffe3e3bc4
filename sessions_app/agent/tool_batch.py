"""Runs the tool calls of one assistant message: prepared in order, executed side by side, one result each."""

from __future__ import annotations

import contextvars
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.agent.events import AskedCall, LoopEvent, ToolEnded, ToolStarted, ToolUpdated
from sessions_app.agent.hooks import HookRefusalError, Hooks
from sessions_app.agent.request_content import clean_value
from sessions_app.agent.result_images import with_usable_images
from sessions_app.agent.sandboxes.base import Sandbox, SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tool_presets import Permit
from sessions_app.agent.tools.arguments import prepare_arguments
from sessions_app.agent.tools.base import Tool, ToolError, ToolResult

logger = logging.getLogger(__name__)

Json = dict[str, Any]

MAX_PARALLEL_CALLS = 8
# How long a stopped tool may take to end by itself, and how long after its processes were killed.
SECONDS_TO_END = 3.0
SECONDS_AFTER_KILL = 5.0

ABORTED_BEFORE = "The run was stopped before this call was carried out. Nothing was done."
ABORTED_WHILE = "The run was stopped while this call was under way."
CUT_OFF = (
    "This call was not carried out: the answer reached its output limit, so the arguments may be cut off. "
    "Make the call again, with shorter arguments if need be."
)

NOT_ASKED = "This call needs a person's permission, and nobody was asked. Nothing was done."


def error_result(text: str, *, details: Json | None = None, terminate: bool = False) -> ToolResult:
    """A result that tells the model what went wrong."""
    return ToolResult(
        content=[{"type": "text", "text": text}], details=details or {}, is_error=True, terminate=terminate
    )


@dataclass(slots=True)
class Call:
    """One tool call on its way from the model's words to its result."""

    id: str
    name: str
    arguments: Json
    malformed: str | None = None  # what the model wrote instead of a JSON object
    tool: Tool | None = None
    result: ToolResult | None = None
    duration_ms: int | None = None
    latest: ToolResult | None = None  # the newest partial result that the loop has not seen yet
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class _Finished:
    call: Call
    result: ToolResult
    duration_ms: int


class ToolBatch:
    """All calls of one message. Iterate `run()` to the end, then read `messages()` and `terminates`."""

    def __init__(
        self,
        *,
        calls: Sequence[Json],
        tools: Sequence[Tool],
        sandbox: Sandbox,
        hooks: Hooks,
        stop: StopSignal,
        clock: Callable[[], int],
        sequential: bool = False,
        resize_images: bool = True,
        permit: Permit = lambda position, tool: "",
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._sandbox = sandbox
        self._hooks = hooks
        self._stop = stop
        self._clock = clock
        self._permit = permit
        self._resize_images = resize_images
        self._calls = [
            Call(
                id=str(call.get("id", "")),
                name=str(call.get("name", "")),
                arguments=call.get("arguments") or {},
                malformed=call.get("malformedArguments"),
            )
            for call in calls
        ]
        named = [self._tools[call.name] for call in self._calls if call.name in self._tools]
        self._sequential = sequential or any(tool.sequential for tool in named)

    @property
    def terminates(self) -> bool:
        """Whether every result asks for the end of the pass, and there is at least one (04 TX-07)."""
        return bool(self._calls) and all(
            call.result is not None and call.result.terminate for call in self._calls
        )

    def asked(self) -> tuple[AskedCall, ...]:
        """The calls that a person has to allow before any of the batch is carried out; none after a stop.

        What would be refused anyway is not asked for.
        """
        if self._stop.is_set():
            return ()
        asked = []
        for position, call in enumerate(self._calls):
            tool = self._tools.get(call.name)
            if tool is None or call.malformed is not None or self._permit(position, call.name) is not None:
                continue
            try:
                arguments = prepare_arguments(tool, call.arguments)
            except ToolError:
                continue
            asked.append(AskedCall(position, call.id, call.name, arguments))
        return tuple(asked)

    def run(self) -> Iterator[LoopEvent]:
        """Carry the calls out (04 TX-01, TX-02). Closing the generator ends what still runs."""
        if self._sequential:
            for call in self._calls:
                yield from self._prepare(call)
                yield from self._execute([call])
        else:
            for call in self._calls:
                yield from self._prepare(call)
            yield from self._execute(self._calls)

    def refuse(self, text: str) -> Iterator[LoopEvent]:
        """Give every call the same error result without looking at it (04 TX-08)."""
        for call in self._calls:
            yield from self._start(call)
            yield self._end(call, error_result(text))

    def messages(self) -> list[Json]:
        """The tool-result messages in the order of the calls."""
        return [self._message(call) for call in self._calls]

    def _start(self, call: Call) -> Iterator[LoopEvent]:
        event = ToolStarted(call.id, call.name, call.arguments)
        self._hooks.tool_execution_start(event.to_wire())
        yield event

    def _prepare(self, call: Call) -> Iterator[LoopEvent]:
        yield from self._start(call)
        refusal = self._refusal(call)
        if refusal is not None:
            yield self._end(call, refusal)

    def _refusal(self, call: Call) -> ToolResult | None:
        """Why the call is not carried out; None when it is ready, with its arguments put in order (04 TX-03)."""
        if self._stop.is_set():
            return error_result(ABORTED_BEFORE)
        call.tool = self._tools.get(call.name)
        if call.tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            return error_result(f"There is no tool named {call.name!r}. Available tools: {known}.")
        if call.malformed is not None:
            return error_result(f"The arguments are not a JSON object: {call.malformed[:500]}")
        try:
            call.arguments = prepare_arguments(call.tool, call.arguments)
            event: Json = {"toolName": call.name, "toolCallId": call.id, "input": call.arguments}
            verdict = self._hooks.tool_call(event)
        except ToolError as error:
            return error_result(str(error), details=error.details)
        except HookRefusalError as error:
            return error_result(f"The call was refused because a check failed: {error}")
        except Exception as error:
            logger.exception("preparing a tool call failed", extra={"tool": call.name})
            return error_result(f"The call could not be prepared. {_describe(error)}")
        if refusal := self._not_permitted(call):
            return error_result(refusal)
        if verdict.get("block"):
            reason = verdict.get("reason") or "The call was refused."
            return error_result(str(reason), terminate=bool(verdict.get("terminate")))
        if isinstance(event["input"], dict):
            call.arguments = event["input"]
        if self._stop.is_set():
            return error_result(ABORTED_BEFORE)
        return None

    def _not_permitted(self, call: Call) -> str:
        position = next(place for place, known in enumerate(self._calls) if known is call)
        answer = self._permit(position, call.name)
        return NOT_ASKED if answer is None else answer

    def _execute(self, calls: Sequence[Call]) -> Iterator[LoopEvent]:
        waiting = deque(call for call in calls if call.result is None)
        running: dict[int, tuple[Call, threading.Thread]] = {}
        inbox: queue.SimpleQueue[Call | _Finished | None] = queue.SimpleQueue()
        patience = _Patience(self._sandbox)
        try:
            with self._stop.on_request(lambda: inbox.put(None)):
                while waiting or running:
                    if self._stop.is_set():
                        while waiting:
                            yield self._end(waiting.popleft(), error_result(ABORTED_BEFORE))
                    while waiting and len(running) < MAX_PARALLEL_CALLS:
                        call = waiting.popleft()
                        if call.tool is not None:
                            running[_key(call)] = (call, self._launch(call, call.tool, inbox))
                    if not running:
                        break
                    yield from self._receive(inbox, running, patience)
        finally:
            if running:
                # Only when the generator is closed or a listener raised: nobody waits for these any more.
                self._stop.request("closed")
                self._sandbox.kill_all()
                deadline = time.monotonic() + SECONDS_AFTER_KILL
                for _, thread in running.values():
                    if thread.is_alive():
                        thread.join(max(0.0, deadline - time.monotonic()))

    def _receive(
        self,
        inbox: queue.SimpleQueue[Call | _Finished | None],
        running: dict[int, tuple[Call, threading.Thread]],
        patience: _Patience,
    ) -> Iterator[LoopEvent]:
        try:
            item = inbox.get(timeout=patience.seconds(stopped=self._stop.is_set()))
        except queue.Empty:
            if patience.is_over():
                # The thread cannot be ended from outside. Say so instead of waiting for ever.
                for call, _ in list(running.values()):
                    yield self._end(
                        call,
                        error_result(f"{ABORTED_WHILE} It did not end in time and may still be running."),
                    )
                running.clear()
            return
        if isinstance(item, _Finished):
            # A call that was given up has its result already; what it says now comes too late (04 TX-05).
            if running.pop(_key(item.call), None) is not None:
                yield self._end(item.call, item.result, item.duration_ms)
        elif isinstance(item, Call) and _key(item) in running:
            with item.lock:
                partial, item.latest = item.latest, None
            if partial is not None:
                event = ToolUpdated(item.id, item.name, item.arguments, partial)
                if self._hooks.has("tool_execution_update"):
                    self._hooks.tool_execution_update(event.to_wire())
                yield event

    def _launch(
        self, call: Call, tool: Tool, inbox: queue.SimpleQueue[Call | _Finished | None]
    ) -> threading.Thread:
        context = (
            contextvars.copy_context()
        )  # log records of the tool keep the session and run they belong to
        thread = threading.Thread(
            target=context.run, args=(self._work, call, tool, inbox), name=f"tool-{call.name}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system gives no more threads
            inbox.put(_Finished(call, error_result(_describe(error)), 0))
        return thread

    def _work(self, call: Call, tool: Tool, inbox: queue.SimpleQueue[Call | _Finished | None]) -> None:
        """The thread of one call. Whatever happens, it leaves one `_Finished`."""

        def on_update(partial: ToolResult) -> None:
            with call.lock:
                announced = call.latest is not None
                call.latest = partial
            if not announced:  # partial results replace one another: one waiting notice is enough
                inbox.put(call)

        result = error_result("The tool ended without a result.")
        started = self._clock()
        try:
            returned = tool.run(call.arguments, self._sandbox, self._stop, on_update)
            if isinstance(returned, ToolResult):  # an extension's tool may return anything
                result = returned
        except ToolError as error:
            result = error_result(str(error), details=error.details)
        except SandboxError as error:
            result = error_result(str(error))
        except (Exception, SystemExit) as error:
            logger.exception("a tool raised", extra={"tool": call.name})
            result = error_result(_describe(error))
        finally:
            inbox.put(_Finished(call, result, self._clock() - started))

    def _end(self, call: Call, result: ToolResult, duration_ms: int | None = None) -> ToolEnded:
        call.duration_ms = duration_ms
        if duration_ms is not None:
            result = self._patched(call, result)
            content = with_usable_images(result.content, resize=self._resize_images)
            result = replace(result, content=content)
        call.result = result
        event = ToolEnded(call.id, call.name, call.result, call.duration_ms)
        self._hooks.tool_execution_end(event.to_wire())
        return event

    def _patched(self, call: Call, result: ToolResult) -> ToolResult:
        if not self._hooks.has("tool_result"):
            return result
        event: Json = {
            "toolName": call.name,
            "toolCallId": call.id,
            "input": call.arguments,
            "content": result.content,
            "details": result.details,
            "isError": result.is_error,
            "usage": result.usage,
        }
        if result.structured is not None:
            event["structuredContent"] = result.structured()
        try:
            event = self._hooks.tool_result(event)
            return replace(
                result,
                content=list(event["content"]),
                details=event["details"],
                is_error=bool(event["isError"]),
                usage=event["usage"],
            )
        except Exception as error:
            logger.exception("a tool_result hook failed", extra={"tool": call.name})
            return error_result(f"The result was refused because a check failed. {_describe(error)}")

    def _message(self, call: Call) -> Json:
        result = call.result or error_result(ABORTED_BEFORE)
        message: Json = {
            "role": "toolResult",
            "toolCallId": call.id,
            "toolName": call.name,
            # Stored and sent alike: file names and output may hold what is no text.
            "content": clean_value(result.content),
            "isError": result.is_error,
            "timestamp": self._clock(),
        }
        if result.details:
            message["details"] = clean_value(result.details)
        if result.usage:
            message["usage"] = result.usage
        if call.duration_ms is not None:
            message["durationMs"] = call.duration_ms
        return message


class _Patience:
    """How long to wait for tools after a stop: first for themselves, then after their processes were killed."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._deadline: float | None = None
        self._killed = False

    def seconds(self, *, stopped: bool) -> float | None:
        """What is left to wait; None for ever, as long as nobody asked for a stop."""
        if not stopped:
            return None
        if self._deadline is None:
            self._deadline = time.monotonic() + SECONDS_TO_END
        return max(0.0, self._deadline - time.monotonic())

    def is_over(self) -> bool:
        """Called when the wait was in vain: kills processes the first time, gives up the second time."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return False
        if self._killed:
            return True
        self._killed = True
        self._sandbox.kill_all()
        self._deadline = time.monotonic() + SECONDS_AFTER_KILL
        return False


def _key(call: Call) -> int:
    return id(call)  # not the model's id, which may occur twice in one message


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
