"""Compaction, branch summaries, copies, pins and what is left out, by hand: each is seen, and can be taken back."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import first_start, fresh_link, sign_in
from tests.running import AGENTWEB, Up, wait_for

SUMMARY = "## Goal\n\nKeep the harbour book.\n\n## Next Steps\n\n1. Read the tide table."
LONG = "The tide comes in twice a day. " * 60
SCRIPT = {
    "answers": [[{"text": f"Answer {number}. {LONG}"}] for number in range(30)],
    # The first phrase that the newest words hold decides; those of a summary hold its focus and its headings.
    "replies": {
        "never ends": [[{"text": "Still "}, {"wait_for_stop": True}]] * 4,
        "breaks down": [[{"error": "bad_request", "message": "The harbour is closed."}]] * 4,
        "Use exactly these headings": [[{"text": SUMMARY}]] * 99,
        "too much at once": [
            [{"error": "overflow", "message": "prompt is too long: 210000 tokens > 128000 maximum"}],
            [{"text": "It fits now."}],
        ],
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """The scripted model and the demo model, with little that is kept as it is."""
    folder = tmp_path_factory.mktemp("compaction")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    with first_start(folder, AGENTWEB_SCRIPT=str(script), AGENTWEB_COMPACTION_KEEP_RECENT_TOKENS="150") as up:
        (folder / "project" / "tides.txt").write_text(
            "High at 04:10, low at 10:20.\n" * 100, encoding="utf-8"
        )
        yield up


@pytest.fixture(scope="module")
def small_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A window that is full after a few answers."""
    folder = tmp_path_factory.mktemp("small")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    with first_start(
        folder,
        AGENTWEB_SCRIPT=str(script),
        AGENTWEB_COMPACTION_KEEP_RECENT_TOKENS="100",
        AGENTWEB_COMPACTION_RESERVE_TOKENS="126000",
    ) as up:
        yield up


def begin(page: Page, words: str, model: str = "scripted/scripted") -> None:
    """A session of its own with its first answer."""
    page.get_by_role("link", name="New session").click()
    page.get_by_role("combobox", name="Model").select_option(model)
    page.get_by_role("textbox", name="Message").fill(words)
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
    expect(page.get_by_role("status", name="Connection")).to_have_text("Connected")
    settled(page)


def say(page: Page, words: str) -> None:
    message(page).fill(words)
    page.get_by_role("button", name="Send").click()
    expect(mine(page).last).to_contain_text(words)
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator("run-state")).not_to_have_attribute("data-active", "")
    expect(page.locator("#transcript > .entry--assistant").last).to_be_visible()


def talk(page: Page, turns: int = 3, model: str = "scripted/scripted") -> None:
    begin(page, "Turn 1", model)
    for turn in range(2, turns + 1):
        say(page, f"Turn {turn}")


