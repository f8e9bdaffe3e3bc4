"""Readings of wishes to add, to take out, to gather, and to put first or last."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.changes.wish import Wish

_PUT = r"(?:add|append|put|insert|include|write|note|log|record|register|enter|jot|stick|pop)(?: down)?"
_OUT = r"(?:remove|delete|drop|erase|take|strike|cross out|get rid of|throw out|cancel|clear|cut)"
_AT = r"(?:to|in|into|onto|on|under|at|for|inside|within)"


def added(text: str) -> list[Wish]:
    entry = _entered(text)
    if entry:
        return entry
    found: list[Wish] = []
    numbered = re.match(
        rf"{_PUT}\b (?:an? |the )?(?:new |another )?(?P<where>[\w -]+?)(?: (?:number |no\.? ?)?(?P<number>\d+))?: (?P<what>.+)$",
        text,
        re.I,
    )
    if numbered and len(numbered["where"].split()) <= 4:
        found.append(Wish("add", numbered["what"], numbered["where"]))
    between = re.match(
        rf"{_PUT}\b (?P<what>.+?) (?:between (?P<beside>[\w' -]+?|‹q\d+›) and (?:[\w' -]+?|‹q\d+›)|(?P<side>before|after|above|below|behind) (?P<beside2>(?!lines? \d)[\w' -]+?|‹q\d+›)) (?:in|on|to|of) (?P<where>.+)$",
        text,
        re.I,
    )
    if between:
        before = (between["side"] or "").lower() in {"before", "above"}
        return [
            Wish(
                "add",
                between["what"],
                between["where"],
                beside=between["beside"] or between["beside2"],
                side="before" if before else "after",
            )
        ]
    leading = re.match(
        rf"{_PUT}\b (?:an? |the )?(?:new |another )*(?:note |line |entry |item |paragraph |sentence )?{_AT} (?P<where>[^:,‹]*(?:‹p\d+›)?[^:,‹]*?)(?:(?: that|:|,| saying| to say| with)+ )(?P<what>.+)$",
        text,
        re.I,
    ) or re.match(rf"(?:{_AT}) (?P<where>[^:,]+?),? {_PUT}\b (?P<what>.+)$", text, re.I)
    if leading:
        found.append(Wish("add", leading["what"], leading["where"]))
    to_do = re.match(
        rf"{_PUT}\b (?:an? |the )?(?:new |another )*(?:todo|to-do|task)(?: item)? (?:to|on|in) (?:the |my |our )?list(?: that|:|,| saying)* (?P<what>.+)$",
        text,
        re.I,
    )
    if to_do:
        found.append(Wish("add", to_do["what"], "the todo list"))
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


def _entered(text: str) -> list[Wish]:
    """What has come in, a new entry by its values, a chapter by its points."""
    came = re.match(
        r"(?:an? |the |there(?:'s| is) an? |we (?:have|got) an? )?(?:new |another )(?P<where>[\w ]+?)(?: (?:came in|arrived|has arrived|has come in|joined|is here))?: (?P<what>.+)$",
        text,
        re.I,
    )
    if came:
        return [Wish("add", came["what"], came["where"])]
    entered = re.match(
        r"(?:make|create|start|open)\b (?:me )?(?:an? )?(?:new |another )(?P<where>[\w -]{1,40}?(?:entry|row|record|line|item)|[\w-]+): (?P<what>.+)$",
        text,
        re.I,
    )
    if entered:
        return [Wish("add", entered["what"], entered["where"])]
    chapter = re.match(
        rf"{_PUT}\b {_AT} (?P<where>[^:]+?) (?:an? |the )?(?:new |short )*(?:chapter|section|part)s? (?:about|on|called|named|titled|for) (?:the )?(?P<title>‹q\d+›|[^:]+?)(?:: |,? (?:saying|that says) )(?P<value>.+)$",
        text,
        re.I,
    )
    if chapter:
        return [Wish("section", chapter["title"], chapter["where"], chapter["value"])]
    return []


def removed(text: str) -> list[Wish]:
    several = re.match(
        rf"{_OUT}\b (?:out )?(?:all |every |any |the )*(?:lines?|entries) (?:from|with|containing|that (?:contain|mention)|mentioning|about|of|by) (?P<what>.+?) (?:from|in|of|out of) (?P<where>.+)$",
        text,
        re.I,
    )
    if several and re.match(r"(?:.*\blines\b|.*\bentries\b|.*\ball\b)", text, re.I):
        return [Wish("strike", several["what"], several["where"])]
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


def collected(text: str) -> list[Wish]:
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


def ranked(text: str) -> list[Wish]:
    """To the top or the end of a list."""
    found = re.match(
        r"(?:put|move|place|add|bring)\b (?P<what>.+?) (?:to|at|on) (?:the )?(?:very )?(?P<end>top|beginning|start|front|bottom|end) of (?P<where>.+)$",
        text,
        re.I,
    )
    if found is None:
        return []
    first = found["end"].lower() in {"top", "beginning", "start", "front"}
    return [Wish("first" if first else "last", found["what"], found["where"])]


def alike(text: str) -> list[Wish]:
    """A new file in the look of one that is there: `where` says like which, `beside` its name, `value` what it says."""
    found = re.match(
        r"(?:create|make|write|start|prepare|set up|add|draft|begin)\b (?:me )?(?:an? |the )?(?:new )?(?P<what>.+?),? (?:(?:with|in|using|has|having) )?(?:the )?"
        r"(?:same (?:look|layout|structure|format|style|headings)(?: and \w+)? (?:as|like)|based on|like|following|from) (?P<where>(?:the |our |an? )?(?:last|latest|other|existing|previous|template|others?)\b[^,(]*?)"
        r"(?:,? \((?P<aside>[^)]*)\))?(?:,? (?:saying|that says|which says|with the text)(?: that)?:? (?P<value>.+?))?(?: (?:as|called|named) (?P<name>‹[pq]\d+›|[\w./-]+))?(?:,? and (?:save|put) it (?:in|into|to|under|as) (?P<folder>.+?))?(?:, (?:just|only|but)\b.*)?$",
        text,
        re.I,
    )
    if found is None:
        return []
    return [
        Wish(
            "like",
            found["what"],
            found["where"],
            found["value"] or "",
            found["folder"] or "",
            beside=found["name"] or "",
        )
    ]
