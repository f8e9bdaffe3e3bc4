"""What can be found in an entry, what a query asks for, and where in a text it is.

Both databases get the same words, split here, so that a search finds the same on either: runs of letters and
digits without case and accents; of scripts that write no spaces each character is a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.messages import Json, block_text, blocks_of, tool_calls_of

MOST_CHARACTERS = 60_000
"""Of one entry's text; a tool may have printed more than anybody looks for."""
MOST_WORDS = 12_000
"""Of one entry: PostgreSQL numbers no more than 16,383 positions."""
LONGEST_WORD = 100

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_QUOTED = re.compile(r'"([^"]*)"?|(\S+)')


def text_to_find(entry: Entry) -> str:
    """What a person may look for in an entry: words, calls with their arguments, output, summaries, labels, names."""
    record = entry.record
    match entry.kind:
        case Kind.MESSAGE:
            parts = _of_message(entry.message or {})
        case Kind.COMPACTION | Kind.BRANCH_SUMMARY:
            parts = [record.get("summary")]
        case Kind.CUSTOM_MESSAGE:
            parts = _of_content(record.get("content"))
        case Kind.LABEL:
            parts = [record.get("label")]
        case Kind.SESSION_INFO:
            parts = [record.get("name")]
        case _:
            parts = []
    return "\n".join(part for part in parts if isinstance(part, str) and part)[:MOST_CHARACTERS]


def _of_message(message: Json) -> list[Any]:
    parts = _of_content(message.get("content"))
    for call in tool_calls_of(message):
        parts.append(call.get("name"))
        parts += _strings(call.get("arguments"))
    return [*parts, message.get("command"), message.get("output"), message.get("errorMessage")]


def _of_content(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [content]
    return [
        block_text(block, field)
        for block in blocks_of(content)
        for field in ("text", "thinking")
        if block.get("type") == field
    ]


def _strings(value: Any) -> Iterator[str]:
    """The texts inside arguments, in order; deep nesting is walked without recursion."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)


def words_in(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return [word for word, _start, _end in _located(text)][:MOST_WORDS]


def _located(text: str) -> Iterator[tuple[str, int, int]]:
    for found in _WORD.finditer(text):
        word = _plain(found.group())
        if word:
            yield word, found.start(), found.end()


def _plain(word: str) -> str:
    if word.isascii():
        return word.lower()[:LONGEST_WORD]
    letters = unicodedata.normalize("NFKD", word.casefold())
    kept = (letter for letter in letters if not unicodedata.combining(letter))
    return "".join(letter for letter in kept if letter.isalnum())[:LONGEST_WORD]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand beside each other; of the last one, with `begins`, the beginning is enough."""

    words: tuple[str, ...]
    begins: bool


def read_query(text: str) -> tuple[Phrase, ...]:
    """All of these must be found: words ("beginnings" too) and "quoted phrases" (exactly so)."""
    phrases = []
    for found in _QUOTED.finditer(text[:500]):
        quoted, bare = found.groups()
        words = tuple(words_in(bare if quoted is None else quoted))
        if words:
            phrases.append(Phrase(words, begins=quoted is None))
    return tuple(phrases)


def excerpt_around(text: str, phrases: tuple[Phrase, ...], width: int = 160) -> list[tuple[str, bool]]:
    """About `width` characters around the first finding, in pieces: (text, whether it was looked for)."""
    located = list(_located(text))
    marks = sorted(_findings(located, phrases))
    if not marks:
        return [(_on_one_line(text[:width]), False)]
    start = max(0, marks[0][0] - width // 3)
    start = next((found for _word, found, _end in located if found >= start), start)
    end = min(len(text), start + width)
    pieces: list[tuple[str, bool]] = [("…", False)] if start else []
    at = start
    for first, last in marks:
        if first < at or last > end:
            continue
        pieces += [(_on_one_line(text[at:first]), False), (_on_one_line(text[first:last]), True)]
        at = last
    pieces.append((_on_one_line(text[at:end]) + ("…" if end < len(text) else ""), False))
    return [piece for piece in pieces if piece[0]]


def _findings(located: list[tuple[str, int, int]], phrases: tuple[Phrase, ...]) -> set[tuple[int, int]]:
    found = set()
    for index in range(len(located)):
        for phrase in phrases:
            stretch = located[index : index + len(phrase.words)]
            words = tuple(word for word, _start, _end in stretch)
            whole = words == phrase.words
            if whole or (
                phrase.begins
                and len(words) == len(phrase.words)
                and words[:-1] == phrase.words[:-1]
                and words[-1].startswith(phrase.words[-1])
            ):
                found.add((stretch[0][1], stretch[-1][2]))
    return found


def _on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
