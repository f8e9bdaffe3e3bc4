"""Questions of the agent on a terminal: what would be done, and a line for the answer."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sessions_app.models import Question, Session
from sessions_app.services import questions
from sessions_app.services.errors import ServiceError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_ANSWERS = {"y": "allow", "yes": "allow", "a": "allow_run", "n": "deny", "no": "deny", "": "deny"}
_MOST_LINES = 60
_TICK_SECONDS = 0.5


def can_ask() -> bool:
    """Whether somebody sits there to read the question and to answer it."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr.isatty())


def ask_on_terminal(session: Session, user: User, interrupted: Callable[[], bool]) -> None:
    """Put every open question; one that is answered elsewhere meanwhile is left alone, all after an interruption."""
    for question in questions.open_questions(session):
        print(f"\n{told(question)}", file=sys.stderr)
        print(
            f"Allow? [y]es, [a]ll of {question.tool} in this run, [N]o: ", end="", file=sys.stderr, flush=True
        )
        answer = typed_answer(question, interrupted)
        if answer is None:
            print("stopped" if interrupted() else "answered elsewhere", file=sys.stderr)
            continue
        try:
            questions.answer_question(session=session, author=user, question_id=question.pk, answer=answer)
        except ServiceError as error:
            print(f"agentweb: {error}", file=sys.stderr)


def typed_answer(question: Question, interrupted: Callable[[], bool]) -> str | None:
    """None when the question has got its answer from somewhere else, or nobody wants to answer any more."""
    while not interrupted():
        if select.select([sys.stdin], [], [], _TICK_SECONDS)[0]:
            line = sys.stdin.readline()
            answer = _ANSWERS.get(line.strip().lower())
            if answer is not None:
                return answer
            print("y, a or n: ", end="", file=sys.stderr, flush=True)
        question.refresh_from_db(fields=["answer"])
        if question.answer:
            return None
    return None


def told(question: Question) -> str:
    """What the agent wants to do, whole: the command, or the changes of a file."""
    arguments: dict[str, Any] = json.loads(question.arguments)
    preview: dict[str, Any] = json.loads(question.preview) if question.preview else {}
    if question.tool == "bash":
        return f"The agent wants to run:\n{indented(str(arguments.get('command')))}"
    body = str(preview.get("diff") or preview.get("problem") or arguments.get("content") or "")
    return f"The agent wants to use {question.tool} on {arguments.get('path')}:\n{indented(body)}"


def indented(text: str) -> str:
    """Its lines, few enough for a screen; control characters are shown, not obeyed."""
    lines = ["".join(c if c.isprintable() or c == "\t" else "␛" for c in line) for line in text.splitlines()]
    more = [f"… {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return "\n".join(f"  {line}" for line in [*lines[:_MOST_LINES], *more])
