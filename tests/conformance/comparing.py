"""Holds our answers against the recorded ones and names the first field that differs."""

from __future__ import annotations

import math
from typing import Any

from sessions_app.agent.summarizer import BRANCH_PREAMBLE, NO_CONTENT, NO_HISTORY, SPLIT_HEADING
from sessions_app.core.transcript import BRANCH_PREFIX, COMPACTION_PREFIX

# The reference's wording is not recorded; these stand for ours.
WORDING = {
    "{{SPLIT}}": SPLIT_HEADING,
    "{{NO_HISTORY}}": NO_HISTORY,
    "{{BRANCH_PREAMBLE}}": BRANCH_PREAMBLE,
    "{{NO_CONTENT}}": NO_CONTENT,
    "{{COMPACTION_PREFIX}}": COMPACTION_PREFIX,
    "{{BRANCH_PREFIX}}": BRANCH_PREFIX,
}
# What the reference's older library makes of a path is recorded for information.
FOR_INFORMATION = frozenset({"harness0851"})


def first_difference(expected: dict[str, Any], actual: dict[str, Any]) -> str | None:
    """`field: expected …, got …` of the first recorded answer that ours does not equal."""
    passed_over = set(FOR_INFORMATION)
    if informational(expected.get("estimate", {}).get("projected")):
        # Nothing is recorded of the threshold where the reference's estimate raised.
        passed_over.add("shouldCompact")
    for name, value in expected.items():
        if name not in passed_over:
            difference = differs(value, actual.get(name, MISSING), name)
            if difference is not None:
                return difference
    return None


class Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = Missing()


def informational(value: Any) -> bool:
    """Whether the reference raised a TypeError here: what we do instead is ours to choose."""
    error = value.get("error") if isinstance(value, dict) else None
    return error == "TypeError" or (isinstance(error, dict) and error.get("kind") == "TypeError")


def differs(expected: Any, actual: Any, where: str) -> str | None:
    if informational(expected):
        return None
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in {**expected, **actual}:
            inner = differs(expected.get(name, MISSING), actual.get(name, MISSING), f"{where}.{name}")
            if inner is not None:
                return inner
        return None
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            inner = differs(one, other, f"{where}[{index}]")
            if inner is not None:
                return inner
        return None
    if isinstance(expected, str):
        for placeholder, words in WORDING.items():
            expected = expected.replace(placeholder, words)
    if expected == actual and isinstance(expected, bool) == isinstance(actual, bool):
        return None
    if _number(actual) and _printed_like(expected, actual):
        return None
    return f"{where}: expected {shorten(expected)}, got {shorten(actual)}"


def _printed_like(expected: Any, number: float) -> bool:
    """Whether the recorded value is how the number is printed: infinite ones as null, and beyond 2^53 other digits
    of the same double.
    """
    return expected is None if math.isinf(number) else _number(expected) and float(expected) == float(number)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shorten(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 300 else f"{text[:300]}… ({len(text)} characters)"
