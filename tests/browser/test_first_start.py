"""From an empty data directory to a finished first job, as the README tells it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import sign_in
from tests.running import started


def test_the_first_job_is_done_after_link_folder_and_start(
    context: BrowserContext, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.mktemp("first")
    project = folder / "project"
    project.mkdir()
    (project / "notes.txt").write_text("Buy milk.\n", encoding="utf-8")
    with started(folder / "data") as up:
        page = context.new_page()
        sign_in(page, up.link)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.get_by_role("textbox", name="Folder").fill(str(project))
        page.get_by_role("radio", name="Demo model").check(force=True)
        page.get_by_role("radio", name="Something else").check(force=True)
        page.get_by_role("textbox", name="What should be done").fill("List the files in this folder")
        page.get_by_role("button", name="Start", exact=True).click()

        transcript = page.get_by_role("log", name="Transcript")
        expect(transcript).to_contain_text("List the files in this folder", timeout=30_000)
        expect(transcript).to_contain_text("notes.txt", timeout=60_000)
        expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=60_000)

        page.reload()
        expect(transcript).to_contain_text("notes.txt")
        page.goto(up.link)
        expect(page.get_by_role("heading", name="This link was used or has expired")).to_be_visible()
