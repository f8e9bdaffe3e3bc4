"""A file's text from a description of it: a heading and a sentence, bullet points, a table, numbered lines."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.writing import ending

#: Words behind these are the text itself.
_SAYS = re.compile(
    r"\b(?:saying|says?|stating|states|reading|reads|noting|explaining|mentioning|telling(?: \w+)?|with (?:the )?(?:text|content|words|sentence|line)|containing|that contains|which contains)\b:?\s*(?:that\b\s*|the (?:text|words|sentence|line)s? )?(?P<text>.+)$",
    re.I | re.S,
)
_LIST = re.compile(
    r"\b(?:(?:\d+|one|two|three|four|five|six|some|the) )?(?P<kind>bullet(?:ed)?(?: points?| list)?s?|bullets|list items|items|checkbox(?:es)?|check ?list|numbered (?:list|items|steps|points)|steps|todos?(?: items)?|points|entries|tasks|list)\b(?: of| with| for| saying| called| containing)*:?\s+(?P<items>.+)$",
    re.I | re.S,
)
_TABLE = re.compile(
    r"\b(?:markdown )?table\b.*?\b(?:columns?|headers?|headings?)(?: called| named| for)?:?\s+(?P<columns>.+)$",
    re.I | re.S,
)
_TITLED = re.compile(
    r"\b(?:heading|title|headline|header)\b(?: called| named| saying| that says| reading| of|:)?\s*(?P<title>‹q\d+›|[A-Z][\w ]*?)(?=,| and\b| followed\b| then\b|$)"
)
_WISHES = re.compile(
    r"(?:an?|some|random|sample|about|two|three|four|five|my|your|its|ideas?|suggestions?|facts?|fruits?|names|tips|reasons)\b",
    re.I,
)


def described(ask: Ask, path: str) -> str | None:
    """The text that the words of the request give; None when they only wish for one."""
    if re.search(
        r"\bsorted by\b|\b(?:table|list|overview) of (?:all|every|the)\b|\bwith all\b", ask.text, re.I
    ):
        return None
    if ending(path) not in {"md", "txt", "rst", "csv", "adoc", "org", "log", ""}:
        return None
    if re.search(r"\bwith (?:the |these |following )*lines:? ‹q", ask.text):
        return None
    after = re.split(
        r"\b(?:with|containing|that (?:says|contains|has|lists?)|which (?:says|contains|has|lists?)|saying|listing|and (?:put|write|add))\b",
        ask.text,
        maxsplit=1,
        flags=re.I,
    )
    if len(after) < 2:
        return None
    what = ask.text[len(after[0]) :].strip().rstrip(".")
    heading = re.search(
        r"\b(?:heading|title|headline|header)\b", what, re.I
    ) is not None and not _TABLE.search(what)
    titled = _TITLED.search(what)
    title = ask.plain(titled.group("title")).strip() if titled else _title_of(path)
    rest = (
        what[titled.end() :]
        if titled
        else re.sub(r"^.*?\b(?:heading|title|headline|header)\b", "", what, count=1, flags=re.I | re.S)
        if heading
        else what
    )
    body = _body(ask, rest, path)
    if body is None:
        return (
            f"# {title}\n"
            if heading
            and not re.search(r"\w{3,}", re.sub(r"\b(?:and|a|an|the|nothing else|only)\b", "", rest))
            else None
        )
    return (f"# {title}\n\n" if heading else "") + body.rstrip("\n") + "\n"


def _title_of(path: str) -> str:
    name = re.sub(r"[_-]+", " ", path.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip()
    return name.capitalize() if name.isupper() or name.islower() else name


def _body(ask: Ask, what: str, path: str) -> str | None:
    columns = _TABLE.search(what)
    if columns:
        names = split_items(
            ask,
            re.split(
                r"\b(?:and|with) (?:one|two|three|\d+|an? |empty)(?: \w+)* rows?\b", columns.group("columns")
            )[0],
        )
        return f"| {' | '.join(names)} |\n| {' | '.join('---' for _ in names)} |" if len(names) > 1 else None
    listed = _LIST.search(what)
    if listed and (
        "," in listed.group("items") or len(ask.quotes) > 1 or re.search(r"\band\b", listed.group("items"))
    ):
        items = split_items(ask, listed.group("items"))
        kind = listed.group("kind").lower()
        if len(items) > 1 and not any(_WISHES.match(item) for item in items[:1]):
            mark = "- [ ] " if re.match(r"check|todo|task", kind) else "- "
            if re.match(r"numbered|steps", kind):
                return "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))
            if ending(path) in {"csv", "txt"} and not kind.startswith("bullet"):
                mark = ""
            return "\n".join(f"{mark}{item}" for item in items)
    says = _SAYS.search(what)
    if says:
        text = says.group("text").strip()
        plain = ask.plain(text).strip().strip("\"“”'")
        if (
            not text.startswith("‹q")
            and _WISHES.match(plain)
            and not re.search(r"\bthat\b", says.group()[: -len(text)] if text else "")
        ):
            return None
        told = re.match(r"that (?=\w+ \w+)", plain)
        if told:
            plain = plain[told.end() :]
        if told or re.search(r"\bthat\s*$", says.group()[: len(says.group()) - len(text)]):
            plain = plain[:1].upper() + plain[1:] + ("" if plain.endswith((".", "!", "?")) else ".")
        return plain or None
    return None


def split_items(ask: Ask, text: str) -> list[str]:
    """ "apples, pears and plums" or several quotations as items."""
    quotes = re.findall(r"‹q\d+›", text)
    if len(quotes) > 1:
        return [ask.plain(q).strip() for q in quotes]
    if len(quotes) == 1 and re.fullmatch(r"\s*‹q\d+›\s*", text):
        text = ask.plain(text)
    parts = (
        re.split(r"\s*[,;]\s*(?:and\s+|or\s+|und\s+)?|\s+and\s+|\s+und\s+", text.strip().rstrip("."))
        if "," in text or ";" in text
        else re.split(r"\s+(?:and|und)\s+", text.strip().rstrip("."))
    )
    return [ask.plain(part).strip() for part in parts if part.strip()]
