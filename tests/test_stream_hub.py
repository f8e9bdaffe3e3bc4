"""The hub that follows streams for all sockets of a web process, against a real broker."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from html import escape, unescape
from typing import Any

import pytest
import pytest_asyncio

from sessions_app import live
from sessions_app.markdown import _before_closing_tags
from sessions_app.stream_hub import RunView, StreamHub, Viewer
from sessions_app.stream_hub.viewer import MOST_FRAMES
from tests.broker import Broker, broker, broker_process, broker_url, hubs_have_ended  # noqa: F401

Json = dict[str, Any]

SESSION, RUN = 1, 10


def started(answer: int = 1) -> Json:
    message = {"role": "assistant", "content": [], "model": "demo", "timestamp": 1}
    return {"type": "message_start", "message": message, "answer": answer}


def ended() -> Json:
    return {"type": "message_end", "seq": 2, "role": "assistant"}


def delta(text: str, index: int = 0, kind: str = "text") -> Json:
    update = {"type": f"{kind}_delta", "contentIndex": index, "delta": text}
    return {"type": "message_update", "usage": {}, "assistantMessageEvent": update}


def tool(event: str, **fields: Any) -> Json:
    return {"type": f"tool_execution_{event}", "toolCallId": "c1", "toolName": "bash", **fields}


def output(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


class Page:
    """What a browser makes of the frames: the plain text of the live region, by the same rules."""

    def __init__(self) -> None:
        self.stable: dict[tuple[str, int], str] = {}
        self.tails: dict[tuple[str, int], str] = {}
        self.tools: dict[str, str] = {}
        self.snapshots = 0
        self.snapshot = ""

    def apply(self, frame: str) -> None:
        message = json.loads(frame)
        if message["t"] != "live":
            return
        for name, *args in message["ops"]:
            getattr(self, f"op_{name}")(*args)

    def op_snapshot(self, html: str) -> None:
        self.op_clear()
        self.snapshots += 1
        self.snapshot = html
        for key, article in re.findall(r'data-live="([^"]*)"(.*?)</article>', html, re.S):
            for index, stable, tail in re.findall(
                r'data-block="(\d+)".*?<div class="stable"[^>]*>(.*?)</div><div class="tail"[^>]*>(.*?)</div>\s*</div>',
                article,
                re.S,
            ):
                self.stable[key, int(index)], self.tails[key, int(index)] = stable, tail
        for call, article in re.findall(r'data-call="([^"]*)"(.*?)</article>', html, re.S):
            self.op_tool(call, article)

    def op_clear(self) -> None:
        self.stable.clear()
        self.tails.clear()
        self.tools.clear()

    def op_message(self, key: str, html: str) -> None:
        assert f'data-live="{key}"' in html

    def op_block(self, key: str, index: int, html: str) -> None:
        assert f'data-block="{index}"' in html
        self.stable[key, index] = self.tails[key, index] = ""

    def op_stable(self, key: str, index: int, html: str) -> None:
        self.stable[key, index] += html

    def op_tail(self, key: str, index: int, html: str) -> None:
        self.tails[key, index] = html

    def op_more(self, key: str, index: int, text: str) -> None:
        # Text goes into the innermost last element.
        head, end = _before_closing_tags(self.tails[key, index])
        self.tails[key, index] = head + escape(text) + end

    def op_tool(self, call: str, html: str) -> None:
        found = re.search(r"tool__tail[^>]*>(.*?)</pre>", html, re.S)
        self.tools[call] = found[1] if found else ""

    def op_tooltail(self, call: str, text: str) -> None:
        self.tools[call] = text

    def op_drop(self, key: str) -> None:
        self.tools.pop(key, None)
        for slot in [slot for slot in self.stable if slot[0] == key]:
            del self.stable[slot], self.tails[slot]

    @property
    def text(self) -> str:
        whole = "".join(self.stable[slot] + self.tails[slot] for slot in sorted(self.stable))
        return " ".join(unescape(re.sub(r"<[^>]+>", "", whole)).split())


class Reader:
    """A viewer with its page, emptied as a socket's task does it."""

    def __init__(self, hub: StreamHub) -> None:
        self.hub = hub
        self.viewer = Viewer(SESSION)
        self.page = Page()
        self.notices: list[str] = []

    def join(self, run: int | None = RUN) -> Reader:
        self.hub.join(self.viewer)
        self.hub.follow(self.viewer, run)
        return self

    def read(self) -> None:
        self.notices += self.viewer.take_notices()
        if self.viewer.stale:
            frame = self.hub.snapshot(self.viewer)
            if frame is None:
                return
            self.page.apply(frame)
        while (frame := self.viewer.take_frame()) is not None:
            self.page.apply(frame)

    async def until(self, condition: Callable[[Reader], bool], seconds: float = 10) -> None:
        async with asyncio.timeout(seconds):
            while True:
                self.read()
                if condition(self):
                    return
                await asyncio.sleep(0.005)


