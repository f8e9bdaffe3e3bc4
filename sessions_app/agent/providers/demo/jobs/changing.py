"""Jobs that change text in files: replace, rename a name, add, delete and move lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.outlines import outline
from sessions_app.agent.providers.demo.patching import edits_between
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, link

_MOST_FILES = 20


def put_lines(desk: Desk, text: FileText, new: Sequence[str], say: str = "") -> Move[None]:
    """Bring a file to the new lines with one edit call."""
    old = text.lines
    if list(new) == old:
        raise CannotDo(f"Nothing to change in {link(text.path)}.")
    if not text.text.strip():
        yield from moves.write(desk, text.path, "\n".join(new) + "\n", say or f"Writing {code(text.path)}.")
        return
    moves.need(desk, "edit", what="changing a file")
    yield from moves.edit(desk, text.path, edits_between(old, new), say or f"Changing {code(text.path)}.")


def replace_text(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    old, new = _bare(ask, match.group("old")), _bare(ask, match.groupdict().get("new") or "")
    if not old:
        raise CannotDo('Replace which text? For example: `replace "colour" with "color" in notes.md`.')
    where = match.groupdict().get("where")
    file = ask.plain(where) if where else None
    whole_word = bool(re.fullmatch(r"\w+", old)) and ask.has(
        r"\bword\b|\brename\b|\bvariable\b|\bfunction\b|\bclass\b|\bidentifier\b|\bmethod\b|\bmethod\b|\bconstant\b|\bsymbol\b"
    )
    if file is None and not ask.has(
        r"\b(?:everywhere|all files|all the files|every file|across|whole|project|folder|codebase|directory|repo\w*)\b"
    ):
        file = desk.it()
        if file is None:
            raise CannotDo(f"Replace {code(old)} where? Name the file, or say “everywhere”.")
    if file is None or file.endswith("/"):
        return (yield from _replace_everywhere(desk, old, new, whole_word, file.rstrip("/") if file else "."))
    text = yield from moves.full(desk, file)
    times, changed, lines = _replaced(text, old, new, whole_word)
    if not times and old.lower() in text.text.lower():
        raise CannotDo(
            f"{link(text.path)} has {code(old)} only in another spelling (capital letters). Nothing changed; name it exactly."
        )
    if not times:
        raise CannotDo(f"{code(old)} does not stand in {link(text.path)}. Nothing changed.")
    yield from put_lines(desk, text, changed)
    return f"Replaced {code(old)} by {code(new) if new else 'nothing'} {count(times, 'time')} in {link(text.path)}, {'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines[:12]))}."


def _replaced(text: FileText, old: str, new: str, whole_word: bool) -> tuple[int, list[str], list[int]]:
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)" if whole_word else re.escape(old))
    changed, times = pattern.subn(lambda _: new, "\n".join(text.lines))
    lines = [number for number, line in enumerate(text.lines, 1) if pattern.search(line)]
    return times, changed.split("\n"), lines or [1]


def _replace_everywhere(desk: Desk, old: str, new: str, whole_word: bool, where: str) -> Script:
    hits = yield from moves.search(
        desk, old, f"Searching for {code(old)}.", path=where, literal=True, limit=500
    )
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)" if whole_word else re.escape(old))
    paths = list(dict.fromkeys(h.path for h in hits if pattern.search(h.text)))
    if not paths:
        raise CannotDo(f"{code(old)} stands in no file. Nothing changed.")
    if len(paths) > _MOST_FILES:
        raise CannotDo(
            f"{code(old)} stands in {len(paths)} files; the demo model changes at most {_MOST_FILES} at once. Nothing changed. Name a folder or a file."
        )
    done = []
    for path in paths:
        text = yield from moves.read(desk, path, f"Reading {code(path)}.")
        if text is None or not text.whole:
            done.append(f"{link(path)}: left, too long for one read")
            continue
        times, changed, _ = _replaced(text, old, new, whole_word)
        if times:
            yield from put_lines(desk, text, changed)
            done.append(f"{link(path)}: {count(times, 'place')}")
    return f"Replaced {code(old)} by {code(new)}:\n\n{bullets(done)}"


def _bare(ask: Ask, part: str) -> str:
    part = re.sub(
        r"^(?:the |all |every |each |any )?(?:words?|text|strings?|occurrences? of|instances? of|names?|variables?|functions?|class(?:es)?|methods?|typos?|identifiers?|constants?|symbols?|all|every|terms?|phrase|value|occurrences of the word) (?:of )?(?=\S)",
        "",
        part.strip(),
        flags=re.I,
    )
    return ask.plain(part).strip()


def add_text(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A line at the end, the top, or beside a given line."""
    groups = match.groupdict()
    named = groups.get("where") or ""
    path = ask.plain(named) if named.startswith("‹") else desk.it()
    if path is None:
        raise CannotDo('Add it to which file? For example: `add the line "done" to notes.txt`.')
    given = ask.blocks[0] if ask.blocks else ask.plain(groups.get("what") or "").strip()
    if not ask.blocks:
        given = re.sub(
            r"^(?:the |a |an |another |this |these |one |new |following )*(?:lines?|text|comments?|words?|sentences?|paragraph|entry|entries|item|row|import)?(?: with| saying| that says| reading| containing| for| of)?:? ?(?=\S)",
            "",
            groups.get("what") or "",
            flags=re.I,
        )
        if re.search(r"‹q\d+›", given) and re.search(r"[^\W\d_]{3,}", re.sub(r"‹\w+›", " ", given)):
            # "A footer “…”" says what the quoted words shall become; they alone are not it.
            raise CannotDo(
                f'Not done: “{clip(ask.plain(given), 80)}” is more than a line of text. Give the whole line in quotes: `add the line "…" to {path}`.'
            )
        given = ask.plain(given).strip().replace("\\n", "\n")
    literal = (
        bool(ask.blocks)
        or ask.has(r"‹q\d+›")
        or re.match(
            r"(?:add|append|insert|put|write|prepend|include)\b (?:the |an? )?(?:new )?(?:line|text|words?|sentence|comment|note|todo|entry|item)\b",
            match.group(),
            re.I,
        )
        is not None
    )
    clock = re.fullmatch(r"(?:today'?s|the current|the|current)? ?(?:date|time|date and time)", given, re.I)
    if clock:
        outcome = yield from moves.shell(
            desk,
            "date '+%Y-%m-%d" + (" %H:%M'" if "time" in given else "'"),
            "Asking the clock.",
            what="telling the date",
        )
        given = moves.output(outcome).strip()
    elif not literal and not re.fullmatch(r"[\w./*@<>=~^-]+(?:, ?[\w./*@-]+)*", given):
        raise CannotDo(
            f'Not done: “{clip(given, 80)}” may be a text or a wish. Put the text in quotes: `add the line "…" to {path}`.'
        )
    if not given or re.fullmatch(
        r"(?:something|some|it|this|that|more|stuff|content|documentation|comments?|tests?|error handling|type hints?|logging|docstrings?)(?: \w+)?",
        given,
        re.I,
    ):
        raise CannotDo(
            f'Add which text to {code(path)}? Give it in quotes, for example: `add the line "…" to {path}`.'
        )
    if ask.has(r"\bcomment\b") and not re.match(r"\s*(?:#|//|/\*|--|<!--|;|%)", given):
        marks = {
            "py": "# ",
            "sh": "# ",
            "rb": "# ",
            "yml": "# ",
            "yaml": "# ",
            "toml": "# ",
            "html": "<!-- ",
            "md": "<!-- ",
            "css": "/* ",
            "sql": "-- ",
        }.get(ending(path), "// ")
        given = marks + given + {"<!-- ": " -->", "/* ": " */"}.get(marks, "")
    if (
        not (yield from moves.exists(desk, path, f"Is {code(path)} there?"))
        and "/" not in path
        and "." in path
        and not any(p.rsplit("/", 1)[-1].lower() == path.lower() for p in (yield from moves.every_path(desk)))
    ):
        yield from moves.write(desk, path, given + "\n", f"No {code(path)} yet. Writing it.")
        return f"{link(path)} did not exist; it now has {count(given.count(chr(10)) + 1, 'line')}."
    text = yield from moves.full(desk, path)
    added = given.split("\n")
    place = _place(ask, text.lines)
    new = [*text.lines[:place], *added, *text.lines[place:]]
    yield from put_lines(desk, text, new)
    return (
        f"Added {count(len(added), 'line')} to {link(text.path)} at line {place + 1}: {code(clip(given, 90))}"
    )


