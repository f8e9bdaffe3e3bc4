"""The live tail: a Redis stream per run for what is being written, and one per session for notices to viewers.

Nothing here is the record. Rows are; whoever misses something here reads them. So a lost broker is logged
and survived: a run goes on, and once the broker is back its stream gets the marker `reset`, followed by
everything of the open answer and the running tools, from which viewers start anew.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from sessions_app.agent.partial_answer import PartialAnswer

logger = logging.getLogger(__name__)

Json = dict[str, Any]

MOST_BATCHES = 20_000
MOST_NOTICES = 1_000
# Seconds a stream outlives its run, and a run that died without a word; a session's notices.
AFTER_THE_END = 600
AT_MOST = 7 * 24 * 3600
NOTICES_KEPT = 3600
PROGRESS_KEPT = 60
# Characters of a tool's output that travel: a viewer sees its end, the row will have it all.
OUTPUT_TAIL = 8_000

# Of the batch time, so that the round itself has the rest: within it a delta has left.
ROUND = 0.9

STOP_CHANNEL = "agentweb:stop"
_REPLACED = {"tool_execution_update"}
_BROKER_ERRORS = (redis.RedisError, OSError)


def run_key(run_id: int) -> str:
    return f"agentweb:run:{run_id}"


def session_key(session_id: int) -> str:
    return f"agentweb:session:{session_id}"


def notify(session_id: int, kind: str, **facts: Any) -> None:
    """Tell the session's viewers to look: entry(seq), aside(seq: one that can wait), leaf, queue, run(run, status),
    session, marks, erased. Never raises."""
    pipe = _client(settings.REDIS_URL).pipeline(transaction=False)
    notice: Any = {"n": json.dumps({"kind": kind, **facts})}
    pipe.xadd(session_key(session_id), notice, maxlen=MOST_NOTICES, approximate=True)
    pipe.expire(session_key(session_id), NOTICES_KEPT)
    try:
        pipe.execute()
    except _BROKER_ERRORS as error:
        logger.warning("viewers were not told: %s", error)


def tell_progress(name: str, done: int, of: int) -> None:
    """Note how far a long work of that name has come, for whoever asks within a minute. Never raises."""
    try:
        _client(settings.REDIS_URL).set(f"agentweb:progress:{name}", f"{done} {of}", ex=PROGRESS_KEPT)
    except _BROKER_ERRORS as error:
        logger.debug("progress was not told: %s", error)


def progress_of(name: str) -> tuple[int, int] | None:
    """What was noted last; None when nothing was, or without a broker."""
    try:
        noted: Any = _client(settings.REDIS_URL).get(f"agentweb:progress:{name}")
    except _BROKER_ERRORS:
        return None
    done, of = (noted or b"0 0").split()
    return (int(done), int(of)) if noted else None


def read_run(run_id: int) -> list[Json]:
    """All events still in the run's stream, in order; those after the last gap only. Empty without a broker."""
    try:
        batches: Any = _client(settings.REDIS_URL).xrange(run_key(run_id))
    except _BROKER_ERRORS as error:
        logger.warning("a run's stream could not be read: %s", error)
        return []
    events = [event for _, fields in batches for event in json.loads(fields[b"e"])]
    gaps = [index for index, event in enumerate(events) if event["type"] == "reset"]
    return events[gaps[-1] :] if gaps else events


def forget(session_id: int, run_ids: Sequence[int]) -> None:
    """Drop what the broker still holds of these runs and of the session's notices."""
    keys = [session_key(session_id), *map(run_key, run_ids)]
    try:
        _client(settings.REDIS_URL).delete(*keys)
    except _BROKER_ERRORS as error:
        logger.warning("the live tail could not be dropped: %s", error)


def send_stop(run_id: int) -> None:
    """Wake the worker that has this run. The flag in the database is the request; this only makes it quick."""
    try:
        _client(settings.REDIS_URL).publish(STOP_CHANNEL, str(run_id))
    except _BROKER_ERRORS as error:
        logger.warning("the worker was not woken: %s", error)


