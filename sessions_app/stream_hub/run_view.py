"""What a viewer sees of a run that is at work: the open answer and the running tools, as frames and as a whole."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.utils import timezone

from sessions_app.fragments import (
    render_compacting,
    render_live_note,
    render_retrying,
    render_tool_running,
    tail_of,
)
from sessions_app.stream_hub.growing_answer import GrowingAnswer, Op

logger = logging.getLogger(__name__)

Json = dict[str, Any]

COMPACTING = "compacting"
"""Key of the row that says that older messages are being summarised."""
RETRYING = "retrying"
"""Key of the row that counts down to another attempt."""


@dataclass(slots=True)
class RunningTool:
    """A running call: `{"id", "name", "arguments"}` and the end of its output."""

    call: Json
    tail: str = ""
    ended: bool = False
    since: str = field(default_factory=lambda: timezone.now().isoformat())

    def html(self) -> str:
        return render_tool_running(self.call, tail=self.tail, ended=self.ended, since=self.since)

    def start(self) -> list[Op]:
        return [["tool", self.call["id"], self.html()]]

    def grow(self) -> list[Op]:
        return [["tooltail", self.call["id"], self.tail]]


class RunView:
    """Folds a run's events (spec 10) into something that can be shown.

    `take` is cheap and may be called often; `ops` renders what has changed since it was last called.
    """

    def __init__(self) -> None:
        self._answer: GrowingAnswer | None = None
        self._tools: dict[str, RunningTool] = {}
        self._notes: dict[str, str] = {}
        self._compacts = ""
        self._retries = ""
        self._result_of = ""
        self._answers = 0
        # Made into ops when they are sent: what is over by then costs nothing.
        self._changes: list[Callable[[], Iterable[Op]]] = []
        self._grown: set[str] = set()
        self.ended = False
        self.status = ""
        self.says: list[str] = []

    def take(self, events: Iterable[Json]) -> None:
        for event in events:
            try:
                self._take(event)
            except (KeyError, TypeError, ValueError, AttributeError):
                # The row will tell what this event did not.
                logger.exception("an event could not be shown")

    @property
    def has_changes(self) -> bool:
        return bool(self._changes)

    def ops(self) -> list[Op]:
        """What the browser has to do, in order; each block is rendered once."""
        changes, self._changes = self._changes, []
        self._grown.clear()
        return [op for change in changes for op in change()]

    def settle(self) -> None:
        """Forget what has changed: nobody has seen anything yet, and all will get a snapshot."""
        self._changes.clear()
        self._grown.clear()
        self.says.clear()
        if self._answer:
            self._answer.settle()

    def snapshot(self, without: Collection[str] = ()) -> str:
        """The whole of `#live` as it is after the last `ops`, but for the previews of those keys."""
        answer = self._answer.html() if self._answer and self._answer.key not in without else ""
        tools = "".join(tool.html() for key, tool in self._tools.items() if key not in without)
        return answer + tools + self._compacts + self._retries + "".join(self._notes.values())

    def _take(self, event: Json) -> None:
        match event["type"]:
            case "message_update" if self._answer:
                for change, block in self._answer.take(event["assistantMessageEvent"]):
                    self._changes.append(partial(self._answer.ops, change, block))
            case "message_start":
                self._message_started(event)
            case "message_end":
                self._message_ended()
            case "tool_execution_start":
                call = {
                    "id": event["toolCallId"],
                    "name": event["toolName"],
                    "arguments": event.get("args") or {},
                }
                tool = self._tools[event["toolCallId"]] = RunningTool(call)
                self._changes.append(tool.start)
                self.says.append(f"Running {event['toolName']}")
            case "tool_execution_update" | "tool_execution_end":
                self._tool_said(event)
                if event["type"] == "tool_execution_end":
                    self._tool_ended(event["toolCallId"])
            case "reset":
                self._start_anew()
            case "run_end":
                self._start_anew()
                self.ended, self.status = True, str(event.get("status", ""))
            case kind:
                self._take_aside(kind, event)

    def _take_aside(self, kind: str, event: Json) -> None:
        """What happens beside answers and tools."""
        match kind:
            case "auto_retry_start":
                self.says.append(
                    f"The provider failed; trying again in {event.get('delayMs', 0) / 1000:.0f} s"
                )
                html = self._retries = render_retrying(RETRYING, event)
                self._changes.append(lambda: [["message", RETRYING, html]])
            case "auto_retry_end":
                self._retry_began()
                if event.get("success"):
                    self.says.append("The provider answers again")
            case "compaction_start":
                self.says.append("Summing up older messages")
                self._compaction_began(str(event.get("reason", "")))
            case "compaction_end":
                self._compaction_ended(event)
            case "compaction_held":
                self._compacts = ""
                self._drop(COMPACTING)
                self.says.append("The summary waits for a review")
            case "compaction_paused":
                self._note("compaction-paused", str(event.get("message", "")))
            case "request_repaired":
                # Its row is an entry.
                self.says.append("The history was put in order for the model")

    def _message_started(self, event: Json) -> None:
        message = event["message"]
        if message.get("role") == "toolResult":
            self._result_of = str(message.get("toolCallId", ""))
        if message.get("role") != "assistant":
            return
        self._retry_began()
        self._answers = int(event.get("answer") or self._answers + 1)
        self._answer = GrowingAnswer(f"m{self._answers}", message)
        self._changes.append(self._answer.start)

    def _message_ended(self) -> None:
        """The row is stored and has been shown (it was announced before); the preview goes."""
        if self._result_of:
            self._tools.pop(self._result_of, None)
            self._drop(self._result_of)
            self._result_of = ""
        elif self._answer:
            self._drop(self._answer.key)
            self._answer = None

    def _tool_said(self, event: Json) -> None:
        tool = self._tools.get(event["toolCallId"])
        result = event.get("partialResult") or event.get("result") or {}
        text = "".join(block.get("text", "") for block in result.get("content", ()))
        tail = tail_of(text)
        if tool and tail != tool.tail:
            tool.tail = tail
            if tool.call["id"] not in self._grown:
                self._grown.add(tool.call["id"])
                self._changes.append(tool.grow)

    def _retry_began(self) -> None:
        if self._retries:
            self._retries = ""
            self._drop(RETRYING)

    def _compaction_began(self, reason: str) -> None:
        """One within a job has a row; one that a person asked for is told by the state of its run."""
        if reason != "manual":
            html = self._compacts = render_compacting(COMPACTING, reason)
            self._changes.append(lambda: [["message", COMPACTING, html]])

    def _compaction_ended(self, event: Json) -> None:
        """A summary is an entry; what failed within a job would be seen nowhere else until the page is opened anew."""
        self._compacts = ""
        self._drop(COMPACTING)
        if event.get("aborted"):
            self.says.append("Summing up was cancelled")
        elif not event.get("errorMessage"):
            again = "; the request is sent again" if event.get("willRetry") else ""
            self.says.append(f"Older messages are summed up{again}")
        elif event.get("reason") == "manual":
            self.says.append(str(event["errorMessage"]))
        else:
            self._note("compaction-failed", str(event["errorMessage"]))

    def _note(self, key: str, words: str) -> None:
        """A row that stays until the run has ended, and words for those who do not see it."""
        self.says.append(words)
        html = self._notes[key] = render_live_note(key, words)
        self._changes.append(lambda: [["message", key, html]])

    def _tool_ended(self, call_id: str) -> None:
        """Its entry waits for the others of the batch: until then the card says that it is done."""
        tool = self._tools.get(call_id)
        if tool and not tool.ended:
            tool.ended = True
            self._changes.append(lambda: [["tool", call_id, tool.html()]] if call_id in self._tools else [])

    def _drop(self, key: str) -> None:
        self._changes.append(lambda: [["drop", key]])

    def _start_anew(self) -> None:
        self._answer, self._result_of, self._compacts, self._retries = None, "", "", ""
        self._tools.clear()
        self._notes.clear()
        self._changes = [lambda: [["clear"]]]
        self._grown.clear()
