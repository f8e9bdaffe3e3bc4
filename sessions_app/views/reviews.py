"""Reviews of compactions: the list with its charts, one review's page, what is done on it, and the export."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from sessions_app import fragments, review_figures
from sessions_app.core.entries import Kind
from sessions_app.fragments import review_charts, review_list, review_parts, wording
from sessions_app.models import CompactionReview, Entry, Session
from sessions_app.services import judging, reviews
from sessions_app.services.errors import NotAllowed
from sessions_app.views import review_acts, review_page
from sessions_app.views.errors import tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session, visible_session

_PER_PAGE = 50


@require_GET
@tells_errors
def compaction_review(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """The report and the actions of one compaction; for htmx what is new while something is computed or written."""
    session = visible_session(request, key)
    review = _review(session, seq)
    name = "_review_columns" if wants_fragment(request) else "review"
    address = reverse("compaction_review", args=[key, seq])
    return render(request, f"sessions_app/{name}.html", _facts(request, review, address))


@require_POST
@tells_errors
def review_act(request: HttpRequest, key: uuid.UUID, seq: int, act: str) -> HttpResponse:
    """Approve, edit, revert …: by its name. The page says afterwards what was done."""
    session = visible_session(request, key)
    return _act(request, _review(session, seq), act, reverse("compaction_review", args=[key, seq]))


def _act(request: HttpRequest, review: CompactionReview, act: str, address: str) -> HttpResponse:
    if act not in review_acts.ACTS:
        raise Http404
    if act in review_acts.REVIEWING:
        if not _may_review(request, review):
            raise NotAllowed("Only reviewers and admins of the workspace approve and reject.")
    elif act != "comment":
        editable_session(request, review.session.key)
    done = review_acts.carry_out(request, review, act)
    if wants_fragment(request):
        # From the conversation, which shows by itself that it goes on.
        return HttpResponse(status=204)
    messages.success(request, done)
    return redirect(address + ("?tab=comments" if act == "comment" else ""))


@require_POST
@tells_errors
def review_coverage(request: HttpRequest, key: uuid.UUID, seq: int) -> HttpResponse:
    """The coverage of words that are being edited."""
    session = editable_session(request, key)
    return _coverage(request, _review(session, seq))


def _coverage(request: HttpRequest, review: CompactionReview) -> HttpResponse:
    judged = reviews.live_coverage(review=review, summary=request.POST.get("summary", ""))
    return render(request, "sessions_app/_review_coverage.html", review_parts.coverage_of(judged))


@require_GET
@tells_errors
def attempt_review(request: HttpRequest, pk: int) -> HttpResponse:
    """An attempt that is no entry (yet): what waits for approval, what was rejected, what failed."""
    review = _attempt(request, pk)
    if review.entry is not None:
        return redirect("compaction_review", key=review.session.key, seq=review.entry.seq)
    name = "_review_columns" if wants_fragment(request) else "review"
    return render(
        request, f"sessions_app/{name}.html", _facts(request, review, reverse("attempt_review", args=[pk]))
    )


@require_POST
@tells_errors
def attempt_act(request: HttpRequest, pk: int, act: str) -> HttpResponse:
    """The same acts on an attempt that is no entry (yet)."""
    return _act(request, _attempt(request, pk), act, reverse("attempt_review", args=[pk]))


@require_POST
@tells_errors
def attempt_coverage(request: HttpRequest, pk: int) -> HttpResponse:
    """The coverage of words that are being edited, before they are used."""
    review = _attempt(request, pk)
    editable_session(request, review.session.key)
    return _coverage(request, review)


def _attempt(request: HttpRequest, pk: int) -> CompactionReview:
    visible = CompactionReview.objects.visible_to(request.user).select_related(
        "entry__parent", "attempt__leaf", "session__leaf", "session__workspace", "reviewed_by"
    )
    return get_object_or_404(visible, pk=pk)


@require_GET
def review_list_page(request: HttpRequest) -> HttpResponse:
    """What the agents of the user's workspaces were allowed to forget."""
    visible = CompactionReview.objects.visible_to(request.user)
    rows, state = review_list.chosen(visible, request.GET)
    page = Paginator(rows, _PER_PAGE).get_page(request.GET.get("page"))
    figures = review_figures.figures(visible)
    facts: dict[str, Any] = {
        "page": "reviews",
        "rows": [review_list.row_of(review) for review in page],
        "paging": page,
        "filters": review_list.filters(visible, state),
        "state": state,
        "charts": review_charts.charts(figures),
        "worst": figures.worst,
        "may_review": CompactionReview.objects.may_review(request.user).exists(),
    }
    return render(request, "sessions_app/reviews.html", facts)


@require_POST
@tells_errors
def approve_reviews(request: HttpRequest) -> HttpResponse:
    """Approve those that were marked in the list, as far as the user may."""
    ids = [int(text) for text in request.POST.getlist("review") if text.isdecimal() and len(text) < 15]
    chosen = CompactionReview.objects.may_review(request.user).filter(pk__in=ids)
    if ids and not chosen.exists():
        raise NotAllowed("Only reviewers and admins of the workspace approve and reject.")
    count = judging.approve_all(reviews=chosen, actor=request.user)
    messages.success(request, f"{wording.plural(count, 'compaction')} approved.")
    return redirect("reviews")


@require_GET
def export_reviews(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The list as CSV, or with `format=json` as JSON."""
    visible = CompactionReview.objects.visible_to(request.user)
    rows, _ = review_list.chosen(visible, request.GET)
    return review_list.export(rows, request.GET.get("format", "csv"))


def _review(session: Session, seq: int) -> CompactionReview:
    entry = get_object_or_404(
        Entry.objects.select_related("parent"),
        session=session,
        seq=seq,
        kind__in=[Kind.COMPACTION, Kind.BRANCH_SUMMARY],
    )
    found = reviews.review_of(entry)
    review = CompactionReview.objects.select_related(
        "entry__parent", "attempt", "session__leaf", "reviewed_by"
    )
    return review.get(pk=found.pk)


def _may_review(request: HttpRequest, review: CompactionReview) -> bool:
    return CompactionReview.objects.may_review(request.user).filter(pk=review.pk).exists()


def _facts(request: HttpRequest, review: CompactionReview, address: str) -> dict[str, Any]:
    return {
        "page": "reviews",
        **review_page.facts(
            request,
            review,
            acts=address,
            may_edit=fragments.may_edit(review.session, request.user),
            may_review=_may_review(request, review),
        ),
        "base": "base.html",
        "next_address": _next_address(request, review),
    }


def _next_address(request: HttpRequest, review: CompactionReview) -> str:
    """The riskiest other one that waits for this reviewer; empty where none does."""
    waiting = CompactionReview.objects.may_review(request.user).waiting().exclude(pk=review.pk)
    following = waiting.select_related("session", "entry", "reviewed_by").order_by("-risk", "-id").first()
    return review_list.row_of(following).address if following is not None else ""
