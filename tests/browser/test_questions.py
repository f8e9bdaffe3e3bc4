"""Tools that ask first, in two browsers: seen in both, kept over a reload and a lost worker, answered by key or button."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import first_start
from tests.running import Up, wait_for

EDITS = [{"oldText": "Buy milk.", "newText": "Buy oats."}]
SCRIPT = {
    "replies": {
        "Change the notes": [
            [
                {"text": "I change the notes and look at them."},
                {"call": "edit", "arguments": {"path": "notes.txt", "edits": EDITS}, "id": "e1"},
                {"call": "bash", "arguments": {"command": "cat notes.txt"}, "id": "b1"},
            ]
        ],
        "remove them": [
            [{"call": "bash", "arguments": {"command": "rm notes.txt"}, "id": "b2"}],
            [{"text": "Then they stay."}],
        ],
    }
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("questions")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    with first_start(folder, AGENTWEB_SCRIPT=str(script)) as up:
        yield up


def question(page: Page, words: str) -> Locator:
    return page.get_by_role("group", name=words)


def test_a_question_is_seen_everywhere_and_answered_from_anywhere(
    page: Page, context: BrowserContext, server: Up
) -> None:
    notes = server.data.parent / "project" / "notes.txt"
    page.get_by_role("link", name="New session").click()
    page.get_by_role("combobox", name="Model").select_option("scripted/scripted")
    page.get_by_role("textbox", name="Message").fill("Hello.")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
    tools = page.get_by_role("combobox", name="Tools")
    expect(tools).to_have_value("all")
    with page.expect_response(re.compile(r"/tools/$")):
        tools.select_option("ask")
    page.reload()
    expect(tools).to_have_value("ask")
    page.get_by_role("textbox", name="Message").fill("Change the notes.")
    page.get_by_role("button", name="Send").click()

    change, command = "The agent wants to change a file", "The agent wants to run a command"
    expect(question(page, change)).to_contain_text("Buy oats.")
    expect(question(page, command)).to_contain_text("cat notes.txt")
    expect(page.locator("#run-status")).to_contain_text("Waits for your answer")
    assert Axe().run(page, {"include": [["#questions"]]}).violations_count == 0

    other = context.new_page()
    other.goto(page.url)
    expect(question(other, change)).to_be_visible()
    worker = server.children()["worker"]
    worker.kill()
    page.reload()
    # Both devices see it go when one of them answers.
    question(page, change).get_by_role("button", name="Allow", exact=True).click()
    expect(question(other, change)).to_have_count(0)
    other.get_by_role("textbox", name="Message").fill("Then remove them.")
    other.get_by_role("button", name="Steer").click()
    expect(other.get_by_role("list", name="Waiting messages")).to_contain_text("Then remove them.")
    question(other, command).focus()
    other.keyboard.press("y")
    wait_for(lambda: "worker" in server.children() and server.children()["worker"].pid != worker.pid)
    expect(page.get_by_role("article", name="Tool bash").last).to_contain_text("cat notes.txt")
    assert notes.read_text() == "Buy oats.\n"

    expect(question(page, command)).to_contain_text("rm notes.txt")
    page.set_viewport_size({"width": 390, "height": 844})
    question(page, command).get_by_role("button", name="Deny").click()
    expect(page.get_by_role("log", name="Transcript")).to_contain_text("Then they stay.")
    expect(page.locator("#run-status")).to_contain_text("Finished")
    assert notes.exists()
