"""The openai-compatible provider against a server that is not ours: LiteLLM's proxy, by command line and browser.

Run `make providers-check`. It installs the proxy into an environment of its own below `.data` (once), starts it on
the loopback with mock answers and with models behind which our stand-in speaks Anthropic's API (so that the proxy
translates tools, thinking and errors), gives jobs to a real `agentweb up`, prints a table, and fails if a job did.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from playwright.sync_api import expect, sync_playwright

from bench.stand_in import running_stand_in
from tests.browser.chromium import find_chromium
from tests.browser.conftest import SWITCHES, fresh_link, sign_in
from tests.provider_jobs import Job, ask
from tests.running import Up, started

PROXY = "litellm[proxy]==1.108.7"
FOLDER = Path(__file__).parent.parent / ".data" / "providers-check"
KEY = "sk-providers-check"
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


def main() -> int:
    program = installed_proxy()
    with tempfile.TemporaryDirectory(prefix="aw-check-") as name:
        folder = Path(name)
        (folder / "README.md").write_text("# hello\n", encoding="utf-8")
        with (
            running_stand_in() as service,
            running_proxy(program, folder, service.url) as address,
            started(
                folder / "data", "--workspace", str(folder),
                OPENAI_COMPATIBLE_BASE_URL=address, OPENAI_COMPATIBLE_API_KEY=KEY,
                OPENAI_COMPATIBLE_MODELS=",".join([*MOCKS, *BEHIND]), AGENTWEB_RETRY_ENABLED="0",
            ) as up,
        ):  # fmt: skip
            rows = [command_line_row(up, case) for case in CASES]
            rows += browser_rows(up)
    print(f"openai-compatible provider against {PROXY}\n")
    print("| by | model | what | result |\n|---|---|---|---|")
    for by, model, what, wrong in rows:
        print(f"| {by} | {model} | {what} | {wrong or 'ok'} |")
    return 1 if any(wrong for *_, wrong in rows) else 0


def installed_proxy() -> Path:
    """The proxy's program, in an environment of its own; another version is another environment."""
    home = FOLDER / PROXY.partition("==")[2]
    program = home / "bin" / "litellm"
    if not program.exists():
        print(f"Installing {PROXY} into {home} (once, some minutes)", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, PROXY], check=True)
    return program


@contextlib.contextmanager
def running_proxy(program: Path, folder: Path, service: str) -> Iterator[str]:
    """The address of its API until the end of the block."""
    mocks = {
        name: {"model": f"openai/{name}", "api_key": "none", "mock_response": text}
        for name, text in MOCKS.items()
    }
    behind = {name: {"model": f"anthropic/{name}", "api_key": "none", "api_base": service} for name in BEHIND}
    config = {
        "model_list": [{"model_name": name, "litellm_params": to} for name, to in (mocks | behind).items()],
        "litellm_settings": {"num_retries": 0, "telemetry": False, "drop_params": True},
        "general_settings": {"master_key": KEY},
    }
    (folder / "proxy.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    port = free_port()
    # Its list of prices would come from the network.
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with open(folder / "proxy.log", "wb") as log:
        process = subprocess.Popen(
            [str(program), "--config", "proxy.yaml", "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            wait_until_alive(f"http://127.0.0.1:{port}/health/liveliness", process, folder / "proxy.log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(timeout=30)


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_until_alive(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            if answer.status == 200:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"The proxy did not start:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.5)


def command_line_row(up: Up, case: Case) -> tuple[str, str, str, str]:
    job = ask(up, "Hello", model=f"openai-compatible/{case.model}", stop_at_first_word=case.stop)
    wrong = "; ".join(job.breaches()) or (case.wrong(job) if job.answers else job.errors)
    return "prompt --json", case.model, case.what, " ".join(wrong.split())


def browser_rows(up: Up) -> Iterator[tuple[str, str, str, str]]:
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
