"""A new row for a table that stands in a Markdown text."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.changes.ground import NotMine, files, read_all, speaking_of
from sessions_app.agent.providers.demo.changes.new_rows import placed
from sessions_app.agent.providers.demo.changes.spots import spots_of
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets.changes import csv_line
from sessions_app.agent.providers.demo.sheets.sheet import Sheet, parsed
from sessions_app.agent.providers.demo.writing import ending, link, table


def add_table_row(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The row at the end of the one table that the place names. Words of the place that name nothing are its first values."""
    where = ask.plain(wish.where)
    wanted = [w for w in tokens(where) if w not in SOFT]
    if not wanted:
        raise NotMine
    paths = [p for p in (yield from files(desk)) if ending(p) in {"md", "markdown"}]
    found: list[tuple[FileText, int, int, list[str]]] = []
    for text in (yield from read_all(desk, (yield from speaking_of(desk, wanted, paths)))):
        for first, end, title in _tables(text):
            own = {*tokens(title), *tokens(text.lines[first])}
            left = missing(wanted, own, names_of(text.path))
            if len(left) < len(wanted) and any(among(w, own) for w in wanted):
                found.append((text, first, end, left))
    if len(found) != 1:
        raise NotMine
    text, first, end, left = found[0]
    sheet = _sheet(text, first, end)
    if sheet is None:
        raise NotMine
    said = [w for w in re.findall(r"[^\W_][\w'-]*", where) if tokens(w) and tokens(w)[0] in left]
    values = placed(sheet, ", ".join([*said, ask.plain(wish.what)]), None)
    if isinstance(values, str):
        raise CannotDo(values)
    row = [values.get(n, "") for n in range(len(sheet.columns))]
    line = "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield from put_lines(desk, text, [*text.lines[:end], line, *text.lines[end:]])
    return f"Added a row to {link(text.path, end + 1)}:\n\n{table(sheet.names, [row])}"


def _tables(text: FileText) -> list[tuple[int, int, str]]:
    """(line of its headings, line behind its end, the heading above it) of every table."""
    found = []
    for number, line in enumerate(text.lines[:-1]):
        if line.lstrip().startswith("|") and re.fullmatch(
            r"\s*\|(?:\s*:?-+:?\s*\|)+\s*", text.lines[number + 1]
        ):
            end = number + 2
            while end < len(text.lines) and text.lines[end].lstrip().startswith("|"):
                end += 1
            above = [s for s in spots_of(text) if s.heading is not None and s.heading < number]
            found.append((number, end, above[-1].title if above else ""))
    return found


def _sheet(text: FileText, first: int, end: int) -> Sheet | None:
    """The table's cells as the rows of a table file."""
    lines = [text.lines[first], *text.lines[first + 2 : end]]
    rows = [
        [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        for line in lines
    ]
    sheet = parsed("table.csv", "\n".join(csv_line(row, ",") for row in rows))
    if sheet is not None:
        sheet.path = text.path
    return sheet
