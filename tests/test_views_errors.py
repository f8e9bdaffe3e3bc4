"""Refusals in the product's words: a page for pages, a notice for commands."""

from __future__ import annotations

import uuid

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from sessions_app.models import Session
from sessions_app.services.errors import Conflict
from sessions_app.views import errors

HTMX = {"HX-Request": "true"}


@errors.tells_errors
def refusing(request: HttpRequest) -> HttpResponse:
    raise Conflict("A run is active.", "Stop it first.")


def test_a_session_of_others_and_none_at_all_get_the_same_answer(
    charlie_client: Client, session: Session
) -> None:
    there, nowhere = charlie_client.get(f"/s/{session.key}/"), charlie_client.get(f"/s/{uuid.uuid4()}/")
    for response in (there, nowhere):
        assert response.status_code == 404
        assert "No such session, or you may not see it." in response.content.decode()


def test_an_address_without_anything_says_so(alice_client: Client) -> None:
    response = alice_client.get("/nothing/")
    assert response.status_code == 404
    assert "There is nothing at this address." in response.content.decode()


def test_who_is_not_signed_in_is_offered_to_sign_in(client: Client, db: None) -> None:
    text = client.get("/nothing/").content.decode()
    assert 'href="/login/"' in text
    assert 'aria-label="Sessions"' not in text


def test_a_refused_command_is_a_notice_with_its_remedy() -> None:
    response = refusing(RequestFactory().post("/", headers=HTMX))
    assert response.status_code == 409
    assert response.headers["HX-Retarget"] == "#notices"
    text = response.content.decode()
    assert 'role="alert"' in text
    assert "A run is active." in text
    assert "Stop it first." in text
    assert "<html" not in text


def test_a_refused_page_is_a_page_with_the_same_words() -> None:
    response = refusing(RequestFactory().post("/"))
    assert response.status_code == 409
    assert "A run is active." in response.content.decode()
    assert "<html" in response.content.decode()


def test_words_of_an_error_are_text() -> None:
    response = errors.problem(RequestFactory().get("/", headers=HTMX), "<b>x</b>", "<i>y</i>")
    assert "<b>x" not in response.content.decode()
    assert "&lt;i&gt;y" in response.content.decode()


def test_what_one_may_not_do_names_who_can_help() -> None:
    response = errors.permission_denied(RequestFactory().get("/"), PermissionDenied())
    assert response.status_code == 403
    assert "Ask an admin of the workspace" in response.content.decode()


def test_a_broken_request_changes_nothing_and_says_so() -> None:
    response = errors.bad_request(RequestFactory().get("/"), ValueError())
    assert response.status_code == 400
    assert "Nothing was changed." in response.content.decode()


def test_a_failure_of_the_server_says_what_is_kept() -> None:
    assert "What was stored before is kept" in errors.server_error(RequestFactory().get("/")).content.decode()
    fragment = errors.server_error(RequestFactory().post("/", headers=HTMX))
    assert (fragment.status_code, fragment.headers["HX-Retarget"]) == (500, "#notices")


def test_a_notice_closes_and_a_stale_form_explains_itself(alice_client: Client) -> None:
    response = errors.csrf_failure(RequestFactory().post("/"), reason="no cookie")
    assert response.status_code == 403
    assert "nothing was sent" in response.content.decode()
    assert "no cookie" not in response.content.decode()
