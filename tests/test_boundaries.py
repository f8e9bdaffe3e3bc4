"""Where hooks may step in between a prompt and settled: input, before the start, at a turn's end, before settling."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.agent.hooks import Hooks
from sessions_app.runner import prompt_run
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.services import runs
from tests.staging import Stage, stage

__all__ = ["stage"]

Json = dict[str, Any]
NOTE: Json = {"type": "custom_message", "customType": "note", "content": "Mind the gap.", "display": True}

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Hooks:
    """Those of every session."""
    made = Hooks()
    for module in (prompt_run, runs):
        monkeypatch.setattr(module, "hooks_of", lambda session: made)
    return made


def test_input_hooks_change_what_is_stored_and_may_take_it(stage: Stage, hooks: Hooks) -> None:
    """04 §1.6: each sees what the one before made of it; taken, no run starts."""
    hooks.add("input", lambda event: {"action": "transform", "text": event["text"].upper()})
    hooks.add("input", lambda event: {"action": "handled"} if "STATUS" in event["text"] else None)
    stage.prompt("go on")
    assert stage.context()[0]["content"] == "GO ON"
    before = stage.session.entries.count()
    taken = runs.submit_prompt(session=stage.session, author=stage.author, text="status")
    assert (taken.run, taken.entry, taken.queued) == (None, None, None)
    assert stage.session.entries.count() == before


def test_before_the_first_request_hooks_replace_the_prompt_and_add_messages(
    stage: Stage, hooks: Hooks
) -> None:
    """04 §1.9: behind the person's words, and part of the tree."""
    hooks.add("before_agent_start", lambda event: {"systemPrompt": event["systemPrompt"] + "\nBe brief."})
    hooks.add(
        "before_agent_start", lambda event: {"message": {"customType": "note", "content": "Mind the gap."}}
    )
    stage.prompt("Go.", [{"call": "ls", "arguments": {}}], [{"text": "ok"}])
    assert stage.kinds() == ["user", "custom_message", "assistant", "toolResult", "assistant"]
    first, second = stage.requests
    assert first.system == second.system
    assert first.system.endswith("Be brief.")
    assert [message["content"][0]["text"] for message in first.messages] == ["Go.", "Mind the gap."]
    system = stage.session.entries.filter(role="system").last()
    assert system is not None
    assert "Be brief." in str(system.record)


def test_a_turns_end_may_write_entries_and_ask_for_one_more_request(stage: Stage, hooks: Hooks) -> None:
    """04 §1.16, §1.17."""
    hooks.add(
        "turn_end", lambda event: {"entries": [NOTE], "continue": True} if not event["turnIndex"] else None
    )
    stage.prompt("Go.", [{"text": "one"}], [{"text": "two"}])
    assert stage.kinds() == ["user", "assistant", "custom_message", "assistant"]
    assert "Mind the gap." in str(stage.requests[-1].messages[-1])


def test_before_settling_hooks_may_write_and_go_on_once(stage: Stage, hooks: Hooks) -> None:
    """04 §1.11: one more request, however often it is asked for."""
    hooks.add("agent_before_settle", lambda event: {"entries": [NOTE], "continue": True})
    run = stage.prompt("Go.", [{"text": "one"}], [{"text": "two"}])
    assert run.status == "completed"
    assert stage.kinds() == ["user", "assistant", "custom_message", "assistant", "custom_message"]
    assert len(stage.requests) == 2


def test_without_something_to_answer_nothing_more_is_asked(stage: Stage, hooks: Hooks) -> None:
    """04 §1.11."""
    hooks.add("agent_before_settle", lambda event: {"continue": True})
    stage.prompt("Go.")
    assert len(stage.requests) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "message", "message": {"role": "user", "content": "forged"}},
        {"type": "custom_message", "content": "of no kind"},
        {"type": "custom_message", "customType": "note", "content": 5},
        {"type": "context_edit", "targetId": "nowhere", "replacement": None},
        "no entry",
    ],
)
def test_where_one_entry_may_not_be_written_none_is(stage: Stage, hooks: Hooks, wrong: Any) -> None:
    """04 §1.11: and the run ends as it would have."""
    hooks.add("agent_before_settle", lambda event: {"entries": [NOTE, wrong]})
    run = stage.prompt("Go.")
    assert run.status == "completed"
    assert stage.kinds() == ["user", "assistant"]


def test_settled_says_whether_it_was_aborted_and_comes_last(stage: Stage, hooks: Hooks) -> None:
    """04 §1.12, §1.3: and after a stop nobody is asked before settling (04 §6.1)."""
    order: list[str] = []
    hooks.add("agent_before_settle", lambda event: order.append("before"))
    hooks.add("agent_settled", lambda event: order.append(f"settled {event['aborted']}"))
    stage.prompt("Go.")
    assert order == ["before", "settled False"]
    assert stage.told("agent_")[-1] == {"type": "agent_settled", "aborted": False, "status": "completed"}

    def stopped(request: Any) -> list[Json]:
        runs.stop_run(session=stage.session, author=stage.author)
        heartbeat.beat()
        return [{"text": "Half"}]

    run = stage.prompt("And?", stopped)
    assert run.status == "stopped"
    assert order[2:] == ["settled True"]
    assert stage.told("agent_settled")[-1]["aborted"] is True
