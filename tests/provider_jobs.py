"""Jobs given to `agentweb prompt --json` against some model service, and what every one of them must satisfy."""

from __future__ import annotations

import json
import signal
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.running import AGENTWEB, Up

Json = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What came out of one `agentweb prompt --json`; `errors` is its standard error."""

    code: int
    events: list[Json]
    errors: str

    def messages(self, role: str) -> list[Json]:
        """As they were stored, in order."""
        entries = [event["entry"] for event in self.events if event["type"] == "entry_appended"]
        stored = [entry["message"] for entry in entries if entry["type"] == "message"]
        return [message for message in stored if message["role"] == role]

    @property
    def answers(self) -> list[Json]:
        return self.messages("assistant")

    def blocks(self, kind: str) -> list[Json]:
        return [block for answer in self.answers for block in answer["content"] if block["type"] == kind]

    @property
    def text(self) -> str:
        """Of the last answer."""
        content = self.answers[-1]["content"] if self.answers else []
        return "".join(block["text"] for block in content if block["type"] == "text")

    @property
    def fault_kinds(self) -> list[str]:
        return [note["kind"] for note in self.answers[-1].get("diagnostics", [])]

    def breaches(self) -> list[str]:
        """What is wrong whatever the service answered: the end, results, streamed and stored text."""
        found = []
        kinds = [event["type"] for event in self.events]
        if kinds[-1:] != ["agent_settled"] or kinds.count("agent_settled") != 1:
            found.append("does not end in one agent_settled")
        calls = [block["id"] for block in self.blocks("toolCall")]
        results = [message["toolCallId"] for message in self.messages("toolResult")]
        if calls != results:
            found.append(f"calls {calls} have the results {results}")
        if self.streamed() != "".join(block["text"] for block in self.blocks("text")):
            found.append("what was streamed is not what was stored")
        if "Traceback" in self.errors:
            found.append("a traceback on standard error")
        return found

    def streamed(self) -> str:
        updates = [
            event["assistantMessageEvent"] for event in self.events if event["type"] == "message_update"
        ]
        return "".join(update["delta"] for update in updates if update["type"] == "text_delta")


def ask(up: Up, text: str, *, model: str, stop_at_first_word: bool = False) -> Job:
    """One prompt through the running server, in the folder beside its data."""
    process = subprocess.Popen(
        [*AGENTWEB, "prompt", "--json", "--model", model, text],
        env=up.environment, cwd=up.data.parent, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    begun = ""
    while stop_at_first_word and "text_delta" not in begun:
        line = process.stdout.readline()
        if not line:
            break
        begun += line
    if stop_at_first_word:
        process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=100)
    events = [json.loads(line) for line in (begun + output).splitlines()]
    return Job(process.returncode, events, errors)
