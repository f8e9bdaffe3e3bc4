"""Tables: a cell set or counted up, a row added or taken out, the rows put in order; every other line stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from sessions_app.agent.providers.demo.changes.ground import NotMine, files, named, speaking_of
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import Move, full
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.changes import Rows, like, lines_with, truth_word
from sessions_app.agent.providers.demo.sheets.sheet import Sheet, is_table, parsed
from sessions_app.agent.providers.demo.sheets.words import OPPOSITES, ROLES, SAME
from sessions_app.agent.providers.demo.writing import clip, code, count, link, table

_AMOUNTS = frozenset({*ROLES["stock"], *ROLES["size"], "pieces", "units", "sold"})
_EACH = frozenset({"all", "every", "each", "everything"})


def sheets_of(desk: Desk, ask: Ask, where: str, speaking: Sequence[str]) -> Move[list[Sheet]]:
    """The tables a phrase names, else those in which the words stand."""
    paths = [p for p in (yield from files(desk)) if is_table(p)]
    inside = named(where, ask, paths) if where else None
    chosen = inside or (yield from speaking_of(desk, speaking, paths))
    found = []
    for path in chosen[:4]:
        text = yield from full(desk, path)
        sheet = parsed(path, text.text)
        if sheet is not None:
            found.append(sheet)
    return found


def _words_of(sheet: Sheet, row: int) -> set[str]:
    return {w for cell in sheet.row(row) for w in tokens(cell)}


def _column(sheet: Sheet, words: Sequence[str]) -> tuple[int, list[str]] | None:
    """(the column some of the words name, those words); the one that takes most of them."""
    best: tuple[int, list[str]] | None = None
    for number, column in enumerate(sheet.columns):
        heading = tokens(" ".join(column.words))
        roles = (
            {r for members in ROLES.values() if set(column.words) & set(members) for r in members}
            if column.kind == "number"
            else set()
        )
        exact = [w for w in words if among(w, heading)]
        loose = [w for w in words if w in roles and not exact]
        taken = exact or loose[:1]
        if taken and len(exact) >= 1 and (best is None or len(exact) > len(best[1])):
            best = (number, exact)
        elif taken and best is None and not column.is_key:
            best = (number, taken)
    return best


def set_cell(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """A cell in the row that the words describe; with "every" in all rows. Raises NotMine, or CannotDo when unclear."""
    wanted = tokens(ask.plain(f"{wish.what} {wish.where}"))
    every = bool(set(re.findall(r"\w+", f"{wish.what} {wish.where}".lower())) & _EACH) or wish.everywhere
    wanted = [w for w in wanted if w not in _EACH]
    if not wanted:
        raise NotMine
    sheets = yield from sheets_of(desk, ask, "", [w for w in wanted if w not in SOFT])
    value = ask.plain(wish.value).strip().strip("\"'“”").rstrip(".")
    problems: list[str] = []
    readings = []
    for sheet in sheets:
        around = names_of(sheet.path) | sheet.nouns
        for column, used in _columns(sheet, wanted, wish, value):
            rest = [w for w in wanted if w not in used]
            rows = [r for r in range(sheet.size) if not missing(rest, _words_of(sheet, r), around)]
            in_row = [w for w in rest if w not in SOFT and any(among(w, _words_of(sheet, r)) for r in rows)]
            if not rows or (not in_row and not every) or (every and in_row == [] and len(rows) != sheet.size):
                continue
            if len(rows) > 1 and not every:
                exact = [r for r in rows if any({*tokens(c)} == set(in_row) for c in sheet.row(r))]
                rows = exact if len(exact) == 1 else rows
            readings.append((len(rows) > 1 and not every, sheet, column, rows))
    if not readings:
        raise NotMine
    readings.sort(key=lambda r: r[0])
    unclear, sheet, column, rows = readings[0]
    if unclear:
        raise CannotDo(
            f"Not changed: {len(rows)} rows of {link(sheet.path)} fit “{clip(ask.plain(wish.what), 60)}”. Say which one.\n\n{table(sheet.names, [sheet.row(r) for r in rows[:8]])}"
        )
    new = {}
    for row in rows:
        cell = _new_cell(sheet, column, row, wish, value)
        if cell is None:
            problems.append(
                f"Not changed: {code(sheet.names[column])} of {link(sheet.path)} holds {sheet.columns[column].kind}s, and {code(value)} is none."
            )
            break
        new[row] = {column: cell}
    if problems:
        raise CannotDo(problems[0])
    return (yield from rewritten(desk, sheet, new))


def _columns(sheet: Sheet, wanted: Sequence[str], wish: Wish, value: str) -> list[tuple[int, list[str]]]:
    """The columns that may be meant, with the words that named each."""
    found = _column(sheet, wanted)
    fits = found is not None and (
        sheet.columns[found[0]].kind != "number" or cells.number(value) is not None or wish.kind == "step"
    )
    if found is not None and fits:
        return [found]
    if wish.kind == "step":
        amounts = [
            n
            for n, c in enumerate(sheet.columns)
            if c.kind == "number" and not c.is_key and set(c.words) & _AMOUNTS
        ]
        return [(amounts[0], [w for w in wanted if w in {"quantity", "stock", "count"}])] if amounts else []
    word = value.lower()
    told = re.fullmatch(r"(not |un|no longer )?([\w-]+)", word)
    results: list[tuple[int, list[str]]] = []
    if told:
        bare = SAME.get(told[2], told[2])
        for number, column in enumerate(sheet.columns):
            if column.kind == "truth" and (among(bare, column.words) or OPPOSITES.get(bare) in column.words):
                results.append((number, []))
    if not results:
        # A value the column knows already: "order 1003 is cancelled".
        results = [
            (n, [])
            for n, c in enumerate(sheet.columns)
            if c.kind == "text" and len(set(c.cells)) < len(c.cells) and word in {x.lower() for x in c.cells}
        ]
    if not results and "@" in value:
        results = [(n, []) for n, c in enumerate(sheet.columns) if c.has("email", "mail")]
    return results[:1]


def _new_cell(sheet: Sheet, number: int, row: int, wish: Wish, value: str) -> str | None:
    """What the cell becomes; None when it does not go with the column."""
    column = sheet.columns[number]
    if wish.kind == "step":
        old, step = column.number(row), re.fullmatch(r"(\d+(?:[.,]\d+)?)(%?)", value)
        if old is None or step is None:
            return None
        amount = Decimal(step[1].replace(",", "."))
        return like(column.cells[row], old + wish.sign * (old * amount / 100 if step[2] else amount))
    if column.kind == "truth":
        told = re.fullmatch(r"(not |un|no longer )?([\w-]+)", value.lower())
        plain = cells.truth(value)
        if plain is not None:
            return truth_word(sheet, number, yes=plain)
        if told is None:
            return None
        word = SAME.get(told[2], told[2])
        opposite = OPPOSITES.get(word) in column.words
        return (
            truth_word(sheet, number, yes=(told[1] is None) != opposite)
            if opposite or among(word, column.words)
            else None
        )
    if column.kind == "number":
        figure = re.search(r"-?\d+(?:[.,]\d+)?", value)
        return (
            like(column.cells[row] or figure.group(), Decimal(figure.group().replace(",", ".")))
            if figure and cells.number(value) is not None
            else None
        )
    if column.kind == "date" and cells.day(value) is None:
        return None
    known = next((c for c in column.cells if c.lower() == value.lower()), None)
    return known or value


def remove_row(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The one row that all the words describe is taken out."""
    wanted = tokens(ask.plain(f"{wish.what} {wish.where}"))
    telling = [w for w in tokens(ask.plain(wish.what)) if w not in SOFT]
    if not telling or set(telling) & {"duplicate", "empty", "blank", "column"}:
        raise NotMine
    readings = []
    for sheet in (yield from sheets_of(desk, ask, wish.where, telling)):
        around = names_of(sheet.path) | sheet.nouns
        rows = [
            r
            for r in range(sheet.size)
            if not missing(wanted, _words_of(sheet, r), around)
            and any(among(w, _words_of(sheet, r)) for w in telling)
        ]
        if rows:
            readings.append((len(rows), sheet, rows))
    if not readings:
        raise NotMine
    readings.sort(key=lambda r: r[0])
    number, sheet, rows = readings[0]
    if number > 1 and not re.match(r"(?:all|every|the rows|both)\b", wish.what, re.I):
        titles = [r for r in rows if set(tokens(sheet.columns[sheet.title()].cells[r])) == set(telling)]
        if len(titles) != 1:
            raise CannotDo(
                f"Not removed: {number} rows of {link(sheet.path)} fit “{clip(ask.plain(wish.what), 60)}”. Say which one, or “all”.\n\n{table(sheet.names, [sheet.row(r) for r in rows[:8]])}"
            )
        rows = titles
    return (yield from rewritten(desk, sheet, dict.fromkeys(rows)))


