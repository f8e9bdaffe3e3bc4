"""Who may do what, at every address: a stranger, a viewer, a member, nobody signed in, and a request without its token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from sessions_app import blobs, entry_log
from sessions_app.models import Blob, Entry, Membership, Run, Session
from sessions_app.runner import review_records
from sessions_app.urls import session_urls, urlpatterns
from sessions_app.views import __name__ as views_package

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PAGES = (
    "session",
    "session_older",
    "entry",
    "replaced",
    "compaction_problem",
    "session_tree",
    "tree_window",
    "entry_details",
    "session_compare",
    "session_export",
    "session_blob",
    "file_names",
    "session_changes",
    "file_diff",
    "changed_file",
    "session_history",
    "session_print",
    "company",
    "compaction_review",
)
COMMANDS = (
    "submit_prompt",
    "stop_run",
    "continue_run",
    "choose_model",
    "choose_tools",
    "answer_question",
    "stop_commands",
    "rename_session",
    "edit_queued",
    "navigate",
    "edit_and_branch",
    "label",
    "undo",
    "fork",
    "clone",
    "copy_to_folder",
    "hide",
    "pin",
    "omit",
    "keep_files",
    "mark_outcome",
    "carry",
    "put_away",
    "review_coverage",
    "review_act",
)
OF_A_FILE = {"file_diff", "changed_file"}
# What GET asks and POST carries out: for those who may change the session.
DIALOGS = ("compact", "erase")
FORM = {
    "text": "hello",
    "mode": "steer",
    "name": "New name",
    "model": "demo/demo",
    "label": "mark",
    "action": "remove",
    "tools": "read_only",
    "answer": "allow",
}
PUBLIC = {"login", "login_link", "health", "version"}


@pytest.fixture
def filled(session: Session, alice: User, settings: Any) -> Session:
    """A session with a question, its answer, and an image only its members may see."""
    settings.ALLOW_LOCAL_EXECUTION = True
    first = entry_log.append(
        session.pk, {"type": "message", "message": {"role": "user", "content": "secret plan", "timestamp": 1}}
    )
    answer = {
        "role": "assistant",
        "content": [{"type": "text", "text": "secret answer"}],
        "stopReason": "stop",
        "timestamp": 2,
    }
    entry_log.append(session.pk, {"type": "message", "message": answer})
    entry_log.append(session.pk, {"type": "compaction", "summary": "secret summary", "tokensBefore": 9})
    changed = Path(session.workspace.path) / "changed.txt"
    changed.write_text("secret file")
    details = {"path": str(changed), "firstChangedLine": 1, "diff": "@@ -0,0 +1 @@\n+secret file"}
    written = {
        "role": "toolResult",
        "toolName": "write",
        "toolCallId": "c",
        "content": [],
        "details": details,
    }
    entry_log.append(session.pk, {"type": "message", "message": written})
    blobs.record_uses(first, [(blobs.store(b"secret bytes", "image/png"), "image-1.png")])
    session.refresh_from_db()
    review_records.record_imported(session)
    return session


def address(name: str, session: Session) -> str:
    arguments: dict[str, Any] = {"key": session.key}
    if name in {
        "entry",
        "navigate",
        "edit_and_branch",
        "label",
        "pin",
        "omit",
        "entry_details",
        "mark_outcome",
        "erase",
        "hide",
    }:
        arguments["seq"] = 1
    elif name in {"replaced", "compaction_review", "review_coverage"}:
        arguments["seq"] = 3
    elif name == "review_act":
        arguments |= {"seq": 3, "act": "edit"}
    elif name in {"edit_queued", "answer_question"}:
        arguments["id"] = 1
    elif name == "session_blob":
        arguments |= {"sha": Blob.objects.get().sha256, "name": "image-1.png"}
    return reverse(name, kwargs=arguments) + ("?path=changed.txt" if name in OF_A_FILE else "")


def names(patterns: list[Any]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            assert pattern.name is not None
            yield pattern.name


def close_file(response: Any) -> None:
    """The test client closes a streamed file once it is read to its end."""
    if response.streaming:
        response.getvalue()


def state(session: Session) -> tuple[Any, ...]:
    session.refresh_from_db()
    return (
        session.name,
        session.leaf_id,
        session.model,
        session.tool_preset,
        Entry.objects.count(),
        Run.objects.count(),
    )


def test_every_address_of_a_session_is_looked_at_here() -> None:
    assert sorted(names(session_urls)) == sorted((*PAGES, *COMMANDS, *DIALOGS))
    assert views_package == "sessions_app.views"


@pytest.mark.parametrize("name", [*PAGES, *COMMANDS, *DIALOGS])
def test_for_a_stranger_a_session_does_not_exist(filled: Session, charlie_client: Client, name: str) -> None:
    before = state(filled)
    where = address(name, filled)
    response = charlie_client.get(where) if name in PAGES else charlie_client.post(where, FORM)
    close_file(response)
    assert response.status_code == 404
    assert b"secret" not in response.content
    if name not in {"session_blob"}:
        assert b"No such session, or you may not see it." in response.content
    assert state(filled) == before


@pytest.mark.parametrize("name", [*PAGES, *COMMANDS, *DIALOGS])
def test_nobody_signed_in_is_sent_to_sign_in(filled: Session, client: Client, name: str) -> None:
    before = state(filled)
    where = address(name, filled)
    response = client.get(where) if name in PAGES else client.post(where, FORM)
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))
    assert state(filled) == before


@pytest.mark.parametrize("name", [*COMMANDS, *DIALOGS])
def test_a_viewer_may_look_and_change_nothing(
    filled: Session, bob: User, bob_client: Client, name: str
) -> None:
    Membership.objects.filter(user=bob).update(role=Membership.Role.VIEWER)
    before = state(filled)
    response = bob_client.post(address(name, filled), FORM)
    assert response.status_code == 403
    assert state(filled) == before


@pytest.mark.parametrize("name", DIALOGS)
def test_a_question_changes_nothing_and_a_viewer_is_not_asked(
    filled: Session, alice_client: Client, bob: User, bob_client: Client, name: str
) -> None:
    before = state(filled)
    assert alice_client.get(address(name, filled)).status_code == 200
    Membership.objects.filter(user=bob).update(role=Membership.Role.VIEWER)
    assert bob_client.get(address(name, filled)).status_code == 403
    assert state(filled) == before


@pytest.mark.parametrize("name", PAGES)
def test_a_viewer_sees_everything(filled: Session, bob: User, bob_client: Client, name: str) -> None:
    Membership.objects.filter(user=bob).update(role=Membership.Role.VIEWER)
    response = bob_client.get(address(name, filled), follow=True)
    close_file(response)
    assert response.status_code == 200


@pytest.mark.parametrize("name", [*COMMANDS, *DIALOGS])
def test_a_command_without_its_token_is_refused(filled: Session, alice: User, name: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    before = state(filled)
    assert strict.post(address(name, filled), FORM).status_code == 403
    assert state(filled) == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_never_a_get(filled: Session, alice_client: Client, name: str) -> None:
    before = state(filled)
    assert alice_client.get(address(name, filled)).status_code == 405
    assert state(filled) == before


@pytest.mark.parametrize("name", [n for n in names(urlpatterns) if n not in PUBLIC])
def test_pages_of_ones_own_want_a_sign_in(db: None, client: Client, name: str) -> None:
    arguments = {"attempt_review": [1], "attempt_coverage": [1], "attempt_act": [1, "approve"]}
    response = client.get(reverse(name, args=arguments.get(name)))
    assert response.status_code in {302, 405}
    if response.status_code == 302:
        assert reverse("login") in response["Location"]


def test_a_foreign_host_is_refused(db: None, client: Client) -> None:
    """B51: DNS rebinding."""
    assert client.get("/health/", headers={"host": "evil.example"}).status_code == 400


def test_an_entry_of_another_session_is_not_reached_through_ones_own(
    filled: Session, charlie: User, charlie_client: Client, tmp_path: Any
) -> None:
    from sessions_app.models import Workspace

    own_folder = tmp_path / "own"
    own_folder.mkdir()
    place = Workspace.objects.create(name="own", path=str(own_folder))
    Membership.objects.create(workspace=place, user=charlie, role=Membership.Role.ADMIN)
    own = Session.objects.create(workspace=place, owner=charlie, file_id="own")
    sha = Blob.objects.get().sha256
    blob = reverse("session_blob", kwargs={"key": own.key, "sha": sha, "name": "image-1.png"})
    assert charlie_client.get(blob).status_code == 404
    assert charlie_client.get(reverse("entry", kwargs={"key": own.key, "seq": 1})).status_code == 404


def test_two_people_of_a_workspace_see_each_others_words(
    filled: Session, alice_client: Client, bob_client: Client
) -> None:
    bob_client.post(address("submit_prompt", filled), {"text": "from bob", "mode": "steer"})
    page = alice_client.get(address("session", filled)).content.decode()
    assert "from bob" in page
    alice_client.post(address("submit_prompt", filled), {"text": "queued by alice", "mode": "follow_up"})
    assert "queued by alice" in bob_client.get(address("session", filled)).content.decode()
    assert Run.objects.active().count() == 1
