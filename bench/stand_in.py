"""A local stand-in for model services: speaks Anthropic's messages and the chat completions API, streaming.

Run `python -m bench.stand_in --port 8099` and point a provider's base URL at it (`http://127.0.0.1:8099` for
Anthropic's API, `http://127.0.0.1:8099/v1` for chat completions); any key will do. It listens on the loopback
only. `GET /requests` gives the number of answers that were asked for.

What it answers is chosen by the model's name, or else by the newest user text:

| words | answer |
|---|---|
| `stream 400 at 50` | 400 deltas, 50 a second (`stream 400`: as fast as possible) |
| `timed 400 at 50` | the same, each delta with its number and the time it was written (bench.deltas) |
| `slow` | 20 deltas, 2 a second |
| `think` | thinking with a signature, then text |
| `tools` | thinking, then up to three calls of declared tools side by side; text once results are there |
| `run COMMAND` | one call of `bash` with the command; text once its result is there |
| `error in the middle` | some text, then an overloaded error inside the stream |
| `cut off` | some text, then the connection ends without the end events |
| `too long` | text that ends by the output limit |
| `refuse` | a refusal |
| `fail 529` | that status, with an error body in the service's form |
| `fail once 529` | the same for the first request with this text, then text |
| `overflow` | status 400 with the words of a prompt that is too long |
| `silent from the start`, `silent after a word` | nothing (more) until the client goes away |
| anything else | a short text that repeats what was said |

Hyphens in a model's name count as blanks: the model `fail-529` fails.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bench.deltas import stamped, timed_deltas

Json = dict[str, Any]

SIGNATURE = "c3RhbmQtaW4gc2lnbmF0dXJl"
WORDS = ("A ", "stand-in ", "says ", "what ", "it ", "is ", "told. ", "Häppy 😀 ")
ARGUMENTS: dict[str, Json] = {
    "ls": {"path": "."},
    "read": {"path": "README.md"},
    "bash": {"command": "echo hello from bash"},
    "grep": {"pattern": "hello"},
    "find": {"pattern": "*.md"},
}
ERRORS = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
    503: "overloaded_error", 529: "overloaded_error",
}  # fmt: skip


@dataclass
class Plan:
    """What one answer consists of. `rate` is deltas per second, 0 for no pause; `end` how it ends.

    `text` and `thinking` may be made while they are sent.
    """

    text: Iterable[str] = field(default_factory=list)
    thinking: str | Iterable[str] = ""
    calls: list[tuple[str, Json]] = field(default_factory=list)
    rate: float = 0.0
    end: str = "stop"  # stop | length | refuse | error | cut | silent
    status: int = 200
    message: str = ""
    silent_first: bool = False
    timed: bool = False


class StandIn:
    """One server. `count` is how many answers were asked for."""

    def __init__(self) -> None:
        self.count = 0
        self.url = ""
        self._failed: set[str] = set()
        self._number = 0

    async def start(self, port: int = 0) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=64 * 1024 * 1024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, path, _ = head.split(" ", 2)
        length = re.search(r"^content-length:\s*(\d+)", head, re.I | re.M)
        raw = await reader.readexactly(int(length.group(1))) if length else b""
        if method == "GET":
            _reply(writer, 200, {"count": self.count})
            await writer.drain()
            return True
        body = json.loads(raw)
        dialect: Anthropic | ChatCompletions
        self._number += 1
        if path.startswith("/v1/messages"):
            dialect = Anthropic(body, self._number)
        elif path.endswith("/chat/completions"):
            dialect = ChatCompletions(body, self._number)
        else:
            _reply(writer, 404, {"error": {"message": f"There is nothing at {path}."}})
            await writer.drain()
            return True
        self.count += 1
        plan = self._plan(body)
        if plan.silent_first:
            await reader.read()  # until the client goes away
            return False
        if plan.status != 200:
            _reply(writer, plan.status, dialect.error(ERRORS.get(plan.status, "api_error"), plan.message))
            await writer.drain()
            return True
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        async for piece in _paced(dialect.stream(plan, len(raw)), plan.rate):
            if plan.timed:
                piece = stamped(piece)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        if plan.end == "silent":
            await reader.read()
            return False
        if plan.end == "cut":
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _plan(self, body: Json) -> Plan:
        words = str(body.get("model", "")).replace("-", " ").lower()
        said = _newest_user_text(body)
        plan = self._named_plan(words, body) or self._named_plan(said.strip().lower(), body, said)
        return plan or Plan(text=_in_words(f"You said: {said[:500]}"))

    def _named_plan(self, words: str, body: Json, said: str = "") -> Plan | None:
        if match := re.match(r"stream (\d+)(?: at (\d+))?", words):
            count = int(match.group(1))
            return Plan(text=[WORDS[n % len(WORDS)] for n in range(count)], rate=float(match.group(2) or 0))
        if match := re.match(r"timed (\d+)(?: at (\d+))?", words):
            rate = float(match.group(2) or 0)
            return Plan(text=timed_deltas(int(match.group(1))), rate=rate, timed=True)
        if match := re.match(r"fail (once )?(\d{3})", words):
            key = f"{words}|{said}"
            if match.group(1) and key in self._failed:
                return Plan(text=_in_words("It works now."))
            self._failed.add(key)
            return Plan(status=int(match.group(2)), message=f"The stand-in fails with {match.group(2)}.")
        if words.startswith("run ") and said:
            return _calling(body, [("bash", {"command": said.strip()[4:]})])
        simple = {
            "slow": Plan(text=[WORDS[n % len(WORDS)] for n in range(20)], rate=2.0),
            "think": Plan(thinking="Let me think about this.", text=_in_words("I have thought about it.")),
            "error in the middle": Plan(text=_in_words("This will not end well"), end="error"),
            "cut off": Plan(text=_in_words("This will not end"), end="cut"),
            "too long": Plan(text=_in_words("This is too long to"), end="length"),
            "refuse": Plan(end="refuse"),
            "overflow": Plan(status=400, message="prompt is too long: 250000 tokens > 200000 maximum"),
            "silent from the start": Plan(silent_first=True),
            "silent after a word": Plan(text=["Hm "], end="silent"),
            "hello": Plan(text=_in_words("Hello there.")),
        }
        if words.startswith("tools"):
            declared = [_tool_name(tool) for tool in body.get("tools") or ()]
            wanted = [(name, ARGUMENTS[name]) for name in ARGUMENTS if name in declared][:3]
            return _calling(body, wanted)
        return next((plan for name, plan in simple.items() if words.startswith(name)), None)


class Anthropic:
    """Writes a plan as events of the messages API."""

    def __init__(self, body: Json, number: int) -> None:
        self._model = body.get("model", "")
        self._number = number

    def error(self, kind: str, message: str) -> Json:
        return {"type": "error", "error": {"type": kind, "message": message}}

    def stream(self, plan: Plan, size: int) -> Iterator[bytes]:
        usage = {
            "input_tokens": size // 4,
            "output_tokens": 1,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        }
        message = {"id": f"msg_{self._number}", "type": "message", "role": "assistant", "model": self._model,
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
        yield self._event("message_start", {"message": message})
        index = written = 0
        if plan.thinking:
            block: Json = {"type": "thinking", "thinking": "", "signature": ""}
            yield self._event("content_block_start", {"index": index, "content_block": block})
            for thought in _pieces(plan.thinking):
                written += len(thought) // 4
                yield self._delta(index, {"type": "thinking_delta", "thinking": thought})
            yield self._delta(index, {"type": "signature_delta", "signature": SIGNATURE})
            yield self._event("content_block_stop", {"index": index})
            index += 1
        if plan.text:
            yield self._event(
                "content_block_start", {"index": index, "content_block": {"type": "text", "text": ""}}
            )
            for word in plan.text:
                written += 1
                yield self._delta(index, {"type": "text_delta", "text": word})
            if plan.end in ("cut", "silent"):
                return
            if plan.end == "error":
                yield self._event("error", self.error("overloaded_error", "Overloaded"))
                return
            yield self._event("content_block_stop", {"index": index})
            index += 1
        for place, (name, arguments) in enumerate(plan.calls):
            call = {"type": "tool_use", "id": f"toolu_{self._number}_{place}", "name": name, "input": {}}
            yield self._event("content_block_start", {"index": index, "content_block": call})
            text = json.dumps(arguments)
            for part in (text[: len(text) // 2], text[len(text) // 2 :]):
                yield self._delta(index, {"type": "input_json_delta", "partial_json": part})
            yield self._event("content_block_stop", {"index": index})
            index, written = index + 1, written + len(text) // 4
        reason = {"length": "max_tokens", "refuse": "refusal"}.get(
            plan.end, "tool_use" if plan.calls else "end_turn"
        )
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield self._event("message_delta", {"delta": delta, "usage": {"output_tokens": max(1, written)}})
        yield self._event("message_stop", {})

    def _delta(self, index: int, delta: Json) -> bytes:
        return self._event("content_block_delta", {"index": index, "delta": delta})

    def _event(self, name: str, fields: Json) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


class ChatCompletions:
    """Writes a plan as chunks of the chat completions API."""

    def __init__(self, body: Json, number: int) -> None:
        self._model = body.get("model", "")
        self._number = number
        self._tells_usage = bool((body.get("stream_options") or {}).get("include_usage"))

    def error(self, kind: str, message: str) -> Json:
        return {"error": {"message": message, "type": kind}}

    def stream(self, plan: Plan, size: int) -> Iterator[bytes]:
        yield self._chunk({"role": "assistant", "content": ""})
        written = 0
        for thought in _pieces(plan.thinking):
            written += len(thought) // 4
            yield self._chunk({"reasoning_content": thought})
        for word in plan.text:
            written += 1
            yield self._chunk({"content": word})
        if plan.end in ("cut", "silent"):
            return
        if plan.end == "error":
            yield b"data: " + json.dumps(self.error("overloaded_error", "Overloaded")).encode() + b"\n\n"
            return
        for place, (name, arguments) in enumerate(plan.calls):
            text = json.dumps(arguments)
            function = {"name": name, "arguments": ""}
            call = {
                "index": place,
                "id": f"call_{self._number}_{place}",
                "type": "function",
                "function": function,
            }
            yield self._chunk({"tool_calls": [call]})
            for part in (text[: len(text) // 2], text[len(text) // 2 :]):
                yield self._chunk({"tool_calls": [{"index": place, "function": {"arguments": part}}]})
            written += len(text) // 4
        reason = {"length": "length", "refuse": "content_filter"}.get(
            plan.end, "tool_calls" if plan.calls else "stop"
        )
        yield self._chunk({}, reason)
        if self._tells_usage:
            usage = {"prompt_tokens": size // 4, "completion_tokens": max(1, written)}
            yield self._line({"choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: Json, reason: str | None = None) -> bytes:
        return self._line({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    def _line(self, fields: Json) -> bytes:
        chunk = {
            "id": f"chat_{self._number}",
            "object": "chat.completion.chunk",
            "model": self._model,
            **fields,
        }
        return f"data: {json.dumps(chunk)}\n\n".encode()


def _calling(body: Json, calls: list[tuple[str, Json]]) -> Plan:
    """Calls, or the closing words when their results are there already."""
    if _ends_in_results(body):
        return Plan(text=_in_words("That is what the tools said."))
    if not calls:
        return Plan(text=_in_words("There is no tool I could use."))
    return Plan(thinking="The tools will know.", text=_in_words("Let me look."), calls=calls)


def _ends_in_results(body: Json) -> bool:
    last = body["messages"][-1]
    content = last.get("content")
    return last["role"] == "tool" or (
        isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
    )


def _newest_user_text(body: Json) -> str:
    """The newest thing a user said, tool results left aside."""
    for message in reversed(body.get("messages") or ()):
        content = message.get("content")
        if message.get("role") != "user":
            continue
        if isinstance(content, str):
            return content
        texts = [block.get("text", "") for block in content or () if block.get("type") == "text"]
        if texts:
            return str(texts[-1])
    return ""


def _tool_name(tool: Json) -> str:
    return str(tool.get("name") or (tool.get("function") or {}).get("name") or "")


def _pieces(thinking: str | Iterable[str]) -> Iterable[str]:
    if isinstance(thinking, str):
        return [thinking] if thinking else []
    return thinking


def _in_words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text) or [text]


def _reply(writer: asyncio.StreamWriter, status: int, body: Json) -> None:
    raw = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status} Stand-in\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}\r\n\r\n"
    )
    writer.write(head.encode() + raw)


async def _paced(pieces: Iterator[bytes], rate: float) -> AsyncIterator[bytes]:
    """The pieces at their times: counted from the start, so that pauses do not add up."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    for number, piece in enumerate(pieces):
        if rate:
            wait = start + number / rate - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
        yield piece


@contextlib.contextmanager
def running_stand_in(port: int = 0, server: StandIn | None = None) -> Iterator[StandIn]:
    """A server in a thread of its own, for tests and benchmarks in the same process; `server` may be a special one."""
    server = server or StandIn()
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stop = asyncio.Event()

    async def serve() -> None:
        async with await server.start(port):
            ready.set()
            await stop.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        # Here, because the caller's thread may have a running loop of its own.
        await loop.shutdown_asyncgens()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="stand-in", daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("The stand-in did not start.")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


async def _main(port: int) -> None:
    server = StandIn()
    async with await server.start(port) as listening:
        print(server.url, flush=True)
        await listening.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A local stand-in for model services.")
    parser.add_argument("--port", type=int, default=8099)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(parser.parse_args().port))
