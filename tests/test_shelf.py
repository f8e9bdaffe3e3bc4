"""Archiving, deleting and bringing back; removing for good; erasing a text wherever it is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions_app import blobs, entry_log, integrity
from sessions_app.models import (
    Blob,
    CompactionAttempt,
    CompactionReview,
    Entry,
    Membership,
    Pin,
    QualityReport,
    Question,
    Removal,
    Run,
    Session,
    ShelfMark,
    SummaryExchange,
    SummaryVersion,
    Workspace,
)
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.runner.purging import PurgeSweep
from sessions_app.services import runs, shelf
from sessions_app.services.errors import BadInput, Conflict, NotAllowed
from sessions_app.services.search import find_sessions
from sessions_app.services.sessions import export_session_text, import_session_text
from tests.staging import Stage, stage  # noqa: F401

SECRET = "Elm Street 5"


def say(session: Session, text: str, role: str = "user", **fields: Any) -> Entry:
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1, **fields}
    return entry_log.append(session.pk, {"type": "message", "message": message})


def everything_kept() -> str:
    """All text in all tables of the database, search included."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        kept = []
        for name in names:
            cursor.execute(f'SELECT * FROM "{name}"')
            kept += [str(row) for row in cursor.fetchall()]
    return "\n".join(kept)


def listed(user: User) -> list[Session]:
    groups = find_sessions(user=user).groups
    return [finding.row.session for group in groups for finding in group.findings]


def test_an_archived_session_is_found_and_open_but_not_listed(
    alice: User, alice_client: Client, session: Session
) -> None:
    say(session, "zebra")
    shelf.archive_session(session=session, author=alice)
    assert listed(alice) == []
    assert find_sessions(user=alice, text="zebra").groups
    assert alice_client.get(f"/s/{session.key}/").status_code == 200
    shelf.unarchive_session(session=session, author=alice)
    assert listed(alice) == [session]


def test_a_deleted_session_is_nowhere_until_it_is_brought_back(
    alice: User, bob: User, alice_client: Client, session: Session
) -> None:
    say(session, "zebra")
    shelf.delete_session(session=session, author=alice)
    assert listed(alice) == []
    assert find_sessions(user=alice, text="zebra").groups == []
    page = alice_client.get(f"/s/{session.key}/")
    assert (page.status_code, "This session was deleted" in page.content.decode()) == (410, True)
    assert alice_client.get(f"/s/{session.key}/tree/").status_code == 404
    shelf.restore_session(session=session, author=alice)
    assert listed(alice) == [session]


def test_by_the_page_each_step_is_one_click_and_can_be_taken_back(
    alice_client: Client, session: Session
) -> None:
    say(session, "zebra")
    address = f"/s/{session.key}/shelf/"
    gone = alice_client.post(address, {"action": "delete"}, headers={"HX-Request": "true"})
    assert gone.headers["HX-Redirect"] == f"/?deleted={session.key}"
    assert "Undo" in alice_client.get(gone.headers["HX-Redirect"]).content.decode()
    assert "zebra" in alice_client.get("/shelf/").content.decode()
    back = alice_client.post(address, {"action": "restore"})
    assert back.headers["Location"] == f"/s/{session.key}/"
    assert (
        alice_client.post(address, {"action": "archive"}).headers["Location"] == f"/?archived={session.key}"
    )
    assert "zebra" in alice_client.get("/shelf/").content.decode()
    assert alice_client.post(address, {"action": "burn"}).status_code in {400, 404}


def test_viewers_and_strangers_put_nothing_away(
    alice: User, bob_client: Client, bob: User, charlie_client: Client, session: Session
) -> None:
    Membership.objects.filter(user=bob, workspace=session.workspace).update(role=Membership.Role.VIEWER)
    for action in ("archive", "delete", "purge", "restore"):
        assert bob_client.post(f"/s/{session.key}/shelf/", {"action": action}).status_code in {403, 404}
        assert charlie_client.post(f"/s/{session.key}/shelf/", {"action": action}).status_code == 404
    assert not ShelfMark.objects.exists()


