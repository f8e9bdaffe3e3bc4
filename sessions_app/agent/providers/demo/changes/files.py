"""Files and folders: made, renamed with what points at them, moved, copied; and a new file of lines gathered from others."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.changes.ground import PROSE, NotMine, named, read, read_all
from sessions_app.agent.providers.demo.changes.ground import files as text_files
from sessions_app.agent.providers.demo.changes.spots import lines_about, spots_of
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, fence, link


def make_folder(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """One new folder."""
    path = ask.plain(wish.what).strip().strip("\"'/")
    if (yield from moves.exists(desk, path, f"Is {code(path)} there?")):
        return f"{link(path + '/')} is there already."
    yield from moves.shell(
        desk, f"mkdir -p {moves.quoted(path)}", f"Making the folder {code(path)}.", what="making a folder"
    )
    return f"Made the folder {link(path + '/')}."


def _sources(desk: Desk, ask: Ask, what: str, every: list[str]) -> list[str] | None:
    """The files that are named, or the one "it" stands for."""
    if not re.fullmatch(r"(?:it|that|this|them)(?: file)?", what, re.I):
        return named(what, ask, [p for p in every if not p.endswith("/")])
    just = [p for p in desk.listed() if not p.endswith("/")][-1:]
    return just or ([it] if (it := desk.it()) else None)


def moved(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """A file or several under another name or in a folder; what names them elsewhere follows when that is wished."""
    every = yield from moves.every_path(desk, "Looking what is here.")
    sources = _sources(desk, ask, wish.what, every)
    several = (
        re.match(r"(?:all|every|both|the \w+ files|the logs|these|those)\b", wish.what, re.I) is not None
    )
    if not sources:
        raise NotMine
    if len(sources) > 1 and not (several and wish.kind != "rename"):
        raise CannotDo(
            f"Which file? {count(len(sources), 'file')} fit “{clip(ask.plain(wish.what), 60)}”: {', '.join(link(p) for p in sources[:8])}."
        )
    target = ask.plain(wish.value).strip().strip("\"'")
    if target.lower() in {"there", "it", "in it", "into it"}:
        target = next((p for p in desk.listed() if p.endswith("/")), "")
        if not target:
            raise NotMine
    folders = {p.rstrip("/") for p in every if p.endswith("/")}
    into = wish.kind != "rename" and (
        target.endswith("/")
        or target.rstrip("/") in folders
        or (wish.kind == "move" and "." not in target.rsplit("/", 1)[-1])
    )
    said = []
    for source in sources:
        name, parent = source.rsplit("/", 1)[-1], source.rpartition("/")[0]
        if into:
            goal = f"{target.rstrip('/')}/{name}".removeprefix("./")
        elif "/" in target or wish.kind != "rename" or not parent:
            goal = target
        else:
            goal = f"{parent}/{target}"
        if wish.kind == "rename" and "." not in goal.rsplit("/", 1)[-1] and "." in name:
            goal += "." + ending(source)
        if (yield from moves.exists(desk, goal, f"Is {code(goal)} free?")):
            raise CannotDo(f"Not done: {link(goal)} is there already, and nothing is overwritten.")
        folder = goal.rpartition("/")[0]
        make = f"mkdir -p {moves.quoted(folder)} && " if folder and folder not in folders else ""
        verb = "cp -n" if wish.kind == "copy" else "mv -n"
        yield from moves.shell(
            desk,
            f"{make}{verb} {moves.quoted(source)} {moves.quoted(goal)}",
            f"{'Copying' if wish.kind == 'copy' else 'Moving'} {code(source)}.",
            what="moving a file",
        )
        said.append(f"{'Copied' if wish.kind == 'copy' else 'Moved'} {code(source)} to {link(goal)}.")
        if wish.kind != "copy":
            pointed = yield from _references(desk, source, goal, follow=wish.references)
            if pointed:
                said.append(pointed)
    return "\n\n".join(said)


def headed(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """A first heading above the text of a file."""
    every = yield from moves.every_path(desk, "Looking what is here.")
    found = _sources(desk, ask, "it" if wish.what.lower() == "the file" else wish.what, every)
    if not found:
        raise NotMine
    title = ask.plain(wish.value).strip()
    for text in (yield from read_all(desk, found[:1])):
        if text.lines and text.lines[0].startswith("# "):
            raise CannotDo(
                f"{link(text.path)} has the heading {code(text.lines[0])} already. Nothing changed."
            )
        line = f"# {title}" if ending(text.path) in {"md", "markdown"} else title
        yield from put_lines(desk, text, [line, "", *text.lines])
        return f"{link(text.path, 1)} begins with {code(line)} now."
    raise NotMine


def dropped(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """One file, or one folder, that all the words name; a file is read once more so that it can be brought back."""
    every = yield from moves.every_path(desk, "Looking what is here.")
    telling = [w for w in tokens(ask.plain(wish.what)) if w not in SOFT]
    if not telling:
        raise NotMine
    if re.search(r"\b(?:folder|directory)\b", wish.what, re.I):
        return (yield from _folder_dropped(desk, telling, every))
    found = named(wish.what, ask, [p for p in every if not p.endswith("/")])
    if not found or len(found) != 1:
        raise NotMine
    yield from moves.read(desk, found[0], "Reading it once, so that “undo” can write it again.", check=False)
    yield from moves.shell(
        desk, f"rm -- {moves.quoted(found[0])}", f"Deleting {code(found[0])}.", what="deleting"
    )
    return f"Deleted {code(found[0])}. “undo” writes it again."


def _folder_dropped(desk: Desk, telling: list[str], every: list[str]) -> Move[str]:
    """The one folder that the words name, by itself or by what is in it."""
    found = []
    for folder in (p for p in every if p.endswith("/")):
        inside = [p for p in every if p.startswith(folder)]
        own = {w for p in inside for w in names_of(p)}
        if not missing(telling, own) and any(among(w, names_of(folder)) for w in telling):
            found.append((folder, [p for p in inside if not p.endswith("/")]))
    if len(found) != 1:
        raise NotMine
    folder, inside = found[0]
    yield from moves.shell(
        desk, f"rm -r -- {moves.quoted(folder.rstrip('/'))}", f"Deleting {code(folder)}.", what="deleting"
    )
    return f"Deleted {code(folder)} with {count(len(inside), 'file')} in it: {', '.join(code(p) for p in inside[:8])}."


def _references(desk: Desk, old: str, new: str, *, follow: bool) -> Move[str]:
    """What names the old file: changed when wished, told otherwise."""
    before, after = old.rsplit("/", 1)[-1], new.rsplit("/", 1)[-1]
    if before == after and not follow:
        return ""
    module = ending(old) in {"py", "js", "ts", "mjs"}
    stem, fresh = before.rsplit(".", 1)[0], after.rsplit(".", 1)[0]
    patterns = [(re.compile(rf"(?<![\w-]){re.escape(before)}(?![\w-])"), after)]
    if ending(old) == "py":
        patterns.append(
            (
                re.compile(
                    rf"(?<=\bfrom )((?:[\w.]+\.)?){re.escape(stem)}(?= import\b)|(?<=\bimport )((?:[\w.]+\.)?){re.escape(stem)}(?![\w.])"
                ),
                fresh,
            )
        )
        patterns.append((re.compile(rf"(?<![\w.]){re.escape(stem)}(?=\.\w)"), fresh))
    elif module:
        patterns.append((re.compile(rf"(?<=[\"'/]){re.escape(stem)}(?=[\"'])"), fresh))
    hits = yield from moves.search(desk, stem, f"Looking what names {code(before)}.", literal=True, limit=300)
    paths = [p for p in dict.fromkeys(h.path for h in hits) if p != new]
    changed, told = [], []
    for text in (yield from read_all(desk, paths)):
        lines = list(text.lines)
        imports = ending(text.path) == "py" and any(
            re.search(rf"\bimport {re.escape(stem)}\b", line) for line in lines
        )
        for number, line in enumerate(lines):
            for place, (pattern, word) in enumerate(patterns):
                if place == 2 and not imports:
                    continue
                line = pattern.sub(lambda m, w=word: next(filter(None, m.groups()), "") + w, line)  # type: ignore[misc]
            if line != lines[number]:
                told.append(f"{link(text.path, number + 1)} {code(clip(lines[number].strip(), 80))}")
                lines[number] = line
        if lines != text.lines and follow:
            yield from put_lines(desk, text, lines, f"Following the new name in {code(text.path)}.")
            changed.append(text.path)
    if changed:
        return f"What named it follows:\n\n{bullets(told)}"
    return f"These lines still name {code(before)}:\n\n{bullets(told[:8])}" if told else ""


def collected(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """A new file of the lines in which all the words stand, or of the open tasks and questions. Raises NotMine when nothing is found."""
    target = ask.plain(wish.value).strip()
    what = ask.plain(wish.what)
    paths = [p for p in (yield from text_files(desk)) if p != target]
    gathered: list[tuple[str, int, str]] = []
    kinds = []
    if re.search(
        r"\b(?:open|unfinished|remaining)\b.*\b(?:tasks?|todos?|items?|boxes)\b|\b(?:todos?|to-dos?|tasks)\b",
        what,
        re.I,
    ):
        kinds.append("open tasks")
        hits = yield from moves.search(
            desk, r"^\s*[-*+] \[ \]|\b(TODO|FIXME)\b", "Looking for open tasks.", limit=200
        )
        gathered += [
            (h.path, h.line, re.sub(r"^(?:[-*+] \[ \]\s*|(?:#|//|<!--)\s*(?:TODO|FIXME):?\s*)", "", h.text))
            for h in hits
            if h.path in paths
        ]
    if re.search(r"\bquestions?\b", what, re.I):
        kinds.append("open questions")
        gathered += yield from _questions(desk, [p for p in paths if ending(p) in PROSE])
    if not kinds:
        bare = re.sub(
            r"^(?:all |every |each |only |just |the |of |names? of |a |list of |two |three |\d+ |lines? (?:with|about|containing) )+|\b(?:you can find|in (?:this|the) folder|from the files?)\b",
            " ",
            what,
            flags=re.I,
        )
        wanted = [w for w in tokens(bare) if w not in SOFT and w != "about"]
        if not wanted or re.search(
            r"\b(?:whose|who|which|that|where|per|average|sum|total|count|sorted|by)\b", bare, re.I
        ):
            raise NotMine
        logs = [p for p in paths if ending(p) in {"log", "txt", "md", "out"}]
        gathered = yield from lines_about(desk, wanted, logs)
        kinds = [f"lines with {', '.join(code(w) for w in wanted)}"]
    if not gathered:
        raise NotMine
    if (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
        raise CannotDo(f"Not written: {link(target)} is there already. Name another file.")
    listed = ending(target) == "md"
    several = len({p for p, _, _ in gathered}) > 1
    body = [
        f"- [ ] {line.strip()} ({p}:{n})"
        if listed and "open" in kinds[0]
        else f"- {line.strip()} ({p}:{n})"
        if listed
        else f"{p}: {line}"
        if several
        else line
        for p, n, line in gathered
    ]
    head = [f"# {' and '.join(kinds).capitalize()}", ""] if listed else []
    yield from moves.write(desk, target, "\n".join([*head, *body]) + "\n", f"Writing {code(target)}.")
    return f"Wrote {link(target)} with {count(len(body), 'line')}: {' and '.join(kinds)}.\n\n{fence(chr(10).join(body[:12]))}"


def _questions(desk: Desk, paths: list[str]) -> Move[list[tuple[str, int, str]]]:
    """What stands under a heading of open questions, and single lines that ask."""
    hits = yield from moves.search(
        desk, r"\?\s*$|^#+ .*question", "Looking for open questions.", ignore_case=True, limit=200
    )
    found: dict[tuple[str, int], str] = {}
    for path in dict.fromkeys(h.path for h in hits if h.path in paths):
        text = yield from read(desk, path)
        if text is None:
            continue
        for spot in spots_of(text):
            if spot.heading is not None and re.search(r"question", spot.title, re.I):
                found.update(
                    {
                        (path, n + 1): text.lines[n]
                        for n in range(spot.first, spot.end)
                        if re.match(r"\s*(?:[-*+]|\d+[.)])\s", text.lines[n])
                    }
                )
        found.update(
            {
                (path, n + 1): line
                for n, line in enumerate(text.lines)
                if re.search(r"\?\s*$", line) and not line.startswith("#")
            }
        )
    return [(path, n, re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line)) for (path, n), line in found.items()]
