"""Where a concrete thing is kept: in the summary, in the tail that stays, among what is carried, or nowhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, Literal

from rapidfuzz import fuzz

from sessions_app.review.things import Thing, number_key, paths_of, plain_number
from sessions_app.review.words import content_stems, fold, is_german, near, words_of

Status = Literal["verbatim", "substance", "tail", "carried", "files", "missing"]
STATUSES: Final[tuple[Status, ...]] = ("verbatim", "substance", "tail", "carried", "files", "missing")

# The share of a sentence's content words that a line must repeat to say the same.
_SAME_MEANING = 0.5
_SAME_ERROR = 0.7
_NEARLY = 90.0
_GENERIC = frozenset(
    {"index.js", "index.html", "main.py", "__init__.py", "mod.rs", "readme.md", "lib.rs", "index.ts"}
)
_NUMBER_WORDS = {
    "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine", "10": "ten", "12": "twelve",
}  # fmt: skip
_VALUE = re.compile(r"\d+(?:[.,]\d+)*")
_CODE = re.compile(r"\b(?:[A-Z]\d{2,}|HTTP \d{3}|\d{4,})\b|\(\d+\)")
_LONG = 200_000
_RUN = re.compile(r"\w+")
_MARK = re.compile(r"^(?:#{1,6}|[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s*)?")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, as it is compared: folded, its content stems, its numbers."""

    number: int
    text: str
    folded: str
    stems: frozenset[str]
    values: frozenset[str]


