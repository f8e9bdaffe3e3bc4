"""Questions no other job knows: the words that matter are searched for, and the lines that have most of them quoted."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.keywords import Keyword, keywords
from sessions_app.agent.providers.demo.moves import FileText, Hit, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import clip, code, count, ending, fence_language, link

_LIMIT = 400
_PROSE = {"md", "txt", "rst", "adoc", "org", "tex", ""}
#: What the answer to a question word usually contains; it decides between lines that are alike otherwise.
_EXPECTED: tuple[tuple[str, str], ...] = (
    (r"\bwhen\b|\bdeadline\b|\bdate\b|\bwann\b|\bquand\b|\bcuándo\b", r"\d{4}|\d{1,2}[.:/]|january|february|march|april|\bmay\b|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tomorrow|week"),
    (r"\bhow (?:much|many|long|big|old|often)\b|\bnumber\b|\bwieviele?\b", r"\d"),
    (r"\bwho\b|\bwhose\b|\bwer\b", r"\b[A-Z][a-z]+"),
    (r"\bwhy\b|\breason\b|\bwarum\b", r"because|since|reason|therefore|so that|due to|weil"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Place:
    """A line and how much of the question it has."""

    hit: Hit
    score: float
    words: frozenset[str]


def look_up(desk: Desk, ask: Ask, _match: re.Match[str] | None = None) -> Script:
    """Quotes the lines of the folder that mention most of what was asked. Raises CannotDo when there are none."""
    words = keywords(ask)
    named_files = [p.lower() for p in ask.paths]
    if len(words) > len(named_files):
        words = [
            w for w in words if w.word.lower() not in {p.rsplit("/", 1)[-1] for p in named_files}
        ] or words
    where = next((p for p in ask.paths if "." in p), ".") if len(words) > len(ask.paths) else "."
    if not words:
        raise CannotDo("")
    hits = yield from _hits(desk, words, where)
    if not hits and where != ".":
        hits = yield from _hits(desk, words, ".")
    named = [
        p
        for p in (yield from moves.every_path(desk, "Looking at the file names, too."))
        if not p.endswith("/")
    ]
    places = _ranked(ask, words, hits, named)
    asked_of = [
        p
        for p in places
        if any(p.hit.path.lower().rsplit("/", 1)[-1].startswith(n.rsplit("/", 1)[-1]) for n in named_files)
    ]
    places = asked_of or places
    asked = ", ".join(code(word.word) for word in words)
    if not places:
        files = [p for p in named if any(w.stands_in(p) for w in words)]
        if files:
            return f"No line mentions {asked}, but these names do: {', '.join(link(p) for p in files[:10])}."
        raise CannotDo(
            f"Not found: no file of this folder mentions {asked}. The demo model can only look up what stands in the folder's files; it knows nothing else."
        )
    most = 1 if ask.has(r"\b(?:one|a single) (?:sentence|line)\b") else 5
    best = places[0].score
    chosen = [place for place in places if place.score >= best * 0.55][:most]
    texts: dict[str, FileText | None] = {}
    for path in list(dict.fromkeys(place.hit.path for place in chosen))[:2]:
        line = min(place.hit.line for place in chosen if place.hit.path == path)
        first = max(1, line - 30)
        if "read" in desk.tools:
            texts[path] = yield from moves.read(
                desk, path, f"{code(path)} mentions the most of it. Reading it there.", offset=first if first > 1 else None, limit=80, check=False
            )  # fmt: skip
    parts: list[str] = []
    shown: set[tuple[str, int]] = set()
    for place in chosen:
        if (place.hit.path, place.hit.line) in shown:
            continue
        text = texts.get(place.hit.path)
        start = max(1, min(p.hit.line for p in chosen if p.hit.path == place.hit.path) - 30)
        passage, lines = _passage(place.hit, text.lines if text else [], start)
        shown |= {(place.hit.path, n) for n in lines}
        parts.append(passage)
    seen = frozenset(word for place in chosen for word in place.words)
    missing = [code(word.word) for word in words if word.word not in seen]
    lead = f"Looked up in the files by {asked}; the demo model finds words, it does not understand the question. "
    # As much as is true: finding one word of three is not finding "it".
    found = ", ".join(code(word.word) for word in words if word.word in seen)
    lead += f"This line mentions {found}:" if len(parts) == 1 else f"These lines mention {found}:"
    if ask.has(r"\bhow many\b|\bcount\b|\bnumber of\b"):
        lead += (
            " ("
            + ", ".join(
                f"{code(w.word)}: {count(sum(w.stands_in(h.text) for h in hits), 'line')}" for w in words
            )
            + ")"
        )
    tail = f"\n\nNot in {'it' if len(parts) == 1 else 'them'}: {', '.join(missing)}." if missing else ""
    return f"{lead}\n\n" + "\n\n".join(parts) + tail


def _hits(desk: Desk, words: list[Keyword], where: str) -> Move[list[Hit]]:
    """Quotations first; else every word, and the rarer ones only when that is too much."""
    quoted = [word for word in words if word.weight >= 4]
    if quoted:
        said = f"Searching for {', '.join(code(w.word) for w in quoted)} first."
        found = yield from moves.search(desk, "|".join(w.coarse() for w in quoted), said, path=where, ignore_case=True, limit=_LIMIT)  # fmt: skip
        if found:
            return found
    rest = [word for word in words if word.weight < 4]
    if not rest:
        return []
    said = f"Searching for {', '.join(code(w.word) for w in rest)}."
    found = yield from moves.search(desk, "|".join(w.coarse() for w in rest), said, path=where, ignore_case=True, limit=_LIMIT)  # fmt: skip
    if len(found) >= _LIMIT and len(rest) > 1:
        times = {word.word: sum(word.stands_in(hit.text) for hit in found) for word in rest}
        rare = sorted(rest, key=lambda word: times[word.word])[: max(1, len(rest) // 2)]
        said = f"That is too much. Searching for {', '.join(code(w.word) for w in rare)} only."
        found = yield from moves.search(desk, "|".join(w.coarse() for w in rare), said, path=where, ignore_case=True, limit=_LIMIT)  # fmt: skip
    return found


def _ranked(ask: Ask, words: list[Keyword], hits: list[Hit], names: list[str]) -> list[_Place]:
    """Lines by the distinct words in them, their neighbours and the file's name; rare words count for more."""
    in_line = {id(hit): frozenset(w.word for w in words if w.stands_in(hit.text)) for hit in hits}
    files: dict[str, set[str]] = defaultdict(set)
    for hit in hits:
        files[hit.path] |= in_line[id(hit)]
    spread = Counter(word for found in files.values() for word in found)
    value = {w.word: w.weight * (1 + math.log((1 + len(names)) / (1 + spread[w.word]))) for w in words}
    expected = [pattern for question, pattern in _EXPECTED if ask.has(question)]
    by_path: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_path[hit.path].append(hit)
    places = []
    for hit in hits:
        own = in_line[id(hit)]
        if not own:
            continue
        near = {
            word for other in by_path[hit.path] if 0 < abs(other.line - hit.line) <= 3 for word in in_line[id(other)]
        } - own  # fmt: skip
        score = sum(value[w] for w in own) + 0.45 * sum(value[w] for w in near)
        elsewhere = files[hit.path] - own - near
        score += 0.12 * sum(value[w] for w in elsewhere)
        score += 0.4 * sum(value[w.word] for w in words if w.word not in own and w.stands_in(hit.path))
        if any(re.search(pattern, hit.text, re.I if "january" in pattern else 0) for pattern in expected):
            score *= 1.25
        places.append(_Place(hit, score, own | near))
    return sorted(places, key=lambda place: (-place.score, place.hit.path, place.hit.line))


