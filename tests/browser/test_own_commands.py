"""A person's own commands in the browser: seen while they print, stopped, told to the model or not."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def test_own_commands_are_followed_stopped_and_kept(page: Page) -> None:
    page.get_by_role("link", name="New session").click()
    page.get_by_role("textbox", name="Message").fill("What can you do?")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
    expect(page.locator("#run-status")).to_contain_text("Finished")
    message = page.get_by_role("textbox", name="Message")
    message.fill("!!cat notes.txt")
    expect(page.locator("own-command-hint")).to_contain_text("the agent is not told")
    message.press("Enter")
    log = page.get_by_role("log", name="Transcript")
    expect(log.locator(".tool", has_text="not told to the model")).to_contain_text("cat notes.txt")
    expect(message).to_have_value("")
    expect(page.locator("own-command-hint")).to_be_hidden()

    message.fill("!for i in 1 2 3; do echo line $i; sleep 0.4; done; sleep 300")
    expect(page.locator("own-command-hint")).to_contain_text("is told its output")
    message.press("Enter")
    running = page.get_by_role("article", name="Your command, running")
    expect(running).to_contain_text("line 3")
    expect(running).to_contain_text("Running for")
    page.reload()
    expect(running).to_contain_text("line 3")
    running.get_by_role("button", name="Stop command").click()
    expect(running).to_have_count(0)
    expect(log.locator(".tool--stopped")).to_contain_text("Stopped")
