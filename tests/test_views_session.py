"""The session page: who sees it, what it holds, and that each command answers with a page or with parts."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.db import transaction
from django.test import Client
from django.urls import reverse

from sessions_app import entry_log
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.fragments.session_parts import run_state
from sessions_app.models import Entry, QueuedMessage, Run, Session
from sessions_app.services import workspaces

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def several_people_may_run_commands(settings: Any) -> None:
    settings.ALLOW_LOCAL_EXECUTION = True


def say(session: Session, role: str, content: Any, **fields: Any) -> Entry:
    message = {"role": role, "content": content, "timestamp": 1_793_000_000_000, **fields}
    return entry_log.append(session.pk, {"type": "message", "message": message})


def answer(session: Session, *content: dict[str, Any], **fields: Any) -> Entry:
    return say(session, "assistant", list(content), model="demo", stopReason="stop", **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def address(session: Session, page: str = "session", /, **more: Any) -> str:
    return reverse(page, kwargs={"key": session.key, **more})


@pytest.fixture
def talk(session: Session) -> Session:
    """You: First. Assistant: Second. You: Third. Assistant: Fourth."""
    say(session, "user", "First")
    answer(session, text("Second"))
    say(session, "user", "Third")
    answer(session, text("Fourth"))
    session.refresh_from_db()
    return session


def entry_of(session: Session, words: str) -> Entry:
    return session.entries.get(payload__contains=f'"{words}"')


def test_the_page_shows_the_active_branch_and_its_parts(alice_client: Client, talk: Session) -> None:
    page = alice_client.get(address(talk)).content.decode()
    assert page.index("First") < page.index("Second") < page.index("Fourth")
    for part in (
        'id="transcript"',
        'id="live"',
        'id="queue"',
        'id="run-status"',
        'id="session-tree"',
        'id="announcer"',
    ):
        assert part in page
    assert f'data-socket="/ws/s/{talk.key}/" data-seq="4" data-leaf="4"' in page
    assert 'aria-label="Message"' in page
    assert 'role="meter" aria-label="Context"' in page


def test_a_page_has_no_inline_script_handler_or_style(alice_client: Client, talk: Session) -> None:
    page = alice_client.get(address(talk)).content.decode()
    assert " style=" not in page
    assert "onclick" not in page
    assert "hx-on" not in page


def test_a_stranger_gets_404_on_every_address(charlie_client: Client, talk: Session) -> None:
    pages = [
        address(talk),
        address(talk, "session_older"),
        address(talk, "session_tree"),
        address(talk, "session_export"),
    ]
    pages += [address(talk, "entry", seq=1), address(talk, "session_blob", sha="a" * 64, name="x")]
    assert {charlie_client.get(page).status_code for page in pages} == {404}
    commands = [
        address(talk, name)
        for name in ("submit_prompt", "stop_run", "continue_run", "choose_model", "rename_session", "undo")
    ]
    commands += [address(talk, name, seq=1) for name in ("navigate", "edit_and_branch", "label")]
    commands.append(address(talk, "edit_queued", id=1))
    assert {charlie_client.post(command).status_code for command in commands} == {404}


def test_a_viewer_reads_but_changes_nothing(charlie: User, charlie_client: Client, talk: Session) -> None:
    talk.workspace.memberships.create(user=charlie, role="viewer")
    page = charlie_client.get(address(talk)).content.decode()
    assert "Fourth" in page
    assert "<prompt-composer" not in page
    assert "You may read this session." in page
    refused = charlie_client.post(address(talk, "submit_prompt"), {"text": "Hello"}, headers=HTMX)
    assert refused.status_code == 403
    assert "role of a member" in refused.content.decode()


def test_old_entries_come_when_scrolled_to(alice_client: Client, session: Session) -> None:
    for number in range(100):
        say(session, "user", f"word-{number}.")
    page = alice_client.get(address(session)).content.decode()
    assert "word-99." in page
    assert "word-39." not in page
    assert "older/?before=40" in page
    older = alice_client.get(address(session, "session_older"), {"before": 40}, headers=HTMX).content.decode()
    assert "word-39." in older
    assert "word-40." not in older
    assert "older/?before=" not in older
    assert older.lstrip().startswith("<article")


def test_without_script_the_link_to_older_entries_is_a_page(alice_client: Client, session: Session) -> None:
    for number in range(70):
        say(session, "user", f"word-{number}.")
    page = alice_client.get(address(session, "session_older"), {"before": 10}).content.decode()
    assert "word-9." in page
    assert "<title>" in page


@pytest.mark.django_db(transaction=True)
def test_a_prompt_starts_a_run_and_is_stored_before_the_answer(
    alice_client: Client, session: Session
) -> None:
    response = alice_client.post(
        address(session, "submit_prompt"), {"text": "Begin", "key": "k1"}, headers=HTMX
    )
    assert response.status_code == 200
    html = response.content.decode()
    assert 'id="run-status" hx-swap-oob="innerHTML"' in html
    assert "Waiting to start" in html
    assert json.loads(response["HX-Trigger"])["session:accepted"] == {"seq": 1}
    assert Run.objects.active().get().session == session


@pytest.mark.django_db(transaction=True)
def test_the_same_prompt_sent_again_is_stored_once(alice_client: Client, session: Session) -> None:
    for _ in range(2):
        assert (
            alice_client.post(address(session, "submit_prompt"), {"text": "Begin", "key": "k1"}).status_code
            == 302
        )
    assert session.entries.filter(role="user").count() == 1


@pytest.mark.django_db(transaction=True)
def test_while_a_run_is_active_words_wait_in_the_queue(
    alice_client: Client, session: Session, alice: User
) -> None:
    Run.objects.create(session=session, author=alice, status="running")
    response = alice_client.post(
        address(session, "submit_prompt"), {"text": "And then this", "mode": "follow_up"}, headers=HTMX
    )
    assert "After this job" in response.content.decode()
    queued = QueuedMessage.objects.get()
    edited = alice_client.post(
        address(session, "edit_queued", id=queued.pk), {"text": "Or that"}, headers=HTMX
    )
    assert "Or that" in edited.content.decode()
    removed = alice_client.post(
        address(session, "edit_queued", id=queued.pk), {"action": "remove"}, headers=HTMX
    )
    assert removed.content.decode().strip() == ""
    late = alice_client.post(
        address(session, "edit_queued", id=queued.pk), {"action": "remove"}, headers=HTMX
    )
    assert late.status_code == 409
    assert "delivered to the agent already" in late.content.decode()


def test_an_empty_prompt_is_refused_in_words(alice_client: Client, session: Session) -> None:
    response = alice_client.post(address(session, "submit_prompt"), {"text": "  "}, headers=HTMX)
    assert response.status_code == 400
    assert response["HX-Retarget"] == "#notices"
    assert "There is nothing to send." in response.content.decode()


def test_going_to_an_answer_makes_it_the_leaf(alice_client: Client, talk: Session) -> None:
    target = entry_of(talk, "Second")
    response = alice_client.post(address(talk, "navigate", seq=target.seq), headers=HTMX)
    html = response.content.decode()
    assert 'id="transcript"' in html
    assert f'data-leaf="{target.seq}"' in html
    assert "Third" not in html.partition("hx-swap-oob")[0]
    talk.refresh_from_db()
    assert talk.leaf == target


def test_going_to_ones_own_message_returns_its_text(alice_client: Client, talk: Session) -> None:
    target = entry_of(talk, "Third")
    response = alice_client.post(address(talk, "navigate", seq=target.seq), headers=HTMX)
    moved = json.loads(response["HX-Trigger-After-Swap"])["session:moved"]
    assert moved == {"leaf": 2, "seq": 4, "text": "Third"}


def test_a_long_text_returns_with_the_page(alice_client: Client, session: Session) -> None:
    entry = say(session, "user", "long " * 50_000)
    response = alice_client.post(address(session, "navigate", seq=entry.seq), headers=HTMX)
    assert response["HX-Redirect"] == address(session)
    assert "long long" in alice_client.get(address(session)).content.decode().partition("<textarea")[2]


def test_without_script_the_returned_text_stands_in_the_composer_once(
    alice_client: Client, talk: Session
) -> None:
    response = alice_client.post(address(talk, "undo"), follow=True)
    assert ">Third</textarea>" in response.content.decode()
    assert ">Third</textarea>" not in alice_client.get(address(talk)).content.decode()


def test_a_version_switch_goes_to_the_newest_tip(alice_client: Client, talk: Session) -> None:
    """B23."""
    entry_log.move_leaf(talk, entry_of(talk, "Second"))
    say(talk, "user", "Other")
    alice_client.post(address(talk, "navigate", seq=entry_of(talk, "Third").seq), {"tip": "1"}, headers=HTMX)
    talk.refresh_from_db()
    assert talk.leaf == entry_of(talk, "Fourth")


@pytest.mark.django_db(transaction=True)
def test_an_edited_message_starts_a_branch_beside_the_old_one(alice_client: Client, talk: Session) -> None:
    old = entry_of(talk, "Third")
    form = alice_client.get(
        address(talk, "entry", seq=old.seq), {"form": "edit"}, headers=HTMX
    ).content.decode()
    assert ">Third</textarea>" in form
    response = alice_client.post(
        address(talk, "edit_and_branch", seq=old.seq), {"text": "Thirdly"}, headers=HTMX
    )
    assert "Thirdly" in response.content.decode()
    assert "2/2" in response.content.decode()
    assert entry_of(talk, "Thirdly").parent == old.parent


def test_a_label_is_set_and_removed_in_place(alice_client: Client, talk: Session) -> None:
    first = entry_of(talk, "First")
    labelled = alice_client.post(address(talk, "label", seq=first.seq), {"label": "start"}, headers=HTMX)
    assert "<bdi>start</bdi>" in labelled.content.decode()
    cleared = alice_client.post(address(talk, "label", seq=first.seq), {"label": ""}, headers=HTMX)
    assert "<bdi>start</bdi>" not in cleared.content.decode()


def test_a_session_is_renamed(alice_client: Client, talk: Session) -> None:
    response = alice_client.post(
        address(talk, "rename_session"), {"name": "Clock\u202e change"}, headers=HTMX
    )
    assert response["HX-Trigger"] == "sessions-changed"
    talk.refresh_from_db()
    assert talk.name.startswith("Clock")


def test_the_model_is_chosen_and_unknown_ones_are_refused(alice_client: Client, talk: Session) -> None:
    good = alice_client.post(address(talk, "choose_model"), {"model": "demo/demo"}, headers=HTMX)
    assert 'aria-label="Model"' in good.content.decode()
    bad = alice_client.post(address(talk, "choose_model"), {"model": "demo/none"}, headers=HTMX)
    assert bad.status_code == 400


def test_a_link_to_an_entry_leads_to_it(alice_client: Client, session: Session) -> None:
    for number in range(100):
        say(session, "user", f"word-{number}.")
    session.refresh_from_db()
    near = alice_client.get(address(session, "entry", seq=95))
    assert near["Location"].endswith("#entry-95")
    far = alice_client.get(address(session, "entry", seq=3))
    assert "?before=" in far["Location"]
    assert "word-2." in alice_client.get(far["Location"].partition("#")[0]).content.decode()


def test_the_words_of_an_entry_can_be_copied(alice_client: Client, talk: Session) -> None:
    response = alice_client.get(address(talk, "entry", seq=2), {"source": "1"})
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content == b"Second"


def test_an_image_inside_an_entry_is_served_as_nothing_but_an_image(
    alice_client: Client, session: Session
) -> None:
    blocks = [
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        {"type": "image", "data": "PHN2Zz4=", "mimeType": "image/svg+xml"},
    ]
    entry = say(session, "user", blocks)
    good = alice_client.get(address(session, "entry", seq=entry.seq), {"image": "0"})
    assert good["Content-Type"] == "image/png"
    assert "sandbox" in good["Content-Security-Policy"]
    assert alice_client.get(address(session, "entry", seq=entry.seq), {"image": "1"}).status_code == 404
    assert alice_client.get(address(session, "entry", seq=entry.seq), {"image": "9"}).status_code == 404


def test_the_export_is_a_session_file(alice_client: Client, talk: Session) -> None:
    response = alice_client.get(address(talk, "session_export"))
    lines = [json.loads(line) for line in response.content.decode().splitlines()]
    assert [line["type"] for line in lines] == ["session", "message", "message", "message", "message"]
    assert 'filename="first.jsonl"' in response["Content-Disposition"]


def test_a_run_at_its_ceiling_offers_to_raise_it(alice_client: Client, talk: Session, alice: User) -> None:
    Run.objects.create(session=talk, author=alice, status="limited", error="The job reached 200 turns.")
    page = alice_client.get(address(talk)).content.decode()
    assert "The job reached 200 turns." in page
    assert "Raise it and continue" in page


def test_text_written_so_far_is_on_the_page(alice_client: Client, talk: Session, alice: User) -> None:
    checkpoint = {
        "answer": 1,
        "message": {"role": "assistant", "model": "demo", "content": [text("So far **so** good")]},
    }
    Run.objects.create(session=talk, author=alice, status="running", checkpoint=json.dumps(checkpoint))
    page = alice_client.get(address(talk)).content.decode()
    live = page.partition('id="live"')[2].partition('id="run-notice"')[0]
    assert "So far <strong>so</strong> good" in live
    assert 'data-live="m1"' in live


def test_an_answer_is_not_shown_twice_when_its_checkpoint_is_older_than_its_entry(
    alice_client: Client, talk: Session, alice: User
) -> None:
    checkpoint = {
        "answer": 1,
        "message": {"role": "assistant", "model": "demo", "content": [text("Half of")]},
    }
    run = Run.objects.create(session=talk, author=alice, status="running", checkpoint=json.dumps(checkpoint))
    message = {"role": "assistant", "content": [text("Half of it and the rest")], "stopReason": "stop"}
    entry_log.append(talk.pk, {"type": "message", "message": message}, run=run)
    page = alice_client.get(address(talk)).content.decode()
    assert "Half of it and the rest" in page
    assert "data-live=" not in page


def test_calls_without_a_result_stand_at_the_end(alice_client: Client, session: Session, alice: User) -> None:
    say(session, "user", "Run it")
    answer(session, {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "sleep 9"}})
    assert "no result" in alice_client.get(address(session)).content.decode()
    Run.objects.create(session=session, author=alice, status="running")
    assert 'data-call="c1"' in alice_client.get(address(session)).content.decode()


def test_an_empty_session_says_what_to_do(alice_client: Client, session: Session) -> None:
    assert "Nothing has been said yet." in alice_client.get(address(session)).content.decode()


def test_a_session_whose_folder_is_gone_can_be_read_and_goes_on_in_another(
    alice_client: Client, bob: User, bob_client: Client, talk: Session, alice: User, tmp_path: Path
) -> None:
    """01 FK-07: put it back, or take everything along to another folder."""
    Path(talk.workspace.path).rmdir()
    page = alice_client.get(address(talk)).content.decode()
    assert "is gone. Put it back" in page
    assert "Second" in page
    assert "Copy there and go on" not in page, "there is no other folder yet"
    other = workspaces.add_workspace(user=alice, path=str(tmp_path / "other"), create=True)
    assert "Copy there and go on" in alice_client.get(address(talk)).content.decode()
    gone = alice_client.post(address(talk, "copy_to_folder"), {"workspace": other.pk}, follow=True)
    made = Session.objects.get(workspace=other)
    assert gone.redirect_chain[-1][0] == address(made)
    assert "Second" in gone.content.decode()
    assert "is gone" not in gone.content.decode()
    refused = bob_client.post(address(talk, "copy_to_folder"), {"workspace": other.pk})
    assert refused.status_code == 400, "another's folder"


def test_a_session_whose_newest_entry_is_damaged_opens_at_the_nearest_sound_one(
    session: Session, alice_client: Client
) -> None:
    """B22: never an endless wait; what was done is said."""
    from sessions_app import entry_log

    words = {"role": "user", "content": "still here", "timestamp": 1}
    first = entry_log.append(session.pk, {"type": "message", "message": words})
    second = entry_log.append(session.pk, {"type": "message", "message": words | {"content": "broken"}})
    type(second).objects.filter(pk=second.pk).update(payload="{half")
    page = alice_client.get(f"/s/{session.key}/").content.decode()
    assert "The newest entry of this session is damaged" in page
    assert "still here" in page
    session.refresh_from_db()
    assert session.leaf == first


def test_a_file_of_a_session_is_named_after_it(alice_client: Client, talk: Session) -> None:
    """01 SF-03: whatever the name holds."""
    Session.objects.filter(pk=talk.pk).update(name='../Night "shift"\r\n/../ü')
    response = alice_client.get(address(talk, "session_export"))
    assert response["Content-Disposition"] == 'attachment; filename="night-shift-u.jsonl"'
    Session.objects.filter(pk=talk.pk).update(name="…", title="")
    response = alice_client.get(address(talk, "session_export"))
    assert response["Content-Disposition"] == 'attachment; filename="session.jsonl"'


def test_a_session_of_thousands_of_entries_and_many_branches_opens_at_once(
    alice_client: Client, session: Session, django_assert_max_num_queries: Any
) -> None:
    """B25: page and tree hold a part of it, and cost what that part costs; the export has everything."""
    records = []
    for number in range(6_000):
        parent = f"e{number - 1}" if number % 60 else f"e{max(0, number - 90)}" if number else None
        message = {
            "role": "user" if number % 2 == 0 else "assistant",
            "content": f"words {number}",
            "timestamp": 1,
        }
        fields = {
            "type": "message",
            "id": f"e{number}",
            "parentId": parent,
            "timestamp": "2026-11-30T12:00:00.000Z",
        }
        records.append(CoreEntry({**fields, "message": message}, number + 1))
    with transaction.atomic():
        entry_log.import_records(session, records)
    begun = time.monotonic()
    with django_assert_max_num_queries(120):
        page = alice_client.get(address(session))
        tree = alice_client.get(address(session, "session_tree"))
    assert (page.status_code, tree.status_code) == (200, 200)
    assert len(page.content) < 1_500_000
    assert len(tree.content) < 3_000_000
    assert alice_client.get(address(session, "session_export") + "?whole=1").content.count(b"\n") == 6_001
    assert time.monotonic() - begun < 20


def test_the_first_paint_of_a_session_needs_little(alice_client: Client, talk: Session) -> None:
    """At most 150 KB of compressed styles and scripts, everything counted that any element of the page may import."""
    page = alice_client.get(address(talk)).content.decode()
    linked = re.findall(r'(?:href|src)="/static/([^"]+\.(?:css|js))"', page)
    imported = json.loads(re.search(r'<script type="importmap"[^>]*>(.*?)</script>', page, re.S)[1])[
        "imports"
    ]
    names = {*linked, *(path.removeprefix("/static/") for path in imported.values())}
    files = [finders.find(name) for name in names]
    assert len(files) > 40
    assert all(files)
    size = sum(len(gzip.compress(Path(file).read_bytes())) for file in files if file)
    assert size <= 150_000
    assert not re.search(r'(?:href|src)="(?:https?:)?//', page)


@pytest.mark.django_db
def test_a_job_that_stands_still_because_the_disk_is_full_says_so(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run.objects.create(session=session, author=alice)
    assert run_state(session).words == "Waiting to start"
    full = shutil.disk_usage("/")._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    assert run_state(session).words == "Waiting to start: the server’s disk is full"
