"""Jobs with the real Anthropic library against the stand-in server, as a person gives and sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from bench.stand_in import running_stand_in
from tests.browser.conftest import first_start, sign_in
from tests.running import Up


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with (
        running_stand_in() as service,
        first_start(
            tmp_path_factory.mktemp("providers"),
            ANTHROPIC_API_KEY="sk-stand-in",
            ANTHROPIC_BASE_URL=service.url,
            AGENTWEB_RETRY_ENABLED="0",
        ) as up,
    ):
        yield up


def test_a_job_thinks_calls_tools_is_stopped_fails_and_goes_on(context: BrowserContext, served: Up) -> None:
    page = context.new_page()
    sign_in(page, served.link)
    page.goto(served.address)
    page.get_by_role("combobox", name="Model").select_option("anthropic/claude-sonnet-5")
    page.get_by_role("textbox", name="Message").fill("tools, please")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
    transcript = page.get_by_role("log", name="Transcript")
    expect(transcript).to_contain_text("That is what the tools said.", timeout=60_000)
    expect(transcript).to_contain_text("notes.txt")
    expect(transcript.locator(".tool")).to_have_count(3)
    expect(transcript).to_contain_text("The tools will know.")

    send(page, "slow")
    expect(page.locator("#live")).to_contain_text("A stand-in")
    page.get_by_role("button", name="Stop").click()
    expect(transcript).to_contain_text("Stopped by you")
    expect(stop_button(page)).to_be_hidden()

    send(page, "error in the middle")
    failed = transcript.locator(".notice--bad")
    expect(failed).to_contain_text("Overloaded", timeout=30_000)
    expect(failed).to_contain_text("Wait a moment, or choose another model")
    expect(failed).to_contain_text("What had arrived is kept.")
    expect(transcript).to_contain_text("This will not end well")
    expect(stop_button(page)).to_be_hidden()

    page.reload()
    expect(transcript).to_contain_text("This will not end well")
    send(page, "hello")
    expect(transcript).to_contain_text("Hello there.", timeout=30_000)


def send(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Message").fill(text)
    page.get_by_role("button", name="Send").click()


def stop_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Stop")
