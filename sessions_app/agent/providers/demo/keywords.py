"""The words of a question that may stand in files: names, numbers, quotations and nouns, without the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.words import word_set

#: Words that carry a question and are no matter of it.
STOP = word_set("""
    a about above after again old often against all also although always am an and any anybody anyone anything anyway are around as ask asked at away
    back be became because become been before began being below best better between both but by call called came can cannot come comes could
    day did different do does doing done down during each either else end enough etc even ever every everybody everyone everything everywhere
    exactly example far few file files find first folder follow for found from full further gave general get gets getting give given gives go
    goes going gone good got great had happen happened happens has have having he hello help her here hers hey hi him his how however i if
    important in inside instead into is it its itself just keep kept kind knew know known knows last lately later least less let lets like likely
    little long look looking looks made main make makes making many matter may maybe me mean meant means might mine mention mentioned mentions more most
    much must my myself name near need needed needs never new next no nobody none nor not note notes nothing now nowhere of off often ok okay on once one
    only onto or other others our ours out over own part people per perhaps place please pls point possible project put quick quickly quite
    rather read real really repo right said same saw say saying says search see seem seems seen she should show shown shows similar since so
    some somebody someone something somewhere soon sort stand stands state stated still such supposed sure take taken tell tells than thank thanks that the their
    them then there these they thing things think this those though through thus time to today together told too toward tried try trying two under
    understand until up upon us use used uses using usually very want wanted was way we well went were what whatever when where whether which
    while who whole whom whose why will with within without wonder word words work works would write written wrote yes yet you your yours yourself
    happens explain describe line lines text contain contains containing document documents anywhere
    exist exists list print display answer question sentence short short brief briefly bullet bullets summary summarise summarize according
    handled handle located live lives defined define stored store decide decided agreed agree currently actually planned plan wants
    mr mrs ms dr hey there guys folks colleague dont don't isn't doesn't didn't what's where's who's how's it's i'm we're you're let's there's that's
    wer was wo wann warum wie welche welcher welches ist sind hat haben der die das den dem ein eine einen und oder für mit von über im auf steht gesagt sagt
    gibt es ich du wir ihr sie man noch auch nicht kein keine dieser diese dieses qui que quoi où quand comment pourquoi est sont dans sur avec pour les des une
    qué quién cuándo dónde cómo por según sobre del los las una dice
