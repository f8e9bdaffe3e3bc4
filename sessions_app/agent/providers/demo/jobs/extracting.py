"""Things of one kind picked out of files: e-mail addresses, web addresses, dates, numbers, phone numbers, tags, capitalised names."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.answering import look_up
from sessions_app.agent.providers.demo.phrases import Ask, P
from sessions_app.agent.providers.demo.places import matching, phrases
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, code, count, ending, fence, link

_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
#: (words for the kind, a pattern the search tool knows, the exact pattern, what it is called)
_KINDS: tuple[tuple[str, str, str, str], ...] = (
    (r"e-?mails?(?: ?address(?:es)?)?|mail ?address(?:es)?|email contacts", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+[.][A-Za-z]+", r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)+", "e-mail address"),
    (r"urls?|web ?addresses|(?:web ?|hyper)?links|websites", r"https?://", r"https?://[^\s)>\]\"'<]+[^\s)>\]\"'<.,;:]", "web address"),
    (r"dates?", r"[0-9]{4}-[0-9]{2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}|January|February|March|April|May|June|July|August|September|October|November|December",
     rf"\b\d{{4}}-\d{{2}}(?:-\d{{2}})?\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\b(?:\d{{1,2}}\.? )?(?:{_MONTH})(?: \d{{1,2}}(?!\d))?(?:,? \d{{4}})?\b", "date"),
    (r"(?:tele)?phone numbers?|phones|telephone numbers?", r"[+(]?[0-9][0-9 ()/-]{5,}", r"(?<![\w.#-])(?:\+\d{1,3}[ -]?)?\(?\d{2,5}\)?[ /-]\d{3,}(?:[ -]?\d{2,})*(?![\w-])|(?<![\w.#-])(?:\+|0)\d{7,}(?![\w-])", "phone number"),
    (r"hashtags?|tags", r"#[A-Za-z]", r"(?<![\w&#])#[A-Za-z]\w+", "tag"),
    (r"prices?|amounts?(?: of money)?", r"[€$£]|EUR|USD", r"(?:[€$£] ?\d[\d.,]*\d|\d[\d.,]* ?(?:[€$£]|EUR|USD))", "price"),
    (r"quotes?|quotations?|dialogues?", r"[\"“„]", r"[\"“„][^\"“”„\n]{3,}[\"”“]", "quotation"),
    (r"hex colou?rs?|colou?rs|colou?r codes", r"#[0-9a-fA-F]{3}", r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b", "colour"),
    (r"ip ?addresses", r"[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+", r"\b\d{1,3}(?:\.\d{1,3}){3}\b", "IP address"),
)  # fmt: skip


def extract(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """Every different one with the place it stands at first. Raises CannotDo for a place that is not here."""
    word = match.group("kind")
    _, coarse, exact, name = next(k for k in _KINDS if re.fullmatch(k[0], word, re.I))
    target, scope = _scope(ask)
    if (
        not scope
        and (place := match.groupdict().get("place"))
        and not re.fullmatch(
            r"(?:here|all files|(?:this|the|my|our|whole) (?:folder|project|site|website|repo|repository)|everything|files|all (?:of )?them)",
            place.strip(),
            re.I,
        )
    ):
        paths = yield from moves.every_path(desk, "Looking which files are meant.")
        found = phrases(f"in {place}", paths)
        if not found and (said := matching(re.findall(r"[^\W_]+", place), paths)):
            scope = said
        elif not found:
            # Of whom, not in which file: "the phone number of the treasurer".
            return (yield from look_up(desk, ask, match))
        scope = scope or [p for phrase in found for p in phrase.paths]
    hits = []
    for path in scope or ["."]:
        hits += yield from moves.search(
            desk, coarse, f"Searching for {name.rstrip('s')}s.", path=path.rstrip("/") or ".", limit=500
        )
    seen: dict[str, tuple[str, int]] = {}
    for hit in hits:
        for found_text in re.findall(exact, hit.text):
            seen.setdefault(found_text.strip(), (hit.path, hit.line))
    where = " in " + ", ".join(link(p) for p in scope[:6]) if scope else " in this folder"
    plural = name + "es" if name.endswith("s") else name + "s"
    if not seen:
        return f"No {name}{where}."
    if target is not None:
        if (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
            raise CannotDo(f"{link(target)} exists already and was left as it is.")
        rows = [f"- {s}" if ending(target) == "md" else s for s in seen]
        head = f"{name}\n" if ending(target) == "csv" else ""
        yield from moves.write(desk, target, head + "\n".join(rows) + "\n", f"Writing {code(target)}.")
        return f"Wrote {link(target)} with {count(len(seen), name, plural)}{where}:\n\n{fence(chr(10).join(list(seen)[:15]))}"
    lines = [f"{s} ({link(path, line)})" for s, (path, line) in list(seen.items())[:50]]
    more = f"\n\n{len(seen) - 50} more are not shown." if len(seen) > 50 else ""
    return f"{count(len(seen), name, plural)}{where}:\n\n{bullets(lines)}{more}"


def _scope(ask: Ask) -> tuple[str | None, list[str]]:
    """(the file to write to, the files to look in)."""
    target = re.search(
        rf"\b(?:save|write|put|store|export|collect)?\b[^‹]*\b(?:to|into|in|as) (?:an? |the )?(?:new )?(?:\w+ )?(?:file )?(?:called |named )?({P})$",
        ask.text,
        re.I,
    )
    if target and re.search(
        rf"\b(?:save|write|put|store|export|collect|into|to) (?:\w+ ){{0,5}}{re.escape(target.group(1))}$",
        ask.text,
        re.I,
    ):
        path = ask.plain(target.group(1))
        return path, [p for p in ask.paths if p != path]
    return None, ask.paths


_ANY = "|".join(k[0] for k in _KINDS)

RULES: list[Rule] = [
    rule(
        rf"(?:extract|pull(?: out)?|collect|find|get|list|show|give|gather|grab|fetch|copy|print|what|which|pick out|harvest|save|write|put)\b(?: me| us)?(?: out)?(?:'s| are| is)?(?: all| every| any| the| of| a list)*(?: different| unique| distinct)? (?P<kind>{_ANY})(?: (?:that )?(?:are |is |stand |appear |occur |mentioned |used |found |contained |there )*)?(?:(?: out)?(?: of| from| in| on| inside| across)(?: the| my| our| all| both)* (?P<place>[^‹]+?|{P}(?:,? and {P}|, {P})*)(?: files?| folder| pages?)?)?(?:,? (?:and )?(?:save|write|put|store|export)?(?: it| them)? ?(?:to|into|in|as)\b.*{P})?(?: here)?$",
        extract,
        lambda ask: not ask.has(r"\b(?:broken|dead|check|with|without|where|whose|who|missing)\b") and not any(p.endswith(".csv") for p in ask.paths[:1]),
    ),
]  # fmt: skip
