"""What happens around a session: its timeline, who else is at work in its folder, and a branch as one page for paper."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from sessions_app import entry_log, fragments, session_rows
from sessions_app.fragments.branch_cost import branch_cost
from sessions_app.fragments.company import company as find_company
from sessions_app.fragments.happened import happened
from sessions_app.models import Session
from sessions_app.views.errors import wants_fragment
from sessions_app.views.sessions import visible_session

PRINTED_AT_ONCE = 100
"""Entries that are read and sent together, so that a long branch needs no more memory than a short one."""

_FOLDED = re.compile(r"<details(?![^>]*\sopen)")


@require_GET
def session_history(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Facts of the session and its timeline: a dialog for htmx (with `before` only older rows), else a page."""
    session = visible_session(request, key)
    text = request.GET.get("before", "")
    before = int(text) if text.isdecimal() and len(text) < 12 else None
    facts = {"session": session, "happened": happened(session, request.user, before=before)}
    if wants_fragment(request) and before is not None:
        return render(request, "sessions_app/_happened_rows.html", facts)
    facts |= {
        "workspace_path": session_rows.short_path(session.workspace.path),
        "branch_cost": branch_cost(session),
        "entries": session.next_seq - 1,
        "may_edit": fragments.may_edit(session, request.user),
        "page": "sessions",
    }
    name = "_history_dialog" if wants_fragment(request) else "history"
    return render(request, f"sessions_app/{name}.html", facts)


@require_GET
def company(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Which other sessions are at work in the same folder while this one is."""
    session = visible_session(request, key)
    facts = {"company": find_company(session, request.user)}
    return render(request, "sessions_app/_company.html", facts)


@require_GET
def session_print(request: HttpRequest, key: uuid.UUID) -> StreamingHttpResponse:
    """The whole active branch, nothing folded and nothing cut short."""
    session = visible_session(request, key)
    page = render_to_string("sessions_app/print.html", {"session": session, "articles": "\0"}, request)
    head, _, end = page.partition("\0")

    def parts() -> Iterator[str]:
        yield head
        yield from _articles(request, session)
        yield end

    return StreamingHttpResponse(parts())


def _articles(request: HttpRequest, session: Session) -> Iterator[str]:
    length = session.leaf.depth + 1 if session.leaf else 0
    for start in range(0, length, PRINTED_AT_ONCE):
        end = min(start + PRINTED_AT_ONCE, length)
        window = entry_log.load_window(session, before_depth=end, limit=end - start)
        for entry in window.entries:
            entry.session = session
        html = fragments.render_entries(window.entries, user=request.user, full=True)
        yield _FOLDED.sub("<details open", html)