def _passage(hit: Hit, lines: list[str], first: int) -> tuple[str, set[int]]:
    """The line with what belongs to it: its list item or paragraph with the heading above, or code around it."""
    at = hit.line - first
    if not 0 <= at < len(lines):
        return f"{link(hit.path, hit.line)}\n\n> {clip(hit.text, 300)}", {hit.line}
    if ending(hit.path) in _PROSE:
        begin = end = at
        item = re.match(r"\s*(?:[-*+]|\d+[.)])\s", lines[at])
        if not lines[at].startswith("#"):
            while (
                not item
                and begin > 0
                and at - begin < 4
                and lines[begin - 1].strip()
                and not re.match(r"#|\s*[-*+]\s", lines[begin])
            ):
                begin -= 1
            while (
                end + 1 < len(lines)
                and end - at < 4
                and lines[end + 1].strip()
                and not re.match(r"#|\s*[-*+]\s|\s*\d+[.)]\s", lines[end + 1])
                and not (item and not lines[end + 1].startswith("  "))
            ):
                end += 1
        else:
            # A heading is no answer; what follows it is.
            while end + 1 < len(lines) and end - at < 6 and not lines[end + 1].startswith("#"):
                end += 1
        heading = next(
            (lines[n].lstrip("# ").strip() for n in range(begin - 1, -1, -1) if lines[n].startswith("#")), ""
        )
        body = "\n".join(
            f"> {line}".rstrip() for line in lines[begin : end + 1] if line.strip() or begin < end
        )
        under = f" under “{clip(heading, 60)}”" if heading and not lines[at].startswith("#") else ""
        return f"{link(hit.path, hit.line)}{under}\n\n{body}", set(range(first + begin, first + end + 1))
    begin, end = max(0, at - 2), min(len(lines), at + 4)
    if ending(hit.path) in {"csv", "tsv", "log", "ini", "cfg", "toml", "yml", "yaml", "json"}:
        begin, end = max(0, at - 1), min(len(lines), at + 2)
    body = "\n".join(
        f"{n:4}{'>' if n == hit.line else ' '} {line[:200]}"
        for n, line in enumerate(lines[begin:end], first + begin)
    )
    return f"{link(hit.path, hit.line)}\n\n```{fence_language(hit.path)}\n{body}\n```", set(
        range(first + begin, first + end)
    )


