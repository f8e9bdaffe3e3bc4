"""Branches as sessions of their own, entries left out of the context, and entries no summary may lose."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from sessions_app import entry_log, live
from sessions_app.core.context_edits import LEFT_OUT, check_edit, failed_attempt
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.errors import SessionError
from sessions_app.core.forking import copy_branch
from sessions_app.core.projection import latest_edits
from sessions_app.core.tree import Tree
from sessions_app.formats.jsonl import new_header
from sessions_app.models import BlobUse, Entry, Pin, Session, Workspace
from sessions_app.runner import review_records
from sessions_app.runner.extensions import hooks_of
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.services.navigation import refuse_while_running, returned_text
from sessions_app.transactions import write_transaction

Json = dict[str, Any]

_MOST_PINS = 50
_PINNABLE = ("message", "custom_message", "branch_summary")


@dataclass(frozen=True, slots=True)
class Forked:
    """The new session, and the text that goes into its empty composer."""

    session: Session
    text: str = ""


def fork_session(*, session: Session, author: Any, entry: Entry) -> Forked:
    """A new session with the path before one of the user's messages, whose text goes to the composer (01 FK-01).

    From the first message it is an empty session that remembers where it came from. Raises BadInput, Conflict.
    """
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    if entry.kind != "message" or entry.role != "user":
        raise BadInput(
            "A session can be forked at one of your messages only.", "Clone it to take all of it along."
        )
    text = returned_text(entry) or ""
    _ask_extensions(session, entry, position="before")
    return Forked(_copy(session, author, entry.parent), text)


def clone_session(*, session: Session, author: Any) -> Forked:
    """A new session with the whole active path (01 FK-02). Raises Conflict when there is nothing yet."""
    if session.leaf is None:
        raise Conflict("There is nothing to clone yet.", "Send a message first.")
    _ask_extensions(session, session.leaf, position="at")
    return Forked(_copy(session, author, session.leaf))


def copy_to_folder(*, session: Session, author: Any, workspace: Workspace) -> Session:
    """A new session in another folder with all branches of this one (01 FK-06): the way on when a folder is gone.

    Raises BadInput for the folder it is in already, Conflict when there is nothing yet.
    """
    if workspace.pk == session.workspace_id:
        raise BadInput("The session is in this folder already.", "Choose another folder.")
    if session.leaf is None:
        raise Conflict("There is nothing to copy yet.", "Begin a session in the other folder.")
    _ask_extensions(session, session.leaf, position="at")
    with write_transaction():
        made = _made(session, author, workspace)
        rows = list(session.entries.order_by("seq"))
        entry_log.import_records(made, [row.as_core() for row in rows])
        _copy_what_hangs_on(rows, made)
        review_records.record_imported(made)
        entry_log.move_leaf(made, made.entries.get(seq=_place_of(session.leaf, rows)))
        _name_like(made, session)
    made.refresh_from_db()
    return made


def _place_of(leaf: Entry, rows: list[Entry]) -> int:
    """The seq an entry gets in a copy of all."""
    return next(number for number, row in enumerate(rows, start=1) if row.pk == leaf.pk)


def _ask_extensions(session: Session, entry: Entry, *, position: str) -> None:
    event = {"type": "session_before_fork", "entryId": entry.entry_id, "position": position}
    if hooks_of(session).session_before_fork(event).get("cancel"):
        raise Conflict("An extension refused the copy.")


def _copy(session: Session, author: Any, leaf: Entry | None) -> Session:
    """Ids are kept, labels follow at the end (01 FK-04)."""
    with write_transaction():
        made = _made(session, author, session.workspace)
        if leaf is not None:
            path = entry_log.path_to(leaf)
            entry_log.import_records(made, _copied_records(session, path, leaf))
            _copy_what_hangs_on(path, made)
            review_records.record_imported(made)
        _name_like(made, session)
    made.refresh_from_db()
    return made


def _made(session: Session, author: Any, workspace: Workspace) -> Session:
    """The empty copy: an id of its own, and a header that names where it came from (01 FK-05)."""
    key = uuid.uuid4()
    started = timezone.now()
    written = started.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    header = new_header(str(key), written, workspace.path, parent_session=session.file_id)
    return Session.objects.create(
        key=key,
        file_id=str(key),
        header=json.dumps(header),
        workspace=workspace,
        owner=author,
        provider=session.provider,
        model=session.model,
        thinking_level=session.thinking_level,
        created_at=started,
    )


def _name_like(made: Session, session: Session) -> None:
    if name := session.name or session.title:
        Session.objects.filter(pk=made.pk).update(title=name, name="")


def _copied_records(session: Session, path: list[Entry], leaf: Entry) -> list[CoreEntry]:
    """The path, with all labels of the session beside it: they are looked up whatever the branch."""
    on_path = {entry.pk for entry in path}
    labels = session.entries.filter(kind=Kind.LABEL).exclude(pk__in=on_path)
    rows = sorted([*path, *labels], key=lambda entry: entry.seq)
    tree = Tree([row.as_core() for row in rows])
    return copy_branch(tree, leaf.entry_id, lambda: uuid.uuid4().hex[:8])


def _copy_what_hangs_on(path: list[Entry], made: Session) -> None:
    """Images and outputs may be looked at in the copy too, and pins stay."""
    copies = {entry.entry_id: entry for entry in made.entries.all()}
    uses = BlobUse.objects.filter(entry__in=[entry.pk for entry in path]).select_related("entry")
    BlobUse.objects.bulk_create(
        [
            BlobUse(blob_id=use.blob_id, entry=copies[use.entry.entry_id], name=use.name)
            for use in uses
            if use.entry.entry_id in copies
        ]
    )
    pins = Pin.objects.filter(entry__in=[entry.pk for entry in path]).select_related("entry")
    Pin.objects.bulk_create(
        [
            Pin(entry=copies[pin.entry.entry_id], author_id=pin.author_id, quote=pin.quote)
            for pin in pins
            if pin.entry.entry_id in copies
        ]
    )


# --- leaving out ---


def leave_out(*, session: Session, author: Any, entry: Entry) -> list[Entry]:
    """Take a message out of what the model sees; it stays in the tree (01 §5). The context edits that do it.

    An answer takes the results of its calls along; a result alone gives way to a note. Raises BadInput for what
    cannot be left out, Conflict while a run is active.
    """
    return _edit(session, author, entry, out=True)


def restore(*, session: Session, author: Any, entry: Entry) -> list[Entry]:
    """Bring back what was left out, with what went along with it."""
    return _edit(session, author, entry, out=False)


def left_out(*, session: Session) -> set[int]:
    """The seqs of the entries of the active branch that are left out now."""
    if session.leaf is None:
        return set()
    path = entry_log.active_path(session.leaf)
    edits = latest_edits(path)
    return {core.seq for core in path if core.id in edits and _takes_out(edits[core.id])}


def _takes_out(edit: CoreEntry) -> bool:
    replacement = edit.record.get("replacement")
    return replacement is None or replacement == {"content": LEFT_OUT}


def _edit(session: Session, author: Any, entry: Entry, *, out: bool) -> list[Entry]:
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        refuse_while_running(locked)
        path = [row.as_core() for row in entry_log.path_to(locked.leaf)] if locked.leaf else []
        target = next((core for core in path if core.seq == entry.seq), None)
        if target is None:
            raise BadInput("That entry is not on this branch.", "Go to its branch first.")
        together = failed_attempt(path, target) if target.role == "assistant" else [target]
        tree = Tree(path)
        written = []
        for core in together:
            replacement = _replacement(core, out=out, alone=len(together) == 1)
            try:
                check_edit(tree, path, core.id, replacement)
            except SessionError as error:
                raise BadInput("Only messages and results can be left out.") from error
            fields = {"type": Kind.CONTEXT_EDIT, "targetId": core.id, "replacement": replacement}
            written.append(entry_log.append_locked(locked, fields, author=author))
    session.refresh_from_db()
    return written


def _replacement(core: CoreEntry, *, out: bool, alone: bool) -> Json | None:
    if not out:
        holder = core.message if core.message is not None else core.record
        content = holder.get("content")
        return {"content": content if isinstance(content, str | list) else []}
    return {"content": LEFT_OUT} if core.role == "toolResult" and alone else None


# --- pins ---


def pin(*, session: Session, author: Any, entry: Entry) -> Pin:
    """Never lose this entry to a summary: every compaction carries its text along. Raises BadInput, Conflict."""
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    if entry.kind not in _PINNABLE or entry.role == "system":
        raise BadInput("Only messages, results and summaries of branches can be pinned.")
    with write_transaction():
        entry_log.lock_session(session.pk)
        if _pins(session).count() >= _MOST_PINS and not _pins(session).filter(entry=entry).exists():
            raise Conflict(f"{_MOST_PINS} entries are pinned already.", "Unpin one first.")
        made, _ = Pin.objects.get_or_create(entry=entry, defaults={"author": author})
    live.notify(session.pk, "leaf", seq=session.leaf.seq if session.leaf else 0)
    return made


def unpin(*, session: Session, author: Any, entry: Entry) -> None:
    _pins(session).filter(entry=entry).delete()
    live.notify(session.pk, "leaf", seq=session.leaf.seq if session.leaf else 0)


def pinned(*, session: Session) -> set[int]:
    """The pks of the session's pinned entries."""
    return set(_pins(session).values_list("entry_id", flat=True))


def _pins(session: Session) -> QuerySet[Pin]:
    return Pin.objects.filter(entry__session_id=session.pk)