def move_row(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The one row the words describe becomes the first or the last."""
    wanted = [w for w in tokens(ask.plain(wish.what)) if w not in SOFT]
    for sheet in (yield from sheets_of(desk, ask, wish.where, wanted)):
        rows = [r for r in range(sheet.size) if wanted and not missing(wanted, _words_of(sheet, r))]
        if len(rows) != 1 or sheet.mark == "json":
            continue
        text = yield from full(desk, sheet.path)
        places = [n for n, line in enumerate(text.lines) if line.strip()][1:]
        if len(places) != sheet.size:
            continue
        line = text.lines[places[rows[0]]]
        rest = [n for n in places if n != places[rows[0]]]
        order = (
            [line, *(text.lines[n] for n in rest)]
            if wish.kind == "first"
            else [*(text.lines[n] for n in rest), line]
        )
        new = list(text.lines)
        for place, moved in zip(places, order, strict=True):
            new[place] = moved
        yield from put_lines(desk, text, new)
        return f"Moved the row {code(clip(line, 80))} of {link(sheet.path)} to the {'top' if wish.kind == 'first' else 'end'}."
    raise NotMine


def sort_rows(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The rows of a table in another order, in the file itself."""
    paths = [p for p in (yield from files(desk)) if is_table(p)]
    what = re.sub(r"\b(?:rows|entries|lines|records) (?:of|in)\b", " ", wish.what)
    chosen = named(what, ask, paths)
    sheets = yield from sheets_of(desk, ask, what, tokens(ask.plain(what)))
    if not chosen or len(chosen) != 1 or not sheets:
        raise NotMine
    sheet = sheets[0]
    said = re.sub(r"\b(?:column|then)\b.*$", "", ask.plain(wish.value))
    found = _column(sheet, tokens(said)) if said else (sheet.title(), [])
    if found is None:
        raise CannotDo(
            f"Not sorted: {link(sheet.path)} has no column {code(said)}. Its columns: {', '.join(code(n) for n in sheet.names)}."
        )
    column = sheet.columns[found[0]]

    def key(row: int) -> tuple[Decimal, str]:
        value = column.number(row) if column.kind == "number" else None
        day = column.day(row) if column.kind == "date" else None
        return value or Decimal(
            day.toordinal() if day else 0
        ), "" if value is not None or day else column.cells[row].casefold()

    filled = [r for r in range(sheet.size) if column.cells[r]]
    order = sorted(filled, key=key, reverse=wish.sign < 0) + [
        r for r in range(sheet.size) if not column.cells[r]
    ]
    text = yield from full(desk, sheet.path)
    if sheet.mark == "json":
        raise NotMine
    places = [n for n, line in enumerate(text.lines) if line.strip()][1:]
    if len(places) != sheet.size:
        raise CannotDo(
            f"Not sorted: {link(sheet.path)} has cells with line breaks, and the demo model leaves such a file as it is."
        )
    new = list(text.lines)
    for place, row in zip(places, order, strict=True):
        new[place] = text.lines[places[row]]
    if new == text.lines:
        return (
            f"{link(sheet.path)} is in this order already: {count(sheet.size, 'row')} by {code(column.name)}."
        )
    yield from put_lines(desk, text, new)
    return f"Sorted the {count(sheet.size, 'row')} of {link(sheet.path)} by {code(column.name)}, {'falling' if wish.sign < 0 else 'rising'}. “undo” takes it back."


def rewritten(desk: Desk, sheet: Sheet, new: Rows) -> Move[str]:
    """Rows changed (a mapping of cells) or taken out (None), and told as a table."""
    text = yield from full(desk, sheet.path)
    after = lines_with(text.lines, sheet, new)
    if after == text.lines:
        return f"Nothing to change: {count(len(new), 'row')} of {link(sheet.path)} {'is' if len(new) == 1 else 'are'} so already."
    yield from put_lines(desk, text, after)
    shown = []
    for row, changed in list(new.items())[:20]:
        shown.append(
            [
                clip(
                    cell
                    if changed is None or n not in changed or changed[n] == cell
                    else f"{cell or '(empty)'} → {changed[n] or '(empty)'}",
                    60,
                )
                for n, cell in enumerate(sheet.row(row))
            ]
        )
    removed = all(value is None for value in new.values())
    return f"{'Removed' if removed else 'Changed'} {count(len(new), 'row')} of {link(sheet.path)}:\n\n{table(sheet.names, shown)}\n\n“undo” takes it back."
