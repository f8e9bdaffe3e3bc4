"""Pages at 50,000 entries beside the same at 500: answers, sizes, what a browser holds, and what it computes.

    python -m bench.pages [--entries 50000] [--seconds 60] [--only requests,panning,deltas,paint]

Starts the product with a stand-in model, brings in two sessions of the same making through the importer (or from
BENCH_TREES, a folder with `tree-5000.jsonl[.gz]` and `tree-50000.jsonl[.gz]`), asks each for the same pages in turn,
and traces a headless Chromium while the large tree is panned and while an answer streams at 200 deltas a second.
Medians of three.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.product import ROOT, running_product
from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES, fresh_link, sign_in
from tests.running import Up

Json = dict[str, Any]

SMALL, LARGE = 500, 50_000
ROUNDS, ASKED = 3, 9
RATIO, PAYLOAD_KB, NODES, FRAME_MS, TASK_MS, PAINT_KB = 2.0, 80, 1_500, 16.0, 100.0, 150
RATE = 200
WORDS = ("harbour", "berth", "tide", "slots", "picker", "ledger", "mooring", "clock")


# --- the sessions ------------------------------------------------------------------------------------------


def session_text(entries: int, seed: int = 7) -> str:
    """A session file: runs of tool calls, one branch per 40 entries, some labels, errors and compactions."""
    chance = random.Random(seed)
    lines: list[Json] = [{"type": "session", "version": 3, "id": f"bench-{entries}", "cwd": "/nowhere"}]
    parents: list[str] = []
    parent: str | None = None
    for number in range(1, entries + 1):
        name = f"e{number:06d}"
        if parents and chance.random() < 1 / 40:
            parent = parents[-chance.randrange(1, min(len(parents), 400) + 1)]
        lines.append(_record(chance, number, name, parent))
        parents.append(name)
        parent = name
    return "\n".join(json.dumps(line) for line in lines) + "\n"


def _record(chance: random.Random, number: int, name: str, parent: str | None) -> Json:
    base: Json = {"id": name, "parentId": parent, "timestamp": "2031-01-01T00:00:00.000Z"}
    words = " ".join(chance.choice(WORDS) for _ in range(30))
    luck = chance.random()
    if luck < 0.001 and parent is not None:
        return base | {"type": "label", "targetId": parent, "label": f"mark {number}"}
    if luck < 0.002 and parent is not None:
        return base | {
            "type": "compaction",
            "summary": words,
            "firstKeptEntryId": parent,
            "tokensBefore": 900,
        }
    text = [{"type": "text", "text": words}]
    if luck < 0.15 or parent is None:
        message: Json = {"role": "user", "content": words}
    elif luck < 0.6:
        usage = {"input": 100, "output": 20, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.001}}
        message = {"role": "assistant", "content": text, "usage": usage, "stopReason": "stop"}
    else:
        message = {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "bash",
            "content": text,
            "isError": luck > 0.98,
        }
    return base | {"type": "message", "message": message | {"timestamp": number}}


def bring_in(up: Up, files: list[Path]) -> list[str]:
    """Import files into the product's database; the sessions' keys."""
    command = [sys.executable, "-m", "bench.pages", "--bring-in", *map(str, files)]
    environment = {**up.environment, "DJANGO_SETTINGS_MODULE": "agentweb.settings"}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    keys: list[str] = json.loads(done.stdout.strip().splitlines()[-1])
    return keys


def import_files(files: list[str]) -> None:
    import django

    django.setup()
    from django.contrib.auth.models import User

    from sessions_app.formats.jsonl import read_session
    from sessions_app.models import Workspace
    from sessions_app.search_index import catch_up
    from sessions_app.services.sessions import import_session_file

    keys = []
    for path in files:
        file = read_session(Path(path).read_text(encoding="utf-8"), lambda: "minted")
        workspace, owner = Workspace.objects.earliest("pk"), User.objects.earliest("pk")
        made = import_session_file(workspace=workspace, owner=owner, file=file)
        catch_up(type(made).objects.filter(pk=made.pk), 600)
        keys.append(str(made.key))
    print(json.dumps(keys))


def session_files(folder: Path, large: int) -> list[Path]:
    given = os.environ.get("BENCH_TREES")
    found = []
    for entries in (SMALL, large):
        target = folder / f"tree-{entries}.jsonl"
        source = Path(given) / f"tree-{entries}.jsonl.gz" if given else target
        if source.exists():
            target.write_bytes(gzip.decompress(source.read_bytes()))
        else:
            target.write_text(session_text(entries), encoding="utf-8")
        found.append(target)
    return found


# --- requests ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """One line of the report; `holds` says whether it is within its target."""

    name: str
    value: str
    target: str
    holds: bool

    @property
    def line(self) -> str:
        return f"{'ok  ' if self.holds else 'MISS'} {self.name}: {self.value} (target {self.target})"


def requests(client: httpx.Client, small: str, large: str) -> Iterator[Figure]:
    """The same requests to both sessions, in turn."""
    # Each time another one: what is asked for again and again is kept.
    places = {key: itertools.cycle(_capsules(client, key)) for key in (small, large)}
    subjects: dict[str, Callable[[str], str]] = {
        "session page": lambda key: f"/s/{key}/",
        "tree page": lambda key: f"/s/{key}/tree/",
        "expand": lambda key: f"/s/{key}/tree/window/?open={next(places[key])}.0",
        "hoist": lambda key: f"/s/{key}/tree/window/?root={next(places[key])}",
        "search": lambda key: f"/s/{key}/tree/window/?q=harbour+ledger+picker",
    }
    for name, address in subjects.items():
        ratios, times = [], []
        for key in (small, large):
            client.get(address(key)).raise_for_status()
        for _ in range(ROUNDS):
            one, other = [], []
            for _ in range(ASKED):
                one.append(_milliseconds(client, address(small)))
                other.append(_milliseconds(client, address(large)))
            times.append((statistics.median(one), statistics.median(other)))
            ratios.append(times[-1][1] / times[-1][0])
        ratio = statistics.median(ratios)
        shown = f"{ratio:.2f} × ({times[0][0]:.0f} → {times[0][1]:.0f} ms)"
        yield Figure(name, shown, f"≤ {RATIO:.0f} ×", ratio <= RATIO)
    for name in ("tree page", "expand", "search"):
        size = len(gzip.compress(client.get(subjects[name](large)).content)) / 1024
        yield Figure(
            f"payload of {name}", f"{size:.1f} KB", f"≤ {PAYLOAD_KB} KB compressed", size <= PAYLOAD_KB
        )


def _capsules(client: httpx.Client, key: str) -> list[str]:
    """Where the capsules begin that a wide window shows."""
    svg = client.get(f"/s/{key}/tree/window/?width=8000&height=2000").json()["svg"]
    return re.findall(r'data-place="(\d+\.\d+)" data-key="\d', svg)


def _milliseconds(client: httpx.Client, address: str) -> float:
    begun = time.perf_counter()
    client.get(address).raise_for_status()
    return 1000 * (time.perf_counter() - begun)


# --- the browser -------------------------------------------------------------------------------------------


class Trace:
    """What Chromium's main thread did while the block ran: tasks with their CPU time, and where frames began."""

    def __init__(self, page: Page) -> None:
        self._cdp = page.context.new_cdp_session(page)
        self._events: list[Json] = []
        self._complete = False

    def __enter__(self) -> Trace:
        self._cdp.on("Tracing.dataCollected", lambda data: self._events.extend(data["value"]))
        self._cdp.on("Tracing.tracingComplete", lambda _: setattr(self, "_complete", True))
        wanted = {
            "includedCategories": ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
        }
        self._cdp.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": wanted})
        return self

    def __exit__(self, *_: object) -> None:
        self._cdp.send("Tracing.end")
        while not self._complete:
            self._cdp.send("Runtime.evaluate", {"expression": "1"})
        busiest = max(
            {(e["pid"], e["tid"]) for e in self._events if e.get("args", {}).get("name") == "CrRendererMain"},
            key=lambda thread: sum(1 for e in self._events if (e.get("pid"), e.get("tid")) == thread),
        )
        self.main = [e for e in self._events if (e.get("pid"), e.get("tid")) == busiest]

    def tasks(self) -> list[tuple[float, float]]:
        """(start, CPU) of each task, in milliseconds."""
        found = [(e["ts"] / 1000, e.get("tdur", e.get("dur", 0)) / 1000) for e in self.main if _is_task(e)]
        return sorted(found)

    def frames(self) -> list[float]:
        """CPU of the main thread from one frame's commit to the next one's, in milliseconds."""
        begins = sorted(e["ts"] / 1000 for e in self.main if e.get("name") == "Commit")
        totals = [0.0] * max(0, len(begins) - 1)
        index = 0
        for start, cpu in self.tasks():
            while index + 1 < len(begins) and begins[index + 1] <= start:
                index += 1
            if index < len(totals) and start >= begins[0]:
                totals[index] += cpu
        return totals


