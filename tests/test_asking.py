"""Questions of the agent on a terminal: answered there, or left to others (spec 10: dialogs)."""

from __future__ import annotations

import io
import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentweb.asking import ask_on_terminal, can_ask
from sessions_app.models import Session
from sessions_app.services import questions
from tests.staging import Stage, stage

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["stage"]

Json = dict[str, Any]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[TextIO]:
    """The person's side of a terminal that stands for standard input."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as theirs, os.fdopen(master, "w") as ours:
        monkeypatch.setattr(sys, "stdin", theirs)
        yield ours


def asked(stage: Stage) -> Any:
    Session.objects.filter(pk=stage.session.pk).update(tool_preset="ask")
    stage.session.refresh_from_db()
    return stage.prompt("Make it.", [{"call": "bash", "arguments": {"command": "touch made"}}])


def test_only_a_terminal_is_asked(monkeypatch: pytest.MonkeyPatch, keyboard: TextIO) -> None:
    monkeypatch.setattr(sys, "stderr", sys.stdin)
    assert can_ask()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not can_ask()
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert not can_ask()


@pytest.mark.parametrize(("typed", "made"), [("perhaps\ny\n", True), ("\n", False)])
def test_a_question_is_put_whole_and_answered_by_a_letter(
    stage: Stage, keyboard: TextIO, capsys: pytest.CaptureFixture[str], typed: str, made: bool
) -> None:
    run = asked(stage)
    keyboard.write(typed)
    keyboard.flush()
    ask_on_terminal(stage.session, stage.author, lambda: False)
    said = capsys.readouterr().err
    assert "The agent wants to run:\n  touch made" in said
    assert "[N]o: " in said
    assert ("y, a or n: " in said) == made
    assert stage.carry_out(run).status == "completed"
    assert (Path(stage.session.workspace.path) / "made").exists() == made


def test_an_answer_from_elsewhere_ends_the_wait(
    stage: Stage, keyboard: TextIO, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(stage)
    [question] = questions.open_questions(stage.session)

    def meanwhile() -> bool:
        if not question.answer:
            question.answer = "deny"
            questions.answer_question(
                session=stage.session, author=stage.author, question_id=question.pk, answer="deny"
            )
        return False

    ask_on_terminal(stage.session, stage.author, meanwhile)
    assert capsys.readouterr().err.endswith("answered elsewhere\n")
