"""What one socket still has to be told: never more than a little, because a snapshot can replace any backlog."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Set
from typing import Any

Json = dict[str, Any]

MOST_FRAMES = 200
MOST_CHARACTERS = 256_000
# Of one kind, with different facts.
MOST_NOTICES = 50


class Viewer:
    """One socket of a session. The hub fills it, the socket's task empties it.

    `stale` means that the live region must be sent as a whole: at first, after a lost broker, and when the
    socket has been so slow that its backlog was thrown away.
    """

    def __init__(self, session_id: int) -> None:
        self.session_id = session_id
        self.run_id: int | None = None
        self.stale = True
        self.something = asyncio.Event()
        # Each with whether it takes something off the page.
        self._frames: deque[tuple[str, bool]] = deque()
        self._characters = 0
        # Of each kind all that differ, because they may come in another order than what they tell of.
        self._notices: dict[str, list[Json]] = {}

    def push(self, frame: str, *, takes_away: bool = False) -> None:
        """A frame of the live region. Dropped when a snapshot is due anyway."""
        if self.stale:
            return
        self._frames.append((frame, takes_away))
        self._characters += len(frame)
        if len(self._frames) > MOST_FRAMES or self._characters > MOST_CHARACTERS:
            self.need_snapshot()
        self.something.set()

    def notice(self, kind: str, facts: Json) -> None:
        """Something of the session has changed."""
        kept = self._notices.setdefault(kind, [])
        if facts not in kept:
            # Too many say no more than one without facts: look.
            kept[:] = [*kept, facts] if len(kept) < MOST_NOTICES else [{}]
        self.something.set()

    def need_snapshot(self) -> None:
        self.stale = True
        self._frames.clear()
        self._characters = 0
        self.something.set()

    @property
    def has_notices(self) -> bool:
        return bool(self._notices)

    @property
    def notice_kinds(self) -> Set[str]:
        return self._notices.keys()

    def forget_notices(self, is_known: Callable[[str, Json], bool]) -> None:
        """Drop those that tell nothing new any more."""
        if self._notices:
            unknown = {k: [f for f in facts if not is_known(k, f)] for k, facts in self._notices.items()}
            self._notices = {kind: facts for kind, facts in unknown.items() if facts}

    def take_notices(self) -> dict[str, Json]:
        """The kinds, each with what came last."""
        notices, self._notices = self._notices, {}
        return {kind: facts[-1] for kind, facts in notices.items()}

    def take_frame(self, *, only_growth: bool = False) -> str | None:
        """The oldest frame; with `only_growth` not one that takes something off the page, nor what follows that."""
        if not self._frames or (only_growth and self._frames[0][1]):
            return None
        frame, _ = self._frames.popleft()
        self._characters -= len(frame)
        return frame
