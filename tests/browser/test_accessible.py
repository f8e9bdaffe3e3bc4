"""What assistive tools find on every page and in every dialog: wide and light, narrow and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.barriers import barriers
from tests.browser.walk import Walk


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (390, 844, "dark")])
def test_no_page_and_no_dialog_is_a_barrier_or_scrolls_sideways(
    page: Page, width: int, height: int, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    walk = Walk(page)
    walk.begin()
    page.set_viewport_size({"width": width, "height": height})
    found: list[str] = []
    for stop in walk.stops():
        found += [f"{stop}: {it}" for it in barriers(page)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{stop}: scrolls sideways")
    assert found == [], "\n".join(found)
