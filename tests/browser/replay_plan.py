"""What happens in one replayed session, all of it decided by a seed: the model's answers, and the faults and when."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

# The phrase by which the service recognises the job in a conversation.
PHRASE = "replay job {seed}."

COMMANDS = {
    "quick": "ls",
    "slow": "for i in $(seq 1 15); do echo line $i; sleep 0.1; done",
    "background": "sleep 600 >/dev/null 2>&1 & (setsid sleep 600 >/dev/null 2>&1 &); echo started",
    "holds the pipe": "(setsid sleep 600 &); echo started; sleep 0.5",
    "stubborn": "trap '' TERM; sleep 2; echo not impressed",
    "long": "seq 1 30000",
    "fails": "echo no; exit 3",
}
# Seconds that a call takes by itself; the others none worth speaking of.
TAKES = {"slow": 1.6, "holds the pipe": 0.6, "stubborn": 2.0}
FAULTS = {
    "reload": 3, "freeze": 2, "offline": 2, "kill web": 2, "kill worker": 2, "kill broker": 2,
    "kill worker and broker": 1, "kill everything": 1, "lose the stream": 1, "second tab": 2, "stop": 1, "steer": 2, "follow up": 1,
}  # fmt: skip
KILLS = {
    "kill web": ("web",),
    "kill worker": ("worker",),
    "kill broker": ("broker",),
    "kill worker and broker": ("worker", "broker"),
    "kill everything": ("web", "worker", "broker"),
    # What the broker had on disk goes with it: only rows are left.
    "lose the stream": ("worker", "broker", "files"),
}
LONG = 2_300
MANY = 2_000


@dataclass(frozen=True, slots=True)
class Answer:
    """Words of thinking and of text at `rate` a second (each with what surrounds it), then calls side by side.

    A call is a key of COMMANDS, or the name of another tool.
    """

    thinking: int
    forms: tuple[str, ...]
    rate: float
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """`at` seconds after the job was sent, or once the service has sent `after_words`; `lasts` for those that end."""

    kind: str
    at: float = 0.0
    lasts: float = 0.0
    after_words: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """`shape` says in a word what kind of job it is; `seconds` how long it takes when nobody disturbs it."""

    seed: int
    shape: str
    provider: str
    answers: tuple[Answer, ...]
    faults: tuple[Fault, ...]
    seconds: float = 0.0

    @property
    def prompt(self) -> str:
        return PHRASE.format(seed=self.seed)


@dataclass(slots=True)
class _Draw:
    random: random.Random
    weights: dict[str, int] = field(default_factory=lambda: dict(FAULTS))

    def answer(self, words: int, rate: float, calls: int) -> Answer:
        thinking = self.random.choice((0, 0, 15, 40))
        names = ["read", "write", *COMMANDS, "background", "slow"]
        return Answer(
            thinking, self.forms(words), rate, tuple(self.random.choice(names) for _ in range(calls))
        )

    def forms(self, count: int) -> tuple[str, ...]:
        """Templates of words: Markdown of most kinds, so that blocks open, grow and close."""
        forms: list[str] = []
        while len(forms) < count:
            size = self.random.randint(4, 30)
            kind = self.random.choice(("paragraph", "paragraph", "list", "code", "heading", "table"))
            match kind:
                case "paragraph":
                    inner = [
                        self.random.choice(("{} ",) * 6 + ("**{}** ", "`{}` ", "*{}* ")) for _ in range(size)
                    ]
                    inner[-1] = "{}.\n\n"
                case "list":
                    inner = [self.random.choice(("{} ", "{}\n- ")) for _ in range(size)]
                    inner[0], inner[-1] = "- {} ", "{}\n\n"
                case "code":
                    inner = [self.random.choice(("{} ", "{}\n", "{}\n    ")) for _ in range(size)]
                    inner[0], inner[-1] = "```python\n{} = ", "{}\n```\n\n"
                case "heading":
                    inner = ["## {} "] + ["{} "] * 2 + ["{}\n\n"]
                case _:
                    inner = ["| {} | ", "{} |\n|---|---|\n", *["| {} | ", "{} |\n"] * (size // 4)]
                    inner[-1] += "\n"
            forms += inner
        return tuple(forms[:count])


def make_plan(seed: int, *, shape: str = "", faults: int | None = None) -> Plan:
    """`shape`: "long" (one answer, killed after 2,000 words), "tools" (turns with calls), or by the seed."""
    draw = _Draw(random.Random(seed))
    shape = shape or draw.random.choices(("tools", "long"), (6, 1))[0]
    provider = draw.random.choice(("anthropic", "openai-compatible"))
    if shape == "long":
        rate = draw.random.choice((200.0, 300.0))
        answers = (draw.answer(LONG, rate, 0),)
        kind = draw.random.choice(
            ("kill worker", "kill worker", "kill worker and broker", "kill everything", "lose the stream")
        )
        deadly = [Fault(kind, after_words=MANY)]
    else:
        answers = tuple(
            draw.answer(
                draw.random.randint(30, 150),
                draw.random.choice((40.0, 80.0, 120.0)),
                draw.random.choice((1, 2, 3)),
            )
            for _ in range(draw.random.randint(1, 3))
        )
        answers += (draw.answer(draw.random.randint(60, 200), 60.0, 0),)
        deadly = []
    seconds = sum(
        (a.thinking + len(a.forms)) / a.rate + max((TAKES.get(call, 0.2) for call in a.calls), default=0.0)
        for a in answers
    )
    count = draw.random.randint(2, 5) if faults is None else faults
    kinds = draw.random.choices(list(FAULTS), list(FAULTS.values()), k=count)
    if shape == "long":
        # Nothing may end it before its 2,000 words are out.
        kinds = [kind for kind in kinds if kind != "stop" and "worker" not in KILLS.get(kind, ())]
    drawn = [
        Fault(
            kind, at=round(draw.random.uniform(0.2, seconds), 2), lasts=round(draw.random.uniform(0.3, 5), 2)
        )
        for kind in kinds
    ]
    drawn.sort(key=lambda fault: fault.at)
    return Plan(seed, shape, provider, answers, (*drawn, *deadly), seconds)
