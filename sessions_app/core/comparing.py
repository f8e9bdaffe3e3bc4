"""Laying two branches beside each other: which entries say the same, in the order of both."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.core.entries import Entry
from sessions_app.core.json_text import print_json

_VOLATILE = frozenset({"timestamp", "usage", "durationMs", "toolCallId", "responseId"})


@dataclass(frozen=True, slots=True)
class Block:
    """Entries `a_start`…`a_end` of one side beside `b_start`…`b_end` of the other (ends not included)."""

    equal: bool
    a_start: int
    a_end: int
    b_start: int
    b_end: int


def key_of(entry: Entry) -> str:
    """The same for entries that say the same, whenever and under whatever ids they were written."""
    holder = entry.message if entry.message is not None else entry.record
    said = {
        name: _without_ids(value) if name == "content" else value
        for name, value in holder.items()
        if name not in _VOLATILE and name not in ("id", "parentId")
    }
    return hashlib.blake2b(print_json({"kind": entry.kind, **said}).encode(), digest_size=12).hexdigest()


def _without_ids(content: object) -> object:
    if not isinstance(content, list):
        return content
    return [
        {name: value for name, value in block.items() if name != "id"} if isinstance(block, dict) else block
        for block in content
    ]


def align(a: Sequence[str], b: Sequence[str]) -> list[Block]:
    """Blocks that cover both sides in order, equal and differing ones in turn.

    What stands exactly once on both sides anchors (the longest such sequence in the order of both), and grows over
    equal neighbours; so 5,000 entries a side cost a few milliseconds, whatever they hold.
    """
    blocks: list[Block] = []
    at_a = at_b = 0
    for start_a, start_b, length in [*_stretches(a, b), (len(a), len(b), 0)]:
        if start_a > at_a or start_b > at_b:
            blocks.append(Block(False, at_a, start_a, at_b, start_b))
        if length:
            blocks.append(Block(True, start_a, start_a + length, start_b, start_b + length))
        at_a, at_b = start_a + length, start_b + length
    return blocks


def _stretches(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int]]:
    """Equal stretches as (start in a, start in b, length), in order and without overlap."""
    found: list[tuple[int, int, int]] = []
    end_a = end_b = 0
    for index_a, index_b in [(0, 0), *_anchors(a, b), (len(a), len(b))]:
        if index_a < end_a or index_b < end_b:
            continue
        start_a, start_b = index_a, index_b
        while start_a > end_a and start_b > end_b and a[start_a - 1] == b[start_b - 1]:
            start_a, start_b = start_a - 1, start_b - 1
        stop_a, stop_b = index_a, index_b
        while stop_a < len(a) and stop_b < len(b) and a[stop_a] == b[stop_b]:
            stop_a, stop_b = stop_a + 1, stop_b + 1
        if stop_a > start_a:
            found.append((start_a, start_b, stop_a - start_a))
            end_a, end_b = stop_a, stop_b
    return _joined(found)


def _joined(found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    result: list[tuple[int, int, int]] = []
    for start_a, start_b, length in found:
        if result and result[-1][0] + result[-1][2] == start_a and result[-1][1] + result[-1][2] == start_b:
            before = result.pop()
            start_a, start_b, length = before[0], before[1], before[2] + length
        result.append((start_a, start_b, length))
    return result


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The longest sequence, in the order of both sides, of what stands once on each."""
    often_a, often_b = Counter(a), Counter(b)
    where = {key: index for index, key in enumerate(b) if often_b[key] == 1}
    pairs = [(index, where[key]) for index, key in enumerate(a) if often_a[key] == 1 and key in where]
    tails: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, index_b) in enumerate(pairs):
        place = bisect_left(tails, index_b)
        before.append(last[place - 1] if place else -1)
        if place == len(tails):
            tails.append(index_b)
            last.append(number)
        else:
            tails[place], last[place] = index_b, number
    chain: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
