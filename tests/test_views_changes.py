"""The Changes panel: what a branch did to files, how they differ from HEAD, and the files themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app import entry_log
from sessions_app.models import Session, Workspace
from sessions_app.services import git_folder

HTMX = {"HX-Request": "true"}
PATCH = "--- a/slots.py\n+++ b/slots.py\n@@ -1 +1,2 @@\n-old = 1\n+new = 1\n+more = 2\n"


@pytest.fixture(autouse=True)
def several_people_may_run_commands(settings: Any) -> None:
    settings.ALLOW_LOCAL_EXECUTION = True


def changed(session: Session, path: str, patch: str = PATCH) -> None:
    details = {"path": f"{session.workspace.path}/{path}", "diff": patch, "added": 2, "removed": 1}
    message = {
        "role": "toolResult",
        "toolName": "edit",
        "toolCallId": "c1",
        "content": [],
        "details": details | {"firstChangedLine": 1},
    }
    entry_log.append(session.pk, {"type": "message", "message": message})


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(workspace: Workspace) -> Path:
    """`slots.py` is committed, changed, and there are files and a folder that git does not know."""
    folder = Path(workspace.path)
    (folder / "slots.py").write_text("old = 1\n")
    git(folder, "init", "-q", "-b", "harbour")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    (folder / "slots.py").write_text("old = 1\nunder = <script>\n")
    (folder / "with blank.txt").write_text("one\ntwo\n")
    (folder / "made").mkdir()
    (folder / "made/by hand.txt").write_text("x")
    return folder


def address(session: Session, page: str, path: str = "") -> str:
    return reverse(page, args=[session.key]) + (f"?path={path}" if path else "")


def test_without_git_a_files_difference_is_what_the_branch_did_to_it(
    alice_client: Client, session: Session
) -> None:
    changed(session, "slots.py")
    changed(session, "slots.py", PATCH.replace("more", "most"))
    panel = alice_client.get(address(session, "session_changes"), headers=HTMX).content.decode()
    assert "1 file changed on this branch." in panel
    assert '<span class="plus">+4</span><span class="minus">−2</span>' in panel
    assert "Gone" in panel
    diff = alice_client.get(address(session, "file_diff", "slots.py"), headers=HTMX).content.decode()
    assert "What this branch did, 2 steps" in diff
    assert diff.index("more") < diff.index("most")


def test_in_git_each_file_says_how_it_differs_from_head(
    alice_client: Client, session: Session, repository: Path
) -> None:
    changed(session, "slots.py")
    page = alice_client.get(address(session, "session_changes")).content.decode()
    assert "on <code" in page
    assert "harbour" in page
    assert "Differs from HEAD" in page
    assert "with blank.txt" in page
    assert "made/" in page
    assert "by hand.txt" not in page
    diff = alice_client.get(address(session, "file_diff", "slots.py"), headers=HTMX).content.decode()
    assert "From HEAD to now" in diff
    assert "&lt;" in diff
    assert "<script>" not in diff
    new = alice_client.get(address(session, "file_diff", "with blank.txt"), headers=HTMX).content.decode()
    assert "All of it, since git does not know the file" in new
    assert new.count("diff__row--add") == 2


def test_a_committed_change_is_as_in_head_and_shows_the_branchs_steps(
    alice_client: Client, session: Session, repository: Path
) -> None:
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    changed(session, "slots.py")
    assert "As in HEAD" in alice_client.get(address(session, "session_changes")).content.decode()
    diff = alice_client.get(address(session, "file_diff", "slots.py"), headers=HTMX).content.decode()
    assert "What this branch did, 1 step" in diff


def test_a_file_is_shown_as_text_that_can_do_nothing(
    alice_client: Client, session: Session, repository: Path
) -> None:
    """B50: a page of the workspace is no page of this server."""
    (repository / "page.html").write_text("<script>alert(1)</script>")
    response = alice_client.get(address(session, "changed_file", "page.html"))
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response.getvalue() == b"<script>alert(1)</script>"
    saved = alice_client.get(address(session, "changed_file", "page.html") + "&download=1")
    assert saved.headers["Content-Disposition"].startswith("attachment")
    saved.getvalue()


@pytest.mark.parametrize("path", ["unchanged.txt", "../secret.txt", "/etc/passwd", ""])
def test_only_what_the_panel_lists_is_given(
    alice_client: Client, session: Session, repository: Path, path: str
) -> None:
    (repository / "unchanged.txt").write_text("x")
    git(repository, "add", "unchanged.txt")
    git(repository, "commit", "-qm", "more")
    (repository.parent / "secret.txt").write_text("x")
    for page in ("changed_file", "file_diff"):
        assert alice_client.get(address(session, page, path)).status_code == 404


def test_a_listed_link_leads_to_nothing_outside(
    alice_client: Client, session: Session, repository: Path
) -> None:
    (repository / "way-out").symlink_to("/etc/passwd")
    assert alice_client.get(address(session, "changed_file", "way-out")).status_code == 400


def test_git_starts_no_program_that_the_folder_names(workspace: Workspace, repository: Path) -> None:
    marker = repository.parent / "started"
    script = repository / "hook.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command"):
        git(repository, "config", name, str(script))
    (repository / ".gitattributes").write_text("*.py diff=x\n")
    status = git_folder.status(workspace)
    assert status is not None
    assert status.of("slots.py") == "modified"
    assert "+under" in git_folder.diff_to_head(workspace, "slots.py")
    assert not marker.exists()


def test_a_folder_inside_a_repository_tells_paths_of_its_own(workspace: Workspace, repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "a.txt").write_text("a")
    git(repository, "add", "inner")
    Workspace.objects.filter(pk=workspace.pk).update(path=str(inner))
    workspace.refresh_from_db()
    status = git_folder.status(workspace)
    assert status is not None
    assert status.changes == {"a.txt": "added"}


def test_where_agents_may_run_nothing_git_is_not_asked(
    workspace: Workspace, repository: Path, settings: Any, charlie: Any
) -> None:
    settings.ALLOW_LOCAL_EXECUTION = False
    assert git_folder.status(workspace) is None
