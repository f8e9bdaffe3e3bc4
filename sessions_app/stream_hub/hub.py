"""One reader task per web process: it follows every watched stream and hands frames to the sockets.

The rules that keep it right: the task is made before anything is awaited (two readers would double every
frame); a stream is read from its beginning before its viewers get a frame; notices are handed out before
the frames of the same answer, so that a stored entry is shown before its preview goes. The notice of a run
is enough to follow it: its first words don't wait for anybody's look at the rows.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from redis import RedisError
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from sessions_app import live
from sessions_app.stream_hub.run_view import RunView
from sessions_app.stream_hub.viewer import Viewer

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_BROKER_ERRORS = (RedisError, OSError, asyncio.TimeoutError)
_BLOCK_MS = 10_000
_BATCHES = 500
# Seconds of rendering after which other tasks get their turn; seconds of work below which no rest is taken.
_SLICE = 0.005
_NO_REST = 0.002
_FIRST = "0-0"
_AT_WORK = {"queued", "running"}
# Ops after which something is missing that the page had.
_TAKE_AWAY = {"drop", "clear"}


class _Watch:
    """A stream that is followed. `position` is None until it has been read from its beginning."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.position: str | None = None
        self.viewers: set[Viewer] = set()


class _RunWatch(_Watch):
    def __init__(self, run_id: int, view: RunView) -> None:
        super().__init__(live.run_key(run_id))
        self.run_id = run_id
        self.view = view