def test_purging_is_for_the_owner_and_admins_and_leaves_nothing_but_the_log(
    alice: User, bob: User, session: Session, workspace: Workspace
) -> None:
    Membership.objects.filter(user=bob, workspace=workspace).update(role=Membership.Role.MEMBER)
    first = say(session, SECRET)
    for number in range(30):
        say(session, f"{SECRET} {number}")
    session.refresh_from_db()
    entry_log.move_leaf(session, first)
    say(session, "another way")
    Pin.objects.create(entry=first, author=alice)
    Run.objects.create(session=session, status=Run.Status.COMPLETED)
    find_sessions(user=alice, text=SECRET)
    key = session.key
    with pytest.raises(Conflict):
        shelf.purge_session(session=session, author=alice)
    shelf.delete_session(session=session, author=alice)
    with pytest.raises(NotAllowed):
        shelf.purge_session(session=session, author=bob)
    shelf.purge_session(session=session, author=alice)
    assert SECRET not in everything_kept()
    assert not Session.objects.filter(key=key).exists()
    assert Entry.objects.count() == 0
    assert Removal.objects.get().session_key == key


def test_a_long_chain_is_removed_without_following_it(alice: User, workspace: Workspace) -> None:
    lines = [json.dumps({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"})]
    for number in range(3_000):
        message = {"role": "user", "content": "x", "timestamp": 1}
        parent = str(number - 1) if number else None
        record = {
            "type": "message",
            "id": str(number),
            "parentId": parent,
            "timestamp": "t",
            "message": message,
        }
        lines.append(json.dumps(record))
    made = import_session_text(workspace=workspace, owner=alice, text="\n".join(lines))
    shelf.delete_session(session=made, author=alice)
    shelf.purge_session(session=made, author=alice)
    assert Entry.objects.count() == 0


def test_what_was_deleted_long_ago_is_removed_by_itself(
    alice: User, alice_client: Client, session: Session, settings: Settings
) -> None:
    """The worker looks at first and then once in a while; looking at the shelf removes nothing."""
    sweep = PurgeSweep()
    shelf.delete_session(session=session, author=alice)
    sweep.look()
    ShelfMark.objects.update(deleted_at=timezone.now() - timedelta(days=settings.TRASH_DAYS + 1))
    sweep.look()
    alice_client.get("/shelf/")
    assert Session.objects.exists()
    PurgeSweep().look()
    assert not Session.objects.exists()
    removal = Removal.objects.get()
    assert (removal.author, removal.reason) == (None, f"deleted {settings.TRASH_DAYS} days ago")


def test_an_erased_text_is_nowhere_and_the_tree_stays_valid(alice: User, session: Session) -> None:
    """The tombstone keeps kind, place and figures; calls stay answered."""
    say(session, "begin")
    entry = say(session, f"I live in {SECRET}")
    say(session, "noted", role="assistant")
    attempt = CompactionAttempt.objects.create(
        session=session, reason="manual", provider="demo", model="demo", settings="{}"
    )
    SummaryExchange.objects.create(
        attempt=attempt, position=0, stage="history", system="", prompt=SECRET, answer=SECRET
    )
    review = CompactionReview.objects.create(
        session=session, attempt=attempt, reason="manual", outcome="compacted"
    )
    version = SummaryVersion.objects.create(review=review, number=1, summary=SECRET, details=SECRET)
    QualityReport.objects.create(version=version, content=SECRET)
    run = Run.objects.create(session=session, status=Run.Status.COMPLETED, error=SECRET)
    Question.objects.create(
        run=run,
        entry=entry,
        position=0,
        tool="write",
        arguments=SECRET,
        preview=SECRET,
        expires_at=timezone.now(),
    )
    assert find_sessions(user=alice, text=SECRET).groups
    shelf.erase_entry(session=session, author=alice, entry=entry, reason="an  address")
    assert SECRET not in everything_kept()
    assert find_sessions(user=alice, text=SECRET).groups == []
    assert not integrity.check_session(session.pk).findings
    context = entry_log.load_context(Session.objects.get(pk=session.pk))
    assert "[Erased: an address]" in json.dumps(context.messages)
    assert SECRET not in export_session_text(session=session, whole=True)
    log = Removal.objects.get()
    assert (log.seq, log.reason, log.author) == (entry.seq, "an address", alice)


def test_the_images_of_an_erased_entry_go_with_it(alice: User, session: Session) -> None:
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    image = {"type": "image", "data": pixel, "mimeType": "image/png"}
    message, uses = blobs.externalise({"role": "user", "content": [image], "timestamp": 1})
    entry = entry_log.append(session.pk, {"type": "message", "message": message})
    blobs.record_uses(entry, uses)
    (place,) = [blobs.path_of(blob.sha256) for blob in Blob.objects.all()]
    assert place.exists()
    shelf.erase_entry(session=session, author=alice, entry=entry, reason="private")
    assert not Blob.objects.exists()
    assert not place.exists()


def test_the_name_of_a_session_does_not_repeat_what_was_erased(alice: User, session: Session) -> None:
    first = say(session, f"{SECRET} is where I live")
    say(session, "Draw a map.")
    name = entry_log.append(session.pk, {"type": "session_info", "name": SECRET})
    for entry in (first, name):
        shelf.erase_entry(session=session, author=alice, entry=entry, reason="an address")
    session.refresh_from_db()
    assert str(session) == "[Erased: an address]"
    assert SECRET not in everything_kept()


def test_erasing_needs_a_reason_a_right_and_a_quiet_session(alice: User, bob: User, session: Session) -> None:
    Membership.objects.filter(user=bob, workspace=session.workspace).update(role=Membership.Role.MEMBER)
    entry = say(session, SECRET)
    with pytest.raises(BadInput):
        shelf.erase_entry(session=session, author=alice, entry=entry, reason="  ")
    with pytest.raises(NotAllowed):
        shelf.erase_entry(session=session, author=bob, entry=entry, reason="x")
    Run.objects.create(session=session, status=Run.Status.RUNNING)
    with pytest.raises(Conflict):
        shelf.erase_entry(session=session, author=alice, entry=entry, reason="x")
    assert SECRET in everything_kept()


def test_the_dialog_says_what_goes_and_the_page_shows_the_tombstone(
    alice_client: Client, session: Session
) -> None:
    entry = say(session, SECRET)
    address = f"/s/{session.key}/entries/{entry.seq}/erase/"
    dialog = alice_client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "can’t be undone" in dialog
    assert alice_client.post(address, {"reason": ""}).status_code == 400
    assert alice_client.post(address, {"reason": "an address"}).status_code == 302
    page = alice_client.get(f"/s/{session.key}/").content.decode()
    assert "[Erased: an address]" in page
    assert SECRET not in page


@pytest.mark.django_db(transaction=True)
def test_deleting_while_a_run_answers_ends_it_and_a_purge_waits_for_its_end(
    stage: Stage,  # noqa: F811
) -> None:
    """Two at once, by a barrier: the run that is answering, and the person who deletes its session."""
    answering, deleted = threading.Barrier(2, timeout=20), threading.Event()

    def answer(request: Any) -> list[dict[str, Any]]:
        answering.wait()
        assert deleted.wait(20)
        return [{"text": "too late"}]

    stage.answers.append(answer)
    run = runs.submit_prompt(session=stage.session, author=stage.author, text="Begin.").run
    assert run is not None
    worker = stage.in_thread(run)
    answering.wait()
    shelf.delete_session(session=stage.session, author=stage.author)
    with pytest.raises(Conflict):
        shelf.purge_session(session=stage.session, author=stage.author)
    # The broker's message to the worker, which the stage has none of.
    heartbeat.stop_run(run.pk)
    deleted.set()
    worker.join(20)
    run.refresh_from_db()
    assert run.status == Run.Status.STOPPED
    assert not integrity.check_session(stage.session.pk).findings
    shelf.purge_session(session=stage.session, author=stage.author)
    assert not Session.objects.exists()
    assert not Entry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_purge_against_a_restore_is_either_one_or_the_other(alice: User, session: Session) -> None:
    say(session, "begin")
    shelf.delete_session(session=session, author=alice)
    barrier = threading.Barrier(2, timeout=20)
    refused: list[Exception] = []

    def act(command: Callable[..., None]) -> None:
        try:
            barrier.wait()
            command(session=session, author=alice)
        except (Conflict, BadInput, Session.DoesNotExist) as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=act, args=(it,)) for it in (shelf.purge_session, shelf.restore_session)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    left = Session.objects.filter(pk=session.pk).first()
    assert (left is None) == (Entry.objects.count() == 0)
    if left is not None:
        assert ShelfMark.objects.get(session=left).deleted_at is None
        assert len(refused) == 1


def test_from_the_list_a_session_is_put_away_beside_whatever_is_open(
    alice_client: Client, session: Session
) -> None:
    """The page stays; the bar takes it back."""
    say(session, "zebra")
    address = f"/s/{session.key}/shelf/"
    answer = alice_client.post(address, {"action": "archive", "stay": "1"}, headers={"hx-request": "true"})
    assert answer["HX-Trigger"] == "sessions-changed"
    assert "HX-Redirect" not in answer
    assert 'name="action" value="unarchive"' in answer.content.decode()
    answer = alice_client.post(address, {"action": "delete", "stay": "1"}, headers={"hx-request": "true"})
    assert 'name="action" value="restore"' in answer.content.decode()
    page = alice_client.get("/keys/").content.decode()
    assert 'id="row-menu"' in page
