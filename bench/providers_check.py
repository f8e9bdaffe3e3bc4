"""Both providers against servers that are not ours, by command line and browser: see bench/foreign_servers.py.

Run `make providers-check` (ARGS="--only fakellm": one server). Each server gets an environment of its own below `.data`
(once; it needs a package index and, for llama.cpp, a C compiler) and gives answers to a real `agentweb up`. Prints a table,
and fails if a job did.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from bench import foreign_servers
from bench.stand_in import running_stand_in
from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES, fresh_link, sign_in
from tests.provider_jobs import Job, ask
from tests.running import Up, started

Row = tuple[str, str, str, str]

MOCKS = {
    "mock-text": "Hello from a mock.",
    "mock-limit": "litellm.RateLimitError",
    "mock-overflow": "litellm.ContextWindowExceededError",
}
BEHIND = ("think", "tools", "slow", "too-long", "error-in-the-middle", "fail-401", "fail-529")


@dataclass(frozen=True)
class Case:
    """`wrong` says what is not as it should be, or nothing."""

    model: str
    what: str
    wrong: Callable[[Job], str]
    stop: bool = False
    words: str = "Hello"


def wants(condition: bool, words: str) -> str:
    return "" if condition else words


def fails_with(*kinds: str) -> Callable[[Job], str]:
    def wrong(job: Job) -> str:
        told = job.code == 1 and bool(set(job.fault_kinds) & set(kinds)) and "\n  " in job.errors
        return wants(told, f"code {job.code}, {job.fault_kinds}, {job.errors}")

    return wrong


CASES = (
    Case("mock-text", "text", lambda job: wants((job.code, job.text) == (0, MOCKS["mock-text"]), job.text)),
    Case("mock-text", "usage", lambda job: wants(job.answers[-1]["usage"]["output"] > 0, "no usage")),
    Case("think", "thinking", lambda job: wants(
        [block["thinking"] for block in job.blocks("thinking")] == ["Let me think about this."], "no thinking")),
    Case("tools", "parallel tools", lambda job: wants(
        job.code == 0 and len(job.blocks("toolCall")) == 3 and job.text == "That is what the tools said.",
        f"{len(job.blocks('toolCall'))} calls, then {job.text!r}")),
    Case("slow", "stop", lambda job: wants(
        job.code == 130 and job.answers[-1]["stopReason"] == "aborted" and job.text.startswith("A "),
        f"code {job.code}"), stop=True),
    Case("too-long", "output limit", lambda job: wants(
        job.answers[-1]["stopReason"] == "length" and "cut off" in job.errors, f"code {job.code}, {job.errors}")),
    Case("error-in-the-middle", "error in the middle", lambda job: wants(
        job.code == 1 and job.text == "This will not end well", f"code {job.code}, {job.text!r}")),
    Case("fail-401", "refused key", fails_with("auth")),
    Case("fail-529", "overloaded", fails_with("overloaded", "server")),
    Case("mock-limit", "rate limit", fails_with("rate_limit")),
    Case("mock-overflow", "too much context", fails_with("overflow")),
)  # fmt: skip


CLAUDE = "claude-sonnet-5-5"
HELLO, TOLD = "Hello from a rule.", "That is what the tools said."
RULES: list[dict[str, object]] = [
    {"when": {"tool_result_contains": "README.md", "messages_contain": "look around"}, "respond": {"content": TOLD}},
    {"when": {"messages_contain": "look around"}, "respond": {"tool_calls": [
        {"name": "ls", "arguments": {}}, {"name": "find", "arguments": {"pattern": "*.md"}}]}},
    {"when": {"messages_contain": "say nothing"}, "respond": {"content": ""}},
    {"respond": {"content": HELLO}},
]  # fmt: skip


def by_rules(model: str) -> tuple[Case, ...]:
    """The same jobs for both of the APIs that fakellm speaks. It streams no errors, and usage in one of them only."""
    return (
        Case(model, "text", lambda job: wants((job.code, job.text) == (0, HELLO), job.text)),
        Case(model, "parallel tools", lambda job: wants(
            job.code == 0 and len(job.blocks("toolCall")) == 2 and job.text == TOLD,
            f"code {job.code}, {len(job.blocks('toolCall'))} calls, then {job.text!r}, {job.errors}"),
            words=f"Please look around, {model}."),
        Case(model, "an empty answer", lambda job: wants(
            job.code == 0 and job.text == "", f"code {job.code}, {job.text!r}"), words="Please say nothing."),
    )  # fmt: skip


USAGE = Case(CLAUDE, "usage", lambda job: wants(job.answers[-1]["usage"]["output"] > 0, "no usage"))
NOISE = (
    Case("random", "noise is an answer", lambda job: wants(
        job.code == 0 and job.answers[-1]["stopReason"] in ("stop", "length"),
        f"code {job.code}, {job.errors}")),
    Case("random", "stop", lambda job: wants(
        job.code in (0, 130) and job.answers[-1]["stopReason"] in ("aborted", "stop", "length"),
        f"code {job.code}, {job.answers[-1]}"), stop=True),
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="make providers-check")
    parser.add_argument("--only", choices=SERVERS, default="")
    chosen = parser.parse_args().only
    rows = []
    for name, check in SERVERS.items():
        if chosen in ("", name):
            with tempfile.TemporaryDirectory(prefix="aw-check-") as folder:
                (Path(folder) / "README.md").write_text("# hello\n", encoding="utf-8")
                rows += [(name, *row) for row in check(Path(folder))]
    print("| Server | By | Model | What | Result |\n|---|---|---|---|---|")
    for server, by, model, what, wrong in rows:
        print(f"| {server} | {by} | {model} | {what} | {wrong or 'ok'} |")
    return 1 if any(row[-1] for row in rows) else 0


def check_litellm(folder: Path) -> list[Row]:
    with (
        running_stand_in() as service,
        foreign_servers.litellm(folder, service.url, MOCKS, BEHIND) as address,
        working(folder, address, [*MOCKS, *BEHIND]) as up,
    ):
        return [*command_line(up, CASES), *browser_rows(up)]


def check_fakellm(folder: Path) -> list[Row]:
    with (
        foreign_servers.fakellm(folder, RULES) as address,
        working(folder, f"{address}/v1", ["by-rules"], anthropic=address) as up,
    ):
        return [
            *command_line(up, by_rules("by-rules")),
            *command_line(up, (*by_rules(CLAUDE), USAGE), provider="anthropic"),
        ]


def check_llama(folder: Path) -> list[Row]:
    with foreign_servers.llama(folder, "random") as address, working(folder, address, ["random"]) as up:
        return list(command_line(up, NOISE))


SERVERS: dict[str, Callable[[Path], list[Row]]] = {
    foreign_servers.LITELLM: check_litellm,
    foreign_servers.FAKELLM: check_fakellm,
    foreign_servers.LLAMA: check_llama,
}


@contextlib.contextmanager
def working(folder: Path, address: str, models: Sequence[str], *, anthropic: str = "") -> Iterator[Up]:
    """A server of ours that asks there."""
    variables = {
        "OPENAI_COMPATIBLE_BASE_URL": address,
        "OPENAI_COMPATIBLE_API_KEY": foreign_servers.KEY,
        "OPENAI_COMPATIBLE_MODELS": ",".join(models),
        "AGENTWEB_RETRY_ENABLED": "0",
    }
    if anthropic:
        variables |= {"ANTHROPIC_BASE_URL": anthropic, "ANTHROPIC_API_KEY": foreign_servers.KEY}
    with started(folder / "data", "--workspace", str(folder), **variables) as up:
        yield up


def command_line(up: Up, cases: Sequence[Case], *, provider: str = "openai-compatible") -> Iterator[Row]:
    for case in cases:
        job = ask(up, case.words, model=f"{provider}/{case.model}", stop_at_first_word=case.stop)
        wrong = "; ".join(job.breaches()) or (case.wrong(job) if job.answers else job.errors)
        yield "prompt --json", f"{provider}/{case.model}", case.what, " ".join(wrong.split())


def browser_rows(up: Up) -> Iterator[Row]:
    """One job with tools and one that fails in the middle, as a person gives and sees them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        page = browser.new_page()
        page.set_default_timeout(30_000)
        sign_in(page, fresh_link(up))
        for model, what, words in (
            ("tools", "parallel tools", "That is what the tools said."),
            ("error-in-the-middle", "error in the middle", "What had arrived is kept."),
        ):
            page.goto(f"{up.address}/")
            page.get_by_role("combobox", name="Model").select_option(f"openai-compatible/{model}")
            page.get_by_role("textbox", name="Message").fill("Hello")
            page.get_by_role("button", name="Send").click()
            try:
                expect(page.get_by_role("log", name="Transcript")).to_contain_text(words, timeout=30_000)
                wrong = ""
            except AssertionError:
                wrong = f"the page does not say {words!r}"
            yield "browser", model, what, wrong
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
