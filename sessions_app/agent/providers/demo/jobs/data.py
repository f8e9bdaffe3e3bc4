"""Questions about tables: which table is meant, what is asked of it, and the answer, in words or in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.answering import hits_of, look_up
from sessions_app.agent.providers.demo.keywords import keywords
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask, mask, polite
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.sheets.marks import RELATIVE
from sessions_app.agent.providers.demo.sheets.pairs import fits, measured
from sessions_app.agent.providers.demo.sheets.query import Condition, Query
from sessions_app.agent.providers.demo.sheets.reading import Reading, read
from sessions_app.agent.providers.demo.sheets.sheet import ENDINGS, Sheet, is_table, joins, parsed
from sessions_app.agent.providers.demo.sheets.wording import answered, conditions, written
from sessions_app.agent.providers.demo.sheets.words import (
    MEANING,
    MONEY_WORDS,
    OPPOSITES,
    SAME,
    alike,
    degree,
)
from sessions_app.agent.providers.demo.writing import code, count, ending, fence, head, link

_MOST_TABLES = 8
#: Only a wish to know something is told that a word is not known; any other may be for another job.
_ASKS = re.compile(
    r"(?:which|what|who|whose|how|when|where|list|show|find|count|sum|average|total|number|sort|top|the|is|are|does|do|did|has|have|give|tell|any|all)\b",
    re.I,
)
_MOST_PAGES = 6
_BACK = re.compile(
    r"\b(?:those|these|them|they|of which|(?:that|this|the same) (?:list|table|ones?)|the ones)\b(?! (?:is|are|was|were) there\b)|‹p\d+›",
    re.I,
)
_SHORT = re.compile(
    r"^(?:(?:ok(?:ay)?|so|now|then)[, ]+)?(?:(?:and|but|what about|how about|and what about|only|just|the same for|same for|do the same for|und|et|y)\b|(?:sort|order|how many|how much)\b(?=.{0,30}$))",
    re.I,
)
_TARGET = re.compile(
    r",? ?\b(?:and )?(?:then )?(?:save|write|put|export|store|dump|copy|output)? ?(?:it|them|that|those|this|the (?:result|results|list|rows|output|table))? ?(?:all )?(?:in|into|to|as|under) (?:an? |the )?(?:new )?(?:separate )?(?:csv |json |markdown |text |tsv )?(?:file |table |list )?(?:called |named )?(?P<file>‹p\d+›)",
    re.I,
)
_MADE = re.compile(
    r"^(?:make|create|write|generate|save|export|build|put together|produce|prepare|give me)\b(?: me)? (?:an? |the |new )*(?:csv |json |markdown |text |tsv )?(?:file |table |list )?(?:called |named )?(?P<file>‹p\d+›)(?: file)?,? (?:with|of|from|containing|that (?:has|contains|lists)|which (?:has|contains|lists)|listing|for|showing|holding)(?: only| just)? ",
    re.I,
)
#: A request about these is not about the rows of a table, unless one is named.
_CODE_WORDS = r"\b(?:files?|folders?|lines?|words?|characters? (?:in|of|does)|functions?|methods?|class(?:es)? (?:in|are|does)|commits?|branch(?:es)?|disk|memory|cpu|todos?|fixmes?|dependenc\w+|imports?|licen[sc]e|imported|defined|version|bytes|kb|mb|headings?|code|scripts?|modules?|director(?:y|ies)|links?|git|diff|docstrings?|unit ?tests?|pytest|css|html|regex)\b"


@dataclass(frozen=True, slots=True)
class Found:
    """A question with the table that answers it."""

    reading: Reading
    who: bool
    assumed: str = ""  # the word that was taken for the rows


def may_be_data(request: Ask) -> bool:
    """Whether a request can be about the rows of a table at all."""
    if request.has(r"\bwhat (?:did|do|does|have|has|had) \w+ (?:do|done)\b"):
        return False
    if request.has(
        r"^(?:send|call|mail|email|phone|draft|compose|order|buy|pay|book|upload|publish|deploy|translate|remind)\b"
    ):
        return False
    ask, target = destination(request)
    if target is not None:
        # Where the rows shall go says nothing of what they are.
        ask = ask.with_text(re.sub(r"\b(?:in|into|to|as) ‹p\d+›$", "", ask.text))
        ask = Ask(ask.text, tuple("" if v == target else v for v in ask.values))
    named = [p for p in ask.paths if not p.startswith("@")]
    if any(is_table(p) for p in named):
        return True
    if any("." in p for p in named) and not _TARGET.search(ask.text) and not _MADE.match(ask.text):
        return False
    computed = ask.has(r"\b(?:average|mean|median|sum|total|per|top \d+)\b") and not ask.has(
        r"\b(?:lines?|words?|files?|functions?|commits?|todos?)\b"
    )
    return (computed or not ask.has(_CODE_WORDS)) and len(ask.text) < 400


def tables(desk: Desk, ask: Ask) -> Move[list[Sheet]]:
    """The tables of the folder, or the ones the request names, whole."""
    target = destination(ask)[1]
    named = [p for p in ask.paths if is_table(p) and p != target]
    if not named:
        found = yield from moves.every_path(desk, "Looking for tables.")
        folder = next((p.rstrip("/") + "/" for p in ask.paths if "." not in p and not p.startswith("@")), "")
        named = [p for p in found if is_table(p) and p.startswith(folder)]
        named.sort(key=lambda p: (ending(p) == "json", p.count("/"), p))
        if not _COMPUTES.search(ask.text) and not _spoken(ask):
            words = keywords(ask)
            hits = (yield from hits_of(desk, words)) if words and named else []
            hit = {h.path for h in hits}
            named = [p for p in named if p in hit or any(w.stands_in(p) for w in words)]
    sheets = []
    for path in named[:_MOST_TABLES]:
        known = f"sheet\n{path}"
        if known not in desk.kept:
            sheet = yield from _whole(desk, path)
            desk.kept[known] = sheet
        if desk.kept[known] is not None:
            sheets.append(desk.kept[known])
    return sheets


#: A question that computes, or speaks of rows by other words than the table's own, needs the tables to be read.
_COMPUTES = re.compile(
    rf"\b(?:how (?:many|much|often)|number of|count|total|sum|average|mean|median|per|each|sort\w*|top|most|least|who|left|without|missing|empty|not|no|n't|under|over|above|below|than|those|these|them|they|and|all|every|rows?|tables?|columns?)\b|n't|{RELATIVE.pattern}",
    re.I,
)


def _spoken(ask: Ask) -> bool:
    """Whether a word of the request means a column or a cell that is called otherwise."""
    said = re.findall(r"[^\W\d_]+", ask.text.lower())
    return any(degree(w)[1] or w in MONEY_WORDS or w in OPPOSITES or w in SAME for w in said)


def _whole(desk: Desk, path: str) -> Move[Sheet | None]:
    """A table read to its end, page by page. Raises CannotDo for one that is too long."""
    text = yield from moves.reach(desk, path)
    whole = text.text
    pages = 1
    while not text.whole and text.lines and ending(path) != "json":
        if pages == _MOST_PAGES:
            raise CannotDo(
                f"{link(path)} is too long: the demo model computes with tables of up to {_MOST_PAGES} pages. A command can do it."
            )
        after = whole.rstrip("\n").count("\n") + 2
        following = yield from moves.read(desk, text.path, "The table goes on.", offset=after, check=False)
        if following is None or not following.text:
            break
        text, whole, pages = following, whole.rstrip("\n") + "\n" + following.text, pages + 1
    if not text.whole:
        return None
    return parsed(path if text.path == path else text.path, whole)


def destination(ask: Ask) -> tuple[Ask, str | None]:
    """(the question, the file its rows shall go to), taken apart."""
    for pattern in (_MADE, _TARGET):
        found = pattern.search(ask.text)
        if found is None or not (
            pattern is _MADE
            or re.match(
                r",? ?(?:and )?(?:then )?(?:save|write|put|export|store|dump|copy|output|in|into|to|as)",
                found.group(),
                re.I,
            )
        ):
            continue
        path = ask.plain(found.group("file"))
        if pattern is _TARGET and not re.search(
            r"\b(?:save|write|put|export|store|dump|copy|output|make|create|generate|extract|as an? [\w ]*(?:table|list|file|csv|json))\b",
            ask.text,
            re.I,
        ):
            continue
        rest = (
            ask.text[: found.start()] + (" " if pattern is _TARGET else "list ") + ask.text[found.end() :]
        ).strip()
        rest = re.sub(r"\b(?:as|in) an? (?:markdown |csv |json )?(?:table|list|file)\b", "", rest, flags=re.I)
        rest = re.sub(
            r"^(?:save|write|put|export|store|dump|copy|output|extract)\b", "list", rest, flags=re.I
        )
        if re.search(r"[a-z]{3}", re.sub(r"‹\w+›|\blist\b", "", rest)):
            return ask.with_text(rest), path
    return ask, None


def find_answer(desk: Desk, ask: Ask) -> Move[Found | Reading | str | None]:
    """The question as the best table understands it, or its answer in words; a Reading alone is one that is understood in part; None when no table fits."""
    question, _ = destination(ask)
    sheets = yield from tables(desk, ask)
    if not sheets:
        return None
    today = yield from _today(desk, question)
    for sheet in sorted(sheets, key=lambda s: (-fits(s, question), s.path)):
        said = measured(sheet, question)
        if said is not None:
            return said
    candidates = [*sheets, *joins(sheets)]
    base = _base(desk, ask)
    if base is not None:
        today = today or (yield from _today(desk, base))
        combined = _best([c for sheet in candidates if (c := _combined(question, base, sheet, today))], ask)
        if combined is not None and not combined.unknown:
            return Found(combined, _asks_who(question, combined.sheet))
    best = _best([read(question, sheet, today) for sheet in candidates], ask)
    if best is None:
        return None
    if best.unknown:
        assumed = _assumed(question, best, today)
        if assumed is not None and any(
            alike(assumed[1], noun)
            for sheet in sheets
            for noun in sheet.nouns | {w for c in sheet.columns for w in c.words}
        ):
            # The word is at home in another table, so these rows are not meant.
            assumed = None
        return Found(assumed[0], _asks_who(question, assumed[0].sheet), assumed[1]) if assumed else best
    return Found(best, _asks_who(question, best.sheet))


def _assumed(ask: Ask, reading: Reading, today: date | None) -> tuple[Reading, str] | None:
    """The reading with its one unknown word, the subject of the question, taken for what the rows are. Said in the answer."""
    if len(reading.unknown) != 1 or reading.sheet.joined or reading.named_rows:
        return None
    word = reading.unknown[0]
    subject = re.match(
        rf"(?:which|what|how many|list|show(?: me)?|find|give me|count|the)\b(?: (?:is|are|of|all|the|only|just|every|our|my|number))*(?: [\w-]+){{0,2}}? {re.escape(word)}\b",
        ask.text,
        re.I,
    )
    if subject is None or word in MEANING:
        return None
    text = (
        ask.text[: subject.start()]
        + re.sub(rf"\b{re.escape(word)}\b", "rows", subject.group(), flags=re.I)
        + ask.text[subject.end() :]
    )
    again = read(ask.with_text(text), reading.sheet, today)
    counts_numbers = again.query.operation == "count" and any(
        again.sheet.columns[n].kind == "number" for n in again.query.shown
    )
    # "How many tickets were sold" asks for the numbers of `sold`, not for rows.
    if again.unknown or counts_numbers or not (again.query.conditions or again.measured):
        return None
    return again, word


def _asks_who(ask: Ask, sheet: Sheet) -> bool:
    return ask.has(r"^(?:\W*\w+\W+){0,3}?who(?:se|m)?\b") and sheet.persons() is not None


def _today(desk: Desk, ask: Ask) -> Move[date | None]:
    if not RELATIVE.search(ask.text):
        return None
    outcome = yield from moves.shell(desk, "date +%F", "What day is it?", what="asking for the date")
    return date.fromisoformat(moves.output(outcome).strip()[:10])


def _best(readings: list[Reading], ask: Ask) -> Reading | None:
    """The reading that leaves least over; of equal ones the one that knows most, and the plain table before a joined one."""
    named = any(is_table(p) for p in ask.paths)
    fitting = [r for r in readings if _anchored(r, ask, named=named)]
    if not fitting:
        return None
    who = ask.has(r"\bwho\b")
    return min(
        fitting,
        key=lambda r: (
            len(r.unknown) + r.lost,
            who and r.sheet.persons() is None,
            _shows_a_reference(r),
            any(column.counts for column in r.sheet.columns),
            not r.named_rows,
            -r.weight,
            len(r.sheet.joined),
            r.sheet.path,
        ),
    )


def _shows_a_reference(reading: Reading) -> bool:
    """Whether numbers of another table's rows would stand in the answer in place of what they are called."""
    query = reading.query
    used = [*query.shown, query.group, query.order, query.column]
    return any(n is not None and reading.sheet.columns[n].reference for n in used)