def last_results(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """ "Which of them failed and why?": the lines of the last tool results that tell it."""
    yield from ()
    span = next((span for span in reversed(desk.spans) if span.results()), None)
    if span is None:
        raise CannotDo("No tool has run in this conversation yet, so there is no result to answer from.")
    text = "\n".join(outcome.text for _, outcome in span.results())
    failing = list(
        dict.fromkeys(re.findall(r"^(?:FAILED|ERROR)[: ]+(.+)$|^(?:FAIL|ERROR): (.+)$", text, re.M))
    )
    names = [clip(next(g for g in groups if g), 160) for groups in failing]
    says = list(
        dict.fromkeys(
            m.strip() for m in re.findall(r"^(?:E\s+)?(\w*(?:Error|Exception|Failure)\b.*)$", text, re.M)
        )
    )
    if names or says:
        parts = [f"The results of “{clip(span.request, 60)}” say:"]
        if names:
            parts.append("\n".join(f"- failed: {code(name)}" for name in names[:12]))
        if says:
            parts.append(
                "Why, in the output's own words:\n\n" + "\n".join(f"- {code(clip(s, 200))}" for s in says[:8])
            )
        return "\n\n".join(parts)
    if any(outcome.is_error for _, outcome in span.results()):
        lines = [
            clip(line, 160)
            for _, o in span.results()
            if o.is_error
            for line in o.text.split("\n")
            if line.strip()
        ]
        return "The last step that failed said:\n\n" + "\n".join(f"- {code(line)}" for line in lines[-6:])
    return f"Nothing failed: no result of “{clip(span.request, 60)}” reports a failure or an error."


_ERRORS = {
    "ModuleNotFoundError": "Python finds no module of that name: it is misspelt, not installed, or the command was started from another folder.",
    "ImportError": "A module was found, but the name to be imported from it is not there.",
    "KeyError": "A dictionary was asked for a key that it does not have.",
    "IndexError": "A list was asked for a place beyond its end.",
    "TypeError": "A value has another type than the operation or function takes, or the number of arguments is wrong.",
    "ValueError": "A value has the right type but not a form that can be used, for example letters where digits are needed.",
    "AttributeError": "The object has no attribute or method of that name; often it is None or the name is misspelt.",
    "NameError": "A name is used that was never assigned, defined or imported.",
    "SyntaxError": "The text of the program is not valid; the mistake is on the line named or just before it.",
    "IndentationError": "The spaces at the beginning of a line do not fit the block.",
    "FileNotFoundError": "There is no file at that path, seen from the folder the command was started in.",
    "PermissionError": "The user may not read or write that file.",
    "ZeroDivisionError": "A number was divided by zero; often a list was empty.",
    "AssertionError": "A check (assert) found something else than was expected.",
    "RecursionError": "A function called itself without an end.",
    "UnicodeDecodeError": "The bytes of a file are not text in the encoding it was read with.",
    "command not found": "No program of that name is installed or on the search path.",
    "Permission denied": "The file may not be read, written or run; for a script, the right to execute may be missing.",
    "No such file or directory": "There is nothing at that path, seen from the current folder.",
}


def explain_error(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """What a usual error means in general, and the lines here that name it."""
    text = ask.plain(match.groupdict().get("error") or "")
    name = next((n for n in _ERRORS if n.lower() in text.lower()), "")
    general = f"In general, {code(name)}: {_ERRORS[name]}\n\n" if name else ""
    inner = Ask(
        "".join(f"‹q{n}› " for n in range(len(ask.quotes)))
        + re.sub(r"\b\w*(?:Error|Exception)\b:?|‹q\d+›", " ", text),
        tuple(ask.quotes),
    )
    try:
        found = yield from look_up(desk, inner)
    except CannotDo as error:
        if not general:
            raise
        return f"{general}{str(error).removeprefix('Not found: ').capitalize()}".strip()
    return general + found


RULES: list[Rule] = [
    rule(r"(?:(?:which|what)(?: one| ones)? (?:of (?:them|those|these|the tests) )?(?:failed|fails|is failing|are failing|broke|went wrong)\b.*|why (?:did|does|do) (?:it|that|they|this|those) (?:fail|break|not work|crash)\w*.*|what (?:was|is|were) the (?:error|errors|problem|failure|reason)\b(?: there| then| again)?|what went wrong.*|what failed.*|and why)$", last_results, lambda ask: not ask.paths),
    rule(r"(?:explain|what does|what is|what's|what means|help me (?:with|understand)|i (?:get|got|see|have)|why do i get|how (?:do|can) i (?:fix|solve))\b(?: me)?(?: with)?(?: this| the| an?| following)*(?: (?:error|exception|message|traceback))*(?: mean)?:? (?P<error>.*(?:\b\w+(?:Error|Exception)\b|command not found|permission denied|no such file).*)$", explain_error),
]  # fmt: skip
