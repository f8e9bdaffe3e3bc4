"""A review in Chromium: from the divider to the report, by keyboard, on a phone, with a real worker behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import first_start, wait_for_elements
from tests.browser.test_compaction import begin, cards, compact, say
from tests.running import Up

SUMMARY = "## Goal\n\nKeep the harbour book.\n\n## Next Steps\n\n1. Read the tide table."
SCRIPT = {
    "answers": [
        [{"text": f"Answer {number}. " + "The tide comes in twice a day. " * 60}] for number in range(12)
    ],
    "replies": {
        "Keep every rule": [[{"text": "## Goal\n\nNever touch the lock."}]] * 9,
        "Use exactly these headings": [[{"text": SUMMARY}]] * 99,
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("reviews")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    with first_start(folder, AGENTWEB_SCRIPT=str(script), AGENTWEB_COMPACTION_KEEP_RECENT_TOKENS="150") as up:
        yield up


def test_a_summary_is_checked_edited_regenerated_reverted_and_undone(page: Page) -> None:
    begin(page, "Never touch the lock of gate 7, its file is docs/gate.md.")
    say(page, "And the second tide?")
    session = page.url
    compact(page)
    expect(cards(page)).to_have_count(1)
    divider = cards(page).last
    divider.locator("summary").first.click()
    divider.get_by_role("link", name="Review").click()

    # The report comes by itself, from a worker.
    report = page.get_by_role("region", name="Report")
    expect(report).to_contain_text("Coverage, weighted")
    expect(report).to_contain_text("Never touch the lock of gate 7")
    wait_for_elements(page)
    assert not [
        v["id"] for v in Axe().run(page).response["violations"] if v["impact"] in ("critical", "serious")
    ]

    # Pin by keyboard.
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Pinned")).to_be_visible()
    expect(page.get_by_role("region", name="Summary")).to_contain_text("Carried along word for word")

    # Edit by keyboard, with the coverage as one types.
    page.keyboard.press("e")
    editor = page.get_by_role("textbox", name="Summary, Markdown")
    expect(editor).to_be_focused()
    editor.press("Control+End")
    editor.type("\n- Never touch the lock of gate 7, see docs/gate.md")
    expect(page.get_by_text("as you type")).to_be_visible()
    page.get_by_role("button", name="Put in force").click()
    expect(page.get_by_role("region", name="Summary")).to_contain_text("see docs/gate.md")

    # A candidate is written by a run and chosen.
    page.get_by_role("link", name="Regenerate").first.click()
    page.get_by_role("textbox", name="What the summary should keep").fill("Keep every rule")
    page.get_by_role("button", name="Write a candidate").click()
    page.get_by_role("button", name="Choose").click()
    expect(page.get_by_role("region", name="Summary")).to_contain_text("Never touch the lock.")

    # Reverted, and back, on a phone.
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name="Revert to the originals").click()
    page.get_by_role("button", name="Summary", exact=True).click()
    expect(page.get_by_text("The originals are in force")).to_be_visible()
    page.get_by_role("button", name="Undo").first.click()
    page.get_by_role("button", name="Summary", exact=True).click()
    expect(page.get_by_role("region", name="Summary")).to_contain_text("Never touch the lock.")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")

    # And the list knows.
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(session)
    page.get_by_role("link", name="Compaction reviews").first.click()
    expect(page.get_by_role("table")).to_contain_text("Edited by")
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Approve marked").click()
    expect(page.get_by_role("table")).to_contain_text("Approved by")
