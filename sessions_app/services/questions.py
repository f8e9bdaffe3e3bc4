"""Questions of agents: a person with the right to write answers them, from wherever they are."""

from __future__ import annotations

from typing import Any

from sessions_app.models import Question, Session
from sessions_app.runner.permissions import OPTIONS, give_answer
from sessions_app.services.errors import BadInput, Conflict


def answer_question(*, session: Session, author: Any, question_id: int, answer: str) -> None:
    """Record `allow`, `allow_run` (all calls of this tool in this run) or `deny`. Raises BadInput, Conflict."""
    if answer not in OPTIONS:
        raise BadInput(f"{answer!r} is no answer.", f"There are {', '.join(OPTIONS)}.")
    question = Question.objects.filter(pk=question_id, run__session=session).select_related("run").first()
    if question is None:
        raise BadInput("There is no such question in this session.")
    if not give_answer(question, answer, author=author):
        raise Conflict(
            "That question has an answer already, or its job has ended.", "Look at the conversation."
        )


def open_questions(session: Session) -> list[Question]:
    """Those that wait for an answer, in the order of their calls."""
    waiting = Question.objects.filter(run__session=session, run__status="asking", answer=Question.Answer.OPEN)
    return list(waiting.select_related("run").order_by("pk"))
