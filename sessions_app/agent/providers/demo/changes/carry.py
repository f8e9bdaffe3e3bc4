"""A wish carried out: each of its readings is held against the folder, and only one that explains every word is done."""

from __future__ import annotations

import re
from collections.abc import Callable

from sessions_app.agent.providers.demo.changes import (
    entries,
    files,
    keys,
    likeness,
    new_rows,
    prose,
    rows,
    table_rows,
)
from sessions_app.agent.providers.demo.changes.ground import NotMine
from sessions_app.agent.providers.demo.changes.readings import FOLLOW, is_tail, wishes
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo

#: Where a second wish, or a word about the first one, begins. A list of things to do ("check the log, call Ann") is no such place.
_POINTED = r"(?:set|tick|mark|check|cross|note|enter|record|update|adjust|correct|change|fix|fill) (?:it|that|this|them|in)\b|(?:update|adjust|correct|change|fix) (?:the|my|our)\b|(?:please|pls) (?:update|adjust|correct|change|fix|fill|enter|note)\b|(?:change|update|fix|correct)(?=[.!]*$)"
_FURTHER = "add|append|put|remove|delete|set|change|update|replace|rename|move|make|create|check|verify|tell|show|fix|mark|tick|sort|save|note|write|copy|turn|adjust|correct|fill|report|say|let|renumber|re-number|enter|give"
_CUT = re.compile(
    rf",? and then |; |, (?={_POINTED})|(?<!\b[A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)\. (?=[A-Za-z])|,? then |,? and (?:also )?(?=(?:{_FURTHER})\b)"
)
Way = Callable[[Desk, Ask, Wish], Move[str]]
#: What may be meant by each kind of wish, the most definite place first.
_WAYS: dict[str, tuple[Way, ...]] = {
    "add": (new_rows.add_row, table_rows.add_table_row, entries.add_entry),
    "section": (entries.add_section,),
    "remove": (rows.remove_row, entries.remove_entry),
    "done": (entries.tick,),
    "undone": (entries.tick,),
    "set": (rows.set_cell, keys.set_key, prose.set_in_line),
    "step": (rows.set_cell, keys.set_key),
    "replace": (prose.replace,),
    "sort": (rows.sort_rows, entries.sort_lines),
    "folder": (files.make_folder,),
    "rename": (files.moved,),
    "move": (files.moved, entries.move_entry),
    "copy": (files.moved,),
    "collect": (files.collected,),
    "title": (files.headed,),
    "strike": (entries.strike_lines,),
    "like": (likeness.made_like,),
    "drop": (files.dropped, rows.remove_row, entries.remove_entry),
    "first": (rows.move_row, entries.add_entry),
    "last": (rows.move_row, entries.add_entry),
}


def change(desk: Desk, ask: Ask) -> Move[str]:
    """The change carried out and told. Raises NotMine when no reading fits the folder, CannotDo when it is unclear which is meant."""
    doubt: CannotDo | None = None
    for wish in wishes(ask):
        for way in _WAYS[wish.kind][: 2 if wish.stated else None]:
            written = len(desk.written)
            try:
                return (yield from way(desk, ask, wish))
            except NotMine:
                continue
            except CannotDo as end:
                if len(desk.written) > written:
                    raise
                doubt = doubt or end
                break
    if doubt is not None:
        raise doubt
    raise NotMine


def steps(ask: Ask) -> list[Ask] | None:
    """A request cut into wishes for changes; None when some part of it is anything else. What only asks to look again is dropped."""
    parts = [part for part in _CUT.split(ask.text) if part and part.strip(" .!?")]
    parts = _of_one_thing(parts)
    found: list[Ask] = []
    for number, part in enumerate(parts):
        one = ask.with_text(re.sub(r"^(?:please |and |also |then )+", "", part.strip(" ,"), flags=re.I))
        if (
            number
            and re.match(
                r"(?:fix|update|change|adjust|correct)\b.*\b(?:imports?|references?|links?|mentions?|uses|usages?)\b",
                one.text,
                re.I,
            )
            and wishes(found[-1])
            and wishes(found[-1])[0].kind in {"rename", "move"}
        ):
            found[-1] = found[-1].with_text(found[-1].text + FOLLOW)
            continue
        if found and re.match(
            r"(?:please )?(?:tick|check|cross|mark)\b (?:it|that|this|them)\b", one.text, re.I
        ):
            told = re.sub(
                r"\b(?:has|have|had|is|are|was|were|did|been|now|finally|just)\b|\b(?:finished|done|completed|fixed|made|ready)\b",
                " ",
                found[-1].text,
                flags=re.I,
            )
            found[-1] = found[-1].with_text(f"tick off {told.strip()}")
            continue
        if (
            found
            and re.match(r"(?:save|put) it\b", one.text, re.I)
            and wishes(found[-1])[:1]
            and wishes(found[-1])[0].kind == "like"
        ):
            found[-1] = found[-1].with_text(f"{found[-1].text} and {one.text}")
            continue
        if found and is_tail(one.text, parts[number - 1]):
            continue
        if not wishes(one) and not (
            number == 0
            and len(parts) > 1
            and re.match(
                r"(?:please )?(?:tick|check|cross|mark)\b (?:it|that|this|them)\b", parts[1].strip(), re.I
            )
        ):
            return None
        found.append(one)
    return found or None


def _of_one_thing(parts: list[str]) -> list[str]:
    """ "Order 1050 has gone out, set it to shipped": the second half says what is to be done with the matter of the first."""
    if len(parts) < 2:
        return parts
    wish = re.match(
        r"(?:please |pls )?(?:set|mark|change|put|make|switch)\b (?:it|that|this|them) (?:to|as) (.+)$",
        parts[1].strip(" ,.!"),
        re.I,
    )
    told = re.match(r"(.+?) (?:has|have|is|are|was|were|went|got|came|now|just)\b", parts[0].strip(), re.I)
    if wish is None or told is None:
        return parts
    return [f"set {told[1]} to {wish[1]}", *parts[2:]]
