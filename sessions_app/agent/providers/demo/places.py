"""Files and folders named by description: "chapter two", "both stylesheets", "the newest page", "my research notes"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.sheets.words import alike, singular
from sessions_app.agent.providers.demo.words import VERBS, word_set
from sessions_app.agent.providers.demo.writing import ending

#: Words by which files of a kind are spoken of.
KINDS: dict[str, frozenset[str]] = {
    "py": frozenset({"python", "py", "script", "module", "program", "code", "source"}), "js": frozenset({"javascript", "js", "script", "code", "source"}),
    "ts": frozenset({"typescript", "ts", "code", "source"}), "html": frozenset({"html", "page", "webpage"}), "htm": frozenset({"html", "page", "webpage"}),
    "css": frozenset({"css", "stylesheet", "style"}), "md": frozenset({"markdown", "md", "note", "document", "text", "doc"}),
    "txt": frozenset({"text", "txt", "note", "document"}), "json": frozenset({"json", "config", "configuration", "setting"}), "csv": frozenset({"csv", "table", "spreadsheet", "sheet"}),
    "tsv": frozenset({"tsv", "table"}), "sh": frozenset({"shell", "bash", "script"}), "log": frozenset({"log"}), "toml": frozenset({"toml", "config", "configuration", "setting"}),
    "yml": frozenset({"yaml", "yml", "config", "configuration", "setting"}), "yaml": frozenset({"yaml", "yml", "config", "configuration", "setting"}), "ini": frozenset({"ini", "config", "configuration", "setting"}),
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "svg", "webp"), frozenset({"image", "picture", "photo"})),
    "pdf": frozenset({"pdf"}), "sql": frozenset({"sql"}), "tex": frozenset({"latex", "tex"}),
}  # fmt: skip
_NUMBERS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8", "ninth": "9", "tenth": "10",
}  # fmt: skip
_NOT_IN_PHRASES = word_set("""
    is are was were be been has have had do does did can could will would should which what who whom whose where when why how and or but if then with without from to into in on at by for about
    of as that not no than more less over under me my you your i we us our it its them they he she his her please add say tell write make put
""")  # fmt: skip
_BEFORE = r"(?:the|my|our|this|that|these|those|all|every|each|both|all the|both the|all of the|the two|the three|all my|all our|each of the|every single) "
_MANY = re.compile(r"(?:all|every|each|both|these|those|the two|the three)\b")
SUPERLATIVES = {
    "largest": (True, "size"), "biggest": (True, "size"), "smallest": (False, "size"), "longest": (True, "size"), "shortest": (False, "size"), "heaviest": (True, "size"),
    "newest": (True, "time"), "latest": (True, "time"), "oldest": (False, "time"), "most recent": (True, "time"),
}  # fmt: skip
#: By themselves they are nearly always words of a sentence, whatever a file is called.
_MEASURES = frozenset(
    {
        "word",
        "line",
        "result",
        "name",
        "number",
        "list",
        "text",
        "content",
        "change",
        "test",
        "example",
        "new",
        "main",
        "total",
        "data",
        "row",
        "column",
        "link",
        "image",
        "title",
        "heading",
    }
)
_GENERIC = frozenset({"file", "folder", "directory", "one", "document", "item", "entry"})
#: Words of a description that need not stand in the name: "the member list" may be members.csv.
_LOOSE = frozenset(
    {"list", "text", "page", "note", "sheet", "table", "script", "data", "letter", "minute", "meeting"}
)
#: They hold a description together: "the letter to the council", "the minutes from April".
_JOINING = frozenset({"to", "the", "of", "from", "for", "in", "with", "about", "on", "our", "my"})
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
#: Words people use for one thing, whichever of them the files are called by.
_SAME_WORDS = (frozenset({"meeting", "minute"}), frozenset({"bill", "invoice"}), frozenset({"photo", "picture", "image"}), frozenset({"letter", "mail"}))  # fmt: skip
_SETTINGS = frozenset({"config", "configuration", "setting"})
#: Other words for a name that says nothing to people.
_CALLED = {"index": ("start", "home", "main"), "todo": ("task",), "faq": ("question",)}
_MANIFESTS = re.compile(r"(?:^|/)(?:pyproject\.toml|package(?:-lock)?\.json|tsconfig\.json|setup\.cfg)$")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A place in a text that names files: where it stands, which files it may be, and whether several are meant."""

    start: int
    end: int
    paths: tuple[str, ...]
    many: bool
    superlative: str = ""


