"""Words by which people mean a place in a file: without filling, in the singular, long and short forms made one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from sessions_app.agent.providers.demo.places import KINDS
from sessions_app.agent.providers.demo.sheets.words import alike, singular
from sessions_app.agent.providers.demo.words import word_set
from sessions_app.agent.providers.demo.writing import ending

_SAME = {
    "production": "prod", "development": "dev", "configuration": "config", "settings": "config", "setting": "config", "environment": "env",
    "database": "db", "directory": "folder", "mail": "email", "e-mail": "email", "telephone": "phone", "tel": "phone", "mobile": "phone", "maximum": "max", "minimum": "min", "licence": "license",
    "documentation": "docs", "doc": "docs", "application": "app", "dependencies": "requirement", "requirements": "requirement", "repository": "repo", "mins": "minute", "secs": "second", "qty": "quantity",
    "changelog": "changes", "change": "changes", "to-do": "todo", "tasks": "task", "colour": "color", "organisation": "organization", "centre": "center", "costs": "price", "cost": "price",
}  # fmt: skip
#: They say nothing about which place is meant.
FILLING = word_set("""
    the a an my our your his her their its this that these those of in on at to for from into onto with by and or as is are was be been has have it them there
    please just also now then new currently current existing whole entire same own me us we i you he she they s called named which who whose what all every each both thing stuff one still so
""")  # fmt: skip
#: They may belong to a name, and are otherwise only the word for a place.
SOFT = word_set("""
    list file folder section item entry line row column table note page document value config key option field cell record text sheet
    book number heading part point bullet todo task data log paragraph csv md json txt yaml requirement readme script module plan
""")  # fmt: skip


def tokens(text: str) -> list[str]:
    """The telling words of a text in their order; `listenPort` and `listen_port` are two words."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", " ", text.replace("'s", " ").replace("’s", " "))
    words = re.findall(
        r"[^\W_]+(?:[.,]\d+)*", apart.lower().replace("e-mail", "email").replace("to-do", "todo")
    )
    return [
        _SAME.get(word) or _SAME.get(singular(word)) or singular(word)
        for word in words
        if word not in FILLING
    ]


def names_of(path: str) -> set[str]:
    """The words of a path and of the kind of file it is."""
    return {
        *tokens(re.sub(r"[/._-]+", " ", path)),
        *(w for k in KINDS.get(ending(path), ()) for w in tokens(k) or [k]),
    }


def among(word: str, words: Collection[str]) -> bool:
    """Whether the word, or a form of it, is one of the words."""
    return word in words or any(alike(word, other) for other in words)


def missing(wanted: Iterable[str], *present: Collection[str]) -> list[str]:
    """The wanted words that stand in none of the places; words that only say "list" or "file" never miss."""
    return [w for w in wanted if w not in SOFT and not any(among(w, words) for words in present)]


def score(wanted: Iterable[str], *places: tuple[Collection[str], int]) -> int:
    """How well places fit: for each word the weight of the best place it stands in."""
    return sum(max((weight for words, weight in places if among(w, words)), default=0) for w in wanted)
