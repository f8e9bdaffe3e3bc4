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
