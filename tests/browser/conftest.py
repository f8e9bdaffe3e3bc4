"""A real server and a real Chromium: everything started as a person would start it, signed in by the link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.chromium import find_chromium
from tests.running import Up, started

# Other work shares the machine: what will come, comes, but not always within five seconds.
expect.set_options(timeout=20_000)

SWITCHES = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    # As root there is no sandbox; and no page but ours is ever opened.
    "--no-sandbox",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in Path(item.path).parent.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = find_chromium()
    assert executable, (
        "no Chromium on this machine: .venv/bin/python -m tests.browser.chromium finds or installs one"
    )
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One server for all browser tests that do not need their own, with a workspace folder beside its data."""
    with first_start(tmp_path_factory.mktemp("browser")) as up:
        yield up


def first_start(folder: Path, **variables: str):  # type: ignore[no-untyped-def]
    """`agentweb up` on an empty data directory, with `folder/project` (one file) to work in."""
    project = folder / "project"
    project.mkdir()
    (project / "notes.txt").write_text("Buy milk.\n", encoding="utf-8")
    return started(folder / "data", "--workspace", str(project), **variables)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile of its own: no cookies, English, a laptop's window."""
    opened = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-GB", reduced_motion="reduce"
    )
    opened.set_default_timeout(20_000)
    yield opened
    opened.close()


def wait_for_elements(page: Page) -> None:
    """Custom elements are imported after the page has loaded; a key pressed before that is only a character."""
    page.wait_for_function("() => !document.querySelector(':not(:defined)')")


@pytest.fixture
def page(context: BrowserContext, server: Up) -> Iterator[Page]:
    """A page signed in as the operator, on the start page. Fails the test on a script's error."""
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    sign_in(opened, fresh_link(server))
    yield opened
    assert errors == []


def sign_in(page: Page, link: str) -> None:
    """Opens a one-time link and presses its button."""
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/login/" not in url)


def fresh_link(up: Up) -> str:
    """Each link signs in once; the one printed at start is for the first test that asks for it."""
    import subprocess

    from tests.running import AGENTWEB

    done = subprocess.run(
        [*AGENTWEB, "login-link"],
        env=up.environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=os.getcwd(),
    )
    return done.stdout.strip()
