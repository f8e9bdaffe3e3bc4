"""A model service whose words say when they were sent, and which refuses requests a real one would refuse."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bench.stand_in import Plan as Wire
from bench.stand_in import StandIn
from tests.browser.replay_plan import COMMANDS, PHRASE, Answer, Plan

Json = dict[str, Any]

# `a3w12t4567`: answer 3, word 12 (h: of its thinking), 4.567 s after the service began.
WORD = re.compile(r"a(\d+)([wh])(\d+)t(\d+)")
EFFECTS = "effects.txt"


@dataclass(slots=True)
class Sent:
    """One answer: the job's seed, and the times (seconds, this machine's clock) of its words, by letter."""

    seed: int
    times: dict[str, list[float]] = field(default_factory=lambda: {"h": [], "w": []})
    calls: list[str] = field(default_factory=list)


class TimedService(StandIn):
    """Answers by the plan whose phrase the conversation holds; which answer is due is told by the conversation alone.

    So a worker that has been killed and begins anew is answered rightly. `sent` is what was said, by number of
    the answer; `problems` what was wrong with requests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.began = time.time()
        self.plans: dict[int, Plan] = {}
        self.sent: dict[int, Sent] = {}
        self.problems: list[str] = []

    def words_sent(self, seed: int) -> int:
        return sum(len(sent.times["w"]) for sent in list(self.sent.values()) if sent.seed == seed)

    def _plan(self, body: Json) -> Wire:
        conversation = [_told(message) for message in body["messages"]]
        if problem := what_is_wrong(conversation):
            self.problems.append(problem)
            return Wire(status=400, message=problem)
        found = _job_in(conversation, self.plans)
        if found is None:
            return super()._plan(body)
        plan, answered = found
        number = max(self.sent, default=0) + 1
        sent = self.sent[number] = Sent(plan.seed)
        answer = plan.answers[answered] if answered < len(plan.answers) else Answer(0, ("{} ",) * 12, 40.0)
        calls = [_call(name, f"effect-{number}-{place}") for place, name in enumerate(answer.calls)]
        sent.calls = [f"effect-{number}-{place}" for place in range(len(calls))]
        return Wire(
            thinking=_Words(self, number, "h", ("{} ",) * answer.thinking) if answer.thinking else "",
            text=_Words(self, number, "w", answer.forms),
            calls=calls,
            rate=answer.rate,
        )


@dataclass(frozen=True, slots=True)
class _Words:
    """Each word is made, and its time noted, when it is about to be sent."""

    service: TimedService
    answer: int
    letter: str
    forms: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        times = self.service.sent[self.answer].times[self.letter]
        for number, form in enumerate(self.forms):
            now = time.time()
            times.append(now)
            milliseconds = round((now - self.service.began) * 1000)
            yield form.format(f"a{self.answer}{self.letter}{number}t{milliseconds}")


def _call(name: str, mark: str) -> tuple[str, Json]:
    if name == "read":
        return "read", {"path": "notes.txt"}
    if name == "write":
        return "write", {"path": f"{mark}.txt", "content": f"{mark}\n" * 40}
    return "bash", {"command": f"echo {mark} >> {EFFECTS}; {COMMANDS[name]}"}


@dataclass(frozen=True, slots=True)
class Told:
    """One message of a request, whichever the dialect: who, the words, the ids called, the ids answered."""

    role: str
    text: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def _told(message: Json) -> Told:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    text = content if isinstance(content, str) else " ".join(str(b.get("text", "")) for b in blocks)
    calls = [b["id"] for b in blocks if b.get("type") == "tool_use"]
    calls += [call["id"] for call in message.get("tool_calls") or ()]
    results = [b["tool_use_id"] for b in blocks if b.get("type") == "tool_result"]
    if message["role"] == "tool":
        results.append(message["tool_call_id"])
    return Told(message["role"], text, tuple(calls), tuple(results))


def what_is_wrong(conversation: list[Told]) -> str:
    """The first reason why a service would refuse it: a call without exactly one result right behind it, and the reverse."""
    open_calls: list[str] = []
    for told in conversation:
        for result in told.results:
            if result not in open_calls:
                return f"result {result} answers no open call"
            open_calls.remove(result)
        if open_calls and not told.results:
            return f"calls without result: {', '.join(open_calls)}"
        if told.calls:
            open_calls = list(told.calls)
            if len(set(open_calls)) < len(open_calls):
                return "an id is called twice"
    return f"calls without result: {', '.join(open_calls)}" if open_calls else ""


def _job_in(conversation: list[Told], plans: dict[int, Plan]) -> tuple[Plan, int] | None:
    """The plan named last by a user, and how many answers have been given since."""
    pattern = re.compile(re.escape(PHRASE.format(seed=0)).replace("0", r"(\d+)"))
    for place in range(len(conversation) - 1, -1, -1):
        told = conversation[place]
        if told.role == "user" and (match := pattern.search(told.text)) and int(match[1]) in plans:
            answers = sum(later.role == "assistant" for later in conversation[place:])
            return plans[int(match[1])], answers
    return None
