"""A case's session as rows: imported as a person would, answered from the database."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django
from django.db import connection, transaction

django.setup()

from django.contrib.auth.models import User

from sessions_app import entry_log
from sessions_app.core.entries import Entry
from sessions_app.core.projection import Context, project
from sessions_app.core.tree import Tree
from sessions_app.formats.jsonl import read_session
from sessions_app.models import Session as SessionRow
from sessions_app.models import Workspace
from sessions_app.services.sessions import import_session_file


@contextmanager
def test_database() -> Iterator[None]:
    """An empty database that is gone afterwards."""
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


test_database.__test__ = False  # type: ignore[attr-defined]


class DatabaseSession:
    """The same questions as `sessions.CoreSession` answers, asked of rows."""

    def __init__(self, text: str) -> None:
        minted = iter(range(1, 10**8))
        self.loaded = read_session(text, lambda: f"gen{next(minted):05d}")
        self._contexts: dict[str | None, Context] = {}
        owner, _ = User.objects.get_or_create(username="owner")
        workspace, _ = Workspace.objects.get_or_create(path="/nowhere", defaults={"name": "cases"})
        self._pk = import_session_file(workspace=workspace, owner=owner, file=self.loaded).pk

    @property
    def _row(self) -> SessionRow:
        return SessionRow.objects.select_related("leaf").get(pk=self._pk)

    def leaf_id(self) -> str | None:
        leaf = self._row.leaf
        return None if leaf is None else leaf.entry_id

    def tree(self) -> Tree:
        return Tree([row.as_core() for row in self._row.entries.order_by("seq")])

    def path(self, leaf_id: str | None) -> list[Entry]:
        leaf = entry_log.find_by_id(self._pk, leaf_id)
        if leaf is None:
            return []
        # A path and its context are compared by the identity of their entries.
        active = {item.entry.seq: item.entry for item in self.context(leaf_id).entries}
        return [active.get(row.seq) or row.as_core() for row in entry_log.load_path(leaf)]

    def context(self, leaf_id: str | None) -> Context:
        if leaf_id not in self._contexts:
            leaf = entry_log.find_by_id(self._pk, leaf_id)
            found = project([]) if leaf is None else entry_log.load_context(self._row, leaf=leaf)
            self._contexts[leaf_id] = found
        return self._contexts[leaf_id]

    def append(self, entries: Iterable[Entry]) -> None:
        with transaction.atomic():
            session = entry_log.lock_session(self._pk)
            for entry in entries:
                entry_log.append_record(session, entry.record)
