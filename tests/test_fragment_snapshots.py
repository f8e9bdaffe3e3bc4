"""How entries look, one file per kind: open them in a browser, review their changes like code."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from sessions_app import entry_log, fragments
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.models import Session

PATCH = "--- slots.py\n+++ slots.py\n@@ -61,2 +61,2 @@\n-    return self.start < other.end\n+    return a.start < b.end\n     # done\n"


class HtmlFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "html"


@pytest.fixture
def html(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(HtmlFile)


def record(identity: str, parent: str | None, **fields: Any) -> CoreEntry:
    common = {"id": identity, "parentId": parent, "timestamp": "2024-11-21T14:29:00.000Z"}
    return CoreEntry({**common, **fields})


def message(identity: str, parent: str | None, role: str, content: Any, **fields: Any) -> CoreEntry:
    inside = {"role": role, "content": content, "timestamp": 1_732_199_336_000, **fields}
    return record(identity, parent, type="message", message=inside)


def a_session(session: Session) -> Session:
    thought = {"type": "thinking", "thinking": "The repeated hour needs fold.", "durationMs": 11_000}
    call = {"type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "slots.py", "edits": []}}
    usage = {
        "input": 1000,
        "output": 200,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": 1200,
        "cost": {"total": 0.03},
    }
    words = {"type": "text", "text": "Both slots are compared in **UTC** now, see `overlaps()`."}
    result = [{"type": "text", "text": "Changed slots.py"}]
    Session.objects.filter(pk=session.pk).update(key=uuid.UUID(int=7))
    session.refresh_from_db()
    entry_log.import_records(
        session,
        [
            message("a", None, "user", "Fix it inside `slots.py` only."),
            message("b", "a", "assistant", [thought, words, call], model="cairn-4", stopReason="toolUse", usage=usage),
            message("c", "b", "toolResult", result, toolCallId="c1", toolName="edit", isError=False, durationMs=31,
                    details={"diff": PATCH, "path": "/w/slots.py", "added": 1, "removed": 1}),
            message("d", "c", "assistant", [words], model="cairn-4", stopReason="error", errorMessage="Overloaded"),
            record("e", "d", type="compaction", summary="## Goal\nShip it.", firstKeptEntryId="c", tokensBefore=141_200),
            record("f", "e", type="branch_summary", summary="Left it.", fromId="d", details={"readFiles": ["a.py"]}),
            record("g", "f", type="label", targetId="a", label="start"),
        ],
    )  # fmt: skip
    return session


KINDS = ("user", "assistant", "tool_result", "failed_answer", "compaction", "branch_summary", "label")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_looks_like_this(session: Session, alice: User, html: SnapshotAssertion, kind: str) -> None:
    entries = list(a_session(session).entries.select_related("parent").order_by("seq"))
    assert fragments.render_entry(entries[KINDS.index(kind)], user=alice) == html
