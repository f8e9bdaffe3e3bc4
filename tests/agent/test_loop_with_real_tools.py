"""The loop with real tools, a real sandbox and a real connection: what a stop and a close leave behind."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from sessions_app.agent.providers.anthropic import AnthropicProvider
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.tools import create_tools
from tests.agent.stand_ins import Conversation, of_type, result_texts

STUBBORN = "run trap '' TERM; (setsid sleep 301 &); for i in 1 2 3; do sleep 302; touch f$i; done"


@pytest.fixture
def conversation(tmp_path: Path, stand_in: str) -> Iterator[Conversation]:
    provider = AnthropicProvider(api_key="any", base_url=stand_in)
    made = Conversation(provider, create_tools())
    made.sandbox = LocalSandbox(tmp_path, run_marker=uuid.uuid4().hex)  # type: ignore[assignment]
    yield made
    made.sandbox.kill_all()
    provider.close()


def sleepers() -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if line in ("sleep 301", "sleep 302") and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(line)
    return found


def wait_for(condition: Any, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_a_command_runs_and_the_model_answers(conversation):
    events = conversation.run("run echo out; echo more")
    assert result_texts(conversation) == ["out\nmore\n"] or result_texts(conversation) == ["out\nmore"]
    assert conversation.messages[-1]["content"][0]["text"] == "That is what the tools said."
    assert of_type(events, "tool_execution_end")[0]["isError"] is False


def test_several_tools_side_by_side(conversation, tmp_path):
    (tmp_path / "README.md").write_text("read me")
    conversation.run("tools")
    assert [("README.md" in text, "read me" in text, "hello from bash" in text) for text in result_texts(conversation)] == [
        (True, False, False), (False, True, False), (False, False, True),
    ]  # fmt: skip


def test_a_stop_ends_the_whole_process_tree_and_says_so(conversation):
    def press() -> None:
        wait_for(lambda: len(sleepers()) == 2)
        conversation.stop.request()

    presser = threading.Thread(target=press)
    presser.start()
    conversation.run(STUBBORN)
    presser.join()
    conversation.sandbox.kill_all()
    wait_for(lambda: sleepers() == [], 3)
    assert [message["role"] for message in conversation.messages] == [
        "user",
        "assistant",
        "toolResult",
        "assistant",
    ]
    assert conversation.messages[2]["isError"]
    assert conversation.messages[3]["stopReason"] == "aborted"


def test_closing_the_generator_leaves_no_process_and_no_thread(conversation):
    events = conversation.start(STUBBORN.replace("run ", "run echo begun; "))
    for event in events:
        if event.to_wire()["type"] == "tool_execution_update":
            break
    wait_for(lambda: len(sleepers()) == 2)
    events.close()
    wait_for(lambda: sleepers() == [], 3)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tool-")]
