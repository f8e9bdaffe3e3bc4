"""Removing for good, the two exceptions to an append-only log: one entry's text, or a whole session."""

from __future__ import annotations

from typing import Any

from django.db.models import CASCADE, Model

from sessions_app import search_index
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.json_text import print_json
from sessions_app.core.tombstones import tombstone
from sessions_app.entry_log import columns
from sessions_app.models import BlobUse, Entry, Segment, Session


def erase_text(session: Session, entry: Entry, reason: str) -> list[str]:
    """Put a tombstone in the place of the entry's record; the hashes of the blobs it referred to.

    The caller holds the session's row.
    """
    stone = CoreEntry(columns.clean(tombstone(entry.as_core(), reason)), entry.seq)
    Entry.objects.filter(pk=entry.pk).update(
        payload=print_json(stone.record), tokens=columns.estimated_tokens(stone), **columns.drawn(stone)
    )
    uses = BlobUse.objects.filter(entry=entry)
    dropped = list(uses.values_list("blob__sha256", flat=True))
    uses.delete()
    search_index.forget([entry.pk])
    _name_anew(session)
    return dropped


def _name_anew(session: Session) -> None:
    """Lists show the first words or the newest name: they may have been what was erased."""
    newest = session.entries.filter(kind=Kind.SESSION_INFO).order_by("-seq").first()
    session.name = columns.name_of(newest.record) if newest else ""
    session.title = ""
    for row in session.entries.filter(role="user").order_by("seq")[:20]:
        session.title = session.title or columns.title_of(row.as_core())
    session.save(update_fields=["name", "title"])


def remove_session(session: Session) -> None:
    """Remove a session with everything that hangs on it. The caller holds its row and has seen that nothing runs.

    Not by `delete()` alone: it would follow parents one by one, and a chain of entries may be 100,000 long.
    """
    Session.objects.filter(pk=session.pk).update(leaf=None)
    search_index.forget(list(Entry.objects.filter(session=session).values_list("pk", flat=True)))
    for model in (Entry, Segment):
        _let_go(model, session)
    for model in (Entry, Segment):
        rows: Any = model._default_manager.filter(session=session)
        # One statement, no look at each row: what refers to them is gone, and what they refer to goes with them.
        rows._raw_delete(rows.db)
    session.delete()


def _let_go(model: type[Model], session: Session) -> None:
    """Rows of other tables that name the session's entries or segments: deleted or emptied, as their field says."""
    for relation in model._meta.related_objects:
        other = relation.related_model
        if other in (Entry, Segment, Session):
            continue
        name = relation.field.name
        rows = other._default_manager.filter(**{f"{name}__session": session})
        if relation.on_delete is CASCADE:
            rows.delete()
        else:
            rows.update(**{name: None})
