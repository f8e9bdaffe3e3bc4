"""The tree as a drawing: the page, the windows of it that a browser asks for, one entry's details, and its outcome."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from sessions_app import entry_log, fragments
from sessions_app.core import faces
from sessions_app.core.drawing import Filter, Outline, Place
from sessions_app.core.entries import Kind
from sessions_app.core.search_words import read_query
from sessions_app.fragments import tree_details
from sessions_app.fragments.outlines import drawing_of, outline_of
from sessions_app.fragments.tree_branches import branches_of
from sessions_app.fragments.tree_column import Column
from sessions_app.fragments.tree_drawing import Picture, Rect
from sessions_app.fragments.tree_minimap import minimap_of
from sessions_app.fragments.wording import OUTCOME_WORDS
from sessions_app.models import Entry, HiddenBranch, Pin, Session
from sessions_app.services import carrying, navigation, outcomes
from sessions_app.views import leaving
from sessions_app.views.errors import tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session, visible_session
from sessions_app.views.tree_state import TreeState, find_hits, read_state

Json = dict[str, Any]

FIRST_WINDOW = (1560.0, 1100.0)
"""Pixels of the first window; the browser asks for more when it shows more."""
MOST_PIXELS = 60_000.0
_FILTERS = (
    (Filter.DEFAULT, "Default", ""),
    (Filter.NO_TOOLS, "No tools", ""),
    (Filter.USER_ONLY, "Only mine", faces.USER),
    (Filter.LABELED_ONLY, "Labelled", "label"),
    (Filter.FILES, "With files", faces.CHANGE),
    (Filter.ERRORS, "With errors", faces.ERROR + faces.FAILURE + faces.STOPPED),
    (Filter.ALL, "All", ""),
)


@require_GET
def session_tree(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The drawing on a page of its own, opened around `at` or `entry`, else around the leaf. For htmx the rows
    beside the chat, or with `first` and `last` (depths) those of a folded run."""
    session = visible_session(request, key)
    if wants_fragment(request):
        first, last = (request.GET.get(name, "") for name in ("first", "last"))
        if all(text.isdecimal() and len(text) < 10 for text in (first, last)):
            return HttpResponse(fragments.render_tree_run(session, int(first), int(last)))
        return HttpResponse(fragments.render_tree(session, user=request.user))
    state = read_state(request.GET)
    picture, hits = _picture(session, state)
    chosen = _entry_at(session, state)
    at = state.at or ((chosen.segment_id, chosen.ordinal) if chosen is not None else None)
    at = at or (hits[0] if hits else session_leaf(session))
    window = picture.window(picture.around(at, *FIRST_WINDOW))
    branches, shorter = branches_of(picture.outline)
    facts: Json = {
        "session": session,
        "window": json.dumps(_told(picture, window, hits, at)),
        "svg": window.svg,
        "minimap": minimap_of(picture),
        "filters": _filters(picture.outline, state),
        "state": state,
        "hidden": HiddenBranch.objects.of_session(session.pk).count(),
        "hits": hits,
        "counts": {
            "entries": session.next_seq - 1,
            "tips": len(picture.outline.strands),
            "cost": session.cost,
        },
        "branches": branches,
        "shorter": shorter,
        "details": _details(request, session, picture.outline, chosen) if chosen is not None else "",
        "chosen": chosen,
        "may_edit": fragments.may_edit(session, request.user),
        "page": "sessions",
    }
    return render(request, "sessions_app/session_tree.html", facts)