def _anchored(reading: Reading, ask: Ask, *, named: bool) -> bool:
    """Whether a question is about this table: a condition or a computation, with its rows, columns or values named."""
    query = reading.query
    does = bool(
        query.conditions
        or reading.measured
        or query.operation in {"values", "count", "sum", "average", "median"}
    )
    if named:
        return does or bool(query.shown) or reading.named_rows
    if query.limit and query.order is not None and not reading.unknown and ask.has(_PRICED):
        return True
    alone = ask.has(r"\b(?:everything|all|those|ones?|which|who|what)\b") and any(
        c.test == "is" for c in query.conditions
    )
    if (
        reading.named_rows
        and not reading.unknown
        and ask.has(r"^(?:who|what|which) (?:are|is)\b|^(?:list|show)\b")
    ):
        return True
    return (does and (reading.weight >= 2 or (alone and not reading.unknown))) or (
        reading.named_rows and bool(query.shown)
    )


_PRICED = r"\b(?:cheapest|most expensive|dearest|priciest|least expensive)\b"


def _base(desk: Desk, ask: Ask) -> Ask | None:
    """The question before, when this one only makes sense after it."""
    if not (
        _BACK.search(
            re.sub(r"‹p\d+›", lambda m: m.group() if ask.plain(m.group()).startswith("@") else "", ask.text)
        )
        or (_SHORT.match(ask.text) and len(ask.text) < 60)
    ):
        return None
    earlier = [*desk.asked, *[s.request for s in reversed(desk.spans) if s.request]]
    for text in earlier[:4]:
        plain = mask(text)
        before = plain.with_text(polite(plain.text))
        if not (_BACK.search(before.text) or _SHORT.match(before.text)):
            return destination(before)[0]
    return None