class RunStream:
    """What one run says while it works, gathered into batches. Any thread may call it; it never raises.

    Deltas leave at most `LIVE_BATCH_MS` later, joined where they continue each other; everything else at
    once. What a row will hold anyway (whole messages, images, long output) is left out.
    """

    def __init__(self, run_id: int, session_id: int) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.key = run_key(run_id)
        # The rest belongs to the flusher's lock.
        self.pending: list[Json] = []
        self.exists = False
        self.has_gap = False
        self.connection = 0
        self.end: Json | None = None
        self._answer = PartialAnswer()
        self._start: Json | None = None
        self._tools: dict[str, list[Json]] = {}

    def add(self, event: Json) -> None:
        """Take a wire event (10)."""
        event = _without_bulk(event)
        with flusher.lock:
            self._remember(event)
            if self.pending and (joined := _joined(self.pending[-1], event)):
                self.pending[-1] = joined
            else:
                self.pending.append(event)
            flusher.wants(self, at_once=not _can_wait(event))

    def flush(self, timeout: float = 1.0) -> None:
        """Return once everything so far has been sent, or after `timeout` seconds; at once while the broker is away."""
        with flusher.lock:
            flusher.wants(self, at_once=True)
        flusher.wait_for(self, timeout)

    def close(self, status: str = "") -> None:
        """Add the end (`run_end`, with the run's status); the stream goes ten minutes later."""
        with flusher.lock:
            self.end = {"type": "run_end", "status": status}
            self.pending.append(self.end)
            flusher.wants(self, at_once=True)
        flusher.wait_for(self, 1.0)

    def take(self) -> list[Json]:
        """The batch to send now. The flusher calls it, with its lock."""
        batch, self.pending = self.pending, []
        return self._retold() if self.has_gap else batch

    def _remember(self, event: Json) -> None:
        self._answer.take(event)
        match event["type"]:
            case "message_start" if event["message"].get("role") == "assistant":
                self._start = event
            case "message_end":
                self._start = None
            case "tool_execution_start":
                self._tools[event["toolCallId"]] = [event]
            case "tool_execution_update" if event["toolCallId"] in self._tools:
                self._tools[event["toolCallId"]][1:] = [event]
            case "tool_execution_end":
                self._tools.pop(event["toolCallId"], None)

    def _retold(self) -> list[Json]:
        """Everything that is open, told again from the start, for streams that lost a part."""
        events: list[Json] = [{"type": "reset"}]
        unfinished = self._answer.unfinished()
        if unfinished and self._start:
            events.append(self._start)
            usage = unfinished["message"].get("usage")
            events += [
                {"type": "message_update", "usage": usage, "assistantMessageEvent": update}
                for index, block in enumerate(unfinished["message"]["content"])
                for update in [_whole_block(index, block)]
            ]
        for told in self._tools.values():
            events += told
        if self.end:
            events.append(self.end)
        return events


def _whole_block(index: int, block: Json) -> Json:
    if block["type"] == "toolCall":
        return {"type": "toolcall_end", "contentIndex": index, "toolCall": block}
    return {"type": f"{block['type']}_end", "contentIndex": index, "content": block[block["type"]]}


def _can_wait(event: Json) -> bool:
    if event["type"] == "message_update":
        return str(event["assistantMessageEvent"]["type"]).endswith("_delta")
    return event["type"] in _REPLACED


def _joined(last: Json, event: Json) -> Json | None:
    """Both as one event, when the second only continues or replaces the first."""
    if last["type"] != event["type"]:
        return None
    if event["type"] in _REPLACED:
        return event if last["toolCallId"] == event["toolCallId"] else None
    if event["type"] != "message_update":
        return None
    before, after = last["assistantMessageEvent"], event["assistantMessageEvent"]
    if (
        before["type"] != after["type"]
        or before["contentIndex"] != after["contentIndex"]
        or not after["type"].endswith("_delta")
    ):
        return None
    return {**event, "assistantMessageEvent": {**after, "delta": before["delta"] + after["delta"]}}


