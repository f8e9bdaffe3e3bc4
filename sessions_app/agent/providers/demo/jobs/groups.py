"""Questions about several files together: how many, which is the longest, which mention something, which nobody uses."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.places import SUPERLATIVES, by_measure, folders_called, matching
from sessions_app.agent.providers.demo.sheets.words import singular
from sessions_app.agent.providers.demo.writing import bullets, code, count, ending, link, table

_GROUP = r"(?P<group>[^\W\d_][\w-]*(?: [^\W\d_][\w-]*){0,2}?)"
_IN = r"(?: (?:in|of|does|do|has|have|are|is)\b(?: (?:the|my|our|this|there|here|it))*(?: (?P<where>[\w-]+))?(?: have| has| contain| folder| directory| are there| in total| here| there)*)?"
_WHICH = re.compile(
    rf"(?:which|what|find|show|tell me which|list)(?: is| are|'s)?(?: me)?(?: the| of the| of my)? {_GROUP} (?:is|are|was|has|have)(?: the)? (?P<how>{'|'.join(SUPERLATIVES)}|most words|fewest words|most lines|fewest lines)(?: one)?$",
    re.I,
)
_SUPER = re.compile(
    rf"(?:which|what|find|show|name|tell me)(?: is| are|'s)?(?: me)?(?: the| of the| my| our) (?P<how>{'|'.join(SUPERLATIVES)}) {_GROUP}$",
    re.I,
)
_HOW_MANY = re.compile(rf"(?:how many|count|number of)(?: the| different| of the)? {_GROUP}{_IN}$", re.I)
_WORDS = re.compile(
    r"(?:how many|count|number of|what is|what's|give me|show me|show|list)(?: me)?(?: the| all)* (?P<unit>words?|lines?|word counts?|line counts?)(?: are| is)?(?: there)? (?:in|of|does|do|for|per|by|has)\b(?: (?:the|my|our|each|every|all|whole|entire|this|of))* (?P<group>[\w-]+?(?: [\w-]+?)??)(?: have| has| contain| in total| altogether)*$",
    re.I,
)
_MENTION = re.compile(
    rf"(?:which|what|in which|list|find|show)(?: me)?(?: all| the| of the| my)* {_GROUP} (?:that |which )?(?P<no>(?:do(?:es)? not|don't|doesn't|never|has no|have no|without|lack|lacks|are missing|is missing|with no)(?: yet)? ?)?(?:mentions?|contains?|includes?|talks? about|names?|uses?|imports?|says?|speaks? of|refers? to|links? to|(?:has|have)(?: an?| the)?|does|do|is|are) (?P<what>[^?]+)$",
    re.I,
)
_UNUSED = re.compile(
    rf"(?:which|what|are there|is there|find|list|show)(?: me)?(?: any| the| all| an?)* {_GROUP} (?:that )?(?:is|are)?(?: not|n't| never)? ?(?P<un>un)?(?:used|linked|referenced|included|needed|imported)\b.*$",
    re.I,
)


_LIST = re.compile(
    rf"(?:list|show|which|what|find|give)\b(?: me)?(?: are| is)?(?: all| the| of the| every| my)* {_GROUP}(?: (?:are|is) (?:there|here|in here)| here| do we have)?$",
    re.I,
)


#: "List the members" is about them, not about their file.
_OF_FILES = re.compile(
    r"\b(?:files?|pages?|scripts?|documents?|images?|pictures?|modules?|stylesheets?)$", re.I
)


def group(words: str, paths: list[str]) -> list[str]:
    """The files a word for several names: a kind, a folder, or a word of their names; empty for a word that names none."""
    said = re.findall(r"[^\W_]+", words.lower())
    said = [w for w in said if singular(w) not in {"file", "all"}]
    if not said:
        return [p for p in paths if not p.endswith("/")] if words.strip() else []
    folder = folders_called(said, paths)
    if len(folder) == 1:
        return [p for p in paths if p.startswith(folder[0]) and not p.endswith("/")]
    return matching(said, paths)


def group_answer(desk: Desk, ask: Ask) -> Move[str | None]:
    """The answer to a question about a group of files; None when it is none or names no group."""
    if ask.paths or len(ask.text) > 200:
        return None
    text = re.sub(r"\bare there\b|\bis there\b", "are there", ask.text.strip().rstrip("?.! "))
    asked = next(
        (
            (p, m)
            for p in (_WORDS, _UNUSED, _WHICH, _SUPER, _HOW_MANY, _LIST, _MENTION)
            if (m := p.match(text))
        ),
        None,
    )
    if asked is None:
        return None
    paths = yield from moves.every_path(desk, "Looking which files there are.")
    for pattern in (_WORDS, _UNUSED, _WHICH, _SUPER, _HOW_MANY, _LIST, _MENTION):
        found = pattern.match(text)
        if found is None:
            continue
        files = group(found["group"], paths)
        where = found.groupdict().get("where")
        if (
            files
            and where
            and where.lower() not in {"total", "all", "project", "folder", "site", "repo", "repository"}
        ):
            inside = folders_called([where], paths)
            if len(inside) != 1:
                return None
            files = [p for p in files if p.startswith(inside[0])]
        if not files or (pattern is _LIST and not _OF_FILES.search(found["group"])):
            continue
        if pattern is _WORDS:
            return (yield from _measured(desk, files, found["unit"], found["group"]))
        if pattern is _UNUSED:
            return (
                (yield from _unused(desk, files, found["group"]))
                if re.search(r"\bnot\b|n't\b|\bnever\b|\bun", found.group(), re.I)
                else None
            )
        if pattern in {_WHICH, _SUPER}:
            return (yield from _extreme(desk, files, found["how"].lower(), found["group"]))
        if pattern in {_HOW_MANY, _LIST}:
            names = bullets(link(p) for p in files[:20])
            more = f"\n\n{len(files) - 20} more are not shown." if len(files) > 20 else ""
            return f"{count(len(files), 'file')} by that description (“{found['group']}”):\n\n{names}{more}"
        return (yield from _mentions(desk, files, found))
    return None


def _counts(desk: Desk, files: list[str]) -> Move[list[tuple[str, int, int]]]:
    """(path, lines, words) of each file."""
    outcome = yield from moves.shell(
        desk, "wc -lw " + " ".join(moves.quoted(p) for p in files[:200]), "Counting in them.", what="counting"
    )
    found = [re.match(r"\s*(\d+)\s+(\d+)\s+(.+)$", line) for line in moves.lines_of(outcome)]
    return [(m[3].removeprefix("./"), int(m[1]), int(m[2])) for m in found if m and m[3] != "total"]


def _measured(desk: Desk, files: list[str], unit: str, name: str) -> Move[str]:
    counted = yield from _counts(desk, files)
    words = unit.lower().startswith("word")
    total = sum(w if words else n for _, n, w in counted)
    what = "word" if words else "line"
    if len(counted) == 1:
        return f"{link(counted[0][0])}: **{count(total, what)}**."
    rows = [(link(p), str(w if words else n)) for p, n, w in counted[:40]]
    return f"**{count(total, what)}** in {count(len(counted), 'file')} (“{name}”):\n\n{table(('file', what + 's'), rows)}"


def _extreme(desk: Desk, files: list[str], how: str, name: str) -> Move[str]:
    if SUPERLATIVES.get(how, (True, "size"))[1] == "time":
        ordered = yield from by_measure(desk, files, how)
        return f"{how.capitalize()} of {count(len(ordered), 'file')} (“{name}”), by the time of the last change: {link(ordered[0])}.\n\n{bullets(link(p) for p in ordered[:10])}"
    counted = yield from _counts(desk, files)
    prose = all(ending(p) in {"md", "txt", "rst", "html", ""} for p in files) and "line" not in how
    down = SUPERLATIVES[how][0] if how in SUPERLATIVES else how.startswith("most")
    ordered_counts = sorted(counted, key=lambda c: ((-1 if down else 1) * (c[2] if prose else c[1]), c[0]))
    unit = "words" if prose else "lines"
    best = ordered_counts[0]
    rows = [(link(p), str(w if prose else n)) for p, n, w in ordered_counts[:15]]
    return f"{how.capitalize()} of {count(len(counted), 'file')} (“{name}”): {link(best[0])} with **{best[2] if prose else best[1]} {unit}**.\n\n{table(('file', unit), rows)}"


def _mentions(desk: Desk, files: list[str], found: re.Match[str]) -> Move[str | None]:
    said = found["what"].strip().strip("\"'“”")
    said = re.sub(r"^(?:the |an? |any |word |text )+", "", said, flags=re.I)
    no = found["no"] is not None
    wanted = re.sub(r"^(?:no|not) ", "", said)
    no = no or wanted != said
    words = re.findall(r"[^\W_][\w'-]*", wanted)
    if (
        not words
        or len(words) > 4
        or re.search(r"\b(?:than|more|less|most|best|and|or|when|how|why)\b", wanted, re.I)
    ):
        return None
    linking = re.match(r"(?:link|links|reference) to (?:the )?(.+)", wanted, re.I)
    pattern = {"stylesheet": "stylesheet|\\.css", "title": "<title|^# ", "alt text": "alt="}.get(
        (linking.group(1) if linking else wanted).lower(), re.escape(linking.group(1) if linking else wanted)
    )
    hits = yield from moves.search(
        desk, pattern, f"Searching for {code(wanted)} in them.", ignore_case=True, limit=400
    )
    if len(files) < 2:
        return None
    having = {h.path for h in hits if h.path in files}
    chosen = [p for p in files if (p in having) != no]
    what = f"{'do not mention' if no else 'mention'} {code(wanted)}"
    if not having and not no:
        return None
    if not chosen:
        return (
            f"None of the {count(len(files), 'file')} (“{found['group']}”) {what}."
            if not no
            else f"All {len(files)} files (“{found['group']}”) mention {code(wanted)}."
        )
    lines = []
    for path in chosen[:20]:
        first = next((h for h in hits if h.path == path), None)
        lines.append(link(path) + (f": {first.text[:120]}" if first and not no else ""))
    verb = (
        what
        if len(chosen) != 1
        else what.replace("do not", "does not").replace("mention ", "mentions " if not no else "mention ")
    )
    return f"{len(chosen)} of {count(len(files), 'file')} (“{found['group']}”) {verb}:\n\n{bullets(lines)}"


def _unused(desk: Desk, files: list[str], name: str) -> Move[str | None]:
    """Files whose name stands in no other file."""
    if len(files) > 60:
        return None
    names = sorted(
        {re.escape(p.rsplit("/", 1)[-1]) for p in files}
        | {rf"\b{re.escape(p.rsplit('/', 1)[-1].removesuffix('.py'))}\b" for p in files if p.endswith(".py")}
    )
    hits = yield from moves.search(desk, "|".join(names), "Looking where their names stand.", limit=1000)
    used = set()
    for path in files:
        own = path.rsplit("/", 1)[-1]
        stem = own.removesuffix(".py") if own.endswith(".py") else ""
        for hit in hits:
            if hit.path != path and (
                own in hit.text
                or (
                    stem
                    and re.search(
                        rf"\bimport\b.*\b{re.escape(stem)}\b|\bfrom\b.*\b{re.escape(stem)}\b", hit.text
                    )
                )
            ):
                used.add(path)
    unused = [p for p in files if p not in used]
    if not unused:
        return f"The names of all {count(len(files), 'file')} (“{name}”) stand in some other file."
    return f"{len(unused)} of {count(len(files), 'file')} (“{name}”) {'is' if len(unused) == 1 else 'are'} named in no other file:\n\n{bullets(link(p) for p in unused)}\n\nThis compares names; a file may still be used by a pattern or from outside."
