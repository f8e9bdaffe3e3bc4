"""Watches one run for a terminal: its live stream as it comes, its stored entries as the truth."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TextIO

import redis
from django.conf import settings

from agentweb.data_directory import chosen_directory, running_server
from agentweb.problems import FAILED, Problem
from agentweb.supervisor import uses_external_broker
from sessions_app.live import run_key
from sessions_app.models import Entry, QueuedMessage, Run, Session
from sessions_app.services.runs import Submission

Json = dict[str, Any]

TICK_SECONDS = 0.4
# How long a stopped run may take to store its end.
STOP_SECONDS = 20.0
WAITING_SECONDS = 30.0
# How long a server that has gone may take to be started again.
LOST_SECONDS = 30.0
# The events of spec 10 that a run's stream holds or its entries tell, and their fields. What else the runner says is for
# other viewers.
EVENTS: dict[str, tuple[str, ...]] = {
    "session": ("version", "id", "timestamp", "cwd"),
    "agent_start": (),
    "agent_end": ("messages", "willRetry"),
    "agent_settled": ("aborted",),
    "turn_start": (),
    "turn_end": ("message", "toolResults"),
    "message_start": ("message",),
    "message_update": ("usage", "assistantMessageEvent"),
    "message_end": ("message",),
    "tool_execution_start": ("toolCallId", "toolName", "args"),
    "tool_execution_update": ("toolCallId", "toolName", "args", "partialResult"),
    "tool_execution_end": ("toolCallId", "toolName", "result", "isError", "durationMs"),
    "queue_update": ("steering", "followUp"),
    "entry_appended": ("entry",),
    "session_info_changed": ("name",),
    "thinking_level_changed": ("level",),
    "compaction_start": ("reason",),
    "compaction_end": ("reason", "result", "aborted", "willRetry", "errorMessage"),
    "auto_retry_start": ("attempt", "maxAttempts", "delayMs", "errorMessage"),
    "auto_retry_end": ("success", "attempt", "finalError"),
    "summarization_retry_scheduled": ("attempt", "maxAttempts", "delayMs", "errorMessage"),
    "summarization_retry_attempt_start": ("source", "reason"),
    "summarization_retry_finished": (),
    "bash_execution_update": ("id", "delta"),
    "extension_error": ("extensionPath", "event", "error"),
    "extension_ui_request": ("id", "method", "title", "message", "options", "timeout"),
    "extension_ui_response": ("id", "value", "confirmed", "cancelled"),
}


class Printer(Protocol):
    """Gets the session, then live events as they come and each stored entry once, in order."""

    def begin(self, session: Session) -> None: ...

    def event(self, event: Json) -> None: ...

    def entry(self, record: Json) -> None: ...

    def end(self, *, aborted: bool) -> None: ...


class Follower:
    """Follows a submitted prompt to the end of its run; `ask` puts the questions of the agent to a person, None:
    nobody is there and following ends with the first one. `error` and `error_kind` say afterwards what
    went wrong, `cut_short` whether the last answer reached the model's limit."""

    def __init__(
        self,
        session: Session,
        submission: Submission,
        printer: Printer,
        ask: Callable[[], None] | None = None,
    ) -> None:
        self.session = session
        self.queued: QueuedMessage | None = submission.queued
        self.run: Run | None = submission.run
        self.printer = printer
        self.ask = ask
        self.error = self.error_kind = ""
        self.cut_short = False
        self.is_told = False
        newest = (
            Entry.objects.filter(session=session).order_by("-seq").values_list("seq", flat=True).first() or 0
        )
        # Ours is told, too; what came before is not.
        self.seq = submission.entry.seq - 1 if submission.entry else newest
        self.position = b"0"
        self.served = time.monotonic()
        self.client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5, socket_connect_timeout=2)

    def follow(self, interrupted: Callable[[], bool], stop: Callable[[], None]) -> str:
        """The run's last status. `stop` is called once when `interrupted` says so."""
        began = time.monotonic()
        give_up = 0.0
        told_to_wait = False
        while True:
            if interrupted() and not give_up:
                self.withdraw(stop)
                give_up = time.monotonic() + STOP_SECONDS
            if give_up and (self.queued is not None or time.monotonic() > give_up):
                break
            if self.queued is not None and not self.is_delivered():
                time.sleep(TICK_SECONDS)
                continue
            assert self.run is not None  # noqa: S101  (a delivered message has a run)
            ended = False
            heard = False
            for event in self.live_events(self.run):
                heard = True
                self.take(event)
                ended = ended or event["type"] == "run_end"
            self.run.refresh_from_db()
            if not self.run.is_active:
                return self.finish(self.run, drained=ended)
            if not heard:
                # The stream may be lost. While it speaks it says itself when an entry is there.
                self.tell_entries()
            if self.run.status == Run.Status.REVIEWING and not heard:
                return str(Run.Status.REVIEWING)
            if self.run.status == Run.Status.ASKING and not heard:
                if self.ask is None:
                    return str(Run.Status.ASKING)
                self.ask()
            self.notice_lost_server()
            is_late = self.run.status == Run.Status.QUEUED and time.monotonic() - began > WAITING_SECONDS
            if is_late and not told_to_wait:
                told_to_wait = True
                print("agentweb: still waiting for a free worker", file=sys.stderr)
        self.printer.end(aborted=True)
        return str(Run.Status.STOPPED)

    def notice_lost_server(self) -> None:
        """Nobody may come to end a run whose server was killed; a restart is waited for."""
        if uses_external_broker() or running_server(chosen_directory()) is not None:
            self.served = time.monotonic()
        elif time.monotonic() - self.served > LOST_SECONDS:
            raise Problem(
                "The server has gone in the middle of the run.",
                "What was written is kept; `agentweb up` closes the run, then it can be continued.",
            )

    def withdraw(self, stop: Callable[[], None]) -> None:
        """A message that is still in line is taken back; the work of others goes on."""
        if self.queued is None:
            stop()
            return
        QueuedMessage.objects.filter(pk=self.queued.pk).delete()

    def is_delivered(self) -> bool:
        """Whether our message has left the queue and become an entry; then its run is the one to follow."""
        assert self.queued is not None  # noqa: S101
        if QueuedMessage.objects.filter(pk=self.queued.pk).exists():
            if not Run.objects.active().filter(session=self.session).exists():
                raise Problem(
                    "The work in front of this message ended early; the message is still in the queue.",
                    "Continue the session in the browser, or send the prompt again.",
                    code=FAILED,
                )
            return False
        later = Entry.objects.filter(session=self.session, seq__gt=self.seq, role="user").order_by("seq")
        for entry in later.select_related("run"):
            if text_of(entry.record["message"]) == self.queued.text and entry.run is not None:
                self.run, self.queued, self.seq = entry.run, None, entry.seq - 1
                return True
        raise Problem("The message was taken out of the queue by somebody else.", code=FAILED)

    def live_events(self, run: Run) -> Iterator[Json]:
        """What has come since the last call; waits a little when there is nothing."""
        try:
            answer: Any = self.client.xread({run_key(run.pk): self.position}, block=int(TICK_SECONDS * 1000))
        except (redis.RedisError, OSError):
            # The rows will tell.
            time.sleep(TICK_SECONDS)
            return
        batches = answer.values() if isinstance(answer, dict) else [items for _, items in answer or []]
        for items in batches:
            for identifier, fields in items:
                self.position = identifier
                yield from json.loads(fields[b"e"])

    def take(self, event: Json) -> None:
        if event["type"] == "message_start":
            self.is_told = self.has_told(event)
        if event["type"] == "message_end":
            # Not those behind it: what the stream says of them comes first.
            self.tell_entries(event.get("seq"))
        elif self.is_told and event["type"] in {"message_start", "message_update"}:
            return
        elif event["type"] in EVENTS and event["type"] != "agent_settled":
            self.printer.event(event)

    def has_told(self, started: Json) -> bool:
        """Whether an answer's entry was told before its stream was read: then its growing is no news."""
        number = started.get("answer")
        told = Entry.objects.filter(run=self.run, role="assistant", seq__lte=self.seq)
        return isinstance(number, int) and number <= told.count()

    def tell_entries(self, last: int | None = None) -> None:
        """Those not told yet, up to and with the one of seq `last`."""
        entries = Entry.objects.filter(session=self.session, seq__gt=self.seq).order_by("seq")
        for entry in entries if last is None else entries.filter(seq__lte=last):
            self.seq = entry.seq
            if entry.role == "assistant":
                self.cut_short = entry.record["message"].get("stopReason") == "length"
            self.printer.entry(entry.record)

    def finish(self, run: Run, *, drained: bool) -> str:
        if not drained:
            for event in self.live_events(run):
                self.take(event)
        self.tell_entries()
        self.error, self.error_kind = run.error, run.error_kind
        self.printer.end(aborted=run.status in {Run.Status.STOPPED, Run.Status.INTERRUPTED})
        return run.status


