"""A new row for a table: which value goes into which column, and what does not fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.changes import column_called, csv_line, json_with, truth_word
from sessions_app.agent.providers.demo.sheets.sheet import Sheet
from sessions_app.agent.providers.demo.sheets.words import alike
from sessions_app.agent.providers.demo.writing import code, link, table

_ADD = re.compile(
    r"(?:add|insert|append|put|enter|record|create|register)\b(?: me)? (?:an? |another |the |one |new |further )*(?P<what>[\w ]{0,40}?)(?: (?:in|to|into|for) (?:the )?(?:file |table )?(?P<where>‹p\d+›|[\w-]+(?: table| file| list| csv)?))?(?: ?[:,] ?| (?:called|named|with|for|saying) )(?P<cells>.+)$",
    re.I | re.S,
)
_ADD_NAMED = re.compile(
    r"(?:add|insert|append|create|register)\b (?:me )?(?:an? |another |the |one |new |further )+(?P<what>[\w-]+) (?P<cells>(?!to\b|in\b|for\b)\S.*)$",
    re.I | re.S,
)
_ADD_QUOTED = re.compile(
    r"(?:add|insert|append|put)\b (?P<cells>.+?) (?:to|into|in) (?:the |my |our )?(?:file |table |list of )?(?P<where>‹p\d+›|[\w-]+(?: table| file| list| csv)?)(?: as (?:an? )?new (?:\w+))?$",
    re.I | re.S,
)
_ADD_ITEM = re.compile(
    r"(?:add|insert|append|put)\b (?:an? |the |new |another )*(?:item|entry|row|record|product)?:? ?(?P<cells>.+?),? (?:to|into|in) (?:the |my |our )?(?:file |table |list of )?(?P<where>‹p\d+›|[\w-]+)(?: table| file| list)?$",
    re.I | re.S,
)


def row_added(desk: Desk, ask: Ask, sheets: Sequence[Sheet]) -> Move[str | None]:
    found = next(
        (
            m
            for p in (_ADD_ITEM, _ADD_QUOTED, _ADD, _ADD_NAMED)
            if (m := p.match(ask.text)) and _spoken(m, ask, sheets)
        ),
        None,
    )
    if found is None:
        return None
    groups = found.groupdict()
    named = _spoken(found, ask, sheets)
    if len(named) != 1:
        return None
    sheet = named[0]
    values = _placed(ask, groups["cells"], sheet)
    if isinstance(values, str):
        raise CannotDo(values)
    text = yield from moves.full(desk, sheet.path)
    row = [values.get(n, "") for n in range(len(sheet.columns))]
    if sheet.mark == "json":
        item = {sheet.names[n]: _of_kind(sheet, n, v) for n, v in values.items()}
        after = json_with(text.text, sheet, {}, item).split("\n")
    else:
        lines = list(text.lines)
        while lines and not lines[-1].strip():
            lines.pop()
        after = [*lines, csv_line(row, sheet.mark)]
    yield from put_lines(desk, text, after)
    empty = [sheet.names[n] for n in range(len(row)) if not row[n]]
    left = f"\n\nLeft empty: {', '.join(code(n) for n in empty)}." if empty else ""
    return f"Added a row to {link(sheet.path)}:\n\n{table(sheet.names, [row])}{left}"


def _spoken(found: re.Match[str], ask: Ask, sheets: Sequence[Sheet]) -> list[Sheet]:
    """The tables that the words of a wish to add name."""
    groups = found.groupdict()
    said = f"{groups.get('what') or ''} {ask.plain(groups.get('where') or '')}".lower()
    words = re.findall(r"[^\W\d_]{3,}", said)
    named = [s for s in sheets if s.path.lower() in said or any(alike(w, n) for w in words for n in s.nouns)]
    if len(sheets) == 1 and re.search(r"\b(?:row|entry|record|line)\b", said):
        return list(sheets)
    return named


def _of_kind(sheet: Sheet, number: int, cell: str) -> object:
    kind = sheet.columns[number].kind
    if kind == "truth":
        return bool(cells.truth(cell))
    value = cells.number(cell) if kind == "number" else None
    return cell if value is None else int(value) if value == value.to_integral() else float(value)


def _apart(said: str, sheet: Sheet) -> str:
    """With a comma in front of every heading and of the author behind "by": "Leek in bed C" is Leek, bed C."""
    words = [w for c in sheet.columns for w in c.words if len(w) > 2 and w not in {"the", "name", "title"}]
    if words:
        said = re.sub(
            rf"(?<!^)(?<![,;]) (?:(?:in|with|and|on|at|of|for) )?(?=(?:{'|'.join(map(re.escape, words))}) \S)",
            ", ",
            said,
            flags=re.I,
        )
    author = next((c.name for c in sheet.columns if c.has("author", "artist", "maker", "brand")), None)
    return re.sub(r" by (?=[A-Z])", f", {author} ", said) if author else said


def _said(ask: Ask, said: str, sheet: Sheet) -> tuple[dict[int, str], list[str]]:
    """(values whose column is named, the other values in order)."""
    said = _apart(said, sheet)
    parts = [
        p.strip()
        for p in re.split(
            r"[,;]\s*|:\s+|\s+with\s+(?:an? |the )?|\s+(?:for|at)\s+(?=[€$£]?\d)|\s+and\s+(?=(?:the |a )?[\w-]+ (?:is |= ?)?\S)",
            said,
        )
        if p and p.strip()
    ]
    values: dict[int, str] = {}
    loose: list[str] = []
    for part in parts:
        plain = re.sub(
            r"^(?:and|with|in|on|from|a|an|the|it|costs?|for|at)\s+",
            "",
            ask.plain(part).strip().strip("\"'").rstrip("."),
            flags=re.I,
        )
        pair = re.match(r"(?P<name>[\w -]+?)\s*(?::|=|\bis\b|\bof\b)\s*(?P<value>.+)$", plain) or re.match(
            r"(?P<name>[\w-]+) (?P<value>.+)$", plain
        )
        number = column_called(sheet, pair["name"]) if pair else None
        if (
            pair
            and number is None
            and (turned := re.match(r"(?P<value>(?!not\b|no\b)\S+) (?P<name>[\w-]+)$", plain))
        ):
            number, pair = column_called(sheet, turned["name"]), turned
        if pair and number is not None and number not in values:
            values[number] = re.sub(r"^(?:on|at|in|is|of) ", "", pair["value"].strip().strip("\"'"))
        else:
            loose.append(plain)
    return values, loose


def _truth(sheet: Sheet, free: list[int], value: str) -> tuple[int | None, bool]:
    """The column of yes and no that a word such as "alive" or "not paid" speaks of, and which of the two."""
    found = re.fullmatch(r"(not |no |un)?([\w-]+)", value)
    if found is None:
        return None, False
    fitting = (
        n for n in free if sheet.columns[n].kind == "truth" and alike(found[2], sheet.columns[n].words[0])
    )
    return next(fitting, None), found[1] is None


def _placed(ask: Ask, said: str, sheet: Sheet) -> dict[int, str] | str:
    """Which cell gets what: "email x" by its heading, an address, number or date by its kind, the rest in order. A text says what does not fit."""
    values, loose = _said(ask, said, sheet)
    free = [n for n in range(len(sheet.columns)) if n not in values]
    ids = _next_number(sheet)
    if (
        ids is not None
        and ids[0] not in values
        and ids[0] in free
        and not any(_fits_key(sheet, v) for v in loose)
    ):
        values[ids[0]] = ids[1]
        free.remove(ids[0])
    if len(loose) < len(free) and loose and sheet.title() in free and _fits(sheet, sheet.title(), loose[0]):
        # With fewer values than columns the first one says what the row is called.
        values[sheet.title()] = loose.pop(0)
        free.remove(sheet.title())
    loose = [_bare_date(value) for value in loose]
    first, last = (column_called(sheet, w) for w in ("first name", "last name"))
    if first is not None and last is not None and values.get(first, "").count(" ") == 1 and last in free:
        values[first], values[last] = values[first].split(" ")
        free.remove(last)
    for value in loose:
        truth, yes = _truth(sheet, free, value)
        if truth is not None:
            values[truth] = truth_word(sheet, truth, yes=yes)
            free.remove(truth)
            continue
        fitting = sorted(
            (n for n in free if _fits(sheet, n, value)), key=lambda n: _likeness(sheet, n, value)
        )
        if not fitting:
            return f"Not added: {code(value)} fits no free column of {link(sheet.path)}. Its columns: {', '.join(code(n) for n in sheet.names)}. Say which is which, for example “{sheet.names[free[0] if free else 0]}: …”."
        values[fitting[0]] = value
        free.remove(fitting[0])
    if not values or set(values) == {ids[0] if ids else -1}:
        return f"Not added: say what stands in the columns {', '.join(code(n) for n in sheet.names)}."
    for number, value in values.items():
        if number != (ids[0] if ids else -1) and not _fits(sheet, number, value):
            return f"Not added: {code(value)} does not look like the other cells of {code(sheet.names[number])} in {link(sheet.path)}."
    return values


def _bare_date(value: str) -> str:
    """ "born 2014-03-03" is the date."""
    found = re.fullmatch(r"[^\W\d_]+(?: on)? (.+)", value)
    return found.group(1) if found and cells.day(found.group(1)) is not None else value


def _next_number(sheet: Sheet) -> tuple[int, str] | None:
    """The numbering column and its next number."""
    first = sheet.columns[0]
    parts = [re.fullmatch(r"(\D*?)(\d+)", c) for c in first.cells]
    if not first.is_key or not parts or not all(parts) or len({p[1] for p in parts if p}) != 1:
        return None
    newest = max((p for p in parts if p), key=lambda p: int(p[2]))
    return 0, f"{newest[1]}{int(newest[2]) + 1:0{len(newest[2])}}"


def _likeness(sheet: Sheet, number: int, value: str) -> int:
    """How well a value goes into a column that takes it, best first: a cell it has already, its kind, any text."""
    column = sheet.columns[number]
    if value.lower() in {c.lower() for c in column.cells}:
        return 0
    numeric = cells.number(value) is not None
    return 1 if column.kind != "text" and numeric == (column.kind == "number") else 2


def _fits_key(sheet: Sheet, value: str) -> bool:
    """Whether a value looks like the numbers of the first column."""
    shape = re.sub(r"\d+", "0", sheet.columns[0].cells[0])
    return re.sub(r"\d+", "0", value) == shape


def _fits(sheet: Sheet, number: int, value: str) -> bool:
    column = sheet.columns[number]
    said = [c for c in column.cells if c]
    if column.kind == "number":
        return cells.number(value) is not None
    if column.kind == "date":
        return cells.day(value) is not None
    if column.kind == "truth":
        return cells.truth(value) is not None
    if said and sum("@" in c for c in said) >= 0.8 * len(said):
        return "@" in value
    return (
        "@" not in value
        and cells.day(value) is None
        and (cells.number(value) is None or any(re.search(r"\d", c) for c in said))
    )
