"""The passages of a folder that answer a question best, by the words it has in common with them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions_app.agent.providers.demo.keywords import Keyword
from sessions_app.agent.providers.demo.passages import Passage, passages_of
from sessions_app.agent.providers.demo.phrases import Ask

_WEEK = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|daily|weekday"
_YEAR = "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
#: What the answer to a question word usually contains.
_EXPECTED: tuple[tuple[str, str], ...] = (
    (r"\bwhen\b|\bwhat time\b|\bdeadline\b|\bwhich (?:day|date|month|week|year)\b|\bhow long\b|\bhours\b", rf"\d{{4}}|\d{{1,2}}[:/]\d|\d ?(?:am|pm)\b|\b(?:{_WEEK}|{_YEAR})s?\b|\bweeks?\b|\bdays?\b|\bhours?\b|\bminutes?\b|o'clock"),
    (r"\bhow (?:much|many|long|big|old|often|far|high)\b|\bnumber\b|\bcosts?\b|\bprice\b", r"\d"),
    (r"\bphone\b|\bcall\b|\btel\b", r"\d[\d ()/-]{5,}"),
    (r"\be-?mail\b|\bcontact\b|\breach\b", r"\S@\S|\d[\d ()/-]{5,}"),
    (r"\bwho(?:se|m)?\b", r"\b[A-Z][a-z]+"),
    (r"\bopen(?:s|ing)?\b|\bclos\w+\b", rf"\d ?(?:am|pm)\b|\d[:.]\d\d|\b(?:{_WEEK})s?\b"),
    (r"\bwhy\b|\breason\b", r"\bbecause\b|\bsince\b|\breason\b|\btherefore\b|\bso that\b|\bdue to\b|\btoo \w+"),
    (r"\bwhere\b|\baddress\b", r"\b(?:street|road|lane|square|hall|room|floor|building|station|shed|in the|at the|on the)\b|/"),
    (r"\bhow (?:do|can|to|does|should)\b", r"`|\$ |\brun\b|\bopen\b|\bcopy\b|\bclick\b|\buse\b|\bfirst\b"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A passage and how much of the question it has."""

    passage: Passage
    score: float
    words: frozenset[str]


def ranked(
    ask: Ask,
    words: Sequence[Keyword],
    texts: Mapping[str, str],
    meant: Sequence[str],
    spread: Counter[str],
    files: int,
) -> list[Found]:
    """Passages of `texts` that have words of the question, best first.

    `meant` are files the question describes, `spread` in how many of the `files` files each word stands: a rare word
    says more. A word counts in the passage itself, less in its heading, its neighbours and the name of its file.
    """
    value = {w.word: w.weight * (1 + math.log((1 + files) / (1 + spread[w.word]))) for w in words}
    expected = [pattern for question, pattern in _EXPECTED if ask.has(question)]
    found: list[Found] = []
    for path, text in texts.items():
        pieces = passages_of(path, text)
        has = [frozenset(w.word for w in words if w.stands_in(p.text)) for p in pieces]
        named = frozenset(w.word for w in words if w.stands_in(path))
        for place, piece in enumerate(pieces):
            own = has[place]
            above = frozenset(w.word for w in words if w.word not in own and w.stands_in(piece.heading))
            if not own and not (above and piece.kind in {"item", "sentence", "line"}):
                continue
            near = frozenset[str]().union(*has[max(0, place - 1) : place], *has[place + 1 : place + 2])
            score = sum(value[w] for w in own) + 0.6 * sum(value[w] for w in above)
            score += 0.25 * sum(value[w] for w in near - own - above)
            score += 0.4 * sum(value[w] for w in named - own - above)
            if piece.kind == "heading":
                # What stands under a heading that has every word is about just that.
                score *= 1.3 if len(own) == len(words) else 0.9
            score *= 1.5 ** sum(re.search(pattern, piece.text, re.I) is not None for pattern in expected)
            if path in meant:
                score *= 1.8
            score /= 1 + len(piece.text) / 1200
            found.append(Found(piece, score, own | above))
    return sorted(found, key=lambda f: (-f.score, f.passage.path, f.passage.line))


def section(passage: Passage, text: str, most: int = 12) -> list[Passage]:
    """What stands under a heading, up to the next one."""
    under = [
        p for p in passages_of(passage.path, text) if p.line > passage.line and p.heading == passage.text
    ]
    return under[:most]
