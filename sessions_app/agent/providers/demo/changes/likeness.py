"""A new file made like one that is there: a page in the same look, empty minutes, a letter from its template."""

from __future__ import annotations

import html
import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.changes.ground import NotMine, files, read
from sessions_app.agent.providers.demo.changes.rows import sheets_of
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.writing import code, ending, fence, link

_GAP = re.compile(r"\[([A-Z][A-Z _-]*)\]|\{\{?\s*([A-Za-z][\w -]*?)\s*\}?\}|<([A-Z][A-Z _-]+)>")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_DATE = re.compile(rf"\b(?:\d{{1,2}}\.? )?(?:{'|'.join(_MONTHS)})(?= \d{{4}})", re.I)


def made_like(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """The new file is written; the one it is like stays. Raises NotMine when there is none, CannotDo when a gap cannot be filled."""
    what = ask.plain(wish.what)
    wanted = [w for w in tokens(what) if w not in {"page", "file", "copy", "template"}]
    paths = yield from files(desk)
    template = (
        "template" in ask.plain(f"{wish.what} {wish.where}").lower() and "existing" not in wish.where.lower()
    )
    near = [p for p in paths if ending(p) in {"md", "txt", "html", "htm", "rst"}]
    points = {
        p: len([w for w in tokens(f"{what} {ask.plain(wish.old)}") if among(w, names_of(p))]) for p in near
    }
    best = max(points.values(), default=0)
    models = sorted(p for p in near if points[p] == best and best > 0)
    texts = []
    for path in models[-4:]:
        text = yield from read(desk, path)
        if text is not None and bool(_GAP.search(text.text)) == template:
            texts.append(text)
    if not texts:
        raise NotMine
    model = texts[-1]
    target = _named(model.path, ask, wish, wanted)
    if target == model.path or (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
        raise CannotDo(f"Not written: {link(target)} is there already. Name another file.")
    if template:
        body = yield from _filled(desk, model.text, what)
    elif ending(model.path) in {"html", "htm"}:
        body = _page(model.text, _title(target), ask.plain(wish.value))
    else:
        body = _skeleton(model.lines, target, what)
    yield from moves.write(
        desk, target, body.rstrip("\n") + "\n", f"Writing {code(target)} like {code(model.path)}."
    )
    return f"Wrote {link(target)}, made like {link(model.path)}:\n\n{fence(_begun(body))}"


def _begun(text: str) -> str:
    """The first lines of a text, to be shown."""
    lines = text.split("\n")
    return "\n".join(lines[:24]) + ("\n…" if len(lines) > 24 else "")


def _named(model: str, ask: Ask, wish: Wish, wanted: list[str]) -> str:
    """The new file's path: as said, or the other one's with the month or the matter put in."""
    folder, _, name = model.rpartition("/")
    stem, _, kind = name.rpartition(".")
    said = ask.plain(wish.beside).strip().strip("\"'")
    if said:
        bare = said if "." in said else f"{said}.{kind}"
        return bare if "/" in bare or not folder else f"{folder}/{bare}"
    month = next((n for n, m in enumerate(_MONTHS, 1) if m in ask.plain(wish.what).lower().split()), None)
    dated = re.search(r"(?<!\d)(\d{4})-(\d{2})(?:-\d{2})?", stem)
    if month and dated:
        fresh = f"{stem[: dated.start()]}{dated[1]}-{month:02d}{stem[dated.end() :]}"
    else:
        own = [w for w in wanted if w not in SOFT and not among(w, names_of(folder + "/"))]
        plain = re.findall(r"[A-Za-z0-9]+", ask.plain(wish.what))
        telling = [w.lower() for w in plain if any(among(t, own) for t in tokens(w))]
        people = [w.lower() for w in plain[1:] if w[:1].isupper()]
        fresh = f"{stem}_{'_'.join(people)}" if people else "_".join(telling[:2]) or f"{stem}_new"
    return f"{folder}/{fresh}.{kind}" if folder else f"{fresh}.{kind}"


def _title(path: str) -> str:
    return re.sub(r"[_-]+", " ", path.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip().capitalize()


def _filled(desk: Desk, text: str, what: str) -> Move[str]:
    """The template with each gap filled from the one row of a table that the words speak of. Raises CannotDo."""
    gaps = list(dict.fromkeys(next(filter(None, m.groups())) for m in _GAP.finditer(text)))
    people = [w for w in re.findall(r"[^\W\d_][\w'-]+", what) if w[:1].isupper()]
    found: dict[str, str] = {}
    for sheet in (yield from sheets_of(desk, Ask("", ()), "", [p.lower() for p in people])):
        rows = [
            r
            for r in range(sheet.size)
            if people
            and not missing([p.lower() for p in people], {w for c in sheet.row(r) for w in tokens(c)})
        ]
        if len(rows) != 1:
            continue
        for gap in gaps:
            words = tokens(gap)
            column = (
                sheet.title()
                if words == ["name"]
                else next(
                    (n for n, c in enumerate(sheet.columns) if all(among(w, c.words) for w in words)), None
                )
            )
            if column is not None and sheet.columns[column].cells[rows[0]]:
                found[gap] = sheet.columns[column].cells[rows[0]]
        break
    if "NAME" in gaps and "NAME" not in found and people:
        found["NAME"] = " ".join(people)
    left = [gap for gap in gaps if gap not in found]
    if left:
        raise CannotDo(f"Not written: nothing here says what stands for {', '.join(code(g) for g in left)}.")
    return _GAP.sub(lambda m: found[next(filter(None, m.groups()))], text)


def _page(text: str, title: str, said: str) -> str:
    """The page with another title; between its heading and its footer stands only what was said."""
    old = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.S | re.I)
    name = old[1].strip() if old else ""
    text = re.sub(
        r"(<title>)(.*?)(</title>)",
        lambda m: m[1] + (m[2].replace(name, title) if name and name in m[2] else title) + m[3],
        text,
        flags=re.S | re.I,
    )
    said = said.strip().rstrip(".")
    said = html.escape(said[:1].upper() + said[1:] + ("." if said else ""), quote=False)
    said = re.sub(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", lambda m: f'<a href="mailto:{m[0]}">{m[0]}</a>', said)
    parts = re.search(r"(<h1[^>]*>).*?(</h1>)(.*?)(\s*<footer|\s*</main>|\s*</body>)", text, re.S | re.I)
    if parts is None:
        raise NotMine
    pad = re.search(r"\n([ \t]*)<h1", text)
    body = f"\n{pad[1] if pad else ''}<p>{said}</p>" if said else ""
    return text[: parts.start()] + parts[1] + title + parts[2] + body + text[parts.start(4) :]


def _skeleton(lines: list[str], target: str, what: str) -> str:
    """Headings, labels and one empty point of each list; the words between them are left out."""
    result: list[str] = []
    titled = False
    for line in lines:
        label = re.match(r"([A-Z][\w ]{1,24}:)(?:\s|$)", line)
        point = re.match(r"(\s*)(?:(\d+)[.)]|([-*+]))\s+(\[[ xX]\] )?", line)
        if line.startswith("#"):
            result.append(_heading(line, target, what) if not titled else line)
            titled = True
        elif label:
            result.append(label[1])
        elif point and (
            not result or not result[-1].startswith(("1.", "2.", "3.")) or int(point[2] or 9) <= 3
        ):
            empty = f"{point[2]}. " if point[2] else f"{point[3]} {'[ ] ' if point[4] else ''}"
            if result[-1:] != [empty]:
                result.append(empty)
        elif line.startswith(">"):
            result.append('> ""')
        elif not line.strip() and result and result[-1]:
            result.append("")
    return "\n".join(result)


def _heading(line: str, target: str, what: str) -> str:
    """The first heading with the new month, number or name in it."""
    month = next((m for m in _MONTHS if m in what.lower().split()), None)
    if month and _DATE.search(line):
        return _DATE.sub(month.capitalize(), line, count=1)
    numbered = re.match(r"(#+ \D*)\d+(\s*[-–:]?\s*)", line)
    number = re.match(r"0*(\d+)[_ -]+(.+)", target.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    if numbered and number:
        return f"{numbered[1]}{number[1]}{numbered[2]}{re.sub(r'[_-]+', ' ', number[2])}"
    return f"{line[: len(line) - len(line.lstrip('#'))]} {_title(target)}"
