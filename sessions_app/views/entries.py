"""One entry: a link to it, its forms and images, and the commands that start from it."""

from __future__ import annotations

import base64
import binascii
import uuid
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from sessions_app import entry_log, fragments
from sessions_app.core.messages import blocks_of
from sessions_app.forms import BranchForm, GoForm, LabelForm
from sessions_app.models import Entry, Session
from sessions_app.services import navigation, sessions
from sessions_app.views import leaving, session_page
from sessions_app.views.errors import problem, tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session, first_error, visible_session


@require_GET
def entry(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """A link to an entry leads to the page with its branch in sight. With `full`, `form` or `part` (htmx) it is
    the article, with `source` its plain words, with `image` one of its images."""
    session = visible_session(request, key)
    row = _entry(session, seq)
    if "image" in request.GET:
        return _image(row, request.GET["image"])
    if "source" in request.GET:
        return HttpResponse(fragments.source_of(row), content_type="text/plain; charset=utf-8")
    if wants_fragment(request):
        form = request.GET.get("form", "")
        if form and not fragments.may_edit(session, request.user):
            return problem(request, str(session_page.read_only()), status=403)
        return HttpResponse(
            fragments.render_entry(row, user=request.user, full="full" in request.GET, form=form)
        )
    return _show(request, session, row)


@require_POST
@tells_errors
def navigate(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """Stand on the entry, or with `tip` on the newest below it; with `ask` a branch that would be left is looked at first.
    While an agent works it is asked whether to stop it (`stop`) or only to look."""
    session = editable_session(request, key)
    target = _entry(session, seq)
    form = GoForm(request.POST)
    if not form.is_valid():
        return problem(request, first_error(form))
    wanted = form.cleaned_data
    if wanted["tip"]:
        target = entry_log.newest_below(target)
    at_work = navigation.is_at_work(session) and not wanted["stop"]
    asks = wanted["ask"] and not settings.BRANCH_SUMMARY["skipPrompt"]
    if wants_fragment(request) and (asks or at_work):
        behind = leaving.look_back(session, target)
        if behind is not None or at_work:
            return leaving.ask(request, session, target, behind)
    moved = navigation.navigate(
        session=session,
        author=request.user,
        entry=target,
        summarise=wanted["summarise"] or "none",
        instructions=wanted["instructions"],
        stop=wanted["stop"],
        key=wanted["key"],
    )
    if moved.run is not None:
        return session_page.going(request, session, moved.run, moved.text)
    return session_page.moved(request, session, moved.text)


@require_POST
@tells_errors
def edit_and_branch(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """Other words in place of a message: a new branch beside the old one, and a run on it."""
    session = editable_session(request, key)
    form = BranchForm(request.POST)
    if not form.is_valid():
        return problem(request, "That message can't be sent.")
    navigation.edit_and_branch(
        session=session,
        author=request.user,
        entry=_entry(session, seq),
        text=form.cleaned_data["text"],
        key=form.cleaned_data["key"],
    )
    return session_page.moved(request, session)


@require_POST
@tells_errors
def label(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """Set an entry's label; an empty one removes it."""
    session = editable_session(request, key)
    row = _entry(session, seq)
    form = LabelForm(request.POST)
    if not form.is_valid():
        return problem(request, "A label has at most 200 characters.")
    sessions.set_label(session=session, author=request.user, entry=row, label=form.cleaned_data["label"])
    if not wants_fragment(request):
        return redirect(f"{reverse('session', args=[key])}#entry-{seq}")
    return HttpResponse(fragments.render_entry(row, user=request.user))


def _entry(session: Session, seq: int) -> Entry:
    return get_object_or_404(Entry.objects.select_related("segment"), session=session, seq=seq)


def _show(request: HttpRequest, session: Session, row: Entry) -> HttpResponse:
    """The page that has the entry in sight: at its end, or as many entries above it as a window holds."""
    leaf = session.leaf
    page = reverse("session", args=[session.key])
    if leaf is None or not entry_log.is_on_path(row, leaf):
        return redirect(f"{reverse('session_tree', args=[session.key])}?entry={row.seq}")
    if leaf.depth - row.depth < session_page.WINDOW:
        return redirect(f"{page}#entry-{row.seq}")
    before = min(leaf.depth + 1, row.depth + session_page.WINDOW // 2)
    return redirect(f"{reverse('session_older', args=[session.key])}?before={before}#entry-{row.seq}")


def _image(row: Entry, text: str) -> HttpResponse:
    """An image that is kept inside the entry."""
    record = row.record
    message = record.get("message")
    holder: Any = message if isinstance(message, dict) else record
    blocks = blocks_of(holder.get("content"))
    index = int(text) if text.isdecimal() and len(text) < 6 else len(blocks)
    block = blocks[index] if index < len(blocks) else {}
    if block.get("mimeType") not in fragments.SHOWN_IMAGES or not isinstance(block.get("data"), str):
        raise Http404
    try:
        content = base64.b64decode(block["data"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise Http404 from error
    return HttpResponse(
        content,
        content_type=str(block["mimeType"]),
        headers={
            "Cache-Control": "private, max-age=31536000, immutable",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )
