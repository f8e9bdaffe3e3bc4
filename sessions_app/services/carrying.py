"""Taking one entry over to another branch: what it said goes there as a message that names where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app import entry_log
from sessions_app.core.entries import Kind
from sessions_app.core.messages import text_of
from sessions_app.models import Entry, Session
from sessions_app.services import commands
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.services.navigation import refuse_while_running
from sessions_app.transactions import write_transaction

CARRIED = "carried"
"""The custom type of what was taken over."""
LONGEST = 60_000


@dataclass(frozen=True, slots=True)
class Carried:
    """The new entry, and where the leaf stood before (None: before the first entry)."""

    entry: Entry
    left: Entry | None


def carry(*, session: Session, author: Any, entry: Entry, tip: Entry, key: str = "") -> Carried:
    """Go to the tip of a branch and tell it there what an entry of another branch said, with its origin.

    A custom message, so the next request on that branch holds it. Raises BadInput for an entry without words or
    one that is on that branch already, Conflict while a run is active.
    """
    if session.pk not in (entry.session_id, tip.session_id) or entry.session_id != tip.session_id:
        raise BadInput("That entry belongs to another session.")
    words = _words(entry)
    if not words:
        raise BadInput(
            "That entry has no words to carry.", "Carry the answer or the summary that tells of it."
        )
    if entry_log.is_on_path(entry, tip):
        raise BadInput("That entry is on this branch already.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if (earlier := commands.earlier_result(author, key)) is not None:
            seq, _, left_seq = earlier.partition(":")
            left = Entry.objects.filter(session=session, seq=int(left_seq or 0)).first()
            return Carried(Entry.objects.get(session=session, seq=int(seq)), left)
        refuse_while_running(locked)
        left = locked.leaf
        if locked.leaf_id != tip.pk:
            entry_log.move_leaf(locked, tip)
        fields = {
            "type": Kind.CUSTOM_MESSAGE,
            "customType": CARRIED,
            "content": f"{_origin(entry)}\n\n{words}",
            "display": True,
            "details": {"entryId": entry.entry_id, "seq": entry.seq, "kind": entry.kind, "role": entry.role},
        }
        made = entry_log.append_locked(locked, fields, author=author)
        commands.remember(author, key, f"{made.seq}:{left.seq if left else 0}")
    return Carried(made, left)


def can_carry(entry: Entry, tip: Entry) -> bool:
    """Whether an entry says anything that the branch of a tip does not have on its path."""
    return bool(_words(entry)) and not entry_log.is_on_path(entry, tip)


def take_back(*, session: Session, author: Any, entry: Entry, left: Entry | None) -> None:
    """Stand again where the leaf stood before an entry was carried; what was carried stays in the tree, beside the path.

    Raises Conflict when the work has gone on since, BadInput for anything that was not carried.
    """
    if entry.session_id != session.pk or (left is not None and left.session_id != session.pk):
        raise BadInput("That entry belongs to another session.")
    if entry.record.get("customType") != CARRIED:
        raise BadInput("Only what was carried can be taken back here.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        refuse_while_running(locked)
        if locked.leaf_id != entry.pk:
            raise Conflict("The work has gone on since.", "Go back to an earlier entry in the tree.")
        entry_log.move_leaf(locked, left)


_SPEAKERS = {
    "user": "a message",
    "assistant": "an answer",
    "toolResult": "a tool result",
    "bashExecution": "a command",
}


def _origin(entry: Entry) -> str:
    """Where it comes from, in words that the model reads too."""
    what = (
        "a summary"
        if entry.kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
        else _SPEAKERS.get(entry.role, "a note")
    )
    return f"Carried over from another branch of this session: {what} (entry {entry.entry_id})."


def _words(entry: Entry) -> str:
    record = entry.record
    message = record.get("message")
    holder: Any = message if isinstance(message, dict) else record
    summary = holder.get("summary")
    if isinstance(summary, str) and summary:
        return summary[:LONGEST]
    if entry.role == "bashExecution":
        return f"$ {holder.get('command')}\n{holder.get('output')}"[:LONGEST]
    return text_of(holder.get("content"), "\n").strip()[:LONGEST]
