"""The list of sessions beside the open one says what is so: while a job runs, when it has ended, and elsewhere."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.running import Up


def test_the_list_says_that_a_job_has_ended_as_soon_as_the_header_does(page: Page) -> None:
    page.get_by_role("textbox", name="Message").fill("run sleep 8")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/s/**")
    row = page.locator(".session[aria-current=page]")
    expect(row).to_contain_text(re.compile(r"Running [1-9]\d* s"), timeout=10_000)
    expect(page.locator("#running-count")).to_have_text("1 running")
    expect(page.locator("#run-status")).to_contain_text("Finished", timeout=60_000)
    expect(row).to_contain_text("Finished", timeout=2_000)
    expect(page.locator("#running-count")).to_have_text("", timeout=2_000)
    # Beside the open page: renamed by keys alone, put away, and taken back.
    here = page.url
    more = page.get_by_role("button", name=re.compile("^Actions for ")).first
    more.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("Harbour watch")
    page.keyboard.press("Enter")
    row = page.get_by_role("navigation", name="Sessions").get_by_role(
        "link", name=re.compile("Harbour watch")
    )
    expect(row).to_be_visible()
    row.hover()
    page.get_by_role("button", name="Actions for Harbour watch").click()
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(row).to_have_count(0)
    assert page.url == here
    page.get_by_role("status").filter(has_text="Archived: Harbour watch").get_by_role(
        "button", name="Undo"
    ).click()
    expect(row).to_be_visible()


def test_the_end_of_another_session_s_job_is_noticed_within_seconds(page: Page, server: Up) -> None:
    page.get_by_role("textbox", name="Message").fill("run sleep 4")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/s/**")
    name = page.url.rstrip("/").rpartition("/")[2]
    page.goto(f"{server.address}/keys/")
    row = page.locator(f"#session-row-{name}")
    expect(row).to_contain_text("Finished", timeout=14_000)
