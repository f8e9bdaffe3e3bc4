"""Two sessions at work in one folder: both pages say so, and neither tells of one that may not be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.fragments.company import company
from sessions_app.models import Membership, Run, Session, Workspace

WARNING = "Another session is at work in this folder."


@pytest.fixture
def other(session: Session, alice: User) -> Session:
    return Session.objects.create(
        workspace=session.workspace, owner=alice, file_id="2", title="The other one"
    )


def start(session: Session) -> Run:
    return Run.objects.create(session=session, status=Run.Status.RUNNING)


def test_both_pages_warn_while_two_are_at_work_in_one_folder(
    alice_client: Client, session: Session, other: Session
) -> None:
    page, beside = (reverse("session", args=[one.key]) for one in (session, other))
    start(session)
    assert WARNING not in alice_client.get(page).content.decode()
    run = start(other)
    assert WARNING in alice_client.get(page).content.decode()
    assert WARNING in alice_client.get(beside).content.decode()
    part = alice_client.get(reverse("company", args=[session.key])).content.decode()
    assert "The other one" in part
    assert beside in part
    Run.objects.filter(pk=run.pk).update(status=Run.Status.COMPLETED)
    assert WARNING not in alice_client.get(page).content.decode()


def test_a_summary_of_another_session_changes_no_files(session: Session, other: Session, alice: User) -> None:
    start(session)
    Run.objects.create(session=other, status=Run.Status.RUNNING, kind=Run.Kind.COMPACTION)
    assert company(session, alice) == []


def test_a_folder_inside_counts_and_a_stranger_there_has_no_name(
    session: Session, alice: User, charlie: User
) -> None:
    inner = Workspace.objects.create(name="Inner", path=f"{session.workspace.path}/inner")
    beside = Workspace.objects.create(name="Beside", path=f"{session.workspace.path}-beside")
    for place in (inner, beside):
        Membership.objects.create(workspace=place, user=charlie, role=Membership.Role.ADMIN)
        start(Session.objects.create(workspace=place, owner=charlie, file_id=place.name, title="Secret"))
    start(session)
    assert company(session, alice) == [None]
    assert Path(inner.path).parent == Path(session.workspace.path)