def _combined(ask: Ask, base: Ask, sheet: Sheet, today: date | None) -> Reading | None:
    """The question before with what this one adds or puts in its place. None when the table did not answer that one."""
    old = read(base, sheet, today)
    if old.unknown or not old.weight:
        return None
    text = re.sub(
        r"^(?:(?:ok(?:ay)?|so|now|then)[, ]+)?(?:and what about|what about|how about|and|but|do the same for|the same for|same for)\b,?",
        "",
        ask.text,
        flags=re.I,
    )
    new = read(ask.with_text(text.strip()), sheet, today)
    adds = _BACK.search(ask.text) is not None or re.match(
        r"(?:only|just|but|sort|order|how m)", ask.text, re.I
    )
    if not new.weight and not re.search(r"how m|count|list|show", ask.text, re.I):
        return None
    if (
        adds
        and not new.query.conditions
        and new.query.shown
        and not new.unknown
        and new.query.operation in {"rows", "values"}
    ):
        # "And has it been paid?": the same rows, and what is asked of them.
        query = replace(old.query)
        query.shown = list(dict.fromkeys([*old.query.shown, *new.query.shown]))
        return Reading(sheet, query, [], old.weight + new.weight, True, old.named_rows, False)
    replaced = {(c.column) for c in new.query.conditions}
    kept = [
        c
        for c in old.query.conditions
        if c.column not in replaced or (adds and c.test not in {"is", "has", "month"})
    ]
    query = replace(new.query if new.measured or new.query.shown else old.query)
    query.conditions = _unique([*kept, *new.query.conditions])
    if query.order is None and not new.measured:
        query.order, query.descending = old.query.order, old.query.descending
    if old.query.limit and adds and new.measured and not new.query.limit:
        return None
    return Reading(sheet, query, new.unknown, old.weight + new.weight, True, old.named_rows, new.lost)


