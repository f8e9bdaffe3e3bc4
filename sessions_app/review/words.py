"""Words as they are compared: folded, without markup, by their stems."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import snowballstemmer

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_MARKUP = re.compile(r"[`*_]{1,3}(?=\S)|(?<=\S)[`*]{1,3}")
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "\u00a0": " ", "−": "-", "–": "-"})

# Words that carry no meaning of their own: those of grammar, and those that only say that something is wanted.
_STOP = frozenset(
    """a about after all also am an and any anything are as at be because been before being but by can cannot could did
    do does doing don done down each else even every ever everything few for from get gets getting give go goes going
    good had has have having he her here his how however i if in into is it its itself just keep keeps let like made
    make makes may me might mine more most much must my myself need needs never no nor not nothing now of off ok okay
    on once one only onto or other our out over own please put right same shall she should so some somebody something
    still such sure take than that the their them then there these they this those through till to too under until up
    upon us use used using very want wants was way we well were what when where whether which while who whom whose why
    will with without won would yes yet you your yourself always everybody first second next fine long thing
    things way otherwise else tell rather doesn isn aren t s ll re ve d m
    aber alle alles als am an auch auf aus bei bevor bin bis bitte da damit dann das dass dein dem den der des dich die
    dies diese doch du durch ein eine einem einen einer er es etwas für gut habe haben hat hier ich ihr im in immer ist
    ja jede jeder jedem jetzt kann kein keine können lass man mehr mich mir mit muss musst müssen nach nicht nichts nie
    niemals noch nur ob oder schon sehr sein sich sie sind so soll sollen über um und uns unter vom von vor war was weil
    wenn wer werden wie wieder wir wird zu zum zur dürfen darf jeden jedes""".split()  # noqa: SIM905
)
_GERMAN = frozenset("der die das und nicht ist ein eine mit auf für wenn du ich zu den im".split())  # noqa: SIM905
_ENGLISH = snowballstemmer.stemmer("english")
_DEUTSCH = snowballstemmer.stemmer("german")


def fold(text: str) -> str:
    """Lower case, plain quotes, no emphasis or code marks, one space between words."""
    return _SPACE.sub(" ", _MARKUP.sub("", text.translate(_QUOTES))).strip().casefold()


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.translate(_QUOTES).casefold())


def is_german(text: str) -> bool:
    words = words_of(text[:4000])
    return sum(word in _GERMAN for word in words) * 8 > len(words)


@lru_cache(maxsize=50_000)
def stem(word: str, german: bool = False) -> str:
    return str((_DEUTSCH if german else _ENGLISH).stemWord(word))


def content_stems(words: Iterable[str], *, german: bool = False) -> list[str]:
    """The stems of the words that mean something, in order, each once."""
    return list(dict.fromkeys(stem(word, german) for word in words if word not in _STOP and len(word) > 1))


def near(one: str, others: Iterable[str]) -> list[str]:
    """Those of the others that are the stem or a compound of it: `book` and `bookings`, `day` and `daytime`."""
    if one[0].isdigit() or len(one) < 3:
        return [other for other in others if other == one]
    return [
        other
        for other in others
        if other == one or (other[0] == one[0] and _begins(one, other)) or _ends(one, other)
    ]


def _begins(one: str, other: str) -> bool:
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    return len(short) >= 3 and long.startswith(short) and (len(short) >= 4 or len(long) - len(short) >= 3)


def _ends(one: str, other: str) -> bool:
    return (len(other) >= 5 and one.endswith(other)) or (len(one) >= 5 and other.endswith(one))


_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(]?\w)|\n+|\s*;\s+")
_CLAUSE = re.compile(
    r",\s+(?:and|but|so|und|aber|sondern|although|though)\s+|,\s+(?=(?:no|not|never|don't|please)\b)"
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence or line begins and ends in the text."""
    return _pieces(text, 0, len(text), _SENTENCE)


def clauses(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence cut where a new demand begins."""
    return _pieces(text, start, end, _CLAUSE)


def _pieces(text: str, start: int, end: int, border: re.Pattern[str]) -> list[tuple[int, int]]:
    found = []
    at = start
    for gap in border.finditer(text, start, end):
        found.append((at, gap.start()))
        at = gap.end()
    found.append((at, end))
    return [(low, high) for low, high in found if text[low:high].strip()]