def message(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


def log(page: Page) -> Locator:
    return page.get_by_role("log", name="Transcript")


def mine(page: Page) -> Locator:
    return log(page).get_by_role("article", name=re.compile("^You,"))


def cards(page: Page) -> Locator:
    return log(page).get_by_role("article", name=re.compile("^Compaction "))


def act(entry: Locator, name: str) -> None:
    entry.hover()
    entry.get_by_role("button", name=name).click()


def compact(page: Page, instructions: str = "") -> Locator:
    page.get_by_role("button", name="Compact", exact=True).click()
    dialog = page.get_by_role("dialog", name="Compact this branch")
    if instructions:
        dialog.get_by_role("textbox").fill(instructions)
    dialog.get_by_role("button", name="Compact").click()
    expect(dialog).to_be_hidden()
    return dialog


def test_a_branch_is_compacted_with_a_focus_after_saying_what_will_happen(page: Page) -> None:
    """02 §13."""
    talk(page)
    page.get_by_role("button", name="Compact", exact=True).click()
    dialog = page.get_by_role("dialog", name="Compact this branch")
    for fact in ("Summarised", "Kept as it is", "Tokens", "Cost"):
        expect(dialog.get_by_text(fact, exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(cards(page)).to_have_count(0)
    compact(page, "Keep the tide table in view")
    expect(cards(page)).to_have_count(1)
    expect(page.get_by_role("meter", name="Context")).to_have_attribute(
        "aria-valuetext", re.compile("^Unknown until")
    )
    card = cards(page).last
    expect(card).to_contain_text(re.compile(r"\d+ entries"))
    expect(card).to_contain_text(re.compile(r"→ [\d.k]+ tokens · .* · asked for"))
    card.locator("summary").first.click()
    expect(card).to_contain_text("Keep the harbour book.")
    expect(card).to_contain_text("Focus asked for: Keep the tide table in view")
    card.get_by_role("button", name="Show what was replaced").click()
    expect(card.locator(".replaced__row").first).to_contain_text("Turn 1")
    say(page, "Turn 4")
    expect(page.get_by_role("meter", name="Context")).to_have_attribute(
        "aria-valuetext", re.compile(r"^[\d,]+ of")
    )


def test_nothing_to_compact_is_said_before_anything_is_asked(page: Page) -> None:
    talk(page)
    compact(page)
    expect(cards(page)).to_have_count(1)
    page.get_by_role("button", name="Compact", exact=True).click()
    dialog = page.get_by_role("dialog", name="Compact this branch")
    expect(dialog).to_contain_text("Nothing to compact")
    expect(dialog.get_by_role("button", name="Compact")).to_have_count(0)


def test_a_compaction_can_be_cancelled_and_words_sent_meanwhile_are_delivered(page: Page) -> None:
    """02 §13, B18."""
    talk(page)
    compact(page, "never ends")
    expect(page.locator("#run-status")).to_contain_text(re.compile(r"Compacting · \d+ s"))
    message(page).fill("And then this")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("list", name="Waiting messages")).to_contain_text("And then this")
    page.reload()
    expect(page.locator("#run-status")).to_contain_text("Compacting")
    page.get_by_role("button", name="Cancel").click()
    expect(mine(page).last).to_contain_text("And then this")
    settled(page)
    expect(cards(page)).to_have_count(0)
    page.reload()
    expect(log(page)).to_contain_text("Compaction cancelled at")


def test_a_failed_compaction_says_that_nothing_was_changed_and_can_be_tried_again(page: Page) -> None:
    """02 §13."""
    talk(page)
    compact(page, "breaks down")
    notice = page.locator("#run-notice")
    expect(notice).to_contain_text("The harbour is closed.")
    expect(notice).to_contain_text("Nothing was changed")
    notice.get_by_role("button", name="Try again").click()
    dialog = page.get_by_role("dialog", name="Compact this branch")
    dialog.get_by_role("button", name="Compact").click()
    expect(cards(page)).to_have_count(1)
    expect(notice).to_be_empty()


def test_a_refused_command_is_told_inside_its_dialog_with_the_words_kept(
    page: Page, context: BrowserContext
) -> None:
    talk(page)
    page.get_by_role("button", name="Compact", exact=True).click()
    dialog = page.get_by_role("dialog", name="Compact this branch")
    dialog.get_by_role("textbox").fill("keep this")
    other = context.new_page()
    other.goto(page.url)
    compact(other, "never ends")
    expect(other.locator("#run-status")).to_contain_text("Compacting")
    dialog.get_by_role("button", name="Compact").click()
    expect(dialog.get_by_role("alert")).to_contain_text("being compacted already")
    expect(dialog.get_by_role("textbox")).to_have_value("keep this")
    other.get_by_role("button", name="Cancel").click()
    expect(other.locator("#run-status")).to_contain_text("Cancelled")
    other.close()


def test_a_compaction_is_taken_back_by_going_before_it(page: Page) -> None:
    talk(page)
    compact(page)
    expect(cards(page)).to_have_count(1)
    card = cards(page).last
    card.locator("summary").first.click()
    card.get_by_role("button", name="Go back to before it").click()
    expect(cards(page)).to_have_count(0)
    expect(mine(page)).to_have_count(3)
    expect(page.get_by_role("meter", name="Context")).to_have_attribute(
        "aria-valuetext", re.compile(r"^[\d,]+ of")
    )
    page.reload()
    expect(cards(page)).to_have_count(0)


def test_a_second_compaction_takes_the_place_of_the_first(page: Page) -> None:
    talk(page)
    compact(page)
    expect(cards(page)).to_have_count(1)
    say(page, "Turn 4")
    say(page, "Turn 5")
    compact(page)
    expect(cards(page)).to_have_count(2)
    expect(cards(page).first).to_contain_text("Superseded")
    page.reload()
    expect(cards(page).first).to_contain_text("Superseded by 2")
    # From a message's menu, by keyboard on a phone: another one up to there; one above moves its boundary.
    say(page, "One more")
    page.set_viewport_size({"width": 390, "height": 844})
    for entry, does in ((mine(page).last, "Summarise"), (mine(page).nth(1), "Move the boundary")):
        entry.get_by_role("button", name="Summarise up to here").press("Enter")
        dialog = page.get_by_role("dialog", name="Summarise up to here")
        dialog.get_by_role("button", name=does).press("Enter")
        expect(dialog).to_be_hidden()
        settled(page)
        expect(cards(page)).to_have_count(3 if does == "Summarise" else 4)


def test_a_full_window_compacts_by_itself(small_server: Up, context: BrowserContext) -> None:
    page = context.new_page()
    sign_in(page, fresh_link(small_server))
    talk(page, 8)
    expect(cards(page).first).to_contain_text("automatic, nearly full")

    # From now on it waits for approval, whatever is restarted meanwhile.
    set_up = "from sessions_app.models import Workspace; Workspace.objects.update(review_policy='before')"
    subprocess.run(
        [AGENTWEB[0], "-c", f"import django; django.setup(); {set_up}"],
        env=small_server.environment | {"DJANGO_SETTINGS_MODULE": "agentweb.settings"},
        check=True,
    )
    begin(page, "Anew")
    held = page.get_by_role("group", name="The compaction waits for review")
    for turn in range(1, 9):
        message(page).fill(f"And turn {turn}")
        page.get_by_role("button", name="Send").click()
        expect(mine(page).last).to_contain_text(f"And turn {turn}")
        expect(held.or_(page.locator('run-state[data-state="completed"]'))).to_be_visible()
        if held.count():
            break
    expect(page.locator("#run-status")).to_contain_text("Waiting for review")
    assert Axe().run(page, {"include": [["#questions"]]}).violations_count == 0
    before = small_server.children()
    for name in ("worker", "broker", "web"):
        before[name].kill()
    wait_for(lambda: {name: one.pid for name, one in small_server.children().items()}.keys() == before.keys())
    wait_for(lambda: all(small_server.children()[name].pid != one.pid for name, one in before.items()), 60)
    wait_for(lambda: answers(small_server), 60)
    page.reload()
    page.set_viewport_size({"width": 390, "height": 844})
    held.get_by_role("link", name="Look at the summary").press("Enter")
    expect(page.get_by_role("heading", name=re.compile("Compaction that waits"))).to_be_visible()
    page.get_by_role("link", name="Edit").last.press("Enter")
    page.get_by_role("textbox", name="Summary, Markdown").fill("## Goal\n\nKeep the river book.")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("used once it is approved")
    page.get_by_role("button", name="Approve").last.press("Enter")
    page.goto(f"{small_server.address}/reviews/?show=held")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Back to the conversation").click()
    settled(page)
    expect(cards(page)).to_have_count(1)
    expect(cards(page).last).to_contain_text("Keep the river book.")


def answers(up: Up) -> bool:
    try:
        with urllib.request.urlopen(f"{up.address}/health/", timeout=2) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def test_a_request_that_was_too_long_is_tried_again_after_a_compaction(page: Page) -> None:
    talk(page)
    say(page, "too much at once")
    expect(log(page)).to_contain_text("It fits now.")
    expect(cards(page).last).to_contain_text("the request was too long")


def test_a_branch_is_left_without_a_summary(page: Page) -> None:
    """03 BS-02."""
    talk(page)
    act(mine(page).nth(1), "Go back to here")
    dialog = page.get_by_role("dialog", name="Go here")
    expect(dialog).to_contain_text(re.compile(r"You leave \d+ entries behind"))
    expect(dialog).to_contain_text(re.compile(r"About [\d.k]+ tokens of \d+ messages to read"))
    page.keyboard.press("Escape")
    expect(mine(page)).to_have_count(3)
    act(mine(page).nth(1), "Go back to here")
    page.get_by_role("dialog", name="Go here").get_by_role("button", name="Go here").click()
    expect(mine(page)).to_have_count(1)
    expect(message(page)).to_have_value("Turn 2")


def test_a_branch_is_left_with_a_summary_and_opened_again(page: Page) -> None:
    """01 TR-05, 03 BS-22."""
    talk(page)
    act(mine(page).nth(1), "Go back to here")
    dialog = page.get_by_role("dialog", name="Go here")
    dialog.get_by_role("radio", name="Summarise with a focus").check()
    dialog.get_by_role("textbox", name="Focus of the summary").fill("the tide")
    dialog.get_by_role("button", name="Go here").click()
    summary = log(page).get_by_role("article", name=re.compile("^Branch summary"))
    expect(summary).to_contain_text("Keep the harbour book.")
    expect(summary).to_contain_text("Turn 2")
    expect(mine(page)).to_have_count(1)
    expect(message(page)).to_have_value("Turn 2")
    summary.get_by_role("button", name="Open branch").click()
    expect(mine(page)).to_have_count(3)


def test_while_the_summary_is_written_one_can_stay(page: Page) -> None:
    talk(page)
    act(mine(page).nth(1), "Go back to here")
    dialog = page.get_by_role("dialog", name="Go here")
    dialog.get_by_role("radio", name="Summarise with a focus").check()
    dialog.get_by_role("textbox", name="Focus of the summary").fill("never ends")
    dialog.get_by_role("button", name="Go here").click()
    expect(page.locator("#run-notice")).to_contain_text("Summarising the branch you leave…")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#run-status")).to_contain_text("Cancelled")
    expect(mine(page)).to_have_count(3)
    expect(message(page)).to_have_value("")


def test_the_tree_asks_too(page: Page) -> None:
    talk(page)
    act(mine(page).nth(1), "Go back to here")
    page.get_by_role("dialog", name="Go here").get_by_role("button", name="Go here").click()
    expect(message(page)).to_have_value("Turn 2")
    say(page, "Another way")
    page.get_by_role("treeitem", name=re.compile("Turn 2")).click()
    dialog = page.get_by_role("dialog", name="Go here")
    dialog.get_by_role("button", name="Go here").click()
    expect(log(page)).to_contain_text("Turn 3")


def test_a_session_is_forked_before_a_message_and_cloned_whole(page: Page) -> None:
    talk(page)
    first = page.url
    act(mine(page).nth(1), "Fork to a new session")
    page.wait_for_url(lambda url: url != first)
    expect(mine(page)).to_have_count(1)
    expect(message(page)).to_have_value("Turn 2")
    page.goto(first)
    page.get_by_role("button", name="Clone", exact=True).click()
    page.wait_for_url(lambda url: url != first)
    expect(mine(page)).to_have_count(3)
    expect(message(page)).to_have_value("")
    second = page.url
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url(lambda url: url not in (first, second))
    expect(message(page)).to_have_value("Turn 3")


def test_undo_never_asks(page: Page) -> None:
    """03 BS-01, 01 TR-04: what is written in the composer stays."""
    talk(page)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(mine(page)).to_have_count(2)
    expect(message(page)).to_have_value("Turn 3")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(mine(page)).to_have_count(1)
    expect(message(page)).to_have_value("Turn 3")


def test_a_pinned_entry_is_carried_through_a_compaction_word_for_word(page: Page) -> None:
    talk(page)
    act(mine(page).first, "Pin")
    expect(mine(page).first).to_contain_text("Pinned: never compacted")
    compact(page)
    card = cards(page).last
    card.locator("summary").first.click()
    card.get_by_text("Carried along word for word").click()
    expect(card.locator(".fold__carried")).to_contain_text("Turn 1")
    act(mine(page).first, "Unpin")
    expect(mine(page).first).not_to_contain_text("Pinned")
    page.locator("undo-bar").get_by_role("button", name="Undo").click()
    expect(mine(page).first).to_contain_text("Pinned: never compacted")


def test_an_entry_is_left_out_and_restored_by_button_and_by_key(page: Page) -> None:
    talk(page)
    entry = mine(page).first
    act(entry, "Leave out")
    expect(entry).to_contain_text("Not told to the model")
    page.reload()
    expect(entry).to_contain_text("Not told to the model")
    entry.focus()
    page.keyboard.press("x")
    expect(entry).not_to_contain_text("Not told to the model")
    expect(entry).to_be_focused()
    page.keyboard.press("p")
    expect(entry).to_contain_text("Pinned: never compacted")


def test_letters_do_nothing_once_they_are_switched_off(page: Page) -> None:
    begin(page, "Turn 1")
    entry = mine(page).first
    entry.focus()
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Single letters and signs").uncheck()
    page.keyboard.press("Escape")
    entry.focus()
    page.keyboard.press("p")
    page.keyboard.press("x")
    page.reload()
    expect(entry).not_to_contain_text("Pinned")
    expect(entry).not_to_contain_text("Not told")


def test_an_exported_session_is_imported_back_with_all_its_branches(page: Page, tmp_path: Path) -> None:
    """01 IO-04."""
    talk(page)
    compact(page)
    expect(cards(page)).to_have_count(1)
    page.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="The whole tree", exact=True).click()
    file = tmp_path / "session.jsonl"
    download.value.save_as(file)
    page.goto(re.sub(r"/s/.*", "/", page.url))
    page.set_input_files("#session-file", file)
    page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
    expect(mine(page)).to_have_count(3)
    expect(cards(page)).to_have_count(1)


def test_the_demo_model_compacts_too(page: Page) -> None:
    begin(page, "Show me tides.txt", "demo/demo")
    say(page, "How many lines does notes.txt have?")
    say(page, "Show me notes.txt")
    compact(page, "the file names")
    card = cards(page).last
    expect(card).to_be_visible()
    card.locator("summary").first.click()
    expect(card).to_contain_text("Focus asked for: the file names")