def _is_task(event: Json) -> bool:
    return event.get("ph") == "X" and event.get("name") in ("RunTask", "ThreadControllerImpl::RunTask")


_PAN = """
async (milliseconds) => {
  const scroll = document.querySelector("[data-scroll]"), begun = performance.now();
  let by = -24;
  while (performance.now() - begun < milliseconds) {
    const before = scroll.scrollLeft;
    scroll.scrollLeft += by;
    if (scroll.scrollLeft === before) by = -by;
    await new Promise(requestAnimationFrame);
  }
}
"""


def panning(page: Page, address: str) -> Iterator[Figure]:
    page.goto(address)
    page.wait_for_function("() => !document.querySelector(':not(:defined)')")
    page.wait_for_timeout(1000)
    values, nodes = [], []
    for _ in range(ROUNDS):
        with Trace(page) as trace:
            page.evaluate(_PAN, 6000)
        frames = sorted(trace.frames())
        values.append(frames[int(0.95 * (len(frames) - 1))])
        nodes.append(page.evaluate("document.querySelectorAll('*').length"))
    value = statistics.median(values)
    yield Figure(
        "CPU per frame while panning, p95", f"{value:.1f} ms", f"≤ {FRAME_MS:.0f} ms", value <= FRAME_MS
    )
    yield Figure("DOM nodes of the tree page", f"{max(nodes):,}", f"≤ {NODES:,}", max(nodes) <= NODES)


