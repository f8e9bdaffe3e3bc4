"""Comparisons with numbers and times: "over 50", "older than 30", "before March", "between 5 and 10"."""

from __future__ import annotations

import re
from datetime import date, timedelta

from sessions_app.agent.providers.demo.sheets.grammar import Grammar
from sessions_app.agent.providers.demo.sheets.marks import D, K, N
from sessions_app.agent.providers.demo.sheets.query import Condition
from sessions_app.agent.providers.demo.sheets.words import ADJECTIVES, MONEY_WORDS, ROLES, degree

_OVER = r"(?:over|above|more than|greater than|higher than|bigger than|larger than|exceed(?:s|ing)?|beyond|longer than|>)"
_UNDER = r"(?:under|below|less than|fewer than|lower than|smaller than|shorter than|<)"
_LEAST = r"(?:at least|no less than|not less than|minimum(?: of)?|>=|from)"
_MOST = r"(?:at most|no more than|not more than|up to|maximum(?: of)?|<=)"


class Comparing(Grammar):
    """The parts that compare."""

    def _date_column(self, match: re.Match[str]) -> int | None:
        """The date column named in the match or beside it, else the table's first; one that is only said by its verb counts, too."""
        near = re.findall(K, match.group()) or re.findall(
            K, self.text[max(0, match.start() - 40) : match.end() + 20]
        )
        for mark in near:
            if self.sheet.columns[self.column(mark)].kind == "date":
                return self.column(mark)
        own = [n for n, c in enumerate(self.sheet.columns) if c.kind == "date"]
        own.sort(key=lambda n: bool(self.sheet.columns[n].origin))
        return own[0] if own else None

    def spans(self) -> None:
        far, near = date.max.isoformat(), date.min.isoformat()
        pair = self.take(rf"(?:\b(?:between|from) )({D}) (?:and|to|until|till|through|-) ({D})")
        if pair:
            column = self._date_column(pair)
            one, two = (self._span(m, column) for m in pair.groups())
            if column is not None and one and two:
                self.add(Condition(column, "within", (one[0], two[1])))
            else:
                self.failed.append("from … to")
        while found := self.take(
            rf"(?:({K}) (?:is |are |was )?)?(?:\b(not )?(on or before|on or after|before|earlier than|older than|after|later than|newer than|since|starting(?: from)?|until|till|up to|by|from|in|on|during|of|for|at|within|and|or) (?:the )?)?({D})(?: (or later|or earlier|onwards?))?"
        ):
            column = self._date_column(found)
            kind, span = self.found.times[self.found.number(found.group(4))]
            word = (
                (found.group(3) or "in")
                if found.group(5) is None
                else {"or earlier": "until"}.get(found.group(5), "since")
            )
            if column is None:
                self.failed.append("date")
                continue
            negated = found.group(2) is not None
            if kind == "month" and word in {"in", "on", "during", "of", "for", "at", "within", "and", "or"}:
                self.add(Condition(column, "month", (span[0],), negated))
                continue
            days = self._span(found.group(4), column)
            if days is None:
                self.failed.append(word)
                continue
            if word == "from" and not re.search(r"\bonwards?\b", self.text):
                word = "in"
            first, last = days
            if word in {"before", "earlier than", "older than"}:
                first, last = near, (date.fromisoformat(first) - timedelta(days=1)).isoformat()
            elif word in {"after", "later than", "newer than"}:
                first, last = (date.fromisoformat(last) + timedelta(days=1)).isoformat(), far
            elif word in {"since", "starting", "starting from", "from", "on or after"}:
                last = far
            elif word in {"until", "till", "up to", "by", "on or before"}:
                first = near
            self.add(Condition(column, "within", (first, last), negated))

    def _span(self, mark: str, column: int | None) -> tuple[str, str] | None:
        """First and last day; a month without a year is of the only year there is."""
        kind, span = self.found.times[self.found.number(mark)]
        if kind == "within":
            return span
        if column is None:
            return None
        years = {d.year for n in range(self.sheet.size) if (d := self.sheet.columns[column].day(n))}
        if len(years) != 1:
            return None
        first = date(years.pop(), int(span[0]), 1)
        last = (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
        return first.isoformat(), last.isoformat()

    def comparisons(self) -> None:
        between = rf"(?:({K}) (?:is |are |of )?)?\b(?:between|from) ({N}) (?:and|to) ({N})(?: (?:in )?({K}))?"
        while found := self.take(between):
            column = self._number_column(found, found.group(1) or found.group(4), "")
            if column is None:
                self.failed.append("between")
                continue
            self.add(Condition(column, ">=", (self._digits(found.group(2)),)))
            self.add(Condition(column, "<=", (self._digits(found.group(3)),)))
        signs = (
            (_LEAST, ">="),
            (_MOST, "<="),
            (_OVER, ">"),
            (_UNDER, "<"),
            (r"(?:exactly|equal to|equals?|=)", "="),
        )
        for words, sign in signs:
            while found := self.take(
                rf"(?:({K}) (?:is |are |was |of |costs? |priced )*)?(?:\b|(?=[<>=]))(not )?{words} ?({N})(?: (?:in |of |(?:euros? )?of )?({K}))?"
            ):
                if words == _LEAST and found.group().strip().startswith("from"):
                    self.failed.append("from")
                    continue
                self._compare(
                    found,
                    found.group(1) or found.group(4),
                    sign,
                    found.group(3),
                    negated=found.group(2) is not None,
                )
        while found := self.take(rf"\b([^\W\d_]+) than ({N})"):
            adjective, kind = degree(found.group(1))
            if kind != "comparative":
                self.failed.append(found.group(1))
                continue
            role, high = ADJECTIVES[adjective]
            column = self.role(role, found.start())
            if column is None or self.sheet.columns[column].kind != "number":
                self.failed.append(found.group(1))
                continue
            self._condition(column, ">" if high else "<", found.group(2))
        while found := self.take(
            rf"({N}) (?:or|and) (more|above|over|older|less|below|under|younger|fewer|cheaper|higher|lower|better)\b(?: ({K}))?"
        ):
            sign = (
                "<="
                if found.group(2) in {"less", "below", "under", "younger", "fewer", "cheaper", "lower"}
                else ">="
            )
            self._compare(found, found.group(3), sign, found.group(1))
        while found := self.take(rf"({K}) (?:is |are |was |of |= ?|: ?|equals )+({N})") or self.take(
            rf"({K}) ({N})"
        ):
            column = self.column(found.group(1))
            digits = self._digits(found.group(2))
            if self.sheet.columns[column].kind == "number" and not self.sheet.columns[column].is_key:
                self._condition(column, "=", found.group(2))
            else:
                self.add(Condition(column, "is", (digits,)))

    def _compare(
        self, found: re.Match[str], mark: str | None, sign: str, number: str, *, negated: bool = False
    ) -> None:
        unit = self.found.numbers[self.found.number(number)][1]
        column = self._number_column(found, mark, unit)
        if column is None:
            self.failed.append(found.group().replace("‹", "").replace("›", "").strip().split(" ")[0])
            return
        self._condition(column, sign, number, negated=negated)

    def _condition(self, column: int, sign: str, number: str, *, negated: bool = False) -> None:
        units = self.sheet.columns[column].units - {""}
        if len(units) > 1:
            self.failed.append(
                f"{self.sheet.columns[column].name}, which mixes {' and '.join(sorted(units))}"
            )
            return
        self.measured = True
        self.add(Condition(column, sign, (self._digits(number),), negated))

    def _number_column(self, found: re.Match[str], mark: str | None, unit: str) -> int | None:
        if mark is not None and self.sheet.columns[self.column(mark)].kind == "number":
            return self.column(mark)
        before = [m.group() for m in re.finditer(K, self.found.text[: found.start()])]
        for near in reversed(before):
            if (
                self.sheet.columns[self.column(near)].kind == "number"
                and not self.sheet.columns[self.column(near)].is_key
            ):
                return self.column(near)
        if re.match(r"[€$£¥]|usd|eur|dollar|pound", unit) or any(
            w in MONEY_WORDS for w in self.found.text.split()
        ):
            self.weight += 1
            return self.role("money", None)
        if unit.startswith("year") or re.search(r"\b(?:aged?|old)\b", self.found.text):
            return self.role("age", None)
        for role, words in ROLES.items():
            if unit and any(unit.startswith(w) or w.startswith(unit) for w in words if len(w) > 1):
                return self.role(role, None)
        every = [
            n
            for n, c in enumerate(self.sheet.columns)
            if c.kind == "number" and not c.is_key and not c.reference and not c.origin
        ]
        return every[0] if len(every) == 1 else self.role("money", None)
