"""Changes of rows: a row added, rows removed, a cell set in the rows that are described; nothing else of the file is touched."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.jobs.data import tables
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.changes import Rows, column_called, like, lines_with, truth_word
from sessions_app.agent.providers.demo.sheets.reading import Reading, read
from sessions_app.agent.providers.demo.sheets.sheet import Sheet, is_table
from sessions_app.agent.providers.demo.sheets.wording import conditions
from sessions_app.agent.providers.demo.writing import clip, code, count, link, table

_REMOVE = re.compile(
    r"(?:delete|remove|drop|erase|take out|get rid of|throw out|cancel)\b (?P<which>.+)$", re.I | re.S
)
_SET = (
    re.compile(
        r"(?:change|set|update|put)\b (?:the )?(?P<column>[\w '-]+?) (?:to|=) (?P<new>‹q\d+›|[\w.,-]+) (?:for|of|on|in) (?:the )?(?P<which>.+)$",
        re.I | re.S,
    ),
    re.compile(
        r"(?:change|set|update|correct|edit|make|put)\b (?:the )?(?P<column>[\w '-]+?) (?:of|for|on|in) (?:the )?(?P<which>.+?) (?:to|=|as|into) (?:be )?(?P<new>.+)$",
        re.I | re.S,
    ),
    re.compile(
        r"(?:change|set|update|correct|edit|make|give|put)\b (?:the )?(?P<which>.+?)'s? (?P<column>[\w-]+(?: [\w-]+)?) (?:to|=|as|into) (?:be )?(?P<new>.+)$",
        re.I | re.S,
    ),
    re.compile(
        r"(?:mark|flag|set|tick|make)\b (?:the |all )*(?P<which>.+?) (?:as|to) (?P<negative>not |un)?(?P<column>[\w-]+)$",
        re.I | re.S,
    ),
)
_STEP = re.compile(
    r"(?P<verb>increase|raise|decrease|lower|reduce|cut|discount|double|halve)\b (?:the |all (?:the )?)?(?P<column>[\w-]+)(?: (?:of|for|on) (?:the |all (?:the )?)?(?P<which>.+?))?(?: by (?P<step>‹q\d+›|[\d.,]+) ?(?P<percent>%|percent|per ?cent)?(?: ?(?:€|\$|euros?|eur|dollars?|units?|pieces?))?)?$",
    re.I | re.S,
)
_CHANGES = re.compile(
    r"(?:add|insert|append|put|enter|record|create|register|delete|remove|drop|erase|take out|get rid of|throw out|cancel|change|set|update|correct|edit|make|give|mark|flag|tick|increase|raise|decrease|lower|reduce|cut|discount|double|halve)\b",
    re.I,
)


_NO_CHANGE = re.compile(
    r"(?:give|make|put|set|create|record)\b (?:me\b|us\b|an? (?:list|table|file|csv|overview)\b|together\b|up\b)",
    re.I,
)


def is_change(ask: Ask) -> bool:
    """Whether the request begins with the wish to change something."""
    return _CHANGES.match(ask.text) is not None and _NO_CHANGE.match(ask.text) is None


def rows_changed(desk: Desk, ask: Ask) -> Move[str | None]:
    """The change carried out and told; None when the request is none of these or no table has what it speaks of."""
    if not is_change(ask) or any("." in p and not is_table(p) for p in ask.paths):
        return None
    sheets = yield from tables(desk, ask)
    if not sheets:
        return None
    for change in (_stepped, _set, _removed):
        answer = yield from change(desk, ask, sheets)
        if answer is not None:
            return answer
    return None


def _described(ask: Ask, which: str, sheets: Sequence[Sheet]) -> Reading | None:
    """The rows that words describe, wholly understood and not simply all of them."""
    readings = [read(ask.with_text(f"list {which}"), sheet) for sheet in sheets]
    fitting = [
        r
        for r in readings
        if not r.unknown
        and r.query.conditions
        and not r.query.group
        and r.query.operation in {"rows", "values"}
        and r.query.rows(r.sheet)
    ]
    fitting.sort(key=lambda r: (not r.named_rows, -r.weight))
    return fitting[0] if fitting else None


def _set(desk: Desk, ask: Ask, sheets: Sequence[Sheet]) -> Move[str | None]:
    for pattern in _SET:
        found = pattern.match(ask.text)
        if found is None:
            continue
        word = found["column"]
        having = [(s, n) for s in sheets if (n := column_called(s, word)) is not None]
        new = None
        if "negative" in found.groupdict():
            having = [(s, n) for s, n in having if s.columns[n].kind == "truth"]
            if not having:
                # "mark order 1003 as cancelled": a value that the column knows already.
                having = [
                    (s, n) for s in sheets for n, c in enumerate(s.columns)
                    if c.kind == "text" and len(set(c.cells)) < len(c.cells) and word.lower() in {x.lower() for x in c.cells}
                ]  # fmt: skip
                new = word
        reading = _described(ask, found["which"], [s for s, _ in having])
        if reading is None:
            continue
        column = next(n for s, n in having if s is reading.sheet)
        if new is None and "negative" in found.groupdict():
            new = truth_word(reading.sheet, column, yes=not found["negative"])
        value = new if new is not None else ask.plain(found["new"]).strip().strip("\"'“”").rstrip(".")
        problem = _unfit(reading.sheet, column, value)
        if problem:
            raise CannotDo(problem)
        return (
            yield from _rewritten(
                desk, reading, {row: {column: value} for row in reading.query.rows(reading.sheet)}
            )
        )
    return None


def _unfit(sheet: Sheet, column: int, value: str) -> str:
    kind = sheet.columns[column].kind
    name = code(sheet.columns[column].name)
    if kind == "number" and cells.number(value) is None:
        return f"Not changed: {name} of {link(sheet.path)} holds numbers, and {code(value)} is none."
    if kind == "date" and cells.day(value) is None:
        return f"Not changed: {name} of {link(sheet.path)} holds dates, and {code(value)} is none."
    if kind == "truth" and cells.truth(value) is None:
        return f"Not changed: {name} of {link(sheet.path)} holds yes and no, and {code(value)} is neither."
    return ""


def _stepped(desk: Desk, ask: Ask, sheets: Sequence[Sheet]) -> Move[str | None]:
    found = _STEP.match(ask.text)
    if found is None or (found["step"] is None and found["verb"].lower() not in {"double", "halve"}):
        return None
    having = [
        (s, n)
        for s in sheets
        if (n := column_called(s, found["column"])) is not None and s.columns[n].kind == "number"
    ]
    if len(having) > 1 and not found["which"]:
        return None
    if not having:
        return None
    if found["which"]:
        reading = _described(ask, found["which"], [s for s, _ in having])
        everything = [read(ask.with_text(f"list {found['which']}"), s) for s, _ in having]
        reading = reading or next(
            (r for r in everything if r.named_rows and not r.unknown and not r.query.conditions), None
        )
    else:
        reading = read(ask.with_text("list all rows"), having[0][0])
    if reading is None:
        return None
    column = next(n for s, n in having if s is reading.sheet)
    verb = found["verb"].lower()
    step = cells.number(ask.plain(found["step"])) if found["step"] else None
    sign = 1 if verb in {"increase", "raise"} else -1
    new: dict[int, dict[int, str]] = {}
    for row in reading.query.rows(reading.sheet):
        old = reading.sheet.columns[column].number(row)
        if old is None:
            continue
        if verb in {"double", "halve"}:
            value = old * 2 if verb == "double" else old / 2
        elif step is None:
            return None
        elif found["percent"]:
            value = old * (1 + sign * step / 100)
        else:
            value = old + sign * step
        new[row] = {column: like(reading.sheet.columns[column].cells[row], value)}
    return (yield from _rewritten(desk, reading, new))


def _removed(desk: Desk, ask: Ask, sheets: Sequence[Sheet]) -> Move[str | None]:
    found = _REMOVE.match(ask.text)
    if found is None:
        return None
    which = re.sub(
        r"^(?:all |every |any |the )*(?:rows?|entries|entry|records?|lines?) (?:of|for|with|where|that (?:is|are|have|has)|whose|which (?:is|are))\b",
        "",
        found["which"],
        flags=re.I,
    )
    which = re.sub(r"\b(?:from|in|of) (?:the )?‹p\d+›", " ", which)
    reading = _described(ask, which, sheets)
    if reading is None:
        return None
    gone = reading.query.rows(reading.sheet)
    return (yield from _rewritten(desk, reading, dict.fromkeys(gone)))


def _rewritten(desk: Desk, reading: Reading, new: Rows) -> Move[str]:
    """Rows changed (a mapping of cells) or taken out (None); every other line stays as it is."""
    sheet = reading.sheet
    if not new:
        raise CannotDo(f"Not changed: no row of {link(sheet.path)} fits{conditions(sheet, reading.query)}.")
    text = yield from moves.full(desk, sheet.path)
    before = [sheet.row(row) for row in new]
    after = lines_with(text.lines, sheet, new)
    if after == text.lines:
        return f"Nothing to change: {count(len(new), 'row')} of {link(sheet.path)} {'is' if len(new) == 1 else 'are'} so already."
    yield from put_lines(desk, text, after)
    shown = []
    for row, old in zip(new, before, strict=True):
        cellmap = new[row]
        shown.append(
            [
                clip(
                    cell
                    if cellmap is None or n not in cellmap
                    else f"{cell or '(empty)'} → {cellmap[n] or '(empty)'}",
                    60,
                )
                for n, cell in enumerate(old)
            ]
        )
    removed = all(value is None for value in new.values())
    what = "Removed" if removed else "Changed"
    return f"{what} {count(len(new), 'row')} of {link(sheet.path)}{conditions(sheet, reading.query)}:\n\n{table(sheet.names, shown[:20])}\n\n“undo” takes it back."
