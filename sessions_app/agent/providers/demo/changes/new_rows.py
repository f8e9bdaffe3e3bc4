"""A new row for a table: every value finds its column, or nothing is written."""

from __future__ import annotations

import re
from datetime import date, timedelta

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.changes.ground import NotMine, files, named
from sessions_app.agent.providers.demo.changes.rows import sheets_of
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import Move, full
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.changes import csv_line, json_with, truth_word
from sessions_app.agent.providers.demo.sheets.sheet import Sheet, is_table
from sessions_app.agent.providers.demo.sheets.words import OPPOSITES, ROLES, SAME, singular
from sessions_app.agent.providers.demo.writing import code, link, table

_SPLIT = re.compile(
    r"\s*[,;()]\s*|\s+[-–—]\s+|:\s+|\s+(?:at|for|from|by|with|in|on|and|priced at|costing)\s+(?=\S)", re.I
)
#: What is spent and what comes in, where a table has a column for each.
_MONEY_OUT = dict.fromkeys(("expense", "cost", "payment", "spending", "purchase", "bill"), True)
_MONEY_IN = dict.fromkeys(("income", "donation", "earning", "deposit", "revenue", "sale"), True)
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}


def add_row(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The row is written when each of its values has a column. Raises NotMine when no table is meant, CannotDo when a value fits nowhere."""
    said = ask.plain(wish.what)
    lead = re.match(
        r"(?:an? |another |the |one |new |further )*(?P<noun>[\w-]+)(?: (?:called|named))?:? ?", said, re.I
    )
    first = singular(lead["noun"].lower()) if lead else ""
    noun = singular(wish.where.split()[-1].lower()) if wish.where else first
    sheet = yield from _table_for(desk, ask, wish, noun)
    if re.match(r"(?:an? |the |new )*column\b", said, re.I):
        raise NotMine
    nouns = sheet.nouns | {"row", "entry", "record", "line", "item"}
    if lead and (first in nouns or first in {**_MONEY_OUT, **_MONEY_IN}):
        said = said[lead.end() :]
    else:
        said = re.sub(r"^(?:an? |another |the |one |new )+", "", said)
    today = yield from _today(desk, said)
    if (
        noun
        and (column := _money_column(sheet, noun)) is not None
        and (figure := re.search(r"[€$£]?\d+[.,]\d\d\b", said))
    ):
        said = said[: figure.start()] + f"{sheet.names[column]}={figure.group()}" + said[figure.end() :]
    values = placed(sheet, said, today)
    if isinstance(values, str):
        raise CannotDo(values)
    text = yield from full(desk, sheet.path)
    row = [values.get(n, "") for n in range(len(sheet.columns))]
    if sheet.mark == "json":
        item = {sheet.names[n]: _typed(sheet, n, v) for n, v in sorted(values.items())}
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


def _table_for(desk: Desk, ask: Ask, wish: Wish, noun: str) -> Move[Sheet]:
    """The table that the place names; else the one whose rows the noun means, or that has a column for what is spent. Raises NotMine."""
    paths = [p for p in (yield from files(desk)) if is_table(p)]
    words = [w for w in tokens(ask.plain(wish.where)) if w not in SOFT] if wish.where else [noun]
    for chosen in (
        (named(wish.where, ask, paths) or []) if wish.where else [],
        # "A new survey answer": one of the words names the table, the others what a row is.
        [p for p in paths if any(among(w, tokens(p.rsplit("/", 1)[-1].rsplit(".", 1)[0])) for w in words)],
        paths[:6] if noun in {**_MONEY_OUT, **_MONEY_IN} else [],
    ):
        found: list[Sheet] = []
        for path in chosen[:6]:
            found += yield from sheets_of(desk, Ask("‹p0›", (path,)), "‹p0›", [])
        if chosen and chosen is not paths and len(found) != 1:
            found = [sheet for sheet in found if _money_column(sheet, noun) is not None]
        if len(found) == 1:
            return found[0]
    raise NotMine


def _money_column(sheet: Sheet, noun: str) -> int | None:
    """The column for what is spent, or for what comes in."""
    wanted = (
        {"out", "expense", "debit", "spent"}
        if noun in _MONEY_OUT
        else {"in", "income", "credit", "received"}
        if noun in _MONEY_IN
        else set()
    )
    found = [
        n
        for n, c in enumerate(sheet.columns)
        if c.kind == "number" and {singular(w) for w in c.words} & wanted
    ]
    return found[0] if len(found) == 1 else None


def _today(desk: Desk, said: str) -> Move[date | None]:
    if not re.search(r"\b(?:today|yesterday|tomorrow)\b", said, re.I):
        return None
    outcome = yield from moves.shell(desk, "date +%F", "Asking the clock.", what="telling the date")
    return cells.day(moves.output(outcome).strip())


def placed(sheet: Sheet, said: str, today: date | None) -> dict[int, str] | str:
    """Which cell gets what. A text says which value found no column: nothing is guessed and nothing left out."""
    values: dict[int, str] = {}
    parts = [p.strip().strip("\"'“”").rstrip(".") for p in _SPLIT.split(said) if p and p.strip(" .")]
    loose: list[str] = []
    for part in parts:
        empty = re.fullmatch(r"(?:no|without) (\w+)", part, re.I)
        if empty and any(
            c.kind == "text" and among(w, c.words) for c in sheet.columns for w in tokens(empty[1])
        ):
            continue
        part = re.sub(r"^(?:and|who|which|it|is|costs?|he|she|the|a|an)\s+", "", part, flags=re.I)
        if not _by_name(sheet, values, part, today):
            loose.append(part)
    key = _next_key(sheet)
    for part in list(loose):
        # "B-102 brake lever": the key of the row in front of what it is called.
        first, _, rest = part.partition(" ")
        if (
            rest
            and 0 not in values
            and sheet.columns[0].cells
            and _shape(first) == _shape(sheet.columns[0].cells[0])
            and re.search(r"\d", first)
        ):
            values[0] = first
            loose[loose.index(part)] = rest
    if (
        key is not None
        and 0 not in values
        and not any(_shape(p) == _shape(sheet.columns[0].cells[0]) for p in loose)
    ):
        values[0] = key
    title = sheet.title()
    if (
        loose
        and title not in values
        and sheet.columns[title].kind == "text"
        and _fits(sheet, title, loose[0], today)
        and not _known(sheet, loose[0], skip=title)
    ):
        values[title] = loose.pop(0)
    for part in loose:
        free = [n for n in range(len(sheet.columns)) if n not in values and _fits(sheet, n, part, today)]
        if not free:
            return f"Not added: {code(part)} fits no free column of {link(sheet.path)}. Its columns: {', '.join(code(n) for n in sheet.names)}. Say which is which, for example “{sheet.names[-1]}: …”."
        free.sort(key=lambda n: _likeness(sheet, n, part))
        if _likeness(sheet, free[0], part) == 2 and not _in_turn(sheet, values, loose, free):
            return (
                f"Not added: is {code(part)} the {' or the '.join(code(sheet.names[n]) for n in free[:3])} of {link(sheet.path)}? "
                f"Say which is which, for example “{sheet.names[free[0]]}: {part}”."
            )
        values[free[0]] = _cell(sheet, free[0], part, today)
    if not values or (key is not None and set(values) == {0}):
        return f"Not added: say what stands in the columns {', '.join(code(n) for n in sheet.names)}."
    return values


def _by_name(sheet: Sheet, values: dict[int, str], part: str, today: date | None) -> bool:
    """Whether the part names its column: "email: x", "price 3", "joined today", "6 pieces", "not paid"."""
    said_of = tokens(part)
    for number, column in enumerate(sheet.columns):
        # "Uses the bus" in the column `uses_night_bus`.
        if (
            number not in values
            and column.kind == "truth"
            and len(said_of) > 1
            and all(among(w, column.words) for w in said_of)
        ):
            values[number] = truth_word(sheet, number, yes=True)
            return True
    told = re.fullmatch(r"(not |no |un|hasn't |has |already |is )?([\w-]+)(?: yet)?", part, re.I)
    if told:
        word = SAME.get(told[2].lower(), told[2].lower())
        for number, column in enumerate(sheet.columns):
            opposite = OPPOSITES.get(word) in column.words
            if column.kind == "truth" and number not in values and (opposite or among(word, column.words)):
                negative = (told[1] or "").strip().lower() in {"not", "no", "un", "hasn't"}
                values[number] = truth_word(sheet, number, yes=negative == opposite)
                return True
    for pattern in (
        r"(?P<name>[^\d:=]+?)\s*(?::|=|\bis\b|\bof\b)\s*(?P<value>.+)",
        r"(?P<name>[\w-]+) (?P<value>.+)",
        r"(?P<value>[€$£]?\d\S*)(?: ?(?:g|kg|ml|l|cm|m|km|€|eur|euros?|h|min))? (?P<name>[a-z][\w-]*)",
    ):
        found = re.fullmatch(pattern, part, re.I)
        if found is None:
            continue
        name = tokens(found["name"])
        for number, column in enumerate(sheet.columns):
            heading = tokens(" ".join(column.words))
            counted = (
                column.kind == "number"
                and name
                and set(name) & {"piece", "unit", "pc", "pcs", "bottle", "box", "copy", "pair"}
                and set(column.words) & {*ROLES["stock"], *ROLES["size"]}
                and not column.is_key
            )
            if number in values or not name or not ((all(among(w, heading) for w in name)) or counted):
                continue
            if _fits(sheet, number, found["value"], today):
                values[number] = _cell(sheet, number, found["value"], today)
                return True
    return False


def _cell(sheet: Sheet, number: int, value: str, today: date | None) -> str:
    column = sheet.columns[number]
    value = re.sub(r"^(?:on|at|in|is|of|since) ", "", value.strip().strip("\"'“”"))
    if value.lower() in _DAYS and today is not None:
        return (today + timedelta(days=_DAYS[value.lower()])).isoformat()
    if column.kind == "date":
        day = cells.day(value)
        if day is not None and all(re.fullmatch(r"\d{4}-\d{2}-\d{2}", c) for c in column.cells if c):
            return day.isoformat()
    if column.kind == "number":
        figure = re.search(r"-?\d+(?:[.,]\d+)?", value)
        return (
            figure.group()
            if figure and not any(re.search(r"[^\d.,\s-]", c) for c in column.cells if c)
            else value
        )
    if column.kind == "truth" and (plain := cells.truth(value)) is not None:
        return truth_word(sheet, number, yes=plain)
    return next((c for c in column.cells if c.lower() == value.lower()), value)


def _fits(sheet: Sheet, number: int, value: str, today: date | None) -> bool:
    column = sheet.columns[number]
    said = [c for c in column.cells if c]
    value = re.sub(r"^(?:on|at|in|is|of|since) ", "", value.strip())
    if column.kind == "number":
        return (
            re.fullmatch(
                r"(?:[€$£]\s?)?-?\d+(?:[.,]\d+)*\s?(?:%|€|\$|£|eur|euros?|usd|dollars?|pounds?|pieces?|pcs|units?|kg|g|cm|m|km|h|hours?|min|minutes?)?",
                value,
                re.I,
            )
            is not None
        )
    if column.kind == "date":
        return cells.day(value) is not None or (value.lower() in _DAYS and today is not None)
    if column.kind == "truth":
        return cells.truth(value) is not None
    if said and sum("@" in c for c in said) >= 0.8 * len(said):
        return "@" in value
    if set(column.words) & {"phone", "tel", "mobile", "telephone"}:
        return re.fullmatch(r"\+?[\d /()-]{4,}", value) is not None
    if column.is_key and said and any(re.search(r"\d", c) for c in said):
        return _shape(value) in {_shape(c) for c in said}
    return (
        "@" not in value
        and cells.day(value) is None
        and (cells.number(value) is None or any(re.search(r"\d", c) for c in said))
    )


def _in_turn(sheet: Sheet, values: dict[int, str], loose: list[str], free: list[int]) -> bool:
    """Whether a new word for a column is no guess: the only place left for it, in a row that is nearly full."""
    left = len(sheet.columns) - len(values)
    return (len(free) == 1 and left <= 2) or len(loose) >= left


def _known(sheet: Sheet, value: str, skip: int) -> bool:
    return any(
        value.lower() in {c.lower() for c in column.cells}
        for n, column in enumerate(sheet.columns)
        if n != skip and len(set(column.cells)) < len(column.cells)
    )


def _likeness(sheet: Sheet, number: int, value: str) -> int:
    """How well a value goes into a column that takes it, best first: a cell it has already, its kind, any text."""
    column = sheet.columns[number]
    if value.lower() in {c.lower() for c in column.cells}:
        return 0
    if ("@" in value and column.has("email", "mail")) or set(column.words) & {
        "phone",
        "tel",
        "mobile",
        "telephone",
    }:
        return 1
    if re.search(r"[.,]\d\d\b|[€$£]|eur|dollar", value, re.I):
        return 1 if set(column.words) & set(ROLES["money"]) else 3
    numeric = cells.number(value) is not None
    return 1 if column.kind != "text" and numeric == (column.kind == "number") else 2


def _shape(text: str) -> str:
    return re.sub(r"\d+", "0", text)


def _next_key(sheet: Sheet) -> str | None:
    """The next number of the column that numbers the rows, in its form."""
    first = sheet.columns[0]
    parts = [re.fullmatch(r"(\D*?)(\d+)", c) for c in first.cells]
    if not first.is_key or not parts or not all(parts) or len({p[1] for p in parts if p}) != 1:
        return None
    newest = max((p for p in parts if p), key=lambda p: int(p[2]))
    return f"{newest[1]}{int(newest[2]) + 1:0{len(newest[2])}}"


def _typed(sheet: Sheet, number: int, cell: str) -> object:
    kind = sheet.columns[number].kind
    if kind == "truth":
        return bool(cells.truth(cell))
    value = cells.number(cell) if kind == "number" else None
    return cell if value is None else int(value) if value == value.to_integral() else float(value)
