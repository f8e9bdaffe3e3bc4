"""Jobs with the real Anthropic library against the stand-in server, by `agentweb prompt --json`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.stand_in import running_stand_in
from tests.provider_jobs import ask
from tests.running import Up, started

pytestmark = pytest.mark.services

MODEL = "anthropic/claude-sonnet-5"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("providers")
    (folder / "README.md").write_text("# hello\n", encoding="utf-8")
    with (
        running_stand_in() as service,
        started(
            folder / "data",
            ANTHROPIC_API_KEY="sk-stand-in",
            ANTHROPIC_BASE_URL=service.url,
            AGENTWEB_RETRY_ENABLED="0",
        ) as running,
    ):
        yield running


def test_an_answer_is_streamed_and_stored_with_its_usage(up: Up) -> None:
    job = ask(up, "Say something", model=MODEL)
    assert (job.code, job.breaches()) == (0, [])
    assert job.text == "You said: Say something"
    assert job.answers[-1]["usage"]["input"] > 0
    assert job.answers[-1]["usage"]["cost"]["total"] > 0


def test_thinking_keeps_its_signature(up: Up) -> None:
    job = ask(up, "think about it", model=MODEL)
    assert (job.code, job.breaches()) == (0, [])
    (thought,) = job.blocks("thinking")
    assert thought["thinking"] == "Let me think about this."
    assert thought["thinkingSignature"]
    assert job.text == "I have thought about it."


def test_tools_called_side_by_side_have_their_results_in_order(up: Up) -> None:
    job = ask(up, "tools, please", model=MODEL)
    assert (job.code, job.breaches()) == (0, [])
    calls = job.blocks("toolCall")
    assert len(calls) == 3
    assert len({call["name"] for call in calls}) == 3
    results = job.messages("toolResult")
    assert not any(result["isError"] for result in results), results
    assert "README.md" in str(results[0]["content"])
    assert job.text == "That is what the tools said."


def test_a_stop_keeps_what_had_arrived(up: Up) -> None:
    job = ask(up, "slow", model=MODEL, stop_at_first_word=True)
    assert job.code == 130
    assert job.breaches() == []
    assert job.answers[-1]["stopReason"] == "aborted"
    assert job.text.startswith("A ")
    assert job.events[-1]["aborted"] is True


def test_an_error_in_the_middle_keeps_what_had_arrived_and_says_what_to_do(up: Up) -> None:
    job = ask(up, "error in the middle", model=MODEL)
    assert job.breaches() == []
    assert job.code == 1
    assert job.answers[-1]["stopReason"] == "error"
    assert job.text == "This will not end well"
    assert "Overloaded" in job.errors
    assert "Wait a moment, or choose another model" in job.errors


def test_the_instructions_stand_behind_the_first_words(up: Up) -> None:
    """01 §2, otherwise than the reference: the words are stored before a worker wakes."""
    job = ask(up, "hello", model=MODEL)
    entries = [event["entry"] for event in job.events if event["type"] == "entry_appended"]
    assert [entry["message"]["role"] for entry in entries] == ["user", "system", "assistant"]
    assert "preamble" in job.messages("system")[0]["sections"]
