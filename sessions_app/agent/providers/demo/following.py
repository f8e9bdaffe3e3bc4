"""A request that only makes sense after the one before: "what about travel?", "and the second?"."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.phrases import mask
from sessions_app.agent.providers.demo.words import VERBS

_FOLLOW = re.compile(
    r"(?:ok(?:ay)?|so|now|then|hm+|great|thanks|and)?[,. ]*(?:(?P<lead>(?:what|how) about|(?:and )?(?:the )?same (?:for|with|in)|do (?:the same|that|it) (?:for|with|to|in)|and (?:what about|how about|for|in|with|on)|und (?:für|im|in|bei)?|et (?:pour|dans)|¿?y (?:para|en)?)|and)\s+(?P<argument>.{1,60}?)(?: too| as well| then)?[?.! ]*$",
    re.I,
)
_ORDINAL = re.compile(
    r"(?:the )?(?P<number>first|second|third|fourth|fifth|sixth|last|next)(?: one| file| entry)?$", re.I
)
_TAIL = re.compile(
    r"\b(on|for|in|of|about|from|to|with|by|per|during|is|are|has|have)\s+(?:the )?(?P<old>[\w'-]+(?: [\w'-]+)?)(?=\W*$)",
    re.I,
)
_SUPERLATIVE = r"(?:largest|biggest|smallest|longest|shortest|newest|oldest|latest|cheapest|most expensive|highest|lowest|best|worst|earliest|fastest|slowest)"
_WITH_THE = re.compile(r"(?:the |a |an |in |for |on )+", re.I)


def is_follow(text: str) -> bool:
    """Whether the text has no verb of its own and points at what was asked before."""
    found = _FOLLOW.match(text.strip())
    if found is None:
        return False
    argument = (
        _WITH_THE.sub("", found.group("argument"), count=1)
        if not found.group("lead")
        else found.group("argument")
    )
    first = argument.split()[0].lower() if argument.split() else ""
    return bool(found.group("lead")) or (first not in VERBS and len(argument.split()) <= 4)


def resumed(text: str, desk: Desk) -> list[str]:
    """The request before with the new argument in it, likeliest first; empty when the text stands alone."""
    if not is_follow(text):
        return []
    found = _FOLLOW.match(text.strip())
    base = next((s.request for s in reversed(desk.spans) if s.request and not is_follow(s.request)), "")
    if found is None or not base:
        return []
    argument = found.group("argument").strip()
    ordinal = _ORDINAL.match(argument)
    if ordinal:
        number = ordinal.group("number").lower()
        earlier = re.search(
            r"\b(?:the )?(?:first|second|third|fourth|fifth|last)(?: one| file)?\b", base, re.I
        )
        verb = re.match(
            r"(?:please |can you |could you )?(read|show|open|explain|print|summari[sz]e|describe|count|delete)\b",
            base,
            re.I,
        )
        if earlier:
            return [f"{base[: earlier.start()]}the {number} one{base[earlier.end() :]}"]
        return [f"{verb.group(1) if verb else 'read'} the {number} one"]
    superlative = re.search(rf"\b{_SUPERLATIVE}\b", argument, re.I)
    if superlative:
        asked = next(
            (s.request for s in reversed(desk.spans) if re.search(rf"\b{_SUPERLATIVE}\b", s.request, re.I)),
            "",
        )
        return (
            [re.sub(rf"\b{_SUPERLATIVE}\b", superlative.group(), asked, count=1, flags=re.I)] if asked else []
        )
    bare = _WITH_THE.sub("", argument, count=1) if _WITH_THE.match(argument) else argument
    old, new = mask(base), mask(bare)
    candidates: list[str] = []
    if new.paths and old.paths:
        candidates.append(base.replace(old.paths[-1], new.paths[0]))
    if old.quotes and not new.paths:
        candidates.append(base.replace(old.quotes[-1], new.quotes[0] if new.quotes else bare))
    stripped = re.sub(r"[?.!\s]+$", "", base)
    words = bare.split()
    if len(words) > 1 and stripped.lower().endswith(words[-1].lower()):
        kept = stripped.split()
        candidates.append(" ".join([*kept[: -len(words)], *words]))
    tail = _TAIL.search(stripped)
    if tail:
        candidates.append(stripped[: tail.start("old")] + bare)
    middle = list(re.finditer(r"\b(?:on|for|about|in)\s+(?:the )?(?P<old>[\w'-]+)", stripped, re.I))
    if middle:
        candidates.append(stripped[: middle[-1].start("old")] + bare + stripped[middle[-1].end("old") :])
    last = stripped.split()
    if len(last) > 1:
        candidates.append(" ".join([*last[:-1], bare]))
    return list(dict.fromkeys(candidates))
