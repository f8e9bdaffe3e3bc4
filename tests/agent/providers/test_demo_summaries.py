"""The demo model's summaries: extractive, in the sections of spec 02 §5, the same for the same text."""

from __future__ import annotations

from sessions_app.agent.providers.base import ProviderRequest
from sessions_app.agent.providers.demo import DemoProvider
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.summary_prompts import SummaryRequest, branch_request, history_request, prefix_request

CONVERSATION = """[User]: Find out why two boats got berth 14. Never edit anything under migrations/.

[Assistant]: Reading the file.

[Assistant tool calls]: read(path="berths.py"); bash(command="pytest -q")

[Tool result]: E   AssertionError: 02:00 overlaps 02:00

[Assistant]: Slots are compared in UTC now, because local times repeat in autumn.

[User]: Now write the changelog line

[Assistant tool calls]: edit(path="CHANGELOG.md", edits=[{"oldText": "a", "newText": "b"}])"""

HEADINGS = ["## Goal", "## Constraints & Preferences", "## Progress", "### Done", "### In Progress", "### Blocked", "## Key Decisions", "## Next Steps"]  # fmt: skip


def answer(asked: SummaryRequest) -> str:
    messages = [{"role": "user", "content": [{"type": "text", "text": asked.prompt}], "timestamp": 1}]
    sent = ProviderRequest(model="demo", system=asked.system, messages=messages)
    *_, done = DemoProvider(pace=0).stream(sent, StopSignal())
    assert done.message is not None
    assert done.message["stopReason"] == "stop"
    return str(done.message["content"][0]["text"])


def headings(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("#")]


def test_a_compaction_has_all_sections_filled_from_the_conversation() -> None:
    text = answer(history_request(CONVERSATION, None, None))
    assert headings(text) == [*HEADINGS, "## Critical Context"]
    assert "Find out why two boats got berth 14." in text
    assert "- Never edit anything under migrations/." in text
    assert "- [ ] Now write the changelog line" in text
    assert "1. Now write the changelog line" in text
    assert "because local times repeat in autumn" in text
    assert "Changed: `CHANGELOG.md`" in text
    assert "AssertionError: 02:00 overlaps 02:00" in text
    assert text == answer(history_request(CONVERSATION, None, None))


def test_an_update_keeps_the_old_and_closes_what_was_open() -> None:
    first = answer(history_request(CONVERSATION, None, None))
    second = answer(history_request("[User]: Run the tests\n\n[Assistant]: They pass.", first, None))
    assert second.count("berth 14") >= 1
    assert "- [x] Now write the changelog line" in second
    assert "- [x] Run the tests → They pass." in second
    assert "- Never edit anything under migrations/." in second
    assert "### In Progress\n(none)" in second
    assert second.count("This summary was put together by the demo model") == 1


def test_a_focus_is_kept_in_view() -> None:
    text = answer(history_request(CONVERSATION, None, "the changelog"))
    assert "Asked to keep in view: the changelog" in text


def test_a_branch_summary_stops_after_the_next_steps() -> None:
    assert headings(answer(branch_request(CONVERSATION, None, replace_instructions=False))) == HEADINGS


def test_the_beginning_of_a_split_span_keeps_the_request_word_for_word() -> None:
    text = answer(prefix_request(CONVERSATION, None))
    assert headings(text) == ["## Original Request", "## Progress So Far", "## Context Needed to Continue"]
    assert "Find out why two boats got berth 14. Never edit anything under migrations/." in text
    assert "- read berths.py" in text


def test_an_empty_conversation_says_none() -> None:
    text = answer(history_request("", None, None))
    assert headings(text) == [*HEADINGS, "## Critical Context"]
    assert "(none stated)" in text
