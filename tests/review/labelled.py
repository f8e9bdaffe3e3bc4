"""The labelled sessions: read, damaged on purpose, and compared with what the report finds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sessions_app.review.report import Judged, Material, build, judge
from sessions_app.review.sources import Source, sources_of
from sessions_app.review.words import fold

FOLDER = Path(__file__).parent / "sessions"
PLANTED = ("path", "number", "constraint", "error", "request")
"""The kinds of things that the mutator takes away."""


@dataclass(frozen=True)
class Label:
    """What a reader of the texts says of one thing: `where` are the words of the summary that keep it."""

    kind: str
    text: str
    status: str
    where: tuple[str, ...]

    @property
    def is_kept(self) -> bool:
        return self.status != "missing"


@dataclass(frozen=True)
class Labelled:
    """A session, its summary, and the labels; seqs are twice the number of the label's file, plus one for a result."""

    name: str
    half: str
    sources: list[Source]
    tail: str
    summary: str
    carried: str
    labels: list[Label]
    links: list[tuple[str, frozenset[int]]]

    def material(self, summary: str | None = None) -> Material:
        return Material(
            self.sources, self.summary if summary is None else summary, tail=self.tail, carried=self.carried
        )


def load(half: str | None = None) -> list[Labelled]:
    found = [_read(path) for path in sorted(FOLDER.glob("*.yaml"))]
    return [session for session in found if half in (None, session.half)]


def _read(path: Path) -> Labelled:
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    messages = [
        (2 * number + place, message)
        for number, item in enumerate(value["said"], start=1)
        for place, message in enumerate(_messages(item))
    ]
    tail = [message for item in value["kept"] for message in _messages(item)]
    return Labelled(
        name=path.stem,
        half=value["half"],
        sources=sources_of(messages),
        tail="\n".join(source.text for source in sources_of(enumerate(tail))),
        summary=value["summary"],
        carried=value.get("carried", ""),
        labels=[_label(*label) for label in value["labels"]],
        links=[(start, frozenset(numbers)) for start, numbers in value["sources"]],
    )


def _label(kind: str, text: str, status: str, where: str = "") -> Label:
    return Label(kind, text, status, tuple(where.split("|")) if where else (text,))


def _messages(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    ((name, value),) = item.items()
    if name in ("user", "assistant"):
        yield {"role": name, "content": [{"type": "text", "text": value}]}
        return
    arguments = {key: text for key, text in value.items() if key != "result"}
    call = {"type": "toolCall", "id": "c1", "name": name, "arguments": arguments}
    yield {"role": "assistant", "content": [call]}
    result = [{"type": "text", "text": value["result"]}]
    yield {"role": "toolResult", "toolCallId": "c1", "toolName": name, "content": result}


# --- what the report says of a label ---


def found_for(label: Label, judged: list[Judged]) -> Judged | None:
    """The thing of the report that the label is about."""
    wanted = fold(label.text)
    of_kind = [item for item in judged if item.thing.kind == label.kind]
    same = [item for item in of_kind if fold(item.thing.text).removesuffix("()") == wanted.removesuffix("()")]
    inside = [item for item in of_kind if wanted in fold(item.thing.text) or fold(item.thing.text) in wanted]
    return next(
        iter([*same, *sorted(inside, key=lambda item: abs(len(item.thing.text) - len(label.text)))]), None
    )


# --- planting losses ---


@dataclass(frozen=True)
class Loss:
    """A summary from which one thing was taken."""

    session: Labelled
    label: Label
    summary: str


def planted(session: Labelled, seed: int) -> list[Loss]:
    """For every thing that only the summary keeps, the summary without it: cut out, blurred, or made into another."""
    chance = random.Random(f"{session.name}:{seed}")
    losses = []
    for label in session.labels:
        if label.kind in PLANTED and label.status in ("verbatim", "substance"):
            damaged = _without(session.summary, label, chance)
            if damaged is not None:
                losses.append(Loss(session, label, damaged))
    return losses


_BLUR = {
    "path": "one of the files",
    "number": "some amount",
    "constraint": "",
    "error": "an error",
    "request": "",
}


def _without(summary: str, label: Label, chance: random.Random) -> str | None:
    damaged = summary
    for words in label.where:
        if words not in damaged:
            return None
        damaged = damaged.replace(words, _instead(words, label, chance))
    lines = [line for line in damaged.split("\n") if line.strip(" -*[]0123456789.;,") or not line.strip()]
    return "\n".join(lines)


def _instead(words: str, label: Label, chance: random.Random) -> str:
    way = chance.choice(["blur", "change"]) if label.kind in ("path", "number") else "blur"
    if way == "blur":
        return _BLUR[label.kind]
    if label.kind == "number":
        return re.sub(r"\d+(?:[.,]\d+)*", lambda found: _another(found.group(), chance), words, count=1)
    stem = "".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(4))
    return re.sub(r"[^/.]+(?=(?:\.\w+)?/?$)", stem, words)


