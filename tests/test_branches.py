"""Forks, clones, what is left out of the context, and pins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sessions_app import blobs, entry_log
from sessions_app.core.context_edits import LEFT_OUT
from sessions_app.models import BlobUse, Entry, Run, Session
from sessions_app.services import branches, navigation, sessions, workspaces
from sessions_app.services.errors import BadInput, Conflict
from tests.staging import assistant, call, result, user

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


def say(session: Session, *messages: dict[str, Any]) -> list[Entry]:
    written = [entry_log.append(session.pk, {"type": "message", "message": m}) for m in messages]
    session.refresh_from_db()
    return written


def spoken(session: Session) -> list[Any]:
    return [message["content"] for message in entry_log.load_context(session).messages]


def test_a_fork_holds_what_came_before_the_message(session: Session, alice: User) -> None:
    """FK-01, FK-05."""
    entries = say(session, user("A"), assistant("B"), user("C"), assistant("D"))
    forked = branches.fork_session(session=session, author=alice, entry=entries[2])
    assert forked.text == "C"
    made = forked.session
    assert [entry.entry_id for entry in made.entries.order_by("seq")] == [e.entry_id for e in entries[:2]]
    header = json.loads(made.header)
    assert (header["parentSession"], header["id"]) == (session.file_id, made.file_id)
    assert made.key != session.key
    assert entry_log.load_context(made).messages == entry_log.load_context(session, leaf=entries[1]).messages


def test_a_fork_at_the_first_message_is_empty_and_knows_its_parent(session: Session, alice: User) -> None:
    """FK-01."""
    entries = say(session, user("A"), assistant("B"))
    forked = branches.fork_session(session=session, author=alice, entry=entries[0])
    assert (forked.text, forked.session.leaf, forked.session.entries.count()) == ("A", None, 0)
    assert "parentSession" in forked.session.header


def test_only_a_persons_message_can_be_forked_at(session: Session, alice: User) -> None:
    entries = say(session, user("A"), assistant("B"))
    with pytest.raises(BadInput):
        branches.fork_session(session=session, author=alice, entry=entries[1])


def test_a_clone_gives_the_same_context(session: Session, alice: User) -> None:
    """FK-02, FK-04: labels at the end, one branch only."""
    a, b = say(session, user("A"), assistant("B"))
    sessions.set_label(session=session, author=alice, entry=a, label="begin")
    session.refresh_from_db()
    say(session, user("C"), assistant("D"))
    context = entry_log.load_context(session).messages
    cloned = branches.clone_session(session=session, author=alice).session
    assert entry_log.load_context(cloned).messages == context
    kinds = [entry.kind for entry in cloned.entries.order_by("seq")]
    assert kinds == ["message"] * 4 + ["label"]
    assert cloned.entries.get(kind="label").record["targetId"] == a.entry_id
    assert (cloned.provider, cloned.model, cloned.title) == (session.provider, session.model, session.title)
    assert b.session_id == session.pk


def test_there_is_nothing_to_clone_in_an_empty_session(session: Session, alice: User) -> None:
    with pytest.raises(Conflict):
        branches.clone_session(session=session, author=alice)


def test_images_and_pins_come_along(session: Session, alice: User) -> None:
    blob = blobs.store(b"bytes", "image/png")
    (entry,) = say(session, user("A"))
    BlobUse.objects.create(blob=blob, entry=entry, name="image-1.png")
    branches.pin(session=session, author=alice, entry=entry)
    cloned = branches.clone_session(session=session, author=alice).session
    assert BlobUse.objects.filter(entry__session=cloned, blob=blob).exists()
    assert branches.pinned(session=cloned) == {cloned.entries.get().pk}


def test_what_is_left_out_is_not_seen_by_the_model_until_it_is_restored(
    session: Session, alice: User
) -> None:
    a, b, _ = say(session, user("A"), assistant("B"), user("C"))
    before = entry_log.load_context(session).messages
    branches.leave_out(session=session, author=alice, entry=a)
    assert "A" not in spoken(session)
    assert branches.left_out(session=session) == {a.seq}
    branches.restore(session=session, author=alice, entry=a)
    assert entry_log.load_context(session).messages == before
    assert branches.left_out(session=session) == set()
    assert b.seq == 2


def test_an_answer_takes_its_results_along(session: Session, alice: User) -> None:
    """02 §2: never an unpaired result."""
    _, b, c, _ = say(
        session, user("A"), assistant(call("one"), reason="toolUse"), result("one", "x"), assistant("D")
    )
    branches.leave_out(session=session, author=alice, entry=b)
    assert branches.left_out(session=session) == {b.seq, c.seq}
    roles = [message["role"] for message in entry_log.load_context(session).messages]
    assert roles == ["user", "assistant"]
    branches.restore(session=session, author=alice, entry=b)
    assert branches.left_out(session=session) == set()


def test_a_result_alone_gives_way_to_a_note(session: Session, alice: User) -> None:
    *_, c, _ = say(
        session, user("A"), assistant(call("one"), reason="toolUse"), result("one", "x"), assistant("D")
    )
    branches.leave_out(session=session, author=alice, entry=c)
    assert LEFT_OUT in str(spoken(session))
    assert branches.left_out(session=session) == {c.seq}


def test_not_while_a_run_is_active_and_not_on_another_branch(session: Session, alice: User) -> None:
    """B43."""
    a, b = say(session, user("A"), assistant("B"))
    navigation.navigate(session=session, author=alice, entry=a)
    with pytest.raises(BadInput, match="not on this branch"):
        branches.leave_out(session=session, author=alice, entry=b)
    navigation.navigate(session=session, author=alice, entry=b)
    Run.objects.create(session=session, author=alice)
    with pytest.raises(Conflict):
        branches.leave_out(session=session, author=alice, entry=a)


def test_bookkeeping_can_be_neither_left_out_nor_pinned(session: Session, alice: User) -> None:
    (a,) = say(session, user("A"))
    label = sessions.set_label(session=session, author=alice, entry=a, label="x")
    session.refresh_from_db()
    with pytest.raises(BadInput):
        branches.leave_out(session=session, author=alice, entry=label)
    with pytest.raises(BadInput):
        branches.pin(session=session, author=alice, entry=label)


def test_pins_are_set_once_and_taken_away(session: Session, alice: User) -> None:
    (a,) = say(session, user("A"))
    branches.pin(session=session, author=alice, entry=a)
    branches.pin(session=session, author=alice, entry=a)
    assert branches.pinned(session=session) == {a.pk}
    branches.unpin(session=session, author=alice, entry=a)
    assert branches.pinned(session=session) == set()


def test_entries_of_other_sessions_are_refused(session: Session, alice: User) -> None:
    other = Session.objects.create(workspace=session.workspace, owner=alice, file_id="other")
    (a,) = say(other, user("A"))
    for function in (branches.pin, branches.leave_out, branches.restore, branches.fork_session):
        with pytest.raises(BadInput):
            function(session=session, author=alice, entry=a)


def test_neither_is_possible_before_anything_was_said_and_a_job_goes_on_beside_them(
    session: Session, alice: User
) -> None:
    """FK-03: ours copies the path as it stands, and stops nobody."""
    with pytest.raises(Conflict, match="nothing to clone"):
        branches.clone_session(session=session, author=alice)
    assert Session.objects.count() == 1
    a, _ = say(session, user("A"), assistant("B"))
    run = Run.objects.create(session=session, author=alice)
    branches.clone_session(session=session, author=alice)
    branches.fork_session(session=session, author=alice, entry=a)
    run.refresh_from_db()
    assert (run.status, run.stop_requested) == ("queued", False)


def test_a_copy_for_another_folder_has_all_branches_and_the_same_place(
    session: Session, alice: User, tmp_path: Path
) -> None:
    """FK-06: a new header with the new folder, all entries as they were."""
    a, b = say(session, user("A"), assistant("B"))
    say(session, user("C"), assistant("D"))
    sessions.set_label(session=session, author=alice, entry=a, label="here")
    branches.pin(session=session, author=alice, entry=b)
    navigation.navigate(session=session, author=alice, entry=b)
    session.refresh_from_db()
    other = workspaces.add_workspace(user=alice, path=str(tmp_path / "other"), create=True)
    made = branches.copy_to_folder(session=session, author=alice, workspace=other)
    columns = ("seq", "entry_id", "raw_parent_id", "kind", "payload")
    ours, theirs = (each.entries.order_by("seq").values_list(*columns) for each in (made, session))
    assert list(ours) == list(theirs)
    assert (made.workspace, made.leaf and made.leaf.entry_id) == (other, b.entry_id)
    header = json.loads(made.header)
    assert (header["cwd"], header["parentSession"]) == (other.path, session.file_id)
    assert header["id"] == made.file_id != session.file_id
    assert len(branches.pinned(session=made)) == 1
    assert entry_log.load_context(made).messages == entry_log.load_context(session).messages
    with pytest.raises(BadInput, match="in this folder already"):
        branches.copy_to_folder(session=session, author=alice, workspace=session.workspace)
