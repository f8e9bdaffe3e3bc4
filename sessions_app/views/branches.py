"""What a person does with entries and branches as a whole: fork, clone, pin, leave out."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST

from sessions_app import fragments
from sessions_app.forms import FolderForm, ForkForm
from sessions_app.models import Entry, Session
from sessions_app.services import branches, hiding
from sessions_app.services.errors import Conflict
from sessions_app.views import session_page, tree
from sessions_app.views.errors import problem, tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session, first_error


@require_POST
@tells_errors
def fork(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """A new session with what led up to the message `seq` (without: the newest of the user's); its text waits there."""
    session = editable_session(request, key)
    form = ForkForm(request.POST)
    if not form.is_valid():
        return problem(request, "There is no such entry.")
    seq = form.cleaned_data["seq"]
    entry = _entry(session, seq) if seq else _newest_own(session)
    made = branches.fork_session(session=session, author=request.user, entry=entry)
    return session_page.opened(request, made.session, made.text)


@require_POST
@tells_errors
def clone(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """A new session with the whole active branch."""
    session = editable_session(request, key)
    made = branches.clone_session(session=session, author=request.user)
    return session_page.opened(request, made.session, made.text)


@require_POST
@tells_errors
def copy_to_folder(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """A new session in another folder, with all branches: the way on when the folder is gone."""
    session = editable_session(request, key)
    form = FolderForm(request.POST, user=request.user)
    if not form.is_valid():
        return problem(request, first_error(form))
    made = branches.copy_to_folder(
        session=session, author=request.user, workspace=form.cleaned_data["workspace"]
    )
    return session_page.opened(request, made, "")


@require_POST
@tells_errors
def pin(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """Never compact the entry, or (`action=unpin`) no longer so."""
    session = editable_session(request, key)
    entry = _entry(session, seq)
    if request.POST.get("action") == "unpin":
        branches.unpin(session=session, author=request.user, entry=entry)
        return _changed(request, session, entry, "Unpinned", "pin", "pin")
    branches.pin(session=session, author=request.user, entry=entry)
    return _changed(request, session, entry, "Pinned: every compaction carries it on", "pin", "unpin")


@require_POST
@tells_errors
def omit(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """Leave the entry out of what the model is told, or (`action=restore`) tell it again."""
    session = editable_session(request, key)
    entry = _entry(session, seq)
    if request.POST.get("action") == "restore":
        edits = branches.restore(session=session, author=request.user, entry=entry)
        words, undo = "Restored: the model is told this again", "leave_out"
    else:
        edits = branches.leave_out(session=session, author=request.user, entry=entry)
        words, undo = "Left out: the model is not told this", "restore"
    response = _changed(request, session, entry, words, "omit", undo)
    if wants_fragment(request):
        # The results of an answer's calls go along with it.
        others = {str(edit.record["targetId"]) for edit in edits} - {entry.entry_id}
        for other in Entry.objects.filter(session=session, entry_id__in=others).order_by("seq"):
            response.write(fragments.render_entry(other, user=request.user, out_of_band=True))
    return response


@require_POST
@tells_errors
def hide(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """Put the branch of the entry out of sight, or (`action=show`) show it again, with `stood` from where one stood."""
    session = editable_session(request, key)
    entry = _entry(session, seq)
    facts: dict[str, Any] = {"session": session, "stood": ""}
    if request.POST.get("action") == "show":
        text = request.POST.get("stood", "")
        stood = _entry(session, int(text)) if text.isdecimal() and len(text) < 10 else None
        hiding.show_branch(session=session, author=request.user, entry=entry, stood=stood)
        facts |= {"beginning": seq, "hidden": False}
    else:
        done = hiding.hide_branch(session=session, author=request.user, entry=entry)
        facts |= {
            "beginning": done.beginning.seq,
            "stood": done.stood.seq if done.stood else "",
            "hidden": True,
        }
    if not wants_fragment(request):
        return redirect("session", key)
    facts["target"] = request.headers.get("HX-Target", "transcript")
    if facts["target"] == "tree-details":
        response = tree.details_response(request, session, entry)
    else:
        facts["target"] = "transcript"
        response = session_page.moved(request, session)
    response.write(render_to_string("sessions_app/_undo_hiding.html", facts, request=request))
    return response


def _changed(
    request: HttpRequest, session: Session, entry: Entry, words: str, command: str, undo: str
) -> HttpResponse:
    """The entry as it is now, and a bar that takes the command back."""
    if not wants_fragment(request):
        return redirect(f"{reverse('session', args=[session.key])}#entry-{entry.seq}")
    response = HttpResponse(fragments.render_entry(entry, user=request.user))
    response.write(
        fragments.render_undo_bar(
            words=words,
            address=reverse(command, args=[session.key, entry.seq]),
            action=undo,
            target=entry.seq,
        )
    )
    session.refresh_from_db()
    response.write(session_page.out_of_band(request, session, "session-meta"))
    return response


def _newest_own(session: Session) -> Entry:
    entry = session.leaf
    while entry is not None and entry.role != "user":
        entry = entry.parent
    if entry is None:
        raise Conflict("There is no message of yours to fork from yet.", "Clone copies the whole branch.")
    return entry


def _entry(session: Session, seq: int) -> Entry:
    return get_object_or_404(Entry.objects.select_related("segment"), session=session, seq=seq)
