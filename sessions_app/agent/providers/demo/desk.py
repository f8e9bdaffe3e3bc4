"""What a job has at hand: the tools of the request and what the conversation remembers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sessions_app.agent.providers.demo.conversation import Span, paths_in, touched
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script


@dataclass(slots=True)
class Desk:
    """Passed to every job. `spans` are the finished and unfinished spans before this one; `earlier` are paths
    that jobs of this same request have named, newest first; `asked` are its steps before this one,
    newest first; `style` is
    the form the answer shall have, and `styled` says that the job has given it that; `written` the files it changed; `kept` is what was looked up
    and holds until something is written or run."""

    tools: frozenset[str]
    spans: tuple[Span, ...] = ()
    images: int = 0
    earlier: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    looked: bool = False  # whether this step only looked for the request's words
    style: tuple[str, int] | None = None
    styled: bool = False
    written: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)

    def last_answer(self) -> str:
        """What was answered last, by an earlier step of this request or by an earlier span."""
        if self.answers:
            return self.answers[-1]
        return next((span.answer for span in reversed(self.spans) if span.finished), "")

    def listed(self) -> list[str]:
        """The paths the last answer named, in its order."""
        return paths_in(self.last_answer())

    def it(self) -> str | None:
        """The file "it" most likely means: the newest one acted on, else the first one named."""
        if self.earlier:
            return self.earlier[0]
        listed = [path for path in self.listed() if not path.endswith("/")]
        if re.match(r"(?:Moved|Copied) ", self.last_answer()) and listed:
            # What was moved is where it went.
            return listed[-1]
        if self.answers and listed:
            return listed[0]
        recent = touched(self.spans[-1:])
        if len(recent) == 1:
            return recent[0]
        return listed[0] if listed else next(iter(touched(self.spans)), None)

    def file_of(self, ask: Ask, place: int = 0) -> str:
        """The file the ask names, or the one "it" stands for. Raises CannotDo when there is none."""
        names = ask.paths or [quote for quote in ask.quotes if re.search(r"\.\w{1,5}$", quote)]
        if len(names) > place:
            return names[place]
        found = self.it() if place == 0 else None
        if found is None:
            raise CannotDo("Which file? Name it with its path, for example `read README.md`.")
        return found

    def resolved(self, ask: Ask) -> Ask:
        """The ask with "the second one" and the like replaced by the path it stands for. Raises CannotDo."""
        used = {int(number) for number in re.findall(r"‹p(\d+)›", ask.text)}
        return Ask(
            ask.text,
            tuple(
                self._nth(int(v[1:])) if n in used and re.fullmatch(r"@\d+", v) else v
                for n, v in enumerate(ask.values)
            ),
        )

    def _nth(self, number: int) -> str:
        listed = [path for path in self.listed() if not path.endswith("/")] or self.listed()
        if len(listed) < max(2, number):
            # A file was shown since: the list it came from stands in an earlier answer.
            older = [
                [p for p in paths_in(span.answer) if not p.endswith("/")] for span in reversed(self.spans)
            ]
            if len(listed) < 2:
                listed = next((paths for paths in older if len(paths) >= max(2, number)), listed)
        if not listed:
            raise CannotDo("The last answer has no list to take that from. Name the file with its path.")
        if number > len(listed):
            raise CannotDo(f"The list in the last answer has only {len(listed)}.")
        return listed[number - 1]


Job = Callable[[Desk, Ask, re.Match[str]], Script]


@dataclass(frozen=True, slots=True)
class Rule:
    """When a masked ask matches `pattern` from its start (and `when` agrees), `job` does it."""

    pattern: re.Pattern[str]
    job: Job
    when: Callable[[Ask], bool] | None = None

    @property
    def name(self) -> str:
        """The job in words, for the thinking line."""
        return self.job.__name__.replace("_", " ")


def rule(pattern: str, job: Job, when: Callable[[Ask], bool] | None = None) -> Rule:
    """The same with the pattern as text; case does not matter."""
    return Rule(re.compile(pattern, re.I | re.S), job, when)
