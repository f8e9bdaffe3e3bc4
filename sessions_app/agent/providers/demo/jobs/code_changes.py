"""Small changes of Python code that need no understanding: a definition taken out, a default changed."""

from __future__ import annotations

import ast
import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import Hit, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import code, count, link


def _defined(desk: Desk, name: str, kinds: str) -> Move[Hit]:
    """The one line that defines a name. Raises CannotDo when there is none or several."""
    hits = yield from moves.search(
        desk, rf"^\s*({kinds}) {re.escape(name)}\b", f"Where is {code(name)} defined?", glob="*.py"
    )
    if len(hits) != 1:
        times = "nowhere" if not hits else f"{len(hits)} times"
        raise CannotDo(f"Not changed: {code(name)} is defined {times} in the Python files here.")
    return hits[0]


def remove_definition(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A function or class taken out; where its name stands elsewhere is said."""
    name = ask.plain(match.group("name")).removesuffix("()")
    hit = yield from _defined(desk, name, "async def|def|class")
    text = yield from moves.full(desk, hit.path)
    try:
        tree = ast.parse(text.text)
    except SyntaxError as error:
        raise CannotDo(f"Not removed: {link(text.path)} is not valid Python (line {error.lineno}).") from None
    node = next(
        n
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n.name == name
    )
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    last = node.end_lineno or node.lineno
    lines = [*text.lines[:first], *text.lines[last:]]
    while 0 < first < len(lines) and not lines[first].strip() and not lines[first - 1].strip():
        del lines[first]
    while lines and not lines[-1].strip():
        lines.pop()
    yield from put_lines(desk, text, lines)
    uses = yield from moves.search(
        desk, rf"\b{re.escape(name)}\b", f"Does {code(name)} stand anywhere else?", limit=50
    )
    left = (
        f"\n\nStill named at {', '.join(link(h.path, h.line) for h in uses[:10])}; these places may break."
        if uses
        else ""
    )
    return f"Removed {code(name)} ({count(last - first, 'line')}) from {link(text.path)}.{left} “undo” takes it back."


def change_default(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The default of a parameter of a function."""
    function, name = ask.plain(match.group("function")).removesuffix("()"), ask.plain(match.group("name"))
    value = ask.plain(match.group("value")).strip()
    hit = yield from _defined(desk, function, "async def|def")
    text = yield from moves.full(desk, hit.path)
    line = text.lines[hit.line - 1]
    found = re.search(rf"(?<!\w)({re.escape(name)}(?:\s*:\s*[\w\[\], |.]+?)?\s*=\s*)([^,)]+)", line)
    if found is None:
        raise CannotDo(f"Not changed: the line {code(line.strip())} has no default for {code(name)}.")
    if not re.fullmatch(r"-?[\d.]+|True|False|None|[\"'][^\"']*[\"']", value):
        raise CannotDo(f"Not changed: {code(value)} is no plain value.")
    lines = list(text.lines)
    lines[hit.line - 1] = line[: found.start(2)] + value + line[found.end(2) :]
    yield from put_lines(desk, text, lines)
    return f"{link(text.path, hit.line)} was {code(line.strip())} and is now {code(lines[hit.line - 1].strip())}."


RULES: list[Rule] = [
    rule(r"(?:delete|remove|drop|take out|get rid of)\b (?:the |my )?(?:unused |old )?(?:python )?(?:function|class|method) (?:called |named )?(?P<name>‹q\d+›|[A-Za-z_]\w*(?:\(\))?)(?: (?:from|in) (?:the )?(?:file )?‹p\d+›)?$", remove_definition),
    rule(r"(?:change|set|make|update|raise|lower|increase)\b (?:the )?(?:default (?:value )?(?:of |for )?(?:the )?)?(?:parameter |argument )?(?P<name>[a-z_]\w*)(?:'s)? (?:default )?(?:of|in|for) (?:the )?(?:function )?(?P<function>[a-z_]\w*(?:\(\))?) (?:to|=) (?P<value>‹q\d+›|\S+)$", change_default, lambda ask: ask.has(r"\bdefault\b|\bparameter\b|\bargument\b")),
]  # fmt: skip
