"""The start page: suggested jobs by key, and a session brought in from a file."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect


def test_a_key_writes_a_suggested_job_and_enter_sends_it(page: Page) -> None:
    message = page.get_by_role("textbox", name="Message")
    expect(message).to_be_focused()
    page.keyboard.type("2")
    expect(message).to_have_value("2")
    page.keyboard.press("Alt+2")
    expect(message).to_have_value("Find every TODO and group them by file")
    message.blur()
    page.keyboard.press("1")
    expect(message).to_have_value("Summarise this folder")
    expect(message).to_be_focused()
    assert "/s/" not in page.url
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    expect(page.get_by_role("log", name="Transcript")).to_contain_text("Summarise this folder")


def test_import_opens_the_file_dialog_and_sends_what_is_chosen(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "harbour.jsonl"
    said = '{"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-09T09:00:20.000Z","message":{"role":"user","content":"Who lies at berth 14?","timestamp":1}}'
    file.write_text(
        f'{{"type":"session","version":3,"id":"h","timestamp":"2026-03-09T09:00:00.000Z","cwd":"/x"}}\n{said}\n'
    )
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import").click()
    chooser.value.set_files(file)
    page.wait_for_url(re.compile("/s/"))
    expect(page.get_by_role("log", name="Transcript")).to_contain_text("Who lies at berth 14?")
