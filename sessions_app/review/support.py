"""What each line of a summary rests on, and what in it rests on nothing."""

from __future__ import annotations

import heapq
import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from sessions_app.review.finding import Text, same_meaning
from sessions_app.review.sources import Source
from sessions_app.review.things import (
    IDENTIFIER,
    NUMBER,
    PATH,
    URL,
    Class,
    Thing,
    is_identifier,
    is_path,
    number_key,
)
from sessions_app.review.words import content_stems, fold, is_german, runs_with, vocabulary, words_of

Bond = Literal["words", "name", "meaning"]
_MOST_LINKS = 3
# Of the weight of a line's words, the share a source must say to support it.
_SUPPORTS = 0.34
_NEXT_BEST = 0.6
_FEW = 60
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|-{3,}\s*$|\*{3,}\s*$)")
_NOTHING = re.compile(r"^\W*(?:none|keine?)?\W*$", re.IGNORECASE)
_TAG = re.compile(r"^\s*</?[a-z-]+>\s*$")


@dataclass(frozen=True, slots=True)
class Link:
    """A source of a line: the entry's seq, and what they share: words, a name or number, or the meaning."""

    seq: int
    bond: Bond


@dataclass(frozen=True, slots=True)
class SupportedLine:
    """A line of the summary by its number from 1; `heading` and `empty` ones claim nothing and need no source."""

    number: int
    text: str
    heading: bool
    empty: bool
    links: tuple[Link, ...]

    @property
    def claims(self) -> bool:
        return not self.heading and not self.empty

    @property
    def without_source(self) -> bool:
        return self.claims and not self.links


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Something concrete in the summary that is said nowhere before: its class, words and line."""

    kind: Class
    text: str
    line: int


def supported_lines(
    summary: str, sources: Sequence[Source], previous: Source | None = None
) -> list[SupportedLine]:
    """Every line of the summary with at most three sources, the best first."""
    known = [*sources, previous] if previous is not None else list(sources)
    index = _Index(known, summary)
    lines = []
    in_files = False
    for number, text in enumerate(summary.split("\n"), start=1):
        if _TAG.match(text):
            in_files = not text.strip().startswith("</")
            lines.append(SupportedLine(number, text, True, False, ()))
            continue
        heading = _HEADING.match(text) is not None
        empty = in_files or _NOTHING.match(text) is not None
        links = () if heading or empty else index.links(text)
        lines.append(SupportedLine(number, text, heading, empty, links))
    return lines


class _Index:
    """Which sources say which word of a summary, and how much a word tells."""

    def __init__(self, sources: Sequence[Source], summary: str) -> None:
        self._sources = sources
        self._german = is_german(" ".join(source.text[:300] for source in sources[:10]))
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._folded: dict[int, str] = {}
        self._stems: dict[str, str] = {}
        # In a long range, what is said everywhere points nowhere.
        self._common = max(_FEW, len(sources) // 4)
        wanted = frozenset(_tokens(summary, self._german))
        for place, source in enumerate(sources):
            for token in self._of_those(wanted, source.text):
                self._holders[token].append(place)

    def _of_those(self, wanted: frozenset[str], text: str) -> set[str]:
        """The tokens of a source that the summary has too."""
        stems, words = self._stems, vocabulary(text)
        for word in words - stems.keys():
            stems[word] = next(iter(content_stems([word], german=self._german)), "")
        return {*(stems[word] for word in words), *_names(text)} & wanted

    def links(self, line: str) -> tuple[Link, ...]:
        tokens = list(dict.fromkeys(_tokens(line, self._german)))
        if not tokens:
            return ()
        weights = {token: self._weight(token) for token in tokens}
        total = sum(weights.values())
        scores = Counter[int]()
        for token in tokens:
            if len(self._holders.get(token, ())) > self._common:
                continue
            for place in self._holders.get(token, ()):
                scores[place] += weights[token]  # type: ignore[assignment]
        ranked = heapq.nsmallest(_MOST_LINKS, scores.items(), key=lambda item: (-item[1], item[0]))
        best = ranked[0][1] if ranked else 0
        return tuple(
            Link(self._sources[place].seq, self._bond(line, tokens, place))
            for place, score in ranked
            if score >= _SUPPORTS * total and score >= _NEXT_BEST * best
        )

    def _weight(self, token: str) -> float:
        rarity = math.log(1 + len(self._sources) / (1 + len(self._holders.get(token, ()))))
        return (2.0 if _is_name(token) else 1.0) * (0.3 + rarity)

    def _bond(self, line: str, tokens: list[str], place: int) -> Bond:
        if place not in self._folded:
            self._folded[place] = fold(self._sources[place].text)
        text = self._folded[place]
        words = fold(line).split()
        if any(
            " ".join(words[at : at + 4]) in text for at in range(max(1, len(words) - 3)) if len(words) >= 4
        ):
            return "words"
        if any(_is_name(token) and place in self._holders.get(token, ()) for token in tokens):
            return "name"
        return "meaning"


_NAME = re.compile(r"[\w.@+-]*[\w]/[\w./@+-]+|\w+(?:[_.]\w+)+|[a-z]+[A-Z]\w+|\d+(?:[.,]\d+)*|[A-Z]{2,}-\d+")


def _tokens(text: str, german: bool) -> list[str]:
    """Stems, and the names and numbers as they are."""
    return [*content_stems(words_of(text), german=german), *_names(text)]


_NAME_SIGNS = re.compile(r"[/_.\dA-Z]")


def _names(text: str) -> dict[str, None]:
    """In order, each once, with the mark that tells them from stems."""
    return {
        "=" + found.casefold(): None
        for low, high in runs_with(_NAME_SIGNS, text)
        for found in _NAME.findall(text, low, high)
    }


def _is_name(token: str) -> bool:
    return token[0] == "="


class Grounds:
    """Everything a summary may have learnt from: the range, the summary before, what stays."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        folded = [text.casefold() for text in texts]
        self._ends = list(accumulate(len(text) + 1 for text in folded))
        self._joined = "\n".join(folded)
        self._prepared: dict[int, Text] = {}

    @cached_property
    def _whole(self) -> Text:
        return Text("\n".join(self._texts))

    def have(self, thing: Thing) -> bool:
        """In the same words, a number by its value, or in the same meaning. All texts together are prepared only for
        what does not stand in one of them to the letter.
        """
        folded = fold(thing.text)
        at = self._joined.find(folded)
        while at >= 0:
            place = bisect_right(self._ends, at)
            if self._text(place).has(folded):
                return True
            at = self._joined.find(folded, self._ends[place])
        if self._whole.has(folded):
            return True
        if thing.kind == "number":
            return thing.key.partition(" ")[0] in self._whole.numbers
        return same_meaning(self._whole, thing) is not None

    def _text(self, place: int) -> Text:
        if place not in self._prepared:
            self._prepared[place] = Text(self._texts[place])
        return self._prepared[place]


def unsupported_in(summary: str, grounds: Grounds) -> list[Unsupported]:
    """Paths, addresses, numbers with units and identifiers of the summary that its grounds do not have."""
    found: dict[tuple[Class, str], Unsupported] = {}
    for number, line in enumerate(summary.split("\n"), start=1):
        for kind, text, key in _concrete(line):
            thing = Thing(kind, text, key.casefold(), 0, 0, 0, "assistant", line)
            if not grounds.have(thing):
                found.setdefault((kind, thing.key), Unsupported(kind, text, number))
    return list(found.values())


def _concrete(line: str) -> Iterator[tuple[Class, str, str]]:
    for url in URL.finditer(line):
        address = url.group().rstrip(".,;:!?")
        yield "url", address, address.rstrip("/")
    rest = URL.sub(" ", line)
    for path in PATH.finditer(rest):
        text = path.group().rstrip(".,*")
        if is_path(text):
            yield "path", text, text
    for number in NUMBER.finditer(rest):
        yield "number", number.group(), number_key(number.group())
    for name in IDENTIFIER.finditer(rest):
        if is_identifier(name.group()):
            yield "identifier", name.group(), name.group().removesuffix("()")
