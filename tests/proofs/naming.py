"""Which tests name which rule: read from the docstrings and comments of the test functions."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent.parent

# Prefixes of rule ids, by the part they stand in. No prefix occurs in two parts.
PARTS = {
    "01": ("ST", "SF", "LB", "NM", "TR", "FK", "IO", "TT"),
    "02": ("CT", "CP", "SG"),
    "03": ("BS",),
    "04": ("TX", "QU", "RT"),
    "05": ("ED",),
    "06": ("TU", "SP", "CX"),
    "07": ("EX",),
    "08": ("IS",),
}
PART_OF = {prefix: part for part, prefixes in PARTS.items() for prefix in prefixes}

_RULE = re.compile(rf"\b({'|'.join(PART_OF)})-(\d\d)(?:(?:\.\.|…|–)(\d\d))?\b")
_SECTIONS = re.compile(r"\b(0\d|10) §\d+(?:\.\d+)?(?:(?:, | and )§\d+(?:\.\d+)?)*")
_SECTION = re.compile(r"§(\d+(?:\.\d+)?)")
_REPORT = re.compile(r"\bB(\d\d)\b")


def names_in(text: str) -> set[str]:
    """`04 TX-02`, `02 §3.1`, `B33`: every rule and reported bug that a text names; `CT-05..07` are three."""
    names = set()
    for prefix, first, last in _RULE.findall(text):
        for number in range(int(first), int(last or first) + 1):
            names.add(f"{PART_OF[prefix]} {prefix}-{number:02}")
    for found in _SECTIONS.finditer(text):
        names |= {f"{found.group(1)} §{place}" for place in _SECTION.findall(found.group())}
    return names | {f"B{number}" for number in _REPORT.findall(text)}


def collect_names(root: Path = TESTS) -> dict[str, list[str]]:
    """For each name the tests that carry it, as `core/test_tree::test_…`, sorted."""
    found: dict[str, set[str]] = defaultdict(set)
    for test, text in _described(root):
        for name in names_in(text):
            found[name].add(test)
    return {name: sorted(tests) for name, tests in found.items()}


def proofs_of(rule: str, named: dict[str, list[str]]) -> list[str]:
    """The tests of a rule; a whole section (`02 §3`) has those of its parts (`02 §3.1`) too."""
    whole = "§" in rule and "." not in rule
    tests = {
        test
        for name, found in named.items()
        if name == rule or (whole and name.startswith(f"{rule}."))
        for test in found
    }
    return sorted(tests)


def collect_tests(root: Path = TESTS) -> set[str]:
    return {test for test, _ in _described(root)}


def _described(root: Path) -> Iterator[tuple[str, str]]:
    """Every test with its docstring and the comments inside and directly above it."""
    for path in sorted(root.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "def test_" not in source:
            continue
        comments = _comments(source)
        module = path.relative_to(root).with_suffix("").as_posix()
        for qualified, node in _functions(ast.parse(source)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            while first - 1 in comments:
                first -= 1
            last = node.end_lineno or node.lineno
            said = [text for line, text in comments.items() if first <= line <= last]
            yield f"{module}::{qualified}", "\n".join([ast.get_docstring(node) or "", *said])


def _functions(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in module.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in inside:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and function.name.startswith(
                "test_"
            ):
                yield (
                    (f"{node.name}.{function.name}" if isinstance(node, ast.ClassDef) else function.name),
                    function,
                )


def _comments(source: str) -> dict[int, str]:
    """Comments that stand alone on their line or behind code, by line. Those that head a part of a file are left out."""
    return {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and not token.string.startswith("# ---")
    }