def _without_bulk(event: Json) -> Json:
    match event["type"]:
        case "agent_end":
            return event | {"messages": []}
        case "turn_end":
            return {"type": "turn_end"}
        case "message_start" | "message_end" if event.get("message", {}).get("role") not in {
            None,
            "assistant",
        }:
            message = event["message"]
            facts = {
                name: message[name]
                for name in ("role", "toolCallId", "toolName", "timestamp")
                if name in message
            }
            return event | {"message": facts}
        case "tool_execution_update":
            return _without_arguments(event, "partialResult")
        case "tool_execution_end":
            return _without_arguments(event, "result")
        case _:
            return event


def _without_arguments(event: Json, name: str) -> Json:
    """Arguments were told at the start; of the output the end is enough."""
    content = event.get(name, {}).get("content") or []
    text = "".join(block.get("text", "") for block in content if block.get("type") == "text")
    tail = {"content": [{"type": "text", "text": text[-OUTPUT_TAIL:]}]}
    return {key: value for key, value in event.items() if key != "args"} | {name: tail}


class Flusher:
    """One thread per process sends the batches of all its runs, each round in one transaction.

    Rounds keep `LIVE_BATCH_MS` with a little to spare; the first delta after a pause doesn't wait. The
    transaction lets a reader that waits on many streams see the round in one answer.
    """

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self._waiting: dict[RunStream, bool] = {}  # -> at once
        self._sending: set[RunStream] = set()
        self._thread: threading.Thread | None = None
        self._last_round = 0.0
        self._failures = 0
        self._away_since = 0.0
        self._not_before = 0.0
        self._idle = True
        # How many connections there have been: a new one means a broker that may have lost something.
        self.connections = 0

    def connected(self, connection: Any) -> None:
        connection.on_connect()
        self.connections += 1

    def wants(self, stream: RunStream, *, at_once: bool) -> None:
        """The stream has something to send. The caller holds the lock."""
        self._waiting[stream] = at_once or self._waiting.get(stream, False)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="live-flusher", daemon=True)
            self._thread.start()
        if at_once or self._idle:
            self.lock.notify_all()

    def wait_for(self, stream: RunStream, timeout: float) -> None:
        """Not for a broker that has been away for longer than that: nobody knows when it will be back."""
        with self.lock:
            self.lock.wait_for(lambda: self._has_sent(stream) or self._is_away_for(timeout), timeout)

    def _has_sent(self, stream: RunStream) -> bool:
        return stream not in self._waiting and stream not in self._sending

    def _is_away_for(self, seconds: float) -> bool:
        return self._failures > 0 and time.monotonic() - self._away_since >= seconds

    def _work(self) -> None:
        while True:
            with self.lock:
                batches = self._next_round()
            try:
                answers = _send(batches)
            except _BROKER_ERRORS as error:
                self._failed(batches, error)
            else:
                self._sent(batches, answers)

    def _next_round(self) -> dict[RunStream, list[Json]]:
        while True:
            self._idle = not self._waiting
            now = time.monotonic()
            urgent = any(self._waiting.values())
            due = self._last_round + ROUND * settings.LIVE_BATCH_MS / 1000
            due = max(0.0 if urgent else due, self._not_before)
            if self._waiting and now >= due:
                break
            self.lock.wait(due - now if self._waiting else None)
        if now >= self._last_round + ROUND * settings.LIVE_BATCH_MS / 1000:
            self._last_round = now
            chosen = list(self._waiting)
        else:
            # A message's end doesn't drag the half-filled batches of all others along.
            chosen = [stream for stream, at_once in self._waiting.items() if at_once]
        batches = {}
        for stream in chosen:
            del self._waiting[stream]
            if batch := stream.take():
                batches[stream] = batch
        self._sending.update(batches)
        return batches

    def _sent(self, batches: dict[RunStream, list[Json]], answers: dict[RunStream, bool]) -> None:
        with self.lock:
            if self._failures:
                logger.warning("the broker is back")
            self._failures, self._not_before = 0, 0.0
            for stream in batches:
                self._sending.discard(stream)
                # A broker that died and came back may have forgotten the last second before.
                forgot = stream.exists and stream.connection != self.connections
                stream.has_gap = forgot or not answers[stream]
                stream.exists = answers[stream]
                stream.connection = self.connections
                if stream.has_gap:
                    self._waiting[stream] = True
            self.lock.notify_all()

    def _failed(self, batches: dict[RunStream, list[Json]], error: Exception) -> None:
        with self.lock:
            if self._failures == 0:
                self._away_since = time.monotonic()
                logger.warning("the broker can't be reached; runs go on unseen: %s", error)
            # A connection that died with a restarted broker is replaced at once.
            wait = min(2.0, 0.05 * 2 ** min(self._failures, 10)) if self._failures else 0.0
            self._failures += 1
            self._not_before = time.monotonic() + wait
            for stream in batches:
                self._sending.discard(stream)
                stream.has_gap, stream.exists = True, False
                self._waiting[stream] = True
            if self._failures > 60:
                # Two minutes without a broker: streams of ended runs interest nobody any more.
                self._waiting = {stream: now for stream, now in self._waiting.items() if not stream.end}


