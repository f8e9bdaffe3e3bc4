"""Numbered deltas that carry the time they were written: what the stand-in sends, and the counting of what arrives."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# A paragraph of this many deltas (about 500 characters), as prose has.
PARAGRAPH = 25
_WHEN = b"t@ "
_marker = re.compile(r"n(\d+)t(\d+) ?")
_ENTRIES = '"t":"entries"'


def timed_deltas(count: int) -> list[str]:
    """The text of `count` deltas, their times still open (see `stamped`)."""
    return [f"n{n}t@ " + ("\n\n" if n % PARAGRAPH == PARAGRAPH - 1 else "") for n in range(count)]


def stamped(piece: bytes) -> bytes:
    """The piece with the time now (microseconds of the machine's steady clock) in its delta."""
    return piece.replace(_WHEN, b"t%d " % now())


def now() -> int:
    return time.monotonic_ns() // 1000


def found(text: str) -> list[tuple[int, int]]:
    """Number and time of each delta in the text, in its order."""
    return [(int(number), int(when)) for number, when in _marker.findall(text)]


@dataclass
class Tally:
    """What became of one stream of `count` deltas; `added` are microseconds from each one's writing to its arrival."""

    count: int
    added: dict[int, int] = field(default_factory=dict)
    doubled: int = 0
    disordered: int = 0
    final: list[int] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Deltas that never came, or are missing in the end."""
        missing = set(range(self.count)) - set(self.added)
        return len(missing | set(range(self.count)) - set(self.final))

    def came(self, arrived: int, text: str) -> None:
        for number, when in found(text):
            self.added.setdefault(number, arrived - when)

    def ended(self, text: str) -> None:
        """The text as it is kept: every delta once and in order."""
        self.final = [number for number, _ in found(text)]
        self.doubled += len(self.final) - len(set(self.final))
        self.disordered += self.final != sorted(self.final)


class Page:
    """Follows the frames of one session's socket as a browser does, and counts the deltas on the page."""

    def __init__(self, count: int) -> None:
        self.tally = Tally(count)
        # What is on the page of the open answer: what is final, the open end, and text added to that.
        self._stable: list[int] = []
        self._tail: list[int] = []
        self._twice: set[int] = set()

    def take(self, arrived: int, frame: str) -> None:
        """A frame and when it came (as `now`)."""
        message = json.loads(frame)
        if message["t"] == "entries":
            self.tally.came(arrived, message["html"])
            if found(message["html"]):
                self.tally.ended(message["html"])
        elif message["t"] == "live":
            self._live(arrived, message["ops"])

    def _live(self, arrived: int, ops: Iterable[list[Any]]) -> None:
        for name, *facts in ops:
            html = str(facts[-1]) if facts else ""
            self.tally.came(arrived, html)
            numbers = [number for number, _ in found(html)]
            match name:
                case "stable":
                    self._stable += numbers
                case "tail":
                    self._tail = numbers
                case "more":
                    self._tail = self._tail + numbers
                case _:
                    # A block or everything anew: its open end is in an element of its own.
                    final, _, _ = html.partition('class="tail"')
                    self._stable = [number for number, _ in found(final)]
                    self._tail = numbers[len(self._stable) :]
        shown = Counter(self._stable) + Counter(self._tail)
        twice = {number for number, times in shown.items() if times > 1}
        self.tally.doubled += len(twice - self._twice)
        self._twice |= twice


def is_last(frame: str, count: int) -> bool:
    """Whether this frame brings the stored answer of a stream of `count` deltas (cheap: asked of every frame)."""
    return _ENTRIES in frame and f"n{count - 1}t" in frame


def percentile(values: list[int], share: float) -> float:
    """The value below which `share` of all lie; 0 when there are none."""
    ordered = sorted(values)
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * share))]) if ordered else 0.0
