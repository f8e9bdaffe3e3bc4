"""The rows and numbers of a query in words."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.query import Query, computed, grouped
from sessions_app.agent.providers.demo.sheets.sheet import Sheet
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, link, table

MOST_SHOWN = 40
_FEW = 12
_OPERATIONS = {"sum": "Sum", "average": "Average", "median": "Median", "max": "Largest", "min": "Smallest"}


def conditions(sheet: Sheet, query: Query) -> str:
    """ " where …", as the question was understood; empty without conditions."""
    said = [c.words(sheet) for c in query.conditions]
    return f" where {' and '.join(said)}" if said else ""


def source(sheet: Sheet) -> str:
    """The file, or the two files, an answer comes from."""
    if sheet.joined:
        return f"{link(sheet.joined[0].path)} with {link(sheet.joined[1].path)}"
    return link(sheet.path)


def answered(sheet: Sheet, query: Query, *, who: bool = False) -> str:
    """The answer to a query."""
    rows = query.rows(sheet)
    where = conditions(sheet, query)
    if query.group is not None:
        return _groups(sheet, query, rows, where)
    if query.operation == "values" or (query.operation == "count" and query.distinct and query.shown):
        return _values(sheet, query, rows, where)
    if query.operation == "rows":
        return _rows(sheet, query, rows, where, who=who)
    if not rows:
        number = (
            ": the number is **0**." if query.operation == "count" else ", so there is nothing to compute."
        )
        return f"No row of {source(sheet)} fits{where}{number}"
    value = computed(sheet, query, rows)
    name = code(sheet.columns[query.column].name) if query.column is not None else ""
    if value is None:
        return f"No row of {source(sheet)}{where} has a number in {name}, so there is nothing to compute."
    text = cells.plain(value.normalize() if query.operation == "average" else value) + unit_of(sheet, query)
    if query.operation == "count":
        lead = f"Number of rows in {source(sheet)}{where}: **{text}**."
        only = query.conditions[0] if len(query.conditions) == 1 else None
        if only is not None and only.test in {"true", "empty"}:
            lead += f" The other {sheet.size - len(rows)} of {sheet.size}: not."
    else:
        used = sum(sheet.columns[query.column or 0].number(row) is not None for row in rows)
        left = f", {len(rows) - used} without a number left out" if used < len(rows) else ""
        lead = f"{_OPERATIONS[query.operation]} of {name} in {source(sheet)}{where}: **{text}** ({count(used, 'row')}{left})."
    if where and len(rows) <= _FEW:
        lead += "\n\n" + _table(sheet, query, rows)
    return lead


def unit_of(sheet: Sheet, query: Query) -> str:
    """The unit all numbers of the column have, with the space in front of it."""
    if query.operation == "count" or query.column is None:
        return ""
    units = sheet.columns[query.column].units
    only = next(iter(units)) if len(units) == 1 else ""
    return f" {only}" if only and only != "%" else only


def columns_shown(sheet: Sheet, query: Query, *, who: bool = False) -> list[int]:
    """The columns a table of rows has: those asked for with what the rows are called, else the file's own."""
    title = sheet.persons() if who and sheet.persons() is not None else sheet.title()
    tested = [c.column for c in query.conditions] + ([query.order] if query.order is not None else [])
    if query.shown:
        wanted = list(query.shown)
        front = (
            []
            if title in wanted or (title is not None and sheet.columns[title].origin and not who)
            else [title or 0]
        )
        return list(dict.fromkeys([*front, *wanted, *([query.order] if query.order is not None else [])]))
    own = [n for n, column in enumerate(sheet.columns) if not column.origin]
    front = [title] if who and title is not None else []
    return list(dict.fromkeys([*front, *own, *tested]))[:10]


def _table(sheet: Sheet, query: Query, rows: Sequence[int], *, who: bool = False) -> str:
    shown = columns_shown(sheet, query, who=who)
    return table(
        [sheet.columns[n].name for n in shown],
        [[clip(sheet.columns[n].cells[row], 60) for n in shown] for row in rows[:MOST_SHOWN]],
    )


