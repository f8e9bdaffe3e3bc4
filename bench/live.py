"""What the live tail adds: from a worker's `RunStream` through broker, hub and web server to a browser's socket.

    python -m bench.live [--streams 1,16,64] [--rate 50] [--seconds 8] [--batch-ms 40] [--json FILE]

Starts a broker, the web server and a producer as processes of their own, opens one socket per stream, and
says every delta's number and time of writing in its text. Latency is from `RunStream.add` to the socket's
message that shows the delta first; a delta is lost when the page at the end does not show it, doubled when
it shows it twice. CPU is of the whole process, while streaming, per 1,000 deltas. Beside it stands a bare
reader: one asyncio process that reads the same rate from a stand-in with the vendor's SDK and throws it away.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

Json = dict[str, Any]

WORDS = ("The ", "agent ", "reads ", "the **file** ", "and ", "writes `code` ", "about ", "it. ")
MARK = re.compile(r"d(\d+)x(\d+)z")


def delta_text(number: int) -> str:
    """About twenty characters of prose with a mark; a new paragraph now and then."""
    end = "\n\n" if number % 40 == 39 else " "
    return f"{WORDS[number % len(WORDS)]}d{number}x{time.monotonic_ns()}z{end}"


# --- the producer's process -------------------------------------------------------------------------------


def produce(runs: list[list[int]], rate: float, seconds: float) -> None:
    """One thread per run, as in a worker; prints its CPU seconds."""
    import django

    django.setup()
    from sessions_app import live

    def stream(run_id: int, session_id: int, offset: float) -> None:
        out = live.RunStream(run_id, session_id)
        out.add({"type": "message_start", "message": {"role": "assistant", "model": "bench"}, "answer": 1})
        begin = time.monotonic() + offset
        usage = {"input": 1000, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1001}
        for number in range(int(rate * seconds)):
            time.sleep(max(0.0, begin + number / rate - time.monotonic()))
            update = {"type": "text_delta", "contentIndex": 0, "delta": delta_text(number)}
            out.add({"type": "message_update", "usage": usage, "assistantMessageEvent": update})
        out.flush()

    # Streams do not tick in step.
    threads = [
        threading.Thread(target=stream, args=(*pair, index / len(runs) / rate))
        for index, pair in enumerate(runs)
    ]
    before = time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"cpu": time.process_time() - before}), flush=True)


# --- the browsers' process --------------------------------------------------------------------------------


@dataclass
class Page:
    """One browser: what it shows, and when it first saw each delta."""

    stable: str = ""
    tail: str = ""
    newest: int = -1
    latencies: list[float] = field(default_factory=list)
    frames: int = 0
    characters: int = 0
    snapshots: int = 0

    def take(self, text: str) -> None:
        now = time.monotonic_ns()
        frame = json.loads(text)
        if frame["t"] != "live":
            return
        self.frames += 1
        self.characters += len(text)
        for name, *arguments in frame["ops"]:
            html = arguments[-1] if arguments else ""
            if name == "snapshot":
                self.snapshots += 1
                self.stable, self.tail = html, ""
            elif name in {"message", "block"}:
                self.stable, self.tail = "", ""
            elif name == "stable":
                self.stable += html
            elif name == "tail":
                self.tail = html
            elif name == "more":
                self.tail += html
            for mark in MARK.finditer(html):
                number = int(mark[1])
                if number > self.newest:
                    self.newest = number
                    self.latencies.append((now - int(mark[2])) / 1e6)


async def browse(address: str, cookie: str, keys: list[str], deltas: int, seconds: float) -> None:
    """Opens a socket per key, says `ready`, reads until every page has everything, and prints what it saw."""
    from websockets.asyncio.client import connect

    pages = [Page() for _ in keys]
    ready = asyncio.Semaphore(0)

    async def read(key: str, page: Page) -> None:
        headers = {"Cookie": cookie, "Origin": f"http://{address}"}
        async with connect(f"ws://{address}/ws/s/{key}/", additional_headers=headers, max_size=None) as web:
            await web.send(json.dumps({"t": "resume", "seq": 0, "leaf": 0, "live": ""}))
            async for text in web:
                if '"t":"ping"' in str(text)[:20]:
                    await web.send('{"t":"pong"}')
                    continue
                first = page.snapshots == 0
                page.take(str(text))
                if first and page.snapshots:
                    ready.release()
                if page.newest == deltas - 1:
                    return

    async def all_ready() -> None:
        for _ in keys:
            await ready.acquire()
        print("ready", flush=True)

    readers = [asyncio.create_task(read(key, page)) for key, page in zip(keys, pages, strict=True)]
    async with asyncio.timeout(60):
        await all_ready()
    await asyncio.wait(readers, timeout=seconds * 3 + 20)
    for reader in readers:
        reader.cancel()
    found = [[int(mark[1]) for mark in MARK.finditer(page.stable + page.tail)] for page in pages]
    print(
        json.dumps(
            {
                "latencies": [latency for page in pages for latency in page.latencies],
                "shown": sum(len(set(numbers)) for numbers in found),
                "doubled": sum(len(numbers) - len(set(numbers)) for numbers in found),
                "in_order": all(numbers == sorted(numbers) for numbers in found),
                "frames": sum(page.frames for page in pages),
                "characters": sum(page.characters for page in pages),
                "cpu": time.process_time(),
            }
        ),
        flush=True,
    )


# --- the bare reader --------------------------------------------------------------------------------------


async def read_bare(url: str, streams: int, rate: float, deltas: int) -> None:
    """The least one can do: the vendor's SDK, an event loop, and nothing behind it."""
    import anthropic

    client = anthropic.AsyncAnthropic(api_key="bench", base_url=url, max_retries=0)
    count = 0

    async def read() -> None:
        nonlocal count
        prompt = f"stream {deltas} at {rate:.0f}"
        stream = await client.messages.create(
            model="bench", max_tokens=1000, messages=[{"role": "user", "content": prompt}], stream=True
        )
        async for event in stream:
            count += event.type == "content_block_delta"

    before = time.process_time()
    await asyncio.gather(*(read() for _ in range(streams)))
    print(json.dumps({"cpu": time.process_time() - before, "delivered": count}), flush=True)


