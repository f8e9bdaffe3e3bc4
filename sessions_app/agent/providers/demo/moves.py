"""Single moves of jobs: one tool call each, by whichever tool the request allows, and its result taken apart."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.script import Call, CannotDo, Json, Outcome, Step, ToolFailed
from sessions_app.agent.providers.demo.writing import code, link

#: What a request says in place of a result without text.
NO_TEXT = "(no output)"
T = TypeVar("T")
Move = Generator[Step, list[Outcome], T]

SKIPPED = (
    ".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox", "dist", "build", "target",
)  # fmt: skip
_NOTICE = re.compile(
    r"(?:^|\n)\[(?=[^\[\]]* )[^\[\]]*(?:offset|more lines|Showing lines|limit|lines remaining|remain)[^\[\]]*\]\s*$",
    re.I,
)
_HIT = re.compile(r"^(?:\./)?(.+?):(\d+):\s?(.*)$")
_NOTHING = re.compile(r"\((?:no output|empty folder)\)|No line matches\.|Nothing matches the pattern\.")
_ENDING = re.compile(r"\n*The command (?:exited with code|was ended)[^\n]*\s*$")


@dataclass(frozen=True, slots=True)
class Hit:
    """One line found by a search."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FileText:
    """What a read brought: the text without the tool's notice, and whether it is the whole rest of the file."""

    path: str
    text: str
    whole: bool
    image: bool = False

    @property
    def lines(self) -> list[str]:
        return self.text.removesuffix("\n").split("\n") if self.text else []


def need(desk: Desk, *names: str, what: str) -> str:
    """The first of `names` that the request allows. Raises CannotDo naming what is missing."""
    for name in names:
        if name in desk.tools:
            return name
    wanted = " or ".join(f"`{name}`" for name in names)
    present = ", ".join(f"`{name}`" for name in sorted(desk.tools)) or "none"
    raise CannotDo(
        f"Not done: {what} needs the tool {wanted}, and it is switched off here. Tools that are on: {present}."
    )


def call(name: str, arguments: Json, say: str = "") -> Move[Outcome]:
    """One call, whatever comes of it."""
    outcomes = yield Step(say, (Call(name, arguments),))
    return outcomes[0]


def calls(wanted: Sequence[Call], say: str = "") -> Move[list[Outcome]]:
    """Several calls in one answer."""
    if not wanted:
        return []
    return (yield Step(say, tuple(wanted)))


def shell(
    desk: Desk,
    command: str,
    say: str = "",
    *,
    what: str = "running a command",
    timeout: int | None = None,
    check: bool = True,
) -> Move[Outcome]:
    """Run a command. With `check`, a failure ends the job."""
    need(desk, "bash", what=what)
    arguments: Json = {"command": command}
    if timeout is not None:
        arguments["timeout"] = timeout
    outcome = yield from call("bash", arguments, say)
    if check and outcome.is_error:
        raise ToolFailed(Call("bash", arguments), outcome)
    return outcome


def output(outcome: Outcome) -> str:
    """A command's output without the tool's own words: the placeholder for none, and how a failure ended."""
    text = _ENDING.sub("", outcome.text).strip("\n") if outcome.is_error else outcome.text.strip("\n")
    return "" if _NOTHING.fullmatch(text.strip()) else text


def lines_of(outcome: Outcome) -> list[str]:
    """The lines of a result, without notices."""
    text = output(Outcome(_NOTICE.sub("", outcome.text), outcome.is_error))
    return [line for line in text.split("\n") if line.strip()]


