"""Summaries in a file's own words: its telling sentences, as many as asked for, of one file or of each of several."""

from __future__ import annotations

import re
from collections import Counter

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.looking import explain_module
from sessions_app.agent.providers.demo.jobs.overview import summarise_folder
from sessions_app.agent.providers.demo.keywords import STOP, stem
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.outlines import EMPTY, outline
from sessions_app.agent.providers.demo.phrases import Ask, P
from sessions_app.agent.providers.demo.places import phrases
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.sheets.sheet import is_table, parsed
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, link

_PROSE = frozenset({"md", "txt", "rst", "adoc", "html", "htm", "tex", ""})
_MOST_FILES = 12
_OWN_WORDS = "These are the file's own sentences; the demo model chooses, it cannot put them in other words."


def sentences_of(path: str, text: str) -> list[tuple[str, str]]:
    """(heading, sentence) of a text in order, without markup; list items count as sentences."""
    if ending(path) in {"html", "htm"}:
        text = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", " ", text)
        text = re.sub(
            r"(?i)<h([1-6])[^>]*>(.*?)</h\1>", lambda m: "\n\n" + "#" * int(m[1]) + f" {m[2]}\n\n", text
        )
        text = re.sub(
            r"(?i)<li[^>]*>",
            "\n- ",
            re.sub(r"(?i)</?(?:p|div|ul|ol|section|article|br|tr)\b[^>]*>", "\n\n", text),
        )
        text = re.sub(r"<[^>]+>", " ", text)
    text = re.sub(r"(?s)```.*?```", "", re.sub(r"(?s)\A---\n.*?\n---\n", "", text))
    found: list[tuple[str, str]] = []
    heading = ""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)|(?<=\n)(?=#)", text):
        title = re.match(r"\s*#{1,6}\s+(.+?)\s*#*\s*(?:\n|$)", block)
        if title:
            heading = _plain(title.group(1))
            block = block[title.end() :]
        if re.match(r"\s*\|", block):
            continue
        item = re.match(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?", block)
        body = _plain(block[item.end() :] if item else block)
        if not body:
            continue
        pieces = [body] if item else re.split(r"(?<=[.!?…])[\"”’)]*\s+(?=[\"“„(]?[A-ZÄÖÜÉÀ\d])", body)
        if (
            ending(path) in {"txt", ""}
            and not item
            and "\n" in block.strip()
            and not re.search(r"[.!?]\s*\n", block)
        ):
            pieces = [_plain(line) for line in block.split("\n") if line.strip()]
        found += [(heading, piece.strip()) for piece in pieces if len(piece.strip()) > 2]
    return found


def _plain(text: str) -> str:
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(?<!\w)[*_]{1,3}(\S(?:.*?\S)?)[*_]{1,3}(?!\w)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("`", "")).strip()


def telling(found: list[tuple[str, str]], number: int) -> list[str]:
    """The sentences with most of the words that the text repeats, the first one always, in their order; each part gets its share."""
    found = [(h, s.lstrip("> ")) for h, s in found if not EMPTY.match(s.lstrip("> "))] or found
    if len(found) <= number:
        return [sentence for _, sentence in found]
    times = Counter(
        w
        for _, s in found
        for w in {stem(x) for x in re.findall(r"[^\W\d_]{3,}", s.lower()) if x not in STOP}
    )
    scored = []
    for place, (heading, sentence) in enumerate(found):
        words = {stem(x) for x in re.findall(r"[^\W\d_]{3,}", sentence.lower()) if x not in STOP}
        score = sum(times[w] - 1 for w in words) / (3 + len(words)) + (
            0.4 if re.search(r"\d|[a-z] [A-Z]", sentence) else 0
        )
        opens = place == 0 or found[place - 1][0] != heading
        scored.append(
            (
                score
                + (2.0 if place == 0 else 0.8 if opens else 0)
                - (0.5 if re.search(r"\bTODO\b|\?$", sentence) else 0),
                place,
            )
        )
    chosen: list[int] = []
    parts: Counter[str] = Counter()
    headings = max(1, len({h for h, _ in found}))
    for _, place in sorted(scored, key=lambda s: (-s[0], s[1])):
        if len(chosen) == number:
            break
        if parts[found[place][0]] >= -(-number // headings):
            continue
        chosen.append(place)
        parts[found[place][0]] += 1
    for _, place in sorted(scored, key=lambda s: (-s[0], s[1])):
        if len(chosen) < number and place not in chosen:
            chosen.append(place)
    return [found[place][1] for place in sorted(chosen)]


def points_of(path: str, text: str, number: int) -> list[str]:
    """The main points of any file: sentences of prose, definitions of code, columns of a table."""
    if is_table(path) and (sheet := parsed(path, text)) is not None:
        facts = [f"A table of {count(sheet.size, 'row')} with the columns {', '.join(sheet.names[:12])}."]
        for column in sheet.columns:
            values = [c for c in column.cells if c]
            if column.kind == "text" and 1 < len(set(values)) <= 8 and len(values) > len(set(values)):
                most = Counter(values).most_common(4)
                facts.append(
                    f"{column.name}: " + ", ".join(f"{value} ({times})" for value, times in most) + "."
                )
            elif (
                column.kind == "number"
                and not column.is_key
                and (numbers := [n for r in range(sheet.size) if (n := column.number(r)) is not None])
            ):
                facts.append(f"{column.name} goes from {min(numbers)} to {max(numbers)}.")
            elif column.kind == "date" and (
                days := [d for r in range(sheet.size) if (d := column.day(r)) is not None]
            ):
                facts.append(f"{column.name} goes from {min(days)} to {max(days)}.")
            elif column.kind == "truth":
                facts.append(
                    f"{column.name}: yes in {sum(c.lower() in {'yes', 'true', '1', 'x', 'y', 'ja'} for c in column.cells)} of {sheet.size}."
                )
        return facts[:number]
    if ending(path) in _PROSE:
        return telling(sentences_of(path, text), number)
    seen = outline(path, text)
    facts = [seen.about] if seen.about else []
    facts += [
        f"It {'defines the class' if i.kind == 'class' else 'has the ' + i.kind} {i.name}"
        + (f": {i.note}" if i.note else ".")
        for i in seen.items
    ]
    if seen.imports:
        facts.append(f"It uses {', '.join(seen.imports[:8])}.")
    if not facts:
        facts = [line.strip() for line in text.split("\n") if line.strip()]
    return facts[:number]


def summarise_files(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A summary of the files named, or of the last one; in bullets or sentences when the request says so."""
    names = ask.paths or [desk.file_of(ask)]
    unit, number = desk.style or ("", 0)
    if len(names) == 1 and (
        names[0].endswith("/") or ("." not in names[0].rsplit("/", 1)[-1] and "/" in names[0])
    ):
        return (yield from _folder(desk, ask, names[0].rstrip("/") + "/", match))
    if len(names) > 1:
        answer = yield from _several(desk, names[:_MOST_FILES])
        return answer
    text = yield from moves.reach(desk, names[0])
    if text.image:
        raise CannotDo(f"{link(text.path)} is an image, and the demo model cannot see images.")
    if not text.text.strip():
        return f"{link(text.path)} is empty; there is nothing to summarise."
    part = "" if text.whole else " (the part one read shows)"
    desk.styled = True
    if unit == "sentences":
        points = points_of(text.path, text.text, number)
        return f"{' '.join(points)}\n\nFrom {link(text.path)}{part}. {_OWN_WORDS}"
    points = points_of(text.path, text.text, number or 5)
    title = (
        next((t for _, t, _ in outline("x.md", text.text).headings), "") if ending(text.path) == "md" else ""
    )
    lead = f"{link(text.path)}{part}" + (f", “{clip(title, 80)}”" if title else "")
    more = ""
    if not number:
        headings = [t for _, t, _ in outline(text.path, text.text).headings][1:9]
        more = f"\n\nIts parts: {', '.join(headings)}." if len(headings) > 1 else ""
    simple = " It cannot make them simpler." if ask.has(r"\b(?:beginner|simple|plain|child|easy)\b") else ""
    return f"{lead}:\n\n{bullets(clip(p, 400) for p in points)}{more}\n\n{_OWN_WORDS}{simple}"


def _several(desk: Desk, names: list[str]) -> Move[str]:
    """Each file once, under its title, by its most telling sentences."""
    desk.styled = True
    names = list(dict.fromkeys(names))
    unit, wanted = desk.style or ("", 0)
    each = wanted if unit else 5 if len(names) < 3 else 2
    parts = []
    for name in names:
        text = yield from moves.reach(desk, name)
        points = points_of(text.path, text.text, each)
        title = _title(text.path, text.text)
        lead = f"**{link(text.path)}**" + (f", “{clip(title, 80)}”" if title else "")
        parts.append(f"{lead}\n\n{bullets(clip(p, 300) for p in points) if points else 'It is empty.'}")
    own = _OWN_WORDS.replace("file's", "files'")
    return f"{count(len(names), 'file')}:\n\n" + "\n\n".join(parts) + f"\n\n{own}"


def _title(path: str, text: str) -> str:
    return next((t for _, t, _ in outline("x.md", text).headings), "") if ending(path) == "md" else ""


def _folder(desk: Desk, ask: Ask, folder: str, match: re.Match[str]) -> Script:
    every = yield from moves.every_path(desk, f"What is in {code(folder)}?")
    files = [p for p in every if p.startswith(folder) and not p.endswith("/")]
    prose = [p for p in files if ending(p) in _PROSE]
    if not files:
        raise CannotDo(f"There are no files in {code(folder)}.")
    if len(prose) < len(files) / 2 or len(files) > _MOST_FILES:
        return (yield from summarise_folder(desk, ask, match))
    return (yield from _several(desk, sorted(files)))


def summarise_described(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The same for files that are described; a name alone may also be a module or a function."""
    every = yield from moves.every_path(desk, "Looking which files are meant.")
    found = phrases(f"summarise the {match.group('module')}", every)
    if found and found[0].superlative:
        raise CannotDo("Name the file with its path.")
    paths = list(dict.fromkeys(p for phrase in found for p in phrase.paths))
    if not paths:
        return (yield from explain_module(desk, ask, match))
    marks = ", ".join(f"‹p{n}›" for n in range(len(paths)))
    return (yield from summarise_files(desk, Ask(marks, tuple(paths)), match))


def summarise_meant(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A summary wished for in any words, of the files the request describes; without any, of the folder."""
    every = yield from moves.every_path(desk, "Looking which files are meant.")
    found = [p for p in phrases(ask.text, every) if not p.superlative]
    paths = list(dict.fromkeys([*ask.paths, *(p for phrase in found for p in phrase.paths)]))
    folders = [p for p in paths if p.endswith("/")]
    paths += [p for folder in folders for p in every if p.startswith(folder) and not p.endswith("/")]
    paths = [p for p in dict.fromkeys(paths) if not p.endswith("/")]
    if not paths and not ask.has(_FOLDER):
        raise CannotDo("Not done: which file shall be summarised? No file here fits the description.")
    if not paths:
        return (yield from summarise_folder(desk, ask, match))
    marks = ", ".join(f"‹p{n}›" for n in range(len(paths[:_MOST_FILES])))
    simple = " beginner" if ask.has(r"\b(?:beginner|simple|plain|child|easy)\b") else ""
    return (yield from summarise_files(desk, Ask(marks + simple, tuple(paths[:_MOST_FILES])), match))


_FOLDER = r"\b(?:folder|project|here|everything|directory|repo\w*|this|all (?:the )?files)\b"
_WISH = r"(?:summar\w+|sum up|gist|tl;?dr|main points?|key points?|in short|overview|in a nutshell|boil down|condense|recap)"
_SUM = r"(?:summari[sz]e|sum up|condense|shorten|boil down|(?:give me |write |make |create |i need |i want |can i have |show me |what(?:'s| is| are) )?(?:me )?(?:an? |the )?(?:short |brief |quick |rough |\w+ )?(?:summary|gist|main points?|key points?|key facts|main ideas?|essence|tl;?dr|overview|abstract|synopsis)(?: (?:of|for|from|in))?|(?:give me |write |list |show me )?(?:some )?(?:bullet points?|key facts|facts) (?:about|on|from|for|of)|tl;?dr|what(?:'s| is) (?:the )?(?:main )?(?:content|point)s? of|outline)"

RULES: list[Rule] = [
    rule(
        rf"{_SUM}(?: for me| me)?:? (?:the |my |this |all |both |file |document |text |contents? of |what(?:'s| is) in |what )*(?:{P}(?:,? and {P}|, {P})*)(?: (?:says?|file|document|for (?:an? |my )?[\w ]+|in (?:simple|plain|easy|other|your own|short|a few|german|french)[\w ]*|so that [\w ]+|briefly|shortly|quickly))*$",
        summarise_files,
        lambda ask: not ask.has(r"\btable of\b|\bchanges?\b|\bcommits?\b|\b(?:save|write|put) (?:it|that)\b"),
    ),
    rule(r"(?:summari[sz]e|sum up|(?:give me )?(?:an? |the )?(?:short |brief )?summary of) (?:the |my |our )(?P<module>(?!(?:project|folder|repo\w*|directory|code\w*|package|whole|entire|files?|last|latest|changes?|commits?|app\w*|program|library|function|class|method|results?|output|conversation|session|readme|test)\b)[a-z][\w' -]{2,40})$", summarise_described, lambda ask: not ask.paths),
    rule(
        rf"(?!.*\b(?:save|write|put|create|add|commit|conversation|session|so far|diff|changes?|results?)\b).*\b{_WISH}\b.*\b(?!(?:project|folder|repo\w*|directory|codebase|it|this|that|here)\b)\w{{3,}}.*",
        summarise_meant,
        lambda ask: not ask.paths and not ask.has(rf"\b{_WISH}(?: of| about)? (?:this|the|my|our) (?:whole |entire )?(?:project|folder|repo\w*|directory|code\w*|package|app\w*|program)\b") and ask.has(rf"\b{_WISH}\b.*\b(?:the|all|both|my|our|of|every|each|three|two)\b"),
    ),
    rule(rf"{_SUM} (?:it|that|this|that file|this file|the file|them)(?: (?:for|in) [\w ]+)?$", summarise_files, lambda ask: not ask.paths),
]  # fmt: skip
