"""The live tail as the worker writes it, against a real broker."""

from __future__ import annotations

import json
import logging
import threading
import time
from typing import Any

import pytest

from sessions_app import live
from sessions_app.agent.partial_answer import unfinished_of
from tests.broker import Broker, broker, broker_process, broker_url  # noqa: F401

pytestmark = pytest.mark.services


def text_delta(text: str, index: int = 0) -> dict[str, Any]:
    update = {"type": "text_delta", "contentIndex": index, "delta": text}
    return {"type": "message_update", "usage": {"output": len(text)}, "assistantMessageEvent": update}


def started(answer: int = 1) -> dict[str, Any]:
    return {
        "type": "message_start",
        "message": {"role": "assistant", "content": [], "timestamp": 1},
        "answer": answer,
    }


def said(events: list[dict[str, Any]]) -> str:
    """The text that a reader of these events would have, told-again parts replacing what they tell."""
    text = ""
    for event in events:
        update = event.get("assistantMessageEvent", {})
        if update.get("type") == "text_delta":
            text += update["delta"]
        elif update.get("type") == "text_end":
            text = update["content"]
    return text


def test_deltas_arrive_joined_and_in_order(broker: Broker) -> None:  # noqa: F811
    stream = live.RunStream(1, 1)
    stream.add(started())
    for number in range(100):
        stream.add(text_delta(f"{number} "))
    stream.add({"type": "turn_end"})
    stream.flush()
    events = live.read_run(1)
    assert said(events) == "".join(f"{n} " for n in range(100))
    assert [e["type"] for e in events if e["type"] != "message_update"] == ["message_start", "turn_end"]
    assert len(events) < 50


def test_deltas_of_different_blocks_are_not_joined(broker: Broker) -> None:  # noqa: F811
    stream = live.RunStream(1, 1)
    for event in [text_delta("a"), text_delta("b", index=1), text_delta("c")]:
        stream.add(event)
    stream.flush()
    deltas = [e["assistantMessageEvent"] for e in live.read_run(1)]
    assert [(d["contentIndex"], d["delta"]) for d in deltas] == [(0, "a"), (1, "b"), (0, "c")]


def test_a_delta_leaves_within_the_batch_time_and_other_events_at_once(broker: Broker, settings: Any) -> None:  # noqa: F811
    settings.LIVE_BATCH_MS = 200
    stream = live.RunStream(1, 1)
    with broker.client() as client:
        stream.add(text_delta("first"))
        wait_until(lambda: client.xlen("agentweb:run:1") == 1, 2)
        stream.add(text_delta("second"))
        time.sleep(0.05)
        assert client.xlen("agentweb:run:1") == 1
        stream.add({"type": "turn_end"})
        wait_until(lambda: client.xlen("agentweb:run:1") == 2, 0.15)
        batch = json.loads(client.xrevrange("agentweb:run:1", count=1)[0][1][b"e"])
        assert [e["type"] for e in batch] == ["message_update", "turn_end"]
        time.sleep(0.21)
        stream.add(text_delta("third"))
        wait_until(lambda: client.xlen("agentweb:run:1") == 3, 2)


def test_the_end_is_told_and_the_stream_expires(broker: Broker) -> None:  # noqa: F811
    stream = live.RunStream(7, 1)
    stream.add(started())
    stream.close("completed")
    assert live.read_run(7)[-1] == {"type": "run_end", "status": "completed"}
    with broker.client() as client:
        assert 0 < client.ttl("agentweb:run:7") <= 600


def test_what_rows_hold_does_not_travel(broker: Broker) -> None:  # noqa: F811
    image = {"type": "image", "data": "A" * 1000, "mimeType": "image/png"}
    stream = live.RunStream(1, 1)
    call = {"toolCallId": "c1", "toolName": "read", "args": {"path": "a"}}
    stream.add({"type": "tool_execution_start", **call})
    output = [{"type": "text", "text": "x" * 50_000 + "end"}, image]
    stream.add({"type": "tool_execution_update", **call, "partialResult": {"content": output}})
    stream.add({"type": "tool_execution_end", **call, "result": {"content": output}, "isError": False})
    result = {"role": "toolResult", "toolCallId": "c1", "content": [image]}
    stream.add({"type": "message_start", "message": result})
    stream.add({"type": "agent_end", "messages": [result], "willRetry": False})
    stream.flush()
    events = live.read_run(1)
    assert "AAAA" not in json.dumps(events)
    assert events[0]["args"] == {"path": "a"}
    assert len(events[2]["result"]["content"][0]["text"]) == 8000
    assert events[2]["result"]["content"][0]["text"].endswith("end")
    assert events[3]["message"] == {"role": "toolResult", "toolCallId": "c1"}


