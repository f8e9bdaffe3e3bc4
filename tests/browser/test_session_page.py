"""What stands around a conversation: who writes, marks of what ended unseen, links to entries, panels, the phone's chip."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.stream_driver import StreamDriver
from tests.running import Up


@pytest.fixture
def driver(server: Up) -> Iterator[StreamDriver]:
    driver = StreamDriver(server)
    yield driver
    driver.stop()


def no_violations(page: Page, where: str) -> None:
    found = Axe().run(page).response["violations"]
    assert [(it["id"], [node["html"] for node in it["nodes"]]) for it in found] == [], where


def test_the_writer_stands_above_the_words_and_an_unseen_end_marks_the_title(
    page: Page, server: Up, driver: StreamDriver
) -> None:
    address = f"{server.address}/s/{driver('session')}/"
    driver("entry", "user", "The question")
    driver("begin")
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("Connected")
    driver("start")
    driver("text", "The first words")
    words = page.locator("#live .prose")
    expect(words).to_have_text("The first words")
    name = page.locator("#live h3").filter(visible=True)
    expect(name).to_have_count(1)
    above, below = name.bounding_box(), words.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"] + 1
    driver(
        "event",
        {"type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "delayMs": 9000, "errorMessage": "529"},
    )
    expect(page.get_by_role("article", name="Trying again")).to_contain_text("attempt 1 of 3")
    # Nobody looks at the page when the job ends.
    page.evaluate("document.hasFocus = () => false")
    driver("end")
    expect(page).to_have_title("● The question · agentweb")
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(page).to_have_title("The question · agentweb")


def test_a_link_leads_to_an_entry_far_above_and_from_there_back_to_the_newest(
    page: Page, server: Up, driver: StreamDriver
) -> None:
    address = f"{server.address}/s/{driver('session')}/"
    seqs = [driver("entry", "user", f"Entry number {number}") for number in range(130)]
    page.goto(f"{address}#entry-{seqs[3]}")
    expect(page.locator(f"#entry-{seqs[3]}")).to_be_in_viewport()
    assert page.url.endswith(f"#entry-{seqs[3]}")
    page.get_by_role("link", name="Later entries").click()
    expect(page.locator(f"#entry-{seqs[-1]}")).to_be_in_viewport()
    page.goto(f"{address}#entry-999")
    expect(page.get_by_text("No such")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_panels_are_reached_by_name_and_are_accessible(
    page: Page, server: Up, driver: StreamDriver, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    address = f"{server.address}/s/{driver('session')}/"
    driver("entry", "user", "The question")
    driver("entry", "assistant", "The answer")
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("Connected")
    field = page.get_by_role("textbox", name="Message")
    field.press_sequentially("/")
    expect(page.get_by_role("listbox", name="Suggestions")).to_be_visible()
    no_violations(page, "commands")
    field.fill("/session")
    field.press("Enter")
    expect(page.get_by_role("dialog", name="What happened")).to_contain_text("Begun by you")
    no_violations(page, "what happened")
    page.keyboard.press("Escape")
    field.fill("/changes")
    field.press("Enter")
    expect(page.get_by_role("dialog", name="Changes")).to_contain_text("changed no file yet")
    no_violations(page, "changes")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Command palette")).to_be_visible()
    no_violations(page, "palette")
    page.keyboard.press("Escape")
    if width == 390:
        expect(page.get_by_role("combobox", name="Model")).to_be_hidden()
        page.get_by_role("button", name="Model and context").click()
        expect(page.get_by_role("combobox", name="Model")).to_be_visible()
        no_violations(page, "model and context")
        page.keyboard.press("Escape")
        expect(page.get_by_role("combobox", name="Model")).to_be_hidden()
    page.goto(f"{address}print/")
    expect(page.get_by_text("The answer")).to_be_visible()
    no_violations(page, "print")


def test_back_and_forward_walk_dialogs_and_branches(page: Page, server: Up, driver: StreamDriver) -> None:
    address = f"{server.address}/s/{driver('session')}/"
    first = driver("entry", "user", "The question")
    left = driver("entry", "assistant", "One answer")
    driver("go", first)
    right = driver("entry", "assistant", "Another answer")
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("Connected")
    article = page.locator(f"#entry-{right}")
    article.hover()
    article.get_by_role("button", name="Version before").click()
    expect(page.locator(f"#entry-{left}")).to_be_visible()
    page.go_back()
    expect(page.locator(f"#entry-{right}")).to_be_visible()
    expect(page.locator(f"#entry-{left}")).to_have_count(0)
    page.go_forward()
    expect(page.locator(f"#entry-{left}")).to_be_visible()

    field = page.get_by_role("textbox", name="Message")
    field.fill("/session")
    field.press("Enter")
    dialog = page.get_by_role("dialog", name="What happened")
    expect(dialog).to_be_visible()
    assert page.url == f"{address}history/"
    page.go_back()
    expect(dialog).to_be_hidden()
    assert page.url == address
    page.go_forward()
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.wait_for_url(address)
    expect(page.locator(f"#entry-{left}")).to_be_visible()


def test_a_job_that_ends_in_another_session_leaves_a_mark_until_it_is_looked_at(
    page: Page, server: Up, driver: StreamDriver
) -> None:
    other = StreamDriver(server)
    try:
        address = f"{server.address}/s/{driver('session')}/"
        driver("entry", "user", "The one that is open")
        key = other("session")
        other("entry", "user", "The other one")
        other("begin")
        page.goto(address)
        expect(page.locator("#connection")).to_have_text("Connected")
        row = page.locator(f"#session-row-{key}")
        expect(row.locator(".glyph--running")).to_have_count(1)
        page.wait_for_timeout(1100)
        other("entry", "assistant", "Done")
        page.evaluate("document.hasFocus = () => false")
        other("end")
        page.evaluate("htmx.trigger(document.body, 'sessions-changed')")
        expect(row).to_contain_text("unread")
        expect(page).to_have_title("● The one that is open · agentweb")
        row.click()
        page.wait_for_url(f"**/s/{key}/")
        page.goto(address)
        expect(row).to_be_visible()
        expect(row).not_to_contain_text("unread")
    finally:
        other.stop()
