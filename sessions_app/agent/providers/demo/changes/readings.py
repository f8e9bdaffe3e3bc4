"""A sentence that wants a change, taken apart in every way it may be meant."""

from __future__ import annotations

import re
from dataclasses import replace

from sessions_app.agent.providers.demo.changes import additions, values
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.phrases import Ask

#: Stands behind a wish to rename whose second half was to follow the new name elsewhere.
FOLLOW = " ‹follow›"
#: What follows only says why.
_REASON = re.compile(
    r"(?:,? (?:because|since|as (?:we|i|it|they|he|she)\b)|[,;] (?:we|i|it(?! (?:\w+ )?(?:says?|reads?|should|is written))|he|she|they|that|this|so|nobody|no ?one|everybody|everyone|the \w+ (?:agreed|said|decided|asked|wants?|told))(?:'s|'ve|'re)? ?\b).*$",
    re.I | re.S,
)
_TAIL = re.compile(
    r"(?:check|verify|make sure|confirm|ensure|double-check|see)\b.*|(?:tell|show|report|say|give)\b(?: (?:me|us|what|which|how|whether|if|when|why)\b.*| the (?:results?|diff|changes?|file)\b.*)?|let me know\b.*|(?:update|change|correct|adjust|fix|note|fill)(?: (?:it|that|this|them))?(?: (?:in|there|accordingly|up))*$"
    r"|(?:please )?(?:keep|leave|don't touch|do not touch|don't change|do not change)\b.*|(?:save|write) (?:it|the file|that|them)(?: back)?$",
    re.I,
)
_NO_WISH = re.compile(
    r".*\b(?:commits?|branch|output of|results? of|docstrings?|tests? for|unit tests?|type hints?|alt text|table of contents|error handling|(?:an?|the|code|helpful|short) comments?|columns?|poem|story|haiku)\b|(?:give|make|write|put|set|take|add|show)\b (?:me\b|us\b|together\b|up\b|a (?:look|guess)\b|sure\b)",
    re.I,
)


def is_tail(text: str, before: str) -> bool:
    """Whether a second half only asks to look again or to tell what was done; after a statement also to act on it."""
    plain = text.strip().rstrip(".!?")
    if re.fullmatch(
        r"(?:please |pls )?(?:re-?number|change|fix|update|correct|do|enter|add|note|save)(?: (?:it|that|them|the (?:list|rest|numbers)|this))?(?: please| pls)?",
        plain,
        re.I,
    ):
        return True
    told = bool(values.told(before.strip()) or values.stepped(before.strip())) and re.match(
        r"(?:please |pls )?(?:update|change|correct|adjust|fix|note|fill|enter|record|put|add)\b", plain, re.I
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
        folders,
        additions.alike,
        titled,
        filed,
        done,
        ordered,
        additions.ranked,
        additions.collected,
        values.put_in_place,
        values.switched,
        values.stepped,
        values.told,
        values.set_to,
        values.replaced,
        additions.added,
        additions.removed,
    ):
        found += [replace(wish, everywhere=bool(everywhere), references=follow) for wish in reader(bare)]
    return found


def folders(text: str) -> list[Wish]:
    found = re.match(
        r"(?:make|create|add|mkdir)\b (?:an? |the )?(?:new |empty )*(?:sub-?)?(?:folder|directory) (?:called |named )?(?P<what>[\w./-]+|‹[pq]\d+›)$",
        text,
        re.I,
    )
    return [Wish("folder", found["what"])] if found else []


def filed(text: str) -> list[Wish]:
    found = re.match(r"rename\b (?P<what>.+?) (?:to|into|as|->) (?P<value>‹[pq]\d+›|[\w.-]+)$", text, re.I)
    if found:
        return [Wish("rename", found["what"], value=found["value"])]
    found = re.match(
        r"(?:move|put)\b (?P<what>.+?) (?:in)?to (?:the |a |an )?(?:new )?(?:folder )?(?P<value>‹[pq]\d+›|[\w./-]+)(?: (?:folder|directory))?$",
        text,
        re.I,
    ) or re.match(r"(?:move|put)\b (?P<what>.+?) (?:in |into )?(?P<value>there|in it|into it)$", text, re.I)
    if found:
        return [Wish("move", found["what"], value=found["value"])]
    found = re.match(
        r"(?:move|put)\b (?P<what>.+?) (?:in|into|to) (?:the )?(?:top|root|main|parent)(?:[- ]level)? (?:folder|directory)$",
        text,
        re.I,
    )
    if found:
        return [Wish("move", found["what"], value="./")]
    found = re.match(
        r"(?:delete|remove|erase|get rid of|throw away|trash)\b (?P<what>(?!.*\b(?:from|line|row|section|entry|item|word)s?\b(?! \d{4})).+)$",
        text,
        re.I,
    )
    if found:
        return [Wish("drop", found["what"])]
    found = re.match(
        r"(?:copy|duplicate)\b (?P<what>.+?) (?:to|as|into) (?P<value>‹[pq]\d+›|[\w./-]+)$", text, re.I
    )
    return [Wish("copy", found["what"], value=found["value"])] if found else []


def titled(text: str) -> list[Wish]:
    found = re.match(
        r"(?:give|add|put)\b (?P<what>it|this|that|the file|‹p\d+›) (?:an? |the )?(?:heading|title|headline|first line)(?: (?:of|called|saying|named))?:? (?P<value>‹q\d+›)$",
        text,
        re.I,
    )
    return [Wish("title", found["what"], value=found["value"])] if found else []


def done(text: str) -> list[Wish]:
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


def ordered(text: str) -> list[Wish]:
    found = re.match(
        r"(?:put|bring|get|list)\b (?P<what>.+?) (?:in|into) (?P<value>alphabetical|alphabetic|abc)(?:al)? order$",
        text,
        re.I,
    )
    if found:
        return [Wish("sort", found["what"], sign=1)]
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