def test_the_unfinished_answer_can_be_read_back(broker: Broker) -> None:  # noqa: F811
    stream = live.RunStream(1, 1)
    stream.add(started(answer=2))
    stream.add(text_delta("half a "))
    stream.add(text_delta("sentence"))
    stream.flush()
    unfinished = unfinished_of(live.read_run(1))
    assert unfinished is not None
    assert unfinished["answer"] == 2
    assert unfinished["message"]["content"] == [{"type": "text", "text": "half a sentence"}]


@pytest.mark.parametrize("keep_data", [True, False])
def test_a_run_outlives_a_restart_of_the_broker(broker: Broker, keep_data: bool) -> None:  # noqa: F811
    stream = live.RunStream(1, 1)
    stream.add(started())
    stream.add({"type": "tool_execution_start", "toolCallId": "c1", "toolName": "bash", "args": {}})
    for number in range(50):
        stream.add(text_delta(f"{number} "))
        if number == 20:
            stream.flush()
            broker.restart(keep_data=keep_data)
    stream.flush()
    stream.add(text_delta("end"))
    stream.close("completed")
    events = live.read_run(1)
    assert events[0]["type"] == "reset"
    assert said(events) == "".join(f"{n} " for n in range(50)) + "end"
    assert [e["toolCallId"] for e in events if e["type"] == "tool_execution_start"] == ["c1"]
    assert events[-1]["type"] == "run_end"


def test_a_stream_that_vanished_is_told_again(broker: Broker) -> None:  # noqa: F811
    stream = live.RunStream(1, 1)
    stream.add(started())
    stream.add(text_delta("before "))
    stream.flush()
    with broker.client() as client:
        client.flushall()
    stream.add(text_delta("after"))
    stream.flush()
    events = live.read_run(1)
    assert events[0] == {"type": "reset"}
    assert said(events) == "before after"


def test_nothing_is_raised_without_a_broker(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:  # noqa: F811
    # Tests without a broker may have been before this one: what is told once has to be new.
    live.RunStream(7, 1).close("completed")
    wait_until(lambda: bool(live.read_run(7)), 5)
    broker.stop()
    try:
        with caplog.at_level(logging.WARNING, "sessions_app.live"):
            stream = live.RunStream(1, 1)
            for _ in range(5):
                stream.add(text_delta("x"))
                time.sleep(0.02)
            live.notify(1, "entry", seq=3)
            live.send_stop(1)
            assert live.read_run(1) == []
        assert len([r for r in caplog.records if "go on unseen" in r.message]) == 1
    finally:
        broker.start()
    stream.close("completed")
    assert said(live.read_run(1)) == ""  # there was no message_start: nothing is open
    assert live.read_run(1)[-1]["type"] == "run_end"


def test_a_notice_tells_its_facts_and_expires(broker: Broker) -> None:  # noqa: F811
    live.notify(5, "entry", seq=9)
    with broker.client() as client:
        [(_, fields)] = client.xrange("agentweb:session:5")
        assert json.loads(fields[b"n"]) == {"kind": "entry", "seq": 9}
        assert 0 < client.ttl("agentweb:session:5") <= 3600


def test_a_stop_reaches_the_worker_within_milliseconds_also_after_a_restart(broker: Broker) -> None:  # noqa: F811
    stopped: dict[int, float] = {}
    arrived = threading.Event()

    def callback(run_id: int) -> None:
        stopped[run_id] = time.monotonic()
        arrived.set()

    listener = live.StopListener(callback)
    listener.start()
    try:
        with broker.client() as client:
            wait_until(lambda: client.pubsub_numsub("agentweb:stop")[0][1] == 1, 5)
        asked = time.monotonic()
        live.send_stop(42)
        assert arrived.wait(5)
        assert stopped[42] - asked < 0.1
        broker.restart()
        arrived.clear()
        with broker.client() as client:
            wait_until(lambda: client.pubsub_numsub("agentweb:stop")[0][1] == 1, 10)
        live.send_stop(43)
        assert arrived.wait(5)
    finally:
        listener.stop()


def wait_until(condition: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.002)
