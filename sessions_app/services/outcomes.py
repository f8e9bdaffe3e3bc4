"""What a person says came of a branch."""

from __future__ import annotations

from typing import Any

from sessions_app import entry_log, live
from sessions_app.models import Entry, OutcomeMark, Session
from sessions_app.services.errors import BadInput
from sessions_app.transactions import write_transaction


def mark_outcome(*, session: Session, author: Any, entry: Entry, outcome: str) -> str:
    """Mark the tip that an entry leads to as worked, dead_end or in_progress; empty takes the mark away.

    An entry that is no tip passes it on to the newest tip below it. Returns the outcome marked before, for the
    way back. Raises BadInput.
    """
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    if outcome and outcome not in OutcomeMark.Outcome.values:
        raise BadInput(f"{outcome!r} is no outcome.", "There are worked, dead_end and in_progress.")
    with write_transaction():
        entry_log.lock_session(session.pk)
        tip = entry_log.newest_below(entry)
        mark = OutcomeMark.objects.filter(entry=tip).first()
        before = mark.outcome if mark is not None else ""
        if outcome:
            OutcomeMark.objects.update_or_create(entry=tip, defaults={"outcome": outcome, "author": author})
        elif mark is not None:
            mark.delete()
    live.notify(session.pk, "marks")
    return before
