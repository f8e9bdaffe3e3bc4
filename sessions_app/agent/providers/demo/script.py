"""A job is a generator of steps: it asks for tool calls and is played again from the start on every request."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call a job wants."""

    name: str
    arguments: Json

    def key(self) -> str:
        """Equal for calls that ask for the same thing."""
        return self.name + json.dumps(self.arguments, sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Step:
    """What one answer of the model contains while a job is under way: a line for the reader, and calls."""

    text: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tool result as the conversation holds it."""

    text: str
    is_error: bool = False
    details: Json = field(default_factory=dict)


Script = Generator[Step, list[Outcome], str]


class CannotDo(Exception):  # noqa: N818 - an answer, not a fault
    """The job ends here; the text is the answer and says what is possible instead."""


class ToolFailed(Exception):  # noqa: N818 - news of a tool, told in the answer
    """A tool the job depends on reported an error."""

    def __init__(self, call: Call, outcome: Outcome) -> None:
        super().__init__(outcome.text)
        self.call = call
        self.outcome = outcome


def next_move(script: Script, recorded: Iterable[tuple[Call, Outcome]]) -> Step | str:
    """Play `script` over the results there are: the step to take now, or the final answer.

    Calls are found by what they ask for, not by position: a compaction may have dropped the first results
    (their calls are then made again) and another model may have acted in between.
    """
    known: dict[str, list[Outcome]] = {}
    for call, outcome in recorded:
        known.setdefault(call.key(), []).append(outcome)
    try:
        step = next(script)
        while True:
            found: list[Outcome] = []
            for call in step.calls:
                outcomes = known.get(call.key())
                if not outcomes:
                    return step
                found.append(outcomes.pop(0))
            step = script.send(found)
    except StopIteration as end:
        return str(end.value)
