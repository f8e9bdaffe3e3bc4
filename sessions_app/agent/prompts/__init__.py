"""The words of our prompts: one Markdown file each, filled by `string.Template`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def load(name: str) -> str:
    """The text of `<name>.md` without its last line end."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


def fill(name: str, **values: str) -> str:
    """The prompt with its `${…}` places filled; what is filled in is not looked into again."""
    return Template(load(name)).substitute(values)