def _rows(sheet: Sheet, query: Query, rows: Sequence[int], where: str, *, who: bool) -> str:
    if not rows:
        return f"No row of {source(sheet)} fits{where}."
    if query.limit and query.order is not None:
        end = "highest" if query.descending else "lowest"
        if sheet.columns[query.order].kind == "date":
            end = "latest" if query.descending else "earliest"
        several = f" {len(rows)}" if len(rows) > 1 else ""
        return f"The{several} {end} by {code(sheet.columns[query.order].name)} in {source(sheet)}{where}:\n\n{_table(sheet, query, rows, who=who)}"
    ordered = ""
    if query.order is not None:
        ordered = f", sorted by {code(sheet.columns[query.order].name)}{' falling' if query.descending else ''} (the file is unchanged)"
    more = f" The first {MOST_SHOWN} are shown." if len(rows) > MOST_SHOWN else ""
    if query.limit and not where:
        lead = f"The first {count(len(rows), 'row')} of {source(sheet)}{ordered}."
    elif where:
        lead = f"{count(len(rows), 'row')} of {source(sheet)} {'fits' if len(rows) == 1 else 'fit'}{where}{ordered}.{more}"
    else:
        lead = f"{count(len(rows), 'row')} of {source(sheet)}{ordered}.{more}"
    shown = columns_shown(sheet, query, who=who)
    person = sheet.persons()
    if who and person is not None:
        names = list(dict.fromkeys(c for row in rows if (c := sheet.columns[person].cells[row])))
        if names and len(names) <= 20:
            lead = f"{', '.join(f'**{name}**' for name in names)}. {lead}"
    if len(shown) == 1:
        every = list(dict.fromkeys(sheet.columns[shown[0]].cells[row] for row in rows))
        return f"{lead}\n\n{bullets(cell or '(empty)' for cell in every[:MOST_SHOWN])}"
    return f"{lead}\n\n{_table(sheet, query, rows, who=who)}"


def _values(sheet: Sheet, query: Query, rows: Sequence[int], where: str) -> str:
    number = query.shown[0]
    times: dict[str, int] = {}
    for row in rows:
        cell = sheet.columns[number].cells[row]
        times[cell] = times.get(cell, 0) + 1
    empty = times.pop("", 0)
    name = sheet.columns[number].name
    said = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    lead = f"{code(name)} in {source(sheet)}{where} has **{len(said)}** different {'value' if len(said) == 1 else 'values'}"
    lead += f", and {count(empty, 'row')} without one." if empty else "."
    more = f"\n\n{len(said) - MOST_SHOWN} more are not shown." if len(said) > MOST_SHOWN else ""
    return f"{lead}\n\n{table((name, 'rows'), [(clip(v, 80), str(n)) for v, n in said[:MOST_SHOWN]])}{more}"


def _groups(sheet: Sheet, query: Query, rows: Sequence[int], where: str) -> str:
    head = query.period or sheet.columns[query.group or 0].name
    results = grouped(sheet, query, rows)
    if query.operation == "count":
        what = "Number of rows"
    else:
        what = f"{_OPERATIONS[query.operation]} of {code(sheet.columns[query.column or 0].name)}"
    if not results:
        return f"No row of {source(sheet)} fits{where}, so there is nothing to compute."
    unit = unit_of(sheet, query)
    least = query.by_group == "least"
    best = (min if least else max)(value for _, value, _ in results)
    winners = [name or "(empty)" for name, value, _ in results if value == best]
    note = ""
    if len(results) > 1 and len(winners) <= 3:
        note = f" {'Lowest' if least else 'Highest'}: {' and '.join(f'**{w}**' for w in winners)} with **{cells.plain(best)}{unit}**."
    heading = "count" if query.operation == "count" else query.operation
    body = [(name or "(empty)", cells.plain(value) + unit, str(n)) for name, value, n in results[:MOST_SHOWN]]
    more = f"\n\n{len(results) - MOST_SHOWN} more groups are not shown." if len(results) > MOST_SHOWN else ""
    return f"{what} by {code(head)} in {source(sheet)}{where}.{note}\n\n{table((head, heading, 'rows'), body)}{more}"


def written(sheet: Sheet, query: Query, kind: str) -> str | None:
    """The rows of a query as the text of a file of that kind; None for a kind that is not known."""
    rows = query.rows(sheet)
    if query.group is not None:
        names = [query.period or sheet.columns[query.group].name, query.operation, "rows"]
        body = [[name, cells.plain(value), str(n)] for name, value, n in grouped(sheet, query, rows)]
    elif query.operation == "values":
        names = [sheet.columns[query.shown[0]].name]
        body = [
            [cell] for cell in dict.fromkeys(sheet.columns[query.shown[0]].cells[row] for row in rows) if cell
        ]
    else:
        shown = query.shown or [n for n, column in enumerate(sheet.columns) if not column.origin]
        if query.shown and kind != "txt":
            shown = columns_shown(sheet, query)
        names = [sheet.columns[n].name for n in shown]
        body = [[sheet.columns[n].cells[row] for n in shown] for row in rows]
    if kind in {"csv", "tsv"}:
        sink = io.StringIO()
        mark = "\t" if kind == "tsv" else (sheet.mark if sheet.mark in {",", ";"} else ",")
        csv.writer(sink, delimiter=mark, lineterminator="\n").writerows([names, *body])
        return sink.getvalue()
    if kind == "json":
        typed = [dict(zip(names, [_typed(cell) for cell in row], strict=True)) for row in body]
        return json.dumps(typed, indent=2, ensure_ascii=False) + "\n"
    if kind == "md":
        return table(names, body) + "\n"
    if kind == "txt":
        return "\n".join(", ".join(row) for row in body) + "\n"
    return None


def _typed(cell: str) -> object:
    """Plain numbers and true/false get their JSON type; everything else stays as it is written."""
    if re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", cell):
        return float(cell) if "." in cell else int(cell)
    return {"true": True, "false": False}.get(cell, cell)
