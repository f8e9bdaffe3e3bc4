"""Jobs that show what is there: folders, trees, files and parts of them, explained by what can be read off them."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.answering import look_up
from sessions_app.agent.providers.demo.outlines import Item, Outline, outline
from sessions_app.agent.providers.demo.phrases import FILE, NAME, Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.sheets.sheet import Sheet, parsed
from sessions_app.agent.providers.demo.words import word_set
from sessions_app.agent.providers.demo.writing import (
    bullets,
    clip,
    code,
    count,
    ending,
    fence,
    fence_language,
    head,
    language,
    link,
    table,
)

_HERE = word_set("""
    this the current my our whole root working project here entire same that workspace repo repository parent codebase
    code app structure tree layout hierarchy listing python java folder directory files file details total dir it list
    order about for is are does do has have here there
""") | {""}
_SHOWN_LINES = 60


def folder_of(ask: Ask) -> str:
    """The folder an ask names ("in src", "the docs folder"); "." for this one."""
    for path in ask.paths:
        if path.endswith("/") or "." not in path.rsplit("/", 1)[-1][1:]:
            return path.rstrip("/") or "/"
    named = re.search(r"\b([\w.-]+)/? (?:folder|directory|dir|subfolder|subdirectory)\b", ask.text, re.I)
    called = re.search(rf"\b(?:folder|directory|dir) (?:called |named )?({NAME})$", ask.text, re.I)
    inside = re.search(rf"\b(?:in|inside|under|within|of|from|below) (?:the )?({Q}|[\w-]+)$", ask.text, re.I)
    for match in (named, called, inside):
        if match and match.group(1).lower() not in _HERE:
            return ask.plain(match.group(1))
    return "."


def list_folder(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = folder_of(ask)
    names = yield from moves.listing(
        desk, path, f"Listing {'the folder' if path == '.' else code(path)}.", check=False
    )
    if names is None:
        path = (yield from moves.locate(desk, path, known_missing=True)).rstrip("/")
        names = (yield from moves.listing(desk, path, f"Listing {code(path)}.")) or []
    where = "This folder" if path == "." else link(path + "/")
    if ask.has(r"\bhidden\b|\bdot ?files\b"):
        names = [name for name in names if name.startswith(".")]
        where += ", hidden names only,"
    prefix = "" if path == "." else path + "/"
    folders = [name for name in names if name.endswith("/")]
    files = [name for name in names if not name.endswith("/")]
    if ask.has(r"\b(?:sub)?(?:folders|directories|dirs)\b") and not ask.has(r"\bfiles\b"):
        files = []
    shown = [*folders, *files]
    if not shown:
        return f"{where} is empty." if not names else f"{where} has nothing of that kind."
    rest = len(shown) - 60
    more = f"\n\n{rest} more are in the result above." if rest > 0 else ""
    return f"{where} has {count(len(folders), 'folder')} and {count(len(files), 'file')}:\n\n{bullets(link(prefix + name) for name in shown[:60])}{more}"


def show_tree(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = folder_of(ask)
    depth = re.search(r"(\d) ?(?:levels?|deep)|(?:depth|level) (?:of )?(\d)", ask.text)
    levels = int(depth.group(1) or depth.group(2)) if depth else 3
    every = yield from moves.every_path(desk, "Walking through the folders.", path=path)
    prefix = "" if path == "." else path.rstrip("/") + "/"
    nodes: dict[str, bool] = {}
    for name in every:
        parts = name.removeprefix(prefix).rstrip("/").split("/")
        for end in range(1, min(len(parts), levels) + 1):
            node = "/".join(parts[:end])
            nodes[node] = nodes.get(node, False) or end < len(parts) or name.endswith("/")
    if not nodes:
        return f"{code(path)} has no files."
    lines = [
        ("  " * node.count("/")) + node.rsplit("/", 1)[-1] + ("/" if nodes[node] else "")
        for node in sorted(nodes)
    ]
    shown, more = head("\n".join(lines), 80)
    tail = f"\n\n{more} more lines are not shown." if more else ""
    return f"{count(len(every), 'path')} below {'this folder' if path == '.' else code(path)}, {levels} levels of it:\n\n{fence(shown)}{tail}"


def show_file(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    wanted = list(dict.fromkeys(ask.paths or [desk.file_of(ask)]))[:4]
    answers = []
    for path in wanted:
        if path.endswith("/"):
            answers.append((yield from list_folder(desk, Ask("‹p0›", (path,)), match)))
        else:
            answers.append((yield from _show_one(desk, ask, path)))
    return "\n\n".join(answers)


def _show_one(desk: Desk, ask: Ask, path: str) -> Script:
    offset, limit, tail = lines_wanted(ask)
    if tail:
        return (yield from _show_end(desk, path, tail))
    found = yield from moves.reach(desk, path, offset=offset, limit=limit)
    if found.image:
        return image_answer(found.path)
    if not found.text.strip() and not offset:
        return f"{link(found.path)} is empty."
    shown, more = head(found.text, limit or _SHOWN_LINES)
    first = offset or 1
    what = (
        f"Lines {first}–{first + max(1, limit or 0, len(shown.splitlines())) - 1 if found.text.count(chr(10)) or not limit else first + len(shown.splitlines()) - 1} of {link(found.path)}"
        if offset or limit
        else link(found.path)
    )
    if more and not limit:
        what += f", the first {_SHOWN_LINES} lines"
    tail_text = (
        f"\n\n{count(more, 'more line')} {'is' if more == 1 else 'are'} in the result above."
        if more and not limit
        else ""
    )
    return f"{what}:\n\n{fence(shown, fence_language(found.path))}{tail_text}"


def image_answer(path: str) -> str:
    return f"{link(path)} is an image. The demo model cannot see images; another model can (Settings, *Add a key*)."


def lines_wanted(ask: Ask) -> tuple[int | None, int | None, int]:
    """(offset, limit, number of last lines) from "lines 5 to 20", "first 10 lines", "line 7", "last 3 lines"."""
    text = re.sub(
        r"\b(one|two|three|four|five|ten|twenty)\b",
        lambda m: str(
            {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}[m.group(1)]
        ),
        ask.text,
    )
    between = re.search(r"lines? (\d+) ?(?:-|–|to|until|through|bis|and|\.\.) ?(\d+)", text)
    if between:
        first, last = int(between.group(1)), int(between.group(2))
        return max(1, first), max(1, last - first + 1), 0
    first_ones = re.search(
        r"\b(?:first|top|head|beginning) ?(\d+)? ?lines?\b|\bhead of\b|\b(?:start|beginning|top) of\b|^head\b(?: -n)? ?(\d+)?",
        text,
        re.I,
    )
    if first_ones:
        return (
            None,
            int(
                first_ones.group(1)
                or first_ones.group(2)
                or ("1" if re.search(r"first line\b", text) else "10")
            ),
            0,
        )
    last_ones = re.search(
        r"\b(?:last|bottom|final) ?(\d+)? ?lines?\b|\b(?:end|bottom|tail) of\b|^tail\b(?: -n)? ?(\d+)?",
        text,
        re.I,
    )
    if last_ones:
        return (
            None,
            None,
            int(
                last_ones.group(1) or last_ones.group(2) or ("1" if re.search(r"last line\b", text) else "10")
            ),
        )
    one = re.search(r"\bline (?:number )?(\d+)", text)
    return (int(one.group(1)), 1, 0) if one else (None, None, 0)


def _show_end(desk: Desk, path: str, lines: int) -> Script:
    if "bash" in desk.tools and ("." in path or "/" in path):
        outcome = yield from moves.shell(
            desk, f"tail -n {lines} {moves.quoted(path)}", f"Reading the end of {code(path)}.", check=False
        )
        if not outcome.is_error:
            return f"The last {count(lines, 'line')} of {link(path)}:\n\n{fence(moves.output(outcome), fence_language(path))}"
    found = yield from moves.reach(desk, path)
    if not found.whole:
        raise CannotDo(f"{link(found.path)} is longer than one read shows; its end needs the tool `bash`.")
    return f"The last {count(lines, 'line')} of {link(found.path)}:\n\n{fence(chr(10).join(found.lines[-lines:]), fence_language(found.path))}"


def explain(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    path = desk.file_of(ask)
    if path.endswith("/"):
        return (yield from list_folder(desk, Ask("‹p0›", (path,)), match))
    found = yield from moves.reach(desk, path)
    if found.image:
        return image_answer(found.path)
    told = explained(found.path, found.text, whole=found.whole)
    sheet = parsed(found.path, found.text) if ending(found.path) in {"csv", "tsv"} else None
    if sheet is None:
        return told
    names = "|".join(rf"\b{re.escape(c)}\b" for c in sheet.names if len(c) > 2)
    hits = yield from moves.search(desk, names, "Does another file say what its columns mean?", limit=100)
    notes = [h for h in hits if ending(h.path) in {"md", "txt", "rst"} and re.search(r"[:|=–-]", h.text)]
    if not notes:
        return told
    return f"{told}\n\nWhat other files say about its columns:\n\n" + bullets(
        f"{link(h.path, h.line)} {code(clip(h.text, 140))}" for h in notes[:12]
    )


def explain_module(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The same for a file named without its ending."""
    return (yield from explain(desk, Ask("‹p0›", (ask.plain(match.group("module")),)), match))


