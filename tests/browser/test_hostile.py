"""A hostile session, folder and server, every page of it visited in Chromium: nothing runs, loads or leads away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import first_start, sign_in
from tests.hostile import PAYLOADS
from tests.running import Up

# What text must never become, wherever it comes from.
FOREIGN = """() => [...document.querySelectorAll('*')].flatMap((element) =>
  [...element.attributes].filter(({ name, value }) =>
    name.startsWith('on') || /^\\s*(javascript|data:text)/i.test(value) ||
    (/^(src|href|action|srcdoc|hx-[a-z]+)$/.test(name) && /evil\\.example/.test(value) && !element.matches('.prose a[rel]')) ||
    (/^(data-)?hx-/.test(name) && element.closest('.prose')))
  .map(({ name, value }) => `<${element.localName} ${name}="${value.slice(0, 80)}">`))"""
KINDS = (
    "() => [...document.querySelectorAll('.prose *')].filter((e) => !e.closest('copy-button')).map((e) => e.localName)"
    ".filter((n) => /^(script|style|iframe|form|input|button|svg|math|meta|base|link|template|img|.*-.*)$/.test(n))"
)


class Watch:
    """What a page did that it should not have; `seen` are the pages visited."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.found: list[str] = []
        page.on("dialog", lambda dialog: (self.found.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: self.found.append(f"error {error}"))
        page.on("request", lambda request: self.asked(request.url))
        page.on("websocket", lambda socket: self.asked(socket.url.replace("ws://", "http://")))
        page.add_init_script(
            "document.addEventListener('securitypolicyviolation', (event) => console.error('CSP', event.violatedDirective,"
            " event.blockedURI, event.sample, event.sourceFile))"
        )
        page.on("console", lambda line: self.found.append(line.text) if "CSP" in line.text else None)

    def asked(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.found.append(f"request to {url[:100]}")

    def visit(self, path: str) -> None:
        self.page.goto(f"{self.address}{path}", wait_until="load")
        self.look(path)

    def look(self, where: str) -> None:
        self.page.wait_for_timeout(150)
        self.found += self.page.evaluate(FOREIGN) + self.page.evaluate(KINDS)
        assert self.found == [], where
        assert self.page.url.startswith(self.address)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    folder: Path = tmp_path_factory.mktemp("hostile")
    with first_start(folder) as up:
        done = subprocess.run(
            [sys.executable, "-m", "tests.hostile", str(folder)],
            env=up.environment | {"DJANGO_SETTINGS_MODULE": "agentweb.settings"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        yield up, done.stdout.split()


def test_nothing_of_a_hostile_session_runs_or_leads_away(
    context: BrowserContext, hostile: tuple[Up, list[str]]
) -> None:
    """B52."""
    up, (key, _) = hostile
    page = context.new_page()
    sign_in(page, up.link)
    watch = Watch(page, up.address)
    for path in ("/", "/keys/", "/workspaces/new/", "/welcome/", f"/s/{key}/tree/"):
        watch.visit(path)
    for text in PAYLOADS[:4]:
        asked = quote(text)
        for path in (
            "/?q=",
            "/workspaces/new/?path=",
            "/login/?next=",
            "/login/",
            f"/s/{key}/older/?before=",
            "/",
        ):
            watch.visit(path + asked + ("/" if path == "/login/" else ""))

    watch.visit(f"/s/{key}/")
    # All that is folded, the older entries, and the row of each.
    while page.locator("#transcript [hx-get*='/older/']").count():
        before = page.locator("#transcript .entry").count()
        page.locator("#transcript [hx-get*='/older/']").first.click()
        page.wait_for_function("n => document.querySelectorAll('#transcript .entry').length > n", arg=before)
    page.evaluate("document.querySelectorAll('details').forEach((element) => { element.open = true })")
    watch.look("the whole transcript")
    articles = page.locator("#transcript article").count()
    assert articles > 40
    for kind in ("user", "assistant", "tool", "folded", "branch", "custom", "note"):
        assert page.locator(f"#transcript .entry--{kind}").count(), kind
    expect(page.locator("#transcript")).to_contain_text("<img src=x onerror=alert(1)>")
    for number in range(1, articles + 2):
        answer = page.request.get(f"{up.address}/s/{key}/entries/{number}/?full=1")
        assert answer.status == 200, number
    for number in (1, 4, 20, 31, 45):
        watch.visit(f"/s/{key}/entries/{number}/?full=1")
        page.evaluate("document.querySelectorAll('details').forEach((element) => { element.open = true })")
        watch.look(f"entry {number}")


def test_what_people_type_stays_what_they_typed(
    context: BrowserContext, hostile: tuple[Up, list[str]]
) -> None:
    up, (_, key) = hostile
    from tests.browser.conftest import fresh_link

    page = context.new_page()
    sign_in(page, fresh_link(up))
    watch = Watch(page, up.address)
    watch.visit(f"/s/{key}/")
    token = page.locator("[name=csrfmiddlewaretoken]").first.get_attribute("value") or ""
    for text in PAYLOADS[:6]:
        for path, fields in (
            ("name/", {"name": text}),
            ("entries/1/label/", {"label": text}),
            ("model/", {"model": f"openai-compatible/{text}"}),
            ("prompt/", {"text": text, "mode": text}),
            ("entries/1/branch/", {"text": text}),
        ):
            page.request.post(
                f"{up.address}/s/{key}/{path}",
                form={**fields, "csrfmiddlewaretoken": token},
                headers={"HX-Request": "true", "Origin": up.address},
            )
        watch.visit(f"/s/{key}/")
    page.get_by_role("textbox", name="Message").fill(PAYLOADS[0])
    page.get_by_role("button", name="Send").or_(page.get_by_role("button", name="Steer")).first.click()
    page.wait_for_timeout(1500)
    watch.look("after sending")
    watch.visit("/")


def test_the_watch_sees_what_it_looks_for(context: BrowserContext, hostile: tuple[Up, list[str]]) -> None:
    up, _ = hostile
    page = context.new_page()
    page.goto(f"{up.address}/login/")
    watch = Watch(page, up.address)
    page.goto(f"{up.address}/login/")
    page.evaluate(
        """() => document.body.insertAdjacentHTML("beforeend",
        `<img src="http://evil.example/p.png" onerror="alert(1)"><div class="prose"><form hx-get="/"></form></div>`)"""
    )
    with pytest.raises(AssertionError):
        watch.look("a page with script in it")
    for sign in ("CSP img-src", "<img onerror=", "<img src=", "<form hx-get=", "form"):
        assert any(found.startswith(sign) for found in watch.found), sign