class Text:
    """A text in which things are looked for, prepared once."""

    def __init__(self, text: str) -> None:
        self.raw = text
        self.folded = fold(text)
        self._near: dict[str, frozenset[int]] = {}
        self._lines_with: dict[str, tuple[Line, ...]] = {}
        self._valued: dict[str, frozenset[int]] = {}

    @cached_property
    def german(self) -> bool:
        return is_german(self.raw)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        found = []
        for number, raw in enumerate(self.raw.split("\n"), start=1):
            words = words_of(raw)
            if words:
                stems = frozenset(content_stems(words, german=self.german))
                values = frozenset(plain_number(word) for word in words if word[0].isdigit())
                found.append(Line(number, raw, fold(_MARK.sub("", raw.strip())), stems, values))
        return tuple(found)

    def near(self, stem: str) -> frozenset[int]:
        """The places among `lines` where the stem or a compound of it stands."""
        found = self._near.get(stem)
        if found is None:
            same = near(stem, self._vocabulary)
            found = self._near[stem] = frozenset(place for other in same for place in self._vocabulary[other])
        return found

    def lines_with(self, word: str) -> tuple[Line, ...]:
        found = self._lines_with.get(word)
        if found is None:
            found = self._lines_with[word] = tuple(line for line in self.lines if word in line.folded)
        return found

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_RUN.findall(self.folded))

    def _may_have(self, folded: str) -> bool:
        """Whole words are looked up before a text is searched; in a very long one, few things are looked for."""
        return len(self.folded) > _LONG or self._words.issuperset(_RUN.findall(folded))

    def with_values(self, values: Sequence[str]) -> frozenset[int] | None:
        """The places among `lines` that have all of the numbers, in digits or spelled; None for no numbers: all."""
        found: frozenset[int] | None = None
        for value in values:
            if value not in self._valued:
                word = _NUMBER_WORDS.get(value)
                self._valued[value] = frozenset(
                    place
                    for place, line in enumerate(self.lines)
                    if value in line.values or (word is not None and word in line.folded.split())
                )
            found = self._valued[value] if found is None else found & self._valued[value]
        return found

    @cached_property
    def _vocabulary(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, line in enumerate(self.lines):
            for one in line.stems:
                places.setdefault(one, []).append(place)
        return places

    @cached_property
    def squashed(self) -> str:
        return re.sub(r"[\W_]+", "", self.folded)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(plain_number(value) for value in _VALUE.findall(self.folded))

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(found.group().rstrip(".,").casefold() for found in paths_of(self.raw))

    def has(self, folded: str) -> bool:
        """The words as they are, not as a part of longer ones."""
        at = self.folded.find(folded) if self._may_have(folded) else -1
        while at >= 0:
            before = self.folded[at - 1] if at else " "
            after = self.folded[at + len(folded) : at + len(folded) + 2]
            if not (_joins(before) and _joins(folded[0])) and not (
                after and _joins(folded[-1]) and (_joins(after[0]) or re.match(r"[.,]\d", after))
            ):
                return True
            at = self.folded.find(folded, at + 1)
        return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


class Kept:
    """Everything that stays of a replaced range."""

    def __init__(self, summary: str, *, tail: str = "", carried: str = "", files: Sequence[str] = ()) -> None:
        self.summary, self.tail, self.carried = Text(summary), Text(tail), Text(carried)
        self.files = frozenset(name.casefold().removeprefix("./") for name in files)

    def judge(self, thing: Thing) -> tuple[Status, int | None]:
        """Where the thing is kept, and the line of the summary that says so, if one does."""
        folded = fold(thing.text)
        if folded and self.summary.has(folded):
            return "verbatim", self._line_with(folded)
        if self.carried.raw and says(self.carried, thing, folded):
            return "carried", None
        if thing.kind == "path" and _listed(thing.key, self.files):
            return "files", None
        if (line := same_meaning(self.summary, thing)) is not None:
            return "substance", line
        if self.tail.raw and says(self.tail, thing, folded):
            return "tail", None
        return "missing", None

    def _line_with(self, folded: str) -> int | None:
        return next((line.number for line in self.summary.lines if folded in line.folded), None)


def says(text: Text, thing: Thing, folded: str) -> bool:
    return text.has(folded) or same_meaning(text, thing) is not None


def _listed(path: str, files: frozenset[str]) -> bool:
    return path in files or any(name.endswith("/" + path) or path.endswith("/" + name) for name in files)


def same_meaning(text: Text, thing: Thing) -> int | None:
    """The line (0: the text as a whole) that says the same in other words; None if none does."""
    match thing.kind:
        case "path":
            return _path(text, thing.key)
        case "url":
            bare = thing.key.partition("://")[2].partition("?")[0].rstrip("/")
            return 0 if text.has(bare) else None
        case "number":
            return _number(text, thing)
        case "identifier":
            bare = re.sub(r"[\W_]+", "", thing.key)
            return 0 if text.has(thing.key) or (len(bare) >= 7 and bare in text.squashed) else None
        case "error":
            return _error(text, thing)
        case "command":
            return _command(text, thing)
        case "constraint" | "request" | "decision" | "todo":
            return _saying(text, thing)


def _path(text: Text, key: str) -> int | None:
    if text.has(key):
        return 0
    name = key.rstrip("/").rpartition("/")[2]
    if "." in name and len(name) >= 5 and name not in _GENERIC and text.has(name):
        return 0
    if key.endswith("/") or "." not in name:
        start = key.rstrip("/") + "/"
        if any(path.startswith(start) or "/" + start in path for path in text.paths):
            return 0
    return None


def _number(text: Text, thing: Thing) -> int | None:
    """The value with the same unit, or in a line that shares what it is about."""
    value = thing.key.partition(" ")[0]
    word = _NUMBER_WORDS.get(value)
    if value not in text.numbers and (word is None or not text.has(word)):
        return None
    around = set(content_stems(words_of(thing.context), german=text.german)) - {value}
    for place, line in enumerate(text.lines):
        if value not in line.values and (word is None or word not in line.folded.split()):
            continue
        if any(
            number_key(found.group()) == thing.key
            for found in re.finditer(
                re.escape(value) + r"\s?[^\W\d]+|[$€£]\s?" + re.escape(value), line.folded
            )
        ):
            return line.number
        shared = sum(place in text.near(one) for one in around)
        if shared >= (1 if word is None and len(value) > 1 else 2):
            return line.number
    return None


def _error(text: Text, thing: Thing) -> int | None:
    """A long enough part of it word for word, its code, or nearly the same line."""
    body = fold(thing.text)
    parts = [part for part in re.split(r"(?<=\w): | \(|\"|, ", body) if len(part) >= 14]
    for part in sorted(parts, key=len, reverse=True)[:3]:
        if text.has(part):
            return 0
    codes = {fold(code) for code in _CODE.findall(thing.text)}
    if codes and len(codes) <= 3 and all(text.has(code) for code in codes):
        return 0
    stems = content_stems(words_of(thing.text))
    if len(stems) >= 3:
        counts = Counter(place for one in stems for place in text.near(one))
        for place, count in sorted(counts.items()):
            if count >= _SAME_ERROR * len(stems):
                return text.lines[place].number
    if len(body) >= 20 and fuzz.partial_ratio(body, text.folded, score_cutoff=_NEARLY):
        return 0
    return None


def _command(text: Text, thing: Thing) -> int | None:
    tokens = [token for token in re.split(r"[\s'\"|;&]+", fold(thing.text)) if len(token) > 1]
    if len(tokens) < 2:
        return None
    for line in text.lines_with(tokens[0]):
        if sum(token in line.folded for token in tokens) >= 0.75 * len(tokens):
            return line.number
    return None


@lru_cache(maxsize=5_000)
def _parts(saying: str, german: bool) -> tuple[list[str], list[str], list[str]]:
    """Its content stems, those of them that are no part of a path and no number, and its numbers."""
    words = words_of(saying)
    stems = content_stems(words, german=german)
    values = [plain_number(word) for word in words if word[0].isdigit()]
    named = {stem for found in paths_of(saying) for stem in content_stems(words_of(found.group()))}
    return stems, [one for one in stems if one not in named and not one[0].isdigit()], values


def _saying(text: Text, thing: Thing) -> int | None:
    """The line, or two that follow one another, with most of its content words and all of its numbers."""
    stems, plain, values = _parts(thing.text, text.german)
    if not stems:
        return None
    said = [text.near(one) for one in stems]
    counts = Counter(chain.from_iterable(said))
    # A name alone says nothing, unless what is wanted is about names: something must be said of it.
    is_about_names = not plain or thing.kind == "constraint"
    spoken = counts if is_about_names else frozenset().union(*(text.near(one) for one in plain))
    enough = (_SAME_MEANING if len(stems) > 1 else 1.0) * len(stems)
    enough_for_two = enough + 0.15 * len(stems)
    best: tuple[float, int] | None = None
    right = text.with_values(values)
    for place in sorted(counts if right is None else counts.keys() & right):
        score: float = counts[place]
        if place not in spoken:
            continue
        beside = counts[place - 1] if place else 0
        if score < enough and beside and score + beside >= enough_for_two:
            # Two lines say it together only if both have a part in it.
            both = sum(place in places or place - 1 in places for places in said)
            score = both if both >= enough_for_two else score
        if score >= enough and (best is None or score > best[0]):
            best = score, text.lines[place].number
    return best[1] if best is not None else None
