"""What the parts of the grammar share: the marked text they take words from, and the columns words speak of."""

from __future__ import annotations

import re
from datetime import date

from sessions_app.agent.providers.demo.sheets.marks import K, Marked
from sessions_app.agent.providers.demo.sheets.query import Condition, Query
from sessions_app.agent.providers.demo.sheets.sheet import Sheet
from sessions_app.agent.providers.demo.sheets.words import ROLES


class Grammar:
    """A question while it is being read."""

    def __init__(self, found: Marked, sheet: Sheet, today: date | None, spoken: str = "") -> None:
        self.found, self.sheet, self.today, self.spoken = found, sheet, today, spoken
        self.text = found.text
        self.query = Query()
        self.measured = False
        self.weight = 0
        self.superlative = ""
        self.plain_extreme = False  # "the most", not "the cheapest"
        self.money = False
        self.counted: int | None = None  # the column whose numbers "how many" adds up
        self.asks_who = re.search(r"\bwho(?:se|m)?\b", found.text) is not None
        self.failed: list[str] = []

    def take(self, pattern: str) -> re.Match[str] | None:
        """Find the words and take them out, keeping every place."""
        match = re.search(pattern, self.text)
        if match is not None:
            self.text = (
                self.text[: match.start()] + re.sub(r"[^ ]", "·", match.group()) + self.text[match.end() :]
            )
            self.weight += 1
        return match

    def column(self, mark: str) -> int:
        return self.found.columns[self.found.number(mark)]

    def add(self, condition: Condition) -> None:
        """Values of one column stand for each other; everything else has to hold together."""
        for number, other in enumerate(self.query.conditions):
            if (other.column, other.test, other.negated) == (condition.column, condition.test, condition.negated) and other.test in {"is", "month"}:  # fmt: skip
                self.query.conditions[number] = Condition(
                    other.column, other.test, (*other.wanted, *condition.wanted), other.negated
                )
                return
        self.query.conditions.append(condition)

    def _digits(self, mark: str) -> str:
        return self.found.numbers[self.found.number(mark)][0]

    def _adds_up(self, number: int) -> bool:
        """Whether the numbers of a column make a sum that means anything: amounts do, ratings and ages do not."""
        column = self.sheet.columns[number]
        return not self._names_rows(number) and not column.has(
            *ROLES["quality"], *ROLES["age"], *ROLES["heat"], "year", "rate", "hour", "round", "number", "nr"
        )

    def _names_rows(self, number: int) -> bool:
        """Whether a column only numbers or references rows."""
        return self.sheet.columns[number].is_key or self.sheet.columns[number].reference

    def _groups(self, number: int) -> bool:
        """Whether several rows share the cells of this column."""
        said = [c for c in self.sheet.columns[number].cells if c]
        return len(set(said)) < len(said)

    def role(self, role: str, near: int | None) -> int | None:
        """The column an adjective speaks of: one that the question names, one whose heading says it, the only one of numbers."""
        want = "date" if role in {"time", "since"} else "number"
        named = [self.column(m.group()) for m in re.finditer(K, self.text)]
        fitting = [n for n in named if self.sheet.columns[n].kind == want]
        if fitting and (
            role in {"any", "size", "quality"}
            or any(self.sheet.columns[fitting[0]].has(w) for w in ROLES[role])
        ):
            return fitting[0]
        own = [
            n
            for n, c in enumerate(self.sheet.columns)
            if (c.kind == want or (role in {"age", "time"} and c.kind in {"number", "date"}))
            and not ((c.is_key or c.reference) and role not in {"age", "time"})
        ]
        own.sort(key=lambda n: bool(self.sheet.columns[n].origin))
        if role == "money":
            # Accounts with a column for what came in and one for what went out.
            said = set(re.findall(r"[^\W\d_]+", self.spoken.lower()))
            side = "in" if said & {"earn", "earned", "received", "income", "revenue", "got"} else "out"
            sides = [n for n in own if self.sheet.columns[n].words in {("in",), ("out",)}]
            if len(sides) == 2:
                return next(n for n in sides if self.sheet.columns[n].words == (side,))
        for word in ROLES[role]:
            for number in own:
                if self.sheet.columns[number].has(word):
                    return number
        if role == "size":
            return self.role("any", near)
        if role == "any":
            return (
                self.role("money", near)
                if len([n for n in own if not self.sheet.columns[n].origin]) != 1
                else own[0]
            )
        if role == "time":
            return next((n for n in own if self.sheet.columns[n].kind == "date"), None)
        if role == "age":
            born = [
                n
                for n in own
                if self.sheet.columns[n].has("birthday", "born", "birth", "dob", "birthdate", "geburtstag")
            ]
            if len(born) == 1:
                return born[0]
            return (
                next((n for n in own if self.sheet.columns[n].kind == "date"), None)
                if len(own) == 1
                else None
            )
        return None
