"""Before a branch is left: what stays behind, what a summary of it would take, and the three choices (03 BS-02)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sessions_app.agent.models_catalogue import cost_of, describe_model
from sessions_app.core.entries import Kind
from sessions_app.models import Entry, Session
from sessions_app.runner import branch_summary_run
from sessions_app.services import navigation

_SAID = (Kind.MESSAGE, Kind.CUSTOM_MESSAGE, Kind.BRANCH_SUMMARY)
# Tokens of instructions around the conversation, and of the answer, for the estimate of what a summary costs.
_PROMPT_TOKENS = 500
_SUMMARY_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Leaving:
    """What going to a target leaves behind: `entries` in all, and the `messages` and `tokens` that a summary of it would
    read for about `cost` US dollars."""

    entries: int
    messages: int
    tokens: int
    cost: float


def look_back(session: Session, target: Entry) -> Leaving | None:
    """None when nothing that was said would be left (03 BS-04..07, BS-09)."""
    move = branch_summary_run.leaving(session.leaf, target)
    if not any(row.kind in _SAID and row.role != "system" for row in move.entries):
        return None
    model = describe_model(session.provider, session.model)
    plan = branch_summary_run.plan_of(move, model)
    if not plan.items:
        return None
    usage = {"input": plan.total_tokens + _PROMPT_TOKENS, "output": min(_SUMMARY_TOKENS, model.max_tokens)}
    return Leaving(
        entries=len(move.entries),
        messages=len(plan.items),
        tokens=plan.total_tokens,
        cost=float(cost_of(usage, model)["total"]),
    )


def ask(request: HttpRequest, session: Session, target: Entry, leaving: Leaving | None) -> HttpResponse:
    """The dialog with the three choices, and while an agent works with the offer to stop it, wherever on the page the question came from."""
    response = render(
        request,
        "sessions_app/_leave_dialog.html",
        {
            "session": session,
            "seq": target.seq,
            "leaving": leaving,
            "returns_text": target.role == "user" or target.kind == Kind.CUSTOM_MESSAGE,
            "at_work": navigation.is_at_work(session),
            "in_page": request.headers.get("HX-Target") == "transcript",
            "once": uuid.uuid4().hex,
        },
    )
    response["HX-Retarget"], response["HX-Reswap"] = "#dialogs", "innerHTML"
    return response
