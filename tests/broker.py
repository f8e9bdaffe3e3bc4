"""A real broker for tests: one Valkey server on a private Unix socket, emptied for each test."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from agentweb.broker import answers, find_valkey, valkey_command
from sessions_app import live


class Broker:
    """The server's process; `restart` keeps its data unless told otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "valkey.sock"
        self.url = f"unix://{self.socket}?db=0"
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "broker").mkdir()

    def start(self) -> None:
        self._process = subprocess.Popen(valkey_command(find_valkey(), self.folder, self.socket))
        deadline = time.monotonic() + 20
        while not answers(self.socket):
            assert time.monotonic() < deadline, "the broker did not start"
            time.sleep(0.005)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=20)
            self._process = None

    def restart(self, *, keep_data: bool = True) -> None:
        self.stop()
        if not keep_data:
            shutil.rmtree(self.folder / "broker")
            (self.folder / "broker").mkdir()
        self.start()

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url)


@pytest.fixture(scope="session")
def broker_process() -> Iterator[Broker]:
    # Not in pytest's folder: a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="aw-broker-"))
    broker = Broker(folder)
    broker.start()
    yield broker
    broker.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def broker(broker_process: Broker, settings: Any) -> Broker:
    """The running server, empty, and set as the product's broker."""
    with broker_process.client() as client:
        client.flushall()
    settings.REDIS_URL = broker_process.url
    # What tests without a broker wanted to send waits for one, for seconds.
    with live.flusher.lock:
        live.flusher._waiting.clear()
        live.flusher._failures, live.flusher._not_before = 0, 0.0
    return broker_process


@pytest.fixture
def broker_url(broker: Broker) -> str:
    return broker.url


async def hubs_have_ended() -> None:
    """Wait until the readers of stream hubs without viewers have closed their connections."""
    readers = [task for task in asyncio.all_tasks() if task.get_name() == "stream-hub"]
    if readers:
        _, pending = await asyncio.wait(readers, timeout=5)
        assert not pending
