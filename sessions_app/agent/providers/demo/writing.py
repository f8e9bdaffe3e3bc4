"""Markdown the answers are put together from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sessions_app.agent.providers.demo.words import LANGUAGES


def link(path: str, line: int | None = None) -> str:
    """A link to a file of the folder; the text is the path in code."""
    target = path if re.fullmatch(r"[\w./+@~-]+", path) else f"<{path}>"
    shown = f"{path}:{line}" if line else path
    if line and not target.startswith("<"):
        target = f"{target}#L{line}"
    return f"[`{shown}`]({target})"


def code(text: str) -> str:
    """A code span, whatever backticks are inside."""
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str, language: str = "") -> str:
    """A code block, whatever fences are inside."""
    ticks = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; pipes inside cells are escaped."""

    def cells(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"

    return "\n".join(
        [cells(head), "| " + " | ".join("---" for _ in head) + " |", *(cells(row) for row in rows)]
    )


def count(number: int, singular: str, plural: str | None = None) -> str:
    """ "1 file", "1,200 files"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def clip(text: str, length: int = 100) -> str:
    """One line, shortened at the end."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def head(text: str, lines: int) -> tuple[str, int]:
    """The first `lines` lines and how many more there are."""
    every = text.rstrip("\n").split("\n")
    return "\n".join(every[:lines]), max(0, len(every) - lines)


def size(number: int) -> str:
    """Bytes for people: 812 B, 4.2 KB, 1.1 MB."""
    value = float(number)
    for unit in ("B", "KB", "MB"):
        if value < 1024:
            return f"{int(value)} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GB"


def ending(path: str) -> str:
    """The extension without its dot, lower case; empty when there is none."""
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[-1].lower() if "." in name[1:] else ""


def language(path: str) -> str:
    """What a file is written in, guessed from its name; empty when unknown."""
    name = path.rsplit("/", 1)[-1].lower()
    special = {"makefile": "make", "dockerfile": "Dockerfile"}
    return special.get(name, LANGUAGES.get(ending(path), ""))


def fence_language(path: str) -> str:
    """The word behind a code fence."""
    found = ending(path)
    return found if found in LANGUAGES and found != "txt" else ""


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
