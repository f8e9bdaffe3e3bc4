"""Questions about tables: sums, averages, extremes, counts and groups of a CSV or JSON file, by a command that can be seen."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.answering import look_up
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.queries import Sheet, answered, fits, parsed, planned, program
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import code, ending, link

_TABLES = {"csv", "tsv", "json"}


def data_question(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The answer by a small program over the file; a question no table fits is looked up in all files."""
    sheet = yield from _sheet_for(desk, ask)
    query = planned(ask, sheet) if sheet else None
    if (
        sheet is not None
        and query is not None
        and not ask.has(_MEASURED)
        and not (query.equal or query.months or query.partly)
    ):
        query = None
    if sheet is None or query is None:
        return (yield from look_up(desk, ask, match))
    if query.unknown:
        columns = ", ".join(code(name) for name in sheet.names)
        names = ", ".join(code(word) for word in dict.fromkeys(query.unknown))
        raise CannotDo(
            f"Not computed: no column, value or month of {link(sheet.path)} is called {names}. Its columns: {columns}."
        )
    command = program(sheet, query)
    outcome = yield from moves.shell(
        desk, command, f"Computing it from {code(sheet.path)}.", what="computing"
    )
    return answered(sheet, query, moves.lines_of(outcome))


def _sheet_for(desk: Desk, ask: Ask) -> Move[Sheet | None]:
    """The table the question fits best."""
    paths = [p for p in ask.paths if ending(p) in _TABLES]
    if not paths:
        found = yield from moves.every_path(desk, "Looking for tables.")
        folder = next((p.rstrip("/") + "/" for p in ask.paths), "")
        paths = [
            p
            for p in found
            if ending(p) in _TABLES
            and p.startswith(folder)
            and not p.endswith(("package.json", "package-lock.json", "tsconfig.json"))
        ]
        paths.sort(key=lambda p: (ending(p) == "json", p.count("/"), p))
    best: Sheet | None = None
    for path in paths[:6]:
        text = yield from moves.reach(desk, path)
        sheet = parsed(text.path, text.text)
        if sheet is None:
            continue
        sheet.score = fits(ask, sheet) + (1 if ask.paths else 0)
        if best is None or sheet.score > best.score:
            best = sheet
    return best if best is not None and best.score > 0 else None


_ABOUT = r"(?:sort|order|rank|how much|how many|how often|what(?:'s| is| was| were| are)?|which|sum|total|average|mean|median|max(?:imum)?|min(?:imum)?|highest|lowest|most expensive|cheapest|top \d+|the|count|group|calculate|compute|add up|give me|show(?: me)?|list|find|filter|tell me|did we|compare|is|are|was|were|wie ?viel\w*|combien|cuánto|in|on|from|of|for|per|spent|spending|number of|get|who|when|where)"
_COUNTED = r"\b(?:how much|how many|how often|sum|total|totals|average|averages|mean|median|max(?:imum)?|min(?:imum)?|highest|lowest|largest|biggest|smallest|most|least|cheapest|dearest|expensive|cheaper|more|less|higher|lower|spen[dt]\w*|cost|costs|paid|pay|top \d+|top (?:three|five|ten)|per|by|each|rows?|records?|entries|over|above|below|under|distinct|unique|different|hottest|warmest|coldest|wie ?viel\w*|combien|cuánto|count|number of|sorted|ordered|who|which|live|lives)\b"
_MEASURED = _COUNTED.replace("|who|which|live|lives", "")
_CODE_WORDS = r"\b(?:files?|folders?|lines?|words?|characters?|functions?|methods?|class(?:es)?|commits?|branch(?:es)?|tests?|disk|space|memory|cpu|ram|todos?|fixmes?|dependenc\w+|imports?|licen[sc]e|imported|called|defined|version|time is|date|bytes|size|kb|mb|headings?|authors?|code|scripts?|modules?|languages?|directories|duplicates?|links?|sections?|git|diff|headers?|tags?|projects?|open|done|left|fail\w*|changed|newest|oldest)\b"


def _is_data(ask: Ask) -> bool:
    named = any(ending(p) in {"csv", "tsv"} for p in ask.paths)
    counted = ask.has(_COUNTED) and not ask.has(r"^(?:where|why)\b|^how (?:do|does|can|is|are)\b")
    if (
        not counted
        or ask.has(
            r"\b(?:columns|overview|convert|valid|lines|words|characters|big|describe|summar\w+|look like|size)\b|^(?:what's|what is) in\b"
        )
        or any(p for p in ask.paths if ending(p) not in _TABLES and "." in p)
    ):
        return False
    return named or not ask.has(_CODE_WORDS)


RULES: list[Rule] = [rule(rf"{_ABOUT}\b.*", data_question, _is_data)]
