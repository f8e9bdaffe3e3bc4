"""Times the report on a long range beside serialising it: `python -m bench.review_speed`."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from sessions_app.core.transcript import serialise
from sessions_app.review.report import Material, build, judge
from sessions_app.review.sources import sources_of
from sessions_app.review.things import things_in

WORDS = [
    "the",
    "a",
    "to",
    "of",
    "lock",
    "table",
    "query",
    "index",
    "order",
    "grid",
    "berth",
    "clock",
    "change",
    "fix",
    "test",
    "harbour",
    "zone",
    "time",
    "value",
    "read",
    "file",
    "check",
    "run",
    "build",
    "error",
    "log",
]


def conversation(turns: int = 250) -> list[dict[str, Any]]:
    """Four messages a turn, about 2.6 KB."""
    chance = random.Random(1)

    def said(count: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(count))

    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        ask = f"Please look at src/mod_{turn}/file_{turn}.py and never change value_{turn}. {said(40)}"
        call = {
            "type": "toolCall",
            "id": f"c{turn}",
            "name": "bash",
            "arguments": {"command": f"pytest tests/test_{turn}.py"},
        }
        words = {
            "type": "text",
            "text": f"I decided on handle_{turn}() because it takes {turn} ms. {said(80)}",
        }
        result = {"type": "text", "text": f"E ValueError: bad value {turn}\n{said(190)}"}
        messages += [
            {"role": "user", "content": ask},
            {"role": "assistant", "content": [words, call]},
            {"role": "toolResult", "toolCallId": f"c{turn}", "toolName": "bash", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": said(140)}]},
        ]
    return messages


def best(work: Callable[[], object], times: int = 3) -> float:
    """Milliseconds of CPU of the quickest run."""
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append((time.process_time() - began) * 1000)
    return min(found)


def main() -> None:
    messages = conversation()
    lines = [f"- mod {turn} takes {turn} ms, see src/mod_{turn}/file_{turn}.py" for turn in range(0, 250, 5)]
    material = Material(sources_of(enumerate(messages)), "## Goal\n" + "\n".join(lines))
    things = things_in(material.sources)
    typed = Material(material.sources, material.summary, things=things)
    plain = best(lambda: serialise(messages))
    report = best(lambda: build(material))
    print(f"{len(messages)} messages, {len(serialise(messages)) / 1000:.0f} KB, {len(things)} things")
    print(f"serialised in {plain:.1f} ms, reported in {report:.0f} ms ({report / plain:.0f} times as long)")
    print(f"coverage of other words in {best(lambda: judge(typed)):.0f} ms")


if __name__ == "__main__":
    main()
