"""The quality report of a summary: coverage, what rests on nothing, structure, provenance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sessions_app.core.tokens import UNITS_PER_TOKEN, utf16_length
from sessions_app.review.finding import STATUSES, Kept, Status
from sessions_app.review.sources import Source
from sessions_app.review.support import (
    Grounds,
    Link,
    SupportedLine,
    Unsupported,
    supported_lines,
    unsupported_in,
)
from sessions_app.review.things import CLASSES, Class, Thing, things_in

METHOD: Final = 1
"""Changes with the method, so that older reports are known and computed again."""

Json = dict[str, Any]

SECTIONS: Final = (
    "Goal",
    "Constraints & Preferences",
    "Progress",
    "Key Decisions",
    "Next Steps",
    "Critical Context",
)
DEFAULT_WEIGHTS: Final[Mapping[str, float]] = {
    "constraint": 5,
    "request": 5,
    "decision": 3,
    "todo": 3,
    "error": 2,
    "number": 1,
    "path": 1,
    "identifier": 1,
    "command": 1,
    "url": 1,
    "user": 2,
    "assistant": 1,
    "tool": 0.5,
}
"""Per class, and how much more or less a thing counts by who said it."""
_CREDIT: Final[Mapping[Status, float]] = {
    "verbatim": 1.0,
    "substance": 1.0,
    "tail": 1.0,
    "carried": 1.0,
    "files": 1.0,
    "missing": 0.0,
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A thing, where it is kept, and the line of the summary that keeps it (None: not in a line of it)."""

    thing: Thing
    status: Status
    line: int | None
    weight: float


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Of one class: how many there are by status, and the score 0…100."""

    kind: Class
    counts: Mapping[Status, int]
    score: float

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def kept(self) -> int:
        return self.total - self.counts["missing"]


@dataclass(frozen=True, slots=True)
class Structure:
    """Sections that are missing or empty, size and reduction, and how many things are in progress."""

    missing_sections: tuple[str, ...]
    empty_sections: tuple[str, ...]
    summary_tokens: int
    range_tokens: int
    in_progress: int

    @property
    def reduction(self) -> float:
        """0…1: how much smaller the summary is than what it replaces."""
        return 1 - self.summary_tokens / self.range_tokens if self.range_tokens else 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """`coverage` is 0…100, or None when there was nothing concrete to keep."""

    coverage: float | None
    classes: tuple[ClassScore, ...]
    judged: tuple[Judged, ...]
    unsupported: tuple[Unsupported, ...]
    structure: Structure
    lines: tuple[SupportedLine, ...]

    @property
    def missing(self) -> list[Judged]:
        """The weightiest first."""
        gone = [item for item in self.judged if item.status == "missing"]
        return sorted(gone, key=lambda item: -item.weight)

    @property
    def own_missing(self) -> int:
        return sum(item.thing.speaker == "user" for item in self.judged if item.status == "missing")


@dataclass(frozen=True, slots=True)
class Material:
    """What a report is made of; `tail` and `carried` are texts, `files` the stored file lists.

    `things` may be given when they were found before: they depend on the range alone.
    """

    sources: Sequence[Source]
    summary: str
    tail: str = ""
    carried: str = ""
    files: Sequence[str] = ()
    previous: Source | None = None
    things: Sequence[Thing] | None = field(default=None)


def build(material: Material, weights: Mapping[str, float] = DEFAULT_WEIGHTS) -> Report:
    """The whole report; deterministic, without a model."""
    judged = judge(material, weights)
    before = [material.previous.text] if material.previous is not None else []
    grounds = Grounds(
        [*(source.text for source in material.sources), *before, material.tail, material.carried]
    )
    return Report(
        coverage=weighted(judged),
        classes=scores_of(judged),
        judged=tuple(judged),
        unsupported=tuple(unsupported_in(material.summary, grounds)),
        structure=structure_of(material.summary, material.sources),
        lines=tuple(supported_lines(material.summary, material.sources, material.previous)),
    )


def judge(material: Material, weights: Mapping[str, float] = DEFAULT_WEIGHTS) -> list[Judged]:
    """Coverage alone: what is computed while somebody edits a summary."""
    things = material.things if material.things is not None else things_in(material.sources)
    kept = Kept(material.summary, tail=material.tail, carried=material.carried, files=material.files)
    judged = []
    for thing in things:
        status, line = kept.judge(thing)
        judged.append(Judged(thing, status, line, weights[thing.kind] * weights[thing.speaker]))
    return judged


def weighted(judged: Sequence[Judged]) -> float | None:
    """Coverage 0…100 by the things' weights; None without any."""
    total = sum(item.weight for item in judged)
    if not total:
        return None
    return round(100 * sum(item.weight * _CREDIT[item.status] for item in judged) / total, 1)


