"""Pictures of lists, dashboards and a detail with 0, 1 and 10,000 compactions: `python -m bench.review_pictures FOLDER`.

Each in light and dark, at 1440 and at 390 pixels.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.product import running_product
from bench.reviews import MANY, ours
from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES, fresh_link, sign_in
from tests.running import Up

ADMIN = "/admin/sessions_app/compactionreview/"
PAGES = {"list": "/reviews/", "admin": ADMIN, "dashboard": f"{ADMIN}dashboard/"}
SIZES = ((1440, 900), (390, 844))


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with running_product() as product, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        take(browser, product.up, folder, PAGES, "0")
        seeded = ours(product.up, "seed")
        detail = {"detail": f"/s/{seeded['key']}/compactions/{seeded['seq']}/"}
        take(browser, product.up, folder, PAGES | detail, "1")
        ours(product.up, "list", str(MANY))
        take(browser, product.up, folder, PAGES, str(MANY))
        browser.close()
    return 0


def take(browser: Browser, up: Up, folder: Path, pages: dict[str, str], count: str) -> None:
    for scheme in ("light", "dark"):
        for width, height in SIZES:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,  # type: ignore[arg-type]
                locale="en-GB",
                reduced_motion="reduce",
            )
            page = context.new_page()
            sign_in(page, fresh_link(up))
            for name, address in pages.items():
                page.goto(up.address + address)
                page.wait_for_function("() => !document.querySelector(':not(:defined)')")
                page.screenshot(path=folder / f"{name}-{count}-{scheme}-{width}.png")
            context.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
