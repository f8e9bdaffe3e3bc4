"""Adding folders and looking for them."""

from __future__ import annotations

from pathlib import Path

from django.test import Client
from pytest_django import Settings

from sessions_app.models import Workspace

HTMX = {"HX-Request": "true"}


def test_an_added_folder_leads_to_its_empty_composer(charlie_client: Client, tmp_path: Path) -> None:
    response = charlie_client.post("/workspaces/new/", {"path": str(tmp_path), "name": "Harbour"})
    workspace = Workspace.objects.get()
    assert response.headers["Location"] == f"/?workspace={workspace.pk}"
    text = charlie_client.get(response.headers["Location"]).content.decode()
    assert "Harbour" in text


def test_adding_a_folder_twice_leads_to_the_same_place(alice_client: Client, workspace: Workspace) -> None:
    response = alice_client.post("/workspaces/new/", {"path": workspace.path})
    assert response.headers["Location"] == f"/?workspace={workspace.pk}"


def test_a_folder_of_somebody_else_is_not_joined_by_adding_it(
    charlie_client: Client, workspace: Workspace
) -> None:
    response = charlie_client.post("/workspaces/new/", {"path": workspace.path})
    assert response.status_code == 422
    assert "is a workspace of somebody else." in response.content.decode()


def test_a_folder_outside_the_roots_is_refused(
    charlie_client: Client, tmp_path: Path, settings: Settings
) -> None:
    """B53: also by way of .. and of a link."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "way-out").symlink_to(tmp_path)
    settings.WORKSPACE_ROOTS = [root.resolve()]
    for path in ("/etc", f"{root}/../..", str(root / "way-out")):
        response = charlie_client.post("/workspaces/new/", {"path": path})
        assert response.status_code == 422
        assert "is outside the folders this server may use" in response.content.decode()
        listing = charlie_client.get("/workspaces/folders/", {"path": path}, headers=HTMX).content.decode()
        assert "is outside the folders this server may use" in listing
        assert "data-path" not in listing
    assert not Workspace.objects.exists()


def test_the_listing_goes_down_and_up_within_the_roots(
    charlie_client: Client, tmp_path: Path, settings: Settings
) -> None:
    settings.WORKSPACE_ROOTS = [tmp_path.resolve()]
    (tmp_path / "code" / "berthline").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "notes.txt").write_text("")
    top = charlie_client.get("/workspaces/folders/", headers=HTMX).content.decode()
    assert f'data-path="{tmp_path}/code"' in top
    assert "One up" not in top
    assert ".hidden" not in top
    assert "notes.txt" not in top
    below = charlie_client.get(
        "/workspaces/folders/", {"path": str(tmp_path / "code")}, headers=HTMX
    ).content.decode()
    assert "berthline" in below
    assert "One up" in below


def test_names_of_folders_are_text(charlie_client: Client, tmp_path: Path) -> None:
    (tmp_path / "<img src=x onerror=alert(1)>").mkdir()
    text = charlie_client.get("/workspaces/folders/", {"path": str(tmp_path)}, headers=HTMX).content.decode()
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_the_listing_alone_is_no_page(charlie_client: Client, tmp_path: Path) -> None:
    response = charlie_client.get("/workspaces/folders/", {"path": "/somewhere"})
    assert response.headers["Location"] == "/workspaces/new/?path=%2Fsomewhere"


def test_a_gone_folder_is_told_above_the_composer(alice_client: Client, workspace: Workspace) -> None:
    Path(workspace.path).rmdir()
    assert "is gone. Put it back, or work in another folder." in alice_client.get("/").content.decode()


def test_a_usable_folder_is_confirmed_in_words(charlie_client: Client, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "src").mkdir()
    text = charlie_client.get("/workspaces/folders/", {"path": str(tmp_path)}, headers=HTMX).content.decode()
    assert f'The agent will work in <b dir="auto">{tmp_path.resolve()}</b>. 2 items.' in text
    assert '<details class="folders__look">' in text
    pressed = {"path": str(tmp_path), "browsing": "1"}
    assert 'look" open>' in charlie_client.get("/workspaces/folders/", pressed, headers=HTMX).content.decode()


def test_a_folder_that_is_not_there_can_be_made(charlie_client: Client, tmp_path: Path) -> None:
    wanted = {"path": str(tmp_path / "new")}
    refused = charlie_client.get("/workspaces/folders/", wanted, headers=HTMX).content.decode()
    assert "No such folder" in refused
    assert "To make it new, tick “Make the folder if there is none”." in refused
    made = charlie_client.get(
        "/workspaces/folders/", {**wanted, "create": "on"}, headers=HTMX
    ).content.decode()
    assert "The folder will be made." in made
    assert not (tmp_path / "new").exists()
