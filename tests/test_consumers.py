"""The socket of a session page through the whole ASGI application, with a real broker."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import transaction
from django.test import Client

from agentweb.asgi import application
from sessions_app import entry_log, live
from sessions_app.consumers import flow, session_consumer
from sessions_app.models import Membership, Run
from sessions_app.services import sessions
from sessions_app.stream_hub import viewer
from tests.broker import Broker, broker, broker_process, broker_url, hubs_have_ended  # noqa: F401

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from sessions_app.models import Entry, Session

Json = dict[str, Any]

pytestmark = [
    pytest.mark.services,
    pytest.mark.asyncio,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("broker"),
]


class Socket(WebsocketCommunicator):
    """A browser's socket. `frames` are all it got; pings are answered unless it plays dead."""

    def __init__(self, client: Client, path: str, **headers: str) -> None:
        cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
        sent = {"host": "localhost", "origin": "http://localhost", "cookie": cookies} | headers
        super().__init__(application, path, [(k.encode(), v.encode()) for k, v in sent.items() if v])
        self.frames: list[Json] = []
        self.answers_pings = True

    async def resume(self, seq: int = 0, leaf: int = 0, live: str = "") -> None:
        await self.send_json_to({"t": "resume", "seq": seq, "leaf": leaf, "live": live})

    async def next_frame(self, seconds: float = 15) -> Json:
        message = await self.receive_output(seconds)
        if message["type"] == "websocket.close":
            raise AssertionError(f"closed with {message.get('code')}")
        frame: Json = json.loads(message["text"])
        self.frames.append(frame)
        if frame["t"] == "ping" and self.answers_pings:
            await self.send_json_to({"t": "pong"})
        return frame

    async def until(self, wanted: Callable[[Json], Any], seconds: float = 15) -> Json:
        async with asyncio.timeout(seconds):
            while not wanted(frame := await self.next_frame(seconds * 2)):
                pass
        return frame

    async def closed_with(self, seconds: float = 15) -> int:
        async with asyncio.timeout(seconds):
            while (message := await self.receive_output(seconds * 2))["type"] != "websocket.close":
                if '"ping"' in message["text"] and self.answers_pings:
                    await self.send_json_to({"t": "pong"})
        return int(message["code"])

    def shown(self) -> list[int]:
        """The seqs of the articles in the order they came."""
        html = "".join(frame["html"] for frame in self.frames if frame["t"] == "entries")
        return [int(seq) for seq in re.findall(r'id="entry-(\d+)"', html)]

    def parts(self) -> list[str]:
        return [frame["target"] for frame in self.frames if frame["t"] == "part"]

    def ops(self) -> list[list[Any]]:
        return [op for frame in self.frames if frame["t"] == "live" for op in frame["ops"]]


@asynccontextmanager
async def connected(client: Client, session: Session, **headers: str) -> AsyncIterator[Socket]:
    socket = Socket(client, f"/ws/s/{session.key}/", **headers)
    accepted, _ = await socket.connect(timeout=5)
    assert accepted
    yield socket
    await socket.disconnect(timeout=5)
    await hubs_have_ended()


@sync_to_async
def say(session: Session, text: str, role: str = "user", run: Run | None = None) -> Entry:
    message: Json = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1}
    if role == "assistant":
        message |= {"model": "demo", "provider": "demo", "stopReason": "stop", "usage": {}}
    return entry_log.append(session.pk, {"type": "message", "message": message}, run=run)


@sync_to_async
def go_to(session: Session, entry: Entry) -> None:
    with transaction.atomic():
        entry_log.move_leaf(entry_log.lock_session(session.pk), entry)


@sync_to_async
def begin_run(session: Session) -> Run:
    run = Run.objects.create(session=session, status=Run.Status.RUNNING)
    live.notify(session.pk, "run", run=run.pk, status=run.status)
    return run