def _unique(found: list[Condition]) -> list[Condition]:
    return list(dict.fromkeys(found))


def table_answer(desk: Desk, ask: Ask) -> Move[str | None]:
    """The answer from a table, None when none fits. Raises CannotDo for one that is only partly understood."""
    if not may_be_data(ask):
        return None
    found = yield from find_answer(desk, ask)
    if found is None:
        return None
    if isinstance(found, str):
        return found
    if isinstance(found, Reading):
        return _partly(found, ask)
    sheet, query = found.reading.sheet, found.reading.query
    _, target = destination(ask)
    if target is not None:
        return (yield from _saved(desk, sheet, query, target))
    desk.earlier = [sheet.path, *(p for p in desk.earlier if p != sheet.path)]
    newest = _newest(sheet)
    if RELATIVE.search(ask.text) and newest is not None and not query.rows(sheet):
        again = read(destination(ask)[0], sheet, newest)
        if not again.unknown and again.query.rows(sheet):
            said = answered(sheet, again.query, who=found.who)
            return f"No row is that new: the newest of {link(sheet.path)} is of {newest}. Counted from that day:\n\n{said}"
    note = f"“{found.assumed}” is taken for the rows of {link(sheet.path)}.\n\n" if found.assumed else ""
    return note + answered(sheet, query, who=found.who)


def _newest(sheet: Sheet) -> date | None:
    days = [d for c in sheet.columns if c.kind == "date" for r in range(sheet.size) if (d := c.day(r))]
    return max(days, default=None)


