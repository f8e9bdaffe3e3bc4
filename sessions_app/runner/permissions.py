"""What an agent may do only when a person allows it: asked, answered from anywhere, timed out; a run that waits holds
no worker.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sessions_app import entry_log, live
from sessions_app.agent.events import AskedCall
from sessions_app.agent.sandboxes.base import Sandbox
from sessions_app.agent.tool_presets import asks_first
from sessions_app.agent.tools.preview import preview
from sessions_app.core.json_text import print_json
from sessions_app.models import CompactionAttempt, Entry, Question, Run
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.settling import open_calls
from sessions_app.runner.starting import wake_for
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Answer = Question.Answer

OPTIONS: dict[str, str] = {Answer.ALLOW: "Allow", Answer.ALLOW_RUN: "Allow for this run", Answer.DENY: "Deny"}
_REFUSALS: dict[str, str] = {
    Answer.DENY: "The user did not allow this call. Nothing was done. Ask what to do instead, or go on without it.",
    Answer.TIMED_OUT: (
        "Nobody answered in time whether this call is allowed, which counts as no. Nothing was done. "
        "Say what you wanted to do and why, and end here."
    ),
}
# Characters of arguments and of a preview that are kept for the card.
_LONGEST = 200_000


class Permissions:
    """The answers of one run, as its loop asks for them. `entry` is the message whose calls are looked at."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._entry: Entry | None = None
        self._answers: dict[int, str] = {}

    def open_answer(self) -> Json | None:
        """The message that was left with its calls for the answers of a person, which are there now."""
        session = self._run.session
        asked = Question.objects.filter(run=self._run).order_by("-pk").select_related("entry").first()
        if asked is None or not open_calls(session):
            return None
        self.look_at(asked.entry)
        message: Json = asked.entry.record["message"]
        return message

    def look_at(self, entry: Entry) -> None:
        self._entry = entry
        self._answers = {
            question.position: question.answer for question in Question.objects.filter(entry=entry)
        }

    def permit(self, preset: str, position: int, tool: str) -> str | None:
        """The `Permit` of the loop."""
        if (answer := self._answers.get(position)) is not None:
            return _REFUSALS.get(answer, "") if answer != Answer.OPEN else None
        if not asks_first(preset, tool):
            return ""
        allowed = Question.objects.filter(run=self._run, tool=tool, answer=Answer.ALLOW_RUN)
        return "" if allowed.exists() else None


def leave_until_answered(
    active: ActiveRun, entry: Entry, asked: Sequence[AskedCall], sandbox: Sandbox, turns: int
) -> None:
    """Ask, and give the run back: nobody owns it until the last answer is there. Raises LeaseLost."""
    now = timezone.now()
    expires = now + timedelta(minutes=settings.ANSWER_MINUTES)
    previews = [preview(call.tool_name, call.arguments, sandbox) for call in asked]
    with write_transaction():
        entry_log.lock_session(active.session_pk)
        active.assert_owned()
        questions = [
            Question.objects.create(
                run=active.run,
                entry=entry,
                position=call.position,
                tool=call.tool_name[:200],
                arguments=_kept(call.arguments),
                preview=_kept(shown) if shown else "",
                expires_at=expires,
            )
            for call, shown in zip(asked, previews, strict=True)
        ]
        Run.objects.filter(pk=active.run.pk).update(
            status=Run.Status.ASKING,
            owner="",
            lease_until=None,
            checkpoint="",
            turns=turns,
            tokens=active.tokens,
            cost=active.cost,
        )
    active.is_left = True
    for question in questions:
        active.stream.add(_request(question))
    active.stream.flush()
    live.notify(active.session_pk, "run", run=active.run.pk, status=Run.Status.ASKING)


def _kept(value: Json) -> str:
    """As JSON; texts that are too long for a card lose their end."""
    text = print_json(value)
    if len(text) <= _LONGEST:
        return text
    share = _LONGEST // max(1, len(value))
    return print_json(
        {name: item[:share] if isinstance(item, str) else str(item)[:share] for name, item in value.items()}
    )


def _request(question: Question) -> Json:
    """The dialog of spec 10 that asks it."""
    return {
        "type": "extension_ui_request",
        "id": str(question.pk),
        "method": "select",
        "title": title_of(question),
        "options": list(OPTIONS.values()),
        "timeout": max(0, round((question.expires_at - question.created_at).total_seconds() * 1000)),
    }


def title_of(question: Question) -> str:
    """What is asked, in one line."""
    arguments = json.loads(question.arguments)
    subject = arguments.get("command") if question.tool == "bash" else arguments.get("path")
    return f"May the agent use {question.tool}: {' '.join(str(subject or '').split())[:300]}"


def give_answer(question: Question, answer: str, *, author: Any = None) -> bool:
    """Record an answer; the last one of a batch hands the run on. False when it has one already, or is no question
    any more because its run has gone on or ended.
    """
    now = timezone.now()
    with write_transaction():
        entry_log.lock_session(question.run.session_id)
        run = Run.objects.get(pk=question.run_id)
        open_ones = Question.objects.filter(run=run, answer=Answer.OPEN)
        if run.status != Run.Status.ASKING or not open_ones.filter(pk=question.pk).exists():
            return False
        # Whoever allows a tool for the run has answered what else of it is asked.
        covers = open_ones.filter(tool=question.tool) if answer == Answer.ALLOW_RUN else open_ones
        covers = covers if answer == Answer.ALLOW_RUN else covers.filter(pk=question.pk)
        answered = list(covers)
        covers.update(answer=answer, answered_by=author, answered_at=now)
        session_pk = run.session_id
        if open_ones.exists():
            transaction.on_commit(lambda: live.notify(session_pk, "question"))
        else:
            hand_on(run, now=now)
    stream = live.RunStream(run.pk, session_pk)
    for given in answered:
        stream.add(
            {"type": "extension_ui_response", "id": str(given.pk), "value": OPTIONS.get(answer, answer)}
        )
    stream.flush()
    return True


def hand_on(run: Run, *, now: datetime) -> None:
    """A run that waits for a person goes back to the workers, in the caller's transaction: all is answered or decided,
    or it is to stop.
    """
    if run.status == Run.Status.REVIEWING:
        since = (
            CompactionAttempt.objects.filter(run=run)
            .order_by("-pk")
            .values_list("held_at", flat=True)
            .first()
        )
    else:
        since = Question.objects.filter(run=run).order_by("-pk").values_list("created_at", flat=True).first()
    waited = max(0, round((now - since).total_seconds() * 1000)) if since else 0
    Question.objects.filter(run=run, answer=Answer.OPEN).update(answer=Answer.STOPPED, answered_at=now)
    Run.objects.filter(pk=run.pk).update(
        status=Run.Status.QUEUED, enqueued_at=now, waited_ms=run.waited_ms + waited
    )
    wake_for(run)


def time_out() -> int:
    """Answer what nobody has answered in time with no; the number of questions. Many processes may do it at once."""
    late = Question.objects.filter(answer=Answer.OPEN, expires_at__lt=timezone.now())
    late = late.filter(run__status=Run.Status.ASKING).select_related("run")[:100]
    return sum(give_answer(question, Answer.TIMED_OUT) for question in list(late))