def words_of(path: str) -> frozenset[str]:
    """The words of a file's own name, in the singular; numbers without leading zeros."""
    name = path.rstrip("/").rsplit("/", 1)[-1]
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    found = re.findall(r"[^\W\d_]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stem))
    dated = re.findall(r"(?<!\d)(?:19|20)\d\d[-_.](0[1-9]|1[0-2])(?!\d)", stem)
    also = [word for name in found for word in _CALLED.get(name.lower(), ())]
    return frozenset([*map(_token, found), *(_MONTHS[int(month) - 1] for month in dated), *also])


def _token(word: str) -> str:
    lower = _NUMBERS.get(word.lower(), word.lower())
    return lower.lstrip("0") or "0" if lower.isdigit() else singular(lower)


def _above(path: str) -> frozenset[str]:
    return frozenset(_token(w) for part in path.split("/")[:-1] for w in re.findall(r"[^\W\d_]+|\d+", part))


def matching(words: list[str], paths: list[str]) -> list[str]:
    """The files a description fits best.

    `words` are the words of it as they were said ("letter", "to", "the", "council"). Each has to be a word of the
    name, of a folder above it or of its kind; only a word such as "list" may be missing. At least one has to say
    more than "file". Several come back when they fit equally: the caller asks which, or takes all for a plural.
    """
    tokens = [
        t
        for place, w in enumerate(words)
        if (t := _token(w)) not in _GENERIC and (place == 0 or w.lower() not in _JOINING)
    ]
    if not tokens:
        return []
    scored: list[tuple[float, str]] = []
    for path in paths:
        if path.endswith("/"):
            continue
        own, above, kind = words_of(path), _above(path), KINDS.get(ending(path), frozenset({ending(path)}))
        score, firm = 0.0, False
        for token in tokens:
            if _among(token, own):
                score, firm = score + 3, True
            elif token in kind:
                rarely = token in _SETTINGS and ending(path) == "json"
                score, firm = score + (0.5 if rarely else 1), firm or not _MANIFESTS.search(path)
            elif _among(token, above):
                score, firm = score + 2, True
            elif token not in _LOOSE:
                break
        else:
            if firm:
                # Of two names with the words the one with fewer others is meant.
                scored.append((score - 0.1 * min(4, len(own - set(tokens))), path))
    best = max((score for score, _ in scored), default=0)
    exact = [path for score, path in scored if score >= best - 0.01]
    near = [path for score, path in scored if score >= best - 0.35]
    whole = [p for p in exact if words_of(p) <= set(tokens)]
    return whole if len(whole) == 1 else exact if len(words) > 1 and len(exact) == 1 else near


def _among(token: str, words: frozenset[str]) -> bool:
    same = next((group for group in _SAME_WORDS if token in group), frozenset[str]())
    return (
        token in words
        or bool(same & words)
        or (len(token) > 3 and any(alike(token, w) for w in words if len(w) > 3))
    )


def folders_called(words: list[str], paths: list[str]) -> list[str]:
    """Folders whose name is just these words."""
    tokens = frozenset(t for w in words if (t := _token(w)) not in _GENERIC)
    every = {
        "/".join(p.split("/")[:n]) + "/"
        for p in paths
        for n in range(1, p.rstrip("/").count("/") + 2)
        if n <= p.count("/")
    }
    return sorted(f for f in every if tokens and words_of(f) == tokens)


def phrases(text: str, paths: list[str]) -> list[Phrase]:
    """The descriptions of files in a text ("the letter to the council", "both minutes"), in order, none overlapping another.

    `paths` is what `moves.every_path` gives. A phrase with one path is clear; several of one that is not `many` are a
    question of which; `grounded` does both steps and puts the paths into the request.
    """
    found: list[Phrase] = []
    words = list(re.finditer(r"[^\W_][\w'-]*", re.sub(r"‹\w+›", lambda m: " " * len(m.group()), text)))
    for length in (6, 5, 4, 3, 2, 1):
        for at in range(len(words) - length + 1):
            window = words[at : at + length]
            said = [re.sub(r"'s$", "", w.group().lower()) for w in window]
            start, end = window[0].start(), window[-1].end()
            if any(f.start < end and start < f.end for f in found) or any(
                w in _NOT_IN_PHRASES and not (w in _JOINING and 0 < place < length - 1)
                for place, w in enumerate(said)
                # The about page is called so.
                if not (w == "about" and length == 2 and singular(said[1]) in {"page", "file"})
            ):
                continue
            if re.search(r"[^\w' -]", text[start:end]) or (at == 0 and said[0] in VERBS) or said[-1] == "the":
                continue
            phrase = _phrase(text, start, end, said, paths)
            if phrase is not None:
                found.append(phrase)
    return sorted(found, key=lambda f: f.start)


def _phrase(text: str, start: int, end: int, said: list[str], paths: list[str]) -> Phrase | None:
    before = re.search(_BEFORE + "$", text[:start], re.I)
    begin = before.start() if before else start
    many = bool(before and _MANY.match(before.group().lower()))
    superlative = said[0] if said[0] in SUPERLATIVES else ""
    rest = said[1:] if superlative or said[0] in {"empty", "two", "three"} else said
    if superlative or said[0] == "empty":
        if not rest or not (before or begin):
            return None
        plural = singular(rest[-1]) != rest[-1]
        kinds = (
            [p for p in paths if not p.endswith("/")]
            if set(map(_token, rest)) <= _GENERIC
            else matching(rest, paths)
        )
        return Phrase(begin, end, tuple(kinds), many or plural, superlative or "empty") if kinds else None
    plural = singular(rest[-1]) != rest[-1] if rest else False
    files_meant = any(singular(w) in {"file", "page", "script", "one"} for w in rest)
    folder = [] if files_meant else folders_called(rest, paths)
    if len(folder) == 1 and (
        before
        or re.match(r" (?:folder|directory)\b", text[end:])
        or re.search(r"\b(?:in|of|from|to|into) $", text[:begin])
    ):
        extra = re.match(r" (?:folder|directory)\b", text[end:])
        return Phrase(begin, end + (extra.end() if extra else 0), tuple(folder), many=False)
    found = matching(rest, paths)
    if not found:
        return None
    kinds_only = all(
        _token(w) in set().union(*(KINDS.get(ending(p), frozenset({ending(p)})) for p in found)) | _GENERIC
        and not any(_token(w) in words_of(p) for p in found)
        for w in rest
    )
    if kinds_only and not before and len(rest) == 1:
        return None
    if kinds_only and not (plural or many or len(found) == 1):
        return None
    if all(_token(w).isdigit() for w in rest):
        return None
    if len(rest) == 1 and ((rest[0] in VERBS and not before) or singular(rest[0]) in _MEASURES):
        return None
    if (
        len(rest) == 1
        and not before
        and not re.search(r"\d", "".join(map(_token, rest)))
        and not re.search(
            r"\b(?:in|of|from|to|into|summari[sz]e|read|show|open|explain|describe|about) $",
            text[:start],
            re.I,
        )
    ):
        return None
    extra = re.match(r" (?:files?|document|page|folder)\b", text[end:])
    return Phrase(begin, end + (extra.end() if extra else 0), tuple(found), many or plural)


def grounded(desk: Desk, ask: Ask) -> Move[Ask | None]:
    """The request with described files in place of their descriptions; None when it describes none."""
    if len(ask.text) > 400:
        return None
    paths = yield from moves.every_path(desk, "Looking which files are meant.")
    found = phrases(ask.text, paths)
    values = list(ask.values)
    text, shift = ask.text, 0
    changed = False
    for phrase in found:
        chosen = list(phrase.paths)
        if phrase.superlative:
            chosen = yield from by_measure(desk, chosen, phrase.superlative)
            if phrase.superlative != "empty":
                chosen = chosen[:1]
        if not chosen or len(chosen) > 8 or (len(chosen) > 1 and not phrase.many):
            continue
        marks = []
        for path in chosen:
            values.append(path)
            marks.append(f"‹p{len(values) - 1}›")
        new = " and ".join(marks) if len(marks) < 3 else ", ".join(marks[:-1]) + " and " + marks[-1]
        text = text[: phrase.start + shift] + new + text[phrase.end + shift :]
        shift += len(new) - (phrase.end - phrase.start)
        changed = True
    return Ask(text, tuple(values)) if changed else None


def by_measure(desk: Desk, paths: list[str], superlative: str) -> Move[list[str]]:
    """Files ordered by what the superlative speaks of, its end first; for "empty" only those of no size."""
    outcome = yield from moves.shell(
        desk,
        "stat -c '%s %Y %n' " + " ".join(moves.quoted(p) for p in paths[:300]),
        "Measuring them.",
        what="measuring files",
    )
    measured: list[tuple[int, int, str]] = []
    for line in moves.lines_of(outcome):
        match = re.match(r"(\d+) (\d+) (.+)$", line.strip())
        if match:
            measured.append((int(match[1]), int(match[2]), match[3].removeprefix("./")))
    if superlative == "empty":
        return [path for size, _, path in measured if size == 0]
    down, what = SUPERLATIVES[superlative]
    ordered = sorted(measured, key=lambda m: m[2], reverse=down and what == "time")
    ordered.sort(key=lambda m: m[1] if what == "time" else m[0], reverse=down)
    return [path for _, _, path in ordered]
