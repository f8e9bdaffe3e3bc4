"""What a compaction replaced, a page at a time: each entry in one line, with the way to it."""

from __future__ import annotations

from dataclasses import dataclass

from django.template.loader import render_to_string

from sessions_app import entry_log
from sessions_app.core.bare_words import bare_words
from sessions_app.core.messages import tool_calls_of
from sessions_app.fragments import wording
from sessions_app.fragments.articles import source_of
from sessions_app.fragments.plain_text import one_line
from sessions_app.models import Entry, Session

PAGE = 40
"""Entries on one page."""

_SHAPES = {
    "user": ("user", "You"),
    "assistant": ("assistant", "Answer"),
    "toolResult": ("tool", "Result"),
    "bashExecution": ("shell", "Your command"),
    "system": ("note", "Instructions"),
    "custom_message": ("custom", "Extension"),
    "compaction": ("compaction", "Compaction"),
    "branch_summary": ("branch", "Branch summary"),
    "context_edit": ("omit", "Context changed"),
}


@dataclass(frozen=True, slots=True)
class ReplacedRow:
    """One entry: where it is, its shape, whose it is, when, and its first words."""

    seq: int
    glyph: str
    name: str
    clock: str
    words: str


def render_replaced(compaction: Entry, *, from_depth: int | None = None) -> str:
    """The rows from a depth on (None: from the first replaced entry), and the way to the next page."""
    start, end = entry_log.replaced_depths(compaction)
    first = start if from_depth is None else max(start, from_depth)
    last = min(first + PAGE, end)
    entries = []
    if last > first:
        session = Session.objects.get(pk=compaction.session_id)
        entries = entry_log.load_window(
            session, leaf=compaction, before_depth=last, limit=last - first
        ).entries
    return render_to_string(
        "sessions_app/_replaced.html",
        {
            "key": compaction.session.key,
            "seq": compaction.seq,
            "rows": [_row(entry) for entry in entries if entry.kind not in entry_log.METADATA_KINDS],
            "begins": from_depth is None,
            "next": last if last < end else None,
            "left": end - last,
        },
    )


def _row(entry: Entry) -> ReplacedRow:
    glyph, name = _SHAPES.get(entry.role or entry.kind, ("note", entry.kind.replace("_", " ").capitalize()))
    moment = wording.moment_of(entry.record.get("timestamp")) or entry.created_at
    return ReplacedRow(
        entry.seq, glyph, name, wording.clock(moment), one_line(bare_words(_words(entry)[:3000]), 300)
    )


def _words(entry: Entry) -> str:
    """Its own words, or the names of the tools it calls."""
    if words := source_of(entry).strip():
        return words
    message = entry.record.get("message")
    calls = tool_calls_of(message) if isinstance(message, dict) else []
    return ", ".join(str(call.get("name", "")) for call in calls)