# In place of a block's number: the output of a person's own command.
_COMMAND = -1


class TextPrinter:
    """The answers' text as it grows, with an empty line between two answers."""

    def __init__(self, output: TextIO) -> None:
        self.output = output
        self.blocks: dict[int, str] = {}
        self.has_printed = self.ends_line = False

    def begin(self, session: Session) -> None:
        """Its key is told at the end, beside the answer."""

    def event(self, event: Json) -> None:
        if event["type"] == "bash_execution_update":
            self.add(_COMMAND, event["delta"])
        if event["type"] == "message_start" and event["message"].get("role") == "assistant":
            self.blocks = {}
        if event["type"] != "message_update":
            return
        update = event["assistantMessageEvent"]
        match update["type"]:
            case "text_delta":
                self.add(update["contentIndex"], update["delta"])
            case "text_end":
                self.complete(update["contentIndex"], update["content"])

    def entry(self, record: Json) -> None:
        message = record.get("message") or {}
        if message.get("role") == "bashExecution" and _COMMAND not in self.blocks:
            self.add(_COMMAND, str(message.get("output") or ""))
        if message.get("role") != "assistant" or not isinstance(message.get("content"), list):
            return
        for index, block in enumerate(message["content"]):
            if block.get("type") == "text":
                self.complete(index, block["text"])
        self.blocks = {}

    def end(self, *, aborted: bool) -> None:
        if self.has_printed and not self.ends_line:
            self.write("\n")

    def complete(self, index: int, text: str) -> None:
        """Prints what is missing; the whole again, should the live text have been another one."""
        shown = self.blocks.get(index, "")
        if text.startswith(shown):
            self.add(index, text[len(shown) :])
        else:
            del self.blocks[index]
            self.add(index, text)

    def add(self, index: int, text: str) -> None:
        if not text:
            return
        if index not in self.blocks and self.has_printed:
            self.write("\n\n")
        self.blocks[index] = self.blocks.get(index, "") + text
        self.has_printed, self.ends_line = True, text.endswith("\n")
        self.write(text)

    def write(self, text: str) -> None:
        self.output.write(text)
        self.output.flush()


