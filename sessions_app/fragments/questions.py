"""The cards with which an agent asks for permission: what would be done, and the ways to answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.template.loader import render_to_string

from sessions_app.fragments.permission import may_edit
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.tool_cards import Card, asking_card
from sessions_app.models import CompactionReview, Question, Run, Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

Json = dict[str, Any]

_ASKS = {
    "bash": "The agent wants to run a command",
    "edit": "The agent wants to change a file",
    "write": "The agent wants to write a file",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One open question: its card, and the time (ISO) after which the answer is no."""

    pk: int
    words: str
    tool: str
    card: Card
    problem: str
    until: str


def render_questions(session: Session, *, user: AnyUser) -> str:
    """The inside of `#questions`: empty where nothing is asked."""
    waiting = Question.objects.filter(
        run__session=session, run__status=Run.Status.ASKING, answer=Question.Answer.OPEN
    )
    return render_to_string(
        "sessions_app/_questions.html",
        {
            "questions": [_asked(question) for question in waiting.order_by("pk")],
            "key": session.key,
            "may_edit": may_edit(session, user),
            "held": _held(session),
            "may_review": CompactionReview.objects.may_review(user).filter(session=session).exists(),
        },
    )


def _held(session: Session) -> CompactionReview | None:
    """The compaction whose approval the session's job waits for."""
    if not session.runs.filter(status=Run.Status.REVIEWING).exists():
        return None
    held = session.reviews.filter(outcome="waiting", state=CompactionReview.State.UNREVIEWED)
    return held.select_related("session__workspace").order_by("-pk").first()


def _asked(question: Question) -> Asked:
    arguments: Json = json.loads(question.arguments)
    preview: Json = json.loads(question.preview) if question.preview else {}
    call = {"name": question.tool, "arguments": arguments}
    return Asked(
        pk=question.pk,
        words=_ASKS.get(question.tool, "The agent wants to use a tool"),
        tool=one_line(question.tool, 60),
        card=asking_card(call, preview),
        problem=one_line(str(preview.get("problem") or ""), 300),
        until=question.expires_at.isoformat(),
    )
