"""Reviews of compactions: what a report costs, that pages do not wait for it, long lists, and what a browser computes.

    python -m bench.reviews [--write]

Starts the product, brings in a session whose compaction replaces 1,000 messages (some 600 KB) and up to 10,000 reviews.
`--write` puts the figures into bench/RESULTS.md in the place of the older ones.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.pages import TASK_MS, Figure, Trace, signed_in
from bench.product import running_product
from bench.trees import last_line
from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES
from tests.running import Up

Json = dict[str, Any]

RESULTS = Path(__file__).with_name("RESULTS.md")
HEADING = "## Reviews of compactions"
MOST_TIMES, MOST_GROWTH, MOST_CHARTS_MS, MOST_OPEN_MS = 10.0, 2.0, 500.0, 1_000.0
FEW, MANY = 100, 10_000


def measure() -> Iterator[Figure]:
    with running_product() as product, sync_playwright() as playwright:
        up = product.up
        seeded = ours(up, "seed")
        yield from report(ours(up, "report", str(seeded["review"])))
        yield from lists(ours(up, "list", str(FEW)), ours(up, "list", str(MANY)))
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        page = signed_in(browser, up).new_page()
        yield from pages(page, f"{up.address}/s/{seeded['key']}/compactions/{seeded['seq']}/")
        browser.close()


def ours(up: Up, *arguments: str) -> Json:
    return last_line([sys.executable, "-m", "bench.review_rows", *arguments], up.environment)


def report(took: Json) -> Iterator[Figure]:
    ratio = took["reported"] / took["serialised"]
    yield Figure(
        f"report on {took['messages']:,} messages, {took['kb']:.0f} KB, in times of serialising the range for a summary "
        "(rows read and parsed, projected, joined, the request's body)",
        f"{ratio:.1f} ({took['reported']:.0f} ms : {took['serialised']:.0f} ms)",
        f"≤ {MOST_TIMES:.0f}",
        ratio <= MOST_TIMES,
    )
    bare = took["reported"] / took["joined"]
    yield Figure(
        "the same in times of joining messages that are in memory already",
        f"{bare:.0f} ({took['joined']:.1f} ms)",
        f"≤ {MOST_TIMES:.0f}",
        bare <= MOST_TIMES,
    )
    yield Figure("coverage as one types", f"{took['typed']:.0f} ms", "≤ 200 ms", took["typed"] <= 200)


def lists(few: Json, many: Json) -> Iterator[Figure]:
    for name in few:
        (queries, short), (same, long) = few[name], many[name]
        grown = long / short
        # What a list may grow by holds for lists; the charts count all rows of a month, so theirs is a time.
        holds = grown <= MOST_GROWTH if name == "admin list" else long <= MOST_CHARTS_MS
        most = f"≤ {MOST_GROWTH:.0f} times" if name == "admin list" else f"≤ {MOST_CHARTS_MS:.0f} ms"
        yield Figure(
            f"{name}: {MANY:,} reviews beside {FEW}",
            f"{grown:.2f} times ({short:.0f} → {long:.0f} ms), {queries} → {same} queries",
            f"{most}, as many queries",
            holds and queries == same,
        )


def pages(page: Page, address: str) -> Iterator[Figure]:
    began = time.perf_counter()
    page.goto(f"{address}?version=2", wait_until="domcontentloaded")
    opened = (time.perf_counter() - began) * 1000
    yield Figure("review page opened", f"{opened:.0f} ms", f"≤ {MOST_OPEN_MS:.0f} ms", opened <= MOST_OPEN_MS)
    page.goto(f"{address}?version=2")
    page.locator(".score").first.wait_for()
    parts = {
        "highlight of the range": f"{address}?version=2&tab=replaced",
        "the whole range": f"{address}?version=2&all=1&tab=replaced",
        "choosing a boundary": f"{address}?boundary=1",
        "differences of two versions": f"{address}?version=2&diff=1&tab=summary",
    }
    for name, part in parts.items():
        with Trace(page) as trace:
            page.goto(part)
            page.wait_for_function("() => !document.querySelector(':not(:defined)')")
            page.mouse.move(200, 400)
            for _ in range(10):
                page.mouse.wheel(0, 900)
                page.wait_for_timeout(40)
        longest = max(cpu for _, cpu in trace.tasks())
        yield Figure(
            f"{name}: longest task of the main thread",
            f"{longest:.0f} ms CPU",
            f"< {TASK_MS:.0f} ms",
            longest < TASK_MS,
        )


def section(figures: list[Figure]) -> str:
    rows = "".join(
        f"| {figure.name} | {figure.value} | {figure.target} | {'met' if figure.holds else 'missed'} |\n"
        for figure in figures
    )
    return f"{HEADING}\n\nCPU time, medians of seven; by `python -m bench.reviews`.\n\n| | measured | at most | |\n|---|---|---|---|\n{rows}"


def put_into(text: str, part: str) -> str:
    """The part in the place of the older one, or at the end."""
    before, _, rest = text.partition(HEADING)
    after = "".join(
        itertools.dropwhile(lambda line: not line.startswith("## "), rest.splitlines(keepends=True))
    )
    return before.rstrip() + "\n\n" + part + ("\n" + after if after else "")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reviews", description=__doc__)
    parser.add_argument("--write", action="store_true", help="into bench/RESULTS.md")
    options = parser.parse_args(arguments)
    figures = []
    for figure in measure():
        print(figure.line, flush=True)
        figures.append(figure)
    if options.write:
        RESULTS.write_text(put_into(RESULTS.read_text(encoding="utf-8"), section(figures)), encoding="utf-8")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
