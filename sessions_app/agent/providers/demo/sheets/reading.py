"""From a marked question to a query: every part of the grammar takes its words away, and none may be left over."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.sheets.asking import Asking
from sessions_app.agent.providers.demo.sheets.comparing import Comparing
from sessions_app.agent.providers.demo.sheets.marks import K, V, marked, unit_group
from sessions_app.agent.providers.demo.sheets.ordering import Ordering
from sessions_app.agent.providers.demo.sheets.query import Query
from sessions_app.agent.providers.demo.sheets.selecting import Selecting
from sessions_app.agent.providers.demo.sheets.sheet import Sheet
from sessions_app.agent.providers.demo.sheets.words import (
    AGREED,
    FILLING,
    HAPPENED,
    MEANING,
    MONEY_WORDS,
    ROLES,
)


@dataclass(slots=True)
class Reading:
    """How a sheet understands a question. `unknown` are the words it has no meaning for; `weight` is how much of it it knows."""

    sheet: Sheet
    query: Query
    unknown: list[str] = field(default_factory=list)
    weight: int = 0
    measured: bool = False  # an operation was named, not only matters
    named_rows: bool = False
    lost: bool = False  # a word that changes the meaning is left over


def read(ask: Ask, sheet: Sheet, today: date | None = None) -> Reading:
    """The question as this sheet understands it."""
    return _Reader(marked(ask, sheet, today), sheet, today, ask.text).reading()


class _Reader(Ordering, Comparing, Selecting, Asking):
    """All parts of the grammar, in their order."""

    def reading(self) -> Reading:
        for part in (self.told,
            self.sorting, self.limits, self.grouping, self.overdue, self.spans, self.comparisons, self.emptiness,
                     self.truths, self.identities, self.excluded, self.included, self.operation, self.projection):  # fmt: skip
            part()
        return self._finished()

    def _finished(self) -> Reading:
        query = self.query
        if (
            query.limit
            and query.order is not None
            and re.match(r" ?(?:is|are|has|have|was|were|did|does|do)\b", self.found.text)
        ):
            # "Has the biggest order been paid?" chooses by size; whether it is paid is what to tell.
            asked = [c for c in query.conditions if c.test in {"true", "empty"}]
            query.conditions = [c for c in query.conditions if c not in asked]
        dated = (
            any(c.test in {"within", "month"} for c in query.conditions)
            or (query.order is not None and self.sheet.columns[query.order].kind == "date")
            or bool(query.period)
            or any(c.kind == "date" and not c.origin for c in self.sheet.columns)
        )
        money = (
            query.column is not None
            or any(c.test in {"<", ">", "<=", ">=", "="} for c in query.conditions)
            or any(
                self.sheet.columns[n].has(*ROLES["money"])
                for n in [*query.shown, *([query.order] if query.order is not None else [])]
            )
        )
        several = any(len(c.wanted) > 1 for c in query.conditions)
        truth = any(c.test in {"true", "empty"} for c in query.conditions)
        money = money or self.role("money", None) is not None
        if (self.sheet.extra_nouns or any(c.reference for c in self.sheet.columns)) and any(
            c.test == "empty" and not c.negated and all(self.sheet.columns[c.column].cells)
            for c in query.conditions
        ):
            # "Students without a grade" of a table of grades: it has no row for them.
            self.failed.append("no")
        unknown: list[str] = []
        lost = bool(self.failed)
        for word in re.findall(r"‹[qnvd]\d+›|[^\W_][\w'-]*", re.sub(r"‹t\d+›", " ", self.text)):
            if word.startswith("‹"):
                unknown.append(self._said(word))
                lost = True
            elif (
                (word in FILLING and word not in MEANING)
                or (
                    unit_group(word)
                    and any(w in unit_group(word) for c in self.sheet.columns for w in c.words)
                )
                or (word in HAPPENED and dated)
                or (word in MONEY_WORDS and money)
                or (word == "or" and several)
                or (word == "but" and len(query.conditions) > 1)
                or (word in AGREED and truth)
            ):
                continue
            else:
                unknown.append(word)
                lost = lost or word in MEANING
        crossed = self._crossed_or()
        weight = (
            int(self.asks_who and self.sheet.persons() is not None)
            + self.weight
            + self.found.nouns
            + self.found.exact
            + len(self.found.columns)
            + len(self.found.values)
        )
        return Reading(
            self.sheet,
            query,
            [*self.failed, *unknown, *(["or"] if crossed else [])],
            weight,
            self.measured,
            bool(self.found.nouns),
            lost or crossed,
        )

    def _said(self, mark: str) -> str:
        """What a mark stands for."""
        number = self.found.number(mark)
        if mark[1] == "v":
            return self.found.values[number][1]
        return (
            self.found.numbers[number][0]
            if mark[1] == "n"
            else {"d": "the date"}.get(mark[1], "the quotation")
        )

    def _crossed_or(self) -> bool:
        """ "in Berlin or paid": either of two different tests, which a query cannot hold."""
        for found in re.finditer(rf"({V}|{K}) or (?:[^\W\d_]+ )*?({V}|{K})", self.found.text):
            sides = [
                self.found.values[self.found.number(m)][0] if m[1] == "v" else self.column(m)
                for m in found.groups()
            ]
            if sides[0] != sides[1]:
                return True
        return False
