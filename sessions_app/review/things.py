"""The concrete things in a conversation: what a summary of it should not lose."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from sessions_app.review.sources import Source, Speaker
from sessions_app.review.words import clauses, fold, runs_with, sentences, words_of

Class = Literal[
    "constraint",
    "request",
    "decision",
    "todo",
    "error",
    "number",
    "path",
    "identifier",
    "command",
    "url",
]
CLASSES: Final[tuple[Class, ...]] = get_args(Class)
_LONGEST = 600
# A result this short was asked for because of what it says; a longer one is looked through.
_SHORT_RESULT = 300


@dataclass(frozen=True, slots=True)
class Thing:
    """Something concrete: its class, its words, and where it stands (the entry's seq, from and to in its text).

    `key` tells two of the same apart from two that differ; `speaker` is the weightiest who said it.
    """

    kind: Class
    text: str
    key: str
    seq: int
    start: int
    end: int
    speaker: Speaker
    context: str = ""


# --- patterns ---

URL = re.compile(r"\bhttps?://[^\s<>\"'`)\]}]+")
_KNOWN = (
    r"py|pyi|js|mjs|ts|tsx|jsx|css|scss|html?|md|rst|txt|toml|ya?ml|json|jsonl|ini|cfg|conf|env|lock|sql|sh|bash|zsh|c|h|cc|cpp"
    r"|hpp|rs|go|java|kt|rb|php|swift|cs|lua|pl|vue|svelte|xml|csv|tsv|svg|png|jpe?g|gif|webp|pdf|log|trace|service|tex|ipynb"
)
PATH = re.compile(
    r"(?<![\w/.@:-])(?:(?:~|\.{1,2})?/)?(?:[\w@+*-][\w@.+*-]*/)+(?:[\w@+*-][\w@.+*-]*)?"
    r"|(?<![\w/.@-])[A-Za-z_][\w-]*(?:\.[\w-]+)*\.(?:" + _KNOWN + r")\b(?![\w/(])"
)
_IS_PATH = re.compile(r"^[~./]|/$|/.*/|\.(?:" + _KNOWN + r")$|_.*/|/.*[\d_.]")
_DATE = re.compile(r"^\d{1,4}/\d{1,2}(?:/\d{1,4})?$|^\d+/\d+$")
_UNITS = (
    r"%|°\s?[CF]|°|ms|µs|s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|weeks?|months?|years?|[kKMGT]i?B|bytes?|bits?|px|pt|em|rem"
    r"|EUR|USD|CHF|GBP|€|k?Hz|MHz|GHz|kW|W|V|kg|g|km|m|cm|mm|tokens?|rows?|steps?|times|requests?|users?|percent"
)
_VALUE = r"[-+−]?\d+(?:[.,]\d+)*"
NUMBER = re.compile(
    r"(?<![\w.,:/#-])(?:[$€£]\s?"
    + _VALUE
    + r"|"
    + _VALUE
    + r"(?:\s(?:million|thousand|billion|k))?\s?(?:"
    + _UNITS
    + r")(?![\w°]))"
)
_COUNT = re.compile(
    r"(?<![\w.,:/#$-])(\d+(?:[.,]\d+)*)\s((?:million |thousand )?[^\W\d_]{4,})(?![\w(/-]|\.\w)"
)
_NO_COUNT = frozenset(
    "with that then than from when and oder were will have been this they passed failed failed. alte ohne noch".split()  # noqa: SIM905
)
_CLOCK = re.compile(r"(?<![\w.,:/-])\d{1,2}:\d{2}(?![\w:])")
IDENTIFIER = re.compile(
    r"(?<![\w./@-])(?:"
    r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+(?:\(\))?"  # dotted
    r"|[A-Za-z]\w*_\w+(?:\(\))?"  # snake
    r"|[a-z]+[A-Z]\w*(?:\(\))?|[A-Z][a-z0-9]+[A-Z]\w*(?:\(\))?"  # camel
    r"|[A-Za-z_]\w*\(\)"
    r"|[A-Z]{2,}-\d+\b"
    r")(?![\w/])"
)
_TICKED = re.compile(r"`([^`\n]{3,160})`")
_ABBREVIATION = re.compile(r"^(?:[a-z]\.)+[a-z]?$|^\w+\.(?:com|org|net|io|example|local)$", re.IGNORECASE)
_LOOKING = re.compile(
    r"^\s*(?:cd|ls|cat|pwd|head|tail|grep|rg|find|sed -n|wc|echo|which|git (?:status|diff|log|show))\b"
)
ERROR = re.compile(
    r"(?:Error|Exception|Warning)\b\s?[:\[(]|\berror(?:\[\w+\])?:|\bERROR\b|\bwarning:|\[error\]|\berror\s+(?=[A-Z])"
    r"|\bpanic:|\bfatal(?: error)?:|\bassertion failed|\bFAIL(?:ED)?:|No space left|[Pp]ermission denied|No such file"
    r"|\bcommand not found|[Ss]egmentation fault|\bHTTP [45]\d\d\b|\bcannot \w+ \w+|\bcould not \w+"
)
# One of these stands in whatever the pattern finds.
_ERROR_WORDS = (
    "rror", "ERROR", "xception", "arning", "panic:", "fatal", "assertion failed", "FAIL", "No space", "ermission denied",
    "No such file", "command not found", "egmentation fault", "HTTP ", "cannot ", "could not ",
)  # fmt: skip
_NO_ERROR = re.compile(r"^\W*0 (?:errors|warnings|failed)", re.IGNORECASE)
_BEFORE_ERROR = re.compile(
    r"^(?:[\d/:.,TZ\s\[\]-]{8,}|\*?\d+#\d+:|\*\d+|E\s{2,}|[A-Z][a-z]{2} \d\d [\d:]+ \S+ \S+:|-+|\[error\]|\s)+"
)
_DEMAND = re.compile(
    r"\b(?:always|never|must|mustn't|don't|do not|may not|can't use|cannot use|should(?:n't)?|only|without|at (?:most|least)"
    r"|no (?:later|more|less|longer|new|\w+ code|java\w*)|not (?:later|more|less|before|until)|ask me|make sure|has to|have to"
    r"|needs? (?:to|a|an)\b|keep|leave|avoid|prefer|instead of|one .{2,20} at a time|below|alone|forbidden|required"
    r"|niemals|nie|immer|muss|musst|müssen|nicht|kein\w*|nur|darf|dürfen|bevor)\b|^\W*no\s+[a-z]",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:(?:I|we)(?:'ve| have|'ll| will)? (?:decided?|chose|choose|settled|opted|agreed|go(?:ing)? (?:with|for)|keep)"
    r"|(?:I|we) (?:go|went) (?:with|for)|I'd rather|decision:|decided (?:on|to|against)|let's (?:use|go|keep)|we will (?:keep|use)"
    r"|entscheidung:|(?:ich|wir) (?:nehmen?|bleiben?) )",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\b(?:TODO|FIXME|still to do|to do:|remaining:|left to do|open point|not done yet|noch zu tun)\b:?|^\s*[-*]\s\[ \]",
    re.IGNORECASE,
)


_DECIDED_WORDS = (
    "decid", "chose", "choose", "settled", "opted", "agreed", "go with", "go for", "going ", "keep", "went ", "rather",
    "decision:", "let's", "we will", "entscheidung:", "nehme", "bleibe",
)  # fmt: skip
_DEMAND_WORDS = (
    "no", "always", "never", "must", "n't", "should", "only", "without", "at most", "at least", "ask me", "make sure",
    "has to", "have to", "need", "keep", "leave", "avoid", "prefer", "instead of", "at a time", "below", "alone",
    "forbidden", "required", "nie", "immer", "muss", "müssen", "nicht", "kein", "nur", "darf", "dürfen", "bevor",
)  # fmt: skip
_TO_DO_WORDS = (
    "todo", "fixme", "to do", "remaining:", "open point", "not done yet", "noch zu tun", "[ ]",
)  # fmt: skip


def _has_one(text: str, words: Sequence[str]) -> bool:
    """Much quicker than the pattern that only finds what has one of them."""
    return any(word in text for word in words)


# --- finding them ---


def things_in(sources: Sequence[Source]) -> list[Thing]:
    """Each concrete thing once, where it is said first, the weightiest speaker's; in path order.

    Identifiers and counted things come from what people and the model say; what only a tool says is mostly noise. Of
    a tool's result, errors count; paths, addresses and numbers with a known unit if it is short or they come up again.
    """
    found: dict[tuple[str, str], Thing] = {}
    last = max((place for place, source in enumerate(sources) if source.speaker == "user"), default=-1)
    spoken = Counter[str]()
    for place, source in enumerate(sources):
        for thing in _things(source, is_last=place == last):
            spoken[thing.key] += 1
            known = found.get((thing.kind, thing.key))
            if known is None or _RANK[thing.speaker] > _RANK[known.speaker]:
                found[(thing.kind, thing.key)] = thing
    short = {source.seq for source in sources if len(source.text) <= _SHORT_RESULT}
    things = [
        thing
        for thing in found.values()
        if thing.speaker != "tool" or thing.seq in short or _matters(thing, spoken)
    ]
    order = {source.seq: place for place, source in enumerate(sources)}
    return sorted(things, key=lambda thing: (order[thing.seq], thing.start))


_RANK: Final[dict[Speaker, int]] = {"user": 2, "assistant": 1, "tool": 0}


def _matters(thing: Thing, spoken: Counter[str]) -> bool:
    """Of what only tools said at length: all errors, and what came up more than once."""
    return thing.kind == "error" or spoken[thing.key] > 1


def _things(source: Source, *, is_last: bool) -> Iterator[Thing]:
    text = source.text
    masked = text
    for found in URL.finditer(text) if "://" in text else ():
        address = found.group().rstrip(".,;:!?")
        yield _thing("url", source, found.start(), found.start() + len(address), address.rstrip("/"))
        masked = masked[: found.start()] + " " * len(found.group()) + masked[found.end() :]
    yield from _paths(source, masked)
    yield from _numbers(source, masked)
    if source.speaker != "tool":
        yield from _identifiers(source, masked)
        yield from _sayings(source, is_last=is_last)
    yield from _commands(source)
    yield from _errors(source)


def _thing(kind: Class, source: Source, start: int, end: int, key: str, context: str = "") -> Thing:
    return Thing(
        kind,
        source.text[start:end][:_LONGEST],
        key.casefold(),
        source.seq,
        start,
        end,
        source.speaker,
        context,
    )


def _paths(source: Source, masked: str) -> Iterator[Thing]:
    for found in paths_of(masked):
        text = found.group().rstrip(".,*")
        if not is_path(text):
            continue
        start = found.start()
        yield _thing("path", source, start, start + len(text), text.removeprefix("./"))


_PATH_SIGNS = re.compile(r"[./]")
_NAME_SIGNS = re.compile(r"[._(:A-Z]")


def paths_of(text: str) -> Iterator[re.Match[str]]:
    for low, high in runs_with(_PATH_SIGNS, text):
        yield from PATH.finditer(text, low, high)


def is_path(text: str) -> bool:
    return len(text) > 3 and not _DATE.match(text) and _IS_PATH.search(text) is not None


def _numbers(source: Source, masked: str) -> Iterator[Thing]:
    own = source.own
    starts = [sign.start() for sign in _NUMBER_STARTS.finditer(masked)]
    for found in _beginning_at(starts, NUMBER, masked, len(masked)):
        value = found.group().strip()
        if re.fullmatch(r"[-+]?0+(?:[.,]0+)?\s?\D*", value):
            continue
        yield _thing(
            "number", source, found.start(), found.end(), number_key(value), _around(masked, found.start())
        )
    if source.speaker == "tool":
        return
    for pattern in (_COUNT, _CLOCK):
        for found in _beginning_at(starts, pattern, masked, own):
            if pattern is _COUNT and found.group(2).casefold() in _NO_COUNT:
                continue
            if NUMBER.match(masked, found.start()):
                continue
            yield _thing(
                "number",
                source,
                found.start(),
                found.end(),
                number_key(found.group()),
                _around(masked, found.start()),
            )


_NUMBER_STARTS = re.compile(r"[$€£+−\d-]")


def _beginning_at(
    starts: Sequence[int], pattern: re.Pattern[str], text: str, end: int
) -> Iterator[re.Match[str]]:
    """What `finditer` of the pattern gives, tried only at these places."""
    done = 0
    for start in starts:
        if done <= start < end and (found := pattern.match(text, start, end)) is not None:
            done = found.end()
            yield found


_UNIT_NAMES: Final[dict[str, str]] = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "min", "mins": "min", "minute": "min",
    "minutes": "min", "hour": "h", "hours": "h", "percent": "%", "€": "eur", "byte": "bytes",
    "stunde": "h", "stunden": "h", "sekunden": "s", "minuten": "min",
}  # fmt: skip


def number_key(text: str) -> str:
    """`1,204 seconds` and `1204 s` are the same number."""
    folded = text.casefold().replace("−", "-")
    value = re.search(r"\d+(?:[.,]\d+)*", folded)
    if value is None:
        return folded
    unit = (folded[: value.start()] + folded[value.end() :]).strip(" +-")
    return f"{plain_number(value.group())} {_UNIT_NAMES.get(unit, unit.replace(' ', ''))}".strip()


def plain_number(text: str) -> str:
    """Without marks between thousands."""
    return (
        re.sub(r"[,.](?=\d{3}(?:\D|$))(?!\d{3}\d)", "", text)
        if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text)
        else text
    )


def _around(text: str, at: int) -> str:
    """The words beside a number, which say what it counts."""
    low = max(text.rfind("\n", 0, at), text.rfind(". ", 0, at), at - 90, 0)
    ends = [end for end in (text.find("\n", at), text.find(". ", at)) if end >= 0]
    return text[low : min([*ends, at + 90])]


def _identifiers(source: Source, masked: str) -> Iterator[Thing]:
    for low, high in runs_with(_NAME_SIGNS, masked, source.own):
        for found in IDENTIFIER.finditer(masked, low, high):
            name = found.group()
            if is_identifier(name):
                yield _thing("identifier", source, found.start(), found.end(), name.removesuffix("()"))


def is_identifier(name: str) -> bool:
    return len(name) > 3 and not is_path(name) and not _ABBREVIATION.match(name)


def _commands(source: Source) -> Iterator[Thing]:
    for command in source.commands:
        if not _LOOKING.match(command) and len(command) <= _LONGEST:
            at = source.text.find(command)
            yield _thing("command", source, max(at, 0), max(at, 0) + len(command), " ".join(command.split()))
    if source.speaker == "tool":
        return
    for found in _TICKED.finditer(source.text, 0, source.own):
        text = found.group(1)
        if re.match(r"^[a-z][\w./-]* +[\w./-]", text) and not _LOOKING.match(text):
            yield _thing("command", source, found.start(1), found.end(1), " ".join(text.split()))


def _errors(source: Source) -> Iterator[Thing]:
    if source.speaker == "assistant" or not _has_one(source.text, _ERROR_WORDS):
        return
    at = 0
    for line in source.text.split("\n"):
        if len(line) < 2000 and _tells_error(line) and not _NO_ERROR.match(line):
            before = _BEFORE_ERROR.match(line)
            skipped = before.end() if before else 0
            body = line[skipped:].rstrip()[:300]
            if len(body) > 8:
                start = at + skipped
                yield _thing("error", source, start, start + len(body), re.sub(r"\d+", "0", fold(body)))
        at += len(line) + 1


def _tells_error(line: str) -> bool:
    """Whether `ERROR` is found in the line, tried only where it can begin: up to two signs before one of its words."""
    for word in _ERROR_WORDS:
        at = line.find(word)
        while at >= 0:
            if any(ERROR.match(line, start) for start in range(max(0, at - 2), at + 1)):
                return True
            at = line.find(word, at + 1)
    return False


def _sayings(source: Source, *, is_last: bool) -> Iterator[Thing]:
    """Demands and the last request of a person, decisions and open ends of anybody."""
    by_user = source.speaker == "user"
    folded = source.text[: source.own].casefold()
    may_decide, may_do = _has_one(folded, _DECIDED_WORDS), _has_one(folded, _TO_DO_WORDS)
    for start, end in sentences(source.text[: source.own]):
        sentence = source.text[start:end]
        if len(sentence) > 1200:
            continue
        demands = False
        if by_user:
            demands = yield from _demands(source, start, end)
            if is_last and not demands and len(words_of(sentence)) >= 3:
                yield _said("request", source, start, end)
        elif may_decide and _has_one(sentence.casefold(), _DECIDED_WORDS) and _DECIDED.search(sentence):
            yield _said("decision", source, start, end)
        if may_do and (to_do := _TO_DO.search(sentence)) is not None and end - start - to_do.end() > 5:
            yield _said("todo", source, start + to_do.end(), end)


def _demands(source: Source, start: int, end: int) -> Generator[Thing, None, bool]:
    """Yields the demands of a sentence; returns whether there is nothing else in it."""
    pieces = clauses(source.text, start, end)
    demanding = [
        (low, high)
        for low, high in pieces
        if _has_one(source.text[low:high].casefold(), _DEMAND_WORDS)
        and _DEMAND.search(source.text, low, high)
        and not source.text[low:high].rstrip().endswith("?")
    ]
    for low, high in demanding:
        yield _said("constraint", source, low, high)
    return len(demanding) == len(pieces)


def _said(kind: Class, source: Source, start: int, end: int) -> Thing:
    text = source.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip().rstrip(".!;")
    return _thing(kind, source, start, start + len(text), fold(text))
