"""Jobs on notes: an item into the list of a section, an item done or removed, a section removed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.keywords import stem
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, link

_TEXTS = {"md", "txt", "rst", "org", "markdown"}
_ITEM = re.compile(r"(\s*)([-*+]|(\d+)[.)])(\s+)(\[[ xX]\] )?(.*)$")
_NOISE = re.compile(
    r"\b(?:the|my|our|a|an|new|file|list|section|notes?|items?|as|under|heading|to|in|of|todos?|page|part)\b",
    re.I,
)


def _name_words(words: str) -> list[str]:
    """ "the ideas notes" → ideas; a name made of such words only keeps them."""
    plain = re.sub(r"\s+", " ", _NOISE.sub(" ", words)).strip().lower()
    if not plain and re.search(r"\btodos?\b|\bto-dos?\b|\btasks?\b", words, re.I):
        return ["todo"]
    return [
        w
        for w in re.findall(
            r"[\w'-]+",
            plain or re.sub(r"\b(?:the|my|our|a|an|new|file|to|in|of|section)\b", " ", words.lower()),
        )
        if w
    ]


def _heading_at(lines: Sequence[str], words: Sequence[str]) -> int | None:
    """The heading with all the words; the shortest wins."""
    found = [
        n for n, line in enumerate(lines)
        if re.match(r"#{1,6} ", line) and all(stem(word) in {stem(w) for w in re.findall(r"[\w'-]+", line)} for word in words)
    ]  # fmt: skip
    return min(found, key=lambda n: len(lines[n])) if found else None


def _place(desk: Desk, ask: Ask, words: str, path: str | None) -> Move[tuple[FileText, int | None]]:
    """The file, and the line of the heading the words name (None: the whole file). Raises CannotDo."""
    names = _name_words(words)
    if path:
        text = yield from moves.reach(desk, path)
        return text, _heading_at(text.lines, names) if names else None
    if not names:
        it = desk.it()
        if it and ending(it) in _TEXTS:
            return (yield from moves.full(desk, it)), None
        raise CannotDo('Add it to which file? Name it, for example `add "buy paper" to docs/todo.txt`.')
    every = yield from moves.every_path(desk, "Looking for the notes.")
    texts = [p for p in every if ending(p) in _TEXTS]
    coarse = "|".join(re.escape(stem(word)) for word in names)
    hits = yield from moves.search(
        desk, rf"^#+ .*({coarse})", "Is there a heading of that name?", ignore_case=True
    )
    headed = [
        h
        for h in hits
        if all(stem(w) in {stem(x) for x in re.findall(r"[\w'-]+", h.text)} for w in names)
        and ending(h.path) in _TEXTS
    ]
    if len({h.path for h in headed}) == 1:
        text = yield from moves.full(desk, headed[0].path)
        return text, _heading_at(text.lines, names)
    stems = [
        p
        for p in texts
        if all(
            any(stem(w) == stem(x) for x in re.split(r"[\W_]+", p.rsplit("/", 1)[-1].lower())) for w in names
        )
    ]
    if len(stems) == 1:
        return (yield from moves.full(desk, stems[0])), None
    mixed = []
    for p in texts:
        rest = [w for w in names if not any(stem(w) == stem(x) for x in re.split(r"[\W_]+", p.lower()))]
        if rest and len(rest) < len(names):
            mixed.append((p, rest))
    for p, rest in mixed[:3]:
        text = yield from moves.full(desk, p)
        at = _heading_at(text.lines, rest)
        if at is not None:
            return text, at
    options = list(dict.fromkeys([h.path for h in headed] + stems))
    raise CannotDo(
        f"Not done: {len(options)} files fit “{clip(words, 40)}”: {', '.join(link(p) for p in options[:6])}. Name one." if options
         else f"Not done: no notes file and no heading called “{clip(' '.join(names), 40)}” here." + (f" Notes here: {', '.join(link(p) for p in texts[:6])}." if texts else "")
    )  # fmt: skip


def _section(lines: Sequence[str], at: int | None) -> tuple[int, int]:
    """First line after the heading and the line after the section's last."""
    if at is None:
        return 0, len(lines)
    level = len(lines[at]) - len(lines[at].lstrip("#"))
    end = next(
        (
            n
            for n in range(at + 1, len(lines))
            if (m := re.match(r"(#{1,6}) ", lines[n])) and len(m.group(1)) <= level
        ),
        len(lines),
    )
    sub = next((n for n in range(at + 1, end) if re.match(r"#{1,6} ", lines[n])), end)
    return at + 1, sub


