"""Files cut into the passages an answer may quote: list items, sentences, rows, settings, lines of code, each with its heading."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo.writing import ending

PROSE = frozenset({"md", "txt", "rst", "adoc", "org", "tex", ""})
_PAGES = frozenset({"html", "htm", "xml", "svg"})
_ROWS = frozenset({"csv", "tsv"})
DATA = frozenset({"json", "jsonl", "yml", "yaml", "toml", "ini", "cfg", "env", "conf", "properties"})
_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)]|\[[ xX]?\])\s+")
_FIELD = re.compile(r"\s*(?:\*\*)?[A-Z][\w '/-]{1,30}?(?:\*\*)?\s*(?::|\s{2,}|\t| - | – )\s*\S")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a file: `text` as it is quoted, `heading` what stands above it, `kind` item, sentence, heading, row or line."""

    path: str
    line: int
    text: str
    heading: str = ""
    kind: str = "line"


def passages_of(path: str, text: str) -> list[Passage]:
    """All passages of a file in their order; lines count from 1."""
    kind = ending(path)
    lines = text.rstrip("\n").split("\n")
    if kind in _PAGES:
        return _page(path, lines)
    if kind in _ROWS:
        head = lines[0] if lines else ""
        return [Passage(path, n, line, head, "row") for n, line in enumerate(lines[1:], 2) if line.strip()]
    if kind in DATA or path.rsplit("/", 1)[-1].startswith((".env", ".editorconfig")):
        return _settings(path, lines)
    if kind in PROSE:
        return _prose(path, lines)
    return [Passage(path, n, line.rstrip(), "", "line") for n, line in enumerate(lines, 1) if line.strip()]


def _prose(path: str, lines: list[str]) -> list[Passage]:
    found: list[Passage] = []
    heading, block, start, fenced = "", list[str](), 0, False

    def close() -> None:
        nonlocal block
        if block:
            found.extend(_sentences(path, block, start, heading))
        block = []

    for number, line in enumerate(lines, 1):
        under = lines[number] if number < len(lines) else ""
        if re.match(r"\s*(?:```|~~~)", line):
            fenced = not fenced
            close()
            continue
        title = None if fenced else re.match(r"#{1,6}\s+(.+?)\s*#*$", line)
        if title or (line.strip() and not block and re.fullmatch(r"(?:=|-){3,}\s*", under)):
            close()
            heading = title.group(1) if title else line.strip()
            found.append(Passage(path, number, heading, "", "heading"))
            continue
        if not line.strip() or re.fullmatch(r"\s*[=\-~*_|: ]{3,}\s*", line):
            close()
            continue
        if fenced or line.startswith("|") or re.match(r"    \S", line):
            close()
            found.append(Passage(path, number, line.strip(), heading, "line"))
            continue
        if _ITEM.match(line) or _FIELD.match(line) or (block and re.match(r"\d{4}-\d\d-\d\d", line)):
            close()
        if not block:
            start = number
        block.append(line)
    close()
    return found


def _sentences(path: str, block: list[str], start: int, heading: str) -> list[Passage]:
    """One paragraph or item. Short lines under each other, such as an address, stay lines."""
    item = _ITEM.match(block[0])
    if item or _FIELD.match(block[0]):
        return [Passage(path, start, " ".join(line.strip() for line in block), heading, "item")]
    if len(block) > 1 and not re.search(r"[.!?]", " ".join(block[:-1])) and max(map(len, block)) < 60:
        return [Passage(path, start + n, line.strip(), heading, "item") for n, line in enumerate(block)]
    found: list[Passage] = []
    whole = "\n".join(line.strip() for line in block)
    place = 0
    for piece in re.split(r"(?<=[.!?…])[\"”’)]*\s+(?=[\"“„(]?[A-ZÄÖÜÉÀ\d])(?<!\b[A-Z]\.\s)", whole):
        at = whole.find(piece, place)
        place = at + len(piece)
        if piece.strip():
            plain = re.sub(r"\s+", " ", piece).strip()
            found.append(Passage(path, start + whole[:at].count("\n"), plain, heading, "sentence"))
    return found


def _page(path: str, lines: list[str]) -> list[Passage]:
    found: list[Passage] = []
    heading, hidden = "", False
    for number, line in enumerate(lines, 1):
        hidden = (hidden or bool(re.search(r"<(?:script|style)\b", line))) and not re.search(
            r"</(?:script|style)>", line
        )
        plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>?", " ", line)).strip()
        title = re.search(r"<(?:h[1-6]|title)\b", line, re.I)
        if title and plain:
            heading = plain
            found.append(Passage(path, number, plain, "", "heading"))
        elif plain and not hidden and re.search(r"\w", plain):
            found.append(Passage(path, number, plain, heading, "item"))
        elif line.strip():
            found.append(Passage(path, number, line.strip(), heading, "line"))
    return found


def _settings(path: str, lines: list[str]) -> list[Passage]:
    """Each line with the keys or the section it stands under."""
    found: list[Passage] = []
    above: list[tuple[int, str]] = []
    section = ""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        head = re.match(r"\s*\[+([^\]]+)\]+\s*$", line)
        if head and ending(path) not in {"json", "yml", "yaml"}:
            section = head.group(1)
            found.append(Passage(path, number, section, "", "heading"))
            continue
        depth = len(line) - len(line.lstrip())
        above = [(d, key) for d, key in above if d < depth]
        under = " ".join([section, *(key for _, key in above)]).strip()
        opening = re.match(r"\s*-?\s*[\"']?([\w .-]+?)[\"']?\s*:\s*[\[{|>]?\s*$", line)
        if opening:
            above.append((depth, opening.group(1)))
            found.append(Passage(path, number, line.strip(), under, "heading"))
        elif re.search(r"\w", line):
            found.append(Passage(path, number, line.strip().rstrip(","), under, "line"))
    return found
