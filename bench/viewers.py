"""People with open session pages: they sign in, open one socket each, send a prompt and take in what comes."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
from websockets.asyncio.client import ClientConnection, connect

from bench.deltas import Page, Tally, is_last, now
from bench.product import Product

MODEL = "anthropic/claude-sonnet-5-5"
# Beyond what the streams themselves take.
PATIENCE = 60.0


@dataclass
class Viewer:
    """One page: frames are kept with their times and only looked into when all is over."""

    address: str
    seq: int
    leaf: int
    frames: list[tuple[int, str]] = field(default_factory=list)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def watch(self, socket: ClientConnection, count: int) -> None:
        """What session-stream.js says and answers, until the socket is closed."""
        await socket.send(f'{{"t":"resume","seq":{self.seq},"leaf":{self.leaf},"live":""}}')
        async for frame in socket:
            assert isinstance(frame, str)
            self.frames.append((now(), frame))
            if frame.startswith('{"t":"ping"'):
                await socket.send('{"t":"pong"}')
            elif frame.startswith('{"t":"hello"'):
                self.ready.set()
            elif is_last(frame, count):
                self.done.set()

    def tally(self, count: int) -> Tally:
        page = Page(count)
        for arrived, frame in self.frames:
            page.take(arrived, frame)
        return page.tally


class Visitor:
    """A signed-in browser without a screen."""

    def __init__(self, product: Product) -> None:
        self._base = product.up.address
        self._client = httpx.AsyncClient(
            base_url=self._base, timeout=60, limits=httpx.Limits(max_connections=8), follow_redirects=True
        )

    async def __aenter__(self) -> Visitor:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._client.aclose()

    async def sign_in(self, link: str) -> None:
        await self._client.get(link)
        await self._post(link)

    async def open_session(self, model: str = MODEL) -> Viewer:
        """A new session's page."""
        chooser = (await self._client.get("/")).text
        choice = re.search(r'name="workspace".*?(?:<option |)value="(\d+)"', chooser, re.S)
        assert choice, "no workspace can be chosen on the start page"
        page = await self._post("/s/new/", workspace=choice[1], model=model)
        stream = re.search(r"<session-stream[^>]*>", page.text)
        assert stream, page.text[:500]
        facts = dict(re.findall(r'data-(\w+)="([^"]*)"', stream[0]))
        return Viewer(facts["socket"], int(facts["seq"] or 0), int(facts["leaf"] or 0))

    def socket_of(self, viewer: Viewer) -> connect:
        cookies = "; ".join(f"{name}={value}" for name, value in self._client.cookies.items())
        return connect(
            self._base.replace("http://", "ws://") + viewer.address,
            origin=self._base,  # type: ignore[arg-type]
            additional_headers={"Cookie": cookies},
            compression=None,
            max_size=None,
            open_timeout=60,
        )

    async def prompt(self, viewer: Viewer, words: str) -> None:
        address = viewer.address.removeprefix("/ws") + "prompt/"
        await self._post(address, headers={"HX-Request": "true"}, text=words, key=uuid.uuid4().hex)

    async def _post(
        self, address: str, headers: dict[str, str] | None = None, **fields: str
    ) -> httpx.Response:
        token = self._client.cookies.get("agentweb_csrf") or ""
        headers = {"X-CSRFToken": token, "Origin": self._base, **(headers or {})}
        answer = await self._client.post(address, data=fields, headers=headers)
        assert answer.status_code < 300, f"{address}: {answer.status_code} {answer.text[:300]}"
        return answer


async def sign_in(product: Product) -> Visitor:
    visitor = Visitor(product)
    await visitor.sign_in(product.up.link)
    return visitor


async def watch_runs(
    visitor: Visitor, runs: int, count: int, rate: int, *, around: Callable[[], None] = lambda: None
) -> list[Tally]:
    """`runs` sessions get a prompt in the same moment, each watched on a socket of its own; what became of them.

    `around` is called before the first prompt and after the last delta.
    """
    viewers = [await visitor.open_session() for _ in range(runs)]
    async with asyncio.TaskGroup() as group:
        sockets = [await visitor.socket_of(viewer) for viewer in viewers]
        for viewer, socket in zip(viewers, sockets, strict=True):
            group.create_task(viewer.watch(socket, count))
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(viewer.ready.wait() for viewer in viewers))
            words = f"timed {count} at {rate}"
            around()
            await asyncio.gather(*(visitor.prompt(viewer, words) for viewer in viewers))
            try:
                async with asyncio.timeout(PATIENCE + (count / rate if rate else 0)):
                    await asyncio.gather(*(viewer.done.wait() for viewer in viewers))
                around()
                # Whatever should not come any more would come now.
                await asyncio.sleep(0.5)
            except TimeoutError:
                around()  # What did not come is lost: the tallies say so.
        finally:
            await asyncio.gather(*(socket.close() for socket in sockets))
    return [viewer.tally(count) for viewer in viewers]
