"""The first run's page follows what is chosen and typed, and shows what was refused."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.running import Up


def open_welcome(page: Page, server: Up) -> None:
    page.goto(f"{server.address}/welcome/")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_in_viewport(ratio=1)


def test_a_corrected_folder_is_not_called_wrong_any_more(page: Page, server: Up) -> None:
    open_welcome(page, server)
    folder = page.get_by_role("textbox", name="Folder on this server")
    there = page.request.get(f"{server.address}/workspaces/folders/", headers={"HX-Request": "true"}).text()
    root = there.partition('data-path="')[2].partition('"')[0].rpartition("/")[0]
    folder.fill(f"{root}/nowhere-to-be-found")
    expect(page.locator("#folders")).to_contain_text("tick “Make the folder if there is none”")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(folder).to_have_attribute("aria-invalid", "true")
    expect(folder).to_be_focused()
    folder.fill(root)
    expect(page.locator("#folders")).to_contain_text("The agent will work in")
    expect(page.locator("#path-error")).to_have_count(0)
    expect(folder).not_to_have_attribute("aria-invalid", "true")


def test_only_the_fields_of_the_chosen_provider_are_shown(page: Page, server: Up) -> None:
    open_welcome(page, server)
    page.get_by_role("radio", name="Anthropic").check(force=True)
    expect(page.get_by_role("textbox", name="Key")).to_be_visible()
    expect(page.get_by_role("textbox", name="Address")).to_be_hidden()
    page.get_by_role("radio", name="Your own server").check(force=True)
    expect(page.get_by_role("textbox", name="Address")).to_be_visible()
    expect(page.get_by_role("textbox", name="Models of your own server")).to_be_visible()


def test_a_job_without_words_is_refused_where_one_looks(page: Page, server: Up) -> None:
    open_welcome(page, server)
    page.get_by_role("radio", name="None yet, take the tour").check(force=True)
    page.get_by_role("radio", name="Something else").check(force=True)
    page.get_by_role("textbox", name="Folder on this server").fill("~")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Write what should be done.")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("textbox", name="What should be done")).to_be_focused()


def test_the_tour_begins_at_its_beginning(page: Page, server: Up) -> None:
    open_welcome(page, server)
    page.get_by_role("radio", name="None yet, take the tour").check(force=True)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/s/**")
    expect(page.locator("#connection")).to_have_text("Connected")
    first = page.get_by_text("Show me around. What am I looking at?").first
    expect(first).to_be_in_viewport()
    expect(page.get_by_role("link", name="Start here")).to_be_visible()
