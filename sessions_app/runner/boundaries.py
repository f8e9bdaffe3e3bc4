"""What hooks ask for at a boundary of a run: entries, checked as a whole and written in order (07 §3)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from sessions_app import entry_log
from sessions_app.core.context_edits import check_edit
from sessions_app.core.entries import Kind
from sessions_app.core.errors import MalformedPayload, SessionError
from sessions_app.core.tree import Tree
from sessions_app.models import Session
from sessions_app.runner.active_run import ActiveRun
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

_DRAFTS = (Kind.CUSTOM, Kind.CUSTOM_MESSAGE, Kind.CONTEXT_EDIT)


def append_drafts(active: ActiveRun, drafts: Sequence[Any]) -> None:
    """All of them behind the run's tail, or none where one is no entry that a hook may write."""
    if not drafts:
        return
    try:
        with write_transaction():
            session = entry_log.lock_session(active.session_pk)
            for draft in drafts:
                _check(session, draft)
            for draft in drafts:
                active.store(draft)
    except SessionError as error:
        logger.warning("entries of a hook were not written: %s", error, extra={"run": active.run.pk})


def _check(session: Session, draft: Any) -> None:
    kind = draft.get("type") if isinstance(draft, dict) else None
    if kind not in _DRAFTS:
        raise MalformedPayload(f"a hook may not write {kind!r}")
    if kind == Kind.CONTEXT_EDIT:
        path = entry_log.active_path(session.leaf) if session.leaf else []
        check_edit(Tree(path), path, str(draft.get("targetId")), draft.get("replacement"))
    elif not isinstance(draft.get("customType"), str):
        raise MalformedPayload("an entry of a hook names its kind in customType")
    elif kind == Kind.CUSTOM_MESSAGE and not isinstance(draft.get("content"), str | list):
        raise MalformedPayload("a message of a hook has text or blocks as its content")
