"""The drawing of the tree in a real browser: by mouse, by keyboard, on a phone, live, and two branches compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import first_start, fresh_link, sign_in, wait_for_elements
from tests.running import Up


def entry(number: int, parent: int | None, role: str, words: str, **more: object) -> dict[str, object]:
    message = {"role": role, "content": [{"type": "text", "text": words}], "timestamp": 1, **more}
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": f"e{parent}" if parent else None,
        "timestamp": "2031-06-01T10:00:00.000Z",
        "message": message,
    }


def story() -> str:
    """A long trunk with two branches beside it, one of which says something twice looked for."""
    lines: list[dict[str, object]] = [{"type": "session", "version": 3, "id": "story", "cwd": "/w"}]
    number = 0

    def put(parent: int | None, role: str, words: str, **more: object) -> int:
        nonlocal number
        number += 1
        lines.append(entry(number, parent, role, words, **more))
        return number

    at = put(None, "user", "Two boats in one berth")
    for step in range(40):
        at = put(at, "assistant", f"Step {step}")
    fork = at
    other = put(fork, "user", "Ask in the form")
    for step in range(30):
        other = put(other, "assistant", f"The picker of hour {step}")
    third = put(fork, "user", "Store it in UTC")
    put(third, "assistant", "", stopReason="error", errorMessage="The log is closed")
    at = put(fork, "user", "Fix it in the slots")
    for step in range(30):
        at = put(at, "assistant", f"Slot {step}")
    put(at, "assistant", "The slots are right now.")
    return "\n".join(json.dumps(line) for line in lines)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with first_start(tmp_path_factory.mktemp("drawing")) as up:
        yield up


@pytest.fixture
def tree_page(page: Page, server: Up, tmp_path: Path) -> Page:
    """The drawing of a freshly imported story."""
    file = tmp_path / "story.jsonl"
    file.write_text(story(), encoding="utf-8")
    page.goto(f"{server.address}/")
    page.get_by_label("Import").set_input_files(str(file))
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
    page.goto(page.url.partition("#")[0] + "tree/")
    wait_for_elements(page)
    expect(page.get_by_role("status", name="Connection")).to_have_text("Connected")
    return page


def item(page: Page, name: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("tree", name="Session tree").get_by_role("treeitem", name=name)


def test_by_mouse_runs_open_entries_are_read_and_branches_hoisted(tree_page: Page) -> None:
    page = tree_page
    expect(page.get_by_role("tree", name="Session tree")).to_have_count(1)
    before = page.get_by_role("treeitem").count()
    item(page, "30 entries folded").click()
    expect(item(page, re.compile("Answer: Slot 4"))).to_be_visible()
    assert page.get_by_role("treeitem").count() > before + 10
    page.get_by_role("button", name="Fold all").click()
    expect(item(page, re.compile("Answer: Slot 4"))).to_have_count(0)

    item(page, "Ask in the form").click()
    drawer = page.get_by_role("complementary", name="Selected entry")
    expect(drawer).to_contain_text("An entry of another branch")
    expect(drawer).to_contain_text("You leave")
    expect(page).to_have_url(re.compile("entry="))
    drawer.get_by_role("button", name="Worked").click()
    expect(page.get_by_role("status").filter(has_text="Marked: worked")).to_be_visible()
    expect(item(page, re.compile("worked"))).to_be_visible()
    drawer.get_by_role("button", name="Hoist").click()
    expect(item(page, "Fix it in the slots")).to_have_count(0)
    expect(item(page, re.compile("entries above"))).to_be_visible()
    page.get_by_role("button", name="Whole tree").click()
    expect(item(page, "Fix it in the slots")).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        # Colours that are on their way from one scheme to the other are neither's.
        page.wait_for_function("() => document.getAnimations().every((it) => it.playState !== 'running')")
        found = Axe().run(page)
        assert found.response["violations"] == [], found.generate_report()


def test_search_filters_and_the_address_bring_back_what_was_seen(tree_page: Page) -> None:
    page = tree_page
    page.get_by_role("searchbox", name="Search the tree").fill("picker hour 7")
    expect(page.locator("[data-found]")).to_have_text("1 of 1")
    expect(item(page, re.compile("The picker of hour 7, found"))).to_be_visible()
    page.get_by_role("searchbox").press("Escape")
    expect(item(page, re.compile("The picker of hour 7"))).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Only mine")).click()
    expect(item(page, re.compile("entries folded"))).to_have_count(0)
    expect(item(page, "Store it in UTC")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name=re.compile("^Only mine"))).to_have_attribute(
        "aria-pressed", "true"
    )
    page.go_back()
    expect(item(page, re.compile("entries folded")).first).to_be_visible()


def test_by_keyboard_alone(tree_page: Page) -> None:
    page = tree_page
    here = item(page, re.compile("you are here"))
    here.focus()
    page.keyboard.press("ArrowLeft")
    expect(item(page, "30 entries folded")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(item(page, "Fix it in the slots")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(item(page, re.compile("Branch point"))).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(item(page, "Fix it in the slots")).to_be_focused()
    page.keyboard.press("l")
    expect(page.get_by_role("textbox", name="Label")).to_be_focused()
    page.keyboard.type("the way")
    page.keyboard.press("Enter")
    expect(item(page, re.compile("label the way"))).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    labelled = item(page, re.compile("label the way"))
    labelled.focus()
    expect(page.get_by_role("button", name="Go here")).to_be_visible()
    # It is looked at already: Enter goes there.
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/$"))
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Fix it in the slots")


def test_what_is_said_elsewhere_appears_in_place(
    tree_page: Page, context: BrowserContext, server: Up
) -> None:
    page = tree_page
    expect(item(page, re.compile("you are here"))).to_be_visible()
    where = """() => Math.round(document.querySelector('[aria-label="Ask in the form"]').getBoundingClientRect().x)"""
    place = page.evaluate(where)
    other = context.new_page()
    sign_in(other, fresh_link(server))
    other.goto(page.url.partition("tree/")[0])
    other.get_by_role("textbox", name="Message").fill("List what is here")
    other.get_by_role("button", name="Send").click()
    expect(item(page, "List what is here")).to_be_visible()
    expect(item(page, re.compile("you are here"))).to_be_visible()
    page.wait_for_function(f"place => ({where})() === place", arg=place)
    other.close()


def test_two_branches_beside_each_other_and_one_answer_carried(tree_page: Page) -> None:
    page = tree_page
    item(page, "Ask in the form").click()
    page.get_by_role("link", name="Compare with the branch you are on").click()
    expect(page.get_by_role("region", name="Branch A")).to_contain_text("Fix it in the slots")
    expect(page.get_by_role("region", name="Branch B")).to_contain_text("Ask in the form")
    expect(page.get_by_text("Entries since they parted")).to_be_visible()
    page.get_by_role("link", name="The picker of hour 3", exact=True).hover()
    page.get_by_role("button", name="Carry to A: The picker of hour 3", exact=True).click()
    carried = page.get_by_role("status").filter(has_text="Carried")
    expect(carried).to_be_visible()
    found = Axe().run(page)
    assert found.response["violations"] == [], found.generate_report()
    carried.get_by_role("link", name="Show").click()
    expect(page.get_by_role("log")).to_contain_text(
        "Carried over from another branch of this session: an answer"
    )


def test_beside_the_chat_a_folded_run_opens_below_its_row_and_folds_again(tree_page: Page) -> None:
    page = tree_page
    page.goto(page.url.partition("tree/")[0])
    wait_for_elements(page)
    run = item(page, "39 entries")
    run.focus()
    page.keyboard.press("Enter")
    expect(item(page, "Step 4")).to_be_visible()
    expect(run).to_have_attribute("aria-expanded", "true")
    expect(item(page, "Step 0")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(run).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(item(page, "Step 4")).to_have_count(0)


def test_on_a_phone_the_chosen_entry_is_a_sheet(tree_page: Page) -> None:
    page = tree_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    wait_for_elements(page)
    item(page, re.compile("you are here")).click()
    sheet = page.get_by_role("complementary", name="Selected entry")
    expect(sheet).to_contain_text("You are here")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Close").click()
    expect(sheet).to_be_hidden()
    found = Axe().run(page)
    assert found.response["violations"] == [], found.generate_report()
