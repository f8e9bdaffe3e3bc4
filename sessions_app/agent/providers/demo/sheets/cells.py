"""What stands in one cell: a number with its unit, a date, a yes or a no, or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal, InvalidOperation

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_TRUE = frozenset({"yes", "y", "true", "x", "✓", "✔", "ja", "oui", "si", "sí", "wahr", "vrai", "1"})
_FALSE = frozenset({"no", "n", "false", "✗", "nein", "non", "falsch", "faux", "0", "-"})
_EMPTY = frozenset({"", "-", "n/a", "na", "none", "null", "nan", "—", "?"})
_UNITS = r"(?i:eur|usd|gbp|chf|kg|mg|g|lbs?|oz|km|m|cm|mm|mi|ft|km/h|mph|l|ml|cl|h|hrs?|hours?|min|mins|minutes?|s|sec|ms|days?|weeks?|months?|years?|yrs?|pages?|pcs|pieces?|stk|gb|mb|kb|tb|m²|m2|m³|°c|°f|°|kwh|kw|points?|pts)"
_NUMBER = re.compile(
    r"(?P<before>[€$£¥]|EUR|USD|GBP|CHF)?\s*(?P<sign>[-+]?)(?P<digits>\d[\d.,'  ]*)\s*(?P<unit>[€$£¥%]|"
    + _UNITS
    + r")?$"
)
_ISO = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?:[T ]\d.*)?$")
_DOTTED = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4}|\d{2})$")
_WORDED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th|\.)? )?([A-Za-z]{3,9})\.?(?: (\d{1,2})(?:st|nd|rd|th)?)?,? (\d{4})$"
)


def is_empty(cell: str) -> bool:
    """Whether the cell says nothing: blank, a dash, "n/a"."""
    return cell.strip().lower() in _EMPTY


def truth(cell: str) -> bool | None:
    """yes/no, true/false, x; None when the cell is neither."""
    word = cell.strip().lower()
    return True if word in _TRUE else False if word in _FALSE or word == "" else None


def is_truths(cells: Sequence[str]) -> bool:
    """Whether a column says yes or no. Zeros and ones do only when there is nothing else."""
    words = {cell.strip().lower() for cell in cells}
    said = words - {""}
    if not said or not said <= _TRUE | _FALSE or said <= {"-"}:
        return False
    return bool(said & (_TRUE | _FALSE) - {"0", "1", "-"}) or said == {"0", "1"}


def number(cell: str, *, comma: bool = False) -> Decimal | None:
    """The number of a cell without its unit. With `comma` the column writes 1.200,50 for 1200.50."""
    found = _NUMBER.match(cell.strip())
    if found is None:
        return None
    digits = re.sub(r"[\s' ]", "", found["digits"]).rstrip(".,")
    if comma:
        digits = digits.replace(".", "").replace(",", ".")
    elif "," in digits and "." in digits:
        digits = (
            digits.replace(",", "")
            if digits.rfind(".") > digits.rfind(",")
            else digits.replace(".", "").replace(",", ".")
        )
    elif re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", digits):
        digits = digits.replace(".", "")
    else:
        digits = digits.replace(",", ".")
    try:
        return Decimal(found["sign"] + digits)
    except InvalidOperation:
        return None


def unit(cell: str) -> str:
    """The unit or currency written beside a number; empty when there is none."""
    found = _NUMBER.match(cell.strip())
    return (found["unit"] or found["before"] or "") if found else ""


def writes_comma(cells: Sequence[str]) -> bool:
    """Whether a column puts a comma in front of the decimals."""
    return any(re.search(r"\d,\d{1,2}(?!\d)", cell) for cell in cells) and not any(
        re.search(r"\d\.\d{1,2}(?!\d)", cell) for cell in cells
    )


def day(cell: str, *, month_first: bool = False) -> date | None:
    """The date of a cell, or of the first day of its month when it names only that."""
    text = cell.strip()
    try:
        if found := _ISO.match(text):
            return date(int(found[1]), int(found[2]), int(found[3] or 1))
        if found := _DOTTED.match(text):
            one, two = int(found[1]), int(found[3])
            year = int(found[4]) if len(found[4]) == 4 else 2000 + int(found[4])
            return date(year, one, two) if month_first else date(year, two, one)
        if found := _WORDED.match(text):
            month = month_number(found[2])
            return date(int(found[4]), month, int(found[1] or found[3] or 1)) if month else None
    except ValueError:
        return None
    return None


def writes_month_first(cells: Sequence[str]) -> bool:
    """Whether 03/25/2026 stands in a column of dates."""
    found = [m for cell in cells if (m := _DOTTED.match(cell.strip())) and m[2] == "/"]
    return any(int(m[3]) > 12 for m in found) and not any(int(m[1]) > 12 for m in found)


def month_number(word: str) -> int:
    """1 for "January" and "Jan"; 0 for any other word."""
    lower = word.lower()
    return next(
        (n for n, name in enumerate(MONTHS, 1) if lower in {name, name[:3], "sept"[: 4 * (n == 9)]}), 0
    )


def plain(value: Decimal) -> str:
    """A number as people write it: no needless zeros, at most four decimals computed."""
    rounded = value.quantize(Decimal("0.0001")) if value.as_tuple().exponent < -4 else value  # type: ignore[operator]
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if re.fullmatch(r"-?\d+\.\d{3,}", text) else text
