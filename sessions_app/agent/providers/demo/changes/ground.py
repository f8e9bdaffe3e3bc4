"""What the folder says to the words of a wish: the files that may be meant, read where their lines speak of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, score, tokens
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.keywords import stem
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.writing import code, ending

_BINARY = frozenset(
    {"png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "zip", "gz", "db", "sqlite3", "woff", "woff2", "pyc"}
)
_MOST_READ = 8
CONFIGS = frozenset({"json", "toml", "yml", "yaml", "ini", "cfg", "conf", "env", "properties", "example"})
CODE = frozenset({"py", "js", "ts", "mjs", "sh", "rb", "go", "rs", "java", "php", "css", "html"})
PROSE = frozenset({"md", "txt", "rst", "org", "markdown", "adoc", ""})


class NotMine(Exception):  # noqa: N818 - a way on, not a fault
    """This reading finds nothing to change; another one may."""


def files(desk: Desk) -> Move[list[str]]:
    """The text files of the folder."""
    every = yield from moves.every_path(desk, "Looking what is here.")
    return [p for p in every if not p.endswith("/") and ending(p) not in _BINARY]


def named(words: str, ask: Ask, paths: Sequence[str]) -> list[str] | None:
    """The files a phrase names, best first: by path, or by the words of path and kind; None when it names none."""
    masked = [ask.plain(mark) for mark in re.findall(r"‹p\d+›", words)]
    if masked:
        wanted = masked[0].removeprefix("./")
        exact = [p for p in paths if p == wanted]
        if "." not in wanted and "/" not in wanted and not exact:
            words = wanted
            return named(words, Ask(words, ()), paths)
        return (
            exact
            or [
                p
                for p in paths
                if p.endswith("/" + wanted)
                or p.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower() == wanted.lower()
            ]
            or None
        )
    wanted_words = tokens(ask.plain(words))
    telling = [w for w in wanted_words if w not in SOFT]
    if not wanted_words:
        return None
    fitting = [
        p
        for p in paths
        if not missing(wanted_words, names_of(p))
        and (telling or any(among(w, names_of(p)) for w in wanted_words))
    ]
    if not fitting:
        return None
    ranked = sorted(fitting, key=lambda p: (-_name_score(wanted_words, p), p.count("/"), len(p), p))
    if re.match(r"(?:all|every|each|both)\b", words.strip(), re.I):
        return ranked
    best = _name_score(wanted_words, ranked[0])
    return [p for p in ranked if _name_score(wanted_words, p) == best]


def _name_score(wanted: Sequence[str], path: str) -> int:
    own = set(tokens(re.sub(r"[._-]+", " ", path.rsplit("/", 1)[-1].rsplit(".", 1)[0])))
    return 4 * score(wanted, (own, 3), (set(tokens(path.replace("/", " "))), 2), (names_of(path), 1)) - len(
        [w for w in own if not among(w, wanted)]
    )


def speaking_of(desk: Desk, words: Sequence[str], paths: Sequence[str]) -> Move[list[str]]:
    """The files in which one of the words stands, those with most of them first."""
    coarse = [w for w in dict.fromkeys(words) if len(w) > 1]
    if not coarse:
        return []
    pattern = "|".join(
        re.escape(stem(w)) if w.isalpha() else re.escape(w) for w in sorted(coarse, key=len, reverse=True)[:6]
    )
    hits = yield from moves.search(
        desk, pattern, f"Looking where {code(', '.join(coarse[:4]))} stands.", ignore_case=True, limit=400
    )
    seen: dict[str, set[str]] = {}
    for hit in hits:
        if hit.path in paths:
            seen.setdefault(hit.path, set()).update(w for w in coarse if stem(w) in hit.text.lower())
    return sorted(seen, key=lambda p: (-len(seen[p]), p.count("/"), p))


def read(desk: Desk, path: str) -> Move[FileText | None]:
    """A whole text file; None for one that is cut, an image or unreadable."""
    known = f"text\n{path}"
    if known not in desk.kept:
        text = yield from moves.read(desk, path, f"Reading {code(path)}.", check=False)
        desk.kept[known] = text if text is not None and text.whole and not text.image else None
    found = desk.kept[known]
    return found if isinstance(found, FileText) else None


def read_all(desk: Desk, paths: Sequence[str]) -> Move[list[FileText]]:
    """The first few of the files, whole."""
    texts = []
    for path in paths[:_MOST_READ]:
        text = yield from read(desk, path)
        if text is not None:
            texts.append(text)
    return texts
