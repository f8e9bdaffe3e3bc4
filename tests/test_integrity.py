"""Damaged sessions: found, told, mended, and never an obstacle to opening them."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app import entry_log, integrity
from sessions_app.models import Entry, Segment, Session
from tests.staging import Stage, assistant, stage, user

__all__ = ["stage"]

pytestmark = pytest.mark.django_db


def say(session: Session, *messages: dict[str, Any]) -> list[Entry]:
    written = [entry_log.append(session.pk, {"type": "message", "message": m}) for m in messages]
    session.refresh_from_db()
    return written


@pytest.fixture
def grown(session: Session) -> Session:
    """A tree with a fork and a compaction."""
    a, b, c, _ = say(session, user("A"), assistant("B"), user("C"), assistant("D"))
    fields = {"type": "compaction", "summary": "S", "firstKeptEntryId": c.entry_id, "tokensBefore": 9}
    entry_log.append(session.pk, fields)
    session.refresh_from_db()
    entry_log.move_leaf(session, b)
    say(session, user("E"), assistant("F"))
    entry_log.move_leaf(session, a)
    say(session, assistant("G"))
    entry_log.append(session.pk, {"type": "thinking_level_change", "thinkingLevel": "high"})
    session.refresh_from_db()
    return session


def problems(session: Session) -> list[str]:
    return [str(finding) for finding in integrity.check_session(session.pk).findings]


def mended(session: Session) -> None:
    report = integrity.check_session(session.pk, repair=True)
    assert report.repaired
    assert problems(session) == []
    session.refresh_from_db()


def test_a_sound_session_has_no_findings(grown: Session) -> None:
    assert problems(grown) == []
    assert [report.is_sound for report in integrity.check_all()] == [True]


@pytest.mark.parametrize(
    ("column", "value"),
    [("depth", 77), ("compaction_seq", 1), ("model_seq", None), ("thinking_seq", 2), ("kept_seq", 4)],
)
def test_what_is_carried_along_is_computed_anew(grown: Session, column: str, value: int | None) -> None:
    wanted = {entry.pk: getattr(entry, column) for entry in grown.entries.all()}
    Entry.objects.filter(session=grown, seq=5).update(**{column: value})
    assert column in problems(grown)[0]
    mended(grown)
    assert {entry.pk: getattr(entry, column) for entry in grown.entries.all()} == wanted


def test_broken_segments_are_made_anew_and_the_paths_stay(grown: Session) -> None:
    """B23: parents alone are the truth."""
    tips = list(grown.entries.filter(seq__in=(5, 7, 9)))
    paths = [[entry.pk for entry in entry_log.path_to(tip)] for tip in tips]
    Entry.objects.filter(session=grown, seq=3).update(ordinal=9)
    Segment.objects.filter(session=grown).update(length=50)
    assert any("gaps" in problem for problem in problems(grown))
    mended(grown)
    again = [Entry.objects.get(pk=tip.pk) for tip in tips]
    assert [[entry.pk for entry in entry_log.path_to(tip)] for tip in again] == paths
    say(grown, user("H"))
    assert problems(grown) == []


def test_a_circle_of_parents_is_cut(grown: Session) -> None:
    rows = {entry.seq: entry for entry in grown.entries.all()}
    Entry.objects.filter(pk=rows[1].pk).update(parent=rows[4])
    assert any("circle" in problem for problem in problems(grown))
    mended(grown)
    assert grown.entries.get(seq=1).parent is None


def test_a_payload_that_cannot_be_read_becomes_bookkeeping(grown: Session) -> None:
    Entry.objects.filter(session=grown, seq=3).update(payload='{"type": "mess')
    tip = grown.entries.get(seq=4)
    assert len(entry_log.load_context(grown, leaf=tip).messages) == 3
    mended(grown)
    row = grown.entries.get(seq=3)
    assert (row.kind, row.record["data"]["text"]) == ("custom", '{"type": "mess')
    assert len(entry_log.load_context(grown, leaf=grown.entries.get(seq=4)).messages) == 3


def test_a_number_that_is_taken_is_not_given_again(grown: Session) -> None:
    Session.objects.filter(pk=grown.pk).update(next_seq=2)
    mended(grown)
    assert grown.next_seq == 10


def test_a_leaf_of_another_session_is_left(grown: Session, session: Session) -> None:
    other = Session.objects.create(workspace=grown.workspace, owner=grown.owner, file_id="other")
    (strange,) = say(other, user("X"))
    Session.objects.filter(pk=grown.pk).update(leaf=strange)
    grown.refresh_from_db()
    assert "goes on from entry 9" in integrity.mend_leaf(grown)
    assert grown.leaf is not None
    assert grown.leaf.seq == 9
    assert problems(grown) == []


def test_a_damaged_leaf_falls_back_to_the_nearest_sound_entry(grown: Session) -> None:
    """B22."""
    Entry.objects.filter(session=grown, seq__in=(8, 9)).update(payload="\\x00")
    grown.refresh_from_db()
    assert "goes on from entry 1" in integrity.mend_leaf(grown)
    assert grown.leaf is not None
    assert grown.leaf.seq == 1
    assert integrity.mend_leaf(grown) == ""


@pytest.mark.django_db(transaction=True)
def test_a_run_works_in_a_damaged_session(stage: Stage) -> None:
    stage.say(user("A"), assistant("B"), user("C"), assistant("D"))
    Entry.objects.filter(session=stage.session, seq__in=(2, 4)).update(payload="nothing")
    assert stage.prompt("Next.").status == "completed"


def test_the_command_line_tells_of_every_session_and_repairs_on_demand(session: Session) -> None:
    from agentweb.administration import checked_sessions

    words = {"role": "user", "content": "x", "timestamp": 1}
    entry = entry_log.append(session.pk, {"type": "message", "message": words})
    assert [*checked_sessions(repair=False)] == [("1 sessions, all sound", True)]
    type(entry).objects.filter(pk=entry.pk).update(depth=7)
    lines = [*checked_sessions(repair=False)]
    assert lines[-1] == ("1 sessions, 1 damaged", False)
    assert [*checked_sessions(repair=True)][-1][0] == "1 sessions, 1 repaired"
    assert [*checked_sessions(repair=False)] == [("1 sessions, all sound", True)]