class StreamHub:
    """All methods but the reader are plain functions: nothing can come between a snapshot and what follows it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._sessions: dict[int, _Watch] = {}
        self._runs: dict[int, _RunWatch] = {}
        self._viewers: set[Viewer] = set()
        self._reader: asyncio.Task[None] | None = None
        self._waker: Any = None
        self._pokes: set[asyncio.Task[None]] = set()
        self._wake_key = f"agentweb:wake:{secrets.token_hex(8)}"
        self._wake_position = _FIRST

    def join(self, viewer: Viewer) -> None:
        """From now on the viewer gets its session's notices; the first, `resync`, once they can't be missed."""
        watch = self._sessions.setdefault(viewer.session_id, _Watch(live.session_key(viewer.session_id)))
        watch.viewers.add(viewer)
        self._viewers.add(viewer)
        self._start()
        if watch.position is None:
            self._poke()
        else:
            viewer.notice("resync", {})

    def follow(self, viewer: Viewer, run_id: int | None) -> None:
        """The viewer gets the live region of this run (None: of none) instead of the one before."""
        if viewer.run_id != run_id and self._follow(viewer, run_id):
            self._poke()

    def _follow(self, viewer: Viewer, run_id: int | None) -> bool:
        """Whether the reader has to read a stream it did not know."""
        self._unfollow(viewer)
        viewer.run_id = run_id
        viewer.need_snapshot()
        if run_id is None:
            return False
        is_new = run_id not in self._runs
        watch = self._runs.setdefault(run_id, _RunWatch(run_id, RunView()))
        watch.viewers.add(viewer)
        return is_new

    def leave(self, viewer: Viewer) -> None:
        self._unfollow(viewer)
        self._viewers.discard(viewer)
        watch = self._sessions.get(viewer.session_id)
        if watch:
            watch.viewers.discard(viewer)
            if not watch.viewers:
                del self._sessions[viewer.session_id]
        if not self._viewers and self._reader:
            for task in [self._reader, *self._pokes]:
                task.cancel()
            self._reader = self._waker = None

    def snapshot(self, viewer: Viewer, without: Collection[str] = ()) -> str | None:
        """The frame with the viewer's whole live region; None while its run hasn't been read yet.

        `without`: keys of previews whose entries the page has. The stream may not know of them yet, or never
        will, when the worker died between the row and the word.
        """
        watch = self._runs.get(viewer.run_id) if viewer.run_id is not None else None
        if watch is None:
            viewer.stale = False
            return _frame("", [["snapshot", ""]])
        if watch.position is None:
            return None
        self._render(watch)
        viewer.stale = False
        return _frame(_live_id(watch), [["snapshot", watch.view.snapshot(without)]])

    def live_id(self, viewer: Viewer) -> str:
        """How far the viewer's run has been read; a browser that says the same has missed nothing."""
        watch = self._runs.get(viewer.run_id) if viewer.run_id is not None else None
        return _live_id(watch) if watch and watch.position and not watch.view.has_changes else ""

    def _unfollow(self, viewer: Viewer) -> None:
        watch = self._runs.get(viewer.run_id) if viewer.run_id is not None else None
        viewer.run_id = None
        if watch:
            watch.viewers.discard(viewer)
            if not watch.viewers:
                del self._runs[watch.run_id]

    def _start(self) -> None:
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read_for_ever(), name="stream-hub")

    def _poke(self) -> None:
        """Wake the reader out of its wait, so that it sees a new stream."""
        if self._waker is not None:
            task = asyncio.create_task(self._write_to_wake_stream(self._waker))
            self._pokes.add(task)
            task.add_done_callback(self._pokes.discard)

    async def _write_to_wake_stream(self, client: Any) -> None:
        # When this fails the reader's connection is lost too: it will connect again and see everything new.
        with suppress(*_BROKER_ERRORS):
            await client.xadd(self._wake_key, {"w": "1"}, maxlen=1)
            await client.expire(self._wake_key, 3600)

    def _connect(self) -> Redis:
        # No timeout of the client's own: its default ends waits of 5 s, and any swallows a cancellation that
        # comes while a command is being sent (asyncio.wait_for before Python 3.12).
        return Redis.from_url(
            self._url,
            single_connection_client=True,
            socket_timeout=None,
            socket_connect_timeout=2,
            retry=Retry(NoBackoff(), 0),
        )

    async def _read_for_ever(self) -> None:
        failures = 0
        while self._is_reader():
            # Closed by hand: `async with` leaves a client open that is cancelled while it connects.
            client, waker = self._connect(), self._connect()
            try:
                self._forget_positions()
                await waker.ping()
                self._waker = waker
                if failures:
                    logger.warning("the broker is back")
                failures = 0
                while self._is_reader():
                    await self._read_new_streams(client)
                    await self._read_on(client)
            except _BROKER_ERRORS as error:
                if failures == 0:
                    logger.warning("the broker can't be reached; pages don't move: %s", error)
                failures += 1
            finally:
                if self._waker is waker:
                    self._waker = None
                await client.aclose()
                await waker.aclose()
            await asyncio.sleep(min(2.0, 0.05 * 2 ** min(failures, 6)))

    def _is_reader(self) -> bool:
        """Whether this task is still the one, should a cancellation get lost."""
        return self._reader is asyncio.current_task()

    def _forget_positions(self) -> None:
        self._wake_position = _FIRST
        for watch in [*self._sessions.values(), *self._runs.values()]:
            watch.position = None

    async def _read_new_streams(self, client: Any) -> None:
        """Bring streams that are new, or whose broker was lost, up to now."""
        for watch in [w for w in self._sessions.values() if w.position is None]:
            newest = await client.xrevrange(watch.key, count=1)
            watch.position = _text(newest[0][0]) if newest else _FIRST
            for viewer in watch.viewers:
                viewer.notice("resync", {})
        for run in [w for w in self._runs.values() if w.position is None]:
            run.view = RunView()
            position = _FIRST
            while batches := await client.xrange(run.key, min=f"({position}", count=_BATCHES):
                for identifier, fields in batches:
                    position = _text(identifier)
                    run.view.take(_parsed(fields[b"e"], []))
                await asyncio.sleep(0)
            run.view.settle()
            run.position = position
            for viewer in run.viewers:
                viewer.need_snapshot()
            self._end_if_over(run)

    async def _read_on(self, client: Any) -> None:
        by_key: dict[str, _Watch] = {
            watch.key: watch
            for watch in [*self._sessions.values(), *self._runs.values()]
            if watch.position is not None
        }
        streams = {key: watch.position for key, watch in by_key.items()} | {
            self._wake_key: self._wake_position
        }
        if not self._is_reader():
            return
        async with asyncio.timeout(_BLOCK_MS / 1000 + 5):
            answer = await client.xread(streams, count=_BATCHES, block=_BLOCK_MS)
        began = time.perf_counter()
        for key, batches in _pairs(answer):
            watch = by_key.get(key)
            if watch is None:
                self._wake_position = _text(batches[-1][0])
            elif isinstance(watch, _RunWatch):
                for _, fields in batches:
                    watch.view.take(_parsed(fields[b"e"], []))
                watch.position = _text(batches[-1][0])
            else:
                self._hand_out(watch, batches)
        worked = await self._render_all(time.perf_counter() - began)
        if worked > _NO_REST:
            # As long a rest as the work took: under load frames get larger instead of the process busier.
            await asyncio.sleep(min(worked, 0.25))

    def _hand_out(self, watch: _Watch, batches: list[Any]) -> None:
        for _, fields in batches:
            facts = _parsed(fields[b"n"], {})
            kind = str(facts.pop("kind", ""))
            begins = kind == "run" and facts.pop("agent", False) and facts.get("status") in _AT_WORK
            run_id = facts.get("run") if begins else None
            for viewer in watch.viewers:
                if isinstance(run_id, int) and run_id > (viewer.run_id or 0):
                    # This is the reader: it comes to the new stream by itself.
                    self._follow(viewer, run_id)
                viewer.notice(kind, facts)
        watch.position = _text(batches[-1][0])

    async def _render_all(self, worked: float) -> float:
        """Seconds of work, those given included, without the turns of other tasks in between."""
        began = time.perf_counter()
        for watch in [run for run in self._runs.values() if run.view.has_changes or run.view.ended]:
            self._render(watch)
            self._end_if_over(watch)
            spent = time.perf_counter() - began
            if spent > _SLICE:
                worked += spent
                await asyncio.sleep(0)
                began = time.perf_counter()
        return worked + time.perf_counter() - began

    def _render(self, watch: _RunWatch) -> None:
        """What has changed becomes one frame, encoded once for all."""
        frames = [(json.dumps({"t": "say", "text": words}), False) for words in watch.view.says[-1:]]
        watch.view.says.clear()
        if ops := watch.view.ops():
            takes_away = any(op[0] in _TAKE_AWAY for op in ops)
            frames.append((_frame(_live_id(watch), ops), takes_away))
        for frame, takes_away in frames:
            for viewer in watch.viewers:
                viewer.push(frame, takes_away=takes_away)

    def _end_if_over(self, watch: _RunWatch) -> None:
        if watch.view.ended and self._runs.get(watch.run_id) is watch:
            del self._runs[watch.run_id]
            for viewer in watch.viewers:
                viewer.notice("ended", {"run": watch.run_id, "status": watch.view.status})


