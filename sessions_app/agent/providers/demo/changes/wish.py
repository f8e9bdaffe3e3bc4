"""A sentence that wants a change, taken apart in every way it may be meant: what is done, to what, where, to which value."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sessions_app.agent.providers.demo.phrases import Ask

_PUT = r"(?:add|append|put|insert|include|write|note|log|record|register|enter|jot|stick|pop)(?: down)?"
_OUT = r"(?:remove|delete|drop|erase|take|strike|cross out|get rid of|throw out|cancel|clear|cut)"
_SETS = r"(?:set|change|update|make|switch|correct|edit|modify|adjust|put|bump|raise|lower|increase|decrease|reduce|shorten|extend|upgrade|pin|fix|move|rename|give)"
_UP = {"raise", "increase", "bump", "extend", "add"}
_DOWN = {"lower", "decrease", "reduce", "shorten", "discount", "cut"}
_AT = r"(?:to|in|into|onto|on|under|at|for|inside|within)"
#: What follows only says why.
_REASON = re.compile(
    r"(?:,? (?:because|since|as (?:we|i|it|they|he|she)\b)|[,;] (?:we|i|it|he|she|they|that|this|so)(?:'s|'ve|'re)? \b).*$",
    re.I | re.S,
)
_TAIL = re.compile(
    r"(?:check|verify|make sure|confirm|ensure|double-check|see)\b.*|(?:tell|show|report|let me know|say|give)\b.*|(?:update|change|correct|adjust|fix|note|fill)(?: (?:it|that|this|them))?(?: (?:in|there|accordingly|up))*$"
    r"|(?:please )?(?:keep|leave|don't touch|do not touch|don't change|do not change)\b.*|(?:save|write) (?:it|the file|that|them)(?: back)?$",
    re.I,
)
#: Stands behind a wish to rename whose second half was to follow the new name elsewhere.
FOLLOW = " ‹follow›"
_NO_WISH = re.compile(
    r".*\b(?:commits?|branch|output of|results? of|docstrings?|tests? for|unit tests?|type hints?|alt text|table of contents|error handling|comments?|columns?|poem|story|haiku)\b|(?:give|make|write|put|set|take|add|show)\b (?:me\b|us\b|together\b|up\b|a (?:look|guess)\b|sure\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Wish:
    """One way to understand a sentence. `kind`: add, section, remove, done, undone, set, step, replace, sort, rename, move,
    copy, folder, collect. The texts are masked as in the ask they come from."""

    kind: str
    what: str = ""
    where: str = ""
    value: str = ""
    old: str = ""
    everywhere: bool = False
    sign: int = 0
    references: bool = False
    stated: bool = False


def is_tail(text: str, before: str) -> bool:
    """Whether a second half only asks to look again or to tell what was done; after a statement also to act on it."""
    plain = text.strip().rstrip(".!?")
    told = bool(_told(before.strip()) or _stepped(before.strip())) and re.match(
        r"(?:please )?(?:update|change|correct|adjust|fix|note|fill|enter|record|put|add)\b", plain, re.I
    )
    return bool(told) or _TAIL.fullmatch(plain) is not None


def wishes(ask: Ask) -> list[Wish]:
    """Every reading of one sentence, likeliest first; empty when it wants no change that is known here."""
    text = re.sub(r"\s+", " ", ask.text).strip()
    follow = text.endswith(FOLLOW)
    text = text.removesuffix(FOLLOW).rstrip(".!? ")
    if len(text) > 400 or _NO_WISH.match(text):
        return []
    text = _REASON.sub("", text)
    everywhere = re.search(
        r",? (?:everywhere|throughout|in (?:all|every)(?: the)? (?:files?|places?)|across (?:the|all|this)\b[\w ]*|in the whole (?:folder|project|repo\w*))$",
        text,
        re.I,
    )
    bare = text[: everywhere.start()] if everywhere else text
    found: list[Wish] = []
    for reader in (
        _folders,
        _files,
        _done,
        _sorted,
        _collected,
        _put_in_place,
        _switched,
        _stepped,
        _told,
        _set,
        _replaced,
        _added,
        _removed,
    ):
        found += [replace(wish, everywhere=bool(everywhere), references=follow) for wish in reader(bare)]
    return found


def _folders(text: str) -> list[Wish]:
    found = re.match(
        r"(?:make|create|add|mkdir)\b (?:an? |the )?(?:new |empty )*(?:sub-?)?(?:folder|directory) (?:called |named )?(?P<what>[\w./-]+|‹[pq]\d+›)$",
        text,
        re.I,
    )
    return [Wish("folder", found["what"])] if found else []


def _files(text: str) -> list[Wish]:
    found = re.match(r"rename\b (?P<what>.+?) (?:to|into|as|->) (?P<value>‹[pq]\d+›|[\w.-]+)$", text, re.I)
    if found:
        return [Wish("rename", found["what"], value=found["value"])]
    found = re.match(
        r"(?:move|put)\b (?P<what>.+?) (?:in)?to (?:the |a |an )?(?:new )?(?:folder )?(?P<value>‹[pq]\d+›|[\w./-]+)(?: (?:folder|directory))?$",
        text,
        re.I,
    ) or re.match(r"(?:move|put)\b (?P<what>.+?) (?:in |into )?(?P<value>there|in it|into it)$", text, re.I)
    if found and not re.search(r"‹q", found["what"]):
        return [Wish("move", found["what"], value=found["value"])]
    found = re.match(
        r"(?:copy|duplicate)\b (?P<what>.+?) (?:to|as|into) (?P<value>‹[pq]\d+›|[\w./-]+)$", text, re.I
    )
    return [Wish("copy", found["what"], value=found["value"])] if found else []


def _done(text: str) -> list[Wish]:
    where = r"(?: (?:in|on|from|off|of) (?P<where>(?:the |my |our )?[^:]+?))?"
    for pattern in (
        rf"(?:tick|check|cross)(?: off)?\b (?P<what>.+?)(?: off)?{where}$",
        rf"(?:mark|set|flag)\b (?P<what>.+?){where} (?:as |to )?(?P<un>un|not |open|undone|to ?do)?(?:done|completed?|finished|ticked|checked|bought|open)?(?: (?:in|on) (?P<where2>.+))?$",
        rf"(?P<un>un)(?:tick|check)\b (?P<what>.+?){where}$",
    ):
        found = re.match(pattern, text, re.I)
        if found and re.search(
            r"\b(?:tick|untick|uncheck|cross|check(?: off| ‹q| the (?:box|item))|done|completed?|finished|ticked|undone|open)\b|check off",
            text,
            re.I,
        ):
            groups = found.groupdict()
            return [
                Wish(
                    "undone" if groups.get("un") else "done",
                    found["what"],
                    groups.get("where") or groups.get("where2") or "",
                )
            ]
    return []


def _sorted(text: str) -> list[Wish]:
    found = re.match(
        r"(?:sort|order|alphabeti[sz]e|reorder|arrange)\b (?P<what>.+?)(?: (?:by|on) (?P<value>.+?)|(?P<alpha> alphabetically| in alphabetical order| a ?(?:-|to) ?z))?(?:,? (?:in )?\(?(?P<down>(?:most|highest|largest|newest|latest|biggest|longest)\b[\w ]* first|desc\w*(?: order)?|z ?(?:-|to) ?a|reversed?|high(?:est)? to low(?:est)?)\)?|,? (?:in )?\(?(?:(?:least|lowest|cheapest|smallest|oldest|earliest|shortest)\b[\w ]* first|asc\w*(?: order)?|low(?:est)? to high(?:est)?)\)?)?$",
        text,
        re.I,
    )
    return (
        [Wish("sort", found["what"], value=found["value"] or "", sign=-1 if found["down"] else 1)]
        if found
        else []
    )


def _collected(text: str) -> list[Wish]:
    """A file made of what stands in the others."""
    found = (
        re.match(
            r"(?:put|save|write|copy|extract|collect|gather|pull|list|export)\b (?:out )?(?P<what>.+?) (?:in)?to (?:an? |the )?(?:new |separate )*(?:text )?(?:file )?(?:called |named )?(?P<value>‹p\d+›)$",
            text,
            re.I,
        )
        or re.match(
            r"(?:make|create|write|start|generate|build)\b (?:me )?(?:an? |the )?(?:new )?(?:file |list |text file |markdown file )?(?:called |named )?(?P<value>‹p\d+›) (?:with|of|containing|listing|that (?:lists|has|contains)|from) (?P<what>(?:an? list of |the list of |a )?(?:all|every|each|only|just|the|names?|email|open)\b.+)$",
            text,
            re.I,
        )
        or re.match(
            r"(?:make|create|write|generate|build)\b (?:me )?(?:an? |the )(?:list|file|overview|collection) (?:of|with) (?P<what>.+?) (?:in|as|called|named|and (?:save|put|write) it (?:to|in|as|into)) (?P<value>‹p\d+›)$",
            text,
            re.I,
        )
    )
    return (
        [Wish("collect", found["what"], value=found["value"])] if found and "‹q" not in found["what"] else []
    )


def _put_in_place(text: str) -> list[Wish]:
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
    return _replaced(text) if re.match(r"(?:in .+ )?(?:replace|substitute|swap)\b", text, re.I) else []


def _replaced(text: str) -> list[Wish]:
    old_and_new = r"(?P<old>.+?) (?:with|by|for|into|to) (?P<value>.+?)"
    found = re.match(
        rf"(?:replace|substitute|swap|change|rename|correct)\b {old_and_new}(?: (?:in|inside|within|on|of) (?P<where>[^‹]*?(?:‹p\d+›)?[^‹]*))?$",
        text,
        re.I,
    ) or re.match(
        rf"in (?P<where>.+?),? (?:replace|substitute|swap|change|rename|correct)\b {old_and_new}$", text, re.I
    )
    return [Wish("replace", "", found["where"] or "", found["value"], found["old"])] if found else []


def _switched(text: str) -> list[Wish]:
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


def _stepped(text: str) -> list[Wish]:
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


def _told(text: str) -> list[Wish]:
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


def _set(text: str) -> list[Wish]:
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


def _added(text: str) -> list[Wish]:
    found: list[Wish] = []
    leading = re.match(
        rf"{_PUT}\b (?:an? |the )?(?:new |another )*(?:note |line |entry |item |paragraph |sentence )?{_AT} (?P<where>[^:,‹]*(?:‹p\d+›)?[^:,‹]*?)(?:(?: that|:|,| saying| to say| with)+ )(?P<what>.+)$",
        text,
        re.I,
    ) or re.match(rf"(?:{_AT}) (?P<where>[^:,]+?),? {_PUT}\b (?P<what>.+)$", text, re.I)
    if leading:
        found.append(Wish("add", leading["what"], leading["where"]))
    begun = re.match(rf"{_PUT}\b (?P<rest>.+)$", text, re.I)
    if begun is None:
        return found
    rest = begun["rest"]
    definite = re.match(r"(?:add|append|put|insert|include|stick|pop)\b", text, re.I) is not None
    section = re.match(
        r"(?:an? |the )?(?:new |short |another )*(?:section|heading|chapter|paragraph)s?(?: (?:called|named|titled|about|on|for))? ?(?P<title>‹q\d+›|[^‹:]+?) (?:to|in|into|at the end of|on|under) (?P<where>.+?)(?:,? (?:saying|that says|with(?: the)?(?: text| content| words)?|which says|stating|explaining|mentioning)(?: that)?:? |: ?)(?P<value>.+)$",
        rest,
        re.I,
    )
    if section:
        found.append(Wish("section", section["title"], section["where"], section["value"]))
    for split in re.finditer(rf",? \b{_AT}\b ", rest, re.I):
        what, where = rest[: split.start()], rest[split.end() :]
        said = re.match(
            r"(?P<where>[^:(]+?)(?:,? (?:saying|that says|reading|with the text|stating)(?: that)?:? |: )(?P<more>.+)$",
            where,
        )
        where, more = (said["where"], said["more"]) if said else (where, "")
        aside = re.match(r"(?P<where>[^,(]+?)(?:, | ?\()(?P<more>[^)]+)\)?$", where)
        if aside and not more:
            where, more = aside["where"], aside["more"]
        if 0 < len(where.split()) <= 8 and (definite or re.match(r"(?:the|my|our|this|‹p)", where, re.I)):
            plain = re.sub(
                r"^(?:an? |the |another |one |more |new )*(?:note|line|entry|item|sentence|bullet(?: point)?|point|reminder|todo|task|comment|row|paragraph)?(?: (?:saying|that says|for|about|of))?:?$",
                "",
                what,
                flags=re.I,
            )
            found.append(
                Wish(
                    "add",
                    f"{plain}, {more}".strip(", ") if more else what,
                    where,
                    value=more if plain == "" else "",
                )
            )
    return [*found, Wish("add", rest, "")] if definite else found


def _removed(text: str) -> list[Wish]:
    begun = re.match(rf"{_OUT}\b(?: out| off)? (?P<rest>.+)$", text, re.I)
    if begun is None:
        return []
    rest = begun["rest"]
    found = [
        Wish("remove", rest[: split.start()], rest[split.end() :])
        for split in reversed(list(re.finditer(r" \b(?:from|off|out of|in|on|of)\b ", rest, re.I)))
        if len(rest[split.end() :].split()) <= 7
    ]
    return [*found, Wish("remove", rest, "")]
