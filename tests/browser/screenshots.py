"""Renews the pictures in docs/screenshots: `python -m tests.browser.screenshots [NAME …]`, from a seeded demo workspace.

Everything in them is real: a server, the demo model at work, and a stand-in of a model service that fails.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import textwrap
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench.stand_in import running_stand_in
from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES, fresh_link, sign_in
from tests.running import Up, started

FOLDER = Path("docs/screenshots")
SIZES = {"": (1440, 900), "-phone": (390, 844)}
SCHEMES = ("light", "dark")

FILES = {
    "README.md": "# Harbour\n\nKeeps the berths of a small marina: who lies where, and until when.\n\n"
    "## Running it\n\n    python -m harbour berths\n\nTests: `python -m unittest`.\n",
    "AGENTS.md": "Never edit anything under `migrations/`. Keep it running on Python 3.11.\n",
    "pyproject.toml": '[project]\nname = "harbour"\nversion = "0.3.0"\ndescription = "Berths of a small marina"\n',
    "harbour/__init__.py": '"""Berths of a small marina."""\n',
    "harbour/berths.py": '''
        """Who lies where, and until when."""

        from dataclasses import dataclass
        from datetime import date


        @dataclass(frozen=True)
        class Stay:
            boat: str
            berth: int
            first: date
            last: date

            def overlaps(self, other: "Stay") -> bool:
                # TODO: a boat that leaves in the morning frees its berth for the evening
                return self.berth == other.berth and self.first <= other.last and other.first <= self.last
    ''',
    "tests/test_berths.py": """
        import unittest
        from datetime import date

        from harbour.berths import Stay


        class Overlap(unittest.TestCase):
            def test_a_berth_is_free_on_the_evening_of_the_day_it_is_left(self):
                leaves = Stay("Petrel", 14, date(2031, 6, 1), date(2031, 6, 3))
                arrives = Stay("Fulmar", 14, date(2031, 6, 3), date(2031, 6, 5))
                self.assertFalse(leaves.overlaps(arrives))


        if __name__ == "__main__":
            unittest.main()
    """,
    "tests/__init__.py": "",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these pictures")
    names = set(parser.parse_args().names)
    executable = find_chromium()
    if executable is None:
        raise SystemExit(
            "no Chromium on this machine: python -m tests.browser.chromium finds or installs one"
        )
    FOLDER.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.gettempdir()) / "agentweb-pictures"
    shutil.rmtree(place, ignore_errors=True)
    with running_stand_in() as service, sync_playwright() as playwright:
        project = written_project(place / "harbour")
        variables = {
            "ANTHROPIC_API_KEY": "stand-in",
            "ANTHROPIC_BASE_URL": service.url,
            "AGENTWEB_DEMO_PACE": "25",
        }
        with started(place / "data", "--workspace", str(project), **variables) as up:
            browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
            Pictures(browser, up, names).take_all()
            browser.close()
    shutil.rmtree(place, ignore_errors=True)


def written_project(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


class Pictures:
    """One signed-in page; each picture is taken in both schemes, wide and as a phone shows it."""

    def __init__(self, browser: Browser, up: Up, names: set[str]) -> None:
        self.up = up
        self.names = names
        self.page: Page = browser.new_context(
            locale="en-GB", timezone_id="UTC", reduced_motion="reduce"
        ).new_page()
        self.page.set_viewport_size({"width": 1440, "height": 900})

    def take_all(self) -> None:
        self.page.goto(f"{self.up.address}/login/")
        self.shoot("signin")
        sign_in(self.page, fresh_link(self.up))
        self.shoot("start")
        self.page.get_by_role("button", name="Take the tour").click()
        self.page.wait_for_url("**/s/**")
        self.settled()
        self.shoot("tour")
        self.open_tree()
        self.open_review()
        finished = self.job("Run the tests and explain the first failure")
        self.settled()
        self.shoot("session")
        self.job("Summarise this folder", wait=False)
        expect(self.page.get_by_role("log", name="Transcript")).to_contain_text("Reading", timeout=60_000)
        self.shoot("running", schemes=("light",), sizes=("",))
        self.shoot("running", schemes=("dark",), sizes=("-phone",))
        self.settled()
        self.job("fail 529", model="anthropic/claude-haiku-4-5")
        self.settled(failed=True)
        self.shoot("error")
        self.page.goto(f"{self.up.address}/")
        self.shoot("list")
        self.page.goto(f"{self.up.address}/keys/")
        self.shoot("keys")
        assert finished

    def job(self, words: str, *, model: str = "demo/demo", wait: bool = True) -> str:
        self.page.goto(f"{self.up.address}/")
        picker = self.page.get_by_role("combobox", name="Model")
        picker.select_option(model)
        self.page.get_by_role("textbox", name="Message").fill(words)
        self.page.get_by_role("button", name="Send").click()
        self.page.wait_for_url("**/s/**")
        if wait:
            expect(self.page.locator("#connection")).to_have_text("Connected")
        return self.page.url

    def settled(self, *, failed: bool = False) -> None:
        expect(self.page.get_by_role("button", name="Stop", exact=True)).to_be_hidden(timeout=120_000)
        if not failed:
            expect(self.page.locator("#live > *")).to_have_count(0)

    def open_tree(self) -> None:
        session = self.page.url
        self.page.goto(f"{session.split('#')[0]}tree/")
        self.page.wait_for_load_state("networkidle")
        self.shoot("tree")
        self.page.goto(f"{session.split('#')[0]}compare/")
        self.shoot("compare")
        self.page.goto(session)

    def open_review(self) -> None:
        """What the tour's compaction kept and lost; the report is computed by the worker meanwhile."""
        session = self.page.url
        divider = self.page.locator(".fold__acts a[href*='/compactions/']").first
        address = divider.get_attribute("href")
        self.page.goto(f"{self.up.address}{address}")
        self.page.wait_for_timeout(3_000)
        self.page.reload()
        self.shoot("review")
        self.page.goto(f"{self.up.address}/reviews/")
        self.shoot("reviews")
        self.page.goto(session)

    def shoot(
        self, name: str, *, schemes: tuple[str, ...] = SCHEMES, sizes: tuple[str, ...] = tuple(SIZES)
    ) -> None:
        if self.names and name not in self.names:
            return
        for size in sizes:
            width, height = SIZES[size]
            self.page.set_viewport_size({"width": width, "height": height})
            for scheme in schemes:
                self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                self.page.wait_for_timeout(150)
                self.page.screenshot(path=FOLDER / f"{name}-{scheme}{size}.png")
        self.page.set_viewport_size({"width": 1440, "height": 900})
        self.page.emulate_media(color_scheme="light")


if __name__ == "__main__":
    main()