def _place(ask: Ask, lines: Sequence[str]) -> int:
    numbered = re.search(r"\b(after|before|below|above|at|on|as|into|in) line (\d+)", ask.text, re.I)
    if numbered:
        return max(
            0,
            min(
                len(lines),
                int(numbered.group(2)) - (0 if numbered.group(1).lower() in {"after", "below"} else 1),
            ),
        )
    if ask.has(r"\b(?:top|beginning|start|first line|front|head)\b|\bprepend\b"):
        return 1 if lines and lines[0].startswith("#!") else 0
    return len(lines)


def add_heading(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    text = yield from moves.full(desk, desk.file_of(ask))
    given = match.groupdict().get("title") or ""
    title = ask.plain(given).strip() if given else (ask.quotes[0] if ask.quotes else "")
    if not title:
        raise CannotDo(
            f'Add which heading to {link(text.path)}? For example: `add a heading "Install" to {text.path}`.'
        )
    level = re.search(r"\b(?:level|h) ?(\d)", ask.text, re.I)
    marks = "#" * (int(level.group(1)) if level else (1 if ask.has(r"\btitle\b") else 2))
    line = title if title.startswith("#") else f"{marks} {title}"
    top = ask.has(r"\b(?:top|beginning|start)\b|\btitle\b")
    new = (
        [line, "", *text.lines]
        if top
        else [*text.lines, *([""] if text.lines and text.lines[-1].strip() else []), line, ""]
    )
    yield from put_lines(desk, text, new if top else new[:-1])
    return f"Added the heading {code(line)} to {link(text.path)}, at the {'top' if top else 'end'}. What should stand below it, the demo model does not know."


def delete_lines(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    text = yield from moves.full(desk, desk.file_of(ask))
    lines = text.lines
    numbers = re.search(
        r"\blines? (?:number )?(\d+)(?:(?: ?(?:-|–|to|until|through|and) ?)(\d+))?", ask.text, re.I
    )
    what = match.groupdict().get("what")
    if numbers:
        first, last = int(numbers.group(1)), int(numbers.group(2) or numbers.group(1))
        if not 1 <= first <= last <= len(lines):
            raise CannotDo(f"{link(text.path)} has {count(len(lines), 'line')}; nothing deleted.")
        gone = set(range(first, last + 1))
    elif ask.has(r"\bfirst line\b"):
        gone = {1}
    elif ask.has(r"\blast line\b"):
        gone = {len(lines)}
    elif ask.has(r"\b(?:blank|empty) lines\b"):
        gone = {n for n, line in enumerate(lines, 1) if not line.strip()}
    elif what:
        needle = _bare(ask, what)
        gone = {n for n, line in enumerate(lines, 1) if needle in line}
        if not gone:
            raise CannotDo(f"No line of {link(text.path)} contains {code(needle)}. Nothing deleted.")
    else:
        raise CannotDo(
            f"Delete which lines of {link(text.path)}? For example: `delete line 3 of {text.path}`."
        )
    if len(gone) >= len(lines):
        raise CannotDo(f"That would delete every line of {link(text.path)}; nothing deleted.")
    if not gone:
        raise CannotDo(f"Nothing to delete in {link(text.path)}.")
    removed = [lines[n - 1] for n in sorted(gone)]
    yield from put_lines(desk, text, [line for n, line in enumerate(lines, 1) if n not in gone])
    shown = bullets(code(clip(line, 80)) if line.strip() else "(blank)" for line in removed[:8])
    return f"Deleted {count(len(removed), 'line')} from {link(text.path)}:\n\n{shown}" + (
        f"\n- and {len(removed) - 8} more" if len(removed) > 8 else ""
    )


def change_line(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    text = yield from moves.full(desk, desk.file_of(ask, 0))
    number = int(match.group("number")) if match.group("number") else 1
    if not 1 <= number <= len(text.lines):
        raise CannotDo(
            f"{link(text.path)} has {count(len(text.lines), 'line')}; line {number} does not exist. Nothing changed."
        )
    old = text.lines[number - 1]
    given = match.groupdict().get("new")
    if given:
        line = ask.plain(given).strip()
    elif ask.has(r"\buncomment"):
        line = re.sub(r"^(\s*)(?:#|//|--) ?", r"\1", old)
    else:
        line = re.sub(
            r"^(\s*)",
            r"\1"
            + {
                "js": "// ",
                "ts": "// ",
                "c": "// ",
                "go": "// ",
                "rs": "// ",
                "java": "// ",
                "sql": "-- ",
            }.get(ending(text.path), "# "),
            old,
        )
    yield from put_lines(desk, text, [*text.lines[: number - 1], line, *text.lines[number:]])
    return f"Line {number} of {link(text.path)} was {code(clip(old, 80) or ' ')} and is now {code(clip(line, 80) or ' ')}."


def set_value(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """ "set the version to 2.0 in package.json": the one line `key: value` or `key = value`."""
    key, value = _bare(ask, match.group("key")).strip("\"'` "), ask.plain(match.group("value")).strip()
    key = re.sub(r"^(?:the|its|my) ", "", key, flags=re.I)
    text = yield from moves.full(
        desk,
        desk.file_of(ask.with_text(match.group("where") or ""), 0)
        if match.group("where")
        else desk.file_of(Ask("", ())),
    )
    pattern = re.compile(rf"^(\s*[\"']?{re.escape(key)}[\"']?\s*[:=]\s*)([\"']?)(.*?)\2(\s*[,;]?\s*)$", re.I)
    found = [(n, m) for n, line in enumerate(text.lines) if (m := pattern.match(line))]
    if not found and key.lower() in {"title", "heading"}:
        found_title = next(
            (n for n, line in enumerate(text.lines) if line.startswith("# ") or "<title>" in line), None
        )
        if found_title is not None:
            old = text.lines[found_title]
            line = (
                re.sub(r"<title>.*?</title>", f"<title>{value}</title>", old)
                if "<title>" in old
                else f"# {value}"
            )
            yield from put_lines(
                desk, text, [*text.lines[:found_title], line, *text.lines[found_title + 1 :]]
            )
            return f"The title in {link(text.path, found_title + 1)} was {code(clip(old))} and is now {code(clip(line))}."
    if len(found) != 1:
        problem = (
            f"{count(len(found), 'line')} set {code(key)}"
            if found
            else f"no line of the form {code(key + ' = …')}"
        )
        raise CannotDo(
            f'{link(text.path)} has {problem}; nothing changed. `replace "old" with "new" in {text.path}` is exact.'
        )
    number, match_line = found[0]
    line = f"{match_line.group(1)}{match_line.group(2)}{value.strip(chr(34))}{match_line.group(2)}{match_line.group(4)}"
    yield from put_lines(desk, text, [*text.lines[:number], line, *text.lines[number + 1 :]])
    return f"{link(text.path, number + 1)} was {code(text.lines[number].strip())} and is now {code(line.strip())}."


def add_docstring(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    called = match.groupdict().get("name")
    path = ask.paths[0] if ask.paths else ""
    if called and not path:
        plain = ask.plain(called).removesuffix("()").rsplit(".", 1)[-1]
        hits = yield from moves.search(
            desk,
            rf"^\s*(async )?(def|class) {re.escape(plain)}\b",
            f"Where is {code(plain)} defined?",
            glob="*.py",
        )
        if len(hits) > 1:
            raise CannotDo(
                f"{code(plain)} is defined in {count(len(hits), 'place')}: {', '.join(link(h.path, h.line) for h in hits[:6])}. Name the file."
            )
        path = hits[0].path if hits else ""
    text = yield from moves.full(desk, path or desk.file_of(ask))
    if ending(text.path) != "py":
        raise CannotDo(f"Docstring stubs are possible in Python files only; {link(text.path)} is not one.")
    wanted = ask.plain(match.group("name")).removesuffix("()") if match.groupdict().get("name") else None
    items = [
        i
        for i in outline(text.path, text.text).items
        if not i.note and (wanted is None or i.name.split("(")[0].rsplit(".", 1)[-1] == wanted)
    ]
    if not items:
        raise CannotDo(
            f"{link(text.path)} has no {'undocumented function or class' if wanted is None else code(wanted) + ' without a docstring'}. Nothing changed."
        )
    new, done = list(text.lines), []
    for item in sorted(items, key=lambda i: -i.line):
        end = next(
            (n for n in range(item.line - 1, len(new)) if new[n].split("#")[0].rstrip().endswith(":")), None
        )
        if end is None:
            continue
        indent = re.match(r"\s*", new[item.line - 1])
        words = re.sub(r"_+", " ", item.name.split("(")[0].rsplit(".", 1)[-1]).strip()
        new.insert(end + 1, f'{indent.group() if indent else ""}    """{words[:1].upper()}{words[1:]}."""')
        done.append(item.name.split("(")[0])
    yield from put_lines(desk, text, new)
    return f"Added {count(len(done), 'docstring stub')} to {link(text.path)}: {', '.join(code(n) for n in reversed(done))}. Each only repeats the name in words; what the code does, the demo model does not know."


def transform_lines(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    what = match.group().lower()
    if re.match(r"\S+ (?:them|those|these)|.*\bthe duplicate", what) and not ask.paths:
        if "more than once" not in desk.last_answer() and not desk.written:
            raise CannotDo("Remove what? Name the lines or the file.")
        what = "remove duplicate lines"
    text = yield from moves.full(desk, desk.file_of(ask))
    lines = text.lines
    new, did = list(lines), list[str]()
    # Several wishes of one sentence are done one after the other: "sort them and remove the duplicates".
    if "trailing" in what:
        new = [line.rstrip() for line in new]
        did.append("removed trailing whitespace")
    if re.search(r"duplicate|unique|doubled|repeated", what):
        new = list(dict.fromkeys(new))
        did.append("removed doubled lines")
    if re.search(r"upper|lower|capital", what):
        new = [line.upper() if "lower" not in what else line.lower() for line in new]
        did.append("changed the case")
    if re.search(r"\bsort|\border\b|alphabet", what):
        new.sort(key=str.lower, reverse="revers" in what or "descend" in what)
        did.append("sorted the lines")
    elif "revers" in what:
        new.reverse()
        did.append("reversed the lines")
    if "tab" in what and "table" not in what:
        new = [line.replace("\t", "    ") for line in new]
        did.append("replaced tabs by four spaces")
    if "number" in what:
        width = len(str(len(new)))
        new = [f"{n:{width}}. {line}" for n, line in enumerate(new, 1)]
        did.append("numbered the lines")
    if not did:
        raise CannotDo(
            f"Not done: what should happen to the lines of {link(text.path)}? Sort, reverse, number, or remove doubled lines."
        )
    if new == lines:
        return f"{link(text.path)} is so already; nothing changed."
    yield from put_lines(desk, text, new)
    touched = sum(a != b for a, b in zip(lines, new, strict=False)) + abs(len(lines) - len(new))
    return f"{link(text.path)}: {' and '.join(did)}; {count(touched, 'line differs', 'lines differ')}."


_SLOT = rf"(?:{Q}|{P}|‹c\d+›|.+?)"
_EVERY = r"(?:everywhere|(?:in|across|throughout|inside) (?:all |all the |every |the |this |my |whole |entire |our )*(?:files?|project|folder|codebase|code|repo\w*|directory|python files?|source))"
_IN = rf"(?:in|inside|within|of|from|at) (?:the )?(?:file )?(?P<where>{P})"

#: Tried before the jobs that make files.
EARLY_RULES: list[Rule] = [
    rule(rf"(?:change|replace|update|set|move|switch|correct)\b (?:the )?[^‹]*? from (?P<old>{_SLOT}) to (?P<new>{_SLOT}) (?:{_IN}|{_EVERY})$", replace_text),
    rule(rf"(?:remove|delete|strip|erase|take out)\b (?:the |all |every |any )*(?:words?|text|phrases?|strings?|occurrences of|instances of|mentions of) (?P<old>{_SLOT}) (?:from|in|out of) (?:the )?(?:file )?(?P<where>{P})$", replace_text),
    rule(r"(?:add|write|insert|generate|put)\b (?:me )?(?:a |an |the |missing |some |simple )*doc ?strings?(?: stubs?)?(?: (?:to|for|in) )(?:the )?(?:all |every |each )?(?:(?:functions?|methods?|class(?:es)?) ?)?(?:(?P<name>(?!‹p|in\b|it\b|of\b)[\w.]+(?:\(\))?)(?: (?:function|method|class))?(?: (?:in|of|from) |$))?(?:in |of )?.*", add_docstring),
    rule(r"(?:remove|delete|drop|get rid of|clean up) (?:them|those|these|the (?:duplicates?|doubles?|duplicated? (?:lines|entries|ones)))(?: lines| entries)?$", transform_lines),
    rule(rf"(?!(?:make|create) (?:me )?an? (?!copy\b))(?=.*(?:lines|sort|upper|lower|revers|trailing|duplicate|tabs|order|alphabet|numbered))(?:number|sort|order|alphabeti[sz]e|reverse|upper.?case|lower.?case|deduplicate|remove (?:the |all |any )?(?:trailing (?:white ?space|spaces?)|duplicate(?:d)? lines|tabs)|strip (?:trailing )?(?:white ?space|spaces)?|trim|convert|make|turn|clean up trailing|get rid of trailing|replace (?:all |the |every )*tabs)\b(?!.*\b(?:json|table|import|column|by size|by date|functions?|by (?!name|alphabet|length|line)\w+)\b).*(?:{P}|\bit\b|that file|this file).*", transform_lines),
]  # fmt: skip

RULES: list[Rule] = [
    rule(rf"(?:replace|substitute|swap|change|find and replace|search and replace|correct|fix|turn|switch)\b (?!.*\bline \d)(?P<old>{_SLOT}) (?:with|by|to|for|into|->|→|=>) (?P<new>{_SLOT})(?: (?:{_IN}|{_EVERY}))$", replace_text),
    rule(rf"in (?:the )?(?:file )?(?P<where>{P}),? ?(?:please )?(?:replace|substitute|swap|change|rename|correct)\b (?P<old>{_SLOT}) (?:with|by|to|for|into) (?P<new>.+)$", replace_text),
    rule(rf"rename (?!.*\b(?:file|folder|directory)\b)(?:the |all )?(?P<old>(?:function|variable|class|method|identifier|constant|symbol|parameter|argument|name) {_SLOT}) (?:to|into|as|->) (?P<new>{_SLOT})(?: (?:{_IN}|{_EVERY}))?$", replace_text),
    rule(rf"rename (?P<old>{_SLOT}) (?:to|into|as|->) (?P<new>{_SLOT}) (?:{_IN}|{_EVERY})$", replace_text),
    rule(rf"(?:replace|substitute|find and replace|swap)\b (?P<old>{_SLOT}) (?:with|by|for) (?P<new>.+)$", replace_text),
    rule(rf"(?:fix|correct) (?:the )?typo (?P<old>{_SLOT}) (?:to|->|→|\(should be|which should be|, should be|into|with) (?P<new>{_SLOT})\)?(?: (?:{_IN}|{_EVERY}))?$", replace_text),
    rule(rf"(?:change|set|replace|make|edit|update|rewrite|comment out|uncomment)\b (?:the )?line (?:number )?(?P<number>\d+)(?: (?:of|in) (?:the )?(?:file )?{P})?(?: (?:to|with|by|into|so it says|say) (?P<new>.+?))?(?: (?:in|of) {P})?$", change_line),
    rule(rf"(?:change|set|replace|edit|update|rewrite)\b (?:the )?(?P<number>)first line (?:of|in) (?:the )?{P} (?:to|with|by) (?P<new>.+)$", change_line),
    rule(rf"(?:delete|remove|drop|erase|strip|cut|get rid of)\b (?:the |all |every |any )*(?:lines? (?:number )?\d.*|(?:first|last|blank|empty) lines?|lines? (?:that |which )?(?:with|containing|contain|contains|matching|mentioning|say|says|saying|include|including)s? (?:the )?(?:word |text )?(?P<what>{_SLOT}))(?: (?:from|in|of) .*{P}|\s*$|.*\bit\b)", delete_lines),
    rule(rf"(?:add|insert|append|put|create|write)\b (?:an? |the |new |another |empty )*(?:level.\d |h\d |markdown )?(?:heading|section|header|chapter|title|headline|subheading)s?\b ?(?:of |with |called |named |titled |saying |for |about |: ?)*(?:the )?(?:title )?(?P<title>{Q}|[^‹]+?)?(?: (?:to|in|into|at|on)\b.*)?$", add_heading),
    rule(rf"(?:set|change|update|bump|edit|modify)\b (?:the )?(?P<key>[\w .-]{{1,40}}?|{Q})(?: in (?P<where>{P}))? (?:to|=|as) (?P<value>{Q}|\S+)$", set_value),
    rule(rf"(?:set|change|update|bump|edit|modify)\b (?:the )?(?P<key>[\w .-]{{1,40}}?|{Q}) (?:to|=|as) (?P<value>{Q}|.+?) in (?:the )?(?P<where>{P})$", set_value),
    rule(rf"(?:add|append|insert|put|write|prepend|include|attach|stick)\b (?P<what>.+?)(?:,)? (?:to|at|into|in|on|after line \d+ (?:of|in)|before line \d+ (?:of|in)|as the (?:first|last) line (?:of|in|to)) (?:the )?(?:very )?(?:(?:end|bottom|top|beginning|start|front|head|first line|last line|line \d+) (?:of|in) )?(?:the |my |our |file )*(?P<where>{P}|it\b|that file|this file)(?: (?:at|after|before|on|as) .*)?$", add_text),
    rule(rf"(?:add|insert|put|write)\b (?:an? |the |some |one )*(?:new )?(?:comment|line|text|sentence|note|remark)s? (?:to|at|in|into|on) (?:the )?(?:(?:very )?(?:end|bottom|top|beginning|start|first line|last line) (?:of|in) )?(?:the |file )*(?P<where>{P}),? ?(?:saying|that says|reading|with|containing|:)+ ?(?:the text )?(?P<what>{Q}|.+)$", add_text),
    rule(rf"(?:append|prepend|add)\b (?:to )?(?:the )?(?:file )?(?P<where>{P}):? (?:the )?(?:line |text )?(?:with )?(?P<what>{Q}|‹c\d+›)$", add_text),
    rule(rf"in (?P<where>{P}),? (?:add|append|insert|put|prepend) (?P<what>.+)$", add_text),
    rule(rf"(?:add|append|insert|put|prepend|write)\b (?P<what>(?:an? |the |another )?(?:new )?(?:line|text|sentence|comment|note)?(?: saying| that says| with)? ?(?:{Q}|‹c\d+›)) (?:at|to|on) (?:the |its )?(?:very )?(?:end|bottom|top|beginning|start|first line|last line)(?: of (?:it|that|the file|that file))?$", add_text),
]  # fmt: skip
