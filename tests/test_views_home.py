"""Beginning: the list of sessions, the empty composer, the first run and the tour."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions_app import entry_log, provider_keys
from sessions_app.forms import SUGGESTED_JOBS
from sessions_app.models import Entry, Membership, Run, Session, Workspace
from sessions_app.services.search import find_sessions
from sessions_app.session_rows import duration, row_of, short_time

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def everybody_may_run_commands(settings: Settings) -> None:
    settings.ALLOW_LOCAL_EXECUTION = True


def first_words(session: Session) -> object:
    return Entry.objects.get(session=session, role="user").record["message"]["content"]


def test_without_a_folder_one_is_welcomed(charlie_client: Client) -> None:
    assert charlie_client.get("/").headers["Location"] == "/welcome/"


def test_the_page_asks_what_should_be_done_in_the_folder(alice_client: Client, workspace: Workspace) -> None:
    text = alice_client.get("/").content.decode()
    assert "What should be done in" in text
    assert "Your sessions will be listed here" in text
    for _icon, title, _text in SUGGESTED_JOBS:
        assert str(title) in text


def test_without_a_key_the_page_says_that_the_model_is_a_script(
    alice_client: Client, workspace: Workspace
) -> None:
    assert "A script, not an AI" in alice_client.get("/").content.decode()


def test_with_a_key_the_page_does_not_speak_of_the_demo(
    alice_client: Client, alice: User, workspace: Workspace
) -> None:
    provider_keys.save_key(user=alice, provider="anthropic", secret="sk-not-a-key")
    assert "A script, not an AI" not in alice_client.get("/").content.decode()


def test_words_begin_a_session_and_lead_to_it(
    alice_client: Client, alice: User, workspace: Workspace
) -> None:
    response = alice_client.post(
        "/", {"workspace": workspace.pk, "text": "List the files\r\nand stop", "model": "demo/demo"}
    )
    session = Session.objects.get()
    assert response.headers["Location"] == f"/s/{session.key}/"
    assert (session.owner, session.provider) == (alice, "demo")
    assert first_words(session) == "List the files\nand stop"
    assert Run.objects.get().session == session


def test_htmx_is_sent_to_the_session_without_swapping_anything(
    alice_client: Client, workspace: Workspace
) -> None:
    response = alice_client.post("/", {"workspace": workspace.pk, "text": "List the files"}, headers=HTMX)
    assert response.status_code == 204
    assert response.headers["HX-Redirect"] == f"/s/{Session.objects.get().key}/"


def test_a_suggested_job_is_sent_in_its_own_words(alice_client: Client, workspace: Workspace) -> None:
    alice_client.post("/", {"workspace": workspace.pk, "text": "", "job": "2"})
    assert first_words(Session.objects.get()) == str(SUGGESTED_JOBS[1][1])


def test_a_form_that_is_sent_twice_begins_one_session(alice_client: Client, workspace: Workspace) -> None:
    form = {"workspace": workspace.pk, "text": "List the files", "key": "one-key"}
    first, second = alice_client.post("/", form), alice_client.post("/", form)
    assert first.headers["Location"] == second.headers["Location"]
    assert Session.objects.count() == Run.objects.count() == 1


def test_nothing_is_left_behind_when_there_is_nothing_to_send(
    alice_client: Client, workspace: Workspace
) -> None:
    """01 ST-09."""
    response = alice_client.post("/", {"workspace": workspace.pk, "text": "  \n"}, headers=HTMX)
    assert response.status_code == 400
    assert response.headers["HX-Retarget"] == "#notices"
    assert "Write what should be done." in response.content.decode()
    assert not Session.objects.exists()


def test_nothing_is_left_behind_when_commands_may_not_run(
    alice_client: Client, bob: User, workspace: Workspace, settings: Settings
) -> None:
    settings.ALLOW_LOCAL_EXECUTION = False
    assert "Agents can’t run commands here." in alice_client.get("/").content.decode()
    response = alice_client.post("/", {"workspace": workspace.pk, "text": "List the files"}, headers=HTMX)
    assert response.status_code == 403
    assert "AGENTWEB_ALLOW_LOCAL_EXECUTION" in response.content.decode()
    assert not Session.objects.exists()


def test_a_file_that_is_no_image_is_refused_by_name(alice_client: Client, workspace: Workspace) -> None:
    file = SimpleUploadedFile("holiday.png", b"not a picture", content_type="image/png")
    response = alice_client.post(
        "/", {"workspace": workspace.pk, "text": "Look", "images": file}, headers=HTMX
    )
    assert response.status_code == 400
    assert "holiday.png is empty or not an image that can be read." in response.content.decode()


def test_nobody_begins_a_session_in_a_folder_of_others(charlie_client: Client, workspace: Workspace) -> None:
    response = charlie_client.post("/", {"workspace": workspace.pk, "text": "List the files"}, headers=HTMX)
    assert response.status_code == 400
    assert "Choose one of your folders." in response.content.decode()
    assert not Session.objects.exists()


def test_a_viewer_is_told_that_one_can_look_but_not_start(
    charlie_client: Client, charlie: User, session: Session
) -> None:
    Membership.objects.create(workspace=session.workspace, user=charlie, role=Membership.Role.VIEWER)
    text = charlie_client.get("/").content.decode()
    assert "You can look, not start" in text
    assert f"/s/{session.key}/" in text


def test_sessions_of_others_are_not_listed(charlie_client: Client, session: Session, tmp_path: Path) -> None:
    Session.objects.update(name="Secret plans")
    text = charlie_client.get("/", headers=HTMX).content.decode()
    assert "Secret plans" not in text


def test_the_search_finds_names_and_first_words(alice_client: Client, session: Session, alice: User) -> None:
    """01 SF-06."""
    Session.objects.update(title="Tile cache eviction")
    Session.objects.create(
        workspace=session.workspace, owner=alice, file_id="2", name="Harbour", title="tile"
    )
    text = alice_client.get("/", {"q": "tile"}, headers=HTMX).content.decode()
    assert "Tile cache eviction" in text
    assert "Harbour" not in text
    assert (
        "“zzz” is nowhere in your sessions"
        in alice_client.get("/", {"q": "zzz"}, headers=HTMX).content.decode()
    )


def test_the_search_works_without_script(alice_client: Client, session: Session) -> None:
    Session.objects.update(name="Tile cache eviction")
    assert "Found: “tile”" in alice_client.get("/", {"q": "tile"}).content.decode()


def test_the_open_session_is_marked_in_the_list(alice_client: Client, session: Session) -> None:
    text = alice_client.get("/", {"current": str(session.key)}, headers=HTMX).content.decode()
    assert 'aria-current="page"' in text
    assert 'aria-current="page"' not in alice_client.get("/", {"current": "x"}, headers=HTMX).content.decode()


@pytest.mark.parametrize(
    ("status", "glyph", "words"),
    [
        (Run.Status.QUEUED, "queued", "Waiting to start"),
        (Run.Status.RUNNING, "running", "Running"),
        (Run.Status.FAILED, "error", "Stopped: disk full"),
        (Run.Status.INTERRUPTED, "stopped", "Interrupted, can go on"),
        (Run.Status.LIMITED, "wait", "Waits: its ceiling is reached"),
        (Run.Status.STOPPED, "stopped", "Stopped by a person · 3 entries"),
        (Run.Status.COMPLETED, "worked", "Finished · 3 entries"),
    ],
)
def test_a_row_says_by_shape_and_words_what_a_session_is_doing(
    session: Session, status: str, glyph: str, words: str
) -> None:
    Session.objects.update(next_seq=4)
    session.refresh_from_db()
    started = timezone.now() - timedelta(seconds=134)
    Run.objects.create(session=session, status=Run.Status.COMPLETED)
    Run.objects.create(session=session, status=status, started_at=started, error="disk full\nat 12")
    row = row_of(session)
    assert (row.glyph, row.doing) == (glyph, words)
    assert row.elapsed == ("2 min 14 s" if glyph == "running" else "")


def test_the_time_of_a_running_session_is_counted_on_in_the_page(
    alice_client: Client, session: Session
) -> None:
    started = timezone.now() - timedelta(seconds=134)
    Run.objects.create(session=session, status=Run.Status.RUNNING, started_at=started)
    text = alice_client.get("/", headers=HTMX).content.decode()
    assert re.search(r'Running <elapsed-time datetime="[^"]+">2 min 14 s</elapsed-time>', text)


def test_a_session_that_nothing_runs_in_is_never_shown_as_running(session: Session) -> None:
    assert (row_of(session).glyph, row_of(session).doing) == ("idle", "Nothing said yet")
    Run.objects.create(session=session, status=Run.Status.COMPLETED)
    Session.objects.update(next_seq=2, updated_at=timezone.now() - timedelta(days=2))
    session.refresh_from_db()
    assert (row_of(session).glyph, row_of(session).doing, row_of(session).quiet) == (
        "idle",
        "Idle · 1 entry",
        True,
    )


def test_the_list_asks_the_database_the_same_few_questions_for_any_length(
    alice: User, session: Session, django_assert_num_queries: object
) -> None:
    for number in range(20):
        other = Session.objects.create(workspace=session.workspace, owner=alice, file_id=str(number))
        Run.objects.create(session=other, status=Run.Status.COMPLETED)
    with django_assert_num_queries(3):  # type: ignore[operator]
        groups = find_sessions(user=alice).groups
    assert len(groups[0].findings) == 21


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=30), "now"),
        (timedelta(minutes=12), "12m"),
        (timedelta(hours=3), "3h"),
        (timedelta(days=300), "3 Feb"),
    ],
)
def test_times_are_short(age: timedelta, words: str) -> None:
    now = timezone.now().replace(month=11, day=30, hour=12)
    assert short_time(now - age, now) == words


def test_durations_are_exact(db: None) -> None:
    assert [duration(timedelta(seconds=s)) for s in (48, 134, 3900)] == ["48 s", "2 min 14 s", "1 h 5 min"]


def test_the_first_run_makes_folder_session_and_first_message(
    charlie_client: Client, charlie: User, tmp_path: Path
) -> None:
    folder = tmp_path / "harbour"
    response = charlie_client.post(
        "/welcome/", {"path": str(folder), "create": "on", "provider": "demo", "job": "1"}
    )
    session = Session.objects.get()
    assert response.headers["Location"] == f"/s/{session.key}/"
    assert folder.is_dir()
    assert (session.owner, session.workspace.path) == (charlie, str(folder.resolve()))
    assert first_words(session) == str(SUGGESTED_JOBS[0][1])


def test_the_first_run_takes_other_words_and_a_key(
    charlie_client: Client, charlie: User, tmp_path: Path
) -> None:
    form = {
        "path": str(tmp_path),
        "provider": "anthropic",
        "secret": "sk-secret-words",
        "job": "own",
        "text": "Say hello",
    }
    charlie_client.post("/welcome/", form)
    assert provider_keys.credentials(charlie, "anthropic").api_key == "sk-secret-words"
    assert first_words(Session.objects.get()) == "Say hello"


def test_an_address_that_was_typed_for_another_provider_does_not_count(
    charlie_client: Client, charlie: User, tmp_path: Path
) -> None:
    form = {"path": str(tmp_path), "provider": "anthropic", "secret": "sk-not-a-key", "base_url": "nonsense"}
    assert charlie_client.post("/welcome/", {**form, "job": "1"}).status_code == 302
    assert provider_keys.credentials(charlie, "anthropic").base_url in (None, "")


def test_a_folder_that_is_not_there_is_told_with_the_nearest_name(
    charlie_client: Client, tmp_path: Path
) -> None:
    (tmp_path / "berthline").mkdir()
    form = {"path": str(tmp_path / "bertline"), "provider": "demo", "job": "1"}
    response = charlie_client.post("/welcome/", form)
    assert response.status_code == 422
    assert f"Did you mean {tmp_path.resolve() / 'berthline'}?" in response.content.decode()
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"provider": "anthropic", "job": "1"}, "Paste a key, or begin with the demo model."),
        ({"provider": "openai-compatible", "job": "1"}, "Name the server’s address"),
        ({"provider": "demo", "job": "own", "text": " "}, "Write what should be done."),
    ],
)
def test_what_is_missing_in_the_first_run_is_told_beside_its_field(
    charlie_client: Client, tmp_path: Path, form: dict[str, str], words: str
) -> None:
    response = charlie_client.post("/welcome/", {"path": str(tmp_path), **form})
    assert response.status_code == 422
    assert words in response.content.decode().replace("&#x27;", "’").replace("server's", "server’s")
    assert not Workspace.objects.exists()


def test_a_key_that_was_typed_is_not_sent_back_with_an_error(charlie_client: Client, tmp_path: Path) -> None:
    form = {"path": "", "provider": "anthropic", "secret": "sk-secret-words", "job": "1"}
    assert "sk-secret-words" not in charlie_client.post("/welcome/", form).content.decode()


def test_the_tour_is_brought_in_once_and_opens_at_its_beginning(
    alice_client: Client, workspace: Workspace
) -> None:
    first = alice_client.post("/", {"workspace": workspace.pk, "tour": "1"})
    second = alice_client.post("/", {"workspace": workspace.pk, "tour": "1"})
    session = Session.objects.get()
    asked = session.entries.filter(role="user").order_by("seq").first()
    assert asked is not None
    assert first.headers["Location"] == second.headers["Location"] == f"/s/{session.key}/#entry-{asked.seq}"


def test_the_tour_needs_no_folder_and_touches_none(
    charlie_client: Client, charlie: User, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    charlie_client.post("/welcome/", {"path": "", "provider": "demo", "job": "tour"})
    session = Session.objects.get()
    assert session.workspace.name == "Tour"
    assert list(Path(session.workspace.path).iterdir()) == []
    page = charlie_client.get(f"/s/{session.key}/").content.decode()
    assert "nothing here was done in a folder of yours" in page
    assert "Files changed in the example" in page


def test_who_has_only_seen_the_tour_is_still_asked_for_a_folder(
    charlie_client: Client, tmp_path: Path
) -> None:
    charlie_client.post("/welcome/", {"path": "", "provider": "demo", "job": "tour"})
    assert charlie_client.get("/").headers["Location"] == "/welcome/"
    charlie_client.post("/welcome/", {"path": str(tmp_path), "provider": "demo", "job": "1"})
    page = charlie_client.get("/").content.decode()
    assert tmp_path.name in page
    assert ">Tour</span>" not in page


def test_a_job_needs_a_folder(charlie_client: Client) -> None:
    response = charlie_client.post("/welcome/", {"path": "", "provider": "demo", "job": "1"})
    assert response.status_code == 422
    assert "Name a folder." in response.content.decode()


def test_the_newest_session_comes_first_and_a_damaged_one_breaks_no_list(
    alice_client: Client, session: Session, alice: User
) -> None:
    """01 SF-05, SF-06."""
    old = Session.objects.create(workspace=session.workspace, owner=alice, file_id="2", title="Oldest of all")
    Session.objects.filter(pk=old.pk).update(updated_at=timezone.now() - timedelta(days=3))
    entry = entry_log.append(session.pk, {"type": "message", "message": {"role": "user", "content": "Newer"}})
    type(entry).objects.filter(pk=entry.pk).update(payload="{broken")
    Session.objects.filter(pk=session.pk).update(header="{broken")
    text = alice_client.get("/", headers=HTMX).content.decode()
    assert text.index("Newer") < text.index("Oldest of all")


def test_the_palette_finds_sessions_and_folders_one_may_see(
    alice_client: Client, charlie_client: Client, session: Session
) -> None:
    Session.objects.filter(pk=session.pk).update(name="Clock change <b>")
    html = alice_client.get("/palette/", {"q": "clock"}, headers={"HX-Request": "true"}).content.decode()
    assert f'role="option" data-goes="/s/{session.key}/"' in html
    assert "Clock change &lt;b&gt;" in html
    assert "?workspace=" in alice_client.get("/palette/", {"q": "Works"}).content.decode()
    assert charlie_client.get("/palette/", {"q": "clock"}).content.decode().strip() == ""


def test_every_command_offered_by_name_leads_somewhere(alice_client: Client, session: Session) -> None:
    """What the page offers by name is what it can do: each option says how, or has an act in commands.js."""
    script = Path("static/js/commands.js").read_text(encoding="utf-8")
    acts = set(re.findall(r"^  (\w+)(?:: |,$)", script, re.M))
    for address in ("/", f"/s/{session.key}/"):
        page = alice_client.get(address).content.decode()
        options = re.findall(r'<div class="option" role="option" data-command="(\w+)"([^>]*)>', page)
        assert len(options) >= 5
        for name, rest in options:
            assert name in acts or re.search(r"data-(goes|clicks|loads|shows)=", rest), name
            for target in re.findall(r'data-(?:goes|loads)="(/[^"#?]*)', rest):
                assert alice_client.get(target).status_code in (200, 302), target
