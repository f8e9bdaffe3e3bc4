"""Files of a workspace beside the composer: completed by name, kept where they were dropped, never outside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app.models import Session, Workspace
from sessions_app.services import workspace_files
from sessions_app.services.errors import BadInput, NotAllowed

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def several_people_may_run_commands(settings: Any) -> None:
    settings.ALLOW_LOCAL_EXECUTION = True


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    root = Path(workspace.path)
    for name in ("berths/slots.py", "berths/ledger.py", "docs/slots of the year.md", "build/slots.o"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")
    (root / ".gitignore").write_text("build/\n")
    (root / "berths/__pycache__").mkdir()
    (root / "berths/__pycache__/slots.pyc").write_text("")
    return root


def paths(workspace: Workspace, query: str) -> list[str]:
    return [found.path for found in workspace_files.complete(workspace=workspace, query=query)]


def upload(name: str, content: bytes = b"x") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_a_file_is_found_by_a_part_of_its_name_and_ignored_ones_are_not(
    workspace: Workspace, folder: Path
) -> None:
    assert paths(workspace, "slots") == [
        "berths/slots.py",
        "docs/slots of the year.md",
        "berths/__pycache__/slots.pyc",
    ]
    assert paths(workspace, "brths")[:3] == ["berths/", "berths/slots.py", "berths/ledger.py"]
    assert paths(workspace, "berths/l")[0] == "berths/ledger.py"
    assert paths(workspace, "slots.o") == []


def test_without_a_query_the_top_of_the_folder_is_offered(workspace: Workspace, folder: Path) -> None:
    assert paths(workspace, "") == ["docs/", "berths/", ".gitignore"]


def test_links_and_names_that_are_no_text_lead_nowhere(workspace: Workspace, folder: Path) -> None:
    (folder / "out").symlink_to("/etc")
    (folder / os.fsdecode(b"slots-\xff")).write_text("")
    assert "out/" not in paths(workspace, "out")
    assert not [path for path in paths(workspace, "passwd") if "passwd" in path]
    assert all("\udcff" not in path for path in paths(workspace, "slots-"))


def test_a_huge_folder_is_looked_through_for_a_while_only(workspace: Workspace, folder: Path) -> None:
    ticks = iter(range(100))
    found = workspace_files.complete(workspace=workspace, query="slots", clock=lambda: float(next(ticks)))
    assert found == []


def test_names_are_options_of_a_list_for_members_only(
    alice_client: Client, charlie_client: Client, session: Session, folder: Path
) -> None:
    address = reverse("file_names", args=[session.key])
    html = alice_client.get(address, {"q": "ledger"}, headers=HTMX).content.decode()
    assert 'role="option" data-value="berths/ledger.py"' in html
    assert charlie_client.get(address, headers=HTMX).status_code == 404


def test_dropped_files_are_kept_beside_what_is_there(
    alice_client: Client, session: Session, folder: Path
) -> None:
    (folder / "in").mkdir()
    (folder / "in/data.tar.gz").write_text("old")
    files = [upload("data.tar.gz", b"new"), upload("../../../etc/passwd", b"p"), upload("a\x07b.txt")]
    response = alice_client.post(
        reverse("keep_files", args=[session.key]), {"folder": "/in/", "uploads": files}, headers=HTMX
    )
    assert response.status_code == 204
    kept = json.loads(response.headers["HX-Trigger"])["files:kept"]["paths"]
    assert kept == ["in/data-2.tar.gz", "in/passwd", "in/ab.txt"]
    assert (folder / "in/data.tar.gz").read_text() == "old"
    assert (folder / "in/data-2.tar.gz").read_bytes() == b"new"


@pytest.mark.parametrize("place", ["../elsewhere", "a/../../b", ".git/hooks", "lin\x00k"])
def test_files_are_kept_inside_the_workspace_only(workspace: Workspace, folder: Path, place: str) -> None:
    """05 §9: also not behind a link."""
    with pytest.raises(BadInput):
        workspace_files.keep_files(workspace=workspace, folder=place, uploads=[upload("a")])
    (folder / "way-out").symlink_to(folder.parent)
    with pytest.raises(BadInput):
        workspace_files.keep_files(workspace=workspace, folder="way-out", uploads=[upload("a")])
    assert not (folder.parent / "a").exists()


def test_too_large_and_too_many_files_are_refused_before_any_is_written(
    workspace: Workspace, folder: Path, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 4
    with pytest.raises(BadInput, match="at most"):
        workspace_files.keep_files(
            workspace=workspace, folder="in", uploads=[upload("a"), upload("b", b"12345")]
        )
    with pytest.raises(BadInput, match="20 files"):
        workspace_files.keep_files(workspace=workspace, folder="in", uploads=[upload("a")] * 21)
    assert not (folder / "in").exists()


def test_who_may_not_let_agents_work_here_writes_no_files(
    workspace: Workspace, folder: Path, settings: Any, charlie: Any
) -> None:
    settings.ALLOW_LOCAL_EXECUTION = False
    with pytest.raises(NotAllowed):
        workspace_files.keep_files(workspace=workspace, folder="in", uploads=[upload("a")])


def test_a_kept_file_needs_a_file(alice_client: Client, session: Session) -> None:
    response = alice_client.post(reverse("keep_files", args=[session.key]), {"folder": "in"}, headers=HTMX)
    assert response.status_code == 400
    assert "There is no file to keep." in response.content.decode()
