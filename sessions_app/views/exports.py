"""A session as a file: one branch, everything, or a page to read."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from sessions_app.fragments.exported_page import Node, render_exported_page
from sessions_app.models import Session
from sessions_app.services import sessions
from sessions_app.views.errors import tells_errors
from sessions_app.views.sessions import visible_session


@require_GET
@tells_errors
def session_export(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The active branch as a session file; with `whole` everything, with `page` everything as a page to read."""
    found = visible_session(request, key)
    name = slugify(str(found))[:60] or "session"
    if "page" in request.GET:
        text, kind, name = exported_page(found), "text/html", f"agentweb-session-{name}.html"
    else:
        text = sessions.export_session_text(session=found, whole="whole" in request.GET)
        kind, name = "application/x-ndjson", f"{name}.jsonl"
    return HttpResponse(
        text,
        content_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def exported_page(session: Session) -> str:
    """The whole session as one page (01 IO-02). Raises BadInput when nothing has been said yet."""
    header, entries = sessions.exported_entries(session=session)
    return render_exported_page(
        title=str(session),
        header=header,
        nodes=[Node(entry, parent) for entry, parent in entries],
        leaf=session.leaf.seq if session.leaf else None,
        version=settings.VERSION,
    )
