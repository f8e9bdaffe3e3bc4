"""JSON text as session files hold it: read without losing anything, printed as JavaScript prints it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, NoReturn

_LARGEST_SAFE_INTEGER = 2**53 - 1
_LONGEST_EXACT_INTEGER = 400
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_LARGEST_ARRAY_INDEX = 2**32 - 2
_DEEPEST_FAST_PRINT = 100


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    # Past this length the value overflows a double anyway, and Python refuses to convert very long digits.
    return int(digits) if len(digits) <= _LONGEST_EXACT_INTEGER else float(digits)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_DECODER_OF_LONG_INTEGERS = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)
_PRINTER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def parse_json(text: str) -> Any:
    """The value of one JSON document. Raises ValueError, also where nesting is deeper than can be read.

    Integers stay exact, `1e400` becomes infinity, NaN and Infinity as words are refused, halves of
    surrogate pairs survive as they are.
    """
    return _parse(_DECODER, text)


def parser_of_many() -> Callable[[str], Any]:
    """A `parse_json` for many documents of the same few shapes: what their fields are called is held once for all."""
    names: dict[str, str] = {}

    def with_known_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {names.setdefault(name, name): value for name, value in pairs}

    return partial(
        _parse, json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=with_known_names)
    )


def _parse(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # Python's refusal of very long digits; a hook for every integer would slow all others down.
        return _DECODER_OF_LONG_INTEGERS.decode(text)
    except RecursionError:
        raise ValueError("the nesting is too deep") from None


def print_json(value: Any) -> str:
    """One line of ASCII JSON that reads back as the same value; infinity, which JSON lacks, is spelled 1e999."""
    pieces: list[str] = []
    _print(value, pieces, number=_number_as_python, string=json.dumps, key_order=list)
    return "".join(pieces)


def print_compact_json(value: Any) -> str:
    """The text JavaScript's JSON.stringify gives for a parsed value (FINDINGS of 02 §9).

    Keys that are array indices come first in numeric order, numbers are doubles in their shortest
    spelling, infinities print as null, halves of surrogate pairs are escaped, everything else is raw.
    """
    if _prints_alike(value):
        return _LONE_SURROGATE.sub(_escape, _PRINTER.encode(value))
    pieces: list[str] = []
    _print(value, pieces, number=print_number, string=_string_as_javascript, key_order=in_key_order)
    return "".join(pieces)


def in_key_order(mapping: dict[str, Any]) -> list[str]:
    """The keys as JavaScript lists them: array indices in numeric order, then the others as written."""
    indices = [key for key in mapping if _is_array_index(key)]
    if not indices:
        return list(mapping)
    return sorted(indices, key=int) + [key for key in mapping if not _is_array_index(key)]


def print_number(value: float) -> str:
    """A number as JavaScript writes it in JSON: `1.0` → `1`, `1E21` → `1e+21`, overflow → `null`."""
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - finite, as tested above
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    exponent += len(text) - len(stripped)
    return ("-" if sign else "") + _place_point(stripped, len(stripped) + exponent)


def string_of(value: Any) -> str:
    """A parsed value as JavaScript's String() writes it: `[1, null]` is `1,`, an object `[object Object]`."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return _joined(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    return print_compact_json(value)


def _joined(items: list[Any]) -> str:
    """Items joined by commas, lists within them flattened into the same commas, null as nothing."""
    texts: list[str] = []
    stack = items[::-1]
    while stack:
        item = stack.pop()
        if isinstance(item, list) and item:
            stack.extend(reversed(item))
        else:
            texts.append("" if item is None or item == [] else string_of(item))
    return ",".join(texts)


def _place_point(digits: str, point: int) -> str:
    """Digits with the decimal point after the first `point` of them, by ECMAScript's Number::toString."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits[0] + ("." + digits[1:] if count > 1 else "")
    return f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _prints_alike(value: Any) -> bool:
    """Whether Python's own printer gives the JavaScript text; it does for nearly everything, and fast."""
    level = [value]
    for _ in range(_DEEPEST_FAST_PRINT):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                if any(map(_is_array_index, item)):
                    return False
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, float) or (isinstance(item, int) and abs(item) > _LARGEST_SAFE_INTEGER):
                return False
        if not inner:
            return True
        level = inner
    return False


def _is_array_index(key: str) -> bool:
    return key[:1].isdigit() and _ARRAY_INDEX.match(key) is not None and int(key) <= _LARGEST_ARRAY_INDEX


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _string_as_javascript(text: str) -> str:
    return _LONE_SURROGATE.sub(_escape, _PRINTER.encode(text))


def _number_as_python(value: float) -> str:
    return json.dumps(value).replace("Infinity", "1e999")


def _print(value: Any, pieces: list[str], *, number: Any, string: Any, key_order: Any) -> None:
    # A stack of what is still to print, since nesting may be deeper than Python's own stack.
    stack: list[tuple[bool, Any]] = [(False, value)]
    while stack:
        is_text, item = stack.pop()
        if is_text:
            pieces.append(item)
        elif item is None or isinstance(item, bool):
            pieces.append({None: "null", True: "true", False: "false"}[item])
        elif isinstance(item, str):
            pieces.append(string(item))
        elif isinstance(item, int | float):
            pieces.append(number(item))
        elif isinstance(item, list | tuple):
            stack.append((True, "]"))
            for index in range(len(item) - 1, -1, -1):
                stack.append((False, item[index]))
                stack.append((True, "," if index else "["))
            if not item:
                pieces.append("[")
        else:
            keys = key_order(item)
            stack.append((True, "}"))
            for index in range(len(keys) - 1, -1, -1):
                stack.append((False, item[keys[index]]))
                stack.append((True, ("," if index else "{") + string(keys[index]) + ":"))
            if not keys:
                pieces.append("{")