@require_GET
def tree_window(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """A rectangle of the drawing (`x`, `y`, `width`, `height` in pixels at 100 %), or one around `at`, as JSON; with `down`
    for a narrow screen."""
    session = visible_session(request, key)
    state = read_state(request.GET)
    picture, hits = _picture(session, state)
    width = _pixels(request, "width", FIRST_WINDOW[0], least=200)
    height = _pixels(request, "height", FIRST_WINDOW[1], least=200)
    if "down" in request.GET:
        return JsonResponse(_down(request, picture, hits, state, width, height))
    if "x" in request.GET:
        rect = Rect(_pixels(request, "x", 0), _pixels(request, "y", 0), width, height)
    else:
        rect = picture.around(state.at or session_leaf(session), width, height)
    window = picture.window(rect)
    told = _told(picture, window, hits, state.at)
    return JsonResponse(told | {"svg": window.svg, "minimap": minimap_of(picture)})


def _down(
    request: HttpRequest, picture: Picture, hits: list[Place], state: TreeState, width: float, height: float
) -> Json:
    """The drawing for narrow screens, where time runs down."""
    column = Column(picture)
    at = state.at or session_leaf(picture.session)
    rect = (
        Rect(0, _pixels(request, "y", 0), width, height)
        if "y" in request.GET
        else column.around(at, width, height)
    )
    window = column.window(rect)
    return _told(picture, window, hits, state.at) | {"svg": window.svg, "minimap": minimap_of(picture)}


@require_GET
def entry_details(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """What the drawer says about one entry, or with `preview` a few lines of it."""
    session = visible_session(request, key)
    entry = get_object_or_404(Entry.objects.select_related("segment", "parent"), session=session, seq=seq)
    if "preview" in request.GET:
        return render(request, "sessions_app/_tree_preview.html", tree_details.preview(entry))
    if request.GET.get("part") == "going":
        return _going(request, session, entry)
    return HttpResponse(_details(request, session, outline_of(session, with_hidden=True), entry))


def session_leaf(session: Session) -> Place | None:
    leaf = session.leaf
    return (leaf.segment_id, leaf.ordinal) if leaf is not None else None


def _picture(session: Session, state: TreeState) -> tuple[Picture, list[Place]]:
    found = outline_of(session, with_hidden=state.hidden)
    hits = [hit for hit in find_hits(session, state.query) if found.holds(hit)]
    view = state.view(frozenset(hits))
    return Picture(session, found, drawing_of(found, view), phrases=read_query(state.query)), hits


def _told(picture: Picture, window: Any, hits: list[Place], at: Place | None) -> Json:
    rect, whole = window.rect, window.whole
    item = picture.drawing.find(at) if at is not None else None
    return {
        "rect": [rect.x, rect.y, rect.width, rect.height],
        "whole": [whole.x, whole.y, whole.width, whole.height],
        "hidden": window.hidden,
        "hits": [f"{segment}.{ordinal}" for segment, ordinal in hits],
        "at": f"{item.strand}.{item.start}" if item is not None else "",
    }


def _pixels(request: HttpRequest, name: str, default: float, *, least: float = -1e7) -> float:
    try:
        value = float(request.GET.get(name, default))
    except ValueError:
        return default
    most = MOST_PIXELS if name in ("width", "height") else 1e7
    return max(least, min(most, value)) if value == value else default


def _filters(found: Outline, state: TreeState) -> list[Json]:
    every = "".join(strand.faces for strand in found.strands.values())
    rows = []
    for name, words, counted in _FILTERS:
        count = len(found.labels) if counted == "label" else sum(every.count(face) for face in counted)
        rows.append(
            {
                "name": str(name),
                "words": words,
                "count": count if counted else None,
                "on": name == state.filter,
            }
        )
    return rows


def _entry_at(session: Session, state: TreeState) -> Entry | None:
    if state.seq is None:
        return None
    return session.entries.select_related("segment", "parent").filter(seq=state.seq).first()


def details_response(request: HttpRequest, session: Session, entry: Entry) -> HttpResponse:
    """The drawer as it is now, in answer to a command given in it."""
    session.refresh_from_db()
    return HttpResponse(_details(request, session, outline_of(session, with_hidden=True), entry))


def _details(request: HttpRequest, session: Session, found: Outline, entry: Entry) -> str:
    facts = tree_details.details(session, found, entry)
    facts["may_edit"] = fragments.may_edit(session, request.user)
    return render_to_string("sessions_app/_tree_details.html", facts, request=request)


def _going(request: HttpRequest, session: Session, entry: Entry) -> HttpResponse:
    """What going to the entry would leave, with the price of a summary; asked for by itself because it reads a branch."""
    leaf = session.leaf
    is_leaf = leaf is not None and leaf.pk == entry.pk
    facts: Json = {
        "session": session,
        "entry": entry,
        "leaf": leaf,
        "tip": entry_log.newest_below(entry),
        "is_leaf": is_leaf,
        "leaving": None if is_leaf else leaving.look_back(session, entry),
        "returns_text": entry.role == "user" or entry.kind == Kind.CUSTOM_MESSAGE,
        "own_message": entry.role == "user",
        "carries": leaf is not None and carrying.can_carry(entry, leaf),
        "pinned": Pin.objects.filter(entry=entry).exists(),
        "at_work": navigation.is_at_work(session),
        "once": uuid.uuid4().hex,
    }
    return render(request, "sessions_app/_tree_going.html", facts)


@require_POST
@tells_errors
def mark_outcome(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """Say what came of a branch (`outcome`; empty takes the mark away). The drawer as it is now, and the way back."""
    session = editable_session(request, key)
    entry = get_object_or_404(Entry.objects.select_related("segment"), session=session, seq=seq)
    outcome = request.POST.get("outcome", "")
    before = outcomes.mark_outcome(session=session, author=request.user, entry=entry, outcome=outcome)
    if not wants_fragment(request):
        return redirect(f"{reverse('session_tree', args=[key])}?entry={seq}")
    shown = request.POST.get("shown", "")
    seen = session.entries.filter(seq=int(shown)).first() if shown.isdecimal() and len(shown) < 10 else None
    response = HttpResponse(_details(request, session, outline_of(session, with_hidden=True), seen or entry))
    words = f"Marked: {OUTCOME_WORDS[outcome]}" if outcome else "Mark taken away"
    response.write(
        render_to_string(
            "sessions_app/_undo_outcome.html",
            {"words": words, "session": session, "seq": seq, "before": before, "shown": shown},
        )
    )
    return response
