"""Order, number and groups of rows: "sorted by price", "the three cheapest", "per month"."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.sheets.grammar import Grammar
from sessions_app.agent.providers.demo.sheets.marks import K, N
from sessions_app.agent.providers.demo.sheets.words import ADJECTIVES, MONEY_WORDS, degree


class Ordering(Grammar):
    """The parts that say in which order and how many."""

    def sorting(self) -> None:
        by = self.take(
            rf"\b(?:sort|sorted|order|ordered|rank|ranked|sortiert|arranged?) (?:[^ ]+ ){{0,5}}?(?:by|nach) (?:the |their |its )?({K})"
        )
        if by:
            self.query.order = self.column(by.group(1))
            self.measured = True
        down = self.take(
            r"\b(?:descending|desc|(?:highest|largest|biggest|newest|latest|most expensive|most|best|oldest|longest) to \w+|(?:in )?reverse(?: order)?|from (?:highest|high|largest|newest|most) to \w+|z-a)\b"
        )
        self.take(
            r"\b(?:ascending|asc|(?:lowest|smallest|cheapest|earliest|least|youngest|shortest) to \w+|from (?:lowest|low|smallest|oldest|least) to \w+|a-z)\b"
        )
        self.query.descending = down is not None
        self._first()
        if self.take(r"\b(?:alphabetical(?:ly| order)?|by (?:the )?alphabet)\b") and self.query.order is None:
            self.query.order = self.sheet.title()
            self.measured = True
        if self.role("time", None) is not None and self.take(r"\b(?:chronologically|by date)\b"):
            self.query.order = self.role("time", None)
            self.measured = True

    def _orders(self, number: int) -> bool:
        """Whether rows go by a column rather than into groups of it: numbers and days that hardly repeat, and nothing to compute."""
        column = self.sheet.columns[number]
        computes = re.search(
            r"\b(?:how many|number of|count|total|sum|average|mean|median|grouped?)\b", self.found.text
        )
        return (
            column.kind in {"number", "date"}
            and computes is None
            and 2 * len(set(column.cells)) > len(column.cells)
        )

    def _first(self) -> None:
        """ "cheapest first": an order by what the adjective speaks of, when none is named."""
        for word in list(re.finditer(r"(?<![^\W_])(?:most |least )?([^\W\d_]+) first\b", self.text)):
            adjective, kind = degree(word.group(1))
            if not adjective or (kind != "superlative" and " " not in word.group().removesuffix(" first")):
                continue
            role, high = ADJECTIVES[adjective]
            if word.group().startswith("least"):
                high = not high
            self.take(re.escape(word.group()))
            if self.query.order is None:
                self.query.order = self.role(role, word.start())
                self.measured = True
            if self.query.order is None:
                self.failed.append(word.group())
                return
            dated = self.sheet.columns[self.query.order].kind == "date" and adjective in {"old", "young"}
            self.query.descending = high != dated
            return

    def limits(self) -> None:
        """ "top 3", "the two cheapest", "the most expensive"."""
        for word in list(re.finditer(r"(?<![^\W_])[^\W\d_]+(?![^\W_›])", self.text)):
            adjective, kind = degree(word.group())
            if kind != "superlative" and word.group() not in {"top", "most"}:
                continue
            if re.match(r" than\b", self.text[word.end() :]):
                continue
            high = ADJECTIVES[adjective][1]
            start, end = word.span()
            following = re.match(r" ([^\W\d_]+)(?![^\W_›])", self.text[end:])
            if (
                adjective in {"much", "little"}
                and following
                and degree(following.group(1))[1] == ""
                and degree(following.group(1))[0]
            ):
                adjective = degree(following.group(1))[0]
                high = ADJECTIVES[adjective][1] == high
                end += following.end()
            before = re.search(rf"({N}) $", self.text[:start])
            after = re.match(rf" ({N})", self.text[end:])
            self._extreme(
                (before or after or word).group(1) if before or after else "",
                adjective,
                (before.start() if before else start, end + (after.end() if after and not before else 0)),
                high=high,
            )
            return
        first = self.take(rf"\b(first|last) ({N})(?= )") or self.take(
            rf"\b(?:only )?({N}) ()(?:examples?|random)\b"
        )
        if first and first.group(1) == "first":
            self.query.limit = int(float(self._digits(first.group(2))))
            self.measured = True
        elif first:
            self.failed.append(first.group(1))

    def _extreme(self, count: str, adjective: str, place: tuple[int, int], *, high: bool) -> None:
        start, end = place
        near = re.match(rf"(?: of)?(?: the)? ({K})", self.text[end:])
        column: int | None = None
        if (
            near
            and self.sheet.columns[self.column(near.group(1))].kind in {"number", "date"}
            and not self._names_rows(self.column(near.group(1)))
        ):
            column, end = self.column(near.group(1)), end + near.end()
        plain = adjective in {"much", "little"}
        if column is None and not (plain and (near or re.match(r" ‹t", self.text[end:]))):
            column = self.role(ADJECTIVES[adjective][0], start)
            if (
                column is None
                and adjective in {"good", "bad"}
                and set(re.findall(r"[^\W\d_]+", self.text)) & MONEY_WORDS
            ):
                column = self.role("money", start)
        since = (
            self.role("since", None)
            if adjective in {"long", "short"}
            and re.search(r"\b(?:been|waiting|waited|here|member|with us|stayed|served|since)\b", f"{self.found.text} {self.spoken}")
            else None
        )  # fmt: skip
        if since is not None and self.sheet.columns[since].kind == "date":
            # Whoever has been there longest came first.
            column, high = since, adjective == "short"
        said = self.text[start:end]
        if (
            column is not None
            and adjective in {"good", "bad"}
            and self.sheet.columns[column].has("grade", "mark", "rank", "place", "position", "note")
        ):
            self.failed.append(
                f"{said.strip()} (whether a high or a low {self.sheet.columns[column].name} is the better one)"
            )
        self.take(re.escape(said))
        if column is None and not plain:
            self.failed.append(said.strip().split(" ")[-1])
            return
        kind = self.sheet.columns[column].kind if column is not None else ""
        if kind == "date" and adjective in {"old", "young"}:
            high = not high
        self.superlative = "most" if high else "least"
        self.plain_extreme = (
            plain or re.search(r"\b(?:total|sum|average|mean|number of)\b", self.found.text) is not None
        )
        self.query.limit = int(float(self._digits(count))) if count else 1
        self.query.order, self.query.descending = column, high
        self.query.column = column if kind == "number" else None
        self.measured = True

    def grouping(self) -> None:
        period = r"(month|year|week|day|weekday|monat|jahr|tag)s?"
        for_each = r"\b(?:per|by|for each|of each|for every|in each|on each|each|every|grouped by|group by|group(?:ed)? (?:them )?by|pro|je|across|split by|broken down by|for all the) (?:the |of the |individual |single )?(?:different )?"
        found = self.take(for_each + f"({K})")
        if found and "by " in found.group() and self._orders(self.column(found.group(1))):
            # "The characters by age" are in its order: every age is another one.
            self.query.order = self.column(found.group(1))
            self.measured = True
        elif found:
            self.query.group = self.column(found.group(1))
        elif (
            (found := self.take(for_each + period + r"\b"))
            or (found := self.take(r"\b(month|year|week|dai|day)ly\b"))
            or (found := self.take(rf"\b(?:which|what|in which|in what) {period}\b"))
        ):
            word = {"monat": "month", "jahr": "year", "tag": "day", "dai": "day"}.get(
                found.group(1), found.group(1)
            )
            self.query.group, self.query.period = self.role("time", None), word
            if self.query.group is None:
                self.failed.append(word)
        elif self.query.order is None or self.superlative:
            which = re.search(rf"\b(?:which|what|who(?:se|m)?) (?:of the )?({K})", self.text)
            compare = self.plain_extreme or re.search(
                r"\b(?:more|less|higher|lower|bigger|smaller|cheaper|fewer)\b(?! than ‹n)", self.text
            )
            if which and compare and self._groups(self.column(which.group(1))):
                self.query.group = self.column(which.group(1))
                self.take(re.escape(which.group()))
        if self.query.group is None:
            return
        self.measured = True
        if self.superlative:
            self.query.by_group, self.query.limit = self.superlative, max(1, self.query.limit)
            if self.query.order == self.query.group:
                self.query.order = self.query.column = None
        elif compared := self.take(
            r"\b(?:more|less|higher|lower|bigger|smaller|cheaper|fewer)\b(?! than ‹n)"
        ):
            low = compared.group() in {"less", "lower", "smaller", "cheaper", "fewer"}
            self.query.by_group = "least" if low else "most"
            following = self.take(r"\b(?:expensive|cheap|costly)\b")
            self.money = self.money or following is not None
