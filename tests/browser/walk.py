"""A walk through every page and every dialog of a signed-in person, on the tour and on a session of one's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import wait_for_elements

Step = Callable[[], object]
"""Opens something on the page as it is; what it opens closes with Escape."""


class Walk:
    """Each stop is told by its name while the page stands there. `begin` has to have been called."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.origin = re.sub(r"^(https?://[^/]+).*", r"\1", page.url)
        self.tour = ""
        self.own = ""

    def begin(self) -> None:
        """Take the tour, and do a job with two versions, a failed command and something waiting to be compacted."""
        page = self.page
        page.get_by_role("button", name="Take the tour").click()
        page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
        self.tour = page.url.split("#")[0]
        page.goto(self.origin)
        page.get_by_role("textbox", name="Message").fill("Summarise this folder")
        page.get_by_role("button", name="Send").click()
        page.wait_for_url(re.compile(r"/s/[0-9a-f-]{36}/"))
        self.own = page.url.split("#")[0]
        expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden()
        expect(page.locator("#transcript > .entry--assistant").last).to_be_visible()
        page.get_by_role("textbox", name="Message").fill("!false")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#transcript > .entry--shell, #transcript article").last).to_be_visible()

    def stops(self) -> Iterator[str]:
        yield from self._pages()
        yield from self._on_a_session()
        yield from self._in_the_tree()
        yield from self._elsewhere()

    # ---- pages ----

    def _pages(self) -> Iterator[str]:
        for address in (
            "/",
            "/?running=1",
            "/?q=tests",
            "/?q=nothingofthekind",
            "/keys/",
            "/workspaces/new/",
            "/welcome/",
            "/shelf/",
            "/reviews/",
            "/password/",
            "/s/00000000-0000-0000-0000-000000000000/",
            f"{self.tour}compare/",
            f"{self.tour}changes/",
            f"{self.tour}history/",
            f"{self.tour}print/",
            f"{self.own}compare/",
        ):
            yield self._at(address)
        self._at(self.tour)
        review = self.page.locator(".fold__acts a[href*='/compactions/']").first.get_attribute("href")
        if review:
            yield self._at(review)

    def _at(self, address: str) -> str:
        self.page.goto(address if address.startswith("http") else self.origin + address)
        wait_for_elements(self.page)
        return address.replace(self.origin, "")

    # ---- a session ----

    def _on_a_session(self) -> Iterator[str]:
        page = self.page
        self._at(self.tour)
        # Everything that folds is open.
        page.evaluate("document.querySelectorAll('#transcript details').forEach((it) => (it.open = true))")
        page.wait_for_load_state("networkidle")
        yield "the tour, all open"
        yield self._at(self.own)
        for name, act in self._steps().items():
            act()
            page.wait_for_load_state("networkidle")
            yield name
            page.keyboard.press("Escape")
            page.evaluate("document.querySelectorAll(':popover-open').forEach((it) => it.hidePopover())")

    def _steps(self) -> dict[str, Step]:
        return {
            "session menu": lambda: self._pressed(self.page.get_by_role("button", name="Session menu")),
            "menu of a row": lambda: self._pressed(self.page.locator("[data-row-menu]").first),
            "what happened": lambda: self._command("/session"),
            "changes": self._changes,
            "palette": lambda: self.page.keyboard.press("Control+k"),
            "palette, found": lambda: (
                self.page.keyboard.press("Control+k"),
                self.page.keyboard.type("test"),
            ),
            "shortcuts": lambda: self._command("/hotkeys"),
            "compact": lambda: self._command("/compact"),
            "commands": lambda: self._typed("/"),
            "files": lambda: self._typed("@"),
            "own command": lambda: self._typed("!ls"),
            "edit": lambda: self._acted("edit"),
            "label": lambda: self._acted("label"),
            "hide": lambda: self._acted("hide"),
            "erase": lambda: self._acted("erase"),
            "go": lambda: self._acted("go"),
            "account": lambda: self._pressed(self.page.locator("[popovertarget=account-menu]").first),
            "context": lambda: self._pressed(self.page.locator("[popovertarget=context-facts]").first),
        }

    def _pressed(self, button: Locator) -> None:
        if button.count():
            button.evaluate("button => button.click()")

    def _typed(self, text: str) -> None:
        field = self.page.get_by_role("textbox", name="Message")
        field.fill("")
        field.press_sequentially(text)

    def _command(self, name: str) -> None:
        self._typed(name)
        self.page.get_by_role("textbox", name="Message").press("Enter")
        expect(self.page.locator("dialog[open]")).to_be_visible()

    def _changes(self) -> None:
        self._command("/changes")
        first = self.page.locator("dialog[open] details summary").first
        if first.count():
            first.click()

    def _acted(self, act: str) -> None:
        self.page.locator(f"#transcript .entry--user [data-act={act}]").last.evaluate(
            "button => button.click()"
        )

    # ---- the tree ----

    def _in_the_tree(self) -> Iterator[str]:
        page = self.page
        self._at(f"{self.tour}tree/?entry=1")
        page.wait_for_load_state("networkidle")
        yield "the tree with an entry"
        for filter_ in ("?filter=errors", "?q=test", "?hidden=1"):
            yield self._at(f"{self.tour}tree/{filter_}")
        self._pressed(page.get_by_role("button", name="More"))
        yield "the menu of the tree"
        page.keyboard.press("Escape")

    # ---- elsewhere ----

    def _elsewhere(self) -> Iterator[str]:
        yield self._at("/admin/")
        yield self._at("/admin/sessions_app/session/")
