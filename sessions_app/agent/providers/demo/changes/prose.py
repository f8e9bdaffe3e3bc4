"""Text in place of other text, and a figure, date or name in the one line that speaks of it."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.changes.ground import (
    PROSE,
    NotMine,
    files,
    named,
    read_all,
    speaking_of,
)
from sessions_app.agent.providers.demo.changes.spots import spots_of
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, link

_MOST_FILES = 20
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
#: Kinds of values: a new one takes the place of the only old one of its kind.
_KINDS = (
    re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"),
    re.compile(r"https?://\S+"),
    re.compile(
        rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\.? {_MONTHS}(?: \d{{4}})?|{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?)\b",
        re.I,
    ),
    re.compile(r"\b\d{4}-\d{2}-\d{2}\b"),
    re.compile(r"\b\d{1,2}[:.]\d{2}(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b", re.I),
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.I),
    re.compile(r"\b\d+(?:\.\d+){2}\b"),
    re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?(?![\w]*[:.-]\d)"),
)


def replace(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """Every place of a text in the files meant. Raises NotMine when it stands nowhere, CannotDo when it is unclear where."""
    old = _bare(ask, wish.old)
    new = ask.plain(wish.value).strip().strip("\"“”'")
    if wish.side == "sentence":
        new = new[:1].upper() + new[1:] + ("" if new.endswith((".", "!", "?")) else ".")
    if len(old) < 2 and not old.isdigit():
        raise NotMine
    paths = yield from files(desk)
    hits = yield from moves.search(
        desk, old, f"Looking for {code(old)}.", literal=True, ignore_case=True, limit=400
    )
    exact = re.compile(
        rf"(?<!\w){re.escape(old)}(?!\w)" if re.fullmatch(r"\w(?:.*\w)?", old, re.S) else re.escape(old)
    )
    loose = re.compile(exact.pattern, re.I)
    having = list(dict.fromkeys(h.path for h in hits if h.path in paths and loose.search(h.text)))
    if not having:
        raise NotMine
    inside = _each_named(wish.where, ask, paths, having) if wish.where else None
    if (
        wish.where
        and inside is None
        and not re.search(r"\b(?:all|every|folder|project|files|everything)\b", wish.where, re.I)
    ):
        raise NotMine
    if inside is not None:
        chosen = [p for p in having if p in inside]
        if not chosen:
            raise CannotDo(
                f"{code(old)} does not stand in {', '.join(link(p) for p in inside[:3])}. Nothing changed."
            )
    elif wish.everywhere or wish.where or len(having) == 1:
        chosen = having
    else:
        raise CannotDo(
            f"{code(old)} stands in {len(having)} files: {', '.join(link(p) for p in having[:8])}. Say in which one, or “everywhere”."
        )
    if len(chosen) > _MOST_FILES:
        raise CannotDo(
            f"{code(old)} stands in {len(chosen)} files; the demo model changes at most {_MOST_FILES} at once. Nothing changed. Name a folder or a file."
        )
    done = []
    for path in chosen:
        for text in (yield from read_all(desk, [path])):
            whole = "\n".join(text.lines)
            pattern = exact if exact.search(whole) else loose
            places = [n for n, line in enumerate(text.lines, 1) if pattern.search(line)]
            about = [
                n
                for n in places
                if any(among(w, tokens(text.lines[n - 1])) for w in tokens(ask.plain(wish.what)))
            ]
            changed, times = _substituted(text.lines, about or places, pattern, old, new)
            if times:
                yield from put_lines(desk, text, changed)
                done.append(f"{link(path, places[0] if places else 1)}: {count(times, 'place')}")
    left = [p for p in having if p not in chosen]
    more = (
        f"\n\nIt stands also in {', '.join(link(p) for p in left[:6])}; those are unchanged."
        if left
        else "\n\nIt stands in no other file."
        if not wish.everywhere
        else ""
    )
    return f"Replaced {code(old)} by {code(new)}:\n\n{bullets(done)}{more}"


def _each_named(where: str, ask: Ask, paths: list[str], having: list[str]) -> list[str] | None:
    """The files of a phrase, also of "the one and in the other", where each is the only one of its name that has the text."""
    parts = re.split(r",? and (?:in |on )?(?=the |‹p|my |our )", where)
    found = [[p for p in named(part, ask, paths) or [] if p in having] for part in parts]
    if len(parts) > 1 and all(len(files) == 1 for files in found):
        return [files[0] for files in found]
    return named(where, ask, paths)


def _substituted(
    lines: list[str], places: list[int], pattern: re.Pattern[str], old: str, new: str
) -> tuple[list[str], int]:
    """The lines with the text put in place in those given, and how often. A mark such as TODO goes with the rest of its line."""
    changed, times = list(lines), 0
    for number in places:
        line = lines[number - 1]
        marked = (
            re.match(rf"(\s*(?:[-*+] |#+ |// |# )?){re.escape(old)}\b:? ", line)
            if old.upper() in {"TODO", "FIXME", "TBD", "XXX"}
            else None
        )
        if marked and " " in new:
            changed[number - 1], found = marked[1] + new, 1
        else:
            changed[number - 1], found = pattern.subn(lambda m: _cased(m.group(), old, new), line)
        times += found
    return changed, times


def _cased(found: str, old: str, new: str) -> str:
    return (
        new
        if found == old or found.lower() != old.lower()
        else new[:1].upper() + new[1:]
        if found[:1].isupper() and old[:1].islower()
        else new
    )


def _bare(ask: Ask, part: str) -> str:
    part = re.sub(
        r"^(?:the |all |every |each |any )*(?:(?:words?|text|strings?|occurrences? of|instances? of|mentions? of|names?|typos?|terms?|phrase|date|time|port|version|number|supplier|customer) )?(?:of )?(?=\S)",
        "",
        part.strip(),
        flags=re.I,
    )
    return ask.plain(part).strip().strip("\"“”'")


def set_in_line(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The value of the one line that all the words describe: its only figure, date, time or address; or the text under a heading."""
    value = ask.plain(wish.value).strip().strip('"“”').rstrip(".")
    wanted = tokens(ask.plain(f"{wish.what} {wish.where}"))
    telling = [w for w in wanted if w not in SOFT]
    if not telling:
        raise NotMine
    paths = [p for p in (yield from files(desk)) if ending(p) in PROSE | {"html", "htm"}]
    inside = named(wish.where, ask, paths) if wish.where else None
    texts = yield from read_all(desk, inside or (yield from speaking_of(desk, telling, paths)))
    kind = next((k for k in _KINDS if k.fullmatch(value)), None) or next(
        (k for k in _KINDS if (m := k.match(value)) and len(m.group()) >= len(value.split()[0])), None
    )
    found: list[tuple[int, FileText, int, re.Match[str]]] = []
    for text in texts:
        around = names_of(text.path)
        for number, line in enumerate(text.lines):
            own = set(tokens(line))
            inside_line = [w for w in telling if among(w, own)]
            if kind is None or not inside_line or missing(wanted, own, around):
                continue
            matches = list(kind.finditer(line))
            near = _nearest(line, matches, inside_line)
            if near is not None:
                found.append((len(inside_line), text, number, near))
    if found:
        best = max(f[0] for f in found)
        top = [f for f in found if f[0] == best]
        if len(top) > 1:
            raise CannotDo(
                f"Not changed: {len(top)} lines fit “{clip(ask.plain(wish.what), 60)}”. Say in which file:\n\n"
                + bullets(f"{link(t.path, n + 1)} {clip(t.lines[n].strip(), 90)}" for _, t, n, _ in top[:8])
            )
        _, text, number, at = top[0]
        new_value = kind.match(value) if kind else None
        line = text.lines[number]
        changed = line[: at.start()] + (new_value.group() if new_value else value) + line[at.end() :]
        return (yield from _put(desk, text, number, changed))
    for text in texts:
        for spot in spots_of(text):
            body = [n for n in range(spot.first, spot.end) if text.lines[n].strip()]
            if (
                spot.heading is not None
                and len(body) == 1
                and not missing(wanted, set(tokens(spot.title)), names_of(text.path))
                and any(among(w, tokens(spot.title)) for w in telling)
            ):
                return (yield from _put(desk, text, body[0], value))
    raise NotMine


def _nearest(line: str, matches: list[re.Match[str]], words: list[str]) -> re.Match[str] | None:
    """The only value, or the one nearest behind the words."""
    if len(matches) < 2:
        return matches[0] if matches else None
    last = max(
        (
            m.end()
            for m in re.finditer(r"[^\W_]+", line)
            if tokens(m.group()) and among(tokens(m.group())[0], words)
        ),
        default=0,
    )
    behind = [m for m in matches if m.start() >= last]
    return behind[0] if behind else None


def _put(desk: Desk, text: FileText, number: int, new: str) -> Move[str]:
    old = text.lines[number]
    if old == new:
        return f"{link(text.path, number + 1)} says so already: {clip(old.strip(), 100)}"
    yield from put_lines(desk, text, [*text.lines[:number], new, *text.lines[number + 1 :]])
    return f"{link(text.path, number + 1)} was {code(clip(old.strip(), 120))} and is now {code(clip(new.strip(), 120))}."
