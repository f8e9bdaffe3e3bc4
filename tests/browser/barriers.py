"""What axe finds on a page as it stands."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_RUN = """
async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.all(document.getAnimations().filter((it) => it instanceof CSSTransition).map((it) => it.finished.catch(() => {})));
  // What lies below an open layer was looked at before that opened.
  const layer = [...document.querySelectorAll("dialog[open], :popover-open")].at(-1) ?? document;
  return (await axe.run(layer, { resultTypes: ["violations"] })).violations;
}
"""


def barriers(page: Page) -> list[str]:
    """Each by its rule, with where it is and why; of the topmost open layer, if there is one."""
    if not page.evaluate("!!window.axe"):
        page.evaluate(Axe().axe_script)
    found: list[dict[str, Any]] = page.evaluate(_RUN)
    return [f"{it['id']}: {[_place(node) for node in it['nodes'][:5]]}" for it in found]


def _place(node: dict[str, Any]) -> str:
    reasons = [*node["any"], *node["all"], *node["none"]]
    return f"{node['target']} {reasons[0]['message'] if reasons else ''}"