def explained(path: str, text: str, *, whole: bool = True) -> str:
    """A file described by what stands in it."""
    seen = outline(path, text)
    lines = text.count("\n") + (not text.endswith("\n"))
    kind = language(path)
    parts = [
        f"{link(path)} is {kind + ', ' if kind else ''}{count(lines, 'line')}{'' if whole else ' (only the part one read shows)'}."
    ]
    if seen.about:
        parts.append(f"It says of itself: “{clip(seen.about, 320)}”")
    if seen.problem:
        parts.append(f"It is {seen.problem}.")
    if seen.imports:
        parts.append(
            "**Uses:** "
            + ", ".join(code(name) for name in seen.imports[:12])
            + (" …" if len(seen.imports) > 12 else "")
        )
    if seen.items:
        parts.append("**What it defines, in its own words:**\n\n" + _told_items(path, text, seen.items))
    if seen.headings:
        parts.append(
            "**Headings:**\n\n"
            + "\n".join(f"{'  ' * (level - 1)}- {title}" for level, title, _ in seen.headings[:20])
        )
    if seen.telling:
        parts.append(
            "**Telling lines:**\n\n"
            + bullets(f"{link(path, number)} {code(line)}" for number, line in seen.telling)
        )
    steps = [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if _STEP.match(line)]
    if not seen.items and len(steps) > 1 and kind not in {"Markdown", "text", "HTML", "CSS", "JSON", "CSV"}:
        parts.append(
            "**What it does, line by line:**\n\n"
            + bullets(f"{link(path, n)} {code(clip(s, 110))}" for n, s in steps[:14])
        )
    if ending(path) in {"csv", "tsv"} and (sheet := parsed(path, text)) is not None:
        parts.append(_columns(sheet))
    if len(parts) <= 2 and not seen.items and not seen.headings and ending(path) not in {"csv", "tsv"}:
        shown, _ = head(text, 12)
        if shown.strip():
            parts.append("It begins:\n\n" + fence(shown, fence_language(path)))
    parts.append("This is read off the file, not understood.")
    return "\n\n".join(parts)