def deltas(page: Page, base: str, seconds: int) -> Iterator[Figure]:
    page.goto(base)
    page.get_by_role("combobox", name="Model").select_option("anthropic/claude-sonnet-5-5")
    page.get_by_role("textbox", name="Message").fill("hello")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/s/**")
    page.get_by_role("status", name="Connection").get_by_text("Connected").wait_for()
    page.wait_for_function("() => !document.querySelector('#live > *')")
    page.get_by_role("textbox", name="Message").fill(f"stream {RATE * seconds} at {RATE}")
    with Trace(page) as trace:
        page.get_by_role("button", name="Send").click()
        page.wait_for_function(
            "() => document.querySelector('#live')?.textContent.length > 20", timeout=60_000
        )
        page.wait_for_function(
            "() => !document.querySelector('#live > *')", timeout=1000 * (seconds * 3 + 60), polling=1000
        )
    longest = max(cpu for _, cpu in trace.tasks())
    yield Figure(
        f"longest task at {RATE} deltas/s for {seconds} s",
        f"{longest:.0f} ms",
        f"≤ {TASK_MS:.0f} ms",
        longest <= TASK_MS,
    )
    seq = page.locator("#transcript > article").last.get_attribute("id").partition("-")[2]  # type: ignore[union-attr]
    key = page.url.partition("/s/")[2].partition("/")[0]
    stored = page.request.get(f"{base}/s/{key}/entries/{seq}/?source=1").text()
    # A long answer is folded on the page: the rest is a press away.
    if (rest := page.locator(f"#entry-{seq} .entry__more :is(a, button)")).count():
        rest.first.click()
        rest.first.wait_for(state="detached")
    shown = page.locator(f"#entry-{seq} [data-copy]").first.inner_text()
    same = shown.split() == stored.split()
    yield Figure(
        "DOM text at the end", f"{'equals' if same else 'differs from'} the stored text", "equal", same
    )


def paint(page: Page, address: str) -> Iterator[Figure]:
    seen: dict[str, int] = {}
    outside: list[str] = []
    origin = "/".join(address.split("/")[:3])

    def took(response: Any) -> None:
        if not response.url.startswith(origin):
            outside.append(response.url)
        if response.request.resource_type in ("stylesheet", "script"):
            seen[response.url] = len(gzip.compress(response.body()))

    page.on("response", took)
    page.goto(address)
    page.wait_for_function("() => !document.querySelector(':not(:defined)')")
    page.wait_for_timeout(500)
    page.remove_listener("response", took)
    size = sum(seen.values()) / 1024
    inline = page.evaluate(
        "document.querySelectorAll('script:not([src]):not([type=importmap]), style').length"
    )
    yield Figure(
        "CSS and JS of a session page", f"{size:.0f} KB", f"≤ {PAINT_KB} KB compressed", size <= PAINT_KB
    )
    yield Figure(
        "requests to elsewhere, inline scripts",
        f"{len(outside)}, {inline}",
        "0, 0",
        not outside and not inline,
    )


# --- all of it ---------------------------------------------------------------------------------------------


def signed_in(browser: Browser, up: Up) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page = context.new_page()
    sign_in(page, fresh_link(up))
    page.close()
    return context


def measure(large: int, seconds: int, only: set[str]) -> Iterator[Figure]:
    with (
        running_product() as product,
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
    ):
        up = product.up
        small_key, large_key = bring_in(up, session_files(Path(folder), large))
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        context = signed_in(browser, up)
        if "requests" in only:
            cookies = {cookie["name"]: cookie["value"] for cookie in context.cookies()}
            with httpx.Client(base_url=up.address, cookies=cookies, timeout=120) as client:
                yield from requests(client, small_key, large_key)
        page = context.new_page()
        if "paint" in only:
            yield from paint(page, f"{up.address}/s/{small_key}/")
        if "panning" in only:
            yield from panning(page, f"{up.address}/s/{large_key}/tree/")
        if "deltas" in only:
            yield from deltas(page, up.address, seconds)
        browser.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--entries", type=int, default=LARGE)
    parser.add_argument("--seconds", type=int, default=60, help="how long the answer streams")
    parser.add_argument("--only", default="requests,paint,panning,deltas")
    parser.add_argument("--bring-in", nargs="+", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.bring_in:
        import_files(options.bring_in)
        return 0
    missed = 0
    for figure in measure(options.entries, options.seconds, set(options.only.split(","))):
        print(figure.line, flush=True)
        missed += not figure.holds
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