def _another(number: str, chance: random.Random) -> str:
    digits = [chance.choice("123456789") if it.isdigit() else it for it in number]
    return "".join(digits) if "".join(digits) != number else "7" + number


# --- figures ---


@dataclass
class Count:
    """Of one class: planted losses and those found, alarms and false ones, labels and those found by the report."""

    planted: int = 0
    found: int = 0
    alarms: int = 0
    false_alarms: int = 0
    labels: int = 0
    extracted: int = 0
    agreed: int = 0


@dataclass
class Figures:
    """Per class and overall, with the provenance links and those judged right."""

    classes: dict[str, Count]
    links: int
    right_links: int
    misses: list[str]

    @property
    def total(self) -> Count:
        whole = Count()
        for count in self.classes.values():
            for name, value in vars(count).items():
                setattr(whole, name, getattr(whole, name) + value)
        return whole


@cache
def measure(half: str, seed: int = 1) -> Figures:
    classes: dict[str, Count] = {}
    misses: list[str] = []
    links = right = 0
    for session in load(half):
        report = build(session.material())
        judged = list(report.judged)
        for label in session.labels:
            count = classes.setdefault(label.kind, Count())
            item = found_for(label, judged)
            count.labels += 1
            if item is None:
                misses.append(f"{session.name}: not extracted: {label.kind} {label.text!r}")
                continue
            count.extracted += 1
            if item.status == "missing":
                count.alarms += 1
                if label.is_kept:
                    count.false_alarms += 1
                    misses.append(f"{session.name}: false alarm: {label.kind} {label.text!r}")
            if (item.status != "missing") == label.is_kept:
                count.agreed += 1
            elif not label.is_kept:
                misses.append(
                    f"{session.name}: taken as kept ({item.status}, line {item.line}): {label.text!r}"
                )
        for loss in planted(session, seed):
            count = classes[loss.label.kind]
            count.planted += 1
            item = found_for(loss.label, judge(session.material(loss.summary)))
            if item is not None and item.status == "missing":
                count.found += 1
            else:
                how = "not extracted" if item is None else f"{item.status}, line {item.line}"
                misses.append(
                    f"{session.name}: planted loss not found ({how}): {loss.label.kind} {loss.label.text!r}"
                )
        for start, numbers in session.links:
            line = next(line for line in report.lines if line.text.strip().startswith(start))
            for link in line.links:
                links += 1
                if link.seq // 2 in numbers:
                    right += 1
                else:
                    misses.append(f"{session.name}: wrong source {link.seq // 2} ({link.bond}) for {start!r}")
            if not line.links:
                misses.append(f"{session.name}: no source for {start!r}")
    return Figures(classes, links, right, misses)


def unlabelled_alarms(half: str) -> list[str]:
    """What the report says is missing and no label speaks of: for a reader to judge."""
    found = []
    for session in load(half):
        judged = judge(session.material())
        spoken = {id(found_for(label, judged)) for label in session.labels}
        found += [
            f"{session.name}: {item.thing.kind} {item.thing.text!r}"
            for item in judged
            if item.status == "missing" and id(item) not in spoken
        ]
    return found