#: A line of a script in which something happens.
_STEP = re.compile(
    r"\s*(?:for|while|if|elif|else if|console\.\w+\(|print\(|echo|process\.exit|sys\.exit|exit|with open|fs\.write|raise|throw|return|cp|mv|rm|tar|rsync|mkdir|curl|npm|python3?|node)\b"
)


def _columns(sheet: Sheet) -> str:
    """The columns of a table, each with what stands in it."""
    rows = []
    for column in sheet.columns:
        said = [c for c in column.cells if c.strip()]
        numbers = [n for r in range(sheet.size) if (n := column.number(r)) is not None]
        days = [d for r in range(sheet.size) if (d := column.day(r)) is not None]
        if column.kind == "number" and numbers:
            holds = f"numbers from {min(numbers)} to {max(numbers)}"
        elif column.kind == "date" and days:
            holds = f"days from {min(days)} to {max(days)}"
        else:
            holds = f"{len(set(said))} different: " + ", ".join(
                clip(c, 24) for c in list(dict.fromkeys(said))[:4]
            )
        rows.append((code(column.name), holds, str(sheet.size - len(said)) if len(said) < sheet.size else ""))
    return f"**{count(sheet.size, 'row')}, its columns:**\n\n" + table(("column", "holds", "empty"), rows)


