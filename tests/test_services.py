"""Services: prompts, queues, stopping, moving about, names, models, folders and links."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from sessions_app import entry_log, provider_keys
from sessions_app.models import LoginLink, Membership, ProviderKey, QueuedMessage, Run, Session, Workspace
from sessions_app.services import accounts, branches, navigation, runs, sessions, workspaces
from sessions_app.services.errors import BadInput, Conflict, NotAllowed

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@pytest.fixture(autouse=True)
def operator_allows_local_execution(settings: Any) -> None:
    """The cast has more than one active user."""
    settings.ALLOW_LOCAL_EXECUTION = True


def text_of(entry: Any) -> str:
    content: str = entry.record["message"]["content"]
    return content


# --- prompts ---


def test_a_prompt_is_stored_before_any_worker_wakes(session: Session, alice: User) -> None:
    sent = runs.submit_prompt(session=session, author=alice, text="List the files")
    assert sent.run is not None
    assert sent.entry is not None
    assert (sent.run.status, text_of(sent.entry), sent.entry.author) == ("queued", "List the files", alice)
    session.refresh_from_db()
    assert session.leaf == sent.entry


def test_a_second_prompt_becomes_a_queued_message(session: Session, alice: User, bob: User) -> None:
    """B26: whoever sends it, from whatever tab; 04 §1.8."""
    runs.submit_prompt(session=session, author=alice, text="one")
    second = runs.submit_prompt(session=session, author=bob, text="two", mode="follow_up")
    assert second.run is None
    assert second.queued is not None
    assert (second.queued.text, second.queued.mode, second.queued.author) == ("two", "follow_up", bob)
    assert Run.objects.active().count() == 1


def test_a_prompt_that_arrives_twice_is_sent_once(session: Session, alice: User) -> None:
    first = runs.submit_prompt(session=session, author=alice, text="one", key="k1")
    again = runs.submit_prompt(session=session, author=alice, text="one", key="k1")
    assert again.repeated
    assert again.run == first.run
    assert session.entries.count() == 1
    queued = runs.submit_prompt(session=session, author=alice, text="two", key="k2")
    assert runs.submit_prompt(session=session, author=alice, text="two", key="k2").queued == queued.queued
    assert QueuedMessage.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "nothing to send"), ("  \n ", "nothing to send"), ("x" * 5_000_000, "5.0 MB"), ("a\0b", "binary")],
)
def test_a_prompt_that_cannot_be_sent_says_why_and_stores_nothing(
    session: Session, alice: User, text: str, said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        runs.submit_prompt(session=session, author=alice, text=text)
    assert session.entries.count() == 0
    assert not Run.objects.exists()


def test_with_a_second_user_the_operator_has_to_allow_commands(
    session: Session, alice: User, settings: Any
) -> None:
    settings.ALLOW_LOCAL_EXECUTION = False
    with pytest.raises(NotAllowed, match="AGENTWEB_ALLOW_LOCAL_EXECUTION"):
        runs.submit_prompt(session=session, author=alice, text="ls")
    assert session.entries.count() == 0


def test_queued_words_can_be_changed_moved_and_taken_back(session: Session, alice: User) -> None:
    runs.submit_prompt(session=session, author=alice, text="job")
    one, two = (runs.submit_prompt(session=session, author=alice, text=t).queued for t in ("one", "two"))
    assert one is not None
    assert two is not None
    runs.edit_queued(session=session, author=alice, queued_id=one.pk, text="first")
    runs.reorder_queued(session=session, author=alice, queued_id=two.pk, up=True)
    assert [item.text for item in session.queue.all()] == ["two", "first"]
    runs.remove_queued(session=session, author=alice, queued_id=one.pk)
    with pytest.raises(Conflict, match="delivered"):
        runs.edit_queued(session=session, author=alice, queued_id=one.pk, text="late")


def test_stopping_a_run_nobody_began_ends_it_at_once(session: Session, alice: User) -> None:
    """04 QU-08."""
    runs.submit_prompt(session=session, author=alice, text="job")
    runs.submit_prompt(session=session, author=alice, text="after", mode="follow_up")
    runs.submit_prompt(session=session, author=alice, text="steer")
    stopped = runs.stop_run(session=session, author=alice, return_queue=True)
    assert stopped.run is not None
    stopped.run.refresh_from_db()
    assert (stopped.run.status, stopped.run.stop_author) == ("stopped", alice)
    assert stopped.returned_text == "steer\n\nafter"
    assert not session.queue.exists()


def test_a_plain_stop_leaves_the_queue_in_place(session: Session, alice: User) -> None:
    """04 QU-08."""
    runs.submit_prompt(session=session, author=alice, text="job")
    runs.submit_prompt(session=session, author=alice, text="after", mode="follow_up")
    runs.stop_run(session=session, author=alice)
    assert session.queue.count() == 1


def test_stopping_when_nothing_runs_is_no_error(session: Session, alice: User) -> None:
    assert runs.stop_run(session=session, author=alice).run is None


def test_a_run_at_its_ceiling_goes_on_with_twice_of_it(session: Session, alice: User) -> None:
    run = runs.submit_prompt(session=session, author=alice, text="job").run
    assert run is not None
    Run.objects.filter(pk=run.pk).update(status="limited", max_turns=5, max_seconds=60, max_cost=0.5)
    again = runs.raise_and_continue(session=session, author=alice)
    assert (again.max_turns, again.max_seconds, again.max_cost) == (10, 120, 1.0)


def test_there_is_nothing_to_continue_after_a_run_that_ended_by_itself(session: Session, alice: User) -> None:
    run = runs.submit_prompt(session=session, author=alice, text="job").run
    with pytest.raises(Conflict, match="running already"):
        runs.raise_and_continue(session=session, author=alice)
    assert run is not None
    Run.objects.filter(pk=run.pk).update(status="completed")
    with pytest.raises(Conflict, match="nothing to continue"):
        runs.raise_and_continue(session=session, author=alice)


# --- moving about ---


def conversation(session: Session) -> list[Any]:
    """you: one · answer · you: two · answer."""
    written = []
    for number, text in enumerate(["one", "two"]):
        written.append(
            entry_log.append(
                session.pk, {"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}}
            )
        )
        message = {
            "role": "assistant",
            "content": [{"type": "text", "text": f"answer {number}"}],
            "stopReason": "stop",
            "timestamp": 2,
        }
        written.append(entry_log.append(session.pk, {"type": "message", "message": message}))
    session.refresh_from_db()
    return written


def test_going_to_ones_own_message_stands_before_it_and_returns_its_text(
    session: Session, alice: User
) -> None:
    """01 TR-03."""
    written = conversation(session)
    there = navigation.navigate(session=session, author=alice, entry=written[2])
    assert (there.leaf, there.text) == (written[1], "two")
    root = navigation.navigate(session=session, author=alice, entry=written[0])
    assert (root.leaf, root.text) == (None, "one")


def test_going_to_an_answer_stands_on_it_and_survives_a_reload(session: Session, alice: User) -> None:
    written = conversation(session)
    assert navigation.navigate(session=session, author=alice, entry=written[1]).text == ""
    assert Session.objects.get(pk=session.pk).leaf == written[1]


def test_nobody_moves_the_leaf_under_a_running_agent(session: Session, alice: User) -> None:
    """01 TR-01, B21."""
    written = conversation(session)
    runs.submit_prompt(session=session, author=alice, text="three")
    with pytest.raises(Conflict, match="working"):
        navigation.navigate(session=session, author=alice, entry=written[1])
    with pytest.raises(Conflict):
        navigation.undo(session=session, author=alice)


def test_entries_of_other_sessions_are_no_targets(session: Session, alice: User) -> None:
    other = sessions.create_session(workspace=session.workspace, owner=alice)
    foreign = conversation(other)[0]
    with pytest.raises(BadInput, match="another session"):
        navigation.navigate(session=session, author=alice, entry=foreign)
    with pytest.raises(BadInput, match="another session"):
        sessions.set_label(session=session, author=alice, entry=foreign, label="x")


def test_editing_a_message_makes_a_branch_beside_it(session: Session, alice: User) -> None:
    written = conversation(session)
    sent = navigation.edit_and_branch(session=session, author=alice, entry=written[2], text="TWO", key="k")
    assert sent.entry is not None
    assert sent.entry.parent == written[1]
    assert sent.run is not None
    again = navigation.edit_and_branch(session=session, author=alice, entry=written[2], text="TWO", key="k")
    assert again.repeated
    place = entry_log.siblings([sent.entry])[sent.entry.pk]
    assert (place.index, place.count) == (2, 2)


def test_undo_goes_before_the_newest_message_of_the_branch(session: Session, alice: User) -> None:
    written = conversation(session)
    assert navigation.undo(session=session, author=alice).text == "two"
    session.refresh_from_db()
    back = navigation.undo(session=session, author=alice)
    assert (back.leaf, back.text) == (None, "one")
    session.refresh_from_db()
    with pytest.raises(Conflict, match="nothing to undo"):
        navigation.undo(session=session, author=alice)
    assert session.entries.count() == len(written)


# --- names, labels, models ---


def test_names_and_labels_are_entries(session: Session, alice: User) -> None:
    written = conversation(session)
    sessions.rename_session(session=session, author=alice, name=" Night\n shift ")
    label = sessions.set_label(session=session, author=alice, entry=written[0], label="start")
    assert session.name == "Night shift"
    assert label.record["targetId"] == written[0].entry_id
    assert (
        sessions.set_label(session=session, author=alice, entry=written[0], label="").record.get("label")
        is None
    )


def test_a_model_change_is_an_entry_and_its_level_is_clamped(session: Session, alice: User) -> None:
    """04 §6; 04 §6.3, §6.4."""
    conversation(session)
    provider_keys.save_key(user=alice, provider="anthropic", secret="sk-test")
    thinking = next(c for c in sessions.available_models(alice) if c.provider == "anthropic")
    sessions.choose_model(
        session=session, author=alice, provider=thinking.provider, model=thinking.model, thinking_level="high"
    )
    assert session.model == thinking.model
    assert session.thinking_level in thinking.levels
    sessions.choose_model(session=session, author=alice, provider="demo", model="demo")
    assert session.model == "demo"
    kinds = list(session.entries.values_list("kind", flat=True))
    assert kinds.count("model_change") == 2


def test_an_unknown_model_is_refused(session: Session, alice: User) -> None:
    with pytest.raises(BadInput, match="no model 'gone'"):
        sessions.choose_model(session=session, author=alice, provider="demo", model="gone")


def test_models_without_a_key_say_so(alice: User) -> None:
    choices = sessions.available_models(alice)
    assert not choices[0].missing_key
    assert choices[0].provider == "demo"
    assert all(choice.missing_key for choice in choices if choice.provider == "anthropic")


# --- keys ---


def test_a_key_is_encrypted_and_never_shown(alice: User, bob: User) -> None:
    provider_keys.save_key(user=alice, provider="anthropic", secret="sk-very-secret")
    stored = ProviderKey.objects.get()
    assert "very-secret" not in stored.secret
    assert provider_keys.credentials(alice, "anthropic").api_key == "sk-very-secret"
    assert provider_keys.credentials(bob, "anthropic").api_key == ""
    assert "very-secret" not in repr(provider_keys.key_status(alice))


def test_ones_own_key_goes_before_the_servers_and_the_environments(
    alice: User, bob: User, settings: Any
) -> None:
    """06 §6."""
    settings.PROVIDER_KEYS = {"anthropic": "from-environment"}
    assert provider_keys.key_status(alice)[0].source == "environment"
    provider_keys.save_key(user=None, provider="anthropic", secret="of-server")
    assert provider_keys.credentials(bob, "anthropic").api_key == "of-server"
    provider_keys.save_key(user=alice, provider="anthropic", secret="own")
    assert provider_keys.credentials(alice, "anthropic").api_key == "own"
    assert provider_keys.delete_key(user=alice, provider="anthropic")
    assert provider_keys.credentials(alice, "anthropic").api_key == "of-server"


def test_the_servers_key_never_goes_to_an_address_a_user_entered(alice: User, settings: Any) -> None:
    settings.PROVIDER_KEYS = {"anthropic": "from-environment"}
    provider_keys.save_key(user=alice, provider="anthropic", base_url="https://elsewhere.example")
    assert provider_keys.credentials(alice, "anthropic").api_key == ""


# --- files ---


HEADER = (
    '{"type":"session","version":3,"id":"abc","timestamp":"2031-01-01T00:00:00.000Z","cwd":"/somewhere"}\n'
)


def test_a_session_file_comes_in_and_goes_out_as_the_same_bytes(workspace: Workspace, alice: User) -> None:
    """01 IO-04."""
    text = (
        '{"type":"session","version":3,"id":"abc","timestamp":"2031-01-01T00:00:00.000Z","cwd":"/somewhere"}\n'
        '{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"h\\ud83di ü"}}\n'
        '{"type":"new_kind","id":"b","parentId":"a","timestamp":"t","n":1.0,"nul":"\\u0000"}\n'
    )
    session = sessions.import_session_text(workspace=workspace, owner=alice, text=text)
    assert sessions.export_session_text(session=session, whole=True) == text
    assert session.file_id == "abc"


def test_words_whose_parent_is_missing_are_a_root_to_go_back_to(workspace: Workspace, alice: User) -> None:
    """01 TR-03."""
    words = '"message":{"role":"user","content":"adrift","timestamp":1}'
    entries = f'{{"type":"message","id":"a","parentId":"gone","timestamp":"t",{words}}}\n'
    session = sessions.import_session_text(workspace=workspace, owner=alice, text=HEADER + entries)
    gone = navigation.navigate(session=session, author=alice, entry=session.entries.get())
    assert (gone.leaf, gone.text) == (None, "adrift")


@pytest.mark.parametrize("text", ["", "not json", '{"type":"message"}\n'])
def test_a_file_that_is_no_session_is_refused_with_a_reason(
    workspace: Workspace, alice: User, text: str
) -> None:
    if not text:
        assert sessions.import_session_text(workspace=workspace, owner=alice, text=text).entries.count() == 0
        return
    with pytest.raises(BadInput, match="line 1"):
        sessions.import_session_text(workspace=workspace, owner=alice, text=text)
    assert not Session.objects.exists()


def test_how_far_an_import_has_come_is_told_to_the_caller_and_to_who_has_its_key(
    workspace: Workspace,
    alice: User,
    bob: User,
    broker: Any,
) -> None:
    entries = [
        f'{{"type":"message","id":"e{n}","parentId":{f"{chr(34)}e{n - 1}{chr(34)}" if n else "null"},"timestamp":"t",'
        '"message":{"role":"user","content":"word","timestamp":1}}\n'
        for n in range(2500)
    ]
    text = HEADER + "".join(entries)
    told: list[tuple[int, int]] = []
    sessions.import_session_text(
        workspace=workspace, owner=alice, text=text, progress=lambda *far: told.append(far)
    )
    assert told == [(1000, 2500), (2000, 2500), (2500, 2500)]
    assert sessions.import_progress(alice, "0a1b2c3d") is None
    sessions.import_session_text(workspace=workspace, owner=alice, text=text.encode(), key="0a1b2c3d")
    assert sessions.import_progress(alice, "0a1b2c3d") == (2500, 2500)
    assert sessions.import_progress(bob, "0a1b2c3d") is None


# --- folders ---


def test_a_folder_becomes_a_workspace_once(alice: User, tmp_path: Path) -> None:
    made = workspaces.add_workspace(user=alice, path=str(tmp_path / "new" / "place"), create=True)
    assert (made.name, Path(made.path).is_dir()) == ("place", True)
    assert workspaces.add_workspace(user=alice, path=made.path) == made
    assert made.memberships.get().role == Membership.Role.ADMIN


def test_somebody_elses_folder_can_not_be_taken(workspace: Workspace, charlie: User) -> None:
    with pytest.raises(NotAllowed, match="somebody else"):
        workspaces.add_workspace(user=charlie, path=workspace.path)


@pytest.mark.parametrize("path", ["/etc", "/", "~root/../../etc"])
def test_folders_outside_the_roots_are_refused(alice: User, path: str) -> None:
    with pytest.raises((NotAllowed, BadInput)):
        workspaces.add_workspace(user=alice, path=path, create=True)


def test_a_link_out_of_the_roots_leads_nowhere(alice: User, tmp_path: Path, settings: Any) -> None:
    """B53."""
    inside = tmp_path / "inside"
    inside.mkdir()
    settings.WORKSPACE_ROOTS = [inside.resolve()]
    (inside / "door").symlink_to("/etc")
    with pytest.raises(NotAllowed, match="outside"):
        workspaces.add_workspace(user=alice, path=str(inside / "door"))
    with pytest.raises(NotAllowed, match="outside"):
        workspaces.list_folders(str(inside / ".."))
    assert workspaces.list_folders(str(inside)).parent == ""


def test_a_misspelt_folder_gets_a_suggestion(alice: User, tmp_path: Path) -> None:
    (tmp_path / "berthline").mkdir()
    with pytest.raises(BadInput) as refusal:
        workspaces.add_workspace(user=alice, path=str(tmp_path / "bertline"))
    assert "Did you mean" in refusal.value.remedy
    assert "berthline" in refusal.value.remedy


def test_a_folder_that_vanished_is_noticed(workspace: Workspace) -> None:
    assert workspaces.folder_problem(workspace) == ""
    Path(workspace.path).rmdir()
    assert "gone" in workspaces.folder_problem(workspace)


# --- people ---


def test_a_link_signs_in_once(alice: User) -> None:
    token = accounts.create_login_link(user=alice)
    assert token not in LoginLink.objects.get().token_hash
    assert accounts.login_link_is_good(token)
    assert accounts.redeem_login_link(token) == alice
    assert accounts.redeem_login_link(token) is None
    assert accounts.redeem_login_link("made up") is None


def test_a_link_expires(alice: User) -> None:
    token = accounts.create_login_link(user=alice)
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert accounts.redeem_login_link(token) is None


def test_the_first_user_is_made_once(db: None) -> None:
    operator = accounts.first_user()
    assert (operator.username, operator.is_superuser, operator.has_usable_password()) == ("you", True, False)
    assert accounts.first_user() == operator


@pytest.mark.parametrize(("name", "password"), [("bad name!", None), ("dora", "short"), ("ALICE", None)])
def test_bad_names_and_passwords_are_refused(alice: User, name: str, password: str | None) -> None:
    with pytest.raises(BadInput):
        accounts.create_user(username=name, password=password)


# --- who sees what ---


def test_sessions_are_seen_by_members_only(session: Session, alice: User, bob: User, charlie: User) -> None:
    assert Session.objects.visible_to(bob).get() == session
    assert not Session.objects.visible_to(charlie).exists()
    Membership.objects.filter(user=bob).update(role="viewer")
    assert Session.objects.visible_to(bob).exists()
    assert not Session.objects.may_edit(bob).exists()
    assert Session.objects.may_edit(alice).exists()


def test_what_was_left_out_is_exported_as_well(session: Session, alice: User) -> None:
    """01 IO-03."""
    first, *_ = conversation(session)
    branches.leave_out(session=session, author=alice, entry=first)
    for whole in (False, True):
        records = [
            json.loads(line)
            for line in sessions.export_session_text(session=session, whole=whole).splitlines()
        ]
        assert records[1]["message"]["content"] == "one"
        assert records[-1]["type"] == "context_edit"


def test_a_file_that_is_imported_twice_gives_two_sessions_and_changes_neither(
    workspace: Workspace, alice: User, session: Session
) -> None:
    """01 IO-04, SF-04: the file's id is kept and names no address; whatever it is, nothing clashes."""
    conversation(session)
    text = sessions.export_session_text(session=session, whole=True)
    odd = text.replace(f'"id":"{session.file_id}"', '"id":"../../etc/pass wd"', 1)
    made = [sessions.import_session_text(workspace=workspace, owner=alice, text=t) for t in (text, text, odd)]
    assert [one.file_id for one in made] == [session.file_id, session.file_id, "../../etc/pass wd"]
    assert len({one.key for one in [session, *made]}) == 4
    assert [one.entries.count() for one in [session, *made]] == [4] * 4
    assert sessions.export_session_text(session=session, whole=True) == text
