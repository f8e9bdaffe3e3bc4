"""Downloads: only through a session one may see, and never as a page of this server."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app import blobs, entry_log
from sessions_app.models import Blob, Session


@pytest.fixture(autouse=True)
def blob_folder(settings: Any, tmp_path: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def keep(session: Session, content: bytes, media_type: str) -> Blob:
    blob = blobs.store(content, media_type)
    entry = entry_log.append(session.pk, {"type": "message", "message": {"role": "user", "content": "x"}})
    blobs.record_uses(entry, [(blob, "output.txt")])
    return blob


def address(session: Session, blob: Blob, name: str = "output.txt") -> str:
    return reverse("session_blob", kwargs={"key": session.key, "sha": blob.sha256, "name": name})


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def test_full_output_is_shown_as_text(alice_client: Client, session: Session) -> None:
    blob = keep(session, b"<script>alert(1)</script>", "text/plain; charset=utf-8")
    response = alice_client.get(address(session, blob))
    assert body(response) == b"<script>alert(1)</script>"
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/xhtml+xml", "nonsense"])
def test_what_could_act_as_a_page_is_only_saved(
    alice_client: Client, session: Session, media_type: str
) -> None:
    response = alice_client.get(address(session, keep(session, b"<svg onload=alert(1)>", media_type)))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment")
    body(response)


def test_a_name_in_the_address_opens_no_other_file(alice_client: Client, session: Session) -> None:
    blob = keep(session, b"mine", "text/plain")
    response = alice_client.get(address(session, blob, "../../secret_key"))
    assert body(response) == b"mine"
    assert 'filename="secret_key"' in response["Content-Disposition"]


def test_a_blob_of_another_session_is_not_found(alice_client: Client, session: Session) -> None:
    other = Session.objects.create(workspace=session.workspace, owner=session.owner, file_id="session-2")
    blob = keep(other, b"theirs", "text/plain")
    assert alice_client.get(address(session, blob)).status_code == 404


def test_a_stranger_finds_nothing(charlie_client: Client, session: Session) -> None:
    assert charlie_client.get(address(session, keep(session, b"x", "text/plain"))).status_code == 404


def test_bytes_that_are_lost_are_not_found(alice_client: Client, session: Session) -> None:
    blob = keep(session, b"x", "text/plain")
    blobs.path_of(blob.sha256).unlink()
    assert alice_client.get(address(session, blob)).status_code == 404
