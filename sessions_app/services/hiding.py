"""Putting a branch out of sight and showing it again. Nothing is deleted, and both can be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app import entry_log, live
from sessions_app.models import Entry, HiddenBranch, Segment, Session
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.services.navigation import refuse_while_running
from sessions_app.transactions import write_transaction


@dataclass(frozen=True, slots=True)
class Hidden:
    """The entry the hidden branch begins with, and where one stood if that lay in it."""

    beginning: Entry
    stood: Entry | None = None


def branch_beginning(entry: Entry) -> Entry | None:
    """Where the branch begins that an entry lies on: the nearest entry from it upwards that has siblings. None in a
    tree of one branch.
    """
    forks = Segment.objects.filter(parent_id=entry.segment_id, parent_ordinal__lt=entry.ordinal)
    fork = forks.order_by("-parent_ordinal").first()
    ordinal = fork.parent_ordinal + 1 if fork is not None else 0
    beginning = Entry.objects.select_related("segment").get(segment_id=entry.segment_id, ordinal=ordinal)
    if fork is None and beginning.parent_id is None:
        roots = Entry.objects.filter(session_id=entry.session_id, parent=None).exclude(pk=beginning.pk)
        return beginning if roots.exists() else None
    return beginning


def hide_branch(*, session: Session, author: Any, entry: Entry) -> Hidden:
    """Put the branch that an entry lies on out of tree, switches and lists. Who stands on it goes to the branch beside
    it, or where there is none to the entry it left from. Raises BadInput; Conflict while an agent works on it.
    """
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        beginning = branch_beginning(entry)
        if beginning is None:
            raise Conflict(
                "There is only this branch.", "Archive or delete the session to put it out of sight."
            )
        leaf, stood = locked.leaf, None
        if leaf is not None and entry_log.is_on_path(beginning, leaf):
            refuse_while_running(locked)
            stood = leaf
            beside = entry_log.siblings([beginning]).get(beginning.pk)
            neighbour = beside and (beside.previous or beside.next)
            if neighbour:
                entry_log.move_leaf(locked, entry_log.newest_below(Entry.objects.get(pk=neighbour)))
            elif beginning.parent is not None:
                entry_log.move_leaf(locked, beginning.parent)
            else:
                raise Conflict("All other branches are hidden.", "Show one of them first.")
        HiddenBranch.objects.get_or_create(entry=beginning, defaults={"author": author})
    live.notify(session.pk, "marks")
    return Hidden(beginning, stood)


def show_branch(*, session: Session, author: Any, entry: Entry, stood: Entry | None = None) -> None:
    """Show a hidden branch again; with `stood` also go back to where one stood before it was hidden.

    Raises BadInput; Conflict while an agent works where one stands now.
    """
    if entry.session_id != session.pk or (stood is not None and stood.session_id != session.pk):
        raise BadInput("That entry belongs to another session.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if stood is not None and locked.leaf_id != stood.pk:
            refuse_while_running(locked)
            entry_log.move_leaf(locked, stood)
        entry_log.show_path(entry)
    live.notify(session.pk, "marks")
