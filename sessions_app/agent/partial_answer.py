"""The unfinished answer, put together from its events: what is kept when the rest never comes."""

from __future__ import annotations

import threading
from typing import Any, TypedDict

Json = dict[str, Any]


class Unfinished(TypedDict):
    """`answer` counts the answers of the run from 1, so that one already stored is not stored again."""

    answer: int
    message: Json


_FIELD = {"text": "text", "thinking": "thinking"}


class PartialAnswer:
    """Fed by the run's thread with wire events (spec 10), read by another for the checkpoint."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._message: Json | None = None
        self._blocks: dict[int, tuple[str, list[str]]] = {}
        self._calls: dict[int, Json] = {}
        self._answer = 0
        self.version = 0

    def take(self, event: Json) -> None:
        """message_start, message_update and message_end count; everything else is passed over."""
        with self._lock:
            match event.get("type"):
                case "message_start" if event.get("message", {}).get("role") == "assistant":
                    self._message, self._blocks, self._calls = dict(event["message"]), {}, {}
                    self._answer = int(event.get("answer", 0))
                    self.version += 1
                case "message_end":
                    self._message = None
                    self.version += 1
                case "message_update" if self._message is not None:
                    self._update(event["assistantMessageEvent"])
                    if event.get("usage"):
                        self._message["usage"] = event["usage"]
                    self.version += 1

    def _update(self, update: Json) -> None:
        kind, _, step = str(update["type"]).partition("_")
        index = int(update["contentIndex"])
        if kind in _FIELD:
            block = self._blocks.setdefault(index, (kind, []))
            if step == "delta":
                block[1].append(update["delta"])
            elif step == "end":
                self._blocks[index] = (kind, [update["content"]])
        elif step == "end":
            # Only whole calls count: half the arguments are no call.
            self._calls[index] = update["toolCall"]

    def unfinished(self) -> Unfinished | None:
        """What has arrived of the open answer; None when none is open."""
        with self._lock:
            if self._message is None:
                return None
            found: dict[int, Json] = {
                index: {"type": kind, _FIELD[kind]: "".join(pieces)}
                for index, (kind, pieces) in self._blocks.items()
            }
            found |= self._calls
            message = {**self._message, "content": [found[i] for i in sorted(found)], "stopReason": "aborted"}
            return {"answer": self._answer, "message": message}


def unfinished_of(events: list[Json]) -> Unfinished | None:
    """The unfinished answer that a list of wire events ends in, if any."""
    partial = PartialAnswer()
    for event in events:
        partial.take(event)
    return partial.unfinished()