@pytest_asyncio.fixture
async def hub(broker_url: str) -> AsyncIterator[StreamHub]:  # noqa: F811
    hub = StreamHub(broker_url)
    yield hub
    for viewer in list(hub._viewers):
        hub.leave(viewer)
    await hubs_have_ended()


def write(stream: live.RunStream, *events: Json) -> None:
    for event in events:
        stream.add(event)
    stream.flush()


@pytest.mark.services
@pytest.mark.asyncio
async def test_an_answer_appears_while_it_is_written(hub: StreamHub) -> None:
    reader = Reader(hub).join()
    stream = live.RunStream(RUN, SESSION)
    write(stream, started(), delta("Hello **world**"))
    await reader.until(lambda r: r.page.text == "Hello world")
    write(stream, delta(" and\n\nmore\n"))
    await reader.until(lambda r: r.page.text == "Hello world and more")
    assert reader.page.stable["m1", 0].count("<p>") == 1
    write(stream, ended())
    await reader.until(lambda r: r.page.text == "")


@pytest.mark.services
@pytest.mark.asyncio
async def test_who_comes_late_sees_all_and_nothing_twice(hub: StreamHub) -> None:
    """B31."""
    first = Reader(hub).join()
    stream = live.RunStream(RUN, SESSION)
    write(stream, started(1), delta("gone"), ended(), started(2))
    expected = ""
    late: list[Reader] = []
    for number in range(120):
        stream.add(delta(f"w{number} "))
        expected += f"w{number} "
        if number % 17 == 0:
            late.append(Reader(hub).join())
        for reader in [first, *late]:
            reader.read()
        await asyncio.sleep(0.003)
    stream.flush()
    for reader in [first, *late]:
        await reader.until(lambda r: r.page.text == expected.strip())
    assert all(reader.page.snapshots >= 1 for reader in late)


@pytest.mark.services
@pytest.mark.asyncio
async def test_a_running_tool_shows_the_end_of_its_output(hub: StreamHub) -> None:
    reader = Reader(hub).join()
    stream = live.RunStream(RUN, SESSION)
    write(stream, tool("start", args={"command": "make <all>"}))
    await reader.until(lambda r: "c1" in r.page.tools)
    lines = "\n".join(f"line {n}" for n in range(100))
    write(stream, tool("update", args={}, partialResult=output(lines)))
    await reader.until(lambda r: "line 99" in r.page.tools["c1"])
    assert "line 50\n" not in reader.page.tools["c1"]
    late = Reader(hub).join()
    await late.until(lambda r: "line 99" in r.page.tools.get("c1", ""))
    assert "&lt;all&gt;" in late.page.snapshot
    result = {"role": "toolResult", "toolCallId": "c1", "content": []}
    write(stream, {"type": "message_start", "message": result}, ended() | {"role": "toolResult"})
    await reader.until(lambda r: not r.page.tools)


@pytest.mark.services
@pytest.mark.asyncio
async def test_a_slow_socket_gets_a_snapshot_instead_of_its_backlog(hub: StreamHub) -> None:
    """B29."""
    slow, quick = Reader(hub).join(), Reader(hub).join()
    stream = live.RunStream(RUN, SESSION)
    write(stream, started())
    await slow.until(lambda r: r.page.snapshots == 1 and not r.viewer.stale)
    expected = ""
    for number in range(MOST_FRAMES + 50):
        write(stream, delta(f"w{number} "))
        expected += f"w{number} "
        await asyncio.sleep(0.002)
        quick.read()
    await quick.until(lambda r: r.page.text == expected.strip())
    assert slow.viewer.stale
    assert slow.viewer.take_frame() is None
    slow.read()
    assert slow.page.text == expected.strip()
    assert slow.page.snapshots == 2


@pytest.mark.services
@pytest.mark.asyncio
@pytest.mark.parametrize("keep_data", [True, False])
async def test_after_a_restart_of_the_broker_everything_is_there(
    hub: StreamHub,
    broker: Broker,  # noqa: F811
    keep_data: bool,
) -> None:
    reader = Reader(hub).join()
    stream = live.RunStream(RUN, SESSION)
    write(stream, started(), delta("before "))
    await reader.until(lambda r: r.page.text == "before")
    await asyncio.to_thread(broker.restart, keep_data=keep_data)
    write(stream, delta("after"))
    await reader.until(lambda r: r.page.text == "before after")
    await reader.until(lambda r: r.notices.count("resync") >= 2)
    live.notify(SESSION, "entry", seq=3)
    await reader.until(lambda r: "entry" in r.notices)