def _told_items(path: str, text: str, items: tuple[Item, ...]) -> str:
    """Each definition with its description or comment, what it gives back and what it refuses."""
    lines = text.split("\n")
    told = []
    for place, item in enumerate(items[:16]):
        end = items[place + 1].line - 1 if place + 1 < len(items) else len(lines)
        body = lines[item.line : item.line - 1 + item.length if item.length else end]
        about = item.note or comment_above(lines, item.line)
        marks = [m.group(1).strip() for line in body if (m := re.search(r"(?:#|//)\s*(.+)$", line))]
        raises = [m.group(1) for line in body if (m := re.search(r"\b(?:raise|throw)\b\s*(.+?);?$", line))]
        gives = [m.group(1) for line in body if (m := re.match(r"\s*return\b\s+(.+?);?$", line))]
        facts = []
        if marks and item.kind != "class":
            facts.append("comment: " + "; ".join(f"“{clip(m, 80)}”" for m in marks[:2]))
        if raises and item.kind != "class":
            facts.append("stops with " + ", ".join(code(clip(r, 70)) for r in raises[:2]))
        if gives and item.kind != "class":
            facts.append("gives back " + " or ".join(code(clip(g, 70)) for g in dict.fromkeys(gives[:3])))
        tail = f" ({'; '.join(facts)})" if facts else ""
        told.append(f"{code(item.name)}, {link(path, item.line)}: {about or 'no description'}{tail}")
    more = f"\n\n{len(items) - 16} more are not shown." if len(items) > 16 else ""
    return bullets(told) + more


def comment_above(lines: list[str], line: int) -> str:
    """The comment that stands right above a definition."""
    found: list[str] = []
    for text in reversed(lines[: line - 1]):
        if not re.match(r"\s*(?://|#(?!!)|/?\*)", text):
            break
        found.append(re.sub(r"^\s*(?://+|#+|/?\*+/?)\s?|\*/\s*$", "", text).strip())
    return clip(" ".join(w for w in reversed(found) if w and not w.startswith("@")), 200)


def item_table(path: str, items: tuple[Item, ...] | list[Item], most: int = 40) -> str:
    rows = [(code(item.name), item.kind, link(path, item.line), item.note or "") for item in items[:most]]
    more = f"\n\n{len(items) - most} more are not shown." if len(items) > most else ""
    return table(("name", "kind", "line", "its own words"), rows) + more


