"""A table's text with some of its rows changed; every other line stays as it is."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.sheet import Sheet
from sessions_app.agent.providers.demo.sheets.words import alike
from sessions_app.agent.providers.demo.writing import link

#: Row number → the new cells by column, or None for a row that is taken out.
Rows = Mapping[int, Mapping[int, str] | None]


def column_called(sheet: Sheet, words: str) -> int | None:
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


def truth_word(sheet: Sheet, column: int, *, yes: bool) -> str:
    """The word this column uses for a yes or a no."""
    said = [c for c in sheet.columns[column].cells if cells.truth(c) is yes and c]
    if said:
        return said[0]
    other = next((c for c in sheet.columns[column].cells if c), "yes")
    pairs = {"yes": "no", "true": "false", "y": "n", "1": "0", "ja": "nein", "x": "", "oui": "non"}
    back = {v: k for k, v in pairs.items() if v}
    return (back if yes else pairs).get(other.lower(), "yes" if yes else "no")


def csv_line(fields: Sequence[str], mark: str) -> str:
    sink = io.StringIO()
    csv.writer(sink, delimiter=mark, lineterminator="").writerow(fields)
    return sink.getvalue()


def json_with(
    text: str,
    sheet: Sheet,
    new: Rows,
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


def lines_with(lines: Sequence[str], sheet: Sheet, new: Rows) -> list[str]:
    if sheet.mark == "json":
        return json_with("\n".join(lines), sheet, new).split("\n")
    places = _places(lines, sheet)
    result: list[str] = []
    for number, line in enumerate(lines):
        row = places.get(number)
        if row is None or row not in new:
            result.append(line)
            continue
        changed = new[row]
        if changed is None:
            continue
        fields = next(csv.reader([line], delimiter=sheet.mark))
        fields += [""] * (len(sheet.columns) - len(fields))
        result.append(csv_line([changed.get(n, cell) for n, cell in enumerate(fields)], sheet.mark))
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


def _typed(cell: str, old: object) -> object:
    if isinstance(old, bool):
        return bool(cells.truth(cell))
    if isinstance(old, (int, float)) and (value := cells.number(cell)) is not None:
        return int(value) if value == value.to_integral() else float(value)
    return cell


def like(old: str, value: Decimal) -> str:
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
