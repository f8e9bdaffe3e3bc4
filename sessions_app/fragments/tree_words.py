"""What is said in a drawing of the tree: first words, errors, labels, names for screen readers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Substr

from sessions_app.core import faces
from sessions_app.core.drawing import Place
from sessions_app.core.search_words import Phrase, excerpt_around, text_to_find
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.tree_panel import first_words
from sessions_app.fragments.wording import tokens
from sessions_app.models import Entry
from sessions_app.tree_rows import at_places

HEAD = 4_000
"""Characters of a record that are looked at for its first words."""
LONGEST = 28

KIND_NAMES: dict[str, str] = {
    faces.USER: "Your message",
    faces.ANSWER: "Answer",
    faces.CALLS: "Tool calls",
    faces.RESULT: "Tool result",
    faces.CHANGE: "File change",
    faces.FAILURE: "Failed tool",
    faces.ERROR: "Error",
    faces.STOPPED: "Stopped answer",
    faces.COMPACTION: "Compaction",
    faces.BRANCH_SUMMARY: "Branch summary",
    faces.CUSTOM_MESSAGE: "Note",
    faces.SHELL: "Your command",
    faces.SYSTEM: "Instructions",
    faces.EDIT: "Context edit",
    faces.NOTE: "Setting",
    faces.USAGE: "Usage",
    faces.UNKNOWN: "Entry",
}
OUTCOME_GLYPHS = {"worked": "worked", "dead_end": "dead", "in_progress": "idle"}

_ERROR = re.compile(r'"errorMessage"\s*:\s*"((?:[^"\\]|\\.){0,200})')
_TOKENS_BEFORE = re.compile(r'"tokensBefore"\s*:\s*(\d{1,12})')
_TOOL = re.compile(r'"toolName"\s*:\s*"((?:[^"\\]|\\.){0,60})')
_COMMAND = re.compile(r'"command"\s*:\s*"((?:[^"\\]|\\.){0,120})')
_FROM = re.compile(r'"fromId"\s*:\s*"((?:[^"\\]|\\.){0,200})')


@dataclass(frozen=True, slots=True)
class Words:
    """Of one entry: its seq, `text` in full enough for a tooltip, `short` for a drawing; `from_id` of a summary."""

    seq: int
    face: str
    text: str
    short: str
    from_id: str = ""

    @property
    def name(self) -> str:
        """For screen readers: what a person said is named by it, the rest by what it is."""
        kind = KIND_NAMES.get(self.face, "Entry")
        if self.face == faces.USER and self.text:
            return self.text
        return f"{kind}: {self.text}" if self.text else kind


def words_at(places: Iterable[Place]) -> dict[Place, Words]:
    """Of many entries in one query, reading only the beginning of each record."""
    rows = Entry.objects.filter(at_places(places)).only("seq", "face", "segment_id", "ordinal")
    rows = rows.annotate(head=Substr("payload", 1, HEAD))
    return {(row.segment_id, row.ordinal): words_of(row) for row in rows}


def words_around(places: Iterable[Place], phrases: tuple[Phrase, ...]) -> dict[Place, str]:
    """Of entries in which something was found: the words around it."""
    rows = Entry.objects.filter(at_places(places))
    return {(row.segment_id, row.ordinal): _found_in(text_to_find(row.as_core()), phrases) for row in rows}


def _found_in(text: str, phrases: tuple[Phrase, ...]) -> str:
    return one_line("".join(piece for piece, _is_looked_for in excerpt_around(text, phrases, 36)), 60)


def words_of(row: Any) -> Words:
    """`row` has `head`, the beginning of the record."""
    head: str = row.head
    text = _text(row.face, head)
    from_id = _found(_FROM, head) if row.face == faces.BRANCH_SUMMARY else ""
    return Words(row.seq, row.face, text, one_line(text, LONGEST), from_id)


def _text(face: str, head: str) -> str:
    match face:
        case faces.ERROR:
            return one_line(_found(_ERROR, head), 80) or first_words(head)
        case faces.COMPACTION:
            found = _TOKENS_BEFORE.search(head)
            return f"{tokens(int(found[1]))} tokens" if found else ""
        case faces.RESULT | faces.CHANGE | faces.FAILURE:
            return one_line(_found(_TOOL, head), 40)
        case faces.SHELL:
            return one_line(_found(_COMMAND, head), 60)
        case faces.NOTE | faces.EDIT | faces.SYSTEM | faces.USAGE:
            return ""
        case faces.USER:
            return first_words(head) or "Image"
        case _:
            return first_words(head)


def _found(pattern: re.Pattern[str], head: str) -> str:
    match = pattern.search(head)
    if match is None:
        return ""
    return match[1].replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")
