"""Pieces of HTML that are the same in a page and over the socket; each function gives one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.template.loader import render_to_string

from sessions_app.fragments.articles import describe, source_of
from sessions_app.fragments.commands import render_commands
from sessions_app.fragments.live_parts import (
    LiveBlock,
    LiveMessage,
    live_message_of,
    render_compacting,
    render_live_block,
    render_live_message,
    render_live_note,
    render_retrying,
    render_tool_open,
    render_tool_running,
    tail_of,
)
from sessions_app.fragments.permission import may_edit
from sessions_app.fragments.questions import render_questions
from sessions_app.fragments.replaced import render_replaced
from sessions_app.fragments.session_parts import (
    render_queue,
    render_run_notice,
    render_run_status,
    render_session_meta,
    render_session_name,
    render_session_row,
    render_tree,
    render_tree_run,
    run_state,
    thinking_levels,
)
from sessions_app.fragments.surroundings import look_around, open_calls
from sessions_app.fragments.tool_cards import SHOWN_IMAGES
from sessions_app.models import Entry

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

__all__ = [
    "SHOWN_IMAGES",
    "LiveBlock",
    "LiveMessage",
    "live_message_of",
    "may_edit",
    "open_calls",
    "render_commands",
    "render_compacting",
    "render_entries",
    "render_entry",
    "render_live_block",
    "render_live_message",
    "render_live_note",
    "render_questions",
    "render_queue",
    "render_replaced",
    "render_retrying",
    "render_run_notice",
    "render_run_status",
    "render_session_meta",
    "render_session_name",
    "render_session_row",
    "render_tool_open",
    "render_tool_running",
    "render_tree",
    "render_tree_run",
    "render_undo_bar",
    "run_state",
    "source_of",
    "tail_of",
    "thinking_levels",
]


def render_entry(
    entry: Entry, *, user: AnyUser, full: bool = False, form: str = "", out_of_band: bool = False
) -> str:
    """One article. `full` cuts nothing short; `form` opens `edit` or `label` inside it; `out_of_band`: htmx puts it
    in the place of the one that is on the page."""
    around = look_around([entry], user=user, full=full)
    template, context = describe(entry, around, form)
    return render_to_string(template, context | {"out_of_band": out_of_band})


def render_entries(entries: Sequence[Entry], *, user: AnyUser, full: bool = False) -> str:
    """The articles of entries of one session, given in path order; `full` cuts nothing short."""
    if not entries:
        return ""
    around = look_around(entries, user=user, full=full)
    return "".join(render_to_string(*describe(entry, around)) for entry in entries)


def render_undo_bar(*, words: str, address: str, action: str, target: int) -> str:
    """What was just done with an entry, out of band, with the way back; it goes by itself."""
    return render_to_string(
        "sessions_app/_undo_bar.html",
        {"words": words, "address": address, "action": action, "target": target},
    )