@pytest.mark.services
@pytest.mark.asyncio
async def test_without_a_broker_joining_works_and_frames_come_once_it_is_there(
    hub: StreamHub,
    broker: Broker,  # noqa: F811
) -> None:
    broker.stop()
    try:
        reader = Reader(hub).join()
        await asyncio.sleep(0.1)
    finally:
        broker.start()
    stream = live.RunStream(RUN, SESSION)
    write(stream, started(), delta("hello"))
    await reader.until(lambda r: r.page.text == "hello")


@pytest.mark.services
@pytest.mark.asyncio
async def test_notices_reach_the_viewers_of_their_session_only(hub: StreamHub) -> None:
    mine = Reader(hub).join(run=None)
    other = Reader(hub)
    other.viewer = Viewer(SESSION + 1)
    other.join(run=None)
    for reader in (mine, other):
        await reader.until(lambda r: "resync" in r.notices)
    live.notify(SESSION, "queue")
    await mine.until(lambda r: "queue" in r.notices)
    other.read()
    assert "queue" not in other.notices


@pytest.mark.services
@pytest.mark.asyncio
async def test_the_notice_of_a_run_is_enough_to_follow_it(hub: StreamHub) -> None:
    reader = Reader(hub).join(run=None)
    await reader.until(lambda r: "resync" in r.notices)
    live.notify(SESSION, "run", run=RUN, status="queued", agent=True)
    write(live.RunStream(RUN, SESSION), started(), delta("first words"))
    await reader.until(lambda r: r.page.text == "first words")
    # A person's own command runs beside the agent, and a run that is over is not followed again.
    live.notify(SESSION, "run", run=RUN + 1, status="queued", agent=False)
    live.notify(SESSION, "run", run=RUN - 1, status="running", agent=True)
    live.notify(SESSION, "queue")
    await reader.until(lambda r: "queue" in r.notices)
    assert reader.viewer.run_id == RUN


@pytest.mark.services
@pytest.mark.asyncio
async def test_the_end_of_a_run_clears_the_live_region_and_is_noticed(hub: StreamHub) -> None:
    reader = Reader(hub).join()
    stream = live.RunStream(RUN, SESSION)
    write(stream, started(), delta("half"))
    await reader.until(lambda r: r.page.text == "half")
    stream.close("stopped")
    await reader.until(lambda r: r.page.text == "" and "ended" in r.notices)
    assert not hub._runs


@pytest.mark.services
@pytest.mark.asyncio
async def test_one_reader_serves_all_and_goes_with_the_last_viewer(hub: StreamHub) -> None:
    readers = [Reader(hub).join() for _ in range(20)]
    for reader in readers:
        await reader.until(lambda r: "resync" in r.notices)
    names = [task.get_name() for task in asyncio.all_tasks()]
    assert names.count("stream-hub") == 1
    for reader in readers:
        hub.leave(reader.viewer)
    await asyncio.sleep(0.05)
    assert "stream-hub" not in [task.get_name() for task in asyncio.all_tasks()]
    again = Reader(hub).join()
    await again.until(lambda r: "resync" in r.notices)


@pytest.mark.services
@pytest.mark.asyncio
async def test_a_malformed_event_does_not_end_the_tail(
    hub: StreamHub,
    broker: Broker,  # noqa: F811
) -> None:
    reader = Reader(hub).join()
    stream = live.RunStream(RUN, SESSION)
    write(stream, started(), delta("one "))
    await reader.until(lambda r: r.page.text == "one")
    bad: list[Any] = [{"type": "message_update", "assistantMessageEvent": {"type": "text_delta"}}, {}, 7]
    with broker.client() as client:
        client.xadd("agentweb:run:10", {"e": json.dumps(bad)})
        client.xadd("agentweb:run:10", {"e": "{"})
        client.xadd("agentweb:session:1", {"n": "]"})
    write(stream, delta("two"))
    await reader.until(lambda r: r.page.text == "one two")


def test_text_that_was_lost_is_put_right_by_the_blocks_end() -> None:
    """B29."""
    view, page = RunView(), Page()
    view.take([started(), delta("some"), delta("thing")])
    end = {"type": "text_end", "contentIndex": 0, "content": "something else"}
    view.take([{"type": "message_update", "usage": {}, "assistantMessageEvent": end}])
    page.apply(json.dumps({"t": "live", "ops": view.ops()}))
    assert page.text == "something else"
    view.take([{"type": "message_update", "usage": {}, "assistantMessageEvent": end}])
    assert view.ops() == []


