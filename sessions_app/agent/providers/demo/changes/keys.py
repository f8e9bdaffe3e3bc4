"""Settings: the lines `key = value` of configuration files, constants of code, and pinned requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sessions_app.agent.providers.demo.changes.ground import (
    CODE,
    CONFIGS,
    NotMine,
    files,
    named,
    read_all,
    speaking_of,
)
from sessions_app.agent.providers.demo.changes.tokens import SOFT, among, missing, names_of, score, tokens
from sessions_app.agent.providers.demo.changes.wish import Wish
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo
from sessions_app.agent.providers.demo.writing import bullets, clip, code, ending, link

_PAIR = re.compile(
    r"^(?P<pad>\s*(?:-\s+)?)(?:export |const |let |var |ENV )?(?P<key>[\"']?[A-Za-z_][\w. -]*?[\"']?)(?P<sep>\s*(?::|=)\s*)(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^#;\n]*?)(?P<end>[,;]?\s*(?:[#;].*|//.*)?)$"
)
_PIN = re.compile(
    r"^(?P<pad>)(?P<key>[A-Za-z][\w.-]*(?:\[[\w,]+\])?)(?P<sep>\s*(?:==|>=|~=|<=)\s*)(?P<value>[\w.*]+)(?P<end>.*)$"
)
_SECTION = re.compile(r"^\s*\[\[?(?P<name>[^\]]+)\]\]?\s*$")
_ON = {"true": "false", "yes": "no", "on": "off", "1": "0", "enabled": "disabled"}


@dataclass(frozen=True, slots=True)
class Line:
    """One setting: its place, its own words and those around it (section, outer keys)."""

    text: FileText
    number: int
    own: tuple[str, ...]
    around: tuple[str, ...]
    start: int
    end: int

    @property
    def value(self) -> str:
        return self.text.lines[self.number][self.start : self.end]


def lines_of(text: FileText) -> Iterator[Line]:
    """Every setting of a file, in its order."""
    kind = ending(text.path)
    pins = kind == "txt" and "require" in text.path.lower()
    section: tuple[str, ...] = ()
    outer: list[tuple[int, tuple[str, ...]]] = []
    for number, line in enumerate(text.lines):
        header = _SECTION.match(line)
        if header and kind in {"ini", "toml", "cfg", "conf"}:
            section = tuple(tokens(header["name"]))
            continue
        found = (_PIN if pins else _PAIR).match(line)
        if found is None or line.lstrip().startswith(("#", ";", "//")):
            continue
        if kind in CODE and not re.match(
            r"\s*(?:export |const |let |var )*[A-Za-z_]\w*\s*=\s*[^=]|\s*[\"']?[\w-]+[\"']?\s*:\s*[\w\"'#.-]+[,;]?\s*$",
            line,
        ):
            continue
        depth = len(found["pad"])
        outer = [(d, words) for d, words in outer if d < depth]
        own = tuple(tokens(found["key"]))
        around = (*section, *(w for _, words in outer for w in words))
        outer.append((depth, own))
        if found["value"].strip() and found["value"].strip() not in {"{", "[", "|", ">"}:
            yield Line(text, number, own, around, found.start("value"), found.end("value"))


def set_key(desk: Desk, ask: Ask, wish: Wish) -> Move[str]:
    """One setting gets a value; with "everywhere" all that fit. Raises NotMine when none fits, CannotDo when several do."""
    paths = [
        p
        for p in (yield from files(desk))
        if ending(p) in CONFIGS | CODE or "require" in p.lower() or p.rsplit("/", 1)[-1].startswith(".env")
    ]
    inside = named(wish.where, ask, paths) if wish.where else None
    wanted = tokens(ask.plain(wish.what)) + ([] if inside else tokens(ask.plain(wish.where)))
    telling = [w for w in wanted if w not in SOFT or w in {"data", "log", "page", "number"}]
    if not telling:
        raise NotMine
    pool = inside or [p for p in (yield from speaking_of(desk, telling, paths)) if p in paths]
    found: list[tuple[int, Line]] = []
    for text in (yield from read_all(desk, pool)):
        around = names_of(text.path)
        for line in lines_of(text):
            own = [w for w in wanted if among(w, line.own)]
            if (
                not own
                or missing(wanted, line.own, line.around, around, {"mode", "flag"} if wish.sign else set())
                or (wish.old and ask.plain(wish.old).strip("\"'") != line.value.strip("\"'"))
            ):
                continue
            left = len([w for w in line.own if not among(w, wanted)])
            found.append(
                (
                    4 * score(wanted, (line.own, 3), (line.around, 2), (around, 1))
                    - left
                    - (3 if ending(text.path) in CODE else 0),
                    line,
                )
            )
    if not found:
        raise NotMine
    best = max(points for points, _ in found)
    lines = (
        [line for points, line in found if points == best]
        if not wish.everywhere
        else [line for _, line in found]
    )
    if wish.everywhere:
        least = min(len(line.own) for line in lines)
        lines = [line for line in lines if len(line.own) == least]
    if len(lines) > 1 and not wish.everywhere:
        listed = bullets(
            f"{link(x.text.path, x.number + 1)} {code(clip(x.text.lines[x.number].strip(), 80))}"
            for x in lines[:8]
        )
        raise CannotDo(
            f"Not changed: {len(lines)} settings fit “{clip(ask.plain(wish.what), 60)}”. Say in which file, or “everywhere”:\n\n{listed}"
        )
    said = []
    for line in lines:
        text = next(t for t in (yield from read_all(desk, [line.text.path])))
        old = text.lines[line.number]
        new = (
            old[: line.start]
            + written_like(old[line.start : line.end], ask, wish, ending(text.path))
            + old[line.end :]
        )
        if new == old:
            said.append(f"{link(text.path, line.number + 1)} is so already: {code(old.strip())}.")
            continue
        yield from put_lines(desk, text, [*text.lines[: line.number], new, *text.lines[line.number + 1 :]])
        said.append(
            f"{link(text.path, line.number + 1)} was {code(clip(old.strip(), 100))} and is now {code(clip(new.strip(), 100))}."
        )
    return said[0] if len(said) == 1 else bullets(said)


def written_like(old: str, ask: Ask, wish: Wish, kind: str) -> str:
    """The new value in the form of the old one: its quotes, its word for yes, its unit. Raises CannotDo."""
    quote = old[:1] if old[:1] in "\"'" and old[-1:] == old[:1] else ""
    bare = old.strip("\"'") if quote else old.strip()
    if wish.kind == "step":
        number = re.fullmatch(r"(-?\d+(?:\.\d+)?)(.*)", bare)
        step = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", ask.plain(wish.value))
        if number is None or step is None:
            raise CannotDo(
                f"Not changed: {code(old)} is no number to change by {code(ask.plain(wish.value))}."
            )
        change = float(number[1]) * float(step[1]) / 100 if step[2] else float(step[1])
        return f"{quote}{float(number[1]) + wish.sign * change:.12g}{number[2]}{quote}"
    value = ask.plain(wish.value).strip().strip("\"'`“”").rstrip(".")
    version = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?", bare)
    if version and value in {"major", "minor", "patch"}:
        major, minor, patch = (int(n or 0) for n in version.groups())
        value = {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0"}.get(
            value, f"{major}.{minor}.{patch + 1}"
        )
    yes = {**{k: (k, v) for k, v in _ON.items()}, **{v: (k, v) for k, v in _ON.items()}}
    if bare.lower() in yes and value.lower() in yes and not (bare.isdigit() and not wish.sign):
        word = yes[bare.lower()][0 if value.lower() == yes[value.lower()][0] else 1]
        return (
            quote
            + (
                word.upper()
                if bare.isupper() and len(bare) > 1
                else word.capitalize()
                if bare[:1].isupper()
                else word
            )
            + quote
        )
    if wish.sign and wish.kind == "set":
        raise CannotDo(f"Not changed: its value is {code(old)}, which is neither on nor off.")
    if re.fullmatch(r"-?\d+(?:\.\d+)?[a-z%]*", bare):
        number = re.match(r"-?\d+(?:[.,]\d+)?", value)
        if number is None:
            raise CannotDo(f"Not changed: its value is the number {code(old)}, and {code(value)} is none.")
        unit = re.sub(r"^-?\d+(?:\.\d+)?", "", bare)
        given = re.match(r"-?\d+(?:[.,]\d+)?([a-z%]+)", value)
        value = number.group() + (given[1] if unit and given else unit)
        return f"{quote}{value}{quote}"
    prefix = re.match(r"[\^~]", bare)
    if quote:
        return f"{quote}{prefix.group() if prefix and value[:1].isdigit() else ''}{value}{quote}"
    if kind in {"json", "toml", "py", "js", "ts"} and not re.fullmatch(
        r"-?\d+(?:\.\d+)?|true|false|null|True|False|None|\[.*\]|\{.*\}", value
    ):
        return f'"{value}"'
    return value
