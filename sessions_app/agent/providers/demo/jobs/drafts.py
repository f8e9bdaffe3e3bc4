"""First versions of usual documents, put together from what stands in the folder: README and CONTRIBUTING."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.overview import manifest_facts
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.outlines import outline
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Json, Script
from sessions_app.agent.providers.demo.writing import code, count, ending, fence, head, language, link

_MANIFESTS = ("pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "go.mod")


def _facts(desk: Desk) -> Move[tuple[Json, list[str]]]:
    every = yield from moves.every_path(desk, "Looking what is in the folder.")
    facts: Json = {}
    for name in _MANIFESTS:
        if name in every:
            text = yield from moves.reach(desk, name)
            facts = manifest_facts(name, text.text)
            break
    return facts, every


def _set_up(every: list[str]) -> str:
    """The command that installs what the project needs, by its manifest; empty when there is none."""
    for name, command in (
        ("pyproject.toml", "pip install -e ."),
        ("requirements.txt", "pip install -r requirements.txt"),
        ("package.json", "npm install"),
        ("Cargo.toml", "cargo build"),
        ("go.mod", "go build ./..."),
    ):
        if name in every:
            return command
    return ""


def _tests(every: list[str]) -> str:
    """The command that runs the tests, by their files; empty when there are none."""
    if "package.json" in every and any(re.search(r"(?:\.test|\.spec)\.[jt]sx?$", p) for p in every):
        return "npm test"
    if any(re.search(r"(?:^|/)test_[^/]*\.py$|_test\.py$", p) for p in every):
        if any(p.endswith(("pytest.ini", "conftest.py")) for p in every):
            return "python3 -m pytest"
        folder = " -s tests" if any(p.startswith("tests/") for p in every) else ""
        return f"python3 -m unittest discover{folder}"
    if any(p.endswith("_test.go") for p in every):
        return "go test ./..."
    return ""


def _layout(desk: Desk, every: list[str]) -> Move[list[str]]:
    """One line for each main file, with what it says of itself."""
    files = [
        p
        for p in every
        if not p.endswith("/") and language(p) and not re.search(r"(?:^|/)(?:test_|__init__)|\.lock$", p)
    ]
    files.sort(key=lambda p: (p.count("/"), p))
    lines = []
    for path in files[:12]:
        text = yield from moves.reach(desk, path)
        about = outline(path, text.text).about if ending(path) in {"py", "js", "ts", "md", "sh"} else ""
        about = re.sub(r"\s+", " ", about).strip()
        first = re.split(r"(?<=[.!?])\s", about)[0][:120] if about else ""
        lines.append(f"- `{path}`" + (f": {first}" if first else ""))
    return lines


def draft(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A README or CONTRIBUTING from the facts of the folder; an existing one is left as it is."""
    kind = (
        "CONTRIBUTING"
        if ask.has(r"contribut") or any("contribut" in p.lower() for p in ask.paths)
        else "README"
    )
    path = next(
        (p for p in ask.paths if kind.lower() in p.lower() and p.lower() != kind.lower()), f"{kind}.md"
    )
    if (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
        raise CannotDo(
            f"{link(path)} exists already and was left as it is. “summarise {path}” tells what it says."
        )
    facts, every = yield from _facts(desk)
    set_up, tests = _set_up(every), _tests(every)
    name = str(facts.get("name") or "This project")
    lines = [
        f"# {name}"
        if kind == "README"
        else f"# Contributing to {name}"
        if facts.get("name")
        else "# Contributing",
        "",
    ]
    if kind == "README":
        lines += [str(facts.get("description") or "What this is for: to be written."), ""]
    else:
        lines += ["Thank you for helping. This is how to set the project up and check a change.", ""]
    if set_up:
        lines += ["## Set up" if kind == "CONTRIBUTING" else "## Install", "", "```sh", set_up, "```", ""]
    if tests:
        lines += [
            "## Tests",
            "",
            "Run them before every change that you hand in:" if kind == "CONTRIBUTING" else "Run them with:",
            "",
            "```sh",
            tests,
            "```",
            "",
        ]
    layout = yield from _layout(desk, every)
    if layout:
        lines += ["## What is where" if kind == "CONTRIBUTING" else "## Files", "", *layout, ""]
    if kind == "CONTRIBUTING":
        lines += [
            "## A change",
            "",
            "1. Make a branch.",
            "2. Change one thing" + (" and add a test for it." if tests else "."),
            "3. Say in the commit message what changed and why.",
            "",
        ]
    text = "\n".join(lines).rstrip() + "\n"
    yield from moves.write(desk, path, text, f"Writing {code(path)}.")
    shown, more = head(text, 24)
    tail = f"\n\n{count(more, 'more line')} in the file." if more else ""
    return f"Wrote {link(path)} from what stands in the folder; what only you know is left to you.\n\n{fence(shown, 'md')}{tail}"


def told_file(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A new file with the text or the title that the request gives."""
    path, given = ask.plain(match.group("file")), ask.plain(match.group("text"))
    if (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
        raise CannotDo(f"{link(path)} exists already and was left as it is.")
    titled = re.search(r"\b(?:title|titled|heading)\b", match.group(), re.I) is not None
    text = given.replace("\\n", "\n")
    if titled and ending(path) in {"md", "markdown", ""}:
        text = f"# {given}\n"
    elif titled and ending(path) not in {"txt", "rst"}:
        raise CannotDo(
            f"Not written: a title is possible for text and Markdown files; {code(path)} is neither."
        )
    # Beside files of the same kind of name, in their folder.
    every = yield from moves.every_path(desk)
    kin = [
        p
        for p in every
        if "/" not in path
        and "/" in p
        and re.sub(r"\d+", "", p.rsplit("/", 1)[-1]) == re.sub(r"\d+", "", path)
        and re.search(r"\d", path)
    ]
    if kin:
        path = f"{kin[0].rpartition('/')[0]}/{path}"
    yield from moves.write(desk, path, text if text.endswith("\n") else text + "\n", f"Writing {code(path)}.")
    return f"Wrote {link(path)}:\n\n{fence(text, ending(path))}"


_DOCKER = {
    "package.json": 'FROM node:22-slim\nWORKDIR /app\nCOPY package*.json ./\nRUN npm install --omit=dev\nCOPY . .\nCMD ["npm", "start"]\n',
    "go.mod": 'FROM golang:1.23\nWORKDIR /app\nCOPY . .\nRUN go build -o /app/server .\nCMD ["/app/server"]\n',
}


def dockerfile(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A Dockerfile for what the folder's manifest says it is; for Python the file that can be started is named."""
    if (yield from moves.exists(desk, "Dockerfile", "Is `Dockerfile` free?")):
        raise CannotDo(f"{link('Dockerfile')} exists already and was left as it is.")
    every = yield from moves.every_path(desk, "What kind of project is this?")
    kind = next((name for name in _DOCKER if name in every), None)
    if kind is not None:
        text = _DOCKER[kind]
    else:
        starts = [
            p for p in every if p.endswith(".py") and not re.search(r"(?:^|/)(?:test_|__init__|setup\.py)", p)
        ]
        starts.sort(
            key=lambda p: (p.rsplit("/", 1)[-1] not in {"main.py", "app.py", "__main__.py"}, p.count("/"), p)
        )
        if not starts:
            raise CannotDo(
                "Not written: the folder has no package.json, go.mod or Python file, so it is not clear what the container should run."
            )
        install = next(
            (
                c
                for name, c in (
                    ("requirements.txt", "pip install --no-cache-dir -r requirements.txt"),
                    ("pyproject.toml", "pip install --no-cache-dir ."),
                )
                if name in every
            ),
            "",
        )
        text = (
            "FROM python:3.12-slim\nWORKDIR /app\nCOPY . .\n"
            + (f"RUN {install}\n" if install else "")
            + f'CMD ["python", "{starts[0]}"]\n'
        )
    yield from moves.write(desk, "Dockerfile", text, "Writing `Dockerfile`.")
    return f"Wrote {link('Dockerfile')}, a template that fits {code(kind or 'Python')}; it was not built here:\n\n{fence(text)}"


_ROBOTS = {"allow": "User-agent: *\nAllow: /\n", "disallow": "User-agent: *\nDisallow: /\n"}


def robots(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A robots.txt that lets everything in or keeps everything out."""
    if (yield from moves.exists(desk, "robots.txt", "Is `robots.txt` free?")):
        raise CannotDo(f"{link('robots.txt')} exists already and was left as it is.")
    text = _ROBOTS[
        "disallow" if ask.has(r"\b(?:disallow|block|forbid|deny|no|nothing|keep)\w*\b") else "allow"
    ]
    yield from moves.write(desk, "robots.txt", text, "Writing `robots.txt`.")
    return f"Wrote {link('robots.txt')}:\n\n{fence(text)}"


_NEW = r"(?:create|make|write|add|start|save|put|draft)\b(?: me| us)?(?: up)? (?:an? |the |my |new |short |small |little |quick |simple |another |text |markdown )*"

RULES: list[Rule] = [
    rule(rf"{_NEW}(?:[\w-]+ ){{0,3}}?(?:file )?(?:called |named )?(?P<file>{P}) (?:saying|that says|which says|with the (?:following )?(?:text|content|words?|line|sentence|note|message|title|heading)|titled|containing|reading|with)(?: the (?:text|title|heading))?:? (?P<text>{Q})$", told_file, lambda ask: len(ask.paths) == 1 and len(ask.quotes) == 1 and not ask.quotes[0].startswith("that ") and not ask.has(r"\b(?:tag|link|comment|button|image|row|column|key|line to|to the|in the|existing)\b") and ending(ask.paths[0]) in {"md", "txt", "rst", "log", ""}),
    rule(r"(?:create|make|write|add|generate|draft)\b (?:an? |the |me |simple |basic |small |working )*(?:dockerfile|‹p\d+›)(?: (?:for|to|that) [^‹]*)?$", dockerfile, lambda ask: ask.has(r"\bdockerfile\b") or [p.lower() for p in ask.paths] == ["dockerfile"]),
    rule(r"(?:create|make|write|add|generate)\b (?:an? |the |me )*(?:file )?(?:‹p\d+›|robots\.txt)(?: file)?(?: (?:that |which |to |for )?.*\b(?:allow|disallow|block|forbid|deny|let|search engines?|crawlers?|robots|bots)\w*\b.*)?$", robots, lambda ask: any(p.lower() == "robots.txt" for p in ask.paths) and not ask.quotes),
    rule(
        r"(?:create|make|add|write|generate|draft|prepare|start|set up|i (?:need|want)|give me)\b(?: me| us)? (?:an? |the |some |new |basic |simple |short |good |first |draft of (?:an? )?)*(?:contributing(?: guide(?:lines?)?| file| document)?|contribution guide(?:lines)?|contributor guide|readme|‹p\d+›)(?: file| document)?(?: (?:for|of|about|to|in|here)\b(?: (?:this|the|my|our|new|whole|it|contributors|project|folder|repo|repository|package|code|us))*)?$",
        draft,
        lambda ask: ask.has(r"contribut|readme") or any(re.search(r"(?:^|/)(?:contributing|readme)(?:\.md)?$", p, re.I) for p in ask.paths),
    ),
]  # fmt: skip