@sync_to_async
def set_status(run: Run, status: str) -> None:
    Run.objects.filter(pk=run.pk).update(status=status)
    live.notify(run.session_id, "run", run=run.pk, status=status)


def started(answer: int = 1) -> Json:
    return {"type": "message_start", "message": {"role": "assistant", "model": "demo"}, "answer": answer}


def delta(text: str) -> Json:
    update = {"type": "text_delta", "contentIndex": 0, "delta": text}
    return {"type": "message_update", "usage": {}, "assistantMessageEvent": update}


def has_op(name: str, text: str = "") -> Callable[[Json], bool]:
    return lambda frame: any(op[0] == name and text in json.dumps(op) for op in frame.get("ops", ()))


def is_(kind: str) -> Callable[[Json], bool]:
    return lambda frame: frame["t"] == kind


async def test_rows_come_first_then_the_live_tail(session: Session, alice_client: Client) -> None:
    await say(session, "one")
    run = await begin_run(session)
    stream = live.RunStream(run.pk, session.pk)
    stream.add(started())
    stream.add(delta("half an answer"))
    stream.flush()
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(has_op("snapshot", "half an answer"))
        kinds = [frame["t"] for frame in socket.frames]
        assert kinds[0] == "hello"
        assert kinds.index("entries") < kinds.index("live")
        assert socket.shown() == [1]
        expected = {
            "questions",
            "commands",
            "queue",
            "run-status",
            "session-name",
            "model-picker",
            "tools-picker",
            "session-meta",
            "session-tree",
        }
        # The look at the rows goes on beside the live tail: its last parts may come after the snapshot.
        while set(socket.parts()) < expected:
            await socket.until(lambda frame: frame["t"] == "part")
        assert set(socket.parts()) == expected
        stream.add(delta(" that grows"))
        await socket.until(has_op("more", " that grows"))


async def test_another_browser_hears_of_a_name_a_model_and_a_label(
    session: Session, alice: User, alice_client: Client
) -> None:
    entry = await say(session, "the <i>first</i> words")
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(lambda frame: frame.get("target") == "session-tree")
        await sync_to_async(sessions.rename_session)(session=session, author=alice, name="Harbour <b>")
        named = await socket.until(
            lambda frame: frame.get("target") == "session-name" and "Harbour" in frame["html"]
        )
        assert "Harbour &lt;b&gt;" in named["html"]
        await sync_to_async(sessions.set_label)(session=session, author=alice, entry=entry, label="start")
        article = await socket.until(is_("article"))
        assert article["seq"] == entry.seq
        assert "<bdi>start</bdi>" in article["html"]


async def test_what_is_written_between_rows_and_joining_is_neither_lost_nor_doubled(
    session: Session, alice_client: Client
) -> None:
    """B31."""
    for number in range(3):
        await say(session, f"m{number}")
    async with connected(alice_client, session) as socket:
        await say(session, "written before resume")
        await socket.resume(seq=2, leaf=2)
        writer = asyncio.gather(*(say(session, f"meanwhile {n}") for n in range(5)))
        await writer
        await socket.until(lambda _: socket.shown()[-1:] == [9])
        assert socket.shown() == [3, 4, 5, 6, 7, 8, 9]