def _parsed(text: bytes, empty: Any) -> Any:
    """JSON of the empty value's type, which also stands for everything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return empty
    return value if isinstance(value, type(empty)) else empty


def _frame(live_id: str, ops: list[Any]) -> str:
    return json.dumps({"t": "live", "id": live_id, "ops": ops}, ensure_ascii=False, separators=(",", ":"))


def _live_id(watch: _RunWatch) -> str:
    return f"{watch.run_id}:{watch.position}"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _pairs(answer: Any) -> list[tuple[str, list[Any]]]:
    """Streams and their batches, sessions first, whichever protocol version gave them."""
    if not answer:
        return []
    if isinstance(answer, dict):
        # RESP3 puts the batches of a stream into a list of their own.
        found = [(_text(key), batches[0] if batches else []) for key, batches in answer.items()]
    else:
        found = [(_text(key), batches) for key, batches in answer]
    return sorted(
        (pair for pair in found if pair[1]), key=lambda pair: not pair[0].startswith("agentweb:session:")
    )


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, StreamHub]] = WeakKeyDictionary()


def hub_of_this_loop() -> StreamHub:
    """The hub of the running event loop and the configured broker."""
    hubs = _hubs.setdefault(asyncio.get_running_loop(), {})
    make = partial(StreamHub, settings.REDIS_URL)
    return hubs.get(settings.REDIS_URL) or hubs.setdefault(settings.REDIS_URL, make())