def add_item(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """One more item in a list of notes, in the style of the items that are there."""
    groups = match.groupdict()
    given = ask.plain(groups["item"]).strip().strip('"“”')
    given = re.sub(r"^(?:that (?:we |i )?(?:should |must |need to )?|to )(?=\w)", "", given, flags=re.I)
    where = groups.get("where") or groups.get("where2")
    path = ask.plain(where) if where else None
    if path and "/" not in path and not (yield from moves.exists(desk, path, f"Is {code(path)} there?")):
        path = yield from moves.locate(desk, path, known_missing=True)
    named = groups.get("section") or groups.get("section2") or ""
    if re.fullmatch(r"(?:the |my |our )?list", named.strip(), re.I) and ask.has(r"\btodo|\btask"):
        named = "todo list"
    text, at = yield from _place(desk, ask, ask.plain(named), path)
    lines = text.lines
    first, end = _section(lines, at)
    items = [n for n in range(first, end) if _ITEM.match(lines[n])]
    todo = ask.has(r"\b(?:todo|to-do|task|checkbox)\b")
    if at is None and items and path is None and not ask.has(r"\bnotes?\b|\blist\b|\btodo"):
        items = items[-1:]
    if items:
        last = _ITEM.match(lines[items[-1]])
        if last is None:
            raise CannotDo(f"The list in {link(text.path)} is not recognised. Nothing changed.")
        mark = f"{int(last.group(3)) + 1}{last.group(2)[-1]}" if last.group(3) else last.group(2)
        line = f"{last.group(1)}{mark}{last.group(4)}{'[ ] ' if last.group(5) else ''}{given}"
        place = items[-1] + 1
        while place < end and lines[place].startswith("  ") and lines[place].strip():
            place += 1
        added = [line]
    elif ending(text.path) == "md":
        place = end
        while place > first and not lines[place - 1].strip():
            place -= 1
        line = f"- {'[ ] ' if todo else ''}{given}"
        added = [
            *([""] if place and lines[place - 1].strip() else []),
            line,
            *([""] if place < len(lines) and lines[place].strip() else []),
        ]
    else:
        place, line = len(lines), given
        added = [line]
    if line in lines:
        return (
            f"{link(text.path, lines.index(line) + 1)} has {code(clip(line, 80))} already. Nothing changed."
        )
    yield from put_lines(desk, text, [*lines[:place], *added, *lines[place:]])
    under = f" under “{lines[at].lstrip('# ')}”" if at is not None else ""
    return (
        f"Added {code(clip(line.strip(), 100))} to {link(text.path, place + 1 + added.index(line))}{under}."
    )


def item_done(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A box ticked, or an item that is named by some of its words removed."""
    groups = match.groupdict()
    wanted = ask.plain(groups["item"]).strip().strip("\"“”'")
    wanted = re.sub(
        r"^(?:the |my )?(?:(?:lines?|items?|todos?|tasks?|entry|bullet(?: point)?|note|points?)\b ?)?(?:about |on |for |with |saying |that says |called |named |of |: ?)*(?:the )?",
        "",
        wanted,
        flags=re.I,
    )
    remove = re.match(r"(?:remove|delete|drop|erase|take|cross out)", match.group(), re.I) is not None
    where = groups.get("where") or groups.get("where2")
    path = ask.plain(where) if where else None
    if path and not re.search(r"[./]", path):
        path = (yield from _place(desk, ask, path, None))[0].path
    elif path and "/" not in path and not (yield from moves.exists(desk, path, f"Is {code(path)} there?")):
        path = yield from moves.locate(desk, path, known_missing=True)
    words = [
        stem(w)
        for w in re.findall(r"[\w'-]+", wanted.lower())
        if len(w) > 2 and w not in {"the", "and", "with", "about", "for"}
    ]
    if not words:
        raise CannotDo("Which item? Name some of its words.")
    hits = yield from moves.search(
        desk,
        re.escape(max(words, key=len)),
        f"Looking for {code(wanted)}.",
        path=path or ".",
        ignore_case=True,
    )
    fit = [
        h
        for h in hits
        if all(w in h.text.lower() for w in words)
        and ending(h.path) in _TEXTS | {"csv"}
        and not h.text.startswith("#")
    ]
    if not remove:
        boxes = [h for h in fit if re.match(r"[-*+] \[[ ]\]", h.text)]
        fit = boxes or fit
    if len(fit) != 1:
        listed = bullets(f"{link(h.path, h.line)} {code(clip(h.text, 80))}" for h in fit[:8])
        raise CannotDo(
            f"Nothing changed: {count(len(fit), 'line')} of notes {'fits' if len(fit) == 1 else 'fit'} “{clip(wanted, 60)}”."
            + (f" Name one exactly:\n\n{listed}" if fit else "")
        )
    hit = fit[0]
    text = yield from moves.full(desk, hit.path)
    number, old = hit.line - 1, text.lines[hit.line - 1]
    if remove:
        if len(text.lines) < 2:
            raise CannotDo(f"That is the only line of {link(hit.path)}; nothing deleted.")
        yield from put_lines(desk, text, [*text.lines[:number], *text.lines[number + 1 :]])
        return f"Deleted {code(clip(old.strip(), 100))} from {link(hit.path, hit.line)}."
    if not re.match(r"\s*[-*+] \[ \]", old):
        raise CannotDo(
            f"Nothing changed: {link(hit.path, hit.line)} {code(clip(old.strip(), 80))} has no open box to tick."
        )
    line = old.replace("[ ]", "[x]", 1)
    yield from put_lines(desk, text, [*text.lines[:number], line, *text.lines[number + 1 :]])
    return f"Ticked {link(hit.path, hit.line)}: {code(clip(line.strip(), 100))}."


def remove_section(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A heading with everything below it up to the next of its level."""
    groups = match.groupdict()
    where = groups.get("where") or groups.get("where2")
    title = ask.plain(groups["section"]).strip().strip("\"“”'")
    text, at = yield from _place(desk, ask, title, ask.plain(where) if where else None)
    if at is None:
        raise CannotDo(f"{link(text.path)} has no heading “{clip(title, 60)}”. Nothing deleted.")
    level = len(text.lines[at]) - len(text.lines[at].lstrip("#"))
    end = next(
        (
            n
            for n in range(at + 1, len(text.lines))
            if (m := re.match(r"(#{1,6}) ", text.lines[n])) and len(m.group(1)) <= level
        ),
        len(text.lines),
    )
    new = [*text.lines[:at], *text.lines[end:]]
    while new and end >= len(text.lines) and not new[-1].strip():
        new.pop()
    if not new:
        raise CannotDo(f"That would delete all of {link(text.path)}; nothing deleted.")
    yield from put_lines(desk, text, new)
    return f"Deleted the section “{text.lines[at].lstrip('# ')}” from {link(text.path)}, {count(end - at, 'line')}."


def change_title(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The first heading of a Markdown file, or the title of a page."""
    where = match.groupdict().get("where")
    path = ask.plain(where) if where else desk.it() or "README.md"
    text = yield from moves.reach(desk, path)
    at = next((n for n, line in enumerate(text.lines) if re.match(r"# |.*<title>", line)), None)
    if at is None:
        raise CannotDo(f"{link(text.path)} has no title line. Nothing changed.")
    value, old = ask.plain(match.group("value")).strip().strip("\"“”'"), text.lines[at]
    line = (
        re.sub(r"<title>.*?</title>", lambda _: f"<title>{value}</title>", old)
        if "<title>" in old
        else f"# {value}"
    )
    yield from put_lines(desk, text, [*text.lines[:at], line, *text.lines[at + 1 :]])
    return f"The title in {link(text.path, at + 1)} was {code(clip(old))} and is now {code(clip(line))}."


def tasks(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Boxes of task lists that are open, or ticked, and the marks in code."""
    done = ask.has(r"\b(?:done|finished|completed|ticked|closed)\b") and not ask.has(
        r"\b(?:not|isn't|aren't|un\w+)\b"
    )
    boxes = yield from moves.search(
        desk, r"^\s*[-*+] \[[xX]\]" if done else r"^\s*[-*+] \[ \]", "Looking at the boxes of task lists."
    )
    marks = [] if done else (yield from moves.search(desk, r"\b(TODO|FIXME)\b", "And for TODO marks."))
    files = (
        []
        if done or boxes
        else [
            p
            for p in (yield from moves.every_path(desk, "Is there a todo file?"))
            if re.search(r"(?:^|/)(?:todos?|tasks?)\.(?:txt|md)$", p, re.I)
        ]
    )
    parts = []
    if boxes:
        parts.append(
            f"{count(len(boxes), ('ticked' if done else 'open') + ' box', ('ticked' if done else 'open') + ' boxes')}:\n\n"
            + bullets(f"{link(h.path, h.line)} {h.text[6:]}" for h in boxes[:30])
        )
    for path in files[:1]:
        text = yield from moves.read(desk, path, f"Reading {code(path)}.", check=False)
        if text is not None and text.text.strip():
            parts.append(
                f"{link(path)}:\n\n"
                + bullets(re.sub(r"^[-*+] ", "", line) for line in text.lines if line.strip())
            )
    if marks:
        parts.append(
            f"{count(len(marks), 'mark')} in the files:\n\n"
            + bullets(f"{link(h.path, h.line)} {code(clip(h.text, 90))}" for h in marks[:20])
        )
    return (
        "\n\n".join(parts)
        or f"No {'ticked' if done else 'open'} box `- [{'x' if done else ' '}]`{'' if done else ' and no TODO mark'} in the files."
    )


_KINDS = r"(?:todo(?: item)?|to-do(?: item)?|task|item|bullet(?: point)?|point|idea|note|entry|checkbox|list item|reminder)"
_LISTS = r"(?:ideas?|notes?|todos?|to-dos?|tasks?|lists?|sections?|backlog|agenda|decisions|heading|journal|log|plans?|shopping|part)"
_SECTION = rf"(?:the |my |our )?(?P<section>(?:(?!‹)[\w'-]+ ){{0,4}}?(?:{_LISTS}|{Q} ?(?:section|list|heading|notes?)))"
_TO = r"(?:to|in|into|under|on|onto)"
_AT_FILE = rf"(?: (?:in|of|from) (?:the )?(?:file )?(?P<where>{P}))?"
RULES: list[Rule] = [
    rule(rf"(?:add|append|insert|put)\b (?:an? |another |one more )?(?:new )?(?:{_KINDS}|step|ingredient|line|decision|question|topic) (?:to|under|in|into) (?:the )?(?P<section>[^‹:]+?)(?: (?:in|of) (?:the )?(?P<where>{P}))? ?(?::|saying|that says) ?(?P<item>{Q}|[^‹]+)$", add_item),
    rule(r"(?:what(?:'s| is| are)?|which|list|show(?: me)?|any|are there(?: any)?|give me)\b.*\b(?:open|left|remaining|outstanding|still|unfinished|undone|done|finished|completed|pending)\b.*\b(?:tasks?|to ?-?do|todos?|boxes|items|to be done|done|open|finished|completed)\b.*|(?:what|which) (?:tasks?|todos?|items) (?:are|is|have been) (?:still )?(?:open|left|done|finished|completed|pending|outstanding).*|what(?:'s| is) (?:still )?(?:left|on (?:the|my) (?:todo|to-do|task) list).*", tasks, lambda ask: not ask.paths and not ask.has(r"\b(?:commit|branch|you|git|changes?|disk|space)\b")),
    rule(rf"(?:add|append|put|write|note|insert)\b {_TO} {_SECTION}{_AT_FILE}(?: file)?[:,]? (?:an? |the )?(?:new )?(?:{_KINDS} ?)?(?:saying |that says |called )?:? ?(?P<item>{Q}|[^‹:]+?)(?: as (?:an? )?(?:new )?{_KINDS})?$", add_item),
    rule(rf"(?:add|append|put|insert)\b (?:an? |another |one more |the )?(?:new )?{_KINDS}(?: {_TO} {_SECTION}{_AT_FILE})?(?: {_TO} (?P<where2>{P}))? ?(?:saying|that says|called|named|reading|:|to (?=\w))+ ?(?P<item>{Q}|[^‹]+?)$", add_item, lambda ask: ask.has(rf"\b{_TO} (?:the |my |our )?(?:[\w'-]+ ){{0,4}}?{_LISTS}\b") and not ask.has(r"‹p\d+›$|\bchangelog\b")),
    rule(rf"(?:add|append|put|insert|note|include)\b (?:an? |another |one more |the )?(?:new )?(?:{_KINDS})? ?(?:saying |that says |called |: ?)?(?P<item>{Q}|(?!(?:an? |the )?(?:line|text|heading|section|comment|docstring|key|column|row|test)\b)[^‹]+?) (?:as (?:an? )?(?:new )?{_KINDS} )?{_TO} {_SECTION}{_AT_FILE}$", add_item, lambda ask: not ask.has(r"\bchange ?log\b|\bnumbered list\b")),
    rule(rf"(?:add|append|put|insert)\b (?:an? |another |the )?(?:new )?{_KINDS}:? (?:saying |that says |called |: ?|to )?(?P<item>{Q}|[^‹]+?) {_TO} (?:the |my )?(?P<where>{P})$", add_item),
    rule(rf"(?:add|append|put|insert)\b (?P<item>{Q}) (?:as (?:an? )?(?:new )?{_KINDS} )?{_TO} (?:the )?(?P<where>{P})(?: (?:under|in) (?:the )?(?P<section2>.+?)(?: section| heading)?)? as (?:an? )?(?:new )?{_KINDS}$", add_item),
    rule(rf"(?:add|append|put|insert)\b (?P<item>{Q}|[^‹]+?) (?:under|in|to|into) (?:the )?(?:section |heading )?(?P<section2>{Q}|[\w -]+?) (?:section |heading |list )?(?:of|in) (?:the )?(?P<where>{P})$", add_item, lambda ask: ask.has(r"\b(?:section|heading|list|under)\b") and not ask.has(r"\b(?:key|line \d|column|end|top|bottom|beginning|start) ")),
    rule(rf"(?:mark|tick(?: off)?|check(?: off)?)\b (?:the )?(?:todo |item |task )?(?P<item>{Q}|[^‹]+?)(?: (?:in|on|of) (?:the )?(?P<where>{P}))? (?:as )?(?:done|completed|finished|ticked)(?: (?:in|on) (?:the |my )?(?P<where2>{P}|[\w-]+(?: list)?))?$", item_done),
    rule(rf"tick off (?P<item>{Q}|[^‹]+?)(?: (?:in|on|from) (?:the |my )?(?P<where>{P}|[\w-]+)(?: list| file)?)?$", item_done),
    rule(rf"(?:remove|delete|drop|erase|take) (?:out )?(?P<item>(?:the |my )?(?:lines?|items?|todos?|tasks?|entry|bullet(?: point)?|note|point)\b ?(?:about|on|for|with|saying|that says|called|named|:)?(?: the)? (?:{Q}|(?!\d|containing|number)[^‹]+?))(?: (?:from|in|of|out of) (?:the |my )?(?P<where>{P}|(?!all\b|every\b)[\w-]+)(?: list| file| notes?)?)?$", item_done, lambda ask: not ask.has(r"\b(?:duplicate|blank|empty|trailing|first|last|all|every|import|comment)\b|\blines? \d")),
    rule(rf"(?:remove|delete|drop|take) (?P<item>{Q}|[^‹]+?) (?:from|off|out of) (?:the |my |our )(?P<where>[\w-]+(?: (?:list|notes|ideas))?)$", item_done, lambda ask: ask.has(rf"\b(?:from|off|out of) (?:the |my |our )(?:[\w-]+ )?{_LISTS}\b") and not ask.has(r"\b(?:duplicate|blank|empty|trailing|section|column|row)\b")),
    rule(rf"(?:remove|delete|drop|cut) (?:the )?(?:whole |entire )?(?:section|chapter|heading|part) (?:called |named |about |on |titled )?(?P<section>{Q}|[^‹]+?)(?: (?:from|in|of) (?:the )?(?P<where>{P}))?$", remove_section),
    rule(rf"(?:remove|delete|drop|cut) (?:the )?(?:whole |entire )?(?P<section>{Q}|[^‹]+?) (?:section|chapter)(?: (?:from|in|of) (?:the )?(?P<where>{P}))?$", remove_section),
    rule(rf"(?:change|set|update|replace|make|edit|rename) (?:the )?(?:title|main heading|headline|first heading)(?: (?:of|in) (?:the )?(?P<where>{P}))? (?:to(?: be)?|into|as|with) (?P<value>{Q}|[^‹]+)$", change_title),
]  # fmt: skip
