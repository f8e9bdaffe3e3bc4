"""One real server, one real browser, one session after another: what a plan says is done to them, then all is compared.

`Arena` holds what lives for many sessions; `Replay` plays one plan and gives a `Result`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, BrowserContext, Error, Page

from bench.stand_in import running_stand_in
from sessions_app.agent.sandboxes import processes
from tests.browser import replay_checks as checks
from tests.browser.conftest import first_start, sign_in
from tests.browser.replay_checks import Happened, Kill
from tests.browser.replay_plan import KILLS, Fault, Plan
from tests.browser.replay_rows import Rows
from tests.browser.replay_service import EFFECTS, TimedService
from tests.running import Up, processes_of, wait_for

Json = dict[str, Any]

MODELS = {"anthropic": "claude-haiku-5-5", "openai-compatible": "stand-in"}
SETTLE_AT_MOST = 150.0
CATCH_UP_SECONDS = 45.0
_TICK_MS = 120

# Times are told by the reader's clock, buttons come with scripts: neither is stored text.
_READ = r"""(root) => {
  const text = (element) => {
    const copy = element.cloneNode(true);
    for (const other of copy.querySelectorAll("local-time, button, template")) other.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const words = (element) => [...element.querySelectorAll(".prose, .think__text")]
    .map((part) => part.textContent.match(/a\d+[wh]\d+t\d+/g) ?? []);
  const articles = [...root.querySelectorAll("article[data-seq]")]
    .map((article) => ({ id: article.id, text: text(article), words: words(article) }));
"""
SHOWN = f"""() => {{ const read = {_READ} return articles; }};
  const live = document.getElementById("live");
  return {{
    articles: read(document.getElementById("transcript")),
    live: [...live.querySelectorAll(".prose, .think__text")].map((p) => p.textContent.match(/a\\d+[wh]\\d+t\\d+/g) ?? []),
    liveCount: live.querySelectorAll("article").length,
    state: document.querySelector("run-state")?.dataset.state ?? "",
    connection: document.getElementById("connection")?.firstChild?.textContent.trim() ?? "",
  }};
}}"""
STORED = f"""(html) => {{
  const read = {_READ} return articles; }};
  const template = document.createElement("template");
  template.innerHTML = html;
  return {{ articles: read(template.content) }};
}}"""


@dataclass(slots=True)
class Result:
    """What came of one plan.

    Seconds: until runs were begun (`waited`), from a worker's death to the run's end (`closed`), of text gone with
    it (`lost`), until the pages agreed with the rows (`caught_up`).
    """

    plan: Plan
    done: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    closed: list[float] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    caught_up: list[float] = field(default_factory=list)
    looks: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Arena:
    up: Up
    service: TimedService
    rows: Rows
    context: BrowserContext
    project: Path
    lease: float


@contextlib.contextmanager
def arena(browser: Browser, folder: Path, *, lease: int) -> Iterator[Arena]:
    """A server with an empty data directory and a signed-in browser; checks that nothing outlives the server."""
    service = TimedService()
    with running_stand_in(server=service):
        variables = {
            "ANTHROPIC_API_KEY": "any",
            "ANTHROPIC_BASE_URL": service.url,
            "OPENAI_COMPATIBLE_BASE_URL": f"{service.url}/v1",
            "OPENAI_COMPATIBLE_MODELS": MODELS["openai-compatible"],
            "AGENTWEB_RUN_LEASE_SECONDS": str(lease),
        }
        with first_start(folder, **variables) as up:
            rows = Rows(up)
            context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
            try:
                page = context.new_page()
                sign_in(page, up.link)
                page.close()
                yield Arena(up, service, rows, context, folder / "project", float(lease))
            finally:
                context.set_offline(False)
                context.close()
                rows.stop()
            up.stop()
            left = [" ".join(process.cmdline()) for process in processes_of(up.data)]
            assert left == [], f"outlived the server: {left}"


class Tab:
    """A page of the session. Without a server it can't be loaded."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.page: Page = context.new_page()
        self.page.set_default_timeout(5_000)
        self.script_errors: list[str] = []
        self.page.on("pageerror", lambda error: self.script_errors.append(str(error)))
        self.loaded = False

    def load(self) -> None:
        """One attempt."""
        self.loaded = False
        with contextlib.suppress(Error):
            answer = self.page.goto(self.address, timeout=10_000, wait_until="domcontentloaded")
            self.loaded = bool(answer and answer.ok)

    def shown(self) -> Json | None:
        """None when it can't be asked now."""
        if not self.loaded:
            return None
        with contextlib.suppress(Error):
            found: Json = self.page.evaluate(SHOWN)
            return found
        return None


