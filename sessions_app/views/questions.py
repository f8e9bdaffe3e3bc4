"""What the agent may do: the tools of a session, and the answers to its questions."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from sessions_app import fragments
from sessions_app.services import questions, sessions
from sessions_app.views import session_page
from sessions_app.views.errors import tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session


@require_POST
@tells_errors
def answer_question(request: HttpRequest, key: uuid.UUID, id: int) -> HttpResponse:  # noqa: A002 - named by the address
    """Allow or deny what the agent asks for."""
    found = editable_session(request, key)
    questions.answer_question(
        session=found, author=request.user, question_id=id, answer=request.POST.get("answer", "")
    )
    if not wants_fragment(request):
        return redirect("session", key)
    response = session_page.changed_parts(request, found, "run-status")
    response.content = fragments.render_questions(found, user=request.user).encode() + response.content
    return response


@require_POST
@tells_errors
def choose_tools(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """What the session's agent may do from its next request on."""
    found = editable_session(request, key)
    changed = sessions.choose_tools(session=found, author=request.user, preset=request.POST.get("tools", ""))
    if not wants_fragment(request):
        return redirect("session", key)
    return render(request, "sessions_app/_tools_picker.html", session_page.tools_facts(changed))
