"""What is to come out: a count, a sum, an average, values, or the rows with some columns."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.sheets.grammar import Grammar
from sessions_app.agent.providers.demo.sheets.marks import K, unit_group
from sessions_app.agent.providers.demo.sheets.words import ADJECTIVES, MONEY_WORDS, degree

_COUNT = r"\b(?:how many|number of|count(?: of| up)?|how often|wie ?viele)\b"
_SUM = r"\b(?:how much|sum(?: of| up)?|total(?:s| of)?|add up|altogether|in all|overall|in total|total amount|wie ?viel|combined|together)\b"
_AVERAGE = r"\b(?:average|mean|avg|on average|averaged|typical)\b"
_DISTINCT = r"\b(?:unique|distinct|different)\b"


class Asking(Grammar):
    """The parts that say what is asked of the rows."""

    def operation(self) -> None:
        query = self.query
        spoken = self.money or any(w in MONEY_WORDS for w in re.findall(r"[^\W\d_]+", self.text))
        self.weight += spoken and not self.money
        self.money = spoken
        counted = self.take(_COUNT)
        average = self.take(_AVERAGE) or self.take(r"\bmedian\b")
        summed = self.take(_SUM)
        distinct = self.take(_DISTINCT)
        while self.take(_SUM):
            pass
        if not (counted or average or summed or distinct):
            if query.group is not None:
                query.operation = (
                    "count"
                    if query.column is None and not self.money and self._sum_column() is None
                    else "sum"
                )
                if query.operation == "sum":
                    query.column = query.column if query.column is not None else self._sum_column()
                    mean = self.sheet.columns[query.column or 0].has(
                        "temperature", "temp", "rate", "score", "percent", "age", "rating", "grade"
                    )
                    query.operation = "average" if mean else "sum"
            return
        self.measured = True
        if average:
            self._aggregate("median" if average.group() == "median" else "average", required=True)
        elif (
            counted
            and re.match(r" ([^\W\d_]+)", self.found.text.split(counted.group(), 1)[-1])
            and self._counts_units(counted)
        ):
            self._aggregate("sum", required=True)
        elif counted and self.counted is not None:
            query.operation, query.column = "sum", self.counted
        elif counted and not (
            re.search(r"^ ‹k", self.found.text.split(counted.group(), 1)[-1])
            and self._counts_a_number(counted)
        ):
            query.operation = "count"
            query.column = None
            if distinct:
                query.distinct = True
        elif distinct:
            query.operation = "values"
        elif counted or not self.superlative:
            self._aggregate("sum", required=True)

    def _counts_units(self, counted: re.Match[str]) -> bool:
        """ "how many grams" is a sum of the column of that unit."""
        word = re.match(r" ([^\W\d_]+)", self.found.text[counted.end() :])
        group = unit_group(word.group(1)) if word else ()
        return any(set(group) & set(c.words) for c in self.sheet.columns)

    def _counts_a_number(self, counted: re.Match[str]) -> bool:
        """ "how many pages" of a column of numbers is their sum; "how many orders" is a count."""
        mark = re.match(rf" (?:of )?({K})", self.found.text[counted.end() :])
        if mark is None:
            return False
        column = self.sheet.columns[self.column(mark.group(1))]
        return column.kind == "number" and not column.is_key and not column.reference

    def _sum_column(self) -> int | None:
        named = [*self.query.shown, *(self.column(m.group()) for m in re.finditer(K, self.text))]
        fitting = [
            n
            for n in named
            if self.sheet.columns[n].kind == "number" and n != self.query.group and not self._names_rows(n)
        ]
        if fitting:
            return fitting[0]
        if (
            any(self.sheet.columns[n].kind == "text" and n != self.query.group for n in named)
            and not self.money
        ):
            return None
        if self.found.nouns and not self.money and not re.search(_SUM, self.found.text):
            return None
        money = self.role("money", None)
        if money is not None:
            return money
        every = [
            n
            for n, c in enumerate(self.sheet.columns)
            if c.kind == "number" and not c.origin and self._adds_up(n)
        ]
        return (
            every[0]
            if len(every) == 1 and not self.money and re.search(f"{_SUM}|{_AVERAGE}", self.found.text)
            else None
        )

    def _aggregate(self, operation: str, *, required: bool) -> None:
        column = self._sum_column()
        if column is None:
            column = (
                next((c.column for c in self.query.conditions if c.test in {"<", ">", "<=", ">="}), None)
                if not self.money
                else None
            )
        if column is None:
            column = self.role("money", None)
        if column is None and not self.money:
            every = [
                n
                for n, c in enumerate(self.sheet.columns)
                if c.kind == "number" and not c.origin and self._adds_up(n)
            ]
            column = every[0] if len(every) == 1 else None
        if column is None:
            if required:
                self.failed.append({"sum": "how much"}.get(operation, operation))
            return
        sold = [
            c.name
            for c in self.sheet.columns
            if not c.origin
            and c.kind == "number"
            and c.has("quantity", "qty", "sold", "stock", "copies", "pieces", "units")
        ]
        if (
            operation == "sum"
            and sold
            and self.money
            and self.sheet.columns[column].has("price")
            and not any(c.column == self.sheet.title() for c in self.query.conditions)
        ):
            # The sum of unit prices is no money that anybody got or paid.
            self.failed.append(
                f"how much ({self.sheet.columns[column].name} would have to be multiplied by {sold[0]})"
            )
            return
        units = self.sheet.columns[column].units - {""}
        if len(units) > 1:
            self.failed.append(
                f"{self.sheet.columns[column].name}, which mixes {' and '.join(sorted(units))}"
            )
            return
        self.query.operation, self.query.column = operation, column

    def told(self) -> None:
        """What is to be told of the rows, not what they are chosen by: "how old is Henrik", "and has it been paid"."""
        while found := self.take(
            rf"\b(?:and |, )?(?:has|have|is|are|was|were|does|do|did) (?:it|they|he|she|this|that)(?: (?:already|been|also|yet|have|has|still))* ({K})"
        ):
            self.query.shown.append(self.column(found.group(1)))
        if found := self.take(r"\bhow (?!many\b|much\b)([^\W\d_]+) (?=is\b|are\b|was\b|were\b|does\b)"):
            adjective, kind = degree(found.group(1))
            column = self.role(ADJECTIVES[adjective][0], found.start()) if adjective and not kind else None
            if column is None:
                self.failed.append(found.group(1))
            else:
                self.query.shown.append(column)
                self.measured = True

    def projection(self) -> None:
        query = self.query
        left = [self.column(m.group()) for m in re.finditer(K, self.text)]
        while self.take(K):
            pass
        tested = {c.column for c in query.conditions}
        told = list(query.shown)
        query.shown = [
            n for n in dict.fromkeys([*told, *left]) if n in told or n not in tested or len(set(left)) > 1
        ]
        if query.operation in {"rows", "values"} and query.group is None:
            if query.operation == "values" and not query.shown:
                self.failed.append("different")
            if (
                query.operation == "rows"
                and not query.conditions
                and not query.limit
                and query.order is None
                and len(query.shown) == 1
                and not re.search(
                    r"‹t\d+› and ‹k|‹k\d+› (?:and|of (?:all|each|every)) (?:the |our )?‹t", self.found.text
                )
            ):
                # "what categories are there": each once.
                query.operation = "values"
        elif (
            query.operation == "count"
            and query.group is None
            and not query.conditions
            and query.shown
            and not self.found.nouns
            and self.sheet.columns[query.shown[0]].kind == "text"
        ):
            query.distinct = True
        if self.superlative and self.plain_extreme and query.order is None and query.group is None:
            # "Who wrote the most books" counts the rows of each person; "the most" of nothing is not understood.
            person = self.sheet.persons() if self.asks_who else None
            if person is None or not self._groups(person):
                self.failed.append("most")
            else:
                query.group, query.by_group, query.operation, query.shown = (
                    person,
                    self.superlative,
                    "count",
                    [],
                )
        if query.by_group and query.group is not None and query.operation == "rows":
            query.operation = "count"
        if query.operation == "rows" and query.order is None:
            self._compared_rows()

    def _compared_rows(self) -> None:
        """ "who is older, Marta or Henrik": of the rows that are named, the one at the high end."""
        if not any(len(c.wanted) > 1 for c in self.query.conditions):
            return
        for word in re.findall(r"[^\W\d_]+", self.text):
            adjective, kind = degree(word)
            column = self.role(ADJECTIVES[adjective][0], None) if kind == "comparative" else None
            if column is None:
                continue
            self.take(rf"\b{word}\b")
            dated = self.sheet.columns[column].kind == "date"
            self.query.order, self.query.limit = column, 1
            self.query.descending = ADJECTIVES[adjective][1] != (dated and adjective in {"old", "young"})
            self.query.column = None if dated else column
            return
