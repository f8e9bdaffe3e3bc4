"""Moving about in the tree: go to an entry, edit and branch, undo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app import entry_log
from sessions_app.core.messages import text_of
from sessions_app.models import Entry, Run, Session
from sessions_app.services import commands
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.services.runs import Submission, checked_words, submit_prompt
from sessions_app.transactions import write_transaction


@dataclass(frozen=True, slots=True)
class Navigated:
    """Where the session stands now, and the text that goes back into an empty composer."""

    leaf: Entry | None
    text: str = ""


def navigate(*, session: Session, author: Any, entry: Entry) -> Navigated:
    """Stand on an entry; on one of the user's or an extension's messages: before it, its text returned (01 TR-01..04).

    Nothing is deleted. Raises Conflict while a run is active, BadInput for an entry of another session.
    """
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        refuse_while_running(locked)
        text = returned_text(entry)
        if text is None:
            target: Entry | None = entry
        else:
            target = entry.parent
        if (target.pk if target else None) != locked.leaf_id:
            entry_log.move_leaf(locked, target)
    session.refresh_from_db()
    return Navigated(target, text or "")


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
    entry = session.leaf
    while entry is not None and not (entry.kind == "message" and entry.role == "user"):
        entry = entry.parent
    if entry is None:
        raise Conflict("There is nothing to undo on this branch.")
    return navigate(session=session, author=author, entry=entry)


def refuse_while_running(session: Session) -> None:
    if Run.objects.active().filter(session=session).exists():
        raise Conflict("The agent is working on this branch.", "Stop it first, then go there.")


def returned_text(entry: Entry) -> str | None:
    """The text of a user message or custom message; None for other entries."""
    if entry.kind == "custom_message":
        return text_of(entry.record.get("content"))
    if entry.kind == "message" and entry.role == "user":
        return text_of(entry.record["message"].get("content"))
    return None