# --- the measurement --------------------------------------------------------------------------------------


@dataclass
class Bench:
    """Broker and web server on an empty data directory."""

    folder: Path
    environment: dict[str, str]
    address: str
    web: psutil.Process
    broker: psutil.Process

    def python(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "bench.live", *arguments],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


@contextlib.contextmanager
def running(batch_ms: int) -> Iterator[Bench]:
    from agentweb.broker import answers, find_valkey, valkey_command

    with tempfile.TemporaryDirectory(prefix="aw-bench-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "broker").mkdir()
        port = _free_port()
        broker_socket = folder / "valkey.sock"
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "agentweb.settings",
            "AGENTWEB_DATA": str(folder),
            "AGENTWEB_LIVE_BATCH_MS": str(batch_ms),
            "AGENTWEB_LOG_LEVEL": "WARNING",
            "REDIS_URL": f"unix://{broker_socket}?db=0",
        }
        environment.pop("DATABASE_URL", None)
        broker = subprocess.Popen(
            valkey_command(find_valkey(), folder, broker_socket), stdout=subprocess.DEVNULL
        )
        stack.callback(_end, broker)
        _wait_until(lambda: answers(broker_socket))
        manage = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(manage, env=environment, check=True)
        serve = [
            sys.executable,
            "-m",
            "daphne",
            "-b",
            "127.0.0.1",
            "-p",
            str(port),
            "agentweb.asgi:application",
        ]
        web = subprocess.Popen(serve, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(_end, web)
        _wait_until(lambda: _listens(port))
        yield Bench(
            folder, environment, f"127.0.0.1:{port}", psutil.Process(web.pid), psutil.Process(broker.pid)
        )


def measure(bench: Bench, streams: int, rate: float, seconds: float) -> Json:
    setting = _answer(bench.python("--role", "rows", "--arguments", json.dumps({"streams": streams})))
    deltas = int(rate * seconds)
    browsers = bench.python(
        "--role",
        "browsers",
        "--arguments",
        json.dumps(
            {
                "address": bench.address,
                "cookie": setting["cookie"],
                "keys": setting["keys"],
                "deltas": deltas,
                "seconds": seconds,
            }
        ),
    )
    assert browsers.stdout
    assert browsers.stdout.readline() == "ready\n"
    before = _cpu(bench.web), _cpu(bench.broker)
    began = time.monotonic()
    producer = bench.python(
        "--role",
        "producer",
        "--arguments",
        json.dumps({"runs": setting["runs"], "rate": rate, "seconds": seconds}),
    )
    produced = _answer(producer)
    seen = _answer(browsers)
    wall = time.monotonic() - began
    web, broker = _cpu(bench.web) - before[0], _cpu(bench.broker) - before[1]
    total = streams * deltas
    latencies = sorted(seen["latencies"])
    thousands = total / 1000
    return {
        "streams": streams,
        "deltas": total,
        "p50": statistics.median(latencies),
        "p99": latencies[int(len(latencies) * 0.99)],
        "max": latencies[-1],
        "lost": total - seen["shown"],
        "doubled": seen["doubled"],
        "in_order": seen["in_order"],
        "frames": seen["frames"],
        "characters_per_delta": seen["characters"] / total,
        "web_cpu": web * 1000 / thousands,
        "broker_cpu": broker * 1000 / thousands,
        "producer_cpu": produced["cpu"] * 1000 / thousands,
        "web_memory": bench.web.memory_info().rss / 1e6,
        "wall": wall,
    }


def measure_bare(bench: Bench, streams: int, rate: float, seconds: float) -> Json:
    from bench.stand_in import running_stand_in

    deltas = int(rate * seconds)
    with running_stand_in() as stand_in:
        given = {"url": stand_in.url, "streams": streams, "rate": rate, "deltas": deltas}
        answer = _answer(bench.python("--role", "bare", "--arguments", json.dumps(given)))
    total = streams * deltas
    return {"cpu": answer["cpu"] * 1e6 / total, "lost": total - answer["delivered"]}


def make_rows(streams: int) -> Json:
    """Sessions with a running run each, and a signed-in browser's cookie."""
    import django

    django.setup()
    from datetime import timedelta

    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client
    from django.utils import timezone

    from sessions_app.models import Membership, Run, Session, Workspace

    name = secrets.token_hex(6)
    user = User.objects.create_user(name)
    workspace = Workspace.objects.create(name=name, path=f"/nowhere/{name}")
    Membership.objects.create(workspace=workspace, user=user)
    sessions = [Session.objects.create(workspace=workspace, owner=user, file_id=name) for _ in range(streams)]
    until = timezone.now() + timedelta(hours=1)
    runs = [Run.objects.create(session=s, status=Run.Status.RUNNING, lease_until=until) for s in sessions]
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    return {
        "cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}",
        "keys": [str(session.key) for session in sessions],
        "runs": [[run.pk, run.session_id] for run in runs],
    }


def _answer(process: subprocess.Popen[str]) -> Json:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    answer: Json = json.loads(output.splitlines()[-1])
    return answer


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_until(condition: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", default="1,16,64")
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-ms", type=int, default=40)
    parser.add_argument("--no-bare", action="store_true", help="leave the bare reader out")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--role", choices=["producer", "browsers", "bare", "rows"], help=argparse.SUPPRESS)
    parser.add_argument("--arguments", default="{}", help=argparse.SUPPRESS)
    options = parser.parse_args()
    given = json.loads(options.arguments)
    match options.role:
        case "producer":
            produce(**given)
        case "browsers":
            asyncio.run(browse(**given))
        case "bare":
            asyncio.run(read_bare(**given))
        case "rows":
            print(json.dumps(make_rows(**given)))
        case _:
            _report(options)


def _report(options: argparse.Namespace) -> None:
    rows = []
    with running(options.batch_ms) as bench:
        print(
            "| streams | added p50 / p99 / max ms | lost / doubled | CPU ms per 1,000 deltas: web / broker / producer | bare reader | web MB |"
        )
        print("|---|---|---|---|---|---|")
        for streams in [int(part) for part in options.streams.split(",")]:
            row = measure(bench, streams, options.rate, options.seconds)
            bare = {} if options.no_bare else measure_bare(bench, streams, options.rate, options.seconds)
            rows.append(row | {"bare_cpu": bare.get("cpu")})
            print(
                f"| {streams} | {row['p50']:.1f} / {row['p99']:.1f} / {row['max']:.0f} "
                f"| {row['lost']} / {row['doubled']} "
                f"| {row['web_cpu']:.0f} / {row['broker_cpu']:.0f} / {row['producer_cpu']:.0f} "
                f"| {bare.get('cpu', float('nan')):.0f} | {row['web_memory']:.0f} |",
                flush=True,
            )
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
