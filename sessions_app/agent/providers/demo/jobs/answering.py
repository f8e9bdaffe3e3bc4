"""Questions no other job knows: the words that matter are searched for, and the lines that have most of them quoted."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.keywords import Keyword, keywords
from sessions_app.agent.providers.demo.moves import Hit, Move
from sessions_app.agent.providers.demo.outlines import EMPTY
from sessions_app.agent.providers.demo.passages import DATA, PROSE, Passage, passages_of
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.places import Phrase, phrases
from sessions_app.agent.providers.demo.retrieving import Found, ranked, section
from sessions_app.agent.providers.demo.script import Call, CannotDo, Script
from sessions_app.agent.providers.demo.writing import (
    clip,
    code,
    count,
    ending,
    fence_language,
    link,
    table,
)

_LIMIT = 400
_MOST_READ = 4
_MOST_QUOTED = 4
#: "The js files" are no place to look in, "both minutes" are.
_MOST_MEANT = 3
_MENTIONS = r"\b(?:any(?:one|body) (?:say|said|talk|complain|write|ask)\w*|mention\w*|every place|everywhere|all (?:the )?(?:places|mentions|lines)|anything about)\b|^(?:find|search)\b"


#: A wish that asks or looks; any other is not answered by what a file happens to say.
_ASKS = re.compile(
    r"(?:what|which|who|whose|whom|where|when|why|how|is|are|was|were|do|does|did|has|have|can|could|should|will|would|tell|show|read|explain|describe|find|give|list|look|any)\b|.*\?$",
    re.I | re.S,
)


def look_up(desk: Desk, ask: Ask, _match: re.Match[str] | None = None) -> Script:
    """Quotes the passages of the folder that have most of what was asked, the best one first.

    The files are those the question names or describes and those that a search for its words brings up. Raises
    CannotDo, saying what was searched for, when there are none.
    """
    desk.looked = True
    every = yield from moves.every_path(desk, "Looking which files there are.")
    files = [p for p in every if not p.endswith("/")]
    described = [
        p
        for p in phrases(ask.text, every)
        if (len(p.paths) == 1 or (p.many and len(p.paths) <= _MOST_MEANT)) and not p.superlative
    ]
    meant = [f for p in described for f in p.paths]
    meant = [f for m in meant for f in (files if m.endswith("/") else [m]) if f.startswith(m)][:_MOST_READ]
    for name in ask.paths:
        meant += [
            p
            for p in files
            if (p.startswith(name) if name.endswith("/") else p == name or p.endswith(f"/{name}"))
        ]
    words = _words(ask, described)
    if not words:
        raise CannotDo("")
    hits = yield from hits_of(desk, words)
    spread = Counter(
        w.word
        for p in {h.path for h in hits}
        for w in words
        if any(w.stands_in(h.text) for h in hits if h.path == p)
    )
    chosen = _files(words, hits, meant, spread, len(files))
    asked = ", ".join(code(word.word) for word in words)
    if not chosen:
        named = [p for p in files if any(w.stands_in(p) for w in words)]
        if named:
            return f"No line mentions {asked}, but these names do: {', '.join(link(p) for p in named[:10])}."
        raise CannotDo(
            f"Not found: {asked} {'stands' if len(words) == 1 else 'stand'} in none of the {count(len(files), 'file')} here. All of them were searched."
        )
    texts = yield from _texts(desk, chosen, hits)
    found = ranked(ask, words, texts, meant, spread, len(files))
    logs = [p for p in meant if ending(p) == "log"]
    counted = ask.has(r"\b(?:how many|how often|count|number of)\b") and ask.has(
        r"\b(?:times|often|lines?|logs?|mention\w*)\b"
    )
    if ask.has(_MENTIONS) or logs or counted:
        return _mentions(ask, words, [h for h in hits if not logs or h.path in logs])
    if not found and not _ASKS.match(ask.text):
        raise CannotDo("")
    own = [m for m in meant if ending(m) in PROSE]
    if len(own) == 1 == len(meant) and found[:1] and all(f.passage.path != own[0] for f in found):
        # The file was named; what others say with one of the words is not what was asked.
        best = found[0]
        if len(best.words) < len(words) or len(words) == 1:
            found = []
    if not found:
        return _in_short(meant, texts, asked) if meant else _mentions(ask, words, hits)
    return _quoted(ask, words, found, texts)


def _words(ask: Ask, described: list[Phrase]) -> list[Keyword]:
    """The words to search for, without those that only say which file is meant."""
    text = ask.text
    for phrase in reversed(described):
        text = text[: phrase.start] + " " + text[phrase.end :]
    rest = keywords(Ask(text, ask.values))
    names = {p.rstrip("/").rsplit("/", 1)[-1].lower() for p in ask.paths}
    rest = [w for w in rest if w.word.lower() not in names]
    return rest or keywords(ask)


def _files(
    words: list[Keyword], hits: list[Hit], meant: list[str], spread: Counter[str], files: int
) -> list[str]:
    """The files to read: those that are meant, then those with the most and the rarest of the words."""
    value = {w.word: w.weight * (1 + math.log((1 + files) / (1 + spread[w.word]))) for w in words}
    has: dict[str, set[str]] = defaultdict(set)
    for hit in hits:
        has[hit.path] |= {w.word for w in words if w.stands_in(hit.text)}
    score = {
        path: sum(value[w] for w in found) + 0.4 * sum(value[w.word] for w in words if w.stands_in(path))
        for path, found in has.items()
        if found
    }
    best = sorted(score, key=lambda p: (-score[p], ending(p) not in PROSE, p.count("/"), p))
    return list(dict.fromkeys([*meant, *best]))[:_MOST_READ]


def _texts(desk: Desk, chosen: list[str], hits: list[Hit]) -> Move[dict[str, str]]:
    """The files whole as far as one read shows them; without that tool the lines that were found."""
    if "read" not in desk.tools:
        return {p: "\n".join(h.text for h in hits if h.path == p) for p in chosen}
    said = f"Reading {', '.join(code(p) for p in chosen)}, where most of it stands."
    outcomes = yield from moves.calls([Call("read", {"path": p}) for p in chosen], said)
    return {
        p: moves.file_text(p, outcome).text
        for p, outcome in zip(chosen, outcomes, strict=True)
        if not outcome.is_error
    }


def _quoted(ask: Ask, words: list[Keyword], found: list[Found], texts: dict[str, str]) -> str:
    """The best passage, then others that are nearly as good; of a heading what stands under it."""
    best = found[0]
    most = 1 if ask.has(r"\b(?:one|a single) (?:sentence|line)\b") else _MOST_QUOTED
    parts: list[str] = []
    shown: set[tuple[str, int]] = set()
    for one in found:
        if len(parts) == most or one.score < best.score * 0.6:
            break
        place = one.passage
        if (place.path, place.line) in shown:
            continue
        lines, covered = _shown(place, texts[place.path])
        if not lines:
            continue
        shown |= {(place.path, n) for n in covered}
        under = (
            f" under “{clip(place.heading, 60)}”"
            if place.heading and place.kind in {"item", "sentence"}
            else ""
        )
        parts.append(f"{link(place.path, place.line)}{under}\n\n{lines}")
    seen = frozenset[str]().union(*(f.words for f in found[: len(parts)]))
    missing = [code(w.word) for w in words if w.word not in seen and not any(w.stands_in(p) for p in texts)]
    tail = f" Not found: {', '.join(missing)}." if missing else ""
    by = ", ".join(code(w.word) for w in words if w.word in seen)
    lead = (
        f"{'This passage answers' if len(parts) == 1 else 'These passages answer'} best, found by {by}.{tail}"
    )
    return "\n\n".join([*parts, lead])


def _shown(place: Passage, text: str) -> tuple[str, set[int]]:
    """(the passage as it is quoted, the lines it covers)."""
    lines = text.split("\n")
    if place.kind == "heading":
        under = section(place, text)
        if not under:
            return "", {place.line}
        body = "\n".join(f"> {clip(p.text, 300)}" + ("  " if p.kind != "sentence" else "") for p in under)
        return f"**{clip(place.text, 80)}**\n\n{body}", {place.line, *(p.line for p in under)}
    if place.kind == "row":
        names = next(csv.reader([place.heading]), [])
        cells = next(csv.reader([place.text]), [])
        pairs = ", ".join(f"{n}: {c}" for n, c in zip(names, cells, strict=False) if c.strip())
        return f"> {clip(pairs, 300)}", {place.line}
    if place.kind in {"item", "sentence"}:
        following = _following(place, text)
        return f"> **{clip(place.text, 400)}**" + (f" {clip(following, 200)}" if following else ""), {
            place.line
        }
    if ending(place.path) in PROSE | DATA or place.heading:
        above = f"{place.heading}: " if place.heading and ending(place.path) not in PROSE else ""
        return f"> {code(clip(above + place.text, 300))}", {place.line}
    begin, end = max(0, place.line - 3), min(len(lines), place.line + 4)
    body = "\n".join(
        f"{n:4}{'>' if n == place.line else ' '} {line[:200]}"
        for n, line in enumerate(lines[begin:end], begin + 1)
    )
    return f"```{fence_language(place.path)}\n{body}\n```", set(range(begin + 1, end + 1))


def _following(place: Passage, text: str) -> str:
    """The sentence behind a sentence, which often goes on with it."""
    if place.kind != "sentence":
        return ""
    every = passages_of(place.path, text)
    at = next((n for n, p in enumerate(every) if p == place), len(every))
    after = every[at + 1] if at + 1 < len(every) else None
    near = after is not None and after.kind == "sentence" and after.heading == place.heading
    return after.text if after is not None and near and after.line - place.line < 3 else ""


def _mentions(ask: Ask, words: list[Keyword], hits: list[Hit]) -> str:
    """Every line that has the words together, or each of them where none has them all."""
    named = [w for w in words if w.weight > 1] or words
    has = [(h, sum(w.stands_in(h.text) and _same_case(w, h.text) for w in named)) for h in hits]
    together = [h for h, n in has if n == len(named)]
    either = re.search(r"\bor\b", ask.text) is not None
    chosen = together if together and not either else [h for h, n in has if n]
    said = (" or " if either or not together else " and ").join(code(w.word) for w in named)
    if not chosen:
        raise CannotDo(f"Not found: no line mentions {said}.")
    lead = f"{said}: {count(len(chosen), 'line')} in {count(len({h.path for h in chosen}), 'file')}"
    return by_file(chosen, lead)


def _same_case(word: Keyword, text: str) -> bool:
    """A name is written as one: Grant is not a grant."""
    proper = word.word[:1].isupper() and word.weight > 1
    return not proper or re.search(rf"(?<!\w){re.escape(word.word)}", text) is not None


def by_file(hits: list[Hit], headline: str, most: int = 60) -> str:
    """Hits as a table grouped by file, files with most hits first."""
    grouped: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        grouped[hit.path].append(hit)
    rows: list[tuple[str, str, str]] = []
    for path, found in sorted(grouped.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        for number, hit in enumerate(found):
            rows.append(
                (
                    f"{link(path)} ({len(found)})" if number == 0 else "",
                    str(hit.line),
                    code(clip(hit.text, 140)),
                )
            )
    more = f"\n\n{len(rows) - most} more are in the result above." if len(rows) > most else ""
    return f"{headline}:\n\n{table(('file', 'line', 'text'), rows[:most])}{more}"


def _in_short(files: list[str], texts: dict[str, str], asked: str) -> str:
    """What the file says that was meant, when none of its passages has the words."""
    path = next((p for p in files if p in texts), "")
    pieces = [
        p
        for p in passages_of(path, texts.get(path, ""))
        if p.kind in {"item", "sentence", "line"} and not EMPTY.match(p.text)
    ][:12]
    if not pieces:
        raise CannotDo(f"Not found: {asked} stands in none of the files here. All of them were searched.")
    body = "\n".join(f"> {clip(p.text, 240)}  " for p in pieces)
    return f"{link(path)} does not mention {asked}. It says:\n\n{body}"


def hits_of(desk: Desk, words: list[Keyword]) -> Move[list[Hit]]:
    """Lines with any of the words; the rarer words only when that is too much."""
    pattern = "|".join(w.coarse() for w in words)
    if f"hits\n{pattern}" in desk.kept:
        return list(desk.kept[f"hits\n{pattern}"])
    said = f"Searching for {', '.join(code(w.word) for w in words)}."
    found = yield from moves.search(desk, "|".join(w.coarse() for w in words), said, ignore_case=True, limit=_LIMIT)  # fmt: skip
    if len(found) >= _LIMIT and len(words) > 1:
        times = {word.word: sum(word.stands_in(hit.text) for hit in found) for word in words}
        rare = sorted(words, key=lambda word: times[word.word])[: max(1, len(words) // 2)]
        said = f"That is too much. Searching for {', '.join(code(w.word) for w in rare)} only."
        found = yield from moves.search(desk, "|".join(w.coarse() for w in rare), said, ignore_case=True, limit=_LIMIT)  # fmt: skip
    kept = [h for h in found if any(w.stands_in(h.text) for w in words)]
    desk.kept[f"hits\n{pattern}"] = kept
    return list(kept)
