"""What `agentweb prompt` prints: text from the live stream completed by the rows, or events of spec 10."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from agentweb.following import Follower, JsonPrinter, TextPrinter
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
