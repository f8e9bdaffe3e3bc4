"""Changes of rows: a row added, rows removed, a cell set in the rows that are described; nothing else of the file is touched."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from decimal import Decimal

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.jobs.data import tables
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.reading import Reading, read
from sessions_app.agent.providers.demo.sheets.sheet import Sheet, is_table
from sessions_app.agent.providers.demo.sheets.wording import conditions
from sessions_app.agent.providers.demo.sheets.words import alike
from sessions_app.agent.providers.demo.writing import clip, code, count, link, table

_ADD = re.compile(
    r"(?:add|insert|append|put|enter|record|create|register)\b(?: me)? (?:an? |another |the |one |new |further )*(?P<what>[\w ]{0,40}?)(?: (?:in|to|into|for) (?:the )?(?:file |table )?(?P<where>‹p\d+›|[\w-]+(?: table| file| list| csv)?))?(?: ?[:,] ?| (?:called|named|with|for|saying) )(?P<cells>.+)$",
    re.I | re.S,
)
_ADD_QUOTED = re.compile(
    r"(?:add|insert|append|put)\b (?P<cells>.+?) (?:to|into|in) (?:the |my |our )?(?:file |table |list of )?(?P<where>‹p\d+›|[\w-]+(?: table| file| list| csv)?)(?: as (?:an? )?new (?:\w+))?$",
    re.I | re.S,
)
_REMOVE = re.compile(
    r"(?:delete|remove|drop|erase|take out|get rid of|throw out|cancel)\b (?P<which>.+)$", re.I | re.S
)
_SET = (
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
    for change in (_stepped, _set, _removed, _added):
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


def _column(sheet: Sheet, words: str) -> int | None:
    said = [
        w
        for w in re.findall(r"[^\W_]+", words.lower().replace("e-mail", "email"))
        if w not in {"the", "its", "their", "number", "address"}
    ]
    for number, column in enumerate(sheet.columns):
        if [w.lower() for w in column.words] == said:
            return number
    fitting = [
        n
        for n, c in enumerate(sheet.columns)
        if said and all(any(alike(w, x) for x in c.words) for w in said)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _set(desk: Desk, ask: Ask, sheets: Sequence[Sheet]) -> Move[str | None]:
    for pattern in _SET:
        found = pattern.match(ask.text)
        if found is None:
            continue
        word = found["column"]
        having = [(s, n) for s in sheets if (n := _column(s, word)) is not None]
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
            new = _truth_word(reading.sheet, column, yes=not found["negative"])
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


def _truth_word(sheet: Sheet, column: int, *, yes: bool) -> str:
    """The word this column uses for a yes or a no."""
    said = [c for c in sheet.columns[column].cells if cells.truth(c) is yes and c]
    if said:
        return said[0]
    other = next((c for c in sheet.columns[column].cells if c), "yes")
    pairs = {"yes": "no", "true": "false", "y": "n", "1": "0", "ja": "nein", "x": "", "oui": "non"}
    back = {v: k for k, v in pairs.items() if v}
    return (back if yes else pairs).get(other.lower(), "yes" if yes else "no")


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
        if (n := _column(s, found["column"])) is not None and s.columns[n].kind == "number"
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
        new[row] = {column: _like(reading.sheet.columns[column].cells[row], value)}
    return (yield from _rewritten(desk, reading, new))


def _like(old: str, value: Decimal) -> str:
    """A number written as the old cell was: its decimals, its comma, its unit."""
    digits = re.search(r"-?\d[\d.,' ]*\d|\d", old)
    if digits is None:
        return cells.plain(value)
    places = re.search(r"[.,](\d{1,2})$", digits.group())
    rounded = (
        value.quantize(Decimal(1).scaleb(-len(places.group(1))))
        if places
        else value.quantize(Decimal("0.01"))
    )
    text = (
        f"{rounded:f}"
        if places
        else cells.plain(rounded).rstrip("0").rstrip(".")
        if "." in f"{rounded:f}"
        else f"{rounded:f}"
    )
    if places and places.group().startswith(","):
        text = text.replace(".", ",")
    return old[: digits.start()] + text + old[digits.end() :]


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


def _rewritten(
    desk: Desk, reading: Reading, new: dict[int, dict[int, str] | None] | dict[int, dict[int, str]]
) -> Move[str]:
    """Rows changed (a mapping of cells) or taken out (None); every other line stays as it is."""
    sheet = reading.sheet
    if not new:
        raise CannotDo(f"Not changed: no row of {link(sheet.path)} fits{conditions(sheet, reading.query)}.")
    text = yield from moves.full(desk, sheet.path)
    before = [sheet.row(row) for row in new]
    after = _lines_with(text, sheet, new)
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


def _lines_with(
    text: FileText, sheet: Sheet, new: dict[int, dict[int, str] | None] | dict[int, dict[int, str]]
) -> list[str]:
    if sheet.mark == "json":
        return _json_with(text.text, sheet, new).split("\n")
    places = _places(text.lines, sheet)
    result: list[str] = []
    for number, line in enumerate(text.lines):
        row = places.get(number)
        if row is None or row not in new:
            result.append(line)
            continue
        changed = new[row]
        if changed is None:
            continue
        fields = next(csv.reader([line], delimiter=sheet.mark))
        fields += [""] * (len(sheet.columns) - len(fields))
        result.append(_csv_line([changed.get(n, cell) for n, cell in enumerate(fields)], sheet.mark))
    return result


def _places(lines: Sequence[str], sheet: Sheet) -> dict[int, int]:
    """Line number → row number. Raises CannotDo for cells with line breaks."""
    full = [
        n
        for n, line in enumerate(lines)
        if line.strip() and any(c.strip() for c in next(csv.reader([line], delimiter=sheet.mark)))
    ][1:]
    if len(full) != sheet.size:
        raise CannotDo(
            f"Not changed: {link(sheet.path)} has cells with line breaks, and the demo model leaves such a file as it is."
        )
    return {line: row for row, line in enumerate(full)}


def _csv_line(fields: Sequence[str], mark: str) -> str:
    sink = io.StringIO()
    csv.writer(sink, delimiter=mark, lineterminator="").writerow(fields)
    return sink.getvalue()


def _json_with(
    text: str,
    sheet: Sheet,
    new: dict[int, dict[int, str] | None] | dict[int, dict[int, str]],
    added: dict[str, object] | None = None,
) -> str:
    data = json.loads(text.lstrip("\ufeff"))
    items = (
        data
        if isinstance(data, list)
        else next(v for v in data.values() if isinstance(v, list) and v and isinstance(v[0], dict))
    )
    kept = []
    for row, item in enumerate(items):
        changed = new.get(row, {})
        if changed is None:
            continue
        for number, cell in changed.items():
            name = sheet.names[number]
            item[name] = _typed(cell, item.get(name))
        kept.append(item)
    if added is not None:
        kept.append(added)
    items[:] = kept
    if isinstance(data, list) and re.search(r"^\s*\{.*\},?$", text, re.M):
        # One object for each line, as it was.
        inner = re.search(r"^(\s*)\{", text.split("\n", 1)[-1])
        pad = inner.group(1) if inner else ""
        return "[\n" + ",\n".join(pad + json.dumps(item, ensure_ascii=False) for item in kept) + "\n]"
    indent = re.search(r"\n( +)[\"{\[]", text)
    return json.dumps(data, indent=len(indent.group(1)) if indent else None, ensure_ascii=False)


def _typed(cell: str, old: object) -> object:
    if isinstance(old, bool):
        return bool(cells.truth(cell))
    if isinstance(old, (int, float)) and (value := cells.number(cell)) is not None:
        return int(value) if value == value.to_integral() else float(value)
    return cell


def _added(desk: Desk, ask: Ask, sheets: Sequence[Sheet]) -> Move[str | None]:
    found = _ADD.match(ask.text) or _ADD_QUOTED.match(ask.text)
    if found is None:
        return None
    groups = found.groupdict()
    said = f"{groups.get('what') or ''} {ask.plain(groups.get('where') or '')}".lower()
    words = re.findall(r"[^\W\d_]{3,}", said)
    named = [
        s
        for s in sheets
        if s.path in said or any(w in s.nouns or any(alike(w, n) for n in s.nouns) for w in words)
    ]
    if len(sheets) == 1 and re.search(r"\b(?:row|entry|record|line)\b", said):
        named = list(sheets[:1])
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
        after = _json_with(text.text, sheet, {}, item).split("\n")
    else:
        lines = list(text.lines)
        while lines and not lines[-1].strip():
            lines.pop()
        after = [*lines, _csv_line(row, sheet.mark)]
    yield from put_lines(desk, text, after)
    empty = [sheet.names[n] for n in range(len(row)) if not row[n]]
    left = f"\n\nLeft empty: {', '.join(code(n) for n in empty)}." if empty else ""
    return f"Added a row to {link(sheet.path)}:\n\n{table(sheet.names, [row])}{left}"


def _of_kind(sheet: Sheet, number: int, cell: str) -> object:
    kind = sheet.columns[number].kind
    if kind == "truth":
        return bool(cells.truth(cell))
    value = cells.number(cell) if kind == "number" else None
    return cell if value is None else int(value) if value == value.to_integral() else float(value)


def _placed(ask: Ask, said: str, sheet: Sheet) -> dict[int, str] | str:
    """Which cell gets what: "email x" by its heading, an address, number or date by its kind, the rest in order. A text says what does not fit."""
    parts = [
        p.strip()
        for p in re.split(r"[,;]\s*(?![^‹]*›)|\s+and\s+(?=(?:the |a )?[\w-]+ (?:is |= ?)?\S)", said)
        if p and p.strip()
    ]
    values: dict[int, str] = {}
    loose: list[str] = []
    for part in parts:
        plain = re.sub(
            r"^(?:and|with|in|from|a|an|the|it|costs?|for)\s+",
            "",
            ask.plain(part).strip().strip("\"'").rstrip("."),
            flags=re.I,
        )
        pair = re.match(r"(?P<name>[\w -]+?)\s*(?::|=|\bis\b|\bof\b)\s*(?P<value>.+)$", plain) or re.match(
            r"(?P<name>[\w-]+) (?P<value>.+)$", plain
        )
        number = _column(sheet, pair["name"]) if pair else None
        if pair and number is None and (turned := re.match(r"(?P<value>\S+) (?P<name>[\w-]+)$", plain)):
            number, pair = _column(sheet, turned["name"]), turned
        if pair and number is not None and number not in values:
            values[number] = pair["value"].strip().strip("\"'")
        else:
            loose.append(plain)
    free = [n for n in range(len(sheet.columns)) if n not in values]
    ids = _next_number(sheet)
    if ids is not None and ids[0] in free and len(loose) < len(free):
        values[ids[0]] = ids[1]
        free.remove(ids[0])
    for value in loose:
        fitting = [n for n in free if _fits(sheet, n, value)]
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


def _next_number(sheet: Sheet) -> tuple[int, str] | None:
    """The numbering column and its next number."""
    first = sheet.columns[0]
    if first.is_key and first.cells and all(c.isdigit() for c in first.cells):
        return 0, str(max(int(c) for c in first.cells) + 1)
    return None


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
