"""A question with what the table knows set apart: its columns, its values, numbers and dates become marks."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial

from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.sheet import Sheet
from sessions_app.agent.providers.demo.sheets.words import (
    FILLING,
    HAPPENED,
    MEANING,
    MONEY_WORDS,
    OPPOSITES,
    PEOPLE,
    SAME,
    alike,
    degree,
    singular,
)

K, V, N, D = r"‹k\d+›", r"‹v\d+›", r"‹n\d+›", r"‹d\d+›"
_MARK = re.compile(r"‹([kvndt])(\d+)›")
_NUMBER_WORDS = {"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "twenty": 20, "hundred": 100}  # fmt: skip
_MONTH = "|".join(f"{m}|{m[:3]}" for m in cells.MONTHS)
_SHORT = {w.lower() for w in cells.MONTHS} | {m[:3] for m in cells.MONTHS}
#: Words of headings that say nothing by themselves.
_WEAK = frozenset(
    {"id", "no", "nr", "of", "is", "has", "the", "in", "on", "at", "to", "and", "by", "from", "for"}
)
#: Several headings for one matter.
_SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("g", "gram", "grams"), ("kg", "kilo", "kilos", "kilogram"), ("min", "minutes"), ("eur", "euro", "euros"), ("ml", "millilitres"), ("km", "kilometres", "kilometers"),
    ("email", "mail", "e-mail"), ("phone", "telephone", "tel", "mobile"), ("city", "town", "place"), ("customer", "client"), ("employee", "worker", "staff"),
    ("date", "day"), ("quantity", "qty"), ("description", "text"), ("country", "nation"), ("grade", "mark"), ("surname", "lastname"), ("answer", "reply", "response"),
)  # fmt: skip
_UNITS = _SYNONYMS[:6]
Span = tuple[str, str]


@dataclass(slots=True)
class Marked:
    """`text` is the question in lower case with ‹k0› a column, ‹v0› a value, ‹n0› a number, ‹d0› a time, ‹t0› a word for the rows."""

    text: str
    columns: list[int] = field(default_factory=list)
    opposite: set[int] = field(default_factory=set)  # places in `columns` said with un- or as the opposite
    values: list[tuple[int, str, bool]] = field(default_factory=list)  # (column, cell or word, whole cell)
    numbers: list[tuple[str, str]] = field(default_factory=list)  # (number, unit beside it)
    times: list[tuple[str, Span]] = field(default_factory=list)  # ("within", days) or ("month", (number, ""))
    nouns: int = 0
    exact: int = 0  # words that are a heading as it is written

    def number(self, mark: str) -> int:
        """The number inside a mark."""
        return int(re.sub(r"\D", "", mark))


def marked(ask: Ask, sheet: Sheet, today: date | None = None) -> Marked:
    """Set apart what the sheet knows. Without `today` words such as "this month" stay words."""
    text = re.sub(r"‹p\d+›|‹c\d+›", " ", ask.text)
    found = Marked(text)
    text = _quotations(ask, sheet, text, found)
    text = text.lower().replace("e-mail", "email")
    text = re.sub(r"\b(email|mail|postal) address(es)?\b", r"\1", text)
    text = re.sub(r"\b(phone|telephone) numbers?\b", r"\1", text)
    text = re.sub(r"\b(can|won|shan)['’]?t\b", r"\1 not", text)
    text = re.sub(r"\bcannot\b", "can not", text)
    text = re.sub(
        r"(?<=\w)n['’]t\b", " not", re.sub(r"\b(has|have|is|are|was|were|does|do|did)nt\b", r"\1 not", text)
    )
    text = re.sub(r"['’]s\b|(?<=s)['’](?=\s)", " ", text)
    text = _values(sheet, text, found, ask.text)
    text = _times(sheet, text, found, today)
    text = _numbers(text, found)
    text = _columns(sheet, text, found)
    found.nouns += re.search(r"\b(?:rows?|entry|entries|records?)\b", text) is not None
    found.text = re.sub(r"\s+", " ", f" {text} ")
    return found


def _quotations(ask: Ask, sheet: Sheet, text: str, found: Marked) -> str:
    def put(match: re.Match[str]) -> str:
        quoted = ask.values[int(match.group(1))]
        for number, column in enumerate(sheet.columns):
            if quoted.lower() in {c.lower() for c in column.cells}:
                return _value(found, number, quoted, whole=True)
        for number, column in enumerate(sheet.columns):
            if column.name.lower() == quoted.lower():
                found.columns.append(number)
                return f"‹k{len(found.columns) - 1}›"
        for number, column in enumerate(sheet.columns):
            if column.kind == "text" and any(quoted.lower() in c.lower() for c in column.cells):
                return _value(found, number, quoted, whole=False)
        return match.group()

    return re.sub(r"‹q(\d+)›", put, text)


def _value(found: Marked, column: int, text: str, *, whole: bool) -> str:
    found.values.append((column, text, whole))
    return f"‹v{len(found.values) - 1}›"


def _put(pattern: str, text: str, mark: Callable[[], str]) -> str:
    """The text with every place of the pattern replaced by one new mark."""
    return re.sub(pattern, mark(), text) if re.search(pattern, text) else text


def _known(word: str) -> bool:
    """Whether a word already means something in any question."""
    return (
        word in FILLING | MEANING | HAPPENED | MONEY_WORDS
        or word in OPPOSITES
        or word in _SHORT
        or word in _NUMBER_WORDS
        or bool(degree(word)[0])
    )


def _heading(sheet: Sheet, word: str) -> bool:
    return any(alike(word, w) for c in sheet.columns for w in c.words if w not in _WEAK) or _noun(sheet, word)


def _noun(sheet: Sheet, word: str) -> bool:
    return any(alike(word, noun) for noun in sheet.nouns | sheet.extra_nouns)


def _values(sheet: Sheet, text: str, found: Marked, written_text: str) -> str:
    whole: list[tuple[str, int]] = []
    for number, column in enumerate(sheet.columns):
        if column.kind == "text":
            whole += [(c, number) for c in dict.fromkeys(column.cells) if 2 <= len(c) <= 60]
    for written, number in sorted(set(whole), key=lambda v: (-len(v[0]), v[1], v[0])):
        cell = written.lower()
        if cell in FILLING | {"not"} or cell.isdigit():
            continue
        single = re.fullmatch(r"[^\W\d_]+", cell) is not None
        if single and (_heading(sheet, cell) or (_known(cell) and cell in MEANING)):
            continue
        forms = [re.escape(cell)]
        if single and len(cell) > 2:
            forms += [
                re.escape(w)
                for w in dict.fromkeys(re.findall(r"[^\W\d_]{3,}", text))
                if singular(w) == singular(cell) or cell in {f"{w}ed", f"{w}d"}
            ]
        text = _put(
            rf"(?<![\w‹@.-])(?:{'|'.join(forms)})(?![\w›@-])",
            text,
            partial(_value, found, number, written, whole=True),
        )
    # A word that stands inside cells, such as a first name.
    for word in dict.fromkeys(re.findall(r"(?<![\w‹@.-])[^\W\d_][\w'-]{2,}(?![\w›@])", text)):
        if (
            _known(word)
            or _heading(sheet, word)
            or re.search(rf"\b(?:which|what|how many) {re.escape(word)}\b", text)
        ):
            continue
        if re.search(rf"\b(?:the|an?|each|every|some|any) {re.escape(word)}\b", written_text):
            # "The hotel" speaks of one of them; "Hotel Alma" or "Karl" names it.
            continue
        for number, column in enumerate(sheet.columns):
            if column.kind == "text" and any(
                re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", c, re.I) for c in column.cells
            ):
                text = _put(
                    rf"(?<![\w‹]){re.escape(word)}(?![\w›])",
                    text,
                    partial(_value, found, number, word, whole=False),
                )
                break
    return text


def _times(sheet: Sheet, text: str, found: Marked, today: date | None) -> str:
    dated = any(c.kind == "date" for c in sheet.columns)
    if not dated:
        return text

    def put(kind: str, span: Span) -> str:
        found.times.append((kind, span))
        return f"‹d{len(found.times) - 1}›"

    def days(first: date, last: date) -> str:
        return put("within", (first.isoformat(), last.isoformat()))

    def exact(match: re.Match[str]) -> str:
        day = cells.day(match.group().replace("of ", ""))
        if day is None:
            return match.group()
        if re.fullmatch(rf"\d{{4}}-\d{{2}}|(?:{_MONTH})\.? \d{{4}}", match.group()):
            return days(day, _month_end(day))
        return days(day, day)

    text = re.sub(
        rf"(?<![\w-])(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{4}}-\d{{2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:{_MONTH}) \d{{4}}"
        rf"|(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|(?:{_MONTH})\.? \d{{4}})(?![\w-])",
        exact,
        text,
    )
    if today is not None:
        text = _relative(text, today, days)
    text = re.sub(
        rf"(?<![\w-])({_MONTH})(?![\w-])",
        lambda m: m.group() if m.group() == "may" and not re.search(r"\b(?:in|of|for|since|before|after|until|during|and|or|by) $", text[: m.start()]) else put("month", (str(cells.month_number(m.group())), "")),
        text,
    )  # fmt: skip
    return re.sub(
        r"\b(in|of|or|and|since|after|until|before|during|for|from) ((?:19|20)\d\d)(?![\w-])",
        lambda m: f"{m.group(1)} {days(date(int(m.group(2)), 1, 1), date(int(m.group(2)), 12, 31))}",
        text,
    )


def _month_end(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


RELATIVE = re.compile(r"\b(?:today|yesterday|tomorrow|(?:this|last|next) (?:week|month|year)|overdue|past due|(?:in the )?(?:last|past|next) \d+ (?:days|weeks|months)|upcoming|in the (?:past|future)|so far this (?:year|month))\b", re.I)  # fmt: skip


def _relative(text: str, today: date, days: Callable[[date, date], str]) -> str:
    first = today.replace(day=1)
    before = first - timedelta(days=1)
    after = _month_end(today) + timedelta(days=1)
    monday = today - timedelta(days=today.weekday())
    spans = {
        "today": (today, today),
        "yesterday": (today - timedelta(days=1),) * 2,
        "tomorrow": (today + timedelta(days=1),) * 2,
        "this month": (first, _month_end(today)),
        "last month": (before.replace(day=1), before),
        "next month": (after, _month_end(after)),
        "this week": (monday, monday + timedelta(days=6)),
        "last week": (monday - timedelta(days=7), monday - timedelta(days=1)),
        "next week": (monday + timedelta(days=7), monday + timedelta(days=13)),
        "this year": (date(today.year, 1, 1), date(today.year, 12, 31)),
        "last year": (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
        "next year": (date(today.year + 1, 1, 1), date(today.year + 1, 12, 31)),
        "upcoming": (today, date.max),
        "in the future": (today + timedelta(days=1), date.max),
        "in the past": (date.min, today - timedelta(days=1)),
    }
    for words, (start, end) in spans.items():
        if re.search(rf"\b{words}\b", text):
            text = _put(rf"\b{words}\b", text, partial(days, start, end))

    def counted(match: re.Match[str]) -> str:
        length = timedelta(days=int(match.group(2)) * {"d": 1, "w": 7, "m": 30}[match.group(3)[0]])
        return days(today, today + length) if match.group(1) == "next" else days(today - length, today)

    return re.sub(
        r"\b(?:in |during |within )?(?:the )?(last|past|next) (\d+) (days|weeks|months)\b", counted, text
    )


def _numbers(text: str, found: Marked) -> str:
    def put(match: re.Match[str]) -> str:
        digits = match.group("digits")
        value = cells.number(digits)
        if value is None:
            return match.group()
        found.numbers.append(
            (cells.plain(value), (match.group("before") or match.group("after") or "").strip())
        )
        return f" ‹n{len(found.numbers) - 1}› "

    text = re.sub(rf"\b({'|'.join(_NUMBER_WORDS)})\b(?= )", lambda m: str(_NUMBER_WORDS[m.group()]), text)
    return re.sub(
        r"(?<![\w‹.-])(?P<before>[€$£¥]|usd |eur )?(?P<digits>-?\d[\d.,]*\d|-?\d)(?P<after> ?(?:€|\$|£|%|eur\b|euros?\b|dollars?\b|usd\b|pounds\b|years?(?: old|-old)?\b|pages\b|minutes\b|hours\b|kg\b|km\b|cm\b|gb\b|mb\b|tb\b|kb\b|ms\b|ml\b|points\b|percent\b))?(?![\w›-])",
        put,
        text,
    )


def _columns(sheet: Sheet, text: str, found: Marked) -> str:
    # Whole headings of several words first.
    for number, column in sorted(enumerate(sheet.columns), key=lambda c: -len(c[1].words)):
        if len(column.words) > 1:
            text = _put(
                rf"(?<![\w‹-]){r'[ _-]'.join(re.escape(w) for w in column.words)}(?![\w›-])",
                text,
                partial(_column, found, number),
            )
    return re.sub(
        r"(?<![\w‹@.-])[^\W\d_][\w'-]*(?![\w›@])",
        lambda m: _word(sheet, found, m.group(), text[: m.start()]),
        text,
    )


def _column(found: Marked, number: int, *, opposite: bool = False) -> str:
    found.columns.append(number)
    if opposite:
        found.opposite.add(len(found.columns) - 1)
    return f"‹k{len(found.columns) - 1}›"


def _word(sheet: Sheet, found: Marked, said: str, before: str) -> str:
    """One word as what the table knows it for: a column, its opposite, a name of the rows, or simply the word."""
    grouped = re.search(r"\b(?:which|what|per|by|each|every) $", before) is not None
    if re.search(r"\b(?:never|not|without|no|any) (?:[^\W\d_]+ )?$", before):
        counting = next(
            (n for n, c in enumerate(sheet.columns) if c.counts and any(alike(said, w) for w in c.words)),
            None,
        )
        if counting is not None:
            return _column(found, counting)
    if grouped and singular(said) in sheet.extra_nouns:
        pointing = next((n for n, c in enumerate(sheet.columns) if c.also), None)
        if pointing is not None:
            return _column(found, pointing)
    own = any(said == w for c in sheet.columns for w in c.words if not c.is_key)
    if _noun(sheet, said) and ((singular(said) in sheet.extra_nouns and not grouped) or not own):
        found.nouns += 1
        return "‹t0›"
    if said in {"total", "totals", "sum", "average"} and not re.search(
        r"(?:\b(?:by|and|the row|with)|,) $", before
    ):
        return said
    named = _column_for(sheet, said)
    if named is not None:
        found.exact += said == sheet.columns[named].name.lower()
        return _column(found, named)
    if _noun(sheet, said) or (singular(said) in PEOPLE and not sheet.joined and sheet.persons() is not None):
        found.nouns += 1
        return "‹t0›"
    same = _column_for(sheet, SAME[said]) if said in SAME else None
    if same is not None and sheet.columns[same].kind == "truth":
        return _column(found, same)
    bare = re.sub(r"^(?:un|non|not|in)-?", "", said)
    opposite = _column_for(sheet, bare) if bare != said and len(bare) > 3 else None
    if opposite is None and said in OPPOSITES:
        opposite = _column_for(sheet, OPPOSITES[said])
    if opposite is not None and sheet.columns[opposite].kind in {"truth", "date"}:
        return _column(found, opposite, opposite=True)
    return said


def unit_group(word: str) -> tuple[str, ...]:
    """The ways a unit is written, when the word is one: "grams" is g; empty for any other word."""
    return next((group for group in _UNITS if word in group or singular(word) in group), ())


def _column_for(sheet: Sheet, word: str) -> int | None:
    """The column a word names: a whole heading before a part of one, the table's own before a joined one."""
    if word in _WEAK or word in {"order", "sort", "list", "most", "more", "what", "per"}:
        return None
    forms = next((group for group in _SYNONYMS if singular(word) in group), (word,))
    best: tuple[int, int] | None = None
    several = False
    for number, column in enumerate(sheet.columns):
        parts = [w for w in column.words if w not in _WEAK]
        if word in column.words or any(alike(form, part) for form in forms for part in parts):
            exact = len(parts) == 1
            rank = (0 if word in column.words else 1) + (0 if exact else 2) + (4 if column.origin else 0)
            if exact is False and word in FILLING and word not in {"name", "names"}:
                continue
            if best is None or rank < best[0]:
                best, several = (rank, number), False
            elif rank == best[0]:
                several = True
    # A word of several headings ("gb", "date") names none of them.
    return best[1] if best and not (several and best[0] > 1) else None
