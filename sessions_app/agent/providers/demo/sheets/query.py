"""What is asked of a sheet, and the computing of it."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.sheet import Sheet
from sessions_app.agent.providers.demo.writing import code

Key = tuple[int, Decimal, str]


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of one column. `test`: is, has, empty, true, <, <=, >, >=, =, within (dates), month; `wanted` its values."""

    column: int
    test: str
    wanted: tuple[str, ...] = ()
    negated: bool = False

    def holds(self, sheet: Sheet, row: int) -> bool:
        """An empty or unreadable cell fulfils no comparison, negated or not."""
        column = sheet.columns[self.column]
        cell = column.cells[row].strip()
        if self.test == "empty":
            found = cells.is_empty(cell)
        elif self.test == "true":
            found = bool(cells.truth(cell))
        elif self.test == "is":
            found = cell.lower() in {w.lower() for w in self.wanted}
        elif self.test == "has":
            found = any(re.search(rf"(?<![^\W_]){re.escape(w)}", cell, re.I) for w in self.wanted)
        elif self.test in {"within", "month"}:
            day = column.day(row)
            if day is None:
                return False
            if self.test == "month":
                found = str(day.month) in self.wanted
            else:
                found = date.fromisoformat(self.wanted[0]) <= day <= date.fromisoformat(self.wanted[1])
        else:
            number = column.number(row)
            if number is None:
                return False
            bound = Decimal(self.wanted[0])
            found = {
                "<": number < bound,
                "<=": number <= bound,
                ">": number > bound,
                ">=": number >= bound,
                "=": number == bound,
            }[self.test]
        return found != self.negated

    def words(self, sheet: Sheet) -> str:
        """The condition as it was understood, for the reader."""
        name = code(sheet.columns[self.column].name)
        no = " not" if self.negated else ""
        if self.test == "empty":
            return f"{name} is{no} empty"
        if self.test == "true":
            return f"{name} is {'no or empty' if self.negated else 'yes'}"
        if self.test == "is":
            return f"{name} is{no} {' or '.join(code(w) for w in self.wanted)}"
        if self.test == "has":
            return f"{name} {'has not' if self.negated else 'has'} the word {' or '.join(code(w) for w in self.wanted)}"
        if self.test == "month":
            return (
                f"{name} is{no} in {' or '.join(cells.MONTHS[int(w) - 1].capitalize() for w in self.wanted)}"
            )
        if self.test == "within":
            return f"{name} is{no} {_span(*self.wanted)}"
        sign = {"<": "under", "<=": "at most", ">": "over", ">=": "at least", "=": "exactly"}[self.test]
        return f"{name} is{no} {sign} {self.wanted[0]}"


def _span(first: str, last: str) -> str:
    if first == date.min.isoformat():
        return f"up to {last}"
    if last == date.max.isoformat():
        return f"from {first} on"
    return f"on {first}" if first == last else f"between {first} and {last}"


@dataclass(slots=True)
class Query:
    """`operation`: rows, count, sum, average, median, min, max, values; columns by number."""

    operation: str = "rows"
    column: int | None = None
    conditions: list[Condition] = field(default_factory=list)
    group: int | None = None
    period: str = ""
    order: int | None = None
    descending: bool = False
    limit: int = 0
    shown: list[int] = field(default_factory=list)
    distinct: bool = False
    by_group: str = ""  # "most" or "least": which group has it

    def rows(self, sheet: Sheet) -> list[int]:
        """The rows that fulfil every condition, ordered and cut."""
        found = [n for n in range(sheet.size) if all(c.holds(sheet, n) for c in self.conditions)]
        if self.order is not None and self.group is None:
            known = [n for n in found if not cells.is_empty(sheet.columns[self.order].cells[n])]
            unknown = [n for n in found if n not in set(known)]
            known.sort(key=lambda n: sort_key(sheet, self.order or 0, n), reverse=self.descending)
            # With a limit an empty cell is neither the highest nor the lowest.
            found = known if self.limit else known + unknown
            if self.limit and len(found) > self.limit:
                edge = sort_key(sheet, self.order, found[self.limit - 1])
                found = found[: self.limit] + [
                    n for n in found[self.limit :] if sort_key(sheet, self.order, n) == edge
                ]
        elif self.limit and self.group is None:
            found = found[: self.limit]
        return found


def sort_key(sheet: Sheet, number: int, row: int) -> Key:
    """Numbers by size, dates by time, everything else by its letters."""
    column = sheet.columns[number]
    if column.kind == "number" and (value := column.number(row)) is not None:
        return (0, value, "")
    if column.kind == "date" and (day := column.day(row)) is not None:
        return (0, Decimal(day.toordinal()), "")
    return (1, Decimal(0), column.cells[row].lower())


def computed(sheet: Sheet, query: Query, rows: Sequence[int]) -> Decimal | None:
    """One number for these rows; None when there is nothing to compute it from."""
    if query.operation == "count" or query.column is None:
        return Decimal(len(rows))
    column = sheet.columns[query.column]
    numbers = [n for row in rows if (n := column.number(row)) is not None]
    if not numbers:
        return None
    if query.operation == "average":
        return sum(numbers, Decimal(0)) / len(numbers)
    if query.operation == "median":
        return statistics.median(numbers)
    if query.operation in {"min", "max"}:
        return min(numbers) if query.operation == "min" else max(numbers)
    return sum(numbers, Decimal(0))


def grouped(sheet: Sheet, query: Query, rows: Sequence[int]) -> list[tuple[str, Decimal, int]]:
    """(group, number, rows) of each group: periods in time, others by size."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(group_of(sheet, query, row), []).append(row)
    found = [
        (name, value, len(members))
        for name, members in groups.items()
        if (value := computed(sheet, query, members)) is not None
    ]
    down = query.by_group != "least" if query.by_group else query.descending or query.order is None
    if query.period and not query.by_group:
        return sorted(found)
    return sorted(found, key=lambda g: (-g[1] if down else g[1], g[0]))


def group_of(sheet: Sheet, query: Query, row: int) -> str:
    """The name of the group a row belongs to."""
    column = sheet.columns[query.group or 0]
    if not query.period:
        return column.cells[row].strip()
    day = column.day(row)
    if day is None:
        return ""
    if query.period == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02}"
    if query.period == "weekday":
        return day.strftime("%A")
    return day.isoformat()[: {"year": 4, "month": 7}.get(query.period, 10)]
