"""File patterns: `*.py`, `src/**/test_*.{js,ts}` (spec 05 §7)."""

from __future__ import annotations

import regex

from sessions_app.agent.tools.base import ToolError

_LONGEST = 1000
_SECONDS = 0.5  # for one name


class Glob:
    """A pattern without `/` is for names at any depth, one with `/` for the path from the search root.

    `*` and `?` do not match `/`, `**` does; `[…]`, `[!…]` and `{a,b}` as in a shell. Raises ToolError for a
    malformed pattern.
    """

    def __init__(self, pattern: str, *, ignore_case: bool = False) -> None:
        pattern = pattern.removeprefix("./")
        self.names_only = "/" not in pattern
        if len(pattern) > _LONGEST:
            raise ToolError(f"The file pattern is longer than {_LONGEST} characters.")
        try:
            self._regex = regex.compile(
                _translated(pattern.strip("/")), regex.DOTALL | (regex.IGNORECASE if ignore_case else 0)
            )
        except regex.error as error:
            raise ToolError(f"The file pattern {pattern!r} is malformed: {error}.") from error

    def matches(self, relative: str) -> bool:
        """Whether the path, relative to the search root and with `/` between its parts, is meant."""
        subject = relative.rpartition("/")[2] if self.names_only else relative
        try:
            return self._regex.fullmatch(subject, timeout=_SECONDS) is not None
        except TimeoutError as error:
            raise ToolError("The file pattern takes too long to compare. Use fewer wildcards.") from error


def _translated(pattern: str) -> str:
    parts: list[str] = []
    position = depth = 0
    while position < len(pattern):
        rest = pattern[position:]
        char = rest[0]
        step = 1
        if rest.startswith("**/") and (position == 0 or pattern[position - 1] == "/"):
            parts.append("(?:[^/]+/)*+")
            step = 3
        elif char == "*":
            stars = len(rest) - len(rest.lstrip("*"))
            crosses = stars > 1 and stars == len(rest) and (position == 0 or pattern[position - 1] == "/")
            parts.append(".*" if crosses else "[^/]*")
            step = stars
        elif char == "?":
            parts.append("[^/]")
        elif char == "[" and (end := rest.find("]", 3 if rest[1:2] in ("!", "^") else 2)) > 0:
            parts.append(_character_class(rest[1:end]))
            step = end + 1
        elif char == "{":
            parts.append("(?:")
            depth += 1
        elif char == "}" and depth:
            parts.append(")")
            depth -= 1
        elif char == "," and depth:
            parts.append("|")
        elif char == "\\" and len(rest) > 1:
            parts.append(regex.escape(rest[1]))
            step = 2
        else:
            parts.append(regex.escape(char))
        position += step
    if depth:
        raise ToolError(f"The file pattern {pattern!r} is malformed: a brace is not closed.")
    return "".join(parts)


def _character_class(inner: str) -> str:
    negated = inner[0] in "!^"
    body = regex.sub(r"([\\\[\]&~|^])", r"\\\1", inner[1:] if negated else inner)
    return f"(?!/)[{'^' if negated else ''}{body}]"