def _send(batches: dict[RunStream, list[Json]]) -> dict[RunStream, bool]:
    """Whether each stream took its batch; one that existed and has gone (a broker that lost its data) didn't."""
    if not batches:
        return {}
    pipe = _flusher_client(settings.REDIS_URL).pipeline(transaction=True)
    for stream, events in batches.items():
        fields: Any = {"e": json.dumps(events, separators=(",", ":"))}
        pipe.xadd(stream.key, fields, maxlen=MOST_BATCHES, approximate=True, nomkstream=stream.exists)
        if stream.end or not stream.exists:
            pipe.expire(stream.key, AFTER_THE_END if stream.end else AT_MOST)
    answers = [answer for answer in pipe.execute() if not isinstance(answer, bool)]
    return {stream: answer is not None for stream, answer in zip(batches, answers, strict=True)}


flusher = Flusher()


class StopListener:
    """One thread that calls `callback(run_id)` within milliseconds of `send_stop`. Survives a lost broker."""

    def __init__(self, callback: Callable[[int], None]) -> None:
        self._callback = callback
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="stop-listener", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(timeout=3)

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                self._follow()
            except _BROKER_ERRORS:
                # The heartbeat still sees the flag in the database; logged where runs write.
                self._ended.wait(1.0)

    def _follow(self) -> None:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=None, socket_connect_timeout=2)
        with client, client.pubsub(ignore_subscribe_messages=True) as channel:  # type: ignore[no-untyped-call]
            channel.subscribe(STOP_CHANNEL)
            while not self._ended.is_set():
                message = channel.get_message(timeout=1.0)
                if message and str(message["data"], "ascii").isdigit():
                    self._callback(int(message["data"]))


@lru_cache(maxsize=4)
def _client(url: str) -> redis.Redis:
    # One retry: after a restart of the broker every pooled connection fails once.
    return redis.Redis.from_url(
        url, socket_timeout=2, socket_connect_timeout=2, max_connections=1000, retry=Retry(NoBackoff(), 1)
    )


@lru_cache(maxsize=4)
def _flusher_client(url: str) -> redis.Redis:
    # No retries: a lost connection may mean lost batches, and the flusher must know.
    return redis.Redis.from_url(
        url,
        socket_timeout=2,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 0),
        redis_connect_func=flusher.connected,
    )