def _partly(reading: Reading, ask: Ask) -> str | None:
    """What was understood and which words were not, when the question plainly is about this table."""
    words = [w for w in dict.fromkeys(reading.unknown) if not w.startswith("‹")]
    plainly = (
        reading.named_rows
        or any(is_table(p) for p in ask.paths)
        or (reading.measured and reading.query.conditions == [])
    )
    if not _ASKS.match(ask.text) or not words or len(words) > 3 or not plainly or reading.weight < 2:
        return None
    told = ", ".join(code(w) for w in words)
    query = reading.query
    chosen = bool(query.conditions or query.group is not None or query.limit)
    names = any(
        ask.has(rf"\b(?:on|for|of|in|from|with|by|at|about|to|and|or|the) {re.escape(w)}\b")
        or not w.islower()
        for w in words
    )
    if chosen and not names and not reading.lost and len(words) <= 2 and destination(ask)[1] is None:
        # What is left over chooses no rows and turns nothing round: the rest is answered, and said to be the rest.
        answer = answered(reading.sheet, reading.query, who=_asks_who(ask, reading.sheet))
        return f"{answer}\n\nLeft aside, because {link(reading.sheet.path)} has nothing called so: {told}."
    columns = ", ".join(code(name) for name in reading.sheet.names)
    known = conditions(reading.sheet, reading.query)
    raise CannotDo(
        f"Not computed: {told} {'is' if len(words) == 1 else 'are'} nothing that {link(reading.sheet.path)} has, so this question was not understood."
        + (f" Understood: rows{known}." if known else "")
        + f" Its columns: {columns}."
    )


def _saved(desk: Desk, sheet: Sheet, query: Query, target: str) -> Script:
    """The rows in a file of their own. Raises CannotDo when the file is there already."""
    kind = ending(target)
    text = written(sheet, query, {"markdown": "md"}.get(kind, kind))
    if text is None:
        raise CannotDo(
            f"Rows can be written as {', '.join(sorted(ENDINGS - {'jsonl', 'ndjson'}))}, md or txt; {code(target)} is none of these."
        )
    if query.operation in {"sum", "average", "median", "count"} and query.group is None:
        text = answered(sheet, query) + "\n"
    if (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
        raise CannotDo(f"{link(target)} exists already and was left as it is.")
    rows = len(query.rows(sheet))
    yield from moves.write(desk, target, text, f"Writing {code(target)}.")
    shown, more = head(text, 12)
    tail = f"\n\n{count(more, 'more line')} in the file." if more else ""
    return f"Wrote {link(target)} with {count(rows, 'row')} of {link(sheet.path)}{conditions(sheet, query)}:\n\n{fence(shown, kind)}{tail}"


def data_question(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The answer from a table; a question no table fits is looked up in all files."""
    answer = yield from table_answer(desk, ask)
    if answer is not None:
        return answer
    return (yield from look_up(desk, ask, match))


_ABOUT = r"(?:sort|order|rank|how much|how many|how often|what(?:'s| is| was| were| are)?|which|sum|total|average|mean|median|max(?:imum)?|min(?:imum)?|highest|lowest|most expensive|cheapest|top \d+|the|count|group|calculate|compute|add up|give me|show(?: me)?|list|find|filter|tell me|did we|compare|is|are|was|were|wie ?viel\w*|combien|cuánto|in|on|from|of|for|per|spent|spending|number of|get|who|when|where)"
_COUNTED = r"\b(?:how much|how many|how often|sum|total|totals|average|averages|mean|median|max(?:imum)?|min(?:imum)?|highest|lowest|largest|biggest|smallest|most|least|cheapest|dearest|expensive|cheaper|more|less|higher|lower|spen[dt]\w*|cost|costs|paid|pay|top \d+|top (?:three|five|ten)|per|by|each|rows?|records?|entries|over|above|below|under|distinct|unique|different|hottest|warmest|coldest|wie ?viel\w*|combien|cuánto|count|number of|sorted|ordered|who|which|live|lives)\b"


def _is_data(ask: Ask) -> bool:
    if (
        not may_be_data(ask)
        or not ask.has(_COUNTED)
        or ask.has(r"^(?:where|why)\b|^how (?:do|does|can|is|are)\b")
    ):
        return False
    return not ask.has(
        r"\b(?:columns|overview|convert|valid|big|describe|summar\w+|look like|size)\b|^(?:what's|what is) in\b"
    )


RULES: list[Rule] = [rule(rf"{_ABOUT}\b.*", data_question, _is_data)]
