"""Two columns of a table that are measured against each other: money in and out, stock and its minimum, before and after."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.sheet import Column, Sheet
from sessions_app.agent.providers.demo.sheets.words import alike, degree
from sessions_app.agent.providers.demo.writing import clip, code, count, link, table

#: (words of the first heading, words of the second, what a question about the difference says)
_KINDS: tuple[tuple[str, frozenset[str], frozenset[str], str], ...] = (
    (
        "balance",
        frozenset({"in", "income", "credit", "received", "deposit", "incoming", "receipts", "revenue"}),
        frozenset({"out", "expense", "expenses", "debit", "spent", "withdrawal", "outgoing", "payments"}),
        r"\b(?:balance|kitty|profit|surplus|deficit|in the bank|in the black|in cash)\b|\b(?:money|cash|funds?|budget)\b.*\b(?:left|remain\w*|have|got)\b|\b(?:left|remain\w*)\b.*\b(?:money|account|budget|bank|cash|fund)\b",
    ),
    (
        "short",
        frozenset({"quantity", "qty", "stock", "count", "available", "inventory", "have", "current", "amount", "pieces"}),
        frozenset({"minimum", "min", "reorder", "threshold", "needed", "required", "target"}),
        r"\b(?:below|under|less than|fewer|re-?order\w*|short|low|lack\w*|restock\w*|run(?:ning)? (?:out|low)|need\w*|order|not enough|missing|minimum)\b",
    ),
    (
        "over",
        frozenset({"actual", "spent", "used", "real"}),
        frozenset({"budget", "planned", "plan", "estimate", "estimated", "allowed", "limit"}),
        r"\b(?:over|above|exceed\w*|more than|overspent|too much)\b",
    ),
)  # fmt: skip
_CHANGE = (
    r"\b(?:lost|lose|loses|loss|gained|gain|shrank|shrunk|grew|changed|difference|differ|dropped|rose)\b"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """The columns by number; `kind` says which way they are measured against each other."""

    kind: str
    first: int
    second: int


def pair_of(sheet: Sheet, ask: Ask) -> Pair | None:
    """The pair of columns a question measures against each other; None when the table has none or it asks for no difference."""
    numbers = [n for n, c in enumerate(sheet.columns) if c.kind == "number" and not c.is_key and not c.origin]
    for kind, ones, others, said in _KINDS:
        first = [n for n in numbers if set(sheet.columns[n].words) & ones]
        second = [n for n in numbers if set(sheet.columns[n].words) & others]
        if len(first) == len(second) == 1 and first != second and ask.has(said):
            return Pair(kind, first[0], second[0])
    if ask.has(_CHANGE):
        for place, one in enumerate(numbers):
            for two in numbers[place + 1 :]:
                # The same unit, and one word that tells them apart: green_g and roasted_g.
                a, b = set(sheet.columns[one].words), set(sheet.columns[two].words)
                if a & b and len(a - b) == 1 and len(b - a) == 1:
                    return Pair("change", one, two)
    return None


def measured(sheet: Sheet, ask: Ask) -> str | None:
    """The answer to a question about the difference of two columns; None when it is no such question."""
    found = pair_of(sheet, ask)
    if found is None:
        return None
    one, two = sheet.columns[found.first], sheet.columns[found.second]
    return _balance(sheet, one, two, ask) if found.kind == "balance" else _rows(sheet, found, ask)


def _balance(sheet: Sheet, one: Column, two: Column, ask: Ask) -> str | None:
    if ask.has(r"\b(?:which|who|list)\b"):
        return None
    came = sum((n for r in range(sheet.size) if (n := one.number(r)) is not None), Decimal(0))
    went = sum((n for r in range(sheet.size) if (n := two.number(r)) is not None), Decimal(0))
    dated = next((c for c in sheet.columns if c.kind == "date"), None)
    days = [d for r in range(sheet.size) if dated is not None and (d := dated.day(r)) is not None]
    until = f", as of {max(days)}" if days else ""
    return (
        f"**{cells.plain(came - went)}** by {link(sheet.path)}{until}: {code(one.name)} comes to {cells.plain(came)}, "
        f"{code(two.name)} to {cells.plain(went)} ({count(sheet.size, 'row')})."
    )


def _rows(sheet: Sheet, found: Pair, ask: Ask) -> str | None:
    one, two = sheet.columns[found.first], sheet.columns[found.second]
    both = [
        (r, a - b)
        for r in range(sheet.size)
        if (a := one.number(r)) is not None and (b := two.number(r)) is not None
    ]
    title = sheet.title()
    dated = next((n for n, c in enumerate(sheet.columns) if c.kind == "date"), None)
    shown = list(dict.fromkeys([title, *([dated] if dated is not None else []), found.first, found.second]))
    name = {"short": "missing", "over": "over by"}.get(found.kind, f"{one.name} − {two.name}")
    if found.kind == "change":
        superlative = next((d for w in re.findall(r"[a-z]+", ask.text.lower()) if (d := degree(w))[1] == "superlative"), None)  # fmt: skip
        least = superlative is not None and superlative[0] in {"little", "low", "small"}
        ordered = sorted(both, key=lambda b: b[1], reverse=not least)
        if superlative is None or not ordered:
            return None
        kept = [b for b in ordered if b[1] == ordered[0][1]]
        first = sheet.columns[title].cells[kept[0][0]]
        share = [
            f" ({100 * d / a:.1f} % of {code(one.name)})" if (a := one.number(r)) else "" for r, d in kept[:1]
        ]
        lead = f"**{first}**: {cells.plain(kept[0][1])} from {code(one.name)} to {code(two.name)}{share[0]}, the {'least' if least else 'most'} of {count(len(both), 'row')} in {link(sheet.path)}."
    else:
        low = found.kind == "short"
        kept = [b for b in both if (b[1] < 0 if low else b[1] > 0)]
        word = "below" if low else "above"
        lead = (
            f"{count(len(kept), 'row')} of {link(sheet.path)} with {code(one.name)} {word} {code(two.name)}"
        )
        lead += (
            ": " + ", ".join(f"**{sheet.columns[title].cells[r]}**" for r, _ in kept[:12]) if kept else ""
        ) + "."
        equal = [sheet.columns[title].cells[r] for r, d in both if d == 0]
        lead += f" Just at it: {', '.join(equal[:6])}." if equal else ""
    rows = [
        [*(clip(sheet.columns[n].cells[r], 60) for n in shown), cells.plain(abs(d))] for r, d in kept[:20]
    ]
    return f"{lead}\n\n{table([*(sheet.columns[n].name for n in shown), name], rows)}" if rows else lead


def fits(sheet: Sheet, ask: Ask) -> int:
    """How many words of a question the table has in its name, its headings or its cells."""
    words = {w.lower() for w in re.findall(r"[^\W\d_]{3,}", ask.text)}
    own = [*sheet.nouns, *(w for c in sheet.columns for w in c.words)]
    said = {w.lower() for c in sheet.columns if c.kind == "text" for cell in c.cells for w in re.findall(r"[^\W\d_]{3,}", cell)}  # fmt: skip
    return sum(any(alike(w, o) for o in own) or w in said for w in words)
