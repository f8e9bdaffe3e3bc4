"""The frame around every page, by hand: a lost sign-in, keys, drawers, colours, and what assistive tools find."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.barriers import barriers
from tests.browser.conftest import fresh_link, sign_in
from tests.running import Up


def path_of(page: Page, address: str) -> str:
    return re.sub(r"^(https?://[^/]+)/.*", r"\1", page.url) + address


def message(page: Page):  # type: ignore[no-untyped-def]
    return page.get_by_role("textbox", name="Message")


def test_the_sign_in_page_has_no_barrier(context: BrowserContext, server: Up, page: Page) -> None:
    address = path_of(page, "/login/")
    context.clear_cookies()
    page.goto(address)
    assert barriers(page) == []


def test_an_ended_sign_in_is_asked_for_in_place_and_the_words_go_out_after_it(
    context: BrowserContext, server: Up, page: Page
) -> None:
    message(page).fill("Summarise this folder")
    context.clear_cookies(name="agentweb_session")
    page.get_by_role("button", name="Send").click()
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    expect(message(page)).to_have_value("Summarise this folder")
    elsewhere = context.new_page()
    sign_in(elsewhere, fresh_link(server))
    elsewhere.close()
    dialog.get_by_role("button", name="Signed in elsewhere").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))


def test_an_old_form_token_is_renewed_without_a_question(context: BrowserContext, page: Page) -> None:
    message(page).fill("Summarise this folder")
    context.clear_cookies(name="agentweb_csrf")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))


def test_a_refused_command_keeps_the_words_and_says_why(page: Page) -> None:
    message(page).fill("   ")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("There is nothing to send.")
    expect(message(page)).to_have_value("   ")
    page.get_by_role("alert").get_by_role("button", name="Close").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_keys_reach_search_composer_list_and_sheet_but_never_while_writing(page: Page) -> None:
    expect(message(page)).to_be_focused()
    page.keyboard.type("n/?[1")
    expect(message(page)).to_have_value("n/?[1")
    message(page).fill("")
    message(page).blur()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search sessions")).to_be_focused()
    page.get_by_role("searchbox").blur()
    page.keyboard.press("n")
    expect(message(page)).to_be_focused()
    message(page).blur()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    listed = page.get_by_role("navigation", name="Sessions", exact=True)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.keyboard.press("[")
    expect(listed).to_be_hidden()
    page.reload()
    expect(listed).to_be_hidden()
    message(page).blur()
    page.keyboard.press("[")
    expect(listed).to_be_visible()


def test_single_keys_can_be_switched_off(page: Page) -> None:
    message(page).blur()
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Single letters and signs").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    message(page).blur()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()


def test_on_a_phone_the_sessions_are_a_drawer_that_gives_the_focus_back(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opener = page.get_by_role("button", name="Open sessions")
    opener.click()
    drawer = page.get_by_role("complementary", name="Session list")
    expect(drawer).to_be_visible()
    expect(page.get_by_role("main")).to_have_attribute("inert", "")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(opener).to_be_focused()


def test_the_chosen_colours_are_there_from_the_first_byte(page: Page) -> None:
    page.get_by_role("button", name="Account: you").click()
    page.get_by_text("Dark", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    answer = page.request.get(page.url)
    assert 'data-theme="dark"' in answer.text()
    page.get_by_text("System", exact=True).click()
    assert "data-theme" not in page.request.get(page.url).text()


def test_a_page_works_without_script(browser: Browser, server: Up) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, fresh_link(server))
    message(page).fill("Summarise this folder")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
    page.goto(path_of(page, "/?q=summarise"))
    expect(page.get_by_role("heading", name="Found: “summarise”")).to_be_visible()
    context.close()
