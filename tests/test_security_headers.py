"""What the browser is told it may do, and that no page needs more than that."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, RequestFactory

from sessions_app.models import Session, Workspace
from sessions_app.services import accounts
from sessions_app.views import errors

TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))


class Unsafe(HTMLParser):
    """Collects whatever the policy would refuse: inline scripts, styles and handlers, foreign addresses."""

    def __init__(self, nonce: str = "") -> None:
        super().__init__()
        self.nonce = nonce
        self.found: list[str] = []
        self.import_maps: list[str] = []
        self._in_map = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if tag == "style":
            self.found.append("a style element")
        if tag == "script":
            self._in_map = facts.get("type") == "importmap"
            if not self._in_map and "src" not in facts:
                self.found.append("an inline script")
            if self.nonce and facts.get("nonce") != self.nonce:
                self.found.append("a script without the nonce")
        for name, value in attrs:
            if name == "style" or name.startswith(("on", "hx-on")):
                self.found.append(f"{name} on <{tag}>")
            if name in {"src", "href", "action"} and (value or "").strip().lower().startswith(
                ("javascript:", "http:", "https:", "//")
            ):
                self.found.append(f"{name}={value}")

    def handle_data(self, data: str) -> None:
        if self._in_map:
            self.import_maps.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_map = False


def policy_of(response: HttpResponse) -> dict[str, list[str]]:
    parts = response.headers["Content-Security-Policy"].split("; ")
    return {part.split()[0]: part.split()[1:] for part in parts}


def check(response: HttpResponse) -> None:
    script_sources = policy_of(response)["script-src"]
    nonce = script_sources[1].removeprefix("'nonce-").removesuffix("'")
    page = Unsafe(nonce)
    page.feed(response.content.decode())
    assert page.found == []
    assert len(page.import_maps) == 1


@pytest.mark.parametrize(
    "address", ["/", "/welcome/", "/workspaces/new/", "/keys/", "/?q=none", "/nothing/here/", "/s/nope/"]
)
def test_no_page_needs_more_than_the_policy_allows(
    alice_client: Client, session: Session, address: str
) -> None:
    check(alice_client.get(address))


def test_the_session_page_needs_no_more_than_the_policy_allows(
    alice_client: Client, session: Session
) -> None:
    check(alice_client.get(f"/s/{session.key}/"))


@pytest.mark.parametrize("address", ["/login/", "/login/not-a-token/", "/nothing/here/"])
def test_no_page_before_signing_in_needs_more_than_the_policy_allows(
    client: Client, db: None, address: str
) -> None:
    check(client.get(address))


def test_the_page_of_a_good_link_needs_no_more_than_the_policy_allows(client: Client, alice: User) -> None:
    check(client.get(f"/login/{accounts.create_login_link(user=alice)}/"))


def test_the_page_of_a_broken_server_runs_no_script() -> None:
    page = Unsafe()
    page.feed(errors.server_error(RequestFactory().get("/")).content.decode())
    assert page.found == []


@pytest.mark.parametrize(
    "path", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR / "templates"))
)
def test_no_template_holds_an_inline_script_style_or_handler(path: Path) -> None:
    if path.name == "export.html":
        # A file that people keep, never a page of the server; it has a stricter policy of its own inside.
        assert "default-src 'none'" in path.read_text(encoding="utf-8")
        return
    template = Unsafe()
    template.feed(path.read_text(encoding="utf-8"))
    assert template.found == []


def test_nothing_is_allowed_but_the_products_own_files(client: Client, db: None) -> None:
    policy = policy_of(client.get("/login/"))
    assert policy["default-src"] == ["'none'"]
    assert policy["style-src"] == ["'self'"]
    assert policy["frame-ancestors"] == ["'none'"]
    assert policy["base-uri"] == ["'none'"]
    assert policy["form-action"] == ["'self'"]
    assert policy["img-src"] == ["'self'", "data:", "blob:"]
    assert policy["connect-src"] == ["'self'", "ws://testserver"]
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*"} & {
        word for words in policy.values() for word in words
    }


def test_each_answer_has_a_nonce_of_its_own(client: Client, db: None) -> None:
    assert policy_of(client.get("/login/"))["script-src"] != policy_of(client.get("/login/"))["script-src"]


def test_answers_that_are_no_pages_carry_the_policy_too(alice_client: Client) -> None:
    assert "Content-Security-Policy" in alice_client.get("/health/").headers


def test_a_part_is_never_kept_as_if_it_were_the_page(alice_client: Client, session: Session) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        assert "HX-Request" in alice_client.get("/", headers=headers).headers["Vary"]


def test_htmx_evaluates_nothing_and_adds_no_styles(client: Client, db: None) -> None:
    text = client.get("/login/").content.decode()
    assert "&quot;allowEval&quot;: false" in text
    assert "&quot;includeIndicatorStyles&quot;: false" in text


def test_the_import_map_names_every_module_by_its_file(client: Client, db: None) -> None:
    page = Unsafe()
    page.feed(client.get("/login/").content.decode())
    named = json.loads(page.import_maps[0])["imports"]
    files = {path.stem for path in (settings.BASE_DIR / "static" / "js").glob("*.js")}
    assert set(named) == files
    assert all(named[name].endswith(f"js/{name}.js") for name in named)


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_command_without_the_form_token_is_refused(
    alice: User, workspace: Workspace, headers: dict[str, str]
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    response = client.post("/", {"workspace": workspace.pk, "text": "Summarise this folder"}, headers=headers)
    assert response.status_code == 403
    assert response.headers["X-Form-Expired"] == "1"
    assert not Session.objects.exists()


def test_a_foreign_host_name_gets_nothing(client: Client, db: None) -> None:
    assert client.get("/login/", headers={"Host": "evil.example"}).status_code == 400