def quoted(path: str) -> str:
    """A path as an argument of a shell command."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def read(
    desk: Desk,
    path: str,
    say: str = "",
    *,
    offset: int | None = None,
    limit: int | None = None,
    check: bool = True,
) -> Move[FileText | None]:
    """Read a file, or a part of it. None when it failed and `check` is off."""
    need(desk, "read", what="reading a file")
    arguments: Json = {"path": path}
    if offset is not None:
        arguments["offset"] = offset
    if limit is not None:
        arguments["limit"] = limit
    outcome = yield from call("read", arguments, say)
    if outcome.is_error:
        if check:
            raise ToolFailed(Call("read", arguments), outcome)
        return None
    return file_text(path, outcome)


def file_text(path: str, outcome: Outcome) -> FileText:
    """A read result as text and what is known of its completeness."""
    truncation = outcome.details.get("truncation")
    cut = bool(isinstance(truncation, dict) and truncation.get("truncated"))
    notice = _NOTICE.search(outcome.text)
    text = outcome.text[: notice.start()] if notice else outcome.text
    if text == NO_TEXT:
        text = ""
    image = (
        bool(re.match(r"(?:read|loaded)? ?(?:\[|\()?image\b|read image", text.strip(), re.I))
        and len(text) < 400
    )
    return FileText(path, text, not cut and notice is None, image)


def full(desk: Desk, path: str, say: str = "") -> Move[FileText]:
    """The whole file, for changing it; found by name when the path is not exact. Raises CannotDo when it is cut."""
    found = yield from reach(desk, path, say)
    if found.image:
        raise CannotDo(f"{link(found.path)} is an image; the demo model changes text files only.")
    if not found.whole:
        raise CannotDo(
            f"{link(found.path)} is longer than one read shows, so the demo model leaves it unchanged. A command can do it, for example `run sed …`."
        )
    return found


def reach(
    desk: Desk, path: str, say: str = "", *, offset: int | None = None, limit: int | None = None
) -> Move[FileText]:
    """Read a file by its path or, failing that, by its name somewhere below."""
    need(desk, "read", what="reading a file")
    direct = None
    if "/" in path or "." in path[1:]:
        direct = yield from read(
            desk, path, say or f"Reading {code(path)}.", offset=offset, limit=limit, check=False
        )
    if direct is not None:
        return direct
    place = yield from locate(desk, path, known_missing="." in path or "/" in path)
    if place.endswith("/"):
        raise CannotDo(
            f"{link(place)} is a folder. “list {place}” shows what is in it, “summarise {place}” reads its main files."
        )
    found = yield from read(desk, place, f"Reading {code(place)}.", offset=offset, limit=limit)
    if found is None:
        raise CannotDo(f"{link(place)} could not be read.")
    return found


def locate(desk: Desk, name: str, *, known_missing: bool = False) -> Move[str]:
    """The path of a file or folder called roughly `name`. Raises CannotDo when there is none."""
    base = name.rstrip("/").rsplit("/", 1)[-1]
    every = yield from every_path(
        desk,
        f"Looking for {code(base)}."
        if not known_missing
        else f"No {code(name)} at that path. Looking for it by name.",
    )
    lower = base.lower()

    def named(path: str) -> str:
        return path.rstrip("/").rsplit("/", 1)[-1].lower()

    pools = [
        [p for p in every if named(p) == lower],
        [p for p in every if named(p).rsplit(".", 1)[0] == lower and not p.endswith("/")],
        [
            p
            for p in every
            if "." in lower
            and named(p).rsplit(".", 1)[0] == lower.rsplit(".", 1)[0]
            and named(p).endswith(lower.rsplit(".", 1)[1])
        ],
    ]
    for pool in pools:
        if pool:
            top = min(p.count("/") for p in pool)
            level = [p for p in pool if p.count("/") == top and not p.endswith("/")]
            if len(level) > 1 and len({p.rsplit(".", 1)[-1] for p in level}) == 1:
                raise CannotDo(
                    f"Which {code(base)}? There are {len(level)}: {', '.join(link(p) for p in level[:8])}. Name one with its path."
                )
            return min(pool, key=lambda p: (p.endswith("/"), p.count("/"), not _main_text(p), len(p), p))
    near = difflib.get_close_matches(lower, sorted({named(p) for p in every}), n=1, cutoff=0.85)
    # A slip of the fingers, yes; chapter-02 for chapter-03, never.
    if near and re.findall(r"\d+", near[0]) == re.findall(r"\d+", lower):
        return min((p for p in every if named(p) == near[0]), key=lambda p: (p.count("/"), p))
    similar = difflib.get_close_matches(lower, sorted({named(p) for p in every}), n=3, cutoff=0.6)
    containing = [p for p in every if lower.rsplit(".", 1)[0] in named(p)][:3]
    hints = list(dict.fromkeys([*containing, *(p for p in every if named(p) in similar)]))[:4]
    raise CannotDo(
        f"No {code(name)} in this folder."
        + (" Similar names: " + ", ".join(link(p) for p in hints) + "." if hints else "")
    )


def _main_text(path: str) -> bool:
    return path.lower().endswith((".md", ".rst", ".txt"))


def there(desk: Desk, name: str) -> Move[str]:
    """The path itself when it is there, else the file of that name below. Raises CannotDo."""
    if "bash" in desk.tools and (yield from exists(desk, name, f"Is {code(name)} there?")):
        return name
    return (yield from locate(desk, name, known_missing="bash" in desk.tools))


def listing(desk: Desk, path: str = ".", say: str = "", *, check: bool = True) -> Move[list[str] | None]:
    """Names in one folder, folders with a slash. None when it failed and `check` is off."""
    tool = need(desk, "ls", "bash", what="listing a folder")
    if tool == "ls":
        arguments: Json = {} if path == "." else {"path": path}
    else:
        arguments = {"command": "ls -Ap" if path == "." else f"ls -Ap {quoted(path)}"}
    outcome = yield from call(tool, arguments, say)
    if outcome.is_error:
        if check:
            raise ToolFailed(Call(tool, arguments), outcome)
        return None
    return sorted((line.strip() for line in lines_of(outcome)), key=str.lower)


def every_path(desk: Desk, say: str = "", *, path: str = ".", pattern: str = "*") -> Move[list[str]]:
    """All paths below a folder whose name fits the pattern, without what is usually generated."""
    known = f"{path}\n{pattern}"
    if known in desk.kept:
        return list(desk.kept[known])
    tool = need(desk, "find", "bash", what="finding files")
    if tool == "find":
        arguments: Json = {"pattern": pattern}
        if path != ".":
            arguments["path"] = path
    else:
        test = "" if pattern == "*" else f" -iname {shlex.quote(pattern)}"
        arguments = {"command": f"find {quoted(path)} {prune()} -o -type f{test} -print | head -1000"}
    outcome = yield from call(tool, arguments, say)
    if outcome.is_error:
        raise ToolFailed(Call(tool, arguments), outcome)
    found = [line.strip().removeprefix("./") for line in lines_of(outcome)]
    if tool == "bash" and pattern == "*":
        # The shell lists files only; their folders are what stands in front of them.
        found = [
            *found,
            *{"/".join(p.split("/")[:n]) + "/" for p in found for n in range(1, p.count("/") + 1)},
        ]
    prefix = "" if path == "." else path.rstrip("/") + "/"
    kept = [
        p
        for p in found
        if p not in {".", "", path, prefix} and not set(p.rstrip("/").split("/")) & set(SKIPPED)
    ]
    desk.kept[known] = sorted(p if p.startswith(prefix) else prefix + p for p in kept)
    return list(desk.kept[known])


def prune() -> str:
    """The part of a `find` command that leaves generated folders out."""
    return r"\( " + " -o ".join(f"-name {name}" for name in SKIPPED) + r" \) -prune"


def search(
    desk: Desk,
    pattern: str,
    say: str = "",
    *,
    path: str = ".",
    literal: bool = False,
    ignore_case: bool = False,
    glob: str = "",
    limit: int = 200,
) -> Move[list[Hit]]:
    """Lines that match, by the search tool or by the shell's grep."""
    tool = need(desk, "grep", "bash", what="searching in files")
    if tool == "grep":
        arguments: Json = {"pattern": pattern}
        if path != ".":
            arguments["path"] = path
        if literal:
            arguments["literal"] = True
        if ignore_case:
            arguments["ignoreCase"] = True
        if glob:
            arguments["glob"] = glob
        arguments["limit"] = limit
    else:
        flags = "-rnI" + ("i" if ignore_case else "") + ("F" if literal else "E")
        excluded = " ".join(f"--exclude-dir={name}" for name in SKIPPED)
        included = f" --include={shlex.quote(glob)}" if glob else ""
        arguments = {
            "command": f"grep {flags} {excluded}{included} -e {shlex.quote(pattern)} {quoted(path)} | head -{limit}"
        }
    outcome = yield from call(tool, arguments, say)
    if outcome.is_error:
        raise ToolFailed(Call(tool, arguments), outcome)
    prefix = "" if path == "." else path.rstrip("/") + "/"
    whole = path.rsplit("/", 1)[-1]
    hits: list[Hit] = []
    for line in lines_of(outcome):
        match = _HIT.match(line)
        if match:
            name = match.group(1)
            hits.append(
                Hit(
                    path
                    if name in {path, whole} and path != "."
                    else name
                    if name.startswith(prefix)
                    else prefix + name,
                    int(match.group(2)),
                    match.group(3).strip(),
                )
            )
    return hits