""")  # fmt: skip
_ALIKE: tuple[tuple[str, ...], ...] = (
    ("deadline", "due"), ("price", "cost", "costs"), ("licence", "license"), ("colour", "color"), ("phone", "tel", "telephone"),
    ("email", "e-mail", "mail"), ("delete", "remove"), ("meeting", "met", "meet"), ("bought", "buy"), ("spent", "spend"), ("paid", "pay"),
    ("error", "exception"), ("author", "authors", "maintainer"), ("install", "setup"), ("config", "configuration", "settings"),
    ("maximum", "max", "limit"), ("minimum", "min"), ("average", "mean"), ("address", "street"), ("budget", "money"), ("parsed", "parse"),
    ("open", "opens", "opening", "hours"), ("close", "closes", "closing", "hours", "shut"), ("kitty", "balance", "treasury", "cash"), ("allowed", "permitted", "forbidden"),
    ("deploy", "deployment", "upload", "publish"), ("boss", "manager", "chair"), ("holiday", "vacation", "leave"), ("wifi", "wlan"), ("password", "passcode", "passphrase"),
    ("wrote", "author", "authors", "written"), ("start", "run", "launch"), ("harvest", "pick"), ("growing", "planted", "sown", "crop"), ("fee", "price", "cost", "charge"),
    ("salary", "wage", "pay"), ("car", "vehicle"), ("begin", "start", "starts"), ("finish", "end", "ends"), ("reach", "contact", "phone"), ("broken", "faulty", "defect"),
    ("requirement", "requires", "needed"), ("crash", "fail", "error"), ("reason", "because"), ("cancel", "cancelled", "cancellation"), ("refund", "refunded"), ("guest", "visitor"),
    ("launch", "release"), ("monday", "mon"), ("tuesday", "tue"), ("wednesday", "wed"), ("thursday", "thu"), ("friday", "fri"), ("saturday", "sat"), ("sunday", "sun"), ("convert", "turn"), ("todo", "todos"), ("directory", "folder"), ("responsible", "owner"),
)  # fmt: skip
_ENDINGS = re.compile(r"(?:ies|ing|edly|ed|es|s|er|ers|ation|ations|ment|ly|y|e)$")
_WORD = re.compile(r"[^\W_][\w'’-]*(?:\.\w+)*(?:\(\))?|\d[\d.,:/-]*\d|\d")


@dataclass(frozen=True, slots=True)
class Keyword:
    """One thing to look for: `word` as asked, `forms` as they may stand, `weight` by how telling it is."""

    word: str
    forms: tuple[str, ...]
    weight: float = 1.0

    def coarse(self) -> str:
        """A pattern for a search that knows neither word borders nor endings."""
        return "|".join(re.escape(form) for form in self.forms)

    def stands_in(self, text: str) -> bool:
        """Whether the word begins a word of the text, or a part of a name_with_parts."""
        return any(re.search(_form(form), text, re.I) for form in self.forms)


def _form(form: str) -> str:
    """A plain word may have an ending, a short one only that of a plural; anything else stands as it is."""
    ending = "" if re.search(r"[^a-z]", form) or len(form) < 3 else r"[^\W_]{0,4}" if len(form) > 3 else "s?"
    return rf"(?<![^\W\d_]){re.escape(form)}{ending}(?![^\W_])"


def stem(word: str) -> str:
    """The front part that singular and plural, "turned" and "turn" have in common."""
    lower = word.lower()
    short = _ENDINGS.sub("", lower)
    if len(short) > 3 and short[-1] == short[-2] and short[-1] in "nmtpgdr" and short != lower:
        short = short[:-1]
    return short if len(short) >= 4 else (lower[:-1] if lower.endswith("s") and len(lower) > 3 else lower)


def keywords(ask: Ask, more_stops: frozenset[str] = frozenset()) -> list[Keyword]:
    """Quotations first, then names and identifiers, then other words; at most twelve."""
    found: dict[str, Keyword] = {}
    for quote in ask.quotes:
        found[quote.lower()] = Keyword(quote, (quote,), 4.0)
    for path in ask.paths:
        name = path.rstrip("/").rsplit("/", 1)[-1]
        found[name.lower()] = Keyword(name, (name,), 2.0)
    bare = re.sub(r"‹[pqc]\d+›", " ", ask.text)
    first = next(iter(_WORD.findall(bare)), "")
    for word in _WORD.findall(bare):
        plain = re.sub(r"['’]s?$|\(\)$", "", word)
        lower = plain.lower()
        if lower in STOP or lower in more_stops or (len(lower) < 2 and not lower.isdigit()):
            continue
        identifier = bool(re.search(r"_|\d|[a-z][A-Z]|\.", plain))
        proper = plain[:1].isupper() and word != first
        forms: tuple[str, ...] = (lower,) if identifier else (stem(lower),)
        if re.fullmatch(r"[a-z]{2,}[^aeiou]y|[a-z]{2,}ies", lower):
            # "study" and "studies", but no student.
            base = lower.removesuffix("ies").removesuffix("y")
            forms = (f"{base}y", f"{base}ies", f"{base}ied")
        for group in _ALIKE:
            if lower in group or lower.removesuffix("s") in group:
                forms = tuple(dict.fromkeys([*forms, *group]))
        found.setdefault(lower, Keyword(plain, forms, 2.0 if identifier or proper else 1.0))
    return list(found.values())[:12]
