"""Bad input in a real browser: text that is no prompt, a key that is missing, a folder that is gone, a second user."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import first_start, fresh_link, sign_in
from tests.running import AGENTWEB, Up


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with first_start(tmp_path_factory.mktemp("broken"), AGENTWEB_RETRY_ENABLED="0") as up:
        yield up


def begin(page: Page, up: Up, text: str, model: str) -> None:
    page.goto(up.address)
    page.get_by_role("combobox", name="Model").select_option(model)
    page.get_by_role("textbox", name="Message").fill(text)
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))


def greeted(page: Page, up: Up) -> None:
    """A session whose first job is over: its answer is there, not only its Stop button gone."""
    begin(page, up, "Hello", "demo/demo")
    log = page.get_by_role("log", name="Transcript")
    expect(log).to_contain_text("The demo model does plain jobs", timeout=40_000)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=40_000)


def test_what_is_no_prompt_is_refused_and_stays(context: BrowserContext, broken: Up) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sign_in(page, fresh_link(broken))
    for address in (broken.address, None):
        if address is None:
            greeted(page, broken)
        else:
            page.goto(address)
        message = page.get_by_role("textbox", name="Message")
        message.fill("before ")
        page.evaluate("navigator.clipboard.writeText('words '.repeat(900000))")
        message.focus()
        page.keyboard.press("ControlOrMeta+V")
        expect(page.get_by_text("5.4 MB is too much")).to_be_visible()
        assert message.input_value() == "before "
        message.evaluate("field => { field.value = 'a\\0b' }")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#notices")).to_contain_text("binary data")
        expect(page.locator("#notices")).to_contain_text("name the file")
        assert message.input_value() == "a\0b"


def test_a_key_that_goes_in_the_middle_is_said_and_another_model_goes_on(
    context: BrowserContext, broken: Up
) -> None:
    page = context.new_page()
    sign_in(page, fresh_link(broken))
    page.goto(broken.address)
    option = page.get_by_role("combobox", name="Model").locator("option[value='anthropic/claude-sonnet-5']")
    expect(option).to_be_disabled()
    # Port 9: nobody listens.
    inside(broken, "save_key(user=None, provider='anthropic', secret='sk-x', base_url='http://127.0.0.1:9')")
    begin(page, broken, "List the files", "anthropic/claude-sonnet-5")
    expect(page.get_by_role("main").get_by_text("The provider can't be reached.").last).to_be_visible(
        timeout=60_000
    )
    inside(broken, "delete_key(user=None, provider='anthropic')")
    page.get_by_role("button", name="Continue").click(timeout=90_000)
    expect(page.get_by_role("main").get_by_text("There is no key for Anthropic.")).to_be_visible(
        timeout=20_000
    )
    page.get_by_role("combobox", name="Model").select_option("demo/demo")
    page.get_by_role("button", name="Continue").last.click()
    expect(page.get_by_role("log", name="Transcript")).to_contain_text("notes.txt", timeout=30_000)


def inside(up: Up, code: str) -> None:
    """Runs a line with the server's settings."""
    head = "import django; django.setup(); from django.contrib.auth.models import User;"
    subprocess.run(
        [AGENTWEB[0], "-c", f"{head} from sessions_app.provider_keys import *; {code}"],
        env=up.environment | {"DJANGO_SETTINGS_MODULE": "agentweb.settings"},
        check=True,
    )


def test_a_folder_that_is_gone_is_said_and_its_return_lets_it_go_on(
    context: BrowserContext, broken: Up
) -> None:
    page = context.new_page()
    sign_in(page, fresh_link(broken))
    greeted(page, broken)
    folder: Path = broken.data.parent / "project"
    shutil.rmtree(folder)
    try:
        page.get_by_role("textbox", name="Message").fill("List the files")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("main").get_by_text("is gone. Put it back").last).to_be_visible(
            timeout=20_000
        )
    finally:
        folder.mkdir()
        (folder / "notes.txt").write_text("Buy milk.\n", encoding="utf-8")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("log", name="Transcript")).to_contain_text("notes.txt", timeout=30_000)


def test_a_second_user_ends_local_execution_in_both_faces(context: BrowserContext, broken: Up) -> None:
    page = context.new_page()
    sign_in(page, fresh_link(broken))
    greeted(page, broken)
    how = {"env": broken.environment, "capture_output": True, "text": True, "check": False}
    subprocess.run([*AGENTWEB, "user", "add", "second"], **how)  # type: ignore[call-overload]
    try:
        page.get_by_role("textbox", name="Message").fill("List the files")
        page.get_by_role("button", name="Send").click()
        notices = page.locator("#notices")
        expect(notices).to_contain_text("more than one active user")
        expect(notices).to_contain_text("AGENTWEB_ALLOW_LOCAL_EXECUTION=1")
        assert page.get_by_role("textbox", name="Message").input_value() == "List the files"
        page.goto(broken.address)
        expect(page.get_by_text("Agents can’t run commands here.")).to_be_visible()
        done = subprocess.run([*AGENTWEB, "prompt", "Hello"], cwd=broken.data.parent / "project", **how)  # type: ignore[call-overload]
        assert done.returncode == 2
        assert "more than one active user" in done.stderr
        assert "AGENTWEB_ALLOW_LOCAL_EXECUTION=1" in done.stderr
    finally:
        inside(broken, "User.objects.filter(username='second').update(is_active=False)")
