"""Compaction by hand: what one would do, the command, and what an earlier one replaced."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from sessions_app import fragments
from sessions_app.core.entries import Kind
from sessions_app.forms import CompactForm
from sessions_app.models import Entry, Session
from sessions_app.services import compaction, reviews
from sessions_app.views import session_page
from sessions_app.views.errors import problem, tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session, visible_session


@require_http_methods(["GET", "POST"])
@tells_errors
def compact(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """GET says what a compaction would do and asks for a focus; POST begins one. With `up_to` everything before that
    entry is summarised: where a summary stands for it already, the boundary of that one is moved.
    """
    session = editable_session(request, key)
    first_kept = _up_to(session, request.GET if request.method == "GET" else request.POST)
    moved = compaction.moves_boundary(session=session, first_kept=first_kept) if first_kept else None
    if request.method == "GET":
        facts = {
            "session": session,
            "preview": compaction.preview(session=session, first_kept=None if moved else first_kept),
            "up_to": first_kept,
            "moved": moved,
            "at_work": session.runs.active().exists(),
            "once": uuid.uuid4().hex,
            "page": "sessions",
        }
        name = "_compact_dialog" if wants_fragment(request) else "compact"
        return render(request, f"sessions_app/{name}.html", facts)
    form = CompactForm(request.POST)
    if not form.is_valid():
        return problem(request, "Those instructions can't be used.")
    once = form.cleaned_data["key"]
    if moved is not None and first_kept is not None:
        review = reviews.review_of(moved)
        reviews.move_boundary(review=review, author=request.user, first_kept=first_kept, key=once)
    else:
        compaction.compact_session(
            session=session,
            author=request.user,
            instructions=form.cleaned_data["instructions"],
            first_kept=first_kept,
            key=once,
        )
    if not wants_fragment(request):
        return redirect("session", key)
    session.refresh_from_db()
    response = session_page.changed_parts(request, session, "run-status", "queue", "session-tree")
    response["HX-Trigger"] = "sessions-changed"
    return response


def _up_to(session: Session, form: QueryDict) -> Entry | None:
    text = form.get("up_to", "")
    if not text:
        return None
    number = int(text) if text.isdecimal() and len(text) < 10 else 0
    return get_object_or_404(Entry.objects.select_related("segment"), session=session, seq=number)


@require_GET
def replaced(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """A page of what a compaction replaced, from the depth `from` on; without htmx the transcript above it."""
    session = visible_session(request, key)
    entry = get_object_or_404(Entry, session=session, seq=seq, kind=Kind.COMPACTION)
    if not wants_fragment(request):
        return redirect("entry", key, seq)
    text = request.GET.get("from", "")
    from_depth = int(text) if text.isdecimal() and len(text) < 10 else None
    return HttpResponse(fragments.render_replaced(entry, from_depth=from_depth))


@require_GET
def compaction_problem(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Why automatic compaction has stopped on this branch, with the ways out; nothing when it has not."""
    session = visible_session(request, key)
    return render(
        request, "sessions_app/_compaction_problem.html", session_page.compaction_facts(request, session)
    )
