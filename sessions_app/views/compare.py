"""Two branches beside each other, and taking an entry of one over to the other."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from sessions_app import entry_log, fragments
from sessions_app.fragments import comparison
from sessions_app.fragments.outlines import outline_of
from sessions_app.fragments.wording import OUTCOME_WORDS
from sessions_app.models import Entry, Session
from sessions_app.services import carrying
from sessions_app.views.errors import problem, tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session, visible_session

Json = dict[str, Any]

LINES = 60
"""Of what the sides did, on one page."""


@require_GET
def session_compare(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The tips `a` and `b` (seqs; without them the leaf's and the one that is longest beside it) since they parted."""
    session = visible_session(request, key)
    # Whoever names a hidden branch may compare it; it is not offered.
    outline = outline_of(session, with_hidden=True)
    choices = comparison.tips_to_choose(outline_of(session))
    one, other = _chosen(session, request.GET.get("a", "")), _chosen(session, request.GET.get("b", ""))
    if one is None:
        one = entry_log.newest_below(session.leaf) if session.leaf is not None else None
    if other is None and one is not None:
        other = comparison.most_apart(outline, [tip for tip in choices if not _continues(tip, one)], one)
    facts: Json = {
        "session": session,
        "may_edit": fragments.may_edit(session, request.user),
        "page": "sessions",
        "outcomes": OUTCOME_WORDS,
        "once": uuid.uuid4().hex,
    }
    if one is None or other is None or _continues(one, other):
        return render(request, "sessions_app/compare.html", facts | {"alone": True})
    begin = request.GET.get("from", "")
    first = int(begin) if begin.isdecimal() and len(begin) < 8 else 0
    against = "diff" in request.GET
    facts |= comparison.compare(session, outline, one, other, first=first, shown=LINES, against=against)
    facts["tips"] = comparison.named(outline, [one, other, *choices])
    facts |= {"first": first, "against": against}
    facts |= {
        "before": max(0, first - LINES) if first else None,
        "last": max(0, facts["lines"] - 1) // LINES * LINES,
    }
    facts["after"] = first + LINES if first + LINES < facts["lines"] else None
    return render(request, "sessions_app/compare.html", facts)


@require_POST
@tells_errors
def carry(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Tell the branch of `tip` what the entry `seq` said; with `action=undo` stand where the leaf stood before."""
    session = editable_session(request, key)
    entry = _chosen(session, request.POST.get("seq", ""))
    tip = _chosen(session, request.POST.get("tip", ""))
    undo = request.POST.get("action") == "undo"
    if entry is None or (tip is None and not undo):
        return problem(request, "There is no such entry.", status=404)
    if tip is None or undo:
        carrying.take_back(session=session, author=request.user, entry=entry, left=tip)
        facts: Json = {"session": session, "words": "Taken back: you stand where you stood before."}
    else:
        made = carrying.carry(
            session=session,
            author=request.user,
            entry=entry,
            tip=tip,
            key=request.POST.get("key", ""),
        )
        facts = {
            "session": session,
            "words": "Carried: the next request on that branch holds it. You are on it now.",
            "carried": made.entry,
            "left": made.left,
        }
    if not wants_fragment(request):
        return redirect(f"{reverse('session', args=[key])}")
    return render(request, "sessions_app/_undo_carry.html", facts)


def _chosen(session: Session, text: str) -> Entry | None:
    if not text.isdecimal() or len(text) > 9:
        return None
    return session.entries.select_related("segment").filter(seq=int(text)).first()


def _continues(one: Entry, other: Entry) -> bool:
    """Whether one lies on the path of the other: then there is nothing to compare."""
    return entry_log.is_on_path(one, other) or entry_log.is_on_path(other, one)
