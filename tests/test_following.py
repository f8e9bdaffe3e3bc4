"""What `agentweb prompt` prints: text from the live stream completed by the rows, or events of spec 10."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from agentweb.following import EVENTS, Follower, JsonPrinter, TextPrinter
from sessions_app import entry_log
from sessions_app.models import Entry, Run, Session
from sessions_app.services.runs import Submission

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Json = dict[str, Any]


def assistant(text: str) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}


def stored(message: Json) -> Json:
    return {"type": "message", "id": "1", "parentId": None, "message": message}


def update(kind: str, **fields: Any) -> Json:
    return {"type": "message_update", "usage": {}, "assistantMessageEvent": {"type": kind, **fields}}


START = {"type": "message_start", "message": {"role": "assistant", "content": []}}


def test_text_is_printed_as_it_grows_and_only_once() -> None:
    output = io.StringIO()
    printer = TextPrinter(output)
    printer.event(START)
    printer.event(update("text_delta", contentIndex=0, delta="Hel"))
    assert output.getvalue() == "Hel"
    printer.event(update("text_end", contentIndex=0, content="Hello"))
    printer.entry(stored(assistant("Hello")))
    printer.end(aborted=False)
    assert output.getvalue() == "Hello\n"


def test_text_comes_from_the_row_when_the_stream_was_lost() -> None:
    output = io.StringIO()
    printer = TextPrinter(output)
    printer.event(START)
    printer.event(update("text_delta", contentIndex=0, delta="Hel"))
    printer.entry(stored(assistant("Hello there")))
    printer.entry(stored({"role": "toolResult", "content": [{"type": "text", "text": "never shown"}]}))
    printer.entry(stored(assistant("Done")))
    printer.end(aborted=False)
    assert output.getvalue() == "Hello there\n\nDone\n"


def test_thinking_and_tools_are_no_part_of_the_answer() -> None:
    output = io.StringIO()
    printer = TextPrinter(output)
    printer.event(START)
    printer.event(update("thinking_delta", contentIndex=0, delta="hmm"))
    printer.event({"type": "tool_execution_start", "toolCallId": "1", "toolName": "bash", "args": {}})
    printer.entry(stored({"role": "user", "content": "question"}))
    printer.end(aborted=True)
    assert output.getvalue() == ""


def test_events_carry_whole_messages_and_end_with_settled() -> None:
    output = io.StringIO()
    printer = JsonPrinter(output)
    question = {"role": "user", "content": "Hi\u2028there"}
    answer = assistant("Hello")
    result = {"role": "toolResult", "toolCallId": "1", "toolName": "bash", "content": []}
    printer.entry(stored(question))
    printer.event({"type": "turn_start"})
    printer.event(START)
    printer.event(update("text_delta", contentIndex=0, delta="Hello"))
    printer.entry(stored(answer))
    printer.event({"type": "message_start", "message": {"role": "toolResult", "toolCallId": "1"}})
    printer.entry(stored(result))
    printer.event({"type": "turn_end"})
    printer.event({"type": "agent_end", "messages": [], "willRetry": False})
    printer.end(aborted=False)

    lines = output.getvalue().splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["type"] for event in events] == [
        "message_start", "message_end", "entry_appended",
        "turn_start", "message_start", "message_update", "message_end", "entry_appended",
        "message_start", "message_end", "entry_appended",
        "turn_end", "agent_end", "agent_settled",
    ]  # fmt: skip
    assert events[1]["message"] == question
    assert events[11] == {"type": "turn_end", "message": answer, "toolResults": [result]}
    assert events[12]["messages"] == [question, answer, result]
    assert events[13] == {"type": "agent_settled", "aborted": False}


def test_deltas_that_arrive_after_their_row_are_not_told() -> None:
    output = io.StringIO()
    printer = JsonPrinter(output)
    printer.entry(stored(assistant("Hello")))
    printer.event(update("text_delta", contentIndex=0, delta="Hello"))
    types = [json.loads(line)["type"] for line in output.getvalue().splitlines()]
    assert types == ["message_start", "message_end", "entry_appended"]


def test_an_answer_whose_stream_is_read_after_its_entry_is_printed_once(
    session: Session, alice: User
) -> None:
    run = Run.objects.create(session=session, author=alice, status=Run.Status.RUNNING)
    asked = {"type": "message", "message": {"role": "user", "content": "Hello", "timestamp": 1}}
    entry = entry_log.append(session.pk, asked)
    for printer_type in (TextPrinter, JsonPrinter):
        output = io.StringIO()
        follower = Follower(session, Submission(run, entry, None), printer_type(output))
        entry_log.append(session.pk, {"type": "message", "message": assistant("Hello there")}, run=run)
        number = Entry.objects.filter(run=run).count()
        follower.tell_entries()
        told = output.getvalue()
        assert "Hello there" in told
        for event in (
            START | {"answer": number},
            update("text_delta", contentIndex=0, delta="Hello there"),
            {"type": "message_end", "seq": follower.seq, "role": "assistant"},
        ):
            follower.take(event)
        assert output.getvalue() == told
        follower.client.close()


EXAMPLES: dict[str, Json] = {
    "agent_start": {},
    "tool_execution_start": {"toolCallId": "1", "toolName": "ls", "args": {}},
    "tool_execution_update": {"toolCallId": "1", "toolName": "ls", "args": {}, "partialResult": {}},
    "tool_execution_end": {
        "toolCallId": "1", "toolName": "ls", "result": {}, "isError": False, "durationMs": 1,
    },
    "queue_update": {"steering": [], "followUp": ["x"]},
    "compaction_start": {"reason": "manual"},
    "compaction_end": {"reason": "manual", "result": {}, "aborted": False, "willRetry": False},
    "auto_retry_start": {"attempt": 1, "maxAttempts": 3, "delayMs": 2000, "errorMessage": "busy"},
    "auto_retry_end": {"success": False, "attempt": 1, "finalError": "busy"},
    "summarization_retry_scheduled": {"attempt": 1, "maxAttempts": 3, "delayMs": 1, "errorMessage": "busy"},
    "summarization_retry_attempt_start": {"source": "compaction", "reason": "manual"},
    "summarization_retry_finished": {},
    "bash_execution_update": {"id": "7", "delta": "x"},
    "extension_error": {"extensionPath": "a.py", "event": "input", "error": "ValueError: no"},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_events_have_the_fields_of_the_reference_and_no_others(name: str) -> None:
    """10 §1.1."""
    output = io.StringIO()
    JsonPrinter(output).event({"type": name, **EXAMPLES[name], "internal": 1, "answer": 2})
    assert json.loads(output.getvalue()) == {"type": name, **EXAMPLES[name]}


def test_entries_that_change_the_session_are_told_as_changes_too() -> None:
    """10 §1.1."""
    output = io.StringIO()
    printer = JsonPrinter(output)
    printer.entry({"type": "session_info", "name": "Mill"})
    printer.entry({"type": "thinking_level_change", "thinkingLevel": "high"})
    events = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [event for event in events if event["type"] != "entry_appended"] == [
        {"type": "session_info_changed", "name": "Mill"},
        {"type": "thinking_level_changed", "level": "high"},
    ]
    told = set(EXAMPLES) | {
        "session", "agent_end", "agent_settled", "turn_start", "turn_end", "message_start", "message_update",
        "message_end", "entry_appended", "session_info_changed", "thinking_level_changed",
        "extension_ui_request", "extension_ui_response",
    }  # fmt: skip
    assert set(EVENTS) == told


def test_a_persons_own_command_is_printed_as_it_grows_and_only_once() -> None:
    output = io.StringIO()
    printer = TextPrinter(output)
    printer.event({"type": "bash_execution_update", "id": "1", "delta": "one\n"})
    printer.event({"type": "bash_execution_update", "id": "1", "delta": "two\n"})
    printer.entry(stored({"role": "bashExecution", "command": "x", "output": "one\ntwo"}))
    assert output.getvalue() == "one\ntwo\n"
    lost = io.StringIO()
    TextPrinter(lost).entry(stored({"role": "bashExecution", "command": "x", "output": "one\ntwo"}))
    assert lost.getvalue() == "one\ntwo"