class Sleep:
    """All tabs of the browser stop, as under a closed lid: no timer runs, sockets fill up, nothing can be asked.

    The browser's own way (`Page.setWebLifecycleState`) does nothing to pages that are driven from outside.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._processes: list[int] = []
        self.until = 0.0

    def begin(self, until: float) -> None:
        session = self._browser.new_browser_cdp_session()
        found = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        self._processes = [process["id"] for process in found if process["type"] == "renderer"]
        self._signal(signal.SIGSTOP)
        self.until = until

    def end(self) -> None:
        self._signal(signal.SIGCONT)
        self._processes, self.until = [], 0.0

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)


class Replay:
    """One plan in one new session."""

    def __init__(self, arena: Arena, plan: Plan) -> None:
        self.arena = arena
        self.plan = plan
        self.happened = Happened()
        self.result = Result(plan)
        self.key: str = arena.rows.ask("create", plan.provider, MODELS[plan.provider])
        self.address = f"{arena.up.address}/s/{self.key}/"
        self.tabs = [Tab(arena.context, self.address)]
        assert arena.context.browser
        self.sleep = Sleep(arena.context.browser)
        self.said_in: dict[str, Tab] = {}
        self.online_at = 0.0
        self.began = 0.0

    def play(self) -> Result:
        began = time.time()
        self.arena.service.plans[self.plan.seed] = self.plan
        refused = len(self.arena.service.problems)
        try:
            self._begin()
            self._disturb()
            self._come_to_rest()
            if self._go_on():
                self._come_to_rest()
            self._check_rows()
        finally:
            self.sleep.end()
            for tab in self.tabs:
                self.result.problems += [f"script error: {error}" for error in tab.script_errors]
                tab.page.close()
            self.arena.context.set_offline(False)
        self.result.problems += [f"refused: {words}" for words in self.arena.service.problems[refused:]]
        self.result.seconds = time.time() - began
        return self.result

    # ---- what happens ----

    def _begin(self) -> None:
        tab = self.tabs[0]
        # The server may still be getting over what the session before did to it.
        wait_for(lambda: self._ready(tab), 60)
        self._say(tab, self.plan.prompt)
        self.began = time.time()

    def _ready(self, tab: Tab) -> bool:
        if not tab.loaded:
            tab.load()
        shown = tab.shown()
        return bool(shown and shown["connection"] == "Connected" and "worker" in self.arena.up.children())

    def _disturb(self) -> None:
        waiting = list(self.plan.faults)
        give_up = self.began + self.plan.seconds + 60
        while waiting and time.time() < give_up:
            self._tick()
            waiting = [fault for fault in waiting if not (self._is_due(fault) and self._do(fault))]

    def _is_due(self, fault: Fault) -> bool:
        if fault.after_words:
            return self.arena.service.words_sent(self.plan.seed) >= fault.after_words
        return time.time() >= self.began + fault.at

    def _do(self, fault: Fault) -> bool:
        """Whether it could be done now."""
        now = time.time()
        tab = self.tabs[-1]
        if fault.kind in KILLS:
            self._kill(KILLS[fault.kind])
        elif self.sleep.until:
            return False
        elif fault.kind == "freeze":
            self.sleep.begin(now + fault.lasts)
        elif fault.kind == "offline":
            self.arena.context.set_offline(True)
            self.online_at = now + fault.lasts
        elif not tab.loaded:
            return False
        elif fault.kind == "reload":
            tab.loaded = False
        elif fault.kind == "second tab":
            self.tabs.append(Tab(self.arena.context, self.address))
        elif fault.kind == "stop":
            with contextlib.suppress(Error):
                self.happened.stops.append(now)
                tab.page.get_by_role("button", name="Stop").click(timeout=500)
        else:
            later = fault.kind == "follow up"
            if not self._say(tab, f"{fault.kind} {self.plan.seed} {len(self.happened.said)}", later=later):
                return False
        self.result.done.append(fault.kind)
        return True

    def _kill(self, targets: tuple[str, ...]) -> None:
        children = self.arena.up.children()
        for target in targets:
            if process := children.get(target):
                # The time first: what is sent while we kill may be lost.
                self.happened.kills.append(Kill(time.time(), target))
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        if "files" in targets:
            shutil.rmtree(self.arena.up.data / "broker", ignore_errors=True)
            (self.arena.up.data / "broker").mkdir(exist_ok=True)

    def _say(self, tab: Tab, text: str, *, later: bool = False) -> bool:
        """False when other words still stand in the field: a person would not write over them."""
        with contextlib.suppress(Error):
            field = tab.page.get_by_role("textbox", name="Message")
            if field.input_value():
                return False
            field.fill(text)
            self.said_in[text] = tab
            field.press("Alt+Enter" if later else "Enter")
            self.happened.said.append(text)
        return True

    # ---- time passes ----

    def _tick(self) -> None:
        now = time.time()
        if any(not kill.back for kill in self.happened.of_worker()) and "worker" in self.arena.up.children():
            for kill in self.happened.of_worker():
                kill.back = kill.back or now
        if self.sleep.until:
            if now < self.sleep.until:
                time.sleep(_TICK_MS / 1000)
                return
            self.sleep.end()
        if self.online_at and now >= self.online_at:
            self.arena.context.set_offline(False)
            self.online_at = 0.0
        for tab in self.tabs:
            if not tab.loaded and not self.online_at:
                tab.load()
            if shown := tab.shown():
                self.result.looks += 1
                self.result.problems += [f"seen in between: {words}" for words in checks.check_moment(shown)]
        self.tabs[0].page.wait_for_timeout(_TICK_MS)

    def _come_to_rest(self) -> None:
        """Until nothing runs or waits unsent; then until every page shows what is stored."""
        give_up = time.time() + SETTLE_AT_MOST
        while time.time() < give_up:
            self._tick()
            idle = not self.online_at and not self.sleep.until and all(tab.loaded for tab in self.tabs)
            if idle and self._all_is_sent() and not self._is_active():
                break
        else:
            self.result.problems.append(f"did not come to rest in {SETTLE_AT_MOST:.0f} s")
            return
        self._compare_pages()

    def _is_active(self) -> bool:
        return any(run["active"] for run in self.arena.rows.ask("runs", self.key))

    def _all_is_sent(self) -> bool:
        """Words that could not be sent still stand in the field; a person presses Enter again."""
        for tab in self.tabs:
            with contextlib.suppress(Error):
                field = tab.page.get_by_role("textbox", name="Message")
                text = field.input_value().strip()
                if text and self.said_in.get(text) is not tab:
                    # A tab opened meanwhile shows the draft of the other, which is the one that sends it.
                    field.fill("")
                elif text:
                    field.press("Enter")
                    tab.page.wait_for_timeout(500)
                    return False
        return True

    def _go_on(self) -> bool:
        """A run that ended badly can be continued with the page's own button, a stopped one by saying so."""
        newest = self.arena.rows.ask("runs", self.key)[-1]
        page = self.tabs[0].page
        if newest["status"] == "stopped":
            self._say(self.tabs[0], f"go on {self.plan.seed}")
        elif newest["status"] in ("interrupted", "failed"):
            page.locator("#run-notice button").click()
        else:
            return False

        def begun() -> bool:
            page.wait_for_timeout(50)
            return bool(self.arena.rows.ask("runs", self.key)[-1]["id"] != newest["id"])

        wait_for(begun, 20)
        return True

    # ---- what must hold ----

    def _compare_pages(self) -> None:
        facts = self.arena.rows.ask("everything", self.key)
        began = time.time()
        for tab in self.tabs:
            wrong = ["it can't be asked"]
            while wrong and time.time() < began + CATCH_UP_SECONDS:
                if shown := tab.shown():
                    wrong = checks.check_page(shown, tab.page.evaluate(STORED, facts["html"]), facts)
                if wrong:
                    self._tick()
            self.result.problems += [f"tab {self.tabs.index(tab) + 1}: {words}" for words in wrong]
        self.result.caught_up.append(time.time() - began)

    def _check_rows(self) -> None:
        facts = self.arena.rows.ask("everything", self.key)
        sent = {number: s for number, s in self.arena.service.sent.items() if s.seed == self.plan.seed}
        result = self.result
        result.statuses = [run["status"] for run in facts["runs"]]
        result.waited = [run["started"] - run["created"] for run in facts["runs"] if run["started"]]
        answers, result.lost = checks.check_answers(facts, sent, self.happened)
        natural = self.plan.seconds * 1.5 + 10
        times, result.closed = checks.check_times(
            facts, self.happened, lease=self.arena.lease, natural=natural
        )
        result.problems += [
            *checks.check_entries(facts),
            *checks.check_calls(facts),
            *answers,
            *times,
            *checks.check_outcomes(facts),
            *checks.check_said(facts, self.happened),
            *checks.check_effects(self._effects()),
        ]
        for run in facts["runs"]:
            if run["marker"] and (left := processes.living(run["marker"])):
                result.problems.append(f"run {run['id']} left the processes {left}")

    def _effects(self) -> list[str]:
        path = self.arena.project / EFFECTS
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