class JsonPrinter:
    """The session's header, then one event a line, with the names and fields of spec 10; the last one is
    `agent_settled`."""

    def __init__(self, output: TextIO) -> None:
        self.output = output
        self.messages: list[Json] = []
        self.turn: list[Json] = []
        self.is_open = False

    def begin(self, session: Session) -> None:
        """The header of a session file; its `id` is what `--session` takes."""
        self.write({
            "type": "session", "version": 3, "id": str(session.key),
            "timestamp": session.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "cwd": session.workspace.path,
        })  # fmt: skip

    def event(self, event: Json) -> None:
        match event["type"]:
            case "message_start":
                # Other roles are told with their entry, whole.
                if event["message"].get("role") == "assistant":
                    self.is_open = True
                    self.write({"type": "message_start", "message": event["message"]})
            case "message_update":
                if self.is_open:
                    self.write(event)
            case "turn_start":
                self.turn = []
                self.write(event)
            case "turn_end":
                answers = [message for message in self.turn if message["role"] == "assistant"]
                results = [message for message in self.turn if message["role"] == "toolResult"]
                self.write({**event, "message": answers[-1] if answers else None, "toolResults": results})
            case "agent_end":
                self.write({**event, "messages": self.messages})
            case _:
                self.write(event)

    def changed(self, record: Json) -> None:
        """What some entries say besides being there."""
        if record.get("type") == "session_info":
            self.write({"type": "session_info_changed", "name": record.get("name")})
        elif record.get("type") == "thinking_level_change":
            self.write({"type": "thinking_level_changed", "level": record.get("thinkingLevel")})

    def entry(self, record: Json) -> None:
        message = record.get("message")
        if record.get("type") == "message" and isinstance(message, dict):
            if not self.is_open or message.get("role") != "assistant":
                self.write({"type": "message_start", "message": message})
            self.write({"type": "message_end", "message": message})
            self.is_open = self.is_open and message.get("role") != "assistant"
            self.messages.append(message)
            self.turn.append(message)
        self.write({"type": "entry_appended", "entry": record})
        self.changed(record)

    def end(self, *, aborted: bool) -> None:
        self.write({"type": "agent_settled", "aborted": aborted})

    def write(self, event: Json) -> None:
        known = {name: event[name] for name in ("type", *EVENTS[event["type"]]) if name in event}
        # ASCII: no separator that some reader takes for the end of a line.
        self.output.write(json.dumps(known) + "\n")
        self.output.flush()


def text_of(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or [] if block.get("type") == "text")