def list_definitions(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    word = next(
        (
            w
            for w in ("class", "import", "method", "heading", "section", "test", "function")
            if w in ask.text.lower()
        ),
        "function",
    )
    found = yield from moves.reach(desk, desk.file_of(ask))
    seen: Outline = outline(found.path, found.text)
    if word == "import":
        return (
            f"{link(found.path)} imports {count(len(seen.imports), 'module')}:\n\n{bullets(code(name) for name in seen.imports)}"
            if seen.imports
            else f"{link(found.path)} imports nothing that the demo model recognises."
        )
    if word in {"heading", "section"}:
        listed = "\n".join(
            f"{'  ' * (level - 1)}- {title} ({link(found.path, line)})"
            for level, title, line in seen.headings
        )
        return (
            f"{link(found.path)} has {count(len(seen.headings), 'heading')}:\n\n{listed}"
            if seen.headings
            else f"{link(found.path)} has no headings."
        )
    kinds = {"class": {"class", "type", "interface"}, "test": {"function", "method"}}.get(
        word, {"function", "method"}
    )
    items = [
        item for item in seen.items if item.kind in kinds and (word != "test" or "test" in item.name.lower())
    ]
    name = {"class": "class"}.get(word, word)
    if not items:
        return f"{link(found.path)} has no {name} that the demo model recognises{' (' + seen.problem + ')' if seen.problem else ''}."
    if ask.has(r"\blongest|\bbiggest|\blargest"):
        items = sorted(items, key=lambda item: -item.length)[:5]
        return f"The longest in {link(found.path)}:\n\n" + table(
            (name, "lines", "where"),
            [(code(i.name), str(i.length or "?"), link(found.path, i.line)) for i in items],
        )
    return f"{link(found.path)} has {count(len(items), name, 'classes' if name == 'class' else None)}:\n\n{item_table(found.path, items)}"


def show_definition(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The code of one function or class, found by its name."""
    name = ask.plain(match.group("name")).removesuffix("()").rsplit(".", 1)[-1]
    if ask.paths:
        text = yield from moves.reach(desk, ask.paths[0])
    else:
        pattern = rf"^\s*(export\s+|pub\s+|public\s+)?(default\s+|async\s+|abstract\s+)?(def|class|function|func|fn|struct|interface|type|const|let)\s+(\([^)]*\)\s*)?{re.escape(name)}\b"
        hits = yield from moves.search(desk, pattern, f"Looking for the definition of {code(name)}.")
        if not hits:
            raise CannotDo(
                f"No definition of {code(name)} was found. “where is {name} used?” searches all lines."
            )
        text = yield from moves.reach(desk, hits[0].path)
    item = next(
        (i for i in outline(text.path, text.text).items if i.name.split("(")[0].rsplit(".", 1)[-1] == name),
        None,
    )
    if item is None:
        raise CannotDo(f"{link(text.path)} has no definition of {code(name)} that the demo model recognises.")
    length = item.length or 25
    body = "\n".join(text.lines[item.line - 1 : item.line - 1 + min(length, 60)])
    says = f" It says of itself: “{item.note}”" if item.note else " It has no description of its own."
    more = f"\n\n{count(length - 60, 'more line')} in the file." if length > 60 else ""
    return f"{code(item.name)} is a {item.kind} in {link(text.path, item.line)}.{says}\n\n{fence(body, fence_language(text.path))}{more}\n\nThat is the code itself; what it means, the demo model does not know."


def explain_named(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A bare name: the file called so, else the definition, else the lines that mention it."""
    name = ask.plain(match.group("named")).removesuffix("()")
    every = yield from moves.every_path(desk, f"What is called {code(name)}?")
    stems = [p for p in every if p.rstrip("/").rsplit("/", 1)[-1].rsplit(".", 1)[0].lower() == name.lower()]
    files = [p for p in stems if not p.endswith("/")]
    if len(files) > 1:
        source = [p for p in files if ending(p) in {"py", "js", "ts", "go", "rs"}]
        files = source if len(source) == 1 else files
    if len(files) > 1:
        raise CannotDo(f"Which {code(name)}? There are: {', '.join(link(p) for p in files[:8])}.")
    if files:
        shows = re.match(r"(?:show|open|read|print|cat|display|view)\b", match.group(), re.I)
        return (yield from (show_file if shows else explain)(desk, Ask("‹p0›", (files[0],)), match))
    if stems:
        return (yield from list_folder(desk, Ask("‹p0›", (stems[0],)), match))
    pattern = rf"^\s*(export\s+|pub\s+|public\s+)?(default\s+|async\s+|abstract\s+)?(def|class|function|func|fn|struct|interface|type|const|let)\s+(\([^)]*\)\s*)?{re.escape(name.rsplit('.', 1)[-1])}\b"
    hits = yield from moves.search(desk, pattern, f"No file. Is {code(name)} defined somewhere?")
    if not hits:
        return (yield from look_up(desk, ask, match))
    if len({h.path for h in hits}) > 1:
        raise CannotDo(
            f"{code(name)} is defined in several files: {', '.join(link(h.path, h.line) for h in hits[:6])}. Which one?"
        )
    named = re.fullmatch(r"(?P<name>.+)", name)
    return (yield from show_definition(desk, Ask(name, ()), named)) if named else ""


_THE = r"(?:the |all |all the |every |any |my |me |us |a list of |just |only )*"
_LOOK = (
    r"(?:show|print|display|cat|view|open|read|see|look at|look into|look inside|check out|get|fetch|dump|type|output|give|pull up|let me see|let's see|have a look at|take a look at"
    r"|what'?s in|what is in|what'?s inside|what is inside|what does|tell|bring up|head|tail|less|more)"
)
_CONTENTS = r"(?:(?:the )?(?:full |whole |entire |raw |complete )?(?:contents?|text|source|source code|code|body|first lines?|(?:first|last|top|bottom|initial|final)? ?\w* ?lines?|lines? \d+[^‹]*|start|beginning|end|head|tail|top|bottom|rest|inside) (?:of|in|from) )"

_THIS = r"(?:(?:in|inside|of|from|at|within) )?(?:this|the|my|our|here|current|working|project|root|same|whole|entire|folder|directory|dir|repo|repository|workspace|codebase)"
#: Tried before anything that runs or searches.
PLAIN_RULES: list[Rule] = [
    rule(rf"(?:list|ls|dir|show|name|display|print|give|see|get|browse|view|what(?:'s| is| are)?|which)\b(?: me| us)?(?: (?:the|all|all the|a list of|just|only|out|every|of the|contents of|names of))*(?: (?:contents?|files|folders|directories|subfolders|everything|names|stuff|items|things|files and (?:folders|directories)|folders and files))+(?: (?:are|is|there|exist|do (?:you|we|i) (?:see|have)|have we got|we have|you (?:can )?see))*(?: {_THIS})*$", list_folder),
    rule(rf"ls$|(?:ls|dir|list) {P}$", list_folder),
    rule(rf"(?:cat|less|more|view) {P}$", show_file),
    rule(rf"(?:what(?:'s| is| does)|show|print|read|display|give|see|get|view|tell)\b(?!.*\b(?:list|commits?)\b).*\blines? \d+.*(?:{P}|\bit\b).*|(?:what(?:'s| is| are)|show|print|read|display|give|see|get|view|tell)\b.*\b(?:first|last|top|bottom) (?:\w+ )?lines? (?:of|in|from)\b.*", show_file),
]  # fmt: skip

RULES: list[Rule] = [
    rule(rf"(?:show|explain|describe|print|read|display|view|open|see|what (?:does|is)|how does|how do|tell me (?:about|what))\b(?: me)?(?: how| what)? (?:the )?(?:code (?:of|for) )?(?:the )?(?:function|method|class) (?:called |named )?(?P<name>{Q}|[A-Za-z_][\w.]*(?:\(\))?)(?: (?:function|method|class))?(?: (?:do|does|works?|is|in {P}|of {P}|from {P}|for|about))*$", show_definition),
    rule(rf"(?:show|explain|describe|print|read|display|view|open|see|what (?:does|is)|how does|how do|tell me (?:about|what))\b(?: me)?(?: how| what)? (?:the )?(?:code (?:of|for) )?(?:the )?(?P<name>{Q}|(?!(?:longest|biggest|largest|shortest|same|last|first|this|that|each|every|all|any)\b)[A-Za-z_][\w.]*(?:\(\))?) (?:function|method|class)(?: (?:do|does|works?|is|in {P}|of {P}|from {P}|for|about))*$", show_definition),
    rule(r"(?:show|explain|describe|summari[sz]e|read|open|how does|what does|tell me about)\b(?: me)?(?: how)? (?:the )?(?P<module>[A-Za-z_][\w-]*) (?:module|file|script|component|test file)(?: (?:do|does|works?|for|about))*$", explain_module),
    rule(rf"(?:(?:how many|count)\b.*\b(?:functions?|methods?|class(?:es)?|headings?|sections|tests?)\b.*(?:{P}|\bit\b).*)", list_definitions),
    rule(rf"(?:.*\b)?(?:list|show|what|which|name|find|give|print|get|extract|are there|outline)\b.*\b(?:functions?|methods?|class(?:es)?|imports?|headings?|sections|tests?)\b.*\b(?:in|of|from|does|inside|defined in)\b.*(?:{P}|\bit\b|\bthat file|\bthis file)", list_definitions),
    rule(rf"(?:what|which) (?:is|are|'s) (?:the )?(?:longest|biggest|largest) functions? .*(?:{P}|\bit\b)", list_definitions),
    rule(rf"(?:what|which) (?:\w+ )?(?:functions?|methods?|class(?:es)?|imports?|modules|headings?|sections)\b.*(?:{P}|\bit\b)", list_definitions),
    rule(r"(?:tree\b|.*\b(?:folder|directory|file|project|dir|repo)s? ?(?:tree|structure|layout|hierarchy)|.*\btree (?:view )?(?:of|for|structure)|.*\b(?:show|print|draw|display|give)\b.* (?:the |a )?(?:tree|structure|hierarchy)\b.*|.*\brecursive(?:ly)?\b.*\b(?:list|files|folder)|list .*\brecursive|how is (?:this|the) (?:project|folder|repo\w*|code\w*) (?:structured|organi[sz]ed|laid out))", show_tree),
    rule(rf"(?!.*\b(?:say|says|said|mention|mentions|tell us|tells us|written|state|states) (?:about|on|regarding)\b)(?:explain|describe|walk me through|help me understand|summari[sz]e|give (?:me )?(?:a |an )?(?:short |brief |quick )?(?:summary|overview|explanation|outline|description) of|what (?:is|does|do|'s|are)(?! (?:in|inside)\b)(?!.*\b(?:say|contain|look like)s?$)|tell me (?:about|what)|what's|analy[sz]e|outline|how does|understand|sum up|tl;?dr)\b.*?(?:{P}|\b(?:it|this file|that file|this script|that script|the file|the script|this code|that)\b).*(?:do(?:es)?|about|for|work|mean|contains?|code|file)?$", explain, lambda ask: len(ask.text.split()) < 7 if not ask.paths else not ask.has(r"^what do(?:es)?\b.*‹p\d+› (?!do|mean|contain|say|work|about|look|file|script|module|exactly|actually|have)\w+")),
    rule(r"(?:ls|dir)$", list_folder),
    rule(rf"(?:list|ls|dir|show|name|display|print|give|enumerate|see|get|browse|check|tell|view|what(?:'s| is| are)?|which|look (?:at|into|inside|in|around)|are there|let me see)\b (?:me |us )?{_THE}(?:out )?(?:the )?(?:contents?|files?|folders?|directories|director(?:y|ies)|subfolders|subdirectories|everything|stuff|names?|hidden files|items|things|list of)\b(?! (?:called|named|contain\w*|with|that|larger|bigger|modified|changed|which|size|ending|matching|starting|count|about))(?!.*\b(?:todo|larg|bigg|small|newest|oldest|recent|modif|chang|today|yesterday|duplicat|empty|contain|size|by date|sort|import|branch|commit|stag|week|line|python|javascript|markdown|json|csv|yaml|html|css|text|txt|image|test|config|log|pdf|\*\.))(?:(?!‹p\d+›).)*(?:{P})?(?:(?!‹p).)*$", list_folder),
    rule(rf"(?:list|ls|browse|show|open|look (?:in|into|inside|at)|what'?s in|what is (?:in|inside)|see|view|go (?:in)?to|check)\b (?:me |us )?(?:what'?s in |what is in |inside )?(?:the |this |my |current |project )*(?:{P}|[\w-]+)? ?(?:folder|directory|dir|here|around|this|root)\b.*", list_folder),
    rule(r"(?:what(?:'s| is| do (?:we|you) have| have we got| do you see| can you see|ever is)?) ?(?:in )?(?:here|there|in (?:this|the|my) (?:folder|directory|project|repo\w*|place|workspace))$|where (?:am i|are we)", list_folder),
    rule(rf"(?:list|ls|dir) (?:{P}|[\w-]+/)$", list_folder),
    rule(rf"{_LOOK} (?:me |us )?(?:what'?s in |what is in |inside )?{_CONTENTS}?(?:the |my |this |that |file |our |script |document |content |contents )*(?:{P}|{Q})(?:'s)?(?: (?:file|script|contents?|text|source|code|look like|say|says|contain|have|and {P}|, {P}|to me|for me|here|from .*|lines? .*|first|again|now|\(?first \d+.*)|,? (?:and )?{P})*$", show_file),
    rule(rf"{_LOOK} (?:me |us )?{_CONTENTS}?(?:it|that|this|them|that one|this one|the file|that file|this file|the result|the script|its contents?)(?: (?:to me|here|now|again|first|out|look like|say|contain))*$", show_file),
    rule(rf"(?:lines? \d+.*|(?:the )?(?:first|last) \d* ?lines? (?:of|in|from) .*)(?:{P}|\bit\b).*", show_file),
    rule(rf"{FILE}$", show_file),
    rule(r"(?:explain|describe|show(?: me)?|open|read|print|display|view|summari[sz]e|what(?= the [\w-]+ does$)|what does|what is|what's|how does|tell me (?:about|what))(?: to me)?(?: how| what)? (?:the )?(?:code (?:of|in) )?(?P<named>(?!(?:it|this|that|everything|them|here|there|what|these|those|files?|tests?|code)\b)[A-Za-z_][\w.-]*(?:\(\))?)(?: (?:do(?:es)?|works?|for|about|is|code|module|file|script))*$", explain_named, lambda ask: not ask.has(r"^(?:what is|what's) (?:the )?[a-z]+$")),
]  # fmt: skip
