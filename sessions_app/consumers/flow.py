"""How much of what was sent has been taken in by the browser, and whether it is still there.

A server's own buffers hide a slow reader. A ping travels behind everything sent before it, so its pong says
that all of that has arrived and been worked off.
"""

from __future__ import annotations

from collections import deque

PING_SECONDS = 15.0
SILENCE_SECONDS = 40.0
# Characters after which a ping is sent ahead of time, and those on the way after which nothing more is sent.
PING_EVERY = 64_000
MOST_ON_THE_WAY = 512_000


class Flow:
    """Counts for one socket; `now` is a time in seconds of any steady clock."""

    def __init__(self, now: float) -> None:
        self._sent = 0
        self._arrived = 0
        self._pings: deque[int] = deque()
        self._last_ping = now
        self._last_sign = now

    def sent(self, characters: int) -> None:
        self._sent += characters

    def pinged(self, now: float) -> None:
        self._pings.append(self._sent)
        self._last_ping = now

    def ponged(self, now: float) -> None:
        self._last_sign = now
        if self._pings:
            self._arrived = self._pings.popleft()

    def wants_ping(self, now: float) -> bool:
        since = self._sent - (self._pings[-1] if self._pings else self._arrived)
        return since > PING_EVERY or now - self._last_ping >= PING_SECONDS

    @property
    def is_full(self) -> bool:
        return self._sent - self._arrived > MOST_ON_THE_WAY

    def is_dead(self, now: float) -> bool:
        return now - self._last_sign > SILENCE_SECONDS
