"""What is done on a review's page, for the product and the admin alike: a name and a form in, words out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest, QueryDict
from django.shortcuts import get_object_or_404

from sessions_app.models import CompactionReview, Entry, SummaryVersion
from sessions_app.services import judging, reviews
from sessions_app.services.errors import BadInput

REVIEWING: Final = frozenset({"approve", "reject"})
"""Acts of a reviewer; `comment` is open to all who may read, the rest to those who may change the session."""

_LINE = re.compile(r"^L(\d{1,5})[:\s]\s*", re.IGNORECASE)


def carry_out(request: HttpRequest, review: CompactionReview, act: str) -> str:
    """Do it and say what was done. Raises ServiceError; 404 for a version or entry that is not there."""
    return ACTS[act](request.user, review, request.POST)


def _approve(user: Any, review: CompactionReview, form: QueryDict) -> str:
    judging.approve(review=review, actor=user)
    return "Approved. The job goes on with this summary." if review.waits else "Approved."


def _reject(user: Any, review: CompactionReview, form: QueryDict) -> str:
    judging.reject(review=review, actor=user, words=form.get("words", "")[:4000])
    if review.waits:
        return "Rejected. The job goes on without a summary."
    return "Rejected. The summary is still in force; edit or revert it to change what the model reads."


def _comment(user: Any, review: CompactionReview, form: QueryDict) -> str:
    words = form.get("words", "").strip()
    found = _LINE.match(words)
    line = int(found.group(1)) if found else None
    judging.comment(review=review, actor=user, words=words[found.end() :] if found else words, line=line)
    return "Comment added."


def _edit(user: Any, review: CompactionReview, form: QueryDict) -> str:
    reviews.edit(
        review=review,
        author=user,
        summary=form.get("summary", ""),
        why=form.get("why", ""),
        key=form.get("key", ""),
    )
    return "Saved. It is used once it is approved." if review.waits else "The edited summary is in force."


def _restore(user: Any, review: CompactionReview, form: QueryDict) -> str:
    version = _version(review, form)
    reviews.restore(review=review, author=user, version=version, key=form.get("key", ""))
    return f"Version {version.number} is in force again."


def _undo(user: Any, review: CompactionReview, form: QueryDict) -> str:
    reviews.undo(review=review, author=user, key=form.get("key", ""))
    if review.waits:
        return "Undone. The earlier words wait for approval again."
    return "Undone. What was in force before is told again."


def _choose(user: Any, review: CompactionReview, form: QueryDict) -> str:
    reviews.choose(review=review, author=user, version=_version(review, form), key=form.get("key", ""))
    return "The candidate is in force."


def _discard(user: Any, review: CompactionReview, form: QueryDict) -> str:
    reviews.discard(review=review, author=user, version=_version(review, form))
    return "Candidate put away."


def _regenerate(user: Any, review: CompactionReview, form: QueryDict) -> str:
    provider, _, model = form.get("model", "").partition("/")
    reviews.regenerate(
        review=review,
        author=user,
        instructions=form.get("instructions", ""),
        provider=provider,
        model=model,
        first_kept=_entry(review, form) if form.get("seq") else None,
        key=form.get("key", ""),
    )
    return "A candidate is being written. Nothing changes until you choose it."


def _move(user: Any, review: CompactionReview, form: QueryDict) -> str:
    version = reviews.move_boundary(
        review=review, author=user, first_kept=_entry(review, form), key=form.get("key", "")
    )
    if version.status == SummaryVersion.Status.BEING_MADE:
        return "A summary up to there is being written. Nothing changes until you choose it."
    return "The boundary has moved: more is kept word for word."


def _revert(user: Any, review: CompactionReview, form: QueryDict) -> str:
    reviews.revert(review=review, author=user, key=form.get("key", ""))
    return "Reverted. The model reads the originals again, and all later work."


def _pin(user: Any, review: CompactionReview, form: QueryDict) -> str:
    version = reviews.in_force(review)
    report = reviews.stored_report(version) if version is not None else None
    if report is None:
        raise BadInput("The report is not there yet.", "Try again in a moment.")
    if "all" in form:
        findings = report.missing
    else:
        places = {int(text) for text in form.getlist("place") if text.isdecimal() and len(text) < 9}
        findings = [report.judged[place] for place in sorted(places) if place < len(report.judged)]
    reviews.pin_missing(review=review, author=user, findings=findings, key=form.get("key", ""))
    return "Pinned: carried word for word from now on."


def _version(review: CompactionReview, form: QueryDict) -> SummaryVersion:
    text = form.get("version", "")
    return get_object_or_404(review.versions, number=int(text) if text.isdecimal() and len(text) < 9 else 0)


def _entry(review: CompactionReview, form: QueryDict) -> Entry:
    text = form.get("seq", "")
    number = int(text) if text.isdecimal() and len(text) < 9 else 0
    return get_object_or_404(Entry.objects.select_related("segment"), session=review.session_id, seq=number)


ACTS: Final[dict[str, Callable[[Any, CompactionReview, QueryDict], str]]] = {
    "approve": _approve,
    "reject": _reject,
    "comment": _comment,
    "edit": _edit,
    "restore": _restore,
    "undo": _undo,
    "choose": _choose,
    "discard": _discard,
    "regenerate": _regenerate,
    "move": _move,
    "revert": _revert,
    "pin": _pin,
}
