"""Instructions for a kind of work that the model opens when it needs them, or a person names: `/skill:name` (06 §9)."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from sessions_app.agent.front_matter import Headed, read_head
from sessions_app.agent.prompt_templates import read_text

logger = logging.getLogger(__name__)

FILE = "SKILL.md"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_MOST_FOLDERS = 2000


@dataclass(frozen=True, slots=True)
class Skill:
    """`is_offered`: the model is told of it; else only a person can name it."""

    name: str
    description: str
    path: Path
    body: str
    is_offered: bool = True


def find_skills(folder: Path, *, on_warning: Callable[[str], None] | None = None) -> list[Skill]:
    """Those below the folder, the first of a name counting. One without a description is none."""
    warn = on_warning or (lambda text: logger.warning("skill: %s", text))
    found: dict[str, Skill] = {}
    seen: set[Path] = set()
    for path in _files(folder):
        real = path.resolve()
        if real in seen:
            continue
        seen.add(real)
        text = read_text(path)
        headed = read_head(text) if text is not None else None
        if headed is None:
            warn(f"{path} cannot be read and was left out.")
            continue
        skill = _skill(path, headed, warn)
        if skill is None:
            continue
        if skill.name in found:
            warn(f"{path} is left out: {found[skill.name].path} has the name {skill.name!r} already.")
        else:
            found[skill.name] = skill
    return list(found.values())


def skills_section(skills: Sequence[Skill]) -> str:
    """What the system prompt says of them; the same skills always give the same bytes."""
    offered = [skill for skill in skills if skill.is_offered]
    if not offered:
        return ""
    lines = ["Instructions for kinds of work. Read the file of one when its description fits what is asked."]
    lines += [
        f"<skill name={quoteattr(skill.name)} location={quoteattr(str(skill.path))}>{escape(skill.description)}</skill>"
        for skill in sorted(offered, key=lambda skill: skill.name)
    ]
    return "\n".join(lines)


def told(skill: Skill, words: str) -> str:
    """A skill a person named, as the model is told: whole, with where its files are, then the person's words."""
    head = f"<skill name={quoteattr(skill.name)} location={quoteattr(str(skill.path))}>"
    block = f"{head}\nPaths in it are relative to {skill.path.parent}.\n\n{skill.body}\n</skill>"
    return f"{block}\n\n{words}" if words else block


def _files(folder: Path) -> Iterator[Path]:
    """Each SKILL.md, with nothing below its folder; Markdown files directly in the root too."""
    if not folder.is_dir():
        return
    yield from sorted(path for path in folder.glob("*.md") if path.name != FILE)
    for number, (name, folders, files) in enumerate(os.walk(folder)):
        if number > _MOST_FOLDERS:
            return
        if FILE in files:
            folders.clear()
            yield Path(name, FILE)
        else:
            folders[:] = sorted(child for child in folders if child[0] != "." and child != "node_modules")


def _skill(path: Path, headed: Headed, warn: Callable[[str], None]) -> Skill | None:
    description = headed.fields.get("description", "").strip()
    if not description:
        if path.name == FILE:
            warn(f"{path} has no description and was left out.")
        return None
    name = headed.fields.get("name") or (path.parent.name if path.name == FILE else path.stem)
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        warn(f"{path}: the name {name!r} should be small letters, digits and single hyphens.")
    if len(description) > _LONGEST_DESCRIPTION:
        warn(f"{path}: the description is longer than {_LONGEST_DESCRIPTION} characters.")
    is_offered = headed.fields.get("disable-model-invocation", "").lower() != "true"
    return Skill(name, description, path, headed.body, is_offered)