def test_thinking_is_plain_text_and_arguments_of_calls_are_not_shown() -> None:
    view, page = RunView(), Page()
    view.take([started(), delta("**hm** <b>", 0, "thinking"), delta('{"command": "secret', 1, "toolcall")])
    page.apply(json.dumps({"t": "live", "ops": view.ops()}))
    assert page.tails["m1", 0] == "**hm** &lt;b&gt;"
    assert "secret" not in view.snapshot()
    assert "**hm** &lt;b&gt;" in view.snapshot()


def test_a_snapshot_equals_what_the_ops_have_built() -> None:
    text = "# Title\n\nA paragraph with `code`.\n\n```python\nprint('x')\n```\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    view, page, late = RunView(), Page(), Page()
    view.take([started()])
    page.apply(json.dumps({"t": "live", "ops": view.ops()}))
    for start in range(0, len(text), 7):
        view.take([delta(text[start : start + 7])])
        page.apply(json.dumps({"t": "live", "ops": view.ops()}))
        late.apply(json.dumps({"t": "live", "ops": [["snapshot", view.snapshot()]]}))
        assert page.text == late.text


def test_a_tool_that_is_done_says_so_before_its_entry_is_there() -> None:
    view = RunView()
    view.take(
        [{"type": "tool_execution_start", "toolCallId": "c1", "toolName": "bash", "args": {"command": "ls"}}]
    )
    assert "running" in view.ops()[0][2]
    result = {"content": [{"type": "text", "text": "a.py"}]}
    view.take([{"type": "tool_execution_end", "toolCallId": "c1", "toolName": "bash", "result": result}])
    name, call, html = view.ops()[-1]
    assert (name, call) == ("tool", "c1")
    assert "running" not in html
    assert "<span>done</span>" in html
    assert html in view.snapshot()


def test_a_compaction_within_a_job_has_a_row_while_it_lasts() -> None:
    view = RunView()
    view.take([{"type": "compaction_start", "reason": "threshold"}])
    assert view.ops()[0][:2] == ["message", "compacting"]
    assert 'aria-label="Compacting"' in view.snapshot()
    view.take(
        [{"type": "compaction_end", "reason": "threshold", "errorMessage": "Auto-compaction failed: no"}]
    )
    dropped, [op, key, html] = view.ops()
    assert (dropped, op, key) == (["drop", "compacting"], "message", "compaction-failed")
    assert "Auto-compaction failed: no" in html
    assert view.snapshot() == html
    assert view.says[-1] == "Auto-compaction failed: no"
    view.take([{"type": "compaction_start", "reason": "manual"}])
    assert view.ops() == []


def test_what_happened_beside_answers_stays_until_the_run_has_ended() -> None:
    view = RunView()
    view.take([{"type": "compaction_paused", "message": "Stopped: <b> is too big"}])
    view.take([{"type": "request_repaired", "repairs": ["an open call was closed", "an image left out"]}])
    # What was repaired has a row of its own and is only said.
    assert [op[:2] for op in view.ops()] == [["message", "compaction-paused"]]
    assert "Stopped: &lt;b&gt; is too big" in view.snapshot()
    assert view.says[-1] == "The history was put in order for the model"
    view.take([{"type": "run_end", "status": "completed"}])
    assert view.snapshot() == ""


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"willRetry": True}, "Older messages are summed up; the request is sent again"),
        ({"willRetry": False}, "Older messages are summed up"),
        ({"aborted": True}, "Summing up was cancelled"),
    ],
)
def test_the_end_of_a_compaction_is_said(end: Json, words: str) -> None:
    view = RunView()
    view.take([{"type": "compaction_start", "reason": "overflow"}, {"type": "compaction_end", **end}])
    assert view.says[-1] == words


def test_a_provider_that_answers_again_is_said() -> None:
    view = RunView()
    view.take([{"type": "auto_retry_end", "success": True, "attempt": 1}])
    assert view.says == ["The provider answers again"]


def test_a_request_that_will_be_sent_again_counts_down_until_its_answer_begins() -> None:
    view = RunView()
    view.take(
        [
            {
                "type": "auto_retry_start",
                "attempt": 2,
                "maxAttempts": 3,
                "delayMs": 4000,
                "errorMessage": "529 <b>overloaded</b>",
            }
        ]
    )
    [[op, key, html]] = view.ops()
    assert (op, key) == ("message", "retrying")
    assert "529 &lt;b&gt;overloaded" in html
    assert "attempt 2 of 3" in html
    assert "<count-down" in html
    assert html in view.snapshot()
    view.take([started()])
    assert ["drop", "retrying"] in view.ops()
    assert "retrying" not in view.snapshot()
