"""A question about a table as a query, the query as a small program, and the program's output in words."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, field

from sessions_app.agent.providers.demo.keywords import STOP, stem
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.words import word_set
from sessions_app.agent.providers.demo.writing import clip, code, count, ending, link, table

_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ].*)?$|\d{1,2}[./]\d{1,2}[./]\d{4}$")
_NUMBER = re.compile(r"[€$£¥ ]*[-+]?[\d,. ]*\d(?: ?(?:€|\$|£|%|EUR|USD|kg|km))?$")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_AMOUNTS = ("amount", "total", "price", "cost", "sum", "value", "betrag", "sales", "revenue", "montant", "importe", "spent", "salary", "score", "quantity", "qty", "count")  # fmt: skip
_MOST_SHOWN = 30


@dataclass(slots=True)
class Sheet:
    """A table file as one read shows it."""

    path: str
    names: list[str]
    rows: list[list[str]]
    mark: str = ","
    score: int = 0  # how many words of the question are its headings or values

    def column(self, number: int) -> list[str]:
        return [row[number].strip() if len(row) > number else "" for row in self.rows]

    def kind(self, number: int) -> str:
        """number, date or text, by what most cells look like."""
        cells = [cell for cell in self.column(number) if cell]
        if cells and sum(bool(_DATE.match(c)) for c in cells) >= 0.8 * len(cells):
            return "date"
        if cells and sum(bool(_NUMBER.match(c)) for c in cells) >= 0.8 * len(cells):
            return "number"
        return "text"


@dataclass(slots=True)
class Query:
    """What is asked of a sheet; columns by number."""

    operation: str = "sum"
    column: int | None = None
    group: int | None = None
    period: str = ""  # month, year or day, of the column `group`
    equal: dict[int, list[str]] = field(default_factory=dict)
    partly: dict[int, str] = field(default_factory=dict)
    months: list[str] = field(default_factory=list)
    date: int | None = None
    compared: list[tuple[int, str, str]] = field(default_factory=list)
    most: int = 0
    ordered: int | None = None
    descending: bool = False
    unknown: list[str] = field(default_factory=list)
    smallest: bool = False


def parsed(path: str, text: str) -> Sheet | None:
    if ending(path) == "json":
        try:
            data = json.loads(text)
        except json.JSONDecodeError:
            return None
        if isinstance(data, dict):
            data = next(
                (v for v in data.values() if isinstance(v, list) and v and isinstance(v[0], dict)), None
            )
        if not (isinstance(data, list) and data and all(isinstance(i, dict) for i in data)):
            return None
        names = list(dict.fromkeys(str(k) for item in data for k in item))
        return Sheet(path, names, [[str(item.get(k, "")) for k in names] for item in data], "json")
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return None
    mark = max(",;\t|", key=lines[0].count)
    rows = list(csv.reader(lines, delimiter=mark))
    return Sheet(path, [n.strip().lstrip("\ufeff") for n in rows[0]], rows[1:], mark)


def _words(ask: Ask) -> list[str]:
    return [w.lower() for w in re.findall(r"[^\W_][\w'-]*", re.sub(r"‹p\d+›", " ", ask.text))] + [
        q.lower() for q in ask.quotes
    ]


def _alike(word: str, name: str) -> bool:
    """ "categories" names the column "category", "temperature" the column "temp_temperature"."""
    parts = [p for p in re.split(r"[\W_]+", name.lower()) if p]
    return word == name.lower() or any(stem(word) == stem(part) for part in parts if len(part) > 1)


def _named_columns(ask: Ask, sheet: Sheet) -> list[int]:
    words = [w for w in _words(ask) if w not in _COMMON]
    return [n for word in words for n, name in enumerate(sheet.names) if name and _alike(word, name)]


def _named_values(ask: Ask, sheet: Sheet) -> dict[int, list[str]]:
    """Cells of text columns that stand in the question."""
    text = (
        " "
        + re.sub(r"\s+", " ", re.sub(r"‹p\d+›", " ", ask.plain(re.sub(r"‹p\d+›", " ", ask.text))).lower())
        + " "
    )
    stems = {stem(w) for w in _words(ask) if len(w) > 2 and w not in _COMMON}
    found: dict[int, list[str]] = {}
    for number in range(len(sheet.names)):
        if sheet.kind(number) != "text":
            continue
        for value in dict.fromkeys(sheet.column(number)):
            lower = value.lower()
            if not lower or lower in _COMMON or len(lower) > 60:
                continue
            at = re.search(rf"(?<!\w){re.escape(lower)}(?!\w)", text)
            if at or (" " not in lower and len(lower) > 3 and stem(lower) in stems):
                found.setdefault(number, []).append(value)
    for number, values in found.items():
        values.sort(key=lambda v: text.find(v.lower()))
        found[number] = values
    return found


def _partly(ask: Ask, sheet: Sheet) -> dict[int, str]:
    """A word of the question that stands inside cells of a text column, when no whole cell is named."""
    whole = {
        w
        for values in _named_values(ask, sheet).values()
        for v in values
        for w in re.findall(r"[^\W_]+", v.lower())
    }
    headings = {stem(part) for name in sheet.names for part in re.split(r"[\W_]+", name.lower()) if part}
    found: dict[int, str] = {}
    for word in _words(ask):
        if len(word) < 4 or word in _COMMON or word in STOP or word in whole or stem(word) in headings:
            continue
        for number in range(len(sheet.names)):
            if (
                number not in found
                and sheet.kind(number) == "text"
                and any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", c, re.I) for c in sheet.column(number))
            ):
                found[number] = word
    return found


def fits(ask: Ask, sheet: Sheet) -> int:
    name = sheet.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    spends = ask.has(r"\b(?:spen[dt]\w*|cost\w*|expens\w*|paid|pay|bought|ausgegeben|gastado|dépensé)\b")
    money = any(
        sheet.kind(n) == "number" and any(_alike(a, x) for a in _AMOUNTS) for n, x in enumerate(sheet.names)
    )
    months = bool(_months(ask)) or ask.has(r"\bmonths?\b|\byears?\b")
    dated = any(sheet.kind(n) == "date" for n in range(len(sheet.names)))
    return (
        2 * len(set(_named_columns(ask, sheet)))
        + 2 * sum(len(v) for v in _named_values(ask, sheet).values())
        + sum(_alike(word, name) for word in _words(ask))
        + (2 if spends and money else 0)
        + (1 if months and dated else 0)
        + len(_partly(ask, sheet))
        + (1 if ask.has(_DISTINCT) and _named_columns(ask, sheet) else 0)
        + (1 if ask.has(r"\b(?:rows?|entries|records|csv|table|spreadsheet|transactions|orders)\b") else 0)
    )


def _months(ask: Ask) -> list[str]:
    """Months the question names, as "-03-" or "2026-03"."""
    text = ask.plain().lower()
    found = [(m.start(), m.group()) for m in re.finditer(r"\b\d{4}-\d{2}\b(?!-)", text)]
    for number, month in enumerate(_MONTHS, 1):
        pattern = rf"\b{month}\b" if month == "may" else rf"\b(?:{month}|{month[:3]})\b"
        if month == "may" and not re.search(r"\b(?:in|of|for|or|and|than|vs) may\b|\bMay\b", ask.plain()):
            continue
        found += [(m.start(), f"-{number:02}") for m in re.finditer(pattern, text)]
    if not found:
        found = [
            (m.start(), m.group(1))
            for m in re.finditer(r"\b(?:in|of|during|for|since|from) (20\d\d|19\d\d)\b(?!-)", text)
        ]
    return [value for _, value in sorted(found)]


def planned(ask: Ask, sheet: Sheet) -> Query | None:
    """What to compute; None when the sheet does not answer it."""
    query = Query()
    columns = _named_columns(ask, sheet)
    numeric = [n for n in range(len(sheet.names)) if sheet.kind(n) == "number"]
    named = [n for n in columns if n in numeric]
    query.date = next((n for n in range(len(sheet.names)) if sheet.kind(n) == "date"), None)
    query.equal = _named_values(ask, sheet)
    query.partly = {} if query.equal else _partly(ask, sheet)
    query.months = _months(ask) if query.date is not None else []
    query.column = named[0] if named else _amount_column(sheet, numeric)
    if query.column in query.equal:
        query.equal.pop(query.column)
    query.smallest = ask.has(_SMALL)
    _set_bounds(ask, query)
    _set_group(ask, sheet, query, columns, numeric)
    order = re.search(
        r"\b(?:sorted|sort|ordered|order|ranked|rank)(?: \w+){0,3} by (?:the )?([\w-]+)", ask.text, re.I
    )
    query.ordered = next(
        (n for n, name in enumerate(sheet.names) if order and _alike(order.group(1), name)), None
    )
    if query.ordered is not None:
        query.group = None
        query.descending = ask.has(
            r"\b(?:descending|highest first|largest first|newest first|most first|desc)\b"
        )
    operation = _operation(ask, sheet, query, named)
    if operation is None or (query.column is None and (operation not in {"count", "rows"} or query.most)):
        return None
    query.operation = operation
    query.unknown = _unknown(ask, sheet, query)
    return query


def _amount_column(sheet: Sheet, numeric: list[int]) -> int | None:
    """The column of numbers people mean when they name none."""
    usual = next((n for a in _AMOUNTS for n in numeric if _alike(a, sheet.names[n])), None)
    if usual is not None:
        return usual
    return next(
        (n for n in numeric if not re.search(r"\bid\b|year|number|^#|zip|phone", sheet.names[n], re.I)), None
    )


def _set_bounds(ask: Ask, query: Query) -> None:
    """ "over 100", "at most 5", "top 3"."""
    for words, sign in (
        (r"over|above|more than|greater than|higher than|bigger than|larger than|exceeding|at least", ">"),
        (r"under|below|less than|cheaper than|lower than|smaller than|at most", "<"),
    ):
        bound = re.search(rf"(?:\b(?:{words})|{sign}) ?(?:€|\$|£)?(\d+(?:\.\d+)?)", ask.plain(), re.I)
        if bound and query.column is not None:
            equal = "=" if re.match("at ", bound.group(), re.I) else ""
            query.compared.append((query.column, sign + equal, bound.group(1)))
    number = re.search(
        r"\b(?:top|first|best|biggest|largest|highest|lowest|smallest|worst|cheapest) (\d{1,2}|two|three|five|ten)\b|\b(\d{1,2}|two|three|five|ten) (?:\w+ )?(?:most|biggest|largest|highest|lowest|smallest|cheapest|best|worst)\b",
        ask.text,
        re.I,
    )
    if number:
        word = (number.group(1) or number.group(2)).lower()
        query.most = int({"two": "2", "three": "3", "five": "5", "ten": "10"}.get(word, word))


def _set_group(ask: Ask, sheet: Sheet, query: Query, columns: list[int], numeric: list[int]) -> None:
    """ "per category", "which month"; two values of a column, or two months, are compared with each other."""
    for found in _GROUP.finditer(ask.text):
        word = found.group(1).lower()
        period = {"monat": "month", "daily": "day", "monthly": "month"}.get(word, word.removesuffix("s"))
        if period in {"month", "year", "day"} and query.date is not None:
            query.group, query.period = query.date, period
            continue
        fitting = [n for n, name in enumerate(sheet.names) if _alike(word, name) and n not in numeric]
        if fitting:
            query.group, query.period = fitting[0], ""
    for at, values in query.equal.items():
        if len(values) > 1:
            query.group, query.period = at, ""
    if len(query.months) > 1 and query.date is not None:
        query.group, query.period = query.date, "month"
    if ask.has(_DISTINCT) and query.group is None:
        query.group = next((n for n in columns if n not in numeric), None)


def _operation(ask: Ask, sheet: Sheet, query: Query, named: list[int]) -> str | None:
    if ask.has(r"\b(?:average|mean|avg|durchschnitt\w*|moyenne|promedio|typical)\b"):
        return "average"
    if ask.has(r"\bmedian\b"):
        return "median"
    counting = ask.has(r"\b(?:how many|number of|count|how often|wie ?viele|combien de|cuántos|cuántas)\b")
    if (
        counting
        and not ask.has(r"\bhow many (?:euros?|dollars?)\b")
        and not (named and ask.has(r"\b(?:total|sum)\b"))
    ):
        alone = query.group is None and not (query.equal or query.compared or query.months)
        return (
            "sum" if named and alone and ask.has(rf"how many {re.escape(sheet.names[named[0]])}") else "count"
        )
    if ask.has(_DISTINCT):
        return "count"
    extreme = ask.has(_LARGE) or query.smallest
    if query.compared:
        extreme = bool(query.most)
    if query.ordered is not None:
        return "rows"
    if query.group is not None:
        return _of_group(ask, sheet, query, extreme=extreme)
    if ask.has(_TOTAL) and not ask.has(
        r"\b(?:largest|biggest|highest|lowest|smallest|most expensive|cheapest)\b"
    ):
        return "sum"
    if extreme:
        query.most = query.most or 1
        return "rows"
    if query.compared or query.equal or query.months or query.partly:
        if ask.has(r"^(?:who|which)\b"):
            return "rows"
        return (
            "rows"
            if ask.has(
                r"\b(?:rows?|entries|entry|records?|list|show|filter|which|all|only|print|give|what)\b"
            )
            else "sum"
        )
    return None


def _of_group(ask: Ask, sheet: Sheet, query: Query, *, extreme: bool) -> str:
    if extreme and ask.has(r"\b(?:maximum|max|minimum|min)\b"):
        return "min" if query.smallest else "max"
    mean = query.column is not None and re.search(
        r"temp|rate|score|percent|age\b|rating", sheet.names[query.column], re.I
    )
    return "average" if mean and not ask.has(r"\b(?:total|sum)\b") else "sum"


def _unknown(ask: Ask, sheet: Sheet, query: Query) -> list[str]:
    """Words behind "on", "for", "in" … that name no column, value or month: the answer must not pass over them."""
    known = {
        w for values in query.equal.values() for v in values for w in re.findall(r"[^\W_]+", v.lower())
    } | set(query.partly.values())
    stems = {stem(w) for w in known} | {
        stem(part)
        for name in (*sheet.names, sheet.path.rsplit("/", 1)[-1])
        for part in re.split(r"[\W_]+", name.lower())
        if part
    }
    found = re.findall(
        r"\b(?:on|for|in|at|by|per|from|with|without|to|during|of|each|every)\s+(?:the |our |my |all |each )*([^\W\d_][\w'-]+)",
        re.sub(r"‹p\d+›", " ", ask.text),
        re.I,
    )
    months = {m for name in _MONTHS for m in (name, name[:3])} if query.date is not None else set()
    return [
        word for word in [*found, *ask.quotes]
        if word.lower() not in _COMMON | STOP | months | _MATTERS and stem(word) not in stems and word.lower() not in known
    ]  # fmt: skip


_LARGE = r"\b(?:most|highest|largest|biggest|greatest|maximum|max|top|best|dearest|warmest|hottest|longest|higher|bigger|larger|greater|more|worst)\b"
_SMALL = r"\b(?:least|lowest|smallest|cheapest|minimum|min|fewest|coldest|less|lower|smaller|cheaper|bottom)\b(?! than \d)"
_TOTAL = r"\b(?:sum|total|how much|altogether|in all|overall|add up|spen[dt]\w*|wie ?viel|insgesamt|combien|cuánto)\b"
_DISTINCT = r"\b(?:distinct|unique|different)\b|\b(?:different|what|which) (?:\w+ ){0,2}(?:are there|exist|do we have|occur)"
_GROUP = re.compile(
    r"\b(?:by|per|for each|of each|each|every|which|what|in each|across|pro|je|par|por)\s+(?:the |of the |individual |single )?([\w-]+)",
    re.I,
)
_MATTERS = word_set("total totals sum average mean median amount amounts money expenses expense costs spending euros euro eur dollars usd cash order descending ascending rows entries list file data table sheet today category one period time range")  # fmt: skip


def program(sheet: Sheet, query: Query) -> str:
    """A shell command with a short Python program; its lines are key, value and number of rows, tab between."""
    name = sheet.names
    lines = ["import re, statistics", "from decimal import Decimal"]
    if sheet.mark == "json":
        lines += ["import json", f"data = json.load(open({sheet.path!r}, encoding='utf-8'))", "rows = data if isinstance(data, list) else next(v for v in data.values() if isinstance(v, list) and v and isinstance(v[0], dict))", "rows = [{k: str(v) for k, v in r.items()} for r in rows]"]  # fmt: skip
    else:
        lines += ["import csv", f"rows = list(csv.DictReader(open({sheet.path!r}, encoding='utf-8-sig', newline=''), delimiter={sheet.mark!r}))", "rows = [{str(k).strip(): (v or '').strip() if isinstance(v, str) else '' for k, v in r.items()} for r in rows]"]  # fmt: skip
    comma = (
        query.column is not None
        and sheet.mark == ";"
        and any(re.search(r"\d,\d{1,2}$", c) for c in sheet.column(query.column))
    )
    clean = "re.sub(r'[^0-9,-]', '', text).replace(',', '.')" if comma else "re.sub(r'[^0-9.-]', '', text)"
    lines += [
        "def number(text):",
        f"    digits = {clean}",
        "    return Decimal(digits) if re.fullmatch(r'-?[0-9]*[.]?[0-9]+', digits) else None",
    ]
    for at, values in query.equal.items():
        lines.append(
            f"rows = [r for r in rows if r.get({name[at]!r}, '').lower() in {[v.lower() for v in values]!r}]"
        )
    for at, word in query.partly.items():
        lines.append(
            f"rows = [r for r in rows if re.search(r'(?<!\\w){re.escape(word)}(?!\\w)', r.get({name[at]!r}, ''), re.I)]"
        )
    if query.months and query.date is not None:
        months = [m.lstrip("-") for m in query.months]
        test = f"month(r.get({name[query.date]!r}, ''))"
        lines += _month_function()
        lines.append(
            f"rows = [r for r in rows if {test} in {months!r} or {test}[-2:] in {months!r} or {test}[:4] in {months!r}]"
        )
    for at, sign, bound in query.compared:
        lines.append(
            f"rows = [r for r in rows if (n := number(r.get({name[at]!r}, ''))) is not None and n {sign} Decimal({bound!r})]"
        )
    lines += _row_lines(sheet, query) if query.operation == "rows" else _group_lines(sheet, query, lines)
    return "python3 - <<'EOF'\n" + "\n".join(lines) + "\nEOF"


def _row_lines(sheet: Sheet, query: Query) -> list[str]:
    """The part of the program that prints rows."""
    name = sheet.names
    lines: list[str] = []
    if query.most and query.column is not None:
        lines.append(f"rows = [r for r in rows if number(r.get({name[query.column]!r}, '')) is not None]")
        lines.append(
            f"rows.sort(key=lambda r: number(r[{name[query.column]!r}]), reverse={not query.smallest})"
        )
        lines.append(f"rows = rows[:{query.most}]")
    elif query.ordered is not None:
        by = f"r.get({name[query.ordered]!r}, '')"
        key = f"number({by}) or Decimal(0)" if sheet.kind(query.ordered) == "number" else f"{by}.lower()"
        lines.append(f"rows.sort(key=lambda r: {key}, reverse={query.descending})")
    lines += [
        f"for r in rows[:{_MOST_SHOWN}]: print(*(r.get(c, '') for c in {name!r}), sep='\\t')",
        "print('rows', len(rows), sep='\\t')",
    ]
    return lines


def _group_lines(sheet: Sheet, query: Query, before: list[str]) -> list[str]:
    """The part of the program that computes one value for each group."""
    name = sheet.names
    lines: list[str] = []
    key = "''"
    if query.group is not None:
        key = f"r.get({name[query.group]!r}, '')"
        if query.period:
            if "def month(text):" not in before:
                lines += _month_function()
            key = (
                f"month({key})" + {"year": "[:4]"}.get(query.period, "")
                if query.period != "day"
                else f"{key}[:10]"
            )
    lines += ["groups = {}", "for r in rows:"]
    if query.operation == "count":
        lines.append(f"    groups.setdefault({key}, []).append(1)")
        value = "len(v)"
    else:
        lines += [
            f"    n = number(r.get({name[query.column or 0]!r}, ''))",
            f"    if n is not None: groups.setdefault({key}, []).append(n)",
        ]
        value = {
            "sum": "sum(v)",
            "average": "round(statistics.mean(v), 4)",
            "median": "statistics.median(v)",
            "max": "max(v)",
            "min": "min(v)",
        }[query.operation]
    order = (
        "key=lambda g: g[0]"
        if query.period and not _extreme(query)
        else f"key=lambda g: g[1], reverse={not query.smallest}"
    )
    lines += [
        f"results = sorted(((k, {value}, len(v)) for k, v in groups.items()), {order})",
        "for result in results: print(*result, sep='\\t')",
    ]
    return lines


def _extreme(query: Query) -> bool:
    return bool(query.most) or query.smallest or len(query.months) > 1


def _month_function() -> list[str]:
    return ["def month(text):", "    m = re.match(r'([0-9]{4})-([0-9]{2})', text) or re.match(r'[0-9]{1,2}[./](?P<m>[0-9]{1,2})[./](?P<y>[0-9]{4})', text)", "    return '' if not m else f\"{m['y']}-{int(m['m']):02}\" if 'm' in m.groupdict() else f'{m[1]}-{m[2]}'"]  # fmt: skip


def answered(sheet: Sheet, query: Query, lines: list[str]) -> str:
    """The program's output in words."""
    where = _conditions(sheet, query)
    rows = [line.split("\t") for line in lines]
    if query.operation == "rows":
        total = next((r[1] for r in rows if r[0] == "rows" and len(r) == 2), "0")
        body = [r for r in rows if not (r[0] == "rows" and len(r) == 2)]
        if not body:
            return f"No row of {link(sheet.path)} fits{where}."
        shown = table(
            sheet.names,
            [[clip(c, 60) for c in (*r, *[""] * len(sheet.names))[: len(sheet.names)]] for r in body],
        )
        if query.most:
            what = "lowest" if query.smallest else "highest"
            return (
                f"The {what} {code(sheet.names[query.column or 0])} of {link(sheet.path)}{where}:\n\n{shown}"
            )
        more = f" The first {len(body)} are shown." if int(total) > len(body) else ""
        if not where:
            return f"{count(int(total), 'row')} of {link(sheet.path)}{', sorted' if query.ordered is not None else ''} (the file is unchanged).{more}\n\n{shown}"
        return f"{count(int(total), 'row')} of {link(sheet.path)} {'fits' if total == '1' else 'fit'}{where}.{more}\n\n{shown}"
    what = (
        "Number of rows"
        if query.operation == "count"
        else f"{ {'sum': 'Sum', 'average': 'Average', 'median': 'Median', 'max': 'Largest', 'min': 'Smallest'}[query.operation] } of {code(sheet.names[query.column or 0])}"
    )
    results = [(r[0], _tidy(r[1]), r[2]) for r in rows if len(r) == 3]
    if not results:
        return f"No row of {link(sheet.path)} fits{where}" + (
            ": the number is **0**." if query.operation == "count" else ", so there is nothing to compute."
        )
    if query.group is None:
        of = "" if query.operation == "count" else f" ({count(int(results[0][2]), 'row')})"
        return f"{what} in {link(sheet.path)}{where}: **{results[0][1]}**{of}."
    head = query.period or sheet.names[query.group]
    headline = f"{what} by {code(head)} in {link(sheet.path)}{where}"
    ordered = sorted(results, key=lambda r: float(r[1].replace(",", "")), reverse=not query.smallest)
    note = (
        f" {'Lowest' if query.smallest else 'Highest'}: **{ordered[0][0] or '(empty)'}** with **{ordered[0][1]}**."
        if len(results) > 1
        else ""
    )
    if query.most:
        results = ordered[: query.most]
    return (
        f"{headline}.{note}\n\n{table((head, query.operation, 'rows'), [(k or '(empty)', v, n) for k, v, n in results[:_MOST_SHOWN]])}"
        + (
            f"\n\n{len(results) - _MOST_SHOWN} more groups are in the result above."
            if len(results) > _MOST_SHOWN
            else ""
        )
    )


