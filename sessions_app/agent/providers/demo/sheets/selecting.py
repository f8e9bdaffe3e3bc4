"""Which rows: empty cells, yes and no, numbers of rows, and values with their negations."""

from __future__ import annotations

import re
from datetime import date, timedelta

from sessions_app.agent.providers.demo.sheets.grammar import Grammar
from sessions_app.agent.providers.demo.sheets.marks import K, N, V
from sessions_app.agent.providers.demo.sheets.query import Condition

_GAP = r"(?:[^\W\d_‹›]+ ){0,4}?"
_NOT = r"(?:not|no|never|without|nobody|nothing|none)"
_COUNT = r"\b(?:how many|number of|count(?: of| up)?|how often|wie ?viele)\b"


class Selecting(Grammar):
    """The parts that select by what a cell holds."""

    def overdue(self) -> None:
        """A day that has passed, of what is not yet given back, paid or done."""
        if self.today is None or not self.take(r"\b(?:overdue|past due)\b"):
            return
        columns = list(enumerate(self.sheet.columns))
        due = next(
            (
                n
                for n, c in columns
                if c.kind == "date" and c.has("due", "deadline", "until", "expires", "expiry")
            ),
            None,
        )
        if due is None:
            self.failed.append("overdue")
            return
        yesterday = (self.today - timedelta(days=1)).isoformat()
        self.measured = True
        self.add(Condition(due, "within", (date.min.isoformat(), yesterday)))
        ended = next(
            (
                n
                for n, c in columns
                if not c.origin
                and c.has("returned", "paid", "done", "completed", "finished", "delivered", "closed")
            ),
            None,
        )
        if ended is not None:
            self._absent(ended, absent=True)

    def emptiness(self) -> None:
        said = (
            rf"\b(?:without|lack(?:s|ing)?|miss(?:es|ing)?) (?:an? |any |the |their |its )?({K})",
            rf"\b(?:no|have no|has no|with no) (?:the |known |valid )?({K})(?! (?:and|or) ‹[kv])",
            rf"({K}) (?:{_GAP})?(?:missing|empty|blank|unknown|not given|not filled in|not known|not there|lacking|left out)\b",
            rf"\b(?:missing|empty|blank) (?:in |for )?({K})",
            rf"\b(?:waiting|wait|waits|open|pending|outstanding) (?:for|on) (?:an? |the |their )?({K})",
            rf"\bnot (?:yet )?(?:have|had|got|given|gotten|received?|includ\w+|specif\w+|list\w*|enter\w*|told|left|get)(?: (?:yet|us|me))? (?:an? |any |the |their |us |me )*({K})",
        )
        for pattern in said:
            while found := self.take(pattern):
                self._absent(self.column(found.group(1)), absent=True)
        stock = self.role("stock", None)
        if self.take(
            r"\b(?:out of (?:stock|‹k\d+›)|sold out|run out(?: of)?|none left|not (?:in stock|in ‹k\d+›|available))"
        ):
            self._stock("=")
        elif stock is not None and not any(c.column == stock for c in self.query.conditions):
            inside = next(
                (
                    m
                    for m in re.finditer(rf"\b(?:left )?in ({K})", self.text)
                    if self.column(m.group(1)) == stock
                ),
                None,
            )
            if inside and re.search(_COUNT, self.text) and not self.found.nouns:
                self.take(re.escape(inside.group()))
                self.counted = stock
            elif inside or re.search(r"\bstill available\b", self.text):
                self.take(re.escape(inside.group()) if inside else r"\bstill available\b")
                self._stock(">")

    def _stock(self, sign: str) -> None:
        column = self.role("stock", None)
        if column is None:
            self.failed.append("stock")
            return
        self.measured = True
        self.add(Condition(column, sign, ("0",)))

    def _absent(self, number: int, *, absent: bool) -> None:
        kind = self.sheet.columns[number].kind
        self.measured = True
        self.add(
            Condition(
                number, "true" if kind == "truth" else "empty", (), absent if kind == "truth" else not absent
            )
        )

    def truths(self) -> None:
        """Columns of yes and no, and dates that only stand where something happened."""
        for found in list(
            re.finditer(
                rf"({K}) (?:is |are |= ?|: ?)(?:set to )?(yes|no|true|false|not)\b(?: ({K}|true|yes))?",
                self.text,
            )
        ):
            column = self.column(found.group(1))
            if self.sheet.columns[column].kind == "truth":
                self.take(re.escape(found.group()))
                self._absent(column, absent=found.group(2) in {"no", "false", "not"})
        while needed := self.take(
            rf"\b(?:needs?|wants?|must be|should be|has to be|have to be|to be) (?:to be )?({K})"
        ):
            # What needs to be done has not been done.
            column = self.column(needed.group(1))
            if self.sheet.columns[column].kind == "truth":
                self._absent(column, absent=True)
            else:
                self.failed.append("need")
        for found in list(re.finditer(rf"(?:\b({_NOT}|neither|nor) {_GAP})?({K})", self.text)):
            place = self.found.number(found.group(2))
            column = self.column(found.group(2))
            kind = self.sheet.columns[column].kind
            negative = found.group(1) is not None
            opposite = place in self.found.opposite
            if any(c.column == column and c.test in {"true", "empty"} for c in self.query.conditions):
                # "Who hasn't paid the fee": both words are of one heading, and the first said it.
                self.take(re.escape(found.group(2)))
            elif (kind == "truth" and column != self.query.group) or (
                (negative or opposite)
                and (
                    kind == "date"
                    or self.sheet.columns[column].counts
                    or any(not c for c in self.sheet.columns[column].cells)
                )
            ):
                self.take(re.escape(found.group()))
                self._absent(column, absent=negative != opposite)
            elif (
                not negative
                and re.search(
                    rf"\b(?:with|have|has|having|already|got|gave|received|are|been|is|was) (?:an? |the |been |already |any )*{re.escape(found.group(2))}",
                    self.text,
                )
                and any(not c for c in self.sheet.columns[column].cells)
            ):
                self.take(re.escape(found.group(2)))
                self._absent(column, absent=False)

    def identities(self) -> None:
        """A bare number behind what the rows are called is the number of a row."""
        while found := self.take(rf"(?:‹t\d+›|\bnumber|\bno|\bnr|#) ?({N})"):
            digits = self._digits(found.group(1))
            column = next(
                (
                    n
                    for n, c in enumerate(self.sheet.columns)
                    if digits in c.cells and not c.origin and (c.is_key or n == 0)
                ),
                None,
            )
            if column is None:
                self.failed.append(digits)
                continue
            self.measured = True
            self.add(Condition(column, "is", (digits,)))

    def excluded(self) -> None:
        away = rf"\b(?:not|except(?: for)?|besides|other than|excluding|without|apart from|but not) {_GAP}"
        while found := self.take(rf"(?:({K}) (?:is |are |was )?)?{away}({V})(?:(?: (?:or|nor|and) )({V}))?"):
            for mark in found.groups()[1:]:
                if mark is not None:
                    self._value(mark, negated=True)

    def included(self) -> None:
        while found := self.take(rf"(?:({K}) (?:is |are |was |= ?|: ?|of |equals )+)?({V})"):
            self._value(
                found.group(2), negated=False, column=self.column(found.group(1)) if found.group(1) else None
            )

    def _value(self, mark: str, *, negated: bool, column: int | None = None) -> None:
        number, text, whole = self.found.values[self.found.number(mark)]
        if column is not None and text.lower() in {c.lower() for c in self.sheet.columns[column].cells}:
            number = column
        others = [
            c.name
            for n, c in enumerate(self.sheet.columns)
            if column is None
            and n != number
            and not c.origin
            and c.kind == "text"
            and text.lower() in {x.lower() for x in c.cells}
        ]
        if others:
            self.failed.append(
                f"{text}, which stands in {self.sheet.columns[number].name} and in {' and '.join(others)},"
            )
            return
        self.add(Condition(number, "is" if whole else "has", (text,), negated))
