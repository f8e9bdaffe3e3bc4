"""New folders, with empty files in them when some are named."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import code, count, link


def create_folder(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    listed = re.split(r",\s*|\s+and\s+|\s+", ask.plain(match.group("names")))
    names = [n.strip("\"'`.,/") for n in ([*ask.paths, *ask.quotes] if ask.paths or ask.quotes else listed)]
    names = [
        n
        for n in dict.fromkeys(names)
        if n
        and n.lower()
        not in {"a", "the", "folder", "folders", "directory", "called", "named", "new", "and", "here", "in"}
    ]
    if not names:
        raise CannotDo("Create which folder? For example: `create a folder called docs`.")
    inside = re.search(
        r"\bwith (?:\w+ )*?files?(?: called| named|:)? (?P<files>.+?)(?: (?:in|inside|within) (?:it|them))?$",
        ask.plain(),
        re.I,
    )
    files = (
        [n for n in re.split(r",\s*|\s+and\s+|\s+", inside.group("files")) if re.fullmatch(r"[\w.-]+", n)]
        if inside
        else []
    )
    names = [n for n in names if n not in files]
    command = "mkdir -pv " + " ".join(moves.quoted(n) for n in names)
    outcome = yield from moves.shell(
        desk,
        command,
        "Making the folder." if len(names) == 1 else "Making the folders.",
        what="making a folder",
    )
    for file in files:
        yield from moves.write(desk, f"{names[0]}/{file}", "", f"Writing {code(f'{names[0]}/{file}')}.")
    made = moves.output(outcome)
    if files:
        return f"{link(names[0] + '/')} has now {count(len(files), 'empty file')}: {', '.join(link(f'{names[0]}/{file}') for file in files)}."
    if not made.strip():
        return f"{', '.join(link(n + '/') for n in names)} {'was' if len(names) == 1 else 'were'} there already; nothing changed."
    return f"Made {', '.join(link(n + '/') for n in names)}."


_MAKE = r"(?:create|make|write|generate|add|build|give me|produce|set up|touch|new|i (?:want|need)|code|program|implement|develop|prepare|overwrite|put|draft|initiali[sz]e|save)"

RULES: list[Rule] = [
    rule(rf"{_MAKE}\b(?: me| us)? (?:an? |the |some |another |new |empty |few |two |three |(?:sub))*(?:folders?|directory|directories|dirs?|subfolders?)\b(?: structure)?(?: with)?(?: called| named| for|:)? ?(?P<names>.+)$", create_folder),
    rule(rf"(?:mkdir(?: -p)?|{_MAKE} (?:an? |the )?(?=(?:‹p\d+›|[\w-]+) (?:folder|directory)$)) ?(?P<names>.+)$", create_folder),
]  # fmt: skip
