"""One socket: resumes where the page stands, then passes on what happens, in one order and by one task."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from sessions_app.consumers.flow import Flow
from sessions_app.consumers.page_news import (
    HEADER,
    PARTS,
    News,
    Shown,
    find_session,
    read_news,
    signed_in_user,
    stored_previews,
)
from sessions_app.stream_hub import StreamHub, Viewer, hub_of_this_loop

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

logger = logging.getLogger(__name__)

Json = dict[str, Any]

NOT_SIGNED_IN, WITHDRAWN, UNKNOWN, NO_HEARTBEAT, FAULT = 4401, 4403, 4404, 4408, 1011
# Seconds between two looks at the rows and the permission without any notice, and between two trees.
LOOK_SECONDS = 15.0
CALM_SECONDS = 1.0
# How long news may wait for more, so that one look tells all of them: those that change little, and entries (an
# answer's is mostly followed by the end of its run).
GATHER_SECONDS = 0.15
GATHER_ENTRIES_SECONDS = 0.05
MOST_RECEIVED = 4_096

# notice -> parts of the page that it makes old; rows are looked at with every notice.
_PARTS_OF = {
    "queue": {"queue"},
    "question": {"questions"},
    "command": {"commands"},
    "run": {"run-status", "queue", "questions", "commands"},
    "ended": {"run-status", "queue", "questions", "commands"},
    "session": {"session-meta", *HEADER},
    "marks": {"session-tree"},
    "resync": set(PARTS),
}
_CALM = {"session-meta", "session-tree"}
# About a run that the page follows already: nothing of the transcript waits for them.
_PATIENT = {"run", "ended", "queue", "session", "aside", "command"}
_GATHERED = _PATIENT | {"entry"}


class SessionConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """From the browser come `resume` (seq, leaf, live), `ping` and `pong`; everything else is passed over."""

    viewer: Viewer | None = None
    pump: asyncio.Task[None] | None = None
    user: AnyUser | None

    async def connect(self) -> None:
        if not _is_own_origin(dict(self.scope["headers"])):
            await self.close()
            return
        # Accepted before it is refused: a browser sees the code of a close, but not why a handshake failed.
        await self.accept()
        self.user = await _signed_in_user(self.scope["session"])
        if self.user is None:
            await self.close(NOT_SIGNED_IN)
            return
        session = await _find_session(self.user, self.scope["url_route"]["kwargs"]["key"])
        if session is None:
            # The same for strangers: whether it exists is none of their business.
            await self.close(UNKNOWN)
            return
        self.session_pk = session.pk
        self.shown = Shown()
        self.resume: Json | None = None
        self.resumed = False
        self.flow = Flow(time.monotonic())
        self.next_look = time.monotonic() + LOOK_SECONDS
        self.postponed: set[str] = set()
        self.calm_until = 0.0
        self.tell_at: float | None = None
        self.looking: asyncio.Task[News | None] | None = None
        self.hub: StreamHub = hub_of_this_loop()
        self.viewer = Viewer(session.pk)
        self.hub.join(self.viewer)
        self.pump = asyncio.create_task(self._pump(self.viewer), name="session-socket")
        self.pump.add_done_callback(self._pump_ended)

    async def disconnect(self, code: int) -> None:
        if self.viewer:
            self.hub.leave(self.viewer)
        for task in (self.pump, self.looking):
            if task:
                task.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = _parsed(text_data)
        if self.viewer is None or message is None:
            return
        match message.get("t"):
            case "resume":
                self.resume = message
                self.viewer.something.set()
            case "pong":
                self.flow.ponged(time.monotonic())
                self.viewer.something.set()
            case "ping":
                await self._send('{"t":"pong"}')

    async def _pump(self, viewer: Viewer) -> None:
        """The only sender of this socket but for pongs: what is sent, is sent in order."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._until_next_look()):
                    await viewer.something.wait()
            viewer.something.clear()
            now = time.monotonic()
            if self.flow.is_dead(now):
                await self._end(NO_HEARTBEAT)
                return
            if self.flow.wants_ping(now):
                await self._ping()
            if not await self._step(viewer, now):
                return

    async def _step(self, viewer: Viewer, now: float) -> bool:
        """One round; False when the socket has been closed."""
        if now >= self.next_look or self.resume:
            self.next_look = now + LOOK_SECONDS
            self.user = await _signed_in_user(self.scope["session"])
            if self.user is None:
                await self._end(NOT_SIGNED_IN)
                return False
            viewer.notice("look", {})
        if self.resume:
            return await self._resume(viewer, self.resume)
        if not self.resumed:
            return True
        while not self.flow.is_full:
            if self.looking is None and (self._is_due() or self._wants_telling(viewer)):
                if not await self._begin_to_tell(viewer):
                    return False
            elif self.looking is not None and self.looking.done():
                news, self.looking = self.looking.result(), None
                if not await self._told(viewer, news):
                    return False
            elif not await self._send_live(viewer):
                break
        return True

    async def _resume(self, viewer: Viewer, message: Json) -> bool:
        self.resume = None
        viewer.take_notices()
        self.shown = Shown(seq=_number(message.get("seq")), leaf=_number(message.get("leaf")))
        await self._send_json({"t": "hello", "version": _version(), "seq": self.shown.seq})
        if self.looking:
            self.looking.cancel()
        self.postponed, self.looking = set(), None
        # What is pushed from here on, or else from the end of the look on, belongs behind what the page has.
        goes_on = self._has_missed_nothing(viewer, message)
        news = await self._read({"queue", "run-status", "session-meta"}, first=True)
        if not await self._told(viewer, news, first=True):
            return False
        if not goes_on:
            self._has_missed_nothing(viewer, message)
        self.resumed = True
        viewer.something.set()
        return True

    def _has_missed_nothing(self, viewer: Viewer, message: Json) -> bool:
        """Whether the live region of the page stands where the hub does; if not, it will get all of it."""
        viewer.need_snapshot()
        viewer.stale = not message.get("live") or message["live"] != self.hub.live_id(viewer)
        return not viewer.stale

    def _wants_telling(self, viewer: Viewer) -> bool:
        """Whether there is news, and none that can still wait for more."""
        viewer.forget_notices(self._is_known)
        if not viewer.has_notices:
            self.tell_at = None
            return False
        if viewer.run_id is None or self.shown.run != viewer.run_id or not viewer.notice_kinds <= _GATHERED:
            return True
        now = time.monotonic()
        patience = GATHER_SECONDS if viewer.notice_kinds <= _PATIENT else GATHER_ENTRIES_SECONDS
        if self.tell_at is None or self.tell_at > now + patience:
            self.tell_at = now + patience
            asyncio.get_running_loop().call_later(patience, viewer.something.set)
        return now >= self.tell_at

    def _is_known(self, kind: str, facts: Json) -> bool:
        """What an earlier look has told already, because it came after the change."""
        match kind:
            case "entry" | "aside":
                seq = facts.get("seq")
                return isinstance(seq, int) and seq <= self.shown.seq
            case "run" | "ended":
                return (facts.get("run"), facts.get("status")) == (self.shown.run, self.shown.status)
        return False

    async def _begin_to_tell(self, viewer: Viewer) -> bool:
        """Look at the rows, while the answer goes on growing on the page. False when the socket has been closed."""
        self.tell_at = None
        notices = viewer.take_notices()
        if "erased" in notices:
            await self._end(UNKNOWN)
            return False
        parts: set[str] = set().union(*(_PARTS_OF.get(kind, set()) for kind in notices))
        self.looking = asyncio.create_task(self._read(parts), name="session-look")
        self.looking.add_done_callback(lambda _: viewer.something.set())
        return True

    async def _read(self, parts: set[str], *, first: bool = False) -> News | None:
        """What is new. While a run goes on, parts that change with every entry wait until it has got under way."""
        now = time.monotonic()
        at_rest = now >= self.calm_until and self.viewer is not None and self.viewer.run_id is None
        late: set[str] = set() if first or at_rest or self._is_due() else _CALM
        news: News | None = await _read_news(
            self.user, self.session_pk, self.shown, parts | self.postponed, later=late
        )
        return news

    async def _told(self, viewer: Viewer, news: News | None, *, first: bool = False) -> bool:
        """Send what a look has found. False when the socket has been closed."""
        if news is None:
            await self._end(WITHDRAWN)
            return False
        now = time.monotonic()
        if any(frame.get("target") in _CALM for frame in news.frames):
            self.calm_until = now + CALM_SECONDS
        self.postponed = set(news.postponed)
        if self.postponed:
            self.calm_until = self.calm_until if self.calm_until > now else now + CALM_SECONDS
            asyncio.get_running_loop().call_later(self.calm_until - now, viewer.something.set)
        self.shown = news.shown
        for frame in news.frames:
            if not (first and frame["t"] == "say"):
                await self._send_json(frame)
        # A run may have been followed since by its notice: a look from before does not know it.
        if viewer.run_id is None or (news.shown.run or 0) >= viewer.run_id:
            self.hub.follow(viewer, news.active_run)
        return True

    async def _send_live(self, viewer: Viewer) -> bool:
        """One frame of the live region; False when there is nothing to send now."""
        is_told = self.looking is None and not viewer.has_notices
        if not viewer.stale:
            # A stored entry is shown before its preview goes.
            frame = viewer.take_frame(only_growth=not is_told)
        elif viewer.run_id is not None and viewer.run_id > (self.shown.run or 0):
            # It began after the last look: nothing of it can be on the page yet.
            frame = self.hub.snapshot(viewer)
        elif is_told:
            # What is pushed while we wait is in the snapshot.
            shown = await _stored_previews(viewer.run_id, self.shown.seq)
            frame = self.hub.snapshot(viewer, shown)
        else:
            return False
        if frame is None:
            return False
        await self._send(frame)
        if self.flow.wants_ping(time.monotonic()):
            await self._ping()
        return True

    def _is_due(self) -> bool:
        return bool(self.postponed) and time.monotonic() >= self.calm_until

    def _until_next_look(self) -> float:
        return max(0.01, self.next_look - time.monotonic())

    async def _ping(self) -> None:
        self.flow.pinged(time.monotonic())
        await self._send('{"t":"ping"}')

    async def _send_json(self, frame: Json) -> None:
        await self._send(json.dumps(frame, ensure_ascii=False, separators=(",", ":")))

    async def _send(self, text: str) -> None:
        self.flow.sent(len(text))
        await self.send(text_data=text)

    async def _end(self, code: int) -> None:
        if self.viewer:
            self.hub.leave(self.viewer)
        await self.close(code)

    def _pump_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            return
        logger.error("a socket's task failed", exc_info=task.exception())
        self.closing = asyncio.ensure_future(self._end(FAULT))


def _is_own_origin(headers: dict[bytes, bytes]) -> bool:
    """Whether the page that opened the socket is ours, port included, as the CSRF check demands of POSTs.

    Cookies don't know ports: without this, a page of any other server on the same machine could listen in.
    """
    origin = headers.get(b"origin", b"").decode("latin-1").lower()
    host = headers.get(b"host", b"").decode("latin-1").lower()
    parts = urlsplit(origin)
    return bool(parts.netloc) and (parts.netloc == host or origin in settings.CSRF_TRUSTED_ORIGINS)


def _parsed(text: str | None) -> Json | None:
    if text is None or len(text) > MOST_RECEIVED:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else 0


@lru_cache(maxsize=1)
def _version() -> str:
    try:
        return version("agentweb")
    except PackageNotFoundError:
        return "development"


_signed_in_user = database_sync_to_async(signed_in_user)
_find_session = database_sync_to_async(find_session)
_read_news = database_sync_to_async(read_news)
_stored_previews = database_sync_to_async(stored_previews)
