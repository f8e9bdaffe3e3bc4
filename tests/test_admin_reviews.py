"""Reviews in the Django admin: what is shown, what may be done by whom, and that a long list costs no more."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sessions_app.models import CompactionReview, Membership, Session
from tests.conftest import client_of, create_person
from tests.staging import Stage, stage
from tests.test_reviews import compacted, reports_at_once, told
from tests.test_views_reviews import ACTS

__all__ = ["reports_at_once", "stage"]

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "admin:sessions_app_compactionreview_changelist"


def staff(name: str, *permissions: str, member_of: Any = None, superuser: bool = False) -> Client:
    person = create_person(name)
    person.is_staff, person.is_superuser = True, superuser
    person.save()
    person.user_permissions.set(
        Permission.objects.filter(codename__in=[f"{name}_compactionreview" for name in permissions])
    )
    if member_of is not None:
        Membership.objects.create(workspace=member_of, user=person, role="viewer")
    return client_of(person)


def detail(review: CompactionReview, act: str = "") -> str:
    page = reverse("admin:sessions_app_compactionreview_change", args=[review.pk])
    return f"{page}{act}/" if act else page


def test_list_detail_dashboard_history_and_exports_open(stage: Stage) -> None:
    review = compacted(stage)
    client = staff("root", superuser=True)
    page = client.get(reverse(LIST)).content.decode()
    assert str(review.session) in page
    assert "waiting for review" in page
    assert "missing" in client.get(reverse(LIST), {"coverage": "own"}).content.decode()
    shown = client.get(detail(review)).content.decode()
    assert '<mark class="miss" title="missing">Never touch the dam' in shown
    assert "Pin all" in shown
    for name in ("dashboard", "export"):
        assert client.get(reverse(f"admin:sessions_app_compactionreview_{name}")).status_code == 200
    client.post(detail(review, "comment"), {"words": "Looks thin."})
    history = client.get(reverse("admin:sessions_app_compactionreview_history", args=[review.pk]))
    assert "Looks thin." in history.content.decode()


def test_the_list_is_empty_and_says_so(alice: Any) -> None:
    client = staff("root", superuser=True)
    assert "0 compaction reviews" in client.get(reverse(LIST)).content.decode()
    assert client.get(reverse("admin:sessions_app_compactionreview_dashboard")).status_code == 200


def test_what_is_done_in_the_admin_is_told_to_the_model(stage: Stage) -> None:
    review = compacted(stage)
    before = told(stage)
    client = staff("root", superuser=True)
    client.post(detail(review, "edit"), {"summary": "Leave the dam alone."})
    assert "Leave the dam alone." in told(stage)
    client.post(detail(review, "undo"))
    assert told(stage) == before
    client.post(detail(review, "revert"))
    assert "Plan the mill in docs/mill.md." in told(stage)


def test_many_are_approved_at_once(stage: Stage) -> None:
    review = compacted(stage)
    client = staff("root", superuser=True)
    client.post(reverse(LIST), {"action": "approve_chosen", "_selected_action": [review.pk]})
    review.refresh_from_db()
    assert review.state == "approved"


def test_viewing_reviewing_and_editing_are_rights_of_their_own(stage: Stage) -> None:
    review = compacted(stage)
    workspace = stage.session.workspace
    none = staff("none", member_of=workspace)
    view = staff("view", "view", member_of=workspace)
    judge = staff("judge", "view", "review", member_of=workspace)
    editor = staff("editor", "view", "edit", member_of=workspace)
    pages = [reverse(LIST), detail(review), reverse("admin:sessions_app_compactionreview_dashboard")]
    assert [none.get(page).status_code for page in pages] == [403, 403, 403]
    assert [view.get(page).status_code for page in pages] == [200, 200, 200]
    assert {view.post(detail(review, act)).status_code for act in ACTS} == {403}
    assert "approve_chosen" not in view.get(reverse(LIST)).content.decode()
    judging = {act: judge.post(detail(review, act), {"words": "x"}).status_code for act in ACTS}
    assert {act for act, status in judging.items() if status == 302} == {"approve", "reject", "comment"}
    assert editor.post(detail(review, "approve")).status_code == 403
    assert editor.post(detail(review, "edit"), {"summary": "x"}).status_code == 302


def test_staff_sees_no_session_of_workspaces_it_is_no_member_of(stage: Stage) -> None:
    review = compacted(stage)
    client = staff("outsider", "view", "review", "edit")
    assert str(review.session) not in client.get(reverse(LIST)).content.decode()
    assert client.get(detail(review)).status_code == 404
    assert {client.post(detail(review, act)).status_code for act in ACTS} == {404}
    rows = b"".join(client.get(reverse("admin:sessions_app_compactionreview_export")))  # type: ignore[call-overload]
    assert len(rows.splitlines()) == 1


def test_people_who_are_no_staff_are_sent_to_the_sign_in(stage: Stage, alice_client: Client) -> None:
    review = compacted(stage)
    assert alice_client.get(detail(review)).status_code == 302
    assert alice_client.post(detail(review, "approve")).status_code == 302
    review.refresh_from_db()
    assert review.state == "unreviewed"


def many(session: Session, count: int) -> None:
    CompactionReview.objects.bulk_create(
        CompactionReview(
            session=session,
            reason="threshold",
            outcome="compacted",
            coverage=place % 101,
            risk=place % 100,
            tokens_before=100_000,
            tokens_after=20_000,
        )
        for place in range(count)
    )


def opened(client: Client, address: str) -> tuple[int, float]:
    """Queries, and the best of three times in seconds."""
    best = 9.0
    for _ in range(3):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            began = time.process_time()
            assert client.get(address).status_code == 200
            best = min(best, time.process_time() - began)
    return len(queries), best


def test_a_list_of_ten_thousand_costs_no_more_queries_than_one_of_a_hundred(session: Session) -> None:
    client = staff("root", superuser=True)
    for address in (reverse(LIST), reverse("admin:sessions_app_compactionreview_dashboard")):
        CompactionReview.objects.all().delete()
        many(session, 100)
        few, quick = opened(client, address)
        many(session, 9_900)
        lots, slow = opened(client, address)
        assert lots == few
        if address == reverse(LIST):
            assert slow <= 2 * quick + 0.05
