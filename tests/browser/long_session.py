"""A session of 2,000 entries to find one's way in: `python -m tests.browser.long_session FILE`, or `--serve` to try it.

A booking program is built over some weeks. At one point its tests begin to fail, two attempts are made at mending that,
and work goes on from one of them; earlier branches were left, one with an instruction that is still wanted. `--serve`
starts a server on a fresh data directory with the session in it, prints its sign-in link and runs until interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.running import AGENTWEB, Up, started

Json = dict[str, Any]

ENTRIES = 2_000
BEGUN = datetime(2031, 3, 3, 8, 30, tzinfo=UTC)
MODEL = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-5-5"}
TESTS = "python -m unittest"
PARTS = (
    "the list of berths", "the price of a night", "the harbour map", "the form for arrivals", "the monthly report",
    "the mail to the guest", "the tide table", "the waiting list", "the invoice", "the log of visits",
    "the search for a boat", "the calendar feed", "the key box codes", "the season prices", "the power meters",
)  # fmt: skip
FILES = (
    "harbour/berths.py", "harbour/prices.py", "harbour/map.py", "harbour/arrivals.py", "harbour/report.py",
    "harbour/mail.py", "harbour/tides.py", "harbour/waiting.py", "harbour/invoice.py", "harbour/visits.py",
)  # fmt: skip
WANTS = (
    "Add {}.",
    "Make {} faster.",
    "Show {} on the start page too.",
    "Let people print {}.",
    "Translate {}.",
)
SMALL_QUESTIONS = (
    "What does this function return for an empty list?",
    "Is there a shorter way to write that?",
    "Which of these files is the oldest?",
    "Would a dataclass be better here?",
    "How long does the whole test run take?",
    "Where is the price rounded?",
)


class Writer:
    """Writes entries below `at`, which moves along; `go_to` begins a branch."""

    def __init__(self) -> None:
        self.chance = random.Random(11)
        self.lines: list[Json] = []
        self.at: str | None = None
        self.now = BEGUN
        self.calls = 0
        self.files: dict[str, tuple[str, ...]] = {}
        self._at_entry: dict[str, dict[str, tuple[str, ...]]] = {}

    def add(self, kind: str, **facts: Any) -> str:
        self.now += timedelta(seconds=self.chance.randrange(4, 40))
        name = f"{0x51000000 + 17 * len(self.lines):08x}"
        when = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append({"type": kind, "id": name, "parentId": self.at, "timestamp": when, **facts})
        self.at = name
        self._at_entry[name] = dict(self.files)
        return name

    def go_to(self, entry: str) -> None:
        self.at = entry
        self.files = dict(self._at_entry[entry])
        self.now += timedelta(minutes=self.chance.randrange(3, 50))

    def _message(self, **message: Any) -> str:
        return self.add("message", message={**message, "timestamp": int(self.now.timestamp() * 1000)})

    def user(self, words: str) -> str:
        self.now += timedelta(minutes=self.chance.randrange(1, 9))
        return self._message(role="user", content=words)

    def answer(self, words: str, *, call: Json | None = None, error: str = "") -> str:
        content: list[Json] = [{"type": "text", "text": words}] if words else []
        content += [call] if call is not None else []
        read, written = self.chance.randrange(6_000, 38_000), 60 + 2 * len(words)
        cost = {"input": 3e-6 * read, "output": 15e-6 * written, "cacheRead": 0, "cacheWrite": 0}
        usage = {
            "input": read,
            "output": written,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": read + written,
        }
        stop = "error" if error else "toolUse" if call is not None else "stop"
        more = {"errorMessage": error} if error else {}
        usage = usage | {"cost": cost | {"total": sum(cost.values())}}
        return self._message(role="assistant", content=content, **MODEL, usage=usage, stopReason=stop, **more)

    def tool(self, name: str, arguments: Json, output: str, *, words: str = "", **result: Any) -> str:
        """A call and its result; the result's id."""
        self.calls += 1
        call = {"type": "toolCall", "id": f"call_{self.calls}", "name": name, "arguments": arguments}
        self.answer(words, call=call)
        facts: Json = {"isError": False, "durationMs": self.chance.randrange(20, 900), **result}
        text = [{"type": "text", "text": output}]
        return self._message(role="toolResult", toolCallId=call["id"], toolName=name, content=text, **facts)

    def read(self, path: str, words: str = "") -> None:
        self.tool("read", {"path": path}, "\n".join(self._lines(path)), words=words)

    def _lines(self, path: str) -> tuple[str, ...]:
        return self.files.get(path) or tuple(
            line
            for n in range(1, 25)
            for line in (f"def step_{n}(stay):", f"    return stay.nights * {n}", "")
        )

    def change_somewhere(self, path: str) -> str:
        """A changed factor in one of the steps of a file, as the file stands on this branch."""
        lines = self._lines(path)
        line = 3 * self.chance.randrange(len(lines) // 3) + 1
        return self.edit(
            path, lines[line].strip(), f"return stay.nights * {self.chance.randrange(2, 90)}", line=line
        )

    def edit(self, path: str, old: str, new: str, words: str = "", *, line: int = 1) -> str:
        lines = self._lines(path)
        self.files[path] = (*lines[:line], f"    {new}", *lines[line + 1 :])
        hunk = f"@@ -{line},2 +{line},2 @@\n {lines[line - 1]}\n-    {old}\n+    {new}\n"
        diff = f"--- {path}\n+++ {path}\n{hunk}"
        details = {"path": path, "firstChangedLine": line + 1, "added": 1, "removed": 1, "diff": diff}
        arguments = {"path": path, "edits": [{"oldText": old, "newText": new}]}
        return self.tool("edit", arguments, f"Changed 1 place in {path}.", words=words, details=details)

    def tests(self, failing: Sequence[str] = (), words: str = "") -> str:
        count = 40 + self.calls // 12
        shown = "".join(f"FAIL: {name}\n{'-' * 60}\nAssertionError: dates differ\n\n" for name in failing)
        end = f"FAILED (failures={len(failing)})" if failing else "OK"
        text = f"{shown}Ran {count} tests in 1.{count % 10}s\n\n{end}"
        facts = {"isError": bool(failing), "details": {"exitCode": int(bool(failing))}}
        return self.tool("bash", {"command": TESTS}, text, words=words, **facts)

    def work(self, rounds: int, *, files: Sequence[str] = FILES, failing: Sequence[str] = ()) -> list[str]:
        """Ordinary jobs: a wish, some reading and changing, a test run, an answer. The answers."""
        answers = []
        for _ in range(rounds):
            part, path = self.chance.choice(PARTS), self.chance.choice(files)
            self.user(self.chance.choice(WANTS).format(part))
            for number in range(self.chance.randrange(1, 4)):
                self.read(path, f"Looking at how {part} is made." if number == 0 else "")
            for _ in range(self.chance.randrange(1, 4)):
                self.change_somewhere(path)
            self.tests(failing)
            answers.append(self.answer(_report(part, path, failing)))
        return answers

    def question(self, entry: str) -> None:
        """A short side branch; afterwards it is as if nothing had been asked."""
        here = self.at
        self.go_to(entry)
        self.user(self.chance.choice(SMALL_QUESTIONS))
        self.answer("Only where the list is read again afterwards; otherwise it makes no difference.")
        if here is not None:
            self.go_to(here)

    def label(self, entry: str, words: str) -> None:
        self.add("label", targetId=entry, label=words)

    def compact(self, done: str, kept: str) -> None:
        summary = (
            "## Goal\nA booking program for a small harbour.\n\n## Constraints & Preferences\n"
            f"- Python 3.11, no framework\n\n## Progress\n### Done\n- [x] {done}\n\n## Next Steps\n1. Go on.\n"
        )
        before = self.chance.randrange(120_000, 170_000)
        self.add("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=before)


def _report(part: str, path: str, failing: Sequence[str]) -> str:
    if failing:
        return f"{part.capitalize()} is done in `{path}`. {len(failing)} tests fail; they have nothing to do with it."
    return f"{part.capitalize()} is done in `{path}`; all tests pass."


def written() -> str:
    """The session as a file."""
    it = Writer()
    it.add("session_info", name="Harbour bookings")
    it.add("model_change", provider=MODEL["provider"], modelId=MODEL["model"])
    it.user("Build a program that keeps the berths of a small harbour: who lies where, and until when.")
    it.answer(
        "A folder `harbour` with one module per matter, and tests beside it. Beginning with the berths."
    )
    early = it.work(14)
    _spreadsheet(it, early[5])
    it.go_to(early[-1])
    later = it.work(16)
    it.compact("Berths, prices, arrivals", later[-2])
    later += it.work(14)
    green = later[-1]
    it.label(green, "before the database")
    for entry in (early[2], early[9], later[3], later[8], later[20]):
        it.question(entry)
    _tariffs(it, later[12])
    it.go_to(green)
    _database(it)
    broken = it.work(9, failing=FAILING)
    it.user("Why do you say the tests have nothing to do with it? They have been red for days.")
    red = it.answer(
        "They have: since stays are kept in the database, dates come back as text, and text is compared with dates. "
        "I called that unrelated, which was wrong."
    )
    it.question(broken[4])
    _as_text(it, red)
    _converter(it, red)
    _end(it)
    header = {
        "type": "session",
        "version": 3,
        "id": "harbour-bookings",
        "timestamp": "2031-03-03T08:30:00.000Z",
    }
    lines = [header | {"cwd": "/home/you/harbour"}, *it.lines]
    return "\n".join(json.dumps(line) for line in lines) + "\n"


FAILING = ("test_a_stay_ends_on_its_last_day", "test_two_stays_do_not_overlap")


def _spreadsheet(it: Writer, entry: str) -> None:
    """Left early; what was asked for here is still true."""
    it.go_to(entry)
    it.user("Try reading the old spreadsheet instead of a form.")
    it.work(5, files=("harbour/spreadsheet.py",))
    it.user("Prices are always whole cents, never floats. Round half up, and only on the invoice.")
    it.answer("Noted: whole cents everywhere, rounded half up, on the invoice only.")
    it.work(5, files=("harbour/spreadsheet.py",))
    it.answer("", error="The file has merged cells in every second row; reading it needs a library.")


def _tariffs(it: Writer, entry: str) -> None:
    """The only branch that touched `harbour/tariffs.py`."""
    it.go_to(entry)
    it.user("What if prices came from a table of tariffs?")
    it.work(8, files=("harbour/tariffs.py", "harbour/prices.py"))
    it.answer(
        "The table works for the season prices. Members' prices would need a second one; I would leave it here."
    )


def _database(it: Writer) -> None:
    """Where the tests begin to fail."""
    it.user("Keep the stays in SQLite instead of the JSON file.")
    it.read("harbour/store.py", "Looking at what is kept now.")
    it.edit(
        "harbour/store.py", "json.dump(stays, file)", 'db.execute("INSERT INTO stay VALUES (?, ?, ?)", stay)'
    )
    it.edit("harbour/store.py", "json.load(file)", 'db.execute("SELECT * FROM stay").fetchall()')
    it.tests(FAILING, "Running the tests.")
    it.answer("Stays are kept in SQLite now. Two tests fail; they look unrelated, so I left them.")


def _as_text(it: Writer, entry: str) -> None:
    """The first attempt: it ends where it began."""
    it.go_to(entry)
    it.user("Mend it: compare dates as text everywhere.")
    it.work(12, files=("harbour/store.py", "harbour/berths.py", "harbour/report.py"), failing=FAILING[:1])
    it.compact("Dates compared as text in three modules", it.at or entry)
    it.work(10, files=("harbour/store.py", "harbour/invoice.py"), failing=FAILING)
    it.user("And now?")
    it.tests(FAILING)
    it.answer("Both fail again: a text of ten characters sorts before one with a time behind it.")
    it.answer("", error="529 overloaded_error: Overloaded")


def _converter(it: Writer, entry: str) -> None:
    """The second attempt, which worked."""
    it.go_to(entry)
    begun = it.user("Mend it: register a converter, so that dates come back as dates.")
    it.read("harbour/store.py")
    it.edit(
        "harbour/store.py", "sqlite3.connect(path)", "sqlite3.connect(path, detect_types=PARSE_DECLTYPES)"
    )
    it.tests(FAILING[1:], "One is left.")
    it.edit("harbour/berths.py", "self.last >= other.first", "self.last > other.first")
    it.tests()
    it.answer("Both pass: the store gives dates back, and a stay ends on the morning of its last day.")
    answers = it.work(18)
    it.compact("Stays in SQLite, dates as dates", answers[-2])
    it.label(begun, "with a converter")


def _end(it: Writer) -> None:
    """Work goes on until there are 2,000 entries."""
    while len(it.lines) < ENTRIES - 90:
        answers = it.work(6)
        it.question(answers[2])
    while len(it.lines) < ENTRIES - 25:
        it.work(1)
    if len(it.lines) % 2:
        it.add("thinking_level_change", thinkingLevel="high")
    it.user("What is left to do?")
    while len(it.lines) < ENTRIES - 1:
        it.read(it.chance.choice(FILES))
    it.answer("The harbour map and the printed invoice. Everything else is done, and all tests pass.")


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Up]:
    """A server with the session in it, and a folder `harbour` to work in."""
    project = folder / "harbour"
    project.mkdir()
    file = folder / "harbour-bookings.jsonl"
    file.write_text(written(), encoding="utf-8")
    with started(folder / "data", "--workspace", str(project)) as up:
        command = [*AGENTWEB, "import", str(file), "--workspace", str(project)]
        subprocess.run(command, env=up.environment, check=True, capture_output=True)
        yield up


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.long_session", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="where to write the session")
    parser.add_argument("--serve", action="store_true", help="start a server with it")
    options = parser.parse_args(arguments)
    if options.file is not None:
        options.file.write_text(written(), encoding="utf-8")
    if options.serve:
        with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as up:
            print(up.link, flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                up.process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
