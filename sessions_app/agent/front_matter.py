"""The head of a Markdown file between two lines of dashes: flat `key: value` lines, as skills and templates have it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"([A-Za-z][\w-]*)\s*:(?:\s+(.*))?$")


@dataclass(frozen=True, slots=True)
class Headed:
    """`fields` have lower-case names; `body` is what stands below the head, without blank lines around it."""

    fields: dict[str, str]
    body: str


def read_head(text: str) -> Headed | None:
    """None where a head was begun and cannot be read. Lines that are set in belong to the field above them."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return Headed({}, "\n".join(lines).strip("\n"))
    try:
        end = next(number for number, line in enumerate(lines) if number and line.rstrip() == "---")
    except StopIteration:
        return None
    fields: dict[str, str] = {}
    last = ""
    for line in lines[1:end]:
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t-" and last:
            fields[last] = f"{fields[last]} {line.strip()}".strip()
            continue
        found = _LINE.match(line.rstrip())
        if found is None:
            return None
        last = found[1].lower()
        value = (found[2] or "").strip()
        fields[last] = "" if value in (">", "|", ">-", "|-") else _bare(value)
    return Headed(fields, "\n".join(lines[end + 1 :]).strip("\n"))


def _bare(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