def _conditions(sheet: Sheet, query: Query) -> str:
    parts = [
        f"{code(sheet.names[at])} is {' or '.join(code(v) for v in values)}"
        for at, values in query.equal.items()
    ]
    parts += [f"{code(sheet.names[at])} has the word {code(word)}" for at, word in query.partly.items()]
    if query.months:
        parts.append("the month is " + " or ".join(_month_name(m) for m in query.months))
    parts += [f"{code(sheet.names[at])} {sign} {bound}" for at, sign, bound in query.compared]
    return f" where {' and '.join(parts)}" if parts else ""


def _month_name(value: str) -> str:
    """ "-03" is March, "2026-03" March 2026, "2026" the year."""
    if re.fullmatch(r"\d{4}", value):
        return f"in {value}"
    return _MONTHS[int(value[-2:]) - 1].capitalize() + (f" {value[:4]}" if value[0] != "-" else "")


def _tidy(number: str) -> str:
    return number.rstrip("0").rstrip(".") if re.fullmatch(r"-?\d+\.\d{3,}", number) else number


_COMMON = word_set("""
    the a an of in on at to for and or by per with is was were are be did do does we i you our my what which how much many more most than all
    show list give count sum total average mean row rows column columns file csv json data table value values each every from that this where
    highest lowest largest smallest biggest top group grouped us me it first last have has had there any no not yes together spend spent expensive
    month months year years number amounting
""")  # fmt: skip
