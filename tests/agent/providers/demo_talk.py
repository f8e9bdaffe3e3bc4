"""A folder to work in and a conversation with the demo model through the real loop, tools and sandbox."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sessions_app.agent.events import MessageEnded
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.loop import Limits, run_agent
from sessions_app.agent.models_catalogue import DEMO_MODEL
from sessions_app.agent.providers.demo import DemoProvider
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools import DEFAULT_TOOLS, create_tools
from sessions_app.core.messages import text_of, user_message

Json = dict[str, Any]

FILES = {
    "README.md": "# Weather station\n\nReads sensors and prints a report.\n\n## Install\n\n```sh\npip install -e .\n```\n\n"
    "See [the notes](docs/notes.md) and [more](docs/gone.md).\n",
    "pyproject.toml": '[project]\nname = "station"\nversion = "0.3.1"\ndescription = "A small weather station"\n'
    'dependencies = ["requests>=2", "rich"]\n',
    "station/__init__.py": "",
    "station/main.py": '"""Entry point of the station."""\n\nimport os\n\nfrom station.sensors import read_all\n\n\n'
    'def main():\n    # TODO: read the place from a file\n    print(os.environ.get("PLACE", "Bremen"), read_all())\n\n\n'
    'if __name__ == "__main__":\n    main()\n',
    "station/sensors.py": '"""Sensors and their calibration."""\n\n\nclass Sensor:\n    """One sensor."""\n\n'
    "    def read(self, raw):\n        return raw + 1  # FIXME: rounding\n\n\n"
    'def read_all():\n    return {"temperature": 21.5}\n\n\ndef mean(values):\n    return sum(values) / (len(values) - 1)\n',
    "tests/test_sensors.py": "import unittest\n\nfrom station.sensors import mean\n\n\nclass MeanTest(unittest.TestCase):\n"
    "    def test_mean(self):\n        self.assertEqual(mean([2, 4]), 3)\n",
    "data/readings.csv": "day,temperature,place\n2026-01-01,3.5,Bremen\n2026-01-02,4.0,Bremen\n2026-01-03,1.5,Lyon\n",
    "data/config.json": '{"place": "Bremen", "interval": 60}\n',
    "docs/notes.md": "# Notes\n\nThe colour is grey.\nThe colour may change.\n\n## Wiring\n\ntext\n\n## Power\n\ntext\n",
    "notes.txt": "banana\napple\ncherry\napple\n",
}


def make_folder(root: Path, *, git: bool = True) -> Path:
    """The weather station: two commits when `git`."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if git:
        run_git(root, "init", "-q", "-b", "main")
        (root / ".git/info").mkdir(exist_ok=True)
        (root / ".git/info/exclude").write_text("__pycache__/\n", encoding="utf-8")
        run_git(root, "config", "user.email", "ada@example.org")
        run_git(root, "config", "user.name", "Ada")
        run_git(root, "add", "-A")
        run_git(root, "commit", "-qm", "Add the sensors")
        run_git(root, "commit", "-q", "--allow-empty", "-m", "Fix the report at midnight")
    return root


def run_git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


class Talk:
    """Says something to the demo model and keeps what comes, the way the runner does."""

    def __init__(self, root: Path, tools: Sequence[str] = DEFAULT_TOOLS) -> None:
        self.root = root
        self.messages: list[Json] = []
        self.steering: list[str] = []
        self.thinking_level = "off"
        self._sandbox = LocalSandbox(root, run_marker=f"demo-{root.name}")
        self._tools = create_tools(tuple(tools))
        self._clock = itertools.count(1_000)

    def say(self, text: str) -> str:
        """The final answer's text."""
        return self.go_on([user_message(text, timestamp=1)])

    def go_on(self, inputs: list[Json]) -> str:
        """The same with messages made by the caller."""
        for event in run_agent(
            provider=DemoProvider(pace=0, clock=lambda: next(self._clock)),
            model=DEMO_MODEL,
            system="You are a test.",
            tools=self._tools,
            sandbox=self._sandbox,
            hooks=Hooks(),
            inputs=inputs,
            context=lambda: list(self.messages),
            poll_steering=self._steer,
            poll_follow_ups=list,
            stop=StopSignal(),
            limits=Limits(max_turns=60),
            clock=lambda: next(self._clock),
            session_id="s1",
            thinking_level=self.thinking_level,
        ):
            if isinstance(event, MessageEnded):
                self.messages.append(event.message)
        assert self.messages[-1]["stopReason"] == "stop", self.messages[-1]
        return text_of(self.messages[-1]["content"])

    def _steer(self) -> list[Json]:
        # Only once something has been done: that is when a person interrupts.
        if self.steering and any(m["role"] == "toolResult" for m in self.messages):
            return [user_message(self.steering.pop(0), timestamp=2)]
        return []

    def calls(self) -> list[tuple[str, Json]]:
        """Name and arguments of every tool call so far."""
        return [
            (block["name"], block["arguments"])
            for message in self.messages
            if message["role"] == "assistant"
            for block in message["content"]
            if block["type"] == "toolCall"
        ]

    def tools_used(self) -> list[str]:
        """Tool names in order, neighbours that are equal once."""
        return [name for name, _ in itertools.groupby(name for name, _ in self.calls())]

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")
