"""Signing in by password, by link and in place; what is open to those who have not."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from pytest_django import Settings

from sessions_app import urls
from sessions_app.models import LoginLink
from sessions_app.services import accounts

HTMX = {"HX-Request": "true"}
PASSWORD = {"username": "alice", "password": "alice-has-a-long-password"}
OPEN = {"login", "login_link", "logout", "health", "version"}


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_name_and_password_sign_in_and_lead_home(client: Client, alice: User) -> None:
    response = client.post("/login/", PASSWORD)
    assert (response.status_code, response.headers["Location"]) == (302, "/")
    assert signed_in(client)


def test_a_wrong_password_is_told_without_saying_which_part_is_wrong(client: Client, alice: User) -> None:
    response = client.post("/login/", {**PASSWORD, "password": "wrong"})
    text = response.content.decode()
    assert response.status_code == 422
    assert "Name and password don’t match." in text
    assert 'value="alice"' in text
    assert "wrong" not in re.sub(r"<[^>]+>", "", text)


def test_the_sign_in_page_says_how_to_get_a_link(client: Client, db: None) -> None:
    assert "<code>agentweb login-link</code>" in client.get("/login/").content.decode()


def test_one_comes_back_to_where_one_was_going(client: Client, alice: User) -> None:
    assert client.get("/keys/").headers["Location"] == "/login/?next=/keys/"
    assert client.post("/login/", {**PASSWORD, "next": "/keys/"}).headers["Location"] == "/keys/"


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_signing_in_never_leads_to_another_server(client: Client, alice: User, address: str) -> None:
    assert client.post("/login/", {**PASSWORD, "next": address}).headers["Location"] == "/"


def test_a_link_is_not_used_up_by_looking_at_it(client: Client, alice: User) -> None:
    address = f"/login/{accounts.create_login_link(user=alice)}/"
    assert client.get(address).status_code == 200
    assert client.get(address).status_code == 200
    assert not signed_in(client)
    assert client.post(address).headers["Location"] == "/"
    assert signed_in(client)


def test_a_used_link_says_so_and_names_the_command_that_makes_another(client: Client, alice: User) -> None:
    address = f"/login/{accounts.create_login_link(user=alice)}/"
    client.post(address)
    client.logout()
    for response in (client.get(address), client.post(address)):
        assert response.status_code == 410
        assert "This link was used or has expired" in response.content.decode()
        assert "<code>agentweb login-link</code>" in response.content.decode()
    assert not signed_in(client)


def test_an_expired_link_signs_nobody_in(client: Client, alice: User) -> None:
    token = accounts.create_login_link(user=alice)
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.post(f"/login/{token}/").status_code == 410
    assert not signed_in(client)


def test_signing_out_takes_a_post(alice_client: Client) -> None:
    assert alice_client.get("/logout/").status_code == 405
    assert alice_client.post("/logout/").headers["Location"] == "/login/"
    assert not signed_in(alice_client)


def test_a_command_without_a_sign_in_is_held_not_redirected(client: Client, db: None) -> None:
    response = client.post("/", {"text": "Summarise this folder"}, headers=HTMX)
    assert response.status_code == 401
    assert response.headers["HX-Trigger"] == "sign-in-needed"
    assert response.content == b""


def test_signing_in_in_place_gets_the_form_alone(client: Client, alice: User) -> None:
    text = client.get("/login/", headers=HTMX).content.decode()
    assert "Sign in again" in text
    assert "<html" not in text
    wrong = client.post("/login/", {**PASSWORD, "password": "wrong"}, headers=HTMX)
    assert wrong.status_code == 422
    assert "Name and password don’t match." in wrong.content.decode()


def test_signing_in_in_place_answers_with_a_form_token_that_works(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    page = client.get("/login/", headers=HTMX).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    response = client.post("/login/", {**PASSWORD, "csrfmiddlewaretoken": token[1]}, headers=HTMX)
    assert response.json()["user"] == alice.pk
    renewed = response.json()["csrf"]
    assert client.post("/logout/", headers={"X-CSRFToken": renewed}).status_code == 302


def test_who_is_signed_in_elsewhere_gets_a_new_form_token_at_once(alice_client: Client, alice: User) -> None:
    response = alice_client.get("/login/", headers=HTMX)
    assert response.json()["user"] == alice.pk
    assert len(response.json()["csrf"]) > 30


def test_every_address_but_the_open_ones_wants_a_sign_in(client: Client, db: None) -> None:
    """B51: deny by default, so that a view that forgets to ask is closed, not open."""
    patterns: list[URLPattern] = []
    todo: list[URLPattern | URLResolver] = list(get_resolver(urls.__name__).url_patterns)
    while todo:
        item = todo.pop()
        if isinstance(item, URLResolver):
            todo += item.url_patterns
        else:
            patterns.append(item)
    is_open = {pattern.name for pattern in patterns if not getattr(pattern.callback, "login_required", True)}
    assert is_open == OPEN


def test_health_and_version_are_for_everybody(client: Client, db: None) -> None:
    assert client.get("/health/").json()["status"] == "ok"
    assert client.get("/version/").json()["version"] == client.get("/health/").json()["version"]


def test_after_many_wrong_passwords_a_name_rests_but_a_link_goes_on_working(
    client: Client, alice: User, settings: Settings
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    wrong = {"username": "alice", "password": "guess"}
    answers = [client.post("/login/", wrong).status_code for _ in range(3)]
    assert answers == [422, 422, 429]
    right = client.post("/login/", PASSWORD)
    assert right.status_code == 429
    assert "Too many wrong passwords" in right.content.decode()
    assert "sign-in link" in client.post("/login/", wrong, headers={"HX-Request": "true"}).content.decode()
    link = accounts.create_login_link(user=alice)
    assert client.post(f"/login/{link}/").headers["Location"] == "/"


def test_a_password_is_changed_by_whoever_knows_the_old_one(alice_client: Client, alice: User) -> None:
    new = {"new_password1": "harbour lights 9", "new_password2": "harbour lights 9"}
    refused = alice_client.post("/password/", {**new, "old_password": "not this"})
    assert refused.status_code == 422
    assert alice_client.post("/password/", {**new, "old_password": PASSWORD["password"]}).status_code == 302
    assert "Your password is changed" in alice_client.get("/password/").content.decode()
    alice.refresh_from_db()
    assert alice.check_password("harbour lights 9")


def test_who_signs_in_by_links_sets_a_first_password(alice_client: Client, alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    alice_client.force_login(alice)
    assert "old_password" not in alice_client.get("/password/").content.decode()
    weak = alice_client.post("/password/", {"new_password1": "12345", "new_password2": "12345"})
    assert weak.status_code == 422
    new = {"new_password1": "harbour lights 9", "new_password2": "harbour lights 9"}
    assert alice_client.post("/password/", new).status_code == 302
