"""Readings of wishes to give something another value, and of statements that something has one."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.changes.wish import Wish

_PUT = r"(?:add|append|put|insert|include|write|note|log|record|register|enter|jot|stick|pop)(?: down)?"
_OUT = r"(?:remove|delete|drop|erase|take|strike|cross out|get rid of|throw out|cancel|clear|cut)"
_SETS = r"(?:set|change|update|make|switch|correct|edit|modify|adjust|put|bump|raise|lower|increase|decrease|reduce|shorten|extend|upgrade|pin|fix|move|rename|give)"
_UP = {"raise", "increase", "bump", "extend", "add"}


def put_in_place(text: str) -> list[Wish]:
    """ "Use port 9090 instead of 8080": a setting, or a text; and what only a text can mean."""
    found = re.match(
        r"use\b (?:the )?(?P<what>[\w -]+? )??(?P<value>‹[pq]\d+›|\S+) instead of (?P<old>.+?)(?: (?:in|for|on) (?P<where>.+))?$",
        text,
        re.I,
    )
    if found:
        where = found["where"] or ""
        both = [Wish("replace", "", where, found["value"], found["old"])]
        return (
            [Wish("set", found["what"].strip(), where, found["value"], found["old"]), *both]
            if found["what"]
            else both
        )
    rather = re.match(
        r"(?P<what>.+?) (?P<value>\d[\d.,]*)(?: \w+)? instead of (?P<old>\d[\d.,]*\d|\d)(?: \w+)?(?:,? (?:in|for|on) (?P<where>.+))?$",
        text,
        re.I,
    )
    if rather:
        return [
            Wish(
                "replace", rather["what"], rather["where"] or "", rather["value"], rather["old"], side="each"
            )
        ]
    says = re.match(
        r"(?P<what>.+?) (?:still |now )?(?:says?|reads?|is|are|has) (?P<old>‹q\d+›|[^\s,]+),? (?:(?:so )?(?:please |pls )?(?:make|change|set|turn|update|correct) (?:it|that|this|them)(?: to| into)?|(?:but |it )*should (?:be|say|read)) (?P<value>‹q\d+›|\S+)(?: (?:in|on|for) (?P<where>.+))?$",
        text,
        re.I,
    )
    if says:
        return [Wish("replace", says["what"], says["where"] or "", says["value"], says["old"])]
    spelt = re.match(
        r"(?:spell|write)\b (?P<value>‹q\d+›|\w+) (?:right|correctly|properly)(?: in (?P<where>.+?))?,? (?:it|there|they) (?:\w+ )?(?:says?|is written|writes?|wrote) (?P<old>‹q\d+›|\w+)$",
        text,
        re.I,
    )
    if spelt:
        return [Wish("replace", "", spelt["where"] or "", spelt["value"], spelt["old"])]
    return replaced(text) if re.match(r"(?:in .+ )?(?:replace|substitute|swap)\b", text, re.I) else []


def replaced(text: str) -> list[Wish]:
    old_and_new = r"(?P<old>.+?) (?:with|by|for|into|to) (?P<value>.+?)"
    found = re.match(
        rf"(?:replace|substitute|swap|change|rename|correct)\b {old_and_new}(?: (?:in|inside|within|on|of) (?P<where>[^‹]*?(?:‹p\d+›)?[^‹]*))?$",
        text,
        re.I,
    ) or re.match(
        rf"in (?P<where>.+?),? (?:replace|substitute|swap|change|rename|correct)\b {old_and_new}$", text, re.I
    )
    if found and (saying := re.match(r"saying (?:that )?(?=\w|‹q)", found["value"], re.I)):
        return [
            Wish(
                "replace",
                "",
                found["where"] or "",
                found["value"][saying.end() :],
                found["old"],
                side="sentence",
            )
        ]
    return [Wish("replace", "", found["where"] or "", found["value"], found["old"])] if found else []


def switched(text: str) -> list[Wish]:
    where = r"(?: (?:in|inside|of|for|on) (?P<where>.+))?$"
    for pattern in (
        rf"(?:turn|switch) (?P<on>on|off) (?P<what>.+?){where}",
        rf"(?:turn|switch|set) (?P<what>.+?) (?:to )?(?P<on>on|off){where}",
        rf"(?P<on>enable|disable|activate|deactivate)\b (?P<what>.+?){where}",
    ):
        found = re.match(pattern, text, re.I)
        if found:
            on = found["on"].lower() in {"on", "enable", "activate"}
            return [
                Wish("set", found["what"], found["where"] or "", "on" if on else "off", sign=1 if on else -1)
            ]
    return []


def stepped(text: str) -> list[Wish]:
    part = re.match(
        r"(?:bump|increase|increment|raise)\b (?:the |its )?(?:(?P<part>patch|minor|major) )?version(?: number)?(?: (?:in|of) (?P<where>.+))?$",
        text,
        re.I,
    )
    if part:
        return [Wish("set", "version", part["where"] or "", (part["part"] or "patch").lower())]
    found = re.match(
        r"(?P<verb>raise|increase|bump|extend|lower|decrease|reduce|shorten|discount|cut|double|halve)\b (?P<what>.+?)(?: (?:in|for|of) (?P<where>.+?))?(?: by (?P<step>[^\s]+(?: ?%| percent| per ?cent)?)(?: \w+)?)?$",
        text,
        re.I,
    )
    if found and (found["step"] or found["verb"].lower() in {"double", "halve"}):
        verb = found["verb"].lower()
        step = {"double": "100%", "halve": "50%"}.get(verb) or re.sub(
            r" ?(?:percent|per ?cent)", "%", found["step"]
        )
        return [
            Wish(
                "step", found["what"], found["where"] or "", step, sign=1 if verb in _UP | {"double"} else -1
            )
        ]
    found = re.match(
        r"(?:we|i|they|someone|they've|we've|i've)(?: have| just| also| has)* (?P<verb>sold|used|lost|gave away|threw away|broke|took|bought|got|received|found|added|made|delivered|ordered)(?: up| another| out)? (?P<step>\d+|one|two|three|four|five|six|seven|eight|nine|ten)(?: more| of the| pieces of| units of)* (?P<what>.+)$",
        text,
        re.I,
    )
    if found:
        numbers = {
            w: str(n)
            for n, w in enumerate(
                ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1
            )
        }
        more = found["verb"].lower() in {"bought", "got", "received", "found", "added", "made", "delivered"}
        return [
            Wish(
                "step",
                found["what"],
                "quantity",
                numbers.get(found["step"].lower(), found["step"]),
                sign=1 if more else -1,
            )
        ]
    return []


def told(text: str) -> list[Wish]:
    """Something stated that is to hold from now on."""
    if re.match(
        rf"(?:{_PUT}|{_OUT}|{_SETS}|what|which|who|where|when|how|why|is|are|do|does|can|if|sort|create|mark|there)\b|.*(?::|\b(?:what|which|who|why|how|red|green|broken|failing|wrong)\b)",
        text,
        re.I,
    ):
        return []
    found = re.match(
        r"(?:the |our |my )?(?P<what>.+?)(?:'s (?P<column>[\w -]+?))? (?:is|are|costs?|has|have|should (?:be|have|cost|say)|must be|will be|moved to|changed to|went (?:up|down) to|becomes?)(?: now| currently| from now on)? (?:at )?(?P<value>‹q\d+›|[^,]+?)(?: now| from now on| instead)?$",
        text,
        re.I,
    )
    results = []
    if found and len(found["what"].split()) <= 7:
        column = found["column"] or ("price" if re.search(r"\bcosts?\b", text, re.I) else "")
        results.append(Wish("set", f"{found['what']} {column}".strip(), value=found["value"], stated=True))
    found = re.match(
        r"(?:the |our |my )?(?P<what>[\w' -]+?) (?:has |have |already |just )*(?P<value>paid|left|arrived|shipped|delivered|cancelled|finished|signed|joined|returned|resigned)$",
        text,
        re.I,
    )
    return [*results, Wish("set", found["what"], value=found["value"], stated=True)] if found else results


def set_to(text: str) -> list[Wish]:
    found = []
    value = r"(?P<value>‹[pqc]\d+›|\S.*?)"
    for pattern in (
        rf"{_SETS}\b (?P<what>.+?)(?: from (?P<old>\S+))? (?:to be|to|=|into|as) {value}(?: (?:in|for|on|inside|of) (?P<where>[^,]+))?$",
        rf"{_SETS}\b (?P<what>.+?)(?: from (?P<old>\S+))? (?:to be|to|=|into|as) {value}(?P<where>)$",
        rf"in (?P<where>.+?),? {_SETS}\b (?P<what>.+?) (?:to be|to|=|into|as) {value}$",
        rf"(?:mark|flag|set|make)\b (?P<what>.+?) (?:as |to be )?{value}(?P<where>)$",
        rf"give\b (?P<what>.+?) (?:an? |the )?(?P<column>\w+) (?:of )?{value}(?P<where>)$",
        rf"(?:fill in|enter|add|set|put in|put) {value} (?:as|for) (?P<what>.+?)(?P<where>)$",
    ):
        match = re.match(pattern, text, re.I)
        if match:
            groups = match.groupdict()
            what = f"{match['what']} {groups.get('column') or ''}".strip()
            found.append(Wish("set", what, match["where"] or "", match["value"], groups.get("old") or ""))
    return found
