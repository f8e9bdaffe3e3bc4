"""The words of a text without the marks of Markdown, for a row or a title."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^\s*(?:```|~~~)")
# A table's second line, a rule, a heading's underline.
_RULE = re.compile(r"^[\s|:=*_-]+$")
_START = re.compile(r"^\s*(?:>\s?|[-*+]\s+|\d{1,9}[.)]\s+|\[[ xX]\]\s+)+")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
# Link or picture: no nesting, and bounded, so that no text makes it slow.
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}(?:\s[^()]{0,200})?\)")
_CODE = re.compile(r"`{1,3}([^`]*)`{1,3}")
_STRONG = re.compile(r"(?<![\w*])(\*{1,3}|~~)(?=\S)([^*~]{1,300}?)(?<=\S)\1(?![\w*])")
# A name such as tests/__init__.py is none.
_UNDERLINED = re.compile(r"(?<![\w/.])(_{1,3})(?=[^\s_])([^_]{1,300}?)(?<=\S)\1(?!\w|\.\w)")


def bare_words(text: str) -> str:
    """On one line: links give their words, table cells stand apart by ·, headings go where anything else is said.

    Linear in the text's length; callers give the beginning of it. Marks that are left open stay as they are.
    """
    said: list[str] = []
    headings: list[str] = []
    for line in text.split("\n"):
        if not line.strip() or _FENCE.match(line) or _RULE.match(line):
            continue
        if _HEADING.match(line):
            headings.append(_inline(_HEADING.sub("", line, count=1).rstrip("# ")))
        else:
            said.append(_inline(_cells(_START.sub("", line, count=1))))
    return " ".join(" ".join(said or headings).split())


def _cells(line: str) -> str:
    inner = line.strip()
    if not (inner.startswith("|") and inner.endswith("|") and len(inner) > 1):
        return line
    return " · ".join(cell.strip() for cell in inner.strip("|").split("|") if cell.strip())


def _inline(line: str) -> str:
    plain = []
    end = 0
    # What stands in code is not touched.
    for code in _CODE.finditer(line):
        plain += [_marks(line[end : code.start()]), code[1]]
        end = code.end()
    return "".join([*plain, _marks(line[end:])])


def _marks(words: str) -> str:
    return _UNDERLINED.sub(r"\2", _STRONG.sub(r"\2", _LINK.sub(r"\1", words)))