def scores_of(judged: Sequence[Judged]) -> tuple[ClassScore, ...]:
    """The classes there is something of, in their order."""
    return tuple(score for kind in CLASSES if (score := _score_of(kind, judged)) is not None)


def _score_of(kind: Class, judged: Sequence[Judged]) -> ClassScore | None:
    of_kind = [item for item in judged if item.thing.kind == kind]
    if not of_kind:
        return None
    counts = {status: sum(item.status == status for item in of_kind) for status in STATUSES}
    return ClassScore(kind, counts, weighted(of_kind) or 0.0)


_SECTION = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_SAYS_NOTHING = re.compile(r"^[\W_]*(?:none[\W_]*)?$", re.IGNORECASE)


def structure_of(summary: str, sources: Sequence[Source]) -> Structure:
    heads = list(_SECTION.finditer(summary))
    bodies: dict[str, str] = {}
    for place, head in enumerate(heads):
        level = len(head.group()) - len(head.group().lstrip("#"))
        end = len(summary)
        for later in heads[place + 1 :]:
            if len(later.group()) - len(later.group().lstrip("#")) <= level:
                end = later.start()
                break
        bodies.setdefault(head.group(1).casefold(), summary[head.end() : end])
    missing = tuple(name for name in SECTIONS if name.casefold() not in bodies)
    empty = tuple(
        name
        for name in SECTIONS
        if name.casefold() in bodies and _SAYS_NOTHING.match(_SECTION.sub("", bodies[name.casefold()]))
    )
    return Structure(
        missing_sections=missing,
        empty_sections=empty,
        summary_tokens=-(-utf16_length(summary) // UNITS_PER_TOKEN),
        range_tokens=-(-sum(utf16_length(source.text) for source in sources) // UNITS_PER_TOKEN),
        in_progress=len(re.findall(r"^\s*[-*]\s+\[ \]", summary, re.MULTILINE)),
    )


# --- as it is stored ---


def to_json(report: Report) -> Json:
    return {
        "method": METHOD,
        "coverage": report.coverage,
        "things": [
            [t.kind, t.text, t.key, t.seq, t.start, t.end, t.speaker, t.context, j.status, j.line, j.weight]
            for j in report.judged
            for t in (j.thing,)
        ],
        "unsupported": [[item.kind, item.text, item.line] for item in report.unsupported],
        "structure": {
            "missing": report.structure.missing_sections,
            "empty": report.structure.empty_sections,
            "summary": report.structure.summary_tokens,
            "range": report.structure.range_tokens,
            "inProgress": report.structure.in_progress,
        },
        "lines": [
            [line.number, line.text, line.heading, line.empty, [[link.seq, link.bond] for link in line.links]]
            for line in report.lines
        ],
    }


def from_json(stored: Json) -> Report:

    judged = [
        Judged(Thing(kind, text, key, seq, start, end, speaker, context), status, line, weight)
        for kind, text, key, seq, start, end, speaker, context, status, line, weight in stored["things"]
    ]
    told = stored["structure"]
    return Report(
        coverage=stored["coverage"],
        classes=scores_of(judged),
        judged=tuple(judged),
        unsupported=tuple(Unsupported(*item) for item in stored["unsupported"]),
        structure=Structure(
            tuple(told["missing"]), tuple(told["empty"]), told["summary"], told["range"], told["inProgress"]
        ),
        lines=tuple(
            SupportedLine(number, text, heading, empty, tuple(Link(*link) for link in links))
            for number, text, heading, empty, links in stored["lines"]
        ),
    )


def risk_of(report: Report) -> int:
    """0…100: what is missing of the user's words weighs most, then low coverage, then possible inventions."""
    loss = 100 - report.coverage if report.coverage is not None else 0.0
    own = min(
        40,
        10
        * sum(
            j.thing.kind in ("constraint", "request") and j.thing.speaker == "user" for j in report.missing
        ),
    )
    doubts = min(15, 3 * len(report.unsupported))
    shape = min(10, 5 * len(report.structure.missing_sections))
    return min(100, round(0.6 * loss + own + doubts + shape))
