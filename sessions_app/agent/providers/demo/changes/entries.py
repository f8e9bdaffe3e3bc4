"""Lists and sections of texts: an entry added in the style of its neighbours, ticked or taken out; a section with its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo.changes.ground import (
    CONFIGS,
    PROSE,
    NotMine,
    files,
    named,
    read_all,
    speaking_of,
)
from sessions_app.agent.providers.demo.changes.spots import Spot, spot_for, spots_of
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.descriptions import split_items
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets.words import singular
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, link

_ITEM = re.compile(r"(\s*)([-*+]|(\d+)[.)])(\s+)(\[[ xX]\] )?(.*)$")
_HEADING = re.compile(r"(#{1,6})\s+(.*)$")
#: A wish for words, not the words themselves.
_WISHED = r"(?:one|two|three|four|five|\d+|some|a few|several|more) (?:\w+ )?(?:bullet points?|points?|ideas?|sentences?|lines?|facts?|tips|examples?|paragraphs?|suggestions?)\b"
_DONE = re.compile(r"^\s*(?:[-*+]\s+)?(?P<mark>\[(?:x|done|ok)\]|\((?:x|done|ok)\)|x |✓|✔|done:)\s*", re.I)


def add_entry(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """One or several entries at the end of a list, a line at the end of a text. Raises NotMine when the place is not found."""
    if not wish.where and not desk.written:
        raise NotMine
    if not wish.what.strip(" ,") or re.match(
        r"(?:an? |the )?(?:function|class|method|docstring|test|column|comment|type hints?|import)\b",
        wish.what,
        re.I,
    ):
        raise NotMine
    where = wish.where or f"‹p{len(ask.values)}›"
    if not wish.where:
        # A step that names no place goes on in the file of the one before.
        ask = Ask(ask.text, (*ask.values, desk.written[-1]))
    spot = yield from spot_for(desk, ask, where, PROSE | {"yml", "yaml"})
    text, lines = spot.text, list(spot.text.lines)
    if (
        re.search(r"chang(?:es|elog)|history|release", text.path.rsplit("/", 1)[-1], re.I)
        and spot.heading is None
    ):
        return (yield from _noted(desk, ask, wish, text))
    items = [n for n in range(spot.first, spot.end) if _ITEM.match(lines[n])]
    given = [_without_kind(entry, spot) for entry in _entries(ask, wish.what, listed=bool(items))]
    if not given:
        raise NotMine
    pins = "require" in text.path.lower() and ending(text.path) == "txt"
    if ending(text.path) in {"yml", "yaml"} and not items:
        raise NotMine
    sub = next(
        (n for n in range(spot.first, spot.end) if spot.heading is not None and _HEADING.match(lines[n])),
        spot.end,
    )
    items = [n for n in items if n < sub] or items
    if items:
        place, added = _beside(lines, spot, items, given, wish, ask)
    else:
        place = sub
        while place > spot.first and not lines[place - 1].strip():
            place -= 1
        listed = ending(text.path) == "md" and not re.search(
            r"\b(?:line|sentence|paragraph|text)\b",
            ask.text[: ask.text.find(wish.what[:8]) + 40] if wish.what else "",
            re.I,
        )
        added = [
            f"- {entry}" if listed and not entry.startswith(("- ", "#", ">")) else entry for entry in given
        ]
        gap_above = place > 0 and lines[place - 1].strip() and ending(text.path) == "md"
        boxes = [line for line in lines[spot.first : spot.end] if re.match(r"\s*\[[ xX]\] ", line)]
        added = [f"[ ] {entry}" if boxes else entry for entry in added]
        added = [
            *([""] if gap_above else []),
            *added,
            *([""] if place < len(lines) and lines[place].strip() and ending(text.path) == "md" else []),
        ]
    present = [entry for entry in added if entry.strip() and entry in lines[spot.first : spot.end]]
    if present:
        return f"{link(text.path, lines.index(present[0]) + 1)} has {code(clip(present[0].strip(), 80))} already. Nothing changed."
    yield from put_lines(desk, text, [*lines[:place], *added, *lines[place:]])
    under = f" under “{spot.title}”" if spot.heading is not None else ""
    shown = ", ".join(code(clip(a.strip(), 100)) for a in added if a.strip())
    return (
        f"Added {shown} to {link(text.path, place + 1 + next(n for n, a in enumerate(added) if a.strip()))}{under}."
        + (" It is not installed." if pins else "")
    )


def _beside(
    lines: list[str], spot: Spot, items: list[int], given: list[str], wish: Wish, ask: Ask
) -> tuple[int, list[str]]:
    """Where the entries go and how they are written; behind the last one unless another place is wished.
    A numbered list is counted anew in `lines`."""
    at = items[-1]
    if wish.kind == "first":
        at = items[0]
    elif wish.side:
        wanted = tokens(ask.plain(wish.beside))
        fitting = [n for n in items if not missing(wanted, set(tokens(lines[n])))]
        if len(fitting) != 1:
            raise CannotDo(
                f"Not added: {len(fitting)} entries of {link(spot.text.path)} fit “{clip(ask.plain(wish.beside), 60)}”."
            )
        at = fitting[0]
    found = _ITEM.match(lines[at])
    if found is None:
        raise NotMine
    place = at
    if not (wish.kind == "first" or wish.side == "before"):
        place += 1
        while place < spot.end and lines[place].startswith(found.group(1) + "  ") and lines[place].strip():
            place += 1
    box = "[ ] " if found.group(5) else ""
    if not found.group(3):
        return place, [f"{found.group(1)}{found.group(2)}{found.group(4)}{box}{entry}" for entry in given]
    number = int(found.group(3)) + (0 if place == at else 1)
    for n in (n for n in items if n >= place):
        counted = _ITEM.match(lines[n])
        if counted and counted.group(3) and counted.group(1) == found.group(1):
            start, end = counted.span(3)
            lines[n] = f"{lines[n][:start]}{int(counted.group(3)) + len(given)}{lines[n][end:]}"
    sign = found.group(2)[-1]
    return place, [
        f"{found.group(1)}{number + k}{sign}{found.group(4)}{box}{entry}" for k, entry in enumerate(given)
    ]


def _entries(ask: Ask, what: str, *, listed: bool) -> list[str]:
    """The entries that the words give, without the words around them."""
    what = re.sub(
        r" as (?:an? |the )?(?:new |next |last )*(?:todo|task|item|entry|point|bullet(?: point)?|note|line|idea)$",
        "",
        what,
        flags=re.I,
    )
    bare = re.sub(
        r"^(?:an? |the |another |one more |one |new |more )*(?:(?:note|line|entry|item|sentence|bullet(?: point)?|point|reminder|todo|task|comment|paragraph|idea|question|step|decision|topic|chapter|rule|ingredient)s?\b(?: (?:saying|that says|for|about|of|called|reading|to say))?:? ?)?(?:that (?=\w+ \w+))?",
        "",
        what.strip(),
        flags=re.I,
    ).strip(" ,")
    if re.fullmatch(r"(?:‹q\d+›)(?:(?:,| and|, and) ‹q\d+›)*", bare):
        return [ask.plain(mark).strip() for mark in re.findall(r"‹q\d+›", bare)]
    plain = ask.plain(bare).strip().strip('"“”')
    if not re.search(r"\w", plain) or "‹q" in bare or re.match(_WISHED, bare, re.I):
        # Quoted words among others say what something shall become; they alone are not it.
        return []
    if (
        not listed
        and re.match(r"(?:an?|some) ", what.strip(), re.I)
        and what.strip(" ,").endswith(bare)
        and len(what.split()) - len(bare.split()) < 2
    ):
        return []
    if (
        listed
        and re.search(r",| and ", bare)
        and len(bare.split()) <= 14
        and "(" not in bare
        and not re.search(r"\b(?:is|are|was|were|has|have|that|because|to|we|you|i)\b", bare, re.I)
    ):
        return [item for item in split_items(ask, bare) if item]
    if re.search(r"\bthat (?=\w+ \w+)", what[: len(what) - len(bare)]) or re.match(r"that ", what.strip()):
        plain = plain[:1].upper() + plain[1:]
    return [plain]


def _without_kind(entry: str, spot: Spot) -> str:
    """ "DELETE /parts endpoint" in a list of endpoints is "DELETE /parts"."""
    bare, _, last = entry.rpartition(" ")
    return (
        bare
        if bare and spot.heading is not None and among(singular(last.lower()), tokens(spot.title))
        else entry
    )


def _noted(desk: Desk, ask: Ask, wish: Wish, text: FileText) -> Move[str]:
    """An entry of a changelog: under the version said, else under the newest section."""
    said = ask.plain(f"{wish.what} {wish.value}")
    version = re.search(
        r",? ?(?:\(|for |in |as |under )?(?:version |v\.? ?)(\d+\.\d+(?:\.\d+)?)\)?", said, re.I
    )
    given = said if version is None else (said[: version.start()] + said[version.end() :])
    given = re.sub(
        r"^(?:that (?:we |i )?(?:have )?|we (?:have )?)", "", given.strip(" ,."), flags=re.I
    ).strip(" ,.")
    if not re.search(r"\w{3}", given):
        raise NotMine
    given = (
        given[:1].upper() + given[1:] if any(re.match(r"[-*] [A-Z]", line) for line in text.lines) else given
    )
    lines = text.lines
    heads = [n for n, line in enumerate(lines) if re.match(r"##\s", line)]
    wanted = next((n for n in heads if version and version[1] in lines[n]), None)
    if wanted is None and (version or not heads):
        place = heads[0] if heads else len(lines)
        title = f"## {version[1]}" if version else "## Unreleased"
        if heads and re.match(r"##\s+\[", lines[heads[0]]) and version:
            title = f"## [{version[1]}]"
        added = [title, "", f"- {given}", ""]
        if not heads and lines and lines[-1].strip():
            added = ["", *added]
        at = place + 2
    else:
        start = wanted if wanted is not None else heads[0]
        end = next((n for n in heads if n > start), len(lines))
        items = [n for n in range(start, end) if _ITEM.match(lines[n])]
        place = items[-1] + 1 if items else start + 1
        mark = _ITEM.match(lines[items[-1]]) if items else None
        added = [f"{mark[2] if mark else '-'} {given}"] if items else ["", f"- {given}"]
        at = place
    yield from put_lines(desk, text, [*lines[:place], *added, *lines[place:]])
    return f"Added {code('- ' + clip(given, 90))} to {link(text.path, at + 1)}" + (
        f" under {code(added[0])}." if added[0].startswith("##") else "."
    )


def add_section(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """A heading with its text at the end of a Markdown file."""
    spot = yield from spot_for(desk, ask, wish.where, frozenset({"md", "markdown", "txt"}))
    text, lines = spot.text, list(spot.text.lines)
    title = ask.plain(wish.what).strip().strip("\"“”'")
    levels = [len(m[1]) for line in lines if (m := _HEADING.match(line))]
    level = 1 if levels.count(1) > 1 else 2
    body = ask.plain(wish.value).strip().strip('"“”')
    body = re.sub(r"^that ", "", body)
    if not re.fullmatch(r"‹q\d+›", wish.value) or not body[:1].isupper():
        body = body[:1].upper() + body[1:] + ("" if body.endswith((".", "!", "?")) else ".")
    if any(_HEADING.match(line) and line.lstrip("# ").strip().lower() == title.lower() for line in lines):
        raise CannotDo(
            f"{link(text.path)} has a section “{title}” already. Nothing changed; say what to add under it."
        )
    while lines and not lines[-1].strip():
        lines.pop()
    heading = f"{'#' * level} {title[:1].upper() + title[1:]}" if ending(text.path) != "txt" else f"{title}:"
    points = split_items(ask, wish.value) if wish.value.count(",") > 1 else []
    added = [f"- {point[:1].upper()}{point[1:].rstrip('.')}" for point in points] or [body]
    yield from put_lines(desk, text, [*lines, "", heading, "", *added])
    return f"Added the section {code(heading)} to {link(text.path, len(lines) + 2)}:\n\n> {clip(body, 300)}"


def tick(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """An entry marked as done, or as open again, the way its file marks what is done."""
    wanted = [w for w in tokens(ask.plain(wish.what)) if w not in {"item", "box", "todo", "task", "entry"}]
    telling = [w for w in wanted if len(w) > 1]
    if not telling:
        raise NotMine
    paths = [p for p in (yield from files(desk)) if ending(p) in PROSE]
    inside = named(wish.where, ask, paths) if wish.where else None
    texts = yield from read_all(desk, inside or (yield from speaking_of(desk, telling, paths)))
    found = [
        (text, number, number + 1)
        for text in texts
        for number, line in enumerate(text.lines)
        if line.strip()
        and not _HEADING.match(line)
        and not missing(telling, set(tokens(line)))
        and _may_be_ticked(text, line, back=wish.kind == "undone")
    ]
    text, number, _ = _the_one(found, telling, ask.plain(wish.what), "changed")
    old = text.lines[number]
    item = _ITEM.match(old)
    if (item and item.group(5)) or re.match(r"\s*\[[ xX]\]", old):
        new = re.sub(r"\[[ xX]\]", "[ ]" if wish.kind == "undone" else "[x]", old, count=1)
    elif wish.kind == "undone":
        new = _DONE.sub("", old, count=1)
    else:
        marks = [m["mark"] for line in text.lines if (m := _DONE.match(line))]
        lead = re.match(r"\s*(?:[-*+]\s+)?", old)
        start = lead.end() if lead else 0
        new = f"{old[:start]}{(marks[0] if marks else '[x]').strip()} {old[start:]}"
    yield from put_lines(desk, text, [*text.lines[:number], new, *text.lines[number + 1 :]])
    return f"{'Opened again' if wish.kind == 'undone' else 'Ticked'} {link(text.path, number + 1)}: {code(clip(new.strip(), 100))}."


def _may_be_ticked(text: FileText, line: str, *, back: bool) -> bool:
    """Whether a line has a box of the right kind, or stands in a list of things to do that has no boxes."""
    item = _ITEM.match(line)
    if item and item.group(5):
        return ("x" in item.group(5).lower()) == back
    listed = re.search(r"todo|task|list|shopping|packing", text.path, re.I) is not None
    if re.match(r"\s*\[[ xX]\]", line):
        return (re.match(r"\s*\[[xX]\]", line) is not None) == back
    return listed and (_DONE.match(line) is not None) == back


def _the_one(
    found: list[tuple[FileText, int, int]], wanted: Sequence[str], said: str, what: str
) -> tuple[FileText, int, int]:
    """The only place, or the only one that has no other words. Raises NotMine without any, CannotDo with several."""
    if not found:
        raise NotMine
    if len(found) > 1:
        exact = [f for f in found if set(tokens(re.sub(r"\[[ xX]\]", "", f[0].lines[f[1]]))) == set(wanted)]
        found = exact if len(exact) == 1 else found
    if len(found) > 1:
        listed = bullets(
            f"{link(t.path, n + 1)} {code(clip(t.lines[n].strip(), 80))}" for t, n, _ in found[:8]
        )
        raise CannotDo(
            f"Nothing {what}: {len(found)} lines fit “{clip(said, 60)}”. Name one exactly:\n\n{listed}"
        )
    return found[0]


#: Such wishes are about the form of lines, not about one of them.
_BY_FORM = frozenset(
    {
        "duplicate",
        "empty",
        "blank",
        "trailing",
        "comment",
        "import",
        "first",
        "last",
        "all",
        "every",
        "everything",
    }
)


def remove_entry(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """One entry of a list, one line, or a section with all below it, found by its words."""
    section = re.search(r"\b(?:section|chapter|heading)\b", wish.what, re.I) is not None
    kinds = {"item", "entry", "line", "section", "chapter", "bullet", "point", "task", "todo", "about"}
    wanted = [w for w in tokens(ask.plain(wish.what)) if w not in kinds]
    if not wanted or set(wanted) & _BY_FORM:
        raise NotMine
    paths = [p for p in (yield from files(desk)) if ending(p) in (PROSE | CONFIGS | {"gitignore"}) - {"json"}]
    inside = named(wish.where, ask, paths) if wish.where else None
    if wish.where and not inside:
        wanted += [w for w in tokens(ask.plain(wish.where)) if w not in SOFT]
    texts = yield from read_all(desk, inside or (yield from speaking_of(desk, wanted, paths)))
    found: list[tuple[FileText, int, int]] = []
    for text in texts:
        around = names_of(text.path)

        def speaks(words: str, around: set[str] = around) -> bool:
            own = set(tokens(words))
            return not missing(wanted, own, around) and any(among(w, own) for w in wanted)

        if section:
            found += [
                (text, s.heading, s.end) for s in spots_of(text) if s.heading is not None and speaks(s.title)
            ]
        else:
            found += [
                (text, n, n + 1)
                for n, line in enumerate(text.lines)
                if _removable(text, line) and speaks(line)
            ]
    text, first, end = _the_one(found, wanted, ask.plain(wish.what), "removed")
    new = [*text.lines[:first], *text.lines[end:]]
    if not any(line.strip() for line in new):
        raise CannotDo(f"That is all that stands in {link(text.path)}; nothing removed.")
    yield from put_lines(desk, text, new)
    gone = (
        f"the section “{text.lines[first].lstrip('# ')}”"
        if section
        else code(clip(text.lines[first].strip(), 100))
    )
    return f"Removed {gone} from {link(text.path, first + 1)}. “undo” takes it back."


def strike_lines(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """Every line of one file in which a name, an address or a word stands by itself."""
    said = ask.plain(wish.what).strip().strip("\"“”'")
    inside = named(wish.where, ask, (yield from files(desk)))
    if not inside or len(inside) != 1:
        raise NotMine
    pattern = re.compile(rf"(?<![\w.]){re.escape(said)}(?![\w]|\.\w)", re.I)
    for text in (yield from read_all(desk, inside)):
        left = [line for line in text.lines if not pattern.search(line)]
        gone = len(text.lines) - len(left)
        if not gone or not any(line.strip() for line in left):
            break
        yield from put_lines(desk, text, left)
        return f"Removed {count(gone, 'line')} with {code(said)} from {link(text.path)}, {count(len(left), 'line')} left. “undo” takes it back."
    raise NotMine


def move_entry(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """An entry of a list taken to the end of another section of its file."""
    wanted = tokens(ask.plain(wish.what))
    paths = [p for p in (yield from files(desk)) if ending(p) in PROSE]
    found: list[tuple[FileText, int, int]] = []
    for text in (yield from read_all(desk, (yield from speaking_of(desk, wanted, paths)))):
        goals = [
            s
            for s in spots_of(text)
            if s.heading is not None
            and tokens(s.title)
            and not missing(tokens(ask.plain(wish.value)), tokens(s.title))
        ]
        if len(goals) == 1:
            found += [
                (text, n, goals[0].heading or 0)
                for n, line in enumerate(text.lines)
                if _ITEM.match(line) and not missing(wanted, set(tokens(line)))
            ]
    text, number, heading = _the_one(found, wanted, ask.plain(wish.what), "moved")
    goal = next(s for s in spots_of(text) if s.heading == heading)
    end = goal.end
    while end > goal.first and not text.lines[end - 1].strip():
        end -= 1
    line = text.lines[number]
    if goal.first <= number < goal.end:
        return f"{link(text.path, number + 1)} stands there already."
    new = list(text.lines)
    new.insert(end, line)
    del new[number + (1 if end <= number else 0)]
    yield from put_lines(desk, text, new)
    return f"Moved {code(clip(line.strip(), 100))} to “{goal.title}” in {link(text.path)}."


def _removable(text: FileText, line: str) -> bool:
    """Whether a line is an entry by itself: an item of a list, or a line of a text that is no Markdown."""
    if not line.strip() or _HEADING.match(line) or re.match(r"\s*[\w-]+:\s*$", line):
        return False
    return _ITEM.match(line) is not None or ending(text.path) not in {"md", "rst"}


def sort_lines(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The entries of a list, or the lines of a plain text, in alphabetical order."""
    if wish.value and not re.search(r"alphabet|name|title|letter", wish.value, re.I):
        raise NotMine
    spot = yield from spot_for(desk, ask, wish.what, PROSE)
    text, lines = spot.text, list(spot.text.lines)
    items = [n for n in range(spot.first, spot.end) if _ITEM.match(lines[n])]
    if not items and ending(text.path) == "md":
        raise NotMine
    places = items or [n for n in range(spot.first, spot.end) if lines[n].strip()]
    if places != list(range(places[0], places[-1] + 1)) if places else True:
        raise CannotDo(f"Not sorted: between the entries of {link(text.path)} stand other lines.")
    ordered = sorted(
        (lines[n] for n in places),
        key=lambda line: re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\] )?", "", line).casefold(),
        reverse=wish.sign < 0,
    )
    if ordered == [lines[n] for n in places]:
        return f"{link(text.path)} is in this order already."
    for place, line in zip(places, ordered, strict=True):
        lines[place] = line
    yield from put_lines(desk, text, lines)
    return f"Sorted {len(places)} lines of {link(text.path, places[0] + 1)}. “undo” takes it back."
