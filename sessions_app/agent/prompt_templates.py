"""Prompts that are kept as files and said by name: `/review src` with the words behind it put in (06 §8)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sessions_app.agent.front_matter import read_head
from sessions_app.agent.request_content import clean_text

LARGEST_FILE = 256 * 1024
_DESCRIPTION = 60
_PLACE = re.compile(
    r"\$(?:(?P<number>\d+)|(?P<all>@|ARGUMENTS)"
    r"|\{(?:(?P<of>\d+|@|ARGUMENTS):-(?P<default>[^}]*)|@:(?P<first>\d+)(?::(?P<length>\d+))?)\})"
)


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """`hint` says what to write behind the name."""

    name: str
    description: str
    hint: str
    body: str


def find_templates(folder: Path) -> list[PromptTemplate]:
    """The Markdown files directly in the folder, by name; those that cannot be read are left out."""
    found = []
    for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        text = read_text(path)
        headed = read_head(text) if text is not None else None
        if headed is None or not headed.body.strip():
            continue
        first = next(line.strip() for line in headed.body.split("\n") if line.strip())
        cut = first if len(first) <= _DESCRIPTION else f"{first[:_DESCRIPTION]}…"
        found.append(
            PromptTemplate(
                path.stem,
                headed.fields.get("description") or cut,
                headed.fields.get("argument-hint", ""),
                headed.body,
            )
        )
    return found


def read_text(path: Path) -> str | None:
    """None for what is no file, too large or not to be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return None
        return clean_text(path.read_bytes().decode("utf-8-sig", "replace"))
    except OSError:
        return None


def fill(body: str, words: str) -> str:
    """The template with its places filled, in a single pass: what is put in is not looked at again."""
    arguments = split_arguments(words)

    def put(place: re.Match[str]) -> str:
        if place["first"] is not None:
            start = max(1, int(place["first"])) - 1
            end = None if place["length"] is None else start + int(place["length"])
            return " ".join(arguments[start:end])
        name = place["number"] or place["all"] or place["of"]
        if name.isdigit():
            number = int(name)
            value = arguments[number - 1] if 0 < number <= len(arguments) else ""
        else:
            value = " ".join(arguments)
        return value or place["default"] or ""

    return _PLACE.sub(put, body)


def split_arguments(words: str) -> list[str]:
    """By blanks. A quote opens at the start of an argument only; one that is never closed is text."""
    arguments: list[str] = []
    position = 0
    while position < len(words):
        if words[position].isspace():
            position += 1
            continue
        quoted = _quoted(words, position) if words[position] in "\"'" else None
        if quoted is None:
            end = position
            while end < len(words) and not words[end].isspace():
                end += 1
            quoted = words[position:end], end
        arguments.append(quoted[0])
        position = quoted[1]
    return arguments


def _quoted(words: str, start: int) -> tuple[str, int] | None:
    """The text of a quoted argument and where it ends; None when the quote does not close before a blank."""
    quote, position, taken = words[start], start + 1, ""
    while position < len(words):
        if words[position] == "\\" and words[position + 1 : position + 2] == quote:
            taken += quote
            position += 2
        elif words[position] == quote:
            end = position + 1
            return (taken, end) if end == len(words) or words[end].isspace() else None
        else:
            taken += words[position]
            position += 1
    return None
