"""The session page while things happen: by a real browser, with a driver in the place of the worker."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.stream_driver import StreamDriver
from tests.running import Up

TEXT = (
    "## What I found\n\nThe *first* paragraph with `code` and a [link](https://example.com/).\n\n"
    "```python\ndef double(x):\n    return 2 * x  # <b>twice</b>\n```\n\n- one\n- two\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end."
)


@pytest.fixture
def driver(server: Up) -> Iterator[StreamDriver]:
    driver = StreamDriver(server)
    yield driver
    driver.stop()


@pytest.fixture
def session(page: Page, server: Up, driver: StreamDriver) -> str:
    """The address of a session with one question, open in the page and connected."""
    address = f"{server.address}/s/{driver('session')}/"
    driver("entry", "user", "The question")
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("Connected")
    return address


def words(page: Page, selector: str) -> str:
    return " ".join(page.locator(selector).inner_text().split())


def test_an_answer_grows_and_its_entry_takes_its_place(
    page: Page, session: str, driver: StreamDriver
) -> None:
    driver("begin")
    driver("start")
    half = TEXT.index("return")
    for start in range(0, half, 9):
        driver("text", TEXT[start : min(start + 9, half)])
    answer = page.locator("#live [data-live=m1]")
    expect(answer).to_contain_text("def double")
    page.reload()
    expect(answer).to_contain_text("def double")
    for start in range(half, len(TEXT), 9):
        driver("text", TEXT[start : start + 9])
    expect(answer).to_contain_text("The end.")
    expect(answer.locator("h4")).to_have_text("What I found")
    grown = words(page, "#live .prose")
    seq = driver("entry", "assistant", TEXT)
    stored = page.locator(f"#entry-{seq}")
    expect(stored).to_contain_text("The end.")
    assert page.locator("#live [data-live=m1]").count() == 0
    assert words(page, f"#entry-{seq} .prose") == grown
    driver("event", {"type": "message_end", "seq": seq, "role": "assistant"})
    driver("end")
    expect(page.locator("#live > *")).to_have_count(0)
    ids = page.evaluate("[...document.querySelectorAll('#transcript .entry')].map(e => e.id)")
    assert ids == ["entry-1", "entry-2"]


def test_draft_and_focus_stay_where_they_are(page: Page, session: str, driver: StreamDriver) -> None:
    """B36."""
    composer = page.locator("prompt-composer textarea, form textarea").first
    composer.fill("half a thought")
    composer.focus()
    driver("begin")
    driver("start")
    driver("text", "Working")
    expect(page.locator("#live")).to_contain_text("Working")
    driver("entry", "assistant", "Working")
    driver("end")
    expect(page.locator("#entry-2")).to_be_visible()
    expect(composer).to_be_focused()
    expect(composer).to_have_value("half a thought")


def test_a_reader_further_up_is_left_in_peace(page: Page, session: str, driver: StreamDriver) -> None:
    for number in range(30):
        driver("entry", "user", f"message {number}\n\n" + "words " * 60)
    expect(page.locator("#entry-31")).to_be_visible()
    jump = page.locator("[data-jump]")
    expect(jump).to_be_hidden()
    middle = page.locator("#entry-15")
    middle.evaluate("e => e.scrollIntoView({block: 'start'})")
    expect(jump).to_be_visible()
    before = middle.bounding_box()
    driver("begin")
    driver("start")
    driver("text", "line\n\n" * 40)
    driver("entry", "user", "one more")
    expect(jump).to_have_text("Jump to latest, 1 new")
    after = middle.bounding_box()
    assert before
    assert after
    assert abs(before["y"] - after["y"]) < 2
    jump.click()
    expect(jump).to_be_hidden()
    expect(page.locator("#live [data-live=m1]")).to_be_in_viewport()
    driver("text", "more\n\n" * 40 + "the very end")
    expect(page.get_by_text("the very end")).to_be_in_viewport()
    driver("end")


def test_running_tools_show_the_end_of_their_output(page: Page, session: str, driver: StreamDriver) -> None:
    driver("begin")
    call = {"toolCallId": 'c"1', "toolName": "bash", "args": {"command": "make <x>"}}
    driver("event", {"type": "tool_execution_start", **call})
    card = page.locator("#live .entry--tool")
    expect(card).to_contain_text("make <x>")
    output = {"content": [{"type": "text", "text": "compiling <b>everything</b>"}]}
    driver("event", {"type": "tool_execution_update", **call, "partialResult": output})
    expect(card.locator(".tool__tail")).to_have_text("compiling <b>everything</b>")
    driver("event", {"type": "message_start", "message": {"role": "toolResult", "toolCallId": 'c"1'}})
    driver("event", {"type": "message_end", "role": "toolResult"})
    expect(card).to_have_count(0)
    driver("end")


def test_another_branch_replaces_the_transcript(page: Page, session: str, driver: StreamDriver) -> None:
    driver("entry", "user", "second")
    expect(page.locator("#entry-2")).to_be_visible()
    driver("go", 1)
    expect(page.locator("#entry-2")).to_have_count(0)
    driver("entry", "user", "another second")
    expect(page.locator("#entry-3")).to_be_visible()


def test_a_dead_socket_is_found_when_the_page_is_looked_at(
    page: Page, server: Up, driver: StreamDriver
) -> None:
    """B30."""
    sockets: list[bool] = []

    def swallow(route: WebSocketRoute) -> None:
        """The first socket goes silent once it has said hello; the next is a good one."""
        upstream = route.connect_to_server()
        first = not sockets
        sockets.append(first)
        if first:
            upstream.on_message(lambda text: route.send(text) if '"hello"' in str(text) else None)
            route.on_message(
                lambda text: upstream.send(text) if len(sockets) == 1 and "resume" in str(text) else None
            )

    page.route_web_socket(re.compile("/ws/s/"), swallow)
    page.goto(f"{server.address}/s/{driver('session')}/")
    expect(page.locator("#connection")).to_have_text("Connected")
    driver("entry", "user", "missed")
    page.wait_for_timeout(1100)
    # From now on nothing comes back at all.
    sockets.append(False)
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(page.locator("#entry-1")).to_be_visible(timeout=15_000)


def test_a_restarted_web_server_is_found_again(
    page: Page, session: str, server: Up, driver: StreamDriver
) -> None:
    driver("begin")
    driver("start")
    driver("text", "before ")
    expect(page.locator("#live")).to_contain_text("before")
    os.kill(server.children()["web"].pid, signal.SIGKILL)
    expect(page.locator("#connection")).to_contain_text("Connection lost. Jobs run on the server.")
    driver("entry", "user", "meanwhile")
    driver("text", "after")
    expect(page.locator("#connection")).to_have_text("Connected", timeout=60_000)
    expect(page.locator("#live")).to_contain_text("before after")
    expect(page.locator("#entry-2")).to_be_visible()
    driver("end")


def test_a_tab_left_open_over_an_update_keeps_its_draft_and_offers_a_reload(page: Page, session: str) -> None:
    page.get_by_role("textbox", name="Message").fill("half a thought")
    page.evaluate(
        "document.querySelector('session-stream')"
        ".dispatchEvent(new CustomEvent('agentweb:version', {bubbles: true, detail: {version: '99'}}))"
    )
    expect(page.get_by_text("The server has a new version. Your draft is kept.")).to_be_visible()
    page.get_by_role("button", name="Reload").click()
    expect(page.locator("#connection")).to_have_text("Connected")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("half a thought")
