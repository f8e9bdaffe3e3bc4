"""A person's text becomes asks: wrappers of politeness gone, names and quotations set apart, one ask for each step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.agent.providers.demo.words import VERBS, looks_like_path

P = r"‹p\d+›"  # a path
Q = r"‹q\d+›"  # something quoted
C = r"‹c\d+›"  # a block of code
NAME = rf"(?:{P}|{Q}|[\w.~/*?@+-]+)"
FILE = rf"(?:(?:the |a |my |this |our )?(?:\w+ )?file (?:called |named )?)?(?:the |my |our )?(?:{P}|{Q})"

_FENCE = re.compile(r"```[\w+-]*\n(.*?)\n?```", re.S)
_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“”\n]+)[“”]|«\s*([^»\n]+?)\s*»|`([^`\n]+)`|(?<![\w])'([^'\n]+)'(?!\w)|‘([^’\n]+)’"
)
#: Unquoted words for a file reach to the end of the text or to the next step.
_CONTENT = re.compile(
    r"(\b(?:containing|that contains|which contains|that says|which says|saying|reading|with (?:the |this |some )?(?:following )?(?:contents?|text|body|words?|lines?))"
    r"(?: the)?(?: following)?(?: contents?| text| words?| lines?)?:?\s+)"
    r"(?![\"'“„«`‹])(?!(?:an?|some|all|every|each|random|sample|two|three|four|five|ten|several|\d+|my|your|its) )((?:.|\n)+?)(?=\s*$|\.?,?\s+(?:and\s+)?then\s|;\s|,?\s+and (?:run|show|read|execute|display|print|commit|open) (?:it|that|this|the file)\b"
    r"|\s+(?:to|in|into|at the|from) (?:the )?(?:file\b|end\b|top\b|[\w/.-]+\.\w{1,5}\b))",
    re.I,
)
_FIND_REPLACE = re.compile(
    r"\b(?:find|look for|search for) (.{1,80}?),? and (?:replace|change|substitute) (?:it|them|that|those|each|all)(?= (?:with|by|to|for)\b)",
    re.I,
)
_ENTRY = re.compile(r"\s+(?:entry|entries|line|item|note)\b|\s*$", re.I)
_ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5, "sixth": 6,
    "6th": 6, "seventh": 7, "7th": 7, "eighth": 8, "8th": 8, "ninth": 9, "9th": 9, "tenth": 10, "10th": 10, "last": 0,
}  # fmt: skip
_ORDINAL = re.compile(
    rf"\b(?:the )?({'|'.join(_ORDINALS)}) (?:one|file|entry|item|result|match|hit|of (?:them|those|these))\b(?: (?:of|in|from|on) (?:the|that|this|your) list)?"
    r"(?! (?:changed|modified|created|edited|touched|that|i|we|you|by|with|of|was|in)\b)",
    re.I,
)
_NUMBERED = re.compile(
    r"\b(?:the )?(?:file |entry |item |result )?(?:number |no\. ?|#)(\d{1,2})\b(?! ?(?:lines?|commits?))",
    re.I,
)
_MARK = re.compile(r"‹([pqc])(\d+)›")
_TOKEN = re.compile(r"(?<![^\s(\[=])[^\s‹›()\[\]]+")

_OPENINGS = [
    (
        r"(?:hi|hello|hey|hallo|ok|okay|so|well|now|please|pls|plz|kindly|thanks|thank you|thx|ty|cheers|great|nice|cool|good|perfect|right|alright|yes|sure"
        r"|also|and|then|next|first|firstly|second|secondly|finally|lastly|just|quickly|maybe|demo|agent|afterwards|after that|again|additionally|plus|once more)\b(?:\s+there\b)?[,!.:\s]+(?=\S)"
    ),
    r"(?:can|could|would|will|may|might) (?:you|u|we|i)(?: please| kindly| maybe| quickly| just| also| possibly)*,? ",
    r"(?:please |kindly )",
    r"(?:i|we)(?: would|'d| just| also| really)* (?:like|love|want|need|have)(?: you| for you)? to ",
    r"(?:know|find out|tell me|show me|tell us|check|see|let me know|i wonder|i'm wondering|any idea) (?=(?:how (?:many|much|big|large|long|often)|what|where|which|who|when)\b(?! you can))",
    r"(?:in|inside|for|within) (?:this|the|my|our|the current) (?:folder|project|repo|repository|directory|codebase|workspace),? (?=\w)",
    r"(?:let's|lets|let us) (?!see)",
    r"(?:is it possible to|are you able to|do you think you (?:can|could)|would you be able to|would it be possible to|do you know how to)\s+",
    r"(?:help me(?: to| with)?|go ahead and|try to|make sure to|your task is to|you should|you need to|you must|time to|use (?:a tool|bash|the shell|your tools|\w+) to)\s+",
]
_OPENING = re.compile("(?:" + "|".join(_OPENINGS) + ")", re.I)
_CLOSING = re.compile(
    r"(?:[\s,]+(?:(?:for|to) (?:an? |my )?(?:complete |absolute |total )?(?:beginners?|child|kids?|layman|newbies?|novice|non-?programmer|dummies|grandma|grandmother|five.year.old)|in (?:simple|plain|easy|other|your own) (?:words|terms|english|language)|in short|briefly|shortly|like i'?m (?:5|five)|step by step"
    r"|please|pls|plz|thanks|thank you|thx|for me|to me|if you can|if possible|right now|asap|now|again|afterwards|at the end|as well|too|okay|ok|bitte|s'il te plaît|por favor)|\s*[?!.…]+|\s*[,;:]+)\s*$",
    re.I,
)
_STYLE = re.compile(
    r"[,:(]*\s*\b(?:(?:in|using|with|as|give me)?\s*(?:just |only |exactly |at most )?(?P<number>one|a single|1|two|2|three|3|four|4|five|5|a few)(?: short| brief| simple)? (?P<unit>sent[ae]n[cs]es?|lines?|bullets?(?: points?)?)(?: only| max(?:imum)?)?|(?:as |in )(?:short |brief )?(?:bullet points|bullets))\s*[:,)]?\s*",
    re.I,
)
_NUMBERS = {"one": 1, "a single": 1, "two": 2, "three": 3, "a few": 3, "four": 4, "five": 5}
_GERUND = re.compile(r"would you mind (\w+?)(?:ing)\b", re.I)
# A stop behind an initial ("E. Webb") or an abbreviation ends no sentence.
_CUT = re.compile(
    rf"\s*(?:[;?!]|(?<!\b[A-Z](?=\. (?!(?i:then|and|please|now|{'|'.join(VERBS)})\b)[A-Z][a-z]))(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bNo)\.)\s+(?=\S)|\s*;\s*|,?\s+(?:and\s+)?(?:then|afterwards|after that|after which|finally)[, ]\s*|,\s*next[, ]\s*"
    r"|\s*\n+\s*(?:[-*•]\s+|\d+[.)]\s+)?"
)
_AND = re.compile(
    rf",?\s+(?:and|&|&&|und|et|y)\s+(?:also\s+|please\s+|just\s+)?(?=(?:{'|'.join(VERBS)})\b)|,\s+(?=(?:{'|'.join(VERBS)})\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Ask:
    """One step of a request. `text` is masked: paths, quotations and code stand as ‹p0›, ‹q1›, ‹c2› for `values`.

    A path `@2` is the second one of the list in the last answer, `@0` its last.
    """

    text: str
    values: tuple[str, ...]

    def plain(self, part: str | None = None) -> str:
        """`part` of the text (default: all of it) with the masked values put back."""
        source = self.text if part is None else part
        return _MARK.sub(lambda m: self.values[int(m.group(2))], source)

    def quoted(self) -> str:
        """The text as it may be said again: what was quoted stands in quotes."""
        return _MARK.sub(
            lambda m: f"“{self.values[int(m[2])]}”" if m[1] == "q" else self.values[int(m[2])], self.text
        )

    def of_kind(self, kind: str) -> list[str]:
        """The values of one kind (`p`, `q` or `c`) in order."""
        return [self.values[int(number)] for found, number in _MARK.findall(self.text) if found == kind]

    @property
    def paths(self) -> list[str]:
        return self.of_kind("p")

    @property
    def quotes(self) -> list[str]:
        return self.of_kind("q")

    @property
    def blocks(self) -> list[str]:
        return self.of_kind("c")

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.text, re.I) is not None

    def with_text(self, text: str) -> Ask:
        return Ask(text, self.values)


def mask(text: str) -> Ask:
    """Set code blocks, quotations and paths apart."""
    values: list[str] = []

    def put(kind: str, value: str) -> str:
        values.append(value)
        return f"‹{kind}{len(values) - 1}›"

    def quoted(match: re.Match[str]) -> str:
        value = next(group for group in match.groups() if group is not None)
        return put(
            "p"
            if looks_like_path(value) and re.search(r"[./]", value) and not value.startswith("@")
            else "q",
            value,
        )

    def token(match: re.Match[str]) -> str:
        word = match.group()
        core = word.rstrip(".,:;!?")
        tail = word[len(core) :]
        possessive = re.search(r"['’]s$", core)
        if possessive:
            core, tail = core[: possessive.start()], possessive.group() + tail
        if not looks_like_path(core) or (core.lower() == "changelog" and _ENTRY.match(text, match.end())):
            return word
        return put("p", core.removeprefix("@")) + tail

    text = re.sub(
        r"\bwat\b", "what", re.sub(r"\b(can|could|would|do) u\b", r"\1 you", text, flags=re.I), flags=re.I
    )
    text = re.sub(r"^\W*was ist das(?: hier)?\W*$", "what is this?", text, flags=re.I)
    text = _FIND_REPLACE.sub(r"replace \1", text)
    text = text.replace("‹", "<").replace("›", ">").replace("’", "'").lstrip("¿¡ ")
    text = _FENCE.sub(lambda m: put("c", m.group(1)), text)
    text = _QUOTED.sub(quoted, text)
    text = _CONTENT.sub(lambda m: m.group(1) + put("q", m.group(2).strip()), text)
    text = _ORDINAL.sub(lambda m: put("p", f"@{_ORDINALS[m.group(1).lower()]}"), text)
    text = _NUMBERED.sub(lambda m: put("p", f"@{m.group(1)}"), text)
    text = _TOKEN.sub(token, text)
    return Ask(re.sub(r"[ \t]+", " ", text).strip(), tuple(values))


def polite(text: str) -> str:
    """Without greetings, "could you please" and the like around the matter."""
    text = _GERUND.sub(lambda m: _infinitive(m.group(1)), text)
    while True:
        shorter = _CLOSING.sub("", text)
        opening = _OPENING.match(shorter)
        if opening and shorter[opening.end() :].strip():
            shorter = shorter[opening.end() :]
        shorter = shorter.strip()
        if shorter == text or not shorter:
            return text
        text = shorter


def styled(text: str) -> tuple[str, tuple[str, int] | None]:
    """A wish for "one sentence" or "three bullet points" taken out of a request that asks for an account of something."""
    if not re.search(
        r"\b(?:summar\w+|bullet\w*|explain|describe|tell|résume|resume|fasse|erkläre?|explique|explica|what|overview|sum up|gist|why|who|how)\b",
        text,
        re.I,
    ) or re.search(
        r"\b(?:create|write|make|add|append|put|insert|first|last|file|delete|remove|count|how many)\b",
        text,
        re.I,
    ):
        return text, None
    found = _STYLE.search(text)
    if found is None or not re.search(
        r"\b(?:in|with|as|using|give me|just|only|sent[ae]n[cs]e)\b", found.group(), re.I
    ):
        return text, None
    word = (found.group("number") or "five").lower()
    number = int(word) if word.isdigit() else _NUMBERS[word]
    unit = "bullets" if "bullet" in found.group().lower() else "sentences"
    rest = re.sub(r"\s+", " ", f"{text[: found.start()]} {text[found.end() :]}").strip()
    return (rest, (unit, number)) if re.search(r"\w{3}", rest) else (text, None)


def cuts(ask: Ask) -> list[Ask]:
    """Where a text plainly consists of several steps: lines of a list, "; …", "then …", sentences."""
    parts = [
        part.strip()
        for part in _CUT.split(re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", ask.text))
        if part and part.strip()
    ]
    return [ask.with_text(part) for part in parts] or [ask]


def and_cuts(ask: Ask) -> Sequence[tuple[Ask, Ask]]:
    """Every place where "and" stands before a verb: (left, right), first place first."""
    return [
        (ask.with_text(ask.text[: m.start()]), ask.with_text(ask.text[m.end() :]))
        for m in _AND.finditer(ask.text)
        if m.start() > 0
        and not re.fullmatch(r"(?:when|where|who|what|why|how|which)", ask.text[: m.start()].strip(), re.I)
        and not re.fullmatch(
            r"(?:when|where|who|why|how)(?: (?:often|much|many|long|exactly|so))?[?.! ]*",
            ask.text[m.end() :].strip(),
            re.I,
        )
    ]


def _infinitive(stem: str) -> str:
    doubled = re.fullmatch(r"(.+?)([nmtpgd])\2", stem)
    if doubled:
        return doubled.group(1) + doubled.group(2)
    return next((verb for verb in VERBS if verb in {stem, stem + "e"}), stem)
