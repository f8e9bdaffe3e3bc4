"""Places in texts by their words: a list, a section, the lines that speak of something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.agent.providers.demo.changes.ground import (
    PROSE,
    NotMine,
    files,
    named,
    read,
    read_all,
    speaking_of,
)
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, score, tokens
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.sheets.sheet import is_table
from sessions_app.agent.providers.demo.writing import bullets, clip, ending, link

_HEADING = re.compile(r"(#{1,6})\s+(.*)$")


@dataclass(frozen=True, slots=True)
class Spot:
    """A list or a section: the file, the line of its heading (None: the whole file), and the line behind its end."""

    text: FileText
    heading: int | None
    first: int
    end: int

    @property
    def title(self) -> str:
        return "" if self.heading is None else self.text.lines[self.heading].lstrip("# ").rstrip(":")


def spots_of(text: FileText) -> list[Spot]:
    """The whole file and each of its sections; in a plain text a line that ends in a colon, or is underlined, opens one."""
    lines = text.lines
    found = [Spot(text, None, 0, len(lines))]
    heads: list[tuple[int, int]] = []
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        heading = _HEADING.match(line)
        if heading and not fenced:
            heads.append((number, len(heading[1])))
        elif ending(text.path) in {"yml", "yaml"} and re.match(r"\s*[\w-]+:\s*$", line):
            heads.append((number, 3 + len(line) - len(line.lstrip())))
        elif (
            ending(text.path) != "md"
            and ending(text.path) in PROSE
            and re.fullmatch(r"[A-Z][\w ,'&-]{1,40}:|[A-Z][A-Z ]{3,40}", line.rstrip())
        ):
            heads.append((number, 2))
    for place, (number, level) in enumerate(heads):
        end = next((n for n, other in heads[place + 1 :] if other <= level), len(lines))
        if ending(text.path) in {"yml", "yaml"}:
            end = next(
                (
                    n
                    for n in range(number + 1, end)
                    if lines[n].strip()
                    and len(lines[n]) - len(lines[n].lstrip()) <= level - 3
                    and not lines[n].lstrip().startswith("- ")
                ),
                end,
            )
        found.append(Spot(text, number, number + 1, end))
    return found


def spot_for(desk: Desk, ask: Ask, where: str, kinds: frozenset[str]) -> Move[Spot]:
    """The one place a phrase means. Raises NotMine when there is none, CannotDo when there are several."""
    paths = [p for p in (yield from files(desk)) if ending(p) in kinds and not is_table(p)]
    inside = named(where, ask, paths)
    masked = re.search(r"‹p\d+›", where)
    if masked and not inside:
        raise NotMine
    wanted = tokens(ask.plain(re.sub(r"‹p\d+›", " ", where) if masked else where))
    if not wanted and not inside:
        raise NotMine
    telling = [w for w in wanted if w not in SOFT]
    pool = list(
        dict.fromkeys(
            [*(inside or []), *([] if masked else (yield from speaking_of(desk, telling or wanted, paths)))]
        )
    )
    found: list[tuple[int, Spot]] = []
    for text in (yield from read_all(desk, pool)):
        around = names_of(text.path)
        first = next((line for line in text.lines if line.strip()), "")
        top = set(tokens(first)) if _HEADING.match(first) else set()
        for spot in spots_of(text):
            own = set(tokens(spot.title)) if spot.heading is not None else set()
            if missing(wanted, own, around, top) or (
                spot.heading is not None and not any(among(w, own) for w in wanted)
            ):
                continue
            only_title = spot.heading is not None and spot.title == first.lstrip("# ")
            extra = len([w for w in own if not among(w, wanted)])
            found.append(
                (6 * score(wanted, (own, 4), (around, 3), (top, 2)) - extra - (9 if only_title else 0), spot)
            )
    if not found:
        raise NotMine
    best = max(points for points, _ in found)
    fitting = [spot for points, spot in found if points == best]
    if len({(s.text.path, s.heading) for s in fitting}) > 1:
        raise CannotDo(
            f"Not done: {len(fitting)} places fit “{clip(ask.plain(where), 60)}”. Name one:\n\n"
            + bullets(f"{link(s.text.path, (s.heading or 0) + 1)} {s.title}".rstrip() for s in fitting[:6])
        )
    return fitting[0]


def lines_about(desk: Desk, wanted: Sequence[str], paths: Sequence[str]) -> Move[list[tuple[str, int, str]]]:
    """(path, line number, text) of every line in which all the words stand."""
    found = []
    for path in (yield from speaking_of(desk, wanted, paths)):
        text = yield from read(desk, path)
        if text is not None:
            found += [
                (path, n + 1, line)
                for n, line in enumerate(text.lines)
                if not missing(wanted, set(tokens(line)), names_of(path))
                and any(among(w, tokens(line)) for w in wanted)
            ]
    return found
