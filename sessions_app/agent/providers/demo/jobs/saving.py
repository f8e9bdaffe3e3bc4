"""The last answer put into a file."""

from __future__ import annotations

import csv
import io
import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.creating import place_for
from sessions_app.agent.providers.demo.phrases import Ask, P
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import code, count, ending, link


def save_answer(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    text = re.sub(r"\n*[*_]?Demo model, offline: .*$", "", desk.last_answer(), flags=re.S).strip()
    if not text:
        raise CannotDo("There is no answer yet to save.")
    path = yield from place_for(desk, ask, "notes.md")
    if ask.has(r"\bthe list\b|\bthem\b|\bthose\b") and re.search(r"^- ", text, re.M):
        text = "\n".join(line for line in text.split("\n") if line.startswith("- "))
    if ask.has(r"\blist\b|\bthem\b|\bthose\b") or ending(path) != "md" or "| file | line | text |" in text:
        text = plain_text(text, listed=ending(path) == "md")
    rows = table_rows(desk.last_answer()) if ending(path) in {"csv", "tsv"} else []
    if rows:
        sink = io.StringIO()
        csv.writer(sink, delimiter="\t" if ending(path) == "tsv" else ",", lineterminator="\n").writerows(
            rows
        )
        text = sink.getvalue().rstrip("\n")
    yield from moves.write(desk, path, text + "\n", f"Writing the last answer to {code(path)}.")
    return f"Saved the last answer in {link(path)}, {count(text.count(chr(10)) + 1, 'line')}."


def table_rows(answer: str) -> list[list[str]]:
    """The cells of the first table of an answer without their Markdown; empty when it has none."""
    rows: list[list[str]] = []
    for line in answer.split("\n"):
        if line.startswith("| "):
            cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            if not all(re.fullmatch(r"-{3,}", c) for c in cells):
                rows.append(
                    [re.sub(r"\*\*|`", "", re.sub(r"\[(`*)(.+?)\1\]\([^)]*\)", r"\2", c)) for c in cells]
                )
        elif rows:
            break
    return rows


def plain_text(answer: str, *, listed: bool) -> str:
    """An answer without its Markdown: hits as "path:line: text", one a line, as a list for a Markdown file."""
    lines: list[str] = []
    path = ""
    rows = [line for line in answer.split("\n") if line.startswith("|")]
    hits = bool(rows) and [c.strip() for c in rows[0].strip("|").split("|")] == ["file", "line", "text"]
    for line in rows[2:] if hits else answer.split("\n"):
        if line.startswith(("| ---", "|---")):
            continue
        bare = re.sub(r"\[(`+)(.+?)\1\]\([^)]*\)", r"\2", line)
        if line.startswith("|"):
            cells = [
                re.sub(r"^(`+) ?(.*?) ?\1$", r"\2", c.strip()).replace("\\|", "|")
                for c in re.split(r"(?<!\\)\|", bare.strip())[1:-1]
            ]
            if hits:
                path = re.sub(r" \(\d+\)$", "", cells[0]) or path
                lines.append(f"{'- ' if listed else ''}{path}:{cells[1]}: {cells[2]}")
                continue
            bare = "\t".join(cells)
        bare = re.sub(r"\*\*(.+?)\*\*", r"\1", bare)
        bare = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"\1", bare)
        if not line.startswith("```"):
            lines.append(bare if listed else re.sub(r"^[-*] ", "", bare))
    return "\n".join(lines).strip()


RULES: list[Rule] = [
    rule(rf"(?:save|store|write|put|dump|export|copy)\b (?:me )?(?:it|that|this|them|the (?:last |previous |above )?(?:answer|result|results|summary|output|list|table|report|findings)|your (?:answer|summary|findings)|those)(?: (?:down|all))? (?:to|in|into|as|under)\b.*(?:{P}|file).*", save_answer),
]  # fmt: skip
