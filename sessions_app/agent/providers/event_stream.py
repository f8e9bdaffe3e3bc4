"""Reads JSON objects from a stream of server-sent events, as well or badly as servers write it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from sessions_app.agent.providers.base import Json, ProviderError

LONGEST_LINE = 32 * 1024 * 1024


class EventStream:
    """Takes bytes in pieces of any size. Only LF ends a line: other separators occur inside texts."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces

    def objects(self) -> Iterator[Json]:
        """The objects of all `data:` lines up to `[DONE]` or the end.

        Comments and other fields are skipped. An object spread over several `data:` lines is put together.
        Raises ProviderError(kind="protocol") for data that is no JSON.
        """
        unread = ""
        for line in self._lines():
            if not line.startswith(b"data:"):
                if not line and unread:
                    raise _unreadable(unread)
                continue
            text = line[5:].strip().decode("utf-8", "replace")
            if text == "[DONE]":
                return
            if not text:
                continue
            unread = f"{unread}\n{text}" if unread else text
            try:
                parsed = json.loads(unread)
            except ValueError:
                continue  # the rest may follow in the next line of the same event
            unread = ""
            if isinstance(parsed, dict):
                yield parsed
        if unread:
            raise _unreadable(unread)

    def _lines(self) -> Iterator[bytes]:
        buffer = bytearray()
        for piece in self._pieces:
            buffer += piece
            if len(buffer) > LONGEST_LINE:
                raise ProviderError("The service sent a line without end.", kind="protocol")
            while (end := buffer.find(b"\n")) >= 0:
                yield bytes(buffer[:end]).rstrip(b"\r")
                del buffer[: end + 1]
        if buffer:
            yield bytes(buffer).rstrip(b"\r")


def _unreadable(text: str) -> ProviderError:
    return ProviderError(
        f"The service sent data that is no JSON: {text[:200]}", kind="protocol", retryable=True
    )
