"""Words as they are compared: folded, without markup, by their stems."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

import snowballstemmer

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_MARKS = re.compile(r"[`*_]+")
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
    return " ".join(_MARKS.sub(_unmarked, _plain_quotes(text)).split()).casefold()


def _unmarked(found: re.Match[str]) -> str:
    """Nothing, but for a mark that stands alone, and an underscore at the end of a word."""
    text, low, high = found.string, found.start(), found.end()
    if high < len(text) and not text[high].isspace():
        return ""
    last = text[high - 1]
    stands_alone = high - low == 1 and (low == 0 or text[low - 1].isspace())
    return last if stands_alone or last == "_" else ""


def _plain_quotes(text: str) -> str:
    return text if text.isascii() else text.translate(_QUOTES)


def words_of(text: str) -> list[str]:
    return _WORD.findall(_plain_quotes(text).casefold())


def vocabulary(text: str) -> set[str]:
    """The different ones of `words_of`."""
    folded = _plain_quotes(text).casefold()
    if folded.isascii():
        return {*folded.translate(_LETTERS).split(), *_NUMBER.findall(folded)}
    return set(_WORD.findall(folded))


_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}


def runs_with(signs: re.Pattern[str], text: str, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where the stretches without a space begin and end that hold one of the signs. What is looked for by a costly
    pattern is looked for there alone.
    """
    end = len(text) if end is None else end
    done = 0
    for found in signs.finditer(text, 0, end):
        if found.start() < done:
            continue
        low = found.start()
        while low > done and not text[low - 1].isspace():
            low -= 1
        gap = _GAP.search(text, found.start(), end)
        done = gap.start() if gap is not None else end
        yield low, done


_GAP = re.compile(r"\s")


def is_german(text: str) -> bool:
    words = words_of(text[:4000])
    return sum(word in _GERMAN for word in words) * 8 > len(words)


@lru_cache(maxsize=50_000)
def stem(word: str, german: bool = False) -> str:
    return str((_DEUTSCH if german else _ENGLISH).stemWord(word))


def content_stems(words: Iterable[str], *, german: bool = False) -> list[str]:
    """The stems of the words that mean something, in order, each once."""
    return list(dict.fromkeys(stem(word, german) for word in words if word not in _STOP and len(word) > 1))


def near(one: str, others: Collection[str]) -> list[str]:
    """Those of the others that are the stem or a compound of it: `book` and `bookings`, `day` and `daytime`."""
    if one[0].isdigit() or len(one) < 3:
        return [one] if one in others else []
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
    return _pieces(text, 0, len(text), _sentence_gaps(text))


def clauses(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence cut where a new demand begins."""
    return _pieces(text, start, end, (gap.span() for gap in _CLAUSE.finditer(text, start, end)))


_BORDERS = re.compile(r"[.!?;\n]")


def _sentence_gaps(text: str) -> Iterator[tuple[int, int]]:
    """What `_SENTENCE` finds, looked for only beside the signs it can stand at."""
    done = 0
    for sign in _BORDERS.finditer(text):
        low = high = sign.start()
        if text[low] in ".!?":
            low = high = low + 1
        else:
            while low > done and text[low - 1].isspace():
                low -= 1
        for start in range(max(low, done), high + 1):
            gap = _SENTENCE.match(text, start)
            if gap is not None:
                done = gap.end()
                yield gap.span()
                break


def _pieces(text: str, start: int, end: int, gaps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found = []
    at = start
    for low, high in gaps:
        found.append((at, low))
        at = high
    found.append((at, end))
    return [(low, high) for low, high in found if text[low:high].strip()]
