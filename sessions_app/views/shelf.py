"""Putting sessions away and taking them back, and the two acts that can't be undone."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sessions_app import session_rows
from sessions_app.models import Entry, Session
from sessions_app.services import shelf
from sessions_app.services.errors import BadInput
from sessions_app.views import home
from sessions_app.views.errors import tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session

_ACTS = {
    "archive": shelf.archive_session,
    "unarchive": shelf.unarchive_session,
    "delete": shelf.delete_session,
}


@require_GET
def shelved(request: HttpRequest) -> HttpResponse:
    """What is archived and what is deleted."""
    archived = Session.objects.visible_to(request.user).filter(shelf__archived_at__isnull=False)
    deleted = Session.objects.deleted(request.user)
    facts = {
        "page": "shelf",
        "archived": session_rows.made_rows(archived),
        "deleted": [
            {"row": row, "may_remove": shelf.may_remove(row.session, request.user)}
            for row in session_rows.made_rows(deleted.select_related("shelf"))
        ],
    }
    return render(request, "sessions_app/shelf.html", facts)


@require_POST
@tells_errors
def put_away(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """`action`: archive, unarchive, delete; restore and purge of a deleted one. Each but the last can be taken back.
    With `stay` the page stays where it is."""
    action = request.POST.get("action", "")
    if action in {"restore", "purge"}:
        session = get_object_or_404(Session.objects.deleted(request.user), key=key)
        if action == "restore":
            shelf.restore_session(session=session, author=request.user)
            return _leads(request, reverse("session", args=[key]))
        shelf.purge_session(session=session, author=request.user)
        return _leads(request, reverse("shelf"))
    session = editable_session(request, key)
    if action not in _ACTS:
        raise BadInput("A session can be archived, unarchived, deleted, restored or purged.")
    _ACTS[action](session=session, author=request.user)
    if request.POST.get("stay") and wants_fragment(request):
        return _stays(request, session, action)
    name = "shelf" if action == "unarchive" else "session_list"
    # The page tells what was done and offers the way back.
    return _leads(request, f"{reverse(name)}?{action}d={key}")


@require_http_methods(["GET", "POST"])
@tells_errors
def erase(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """GET: the dialog that says what goes and what stays. POST: erase, for the `reason` given."""
    session = editable_session(request, key)
    entry = get_object_or_404(Entry, session=session, seq=seq)
    if request.method == "GET":
        facts = {"session": session, "entry": entry, "allowed": shelf.may_remove(session, request.user)}
        return render(request, "sessions_app/_erase_dialog.html", facts)
    shelf.erase_entry(
        session=session, author=request.user, entry=entry, reason=request.POST.get("reason", "")
    )
    return _leads(request, f"{reverse('session', args=[key])}?erased={seq}#entry-{seq}")


def _stays(request: HttpRequest, session: Session, action: str) -> HttpResponse:
    """From the list beside whatever is open: the list anew, and the bar with the way back."""
    done = home.put_away_facts(request, **{f"{action}d": session.key})
    response = render(request, "sessions_app/_put_away_notice.html", {"put_away": done})
    response["HX-Trigger"] = "sessions-changed"
    return response


def _leads(request: HttpRequest, address: str) -> HttpResponse:
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)