def exists(desk: Desk, path: str, say: str = "") -> Move[bool]:
    """Whether something is there already."""
    if "bash" in desk.tools:
        outcome = yield from shell(desk, f"[ -e {quoted(path)} ] && echo exists || echo free", say)
        return output(outcome).strip() == "exists"
    parent, _, name = path.rstrip("/").rpartition("/")
    names = yield from listing(desk, parent or ".", say, check=False)
    return bool(names) and name in {found.rstrip("/") for found in names or []}


def write(desk: Desk, path: str, content: str, say: str = "") -> Move[None]:
    """Write a whole file."""
    need(desk, "write", what="writing a file")
    arguments: Json = {"path": path, "content": content}
    outcome = yield from call("write", arguments, say)
    if outcome.is_error:
        raise ToolFailed(Call("write", arguments), outcome)


def edit(desk: Desk, path: str, edits: Sequence[tuple[str, str]], say: str = "") -> Move[Outcome]:
    """Replace passages of a file."""
    need(desk, "edit", what="changing a file")
    arguments: Json = {"path": path, "edits": [{"oldText": old, "newText": new} for old, new in edits]}
    outcome = yield from call("edit", arguments, say)
    if outcome.is_error:
        raise ToolFailed(Call("edit", arguments), outcome)
    return outcome
