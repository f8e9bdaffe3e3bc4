"""Moving about in the tree: go to an entry, edit and branch, undo."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sessions_app import entry_log
from sessions_app.agent.models_catalogue import describe_model
from sessions_app.core.entries import Kind
from sessions_app.core.navigation import speaks_for_user, words_of
from sessions_app.models import Entry, Run, Session
from sessions_app.runner.branch_summary_run import leaving, plan_of, preparation, tell_moved
from sessions_app.runner.extensions import hooks_of
from sessions_app.runner.starting import start_run
from sessions_app.services import commands
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.services.runs import Submission, checked_words, stop_run, submit_prompt
from sessions_app.transactions import write_transaction

SUMMARISE = ("none", "summarise", "custom")
STOP_SECONDS = 10.0
_LONGEST_LABEL = 100


@dataclass(frozen=True, slots=True)
class Navigated:
    """Where the session stands now, and the text that goes back into an empty composer.

    With a `run` the leaf moves when that has written its summary; until then it stands where it stood.
    """

    leaf: Entry | None
    text: str = ""
    run: Run | None = None


def navigate(
    *,
    session: Session,
    author: Any,
    entry: Entry,
    summarise: str = "none",
    instructions: str = "",
    replace: bool = False,
    label: str = "",
    stop: bool = False,
    key: str = "",
) -> Navigated:
    """Stand on an entry; on one of the user's or an extension's messages: before it, its text returned (01 TR-01..06).

    `summarise` (03 BS-02, BS-03): none, summarise, or custom with `instructions` as a focus, or with `replace` in
    place of the sections. Where nothing is left behind that a summary could tell, there is none (BS-07, BS-15).
    Nothing is deleted. With `stop` what the agent is doing is stopped first. Raises Conflict while a run is active,
    BadInput for an entry of another session.
    """
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    focus, tidy = _checked(summarise, instructions, label)
    if stop:
        _stop_first(session, author)
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if (earlier := commands.earlier_result(author, key)) is not None:
            return _repeated(locked, entry, earlier)
        refuse_while_running(locked)
        if summarise != "none" and _has_something_to_tell(locked, entry):
            request = {"target": entry.seq, "instructions": focus, "replace": replace, "label": tidy}
            run = start_run(locked, author, kind=Run.Kind.BRANCH_SUMMARY, request=request)
            commands.remember(author, key, f"run:{run.pk}")
            return Navigated(locked.leaf, returned_text(entry) or "", run)
        _move(locked, entry, author, tidy)
        commands.remember(author, key, "moved")
    session.refresh_from_db()
    return Navigated(session.leaf, returned_text(entry) or "")


def _stop_first(session: Session, author: Any) -> None:
    """Stop what runs and wait until its worker has closed it. Raises Conflict when that takes too long."""
    if not is_at_work(session):
        return
    stop_run(session=session, author=author)
    until = time.monotonic() + STOP_SECONDS
    while is_at_work(session):
        if time.monotonic() > until:
            raise Conflict("The job is still being stopped.", "Go there again in a moment.")
        time.sleep(0.1)


def _checked(summarise: str, instructions: str, label: str) -> tuple[str, str]:
    """The focus and the label as they are used."""
    if summarise not in SUMMARISE:
        raise BadInput(f"{summarise!r} is no way to leave a branch.", f"There are {', '.join(SUMMARISE)}.")
    tidy = " ".join(label.split())
    if len(tidy) > _LONGEST_LABEL:
        raise BadInput(f"A label has at most {_LONGEST_LABEL} characters.")
    focus = instructions.strip() if summarise == "custom" else ""
    if summarise == "custom" and not focus:
        raise BadInput("Say what the summary should look at.", "Or choose a plain summary.")
    return focus, tidy


def _has_something_to_tell(session: Session, target: Entry) -> bool:
    move = leaving(session.leaf, target)
    return bool(plan_of(move, describe_model(session.provider, session.model)).items)


def _move(session: Session, target: Entry, author: Any, label: str) -> None:
    """At once, without a summary; a label goes on the target (01 TR-06). The caller holds the session's row."""
    destination = target if returned_text(target) is None else target.parent
    stays = (destination.pk if destination else None) == session.leaf_id
    if stays and not label:
        return
    hooks = hooks_of(session)
    # What is left behind is gathered only for those who listen.
    move = (
        leaving(session.leaf, target)
        if hooks.has("session_before_tree") or hooks.has("session_tree")
        else None
    )
    if move is not None:
        prepared = preparation(move, wants_summary=False, instructions="", replace=False, label=label)
        answer = hooks.session_before_tree({"type": "session_before_tree", "preparation": prepared})
        if answer.get("cancel"):
            raise Conflict("An extension keeps the session on its branch.")
    if not stays:
        entry_log.move_leaf(session, destination)
    if label:
        fields = {"type": Kind.LABEL, "targetId": target.entry_id, "label": label}
        entry_log.append_locked(session, fields, author=author)
    if move is not None:
        tell_moved(hooks, move, session.leaf)


def _repeated(session: Session, entry: Entry, result: str) -> Navigated:
    kind, _, run_pk = result.partition(":")
    run = Run.objects.filter(pk=int(run_pk)).first() if kind == "run" else None
    return Navigated(session.leaf, returned_text(entry) or "", run)


def edit_and_branch(*, session: Session, author: Any, entry: Entry, text: str, key: str = "") -> Submission:
    """Say something else in place of a message of the user's: a new branch beside the old one, and a run on it."""
    if returned_text(entry) is None:
        raise BadInput("Only your own messages can be edited.", "Go to the answer and write a new message.")
    words = checked_words(text)
    with write_transaction():
        if commands.earlier_result(author, key) is None:
            navigate(session=session, author=author, entry=entry)
        return submit_prompt(session=session, author=author, text=words, key=key)


def undo(*, session: Session, author: Any) -> Navigated:
    """Go back before the newest of the user's messages on this branch; its text returns to the composer."""
    return navigate(session=session, author=author, entry=newest_own(session))


def newest_own(session: Session) -> Entry:
    """The newest of the user's messages on the branch. Raises Conflict when there is none."""
    entry = session.leaf
    while entry is not None and not (entry.kind == "message" and entry.role == "user"):
        entry = entry.parent
    if entry is None:
        raise Conflict("There is nothing to undo on this branch.")
    return entry


def is_at_work(session: Session) -> bool:
    """Does an agent work on the session, or wait to? Commands of a person are nobody's hindrance."""
    waits = (*Run.ACTIVE, Run.Status.WAITING)
    return Run.objects.of_agents().filter(session=session, status__in=waits).exists()


def refuse_while_running(session: Session) -> None:
    if is_at_work(session):
        raise Conflict("The agent is working on this branch.", "Stop it first, then go there.")


def returned_text(entry: Entry) -> str | None:
    """The text of a user message or custom message; None for other entries."""
    core = entry.as_core()
    return words_of(core) if speaks_for_user(core) else None
