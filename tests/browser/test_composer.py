"""The composer while things take their time: words are sent once, in order, and never lost."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import wait_for_elements
from tests.browser.stream_driver import StreamDriver
from tests.running import Up


@pytest.fixture
def driver(server: Up) -> Iterator[StreamDriver]:
    driver = StreamDriver(server)
    yield driver
    driver.stop()


def test_words_written_while_others_are_on_their_way_go_next(
    page: Page, server: Up, driver: StreamDriver
) -> None:
    """B36."""
    address = f"{server.address}/s/{driver('session')}/"
    driver("entry", "user", "The question")
    driver("begin")
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("Connected")
    on_their_way: list[Route] = []

    def hold(route: Route) -> None:
        on_their_way.append(route)

    page.route("**/prompt/", hold, times=1)
    field = page.get_by_role("textbox", name="Message")
    field.fill("first words")
    field.press("Enter")
    expect(page.locator("prompt-composer form.htmx-request")).to_have_count(1)
    field.fill("first words then others")
    field.press("Alt+Enter")
    field.press("Alt+Enter")
    on_their_way[0].continue_()
    waiting = page.get_by_role("list", name="Waiting messages").get_by_role("listitem")
    expect(waiting.locator("> .clip")).to_have_text(["first words", "then others"])
    expect(waiting.locator("> .chip")).to_have_text(["Steer · next step", "After this job"])
    expect(field).to_have_value("")
    driver("end")


def test_a_transcript_that_cannot_be_fetched_is_no_script_error(
    page: Page, server: Up, driver: StreamDriver
) -> None:
    """The page fixture looks for those; the words have arrived, and the socket will bring them."""
    address = f"{server.address}/s/{driver('session')}/"
    page.route_web_socket(re.compile("/ws/s/"), lambda socket: None)
    page.goto(address)
    wait_for_elements(page)
    tried: list[str] = []

    def lose(route: Route) -> None:
        tried.append(route.request.url)
        route.abort()

    page.route(address, lose)
    field = page.get_by_role("textbox", name="Message")
    field.fill("hello")
    field.press("Enter")
    expect(field).to_have_value("")
    page.wait_for_timeout(2000)
    assert tried == [address]


def test_files_commands_and_earlier_words_come_by_keys_alone(
    page: Page, server: Up, driver: StreamDriver
) -> None:
    address = f"{server.address}/s/{driver('session')}/"
    driver("entry", "user", "The question\nin two lines")
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("Connected")
    field = page.get_by_role("textbox", name="Message")
    suggestions = page.get_by_role("listbox", name="Suggestions").get_by_role("option")

    field.press("ArrowUp")
    expect(field).to_have_value("The question\nin two lines")
    field.press("Control+a")
    field.press("Delete")

    field.press_sequentially("Read @not")
    expect(suggestions.first).to_have_text("notes.txt")
    expect(field).to_have_attribute("aria-activedescendant", "completion-0")
    field.press("Enter")
    expect(field).to_have_value("Read @notes.txt ")
    page.reload()
    expect(field).to_have_value("Read @notes.txt ")
    field.fill("")

    field.press_sequentially("/co")
    expect(suggestions.locator("b")).to_have_text(["compact", "copy"])
    field.press("Escape")
    expect(suggestions).to_have_count(0)
    field.fill("/nmae Harbour")
    field.press("Enter")
    expect(page.locator(".composer__size")).to_contain_text("Did you mean /name?")
    field.fill("/name Harbour")
    field.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbour")
    expect(field).to_have_value("")

    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Command palette")
    name = palette.get_by_role("combobox")
    name.fill("keyboard")
    expect(palette.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    name.fill("Harb")
    expect(palette.get_by_role("option").first).to_contain_text("Harbour")
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()


def test_a_pasted_file_goes_where_one_says(page: Page, server: Up, driver: StreamDriver) -> None:
    address = f"{server.address}/s/{driver('session')}/"
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("Connected")
    field = page.get_by_role("textbox", name="Message")
    paste = """([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      document.getElementById("message").dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(paste, ["table.csv", "a,b\n1,`x`\n"])
    dialog = page.get_by_role("dialog", name="Add files")
    expect(dialog.get_by_role("radio", name="Into the message")).to_be_checked()
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(field).to_have_value("table.csv:\n```\na,b\n1,`x`\n```\n")
    field.fill("")
    page.evaluate(paste, ["with blank.bin", "\0\1"])
    expect(dialog.get_by_role("radio", name="Into the message")).to_be_disabled()
    dialog.get_by_role("textbox", name="Folder").fill("../out")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("can't be put into")
    dialog.get_by_role("textbox", name="Folder").fill("taken in")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(field).to_have_value('@"taken in/with blank.bin" ')