async def test_a_lost_notice_is_made_good_by_the_next_look(
    session: Session,
    alice_client: Client,
    broker_url: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B29."""
    monkeypatch.setattr(session_consumer, "LOOK_SECONDS", 0.2)
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        monkeypatch.setattr(live, "notify", lambda *args, **facts: None)
        await say(session, "unannounced")
        await socket.until(is_("entries"))
        assert socket.shown() == [1]


async def test_doubled_notices_show_an_entry_once(session: Session, alice_client: Client) -> None:
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await say(session, "one")
        for _ in range(5):
            live.notify(session.pk, "entry", seq=1)
        await say(session, "two")
        await socket.until(lambda _: socket.shown()[-1:] == [2])
        live.notify(session.pk, "entry", seq=2)
        live.notify(session.pk, "queue")
        await socket.until(lambda frame: frame.get("target") == "queue")
        assert socket.shown() == [1, 2]


async def test_an_answers_entry_comes_before_its_preview_goes_and_names_it(
    session: Session, alice_client: Client
) -> None:
    await say(session, "question")
    run = await begin_run(session)
    stream = live.RunStream(run.pk, session.pk)
    async with connected(alice_client, session) as socket:
        await socket.resume(seq=1, leaf=1)
        await socket.until(is_("live"))
        stream.add(started(1))
        stream.add(delta("the answer"))
        await socket.until(has_op("tail", "the answer"))
        entry = await say(session, "the answer", "assistant", run)
        stream.add({"type": "message_end", "seq": entry.seq, "role": "assistant"})
        await socket.until(has_op("drop", "m1"))
        kinds = [frame["t"] for frame in socket.frames]
        assert kinds.index("entries") < len(kinds) - 1
        [entries] = [frame for frame in socket.frames if frame["t"] == "entries"]
        assert entries["replaces"] == ["m1"]
        assert entries["path"] == "append"


async def test_no_preview_is_shown_beside_its_entry_when_the_worker_died_between_row_and_word(
    session: Session, alice_client: Client
) -> None:
    await say(session, "question")
    run = await begin_run(session)
    stream = live.RunStream(run.pk, session.pk)
    stream.add(started(1))
    stream.add(delta("the answer"))
    stream.add({"type": "tool_execution_start", "toolCallId": "c1", "toolName": "bash", "args": {}})
    stream.flush()
    entry = await say(session, "the answer", "assistant", run)
    async with connected(alice_client, session) as socket:
        await socket.resume(seq=entry.seq, leaf=entry.seq)
        [[_, html]] = (await socket.until(is_("live")))["ops"]
        assert "the answer" not in html
        assert 'data-call="c1"' in html
        stream.add(started(2))
        stream.add(delta("the next"))
        await socket.until(has_op("tail", "the next"))


async def test_a_leaf_that_moves_to_another_branch_resets_the_page(
    session: Session, alice_client: Client
) -> None:
    first = await say(session, "one")
    await say(session, "two")
    async with connected(alice_client, session) as socket:
        await socket.resume(seq=2, leaf=2)
        await socket.until(is_("live"))
        await go_to(session, first)
        frame = await socket.until(is_("entries"))
        assert (frame["path"], frame["leaf"], frame["html"]) == ("reset", 1, "")
        await say(session, "another two")
        frame = await socket.until(is_("entries"))
        assert (frame["path"], frame["leaf"]) == ("append", 3)


async def test_a_page_that_was_away_gets_what_it_missed_or_is_reset(
    session: Session, alice_client: Client
) -> None:
    """B30, 10 §4."""
    first = await say(session, "one")
    await say(session, "two")
    async with connected(alice_client, session) as socket:
        await socket.resume(seq=1, leaf=1)
        assert (await socket.until(is_("entries")))["path"] == "append"
    await go_to(session, first)
    await say(session, "three")
    async with connected(alice_client, session) as socket:
        await socket.resume(seq=2, leaf=2)
        assert (await socket.until(is_("entries")))["path"] == "reset"


async def test_a_resume_with_nothing_missed_sends_no_snapshot(session: Session, alice_client: Client) -> None:
    run = await begin_run(session)
    stream = live.RunStream(run.pk, session.pk)
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        stream.add(started())
        stream.add(delta("text"))
        frame = await socket.until(has_op("tail", "text"))
        await socket.resume(live=frame["id"])
        await socket.until(is_("hello"))
        stream.add(delta(" more"))
        await socket.until(has_op("more", " more"))
        snapshots = [op for op in socket.ops() if op[0] == "snapshot"]
        await socket.resume(live="1:0-0")
        await socket.until(has_op("snapshot", "text more"))
        assert len(snapshots) <= 2  # at the first resume, before and after the run's stream had been read


async def test_status_and_words_follow_the_run(session: Session, alice_client: Client) -> None:
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        run = await begin_run(session)
        assert (await socket.until(is_("say")))["text"] == "The agent is at work."
        await socket.until(lambda frame: frame.get("target") == "run-status")
        live.RunStream(run.pk, session.pk).close("completed")
        await set_status(run, Run.Status.COMPLETED)
        assert (await socket.until(is_("say")))["text"] == "The agent has finished."


async def test_the_tree_is_sent_at_most_once_a_second(session: Session, alice_client: Client) -> None:
    async with connected(alice_client, session) as socket:
        await socket.resume()
        for number in range(10):
            await say(session, f"m{number}")
        await socket.until(lambda _: socket.shown()[-1:] == [10])
        assert socket.parts().count("session-tree") <= 2
        await socket.until(lambda f: f.get("target") == "session-tree" and "m9" in f["html"], seconds=3)


async def test_a_stranger_and_an_unknown_session_look_the_same(
    session: Session, charlie_client: Client, alice_client: Client
) -> None:
    for client, path in [
        (charlie_client, f"/ws/s/{session.key}/"),
        (alice_client, "/ws/s/00000000-0000-4000-8000-000000000000/"),
    ]:
        socket = Socket(client, path)
        await socket.connect()
        assert await socket.closed_with() == 4404
        assert socket.frames == []


async def test_who_is_not_signed_in_is_told_so(session: Session) -> None:
    socket = Socket(Client(), f"/ws/s/{session.key}/")
    await socket.connect()
    assert await socket.closed_with() == 4401


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.example", "localhost"),
        ("", "localhost"),
        ("null", "localhost"),
        ("http://localhost:9999", "localhost:8420"),
        ("http://evil.example", "evil.example"),
        ("http://127.0.0.1", "localhost"),
    ],
)
async def test_pages_of_others_get_no_socket(
    session: Session, alice_client: Client, origin: str, host: str
) -> None:
    """B51."""
    socket = Socket(alice_client, f"/ws/s/{session.key}/", origin=origin, host=host)
    accepted, _ = await socket.connect()
    assert not accepted


async def test_an_origin_with_the_port_of_the_server_is_its_own(
    session: Session, alice_client: Client
) -> None:
    headers = {"origin": "http://localhost:8420", "host": "localhost:8420"}
    async with connected(alice_client, session, **headers) as socket:
        await socket.resume()
        await socket.until(is_("hello"))


async def test_a_withdrawn_permission_ends_the_socket_with_the_next_notice(
    session: Session, bob: User, bob_client: Client
) -> None:
    async with connected(bob_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        await Membership.objects.filter(user=bob).adelete()
        await say(session, "not for bob")
        assert await socket.closed_with() == 4403
        assert socket.shown() == []


async def test_a_withdrawn_permission_ends_a_quiet_socket_too(
    session: Session, bob: User, bob_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_consumer, "LOOK_SECONDS", 0.2)
    async with connected(bob_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        await Membership.objects.filter(user=bob).adelete()
        assert await socket.closed_with() == 4403


async def test_permission_is_asked_again_at_every_resume(
    session: Session, bob: User, bob_client: Client
) -> None:
    """B51."""
    async with connected(bob_client, session) as socket:
        await socket.send_json_to({"t": "ping"})
        await socket.until(is_("pong"))
        await Membership.objects.filter(user=bob).adelete()
        await socket.resume()
        assert await socket.closed_with() == 4403
        assert socket.shown() == []


async def test_signing_out_ends_the_socket(session: Session, alice_client: Client) -> None:
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        await sync_to_async(alice_client.session.flush)()
        await socket.resume()
        assert await socket.closed_with() == 4401


async def test_a_disabled_account_ends_the_socket(
    session: Session, alice: User, alice_client: Client
) -> None:
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        alice.is_active = False
        await alice.asave()
        await socket.resume()
        assert await socket.closed_with() == 4401


async def test_an_erased_session_closes_its_pages(session: Session, alice_client: Client) -> None:
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))

        async def say_so() -> None:
            # A notice from before the hub follows the session is answered by a look at the rows; here they stay.
            while True:
                live.notify(session.pk, "erased")
                await asyncio.sleep(0.2)

        saying = asyncio.ensure_future(say_so())
        try:
            assert await socket.closed_with() == 4404
        finally:
            saying.cancel()


async def test_a_silent_browser_is_let_go(
    session: Session, alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B30."""
    monkeypatch.setattr(session_consumer, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(flow, "PING_SECONDS", 0.1)
    monkeypatch.setattr(flow, "SILENCE_SECONDS", 0.5)
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("ping"))
        await asyncio.sleep(0)
        socket.answers_pings = False
        assert await socket.closed_with() == 4408


async def test_a_browser_that_asks_is_answered(session: Session, alice_client: Client) -> None:
    async with connected(alice_client, session) as socket:
        await socket.send_json_to({"t": "ping"})
        assert await socket.next_frame() == {"t": "pong"}


async def test_a_slow_browser_gets_a_snapshot_when_it_is_back(
    session: Session, alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B29."""
    monkeypatch.setattr(flow, "PING_EVERY", 2_000)
    monkeypatch.setattr(flow, "MOST_ON_THE_WAY", 30_000)
    monkeypatch.setattr(viewer, "MOST_CHARACTERS", 5_000)
    run = await begin_run(session)
    stream = live.RunStream(run.pk, session.pk)
    async with connected(alice_client, session) as socket:
        socket.answers_pings = False
        await socket.resume()
        await socket.until(is_("live"))
        stream.add(started())
        await socket.until(has_op("message", "m1"))
        for number in range(400):
            stream.add(delta(f"word{number} " * 10 + "\n\n"))
            await asyncio.sleep(0.002)
        stream.flush()
        await asyncio.sleep(0.3)
        received = 0
        while not await socket.receive_nothing(0.05, 0.01):
            received += len(json.dumps(await socket.next_frame()))
        assert received < 120_000
        assert "word399" not in json.dumps(socket.ops())
        socket.answers_pings = True
        for frame in socket.frames:
            if frame["t"] == "ping":
                await socket.send_json_to({"t": "pong"})
        frame = await socket.until(has_op("snapshot", "word399"))
        assert "word0 " in json.dumps(frame)


@pytest.mark.parametrize("text", [" ", "{", "[]", "7", '{"t": "stop"}', '{"t": ["resume"]}', "x" * 5000])
async def test_other_messages_are_passed_over(session: Session, alice_client: Client, text: str) -> None:
    async with connected(alice_client, session) as socket:
        await socket.send_to(text_data=text)
        await socket.send_to(bytes_data=b"\x00\xff")
        await socket.send_json_to({"t": "resume", "seq": "x", "leaf": -4, "live": [1]})
        await socket.until(is_("hello"))


async def test_a_restart_of_the_broker_is_survived(
    session: Session,
    alice_client: Client,
    broker: Broker,  # noqa: F811
) -> None:
    run = await begin_run(session)
    stream = live.RunStream(run.pk, session.pk)
    async with connected(alice_client, session) as socket:
        await socket.resume()
        await socket.until(is_("live"))
        stream.add(started())
        stream.add(delta("before "))
        await socket.until(has_op("tail", "before"))
        await asyncio.to_thread(broker.stop)
        await say(session, "while it was away")
        stream.add(delta("and "))
        await asyncio.to_thread(broker.start)
        stream.add(delta("after"))
        await socket.until(lambda f: "before and after" in re.sub("<[^>]*>", "", json.dumps(f)), seconds=10)
        if 1 not in socket.shown():
            await socket.until(is_("entries"))
        assert socket.shown() == [1]
