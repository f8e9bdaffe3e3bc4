"""Tools, model and thinking level chosen while an agent works: they count from its next request."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.agent.models_catalogue import describe_model
from sessions_app.agent.providers.anthropic_request import build_body
from sessions_app.models import Session
from sessions_app.services import runs, sessions
from tests.staging import Stage, assistant, stage, user, words

__all__ = ["stage"]

Json = dict[str, Any]

pytestmark = pytest.mark.django_db(transaction=True)


def test_changed_tools_are_declared_before_what_is_said_next(stage: Stage) -> None:
    """04 §1.18."""

    def choose(request: Any) -> list[Json]:
        sessions.choose_tools(session=stage.session, author=stage.author, preset="read_only")
        runs.submit_prompt(session=stage.session, author=stage.author, text="Only look.")
        return [{"call": "ls", "arguments": {}}]

    stage.prompt("Go.", choose, [{"text": "ok"}])
    before, after = ([tool.name for tool in request.tools] for request in stage.requests)
    assert set(before) - set(after) == {"bash", "edit", "write"}
    entries = [(e.role, e.record.get("message", {})) for e in stage.session.entries.order_by("seq")]
    roles = [role for role, _ in entries]
    assert roles[roles.index("toolResult") :] == ["toolResult", "system", "user", "assistant"]
    removed = {tool["name"] for tool in entries[roles.index("toolResult") + 1][1]["toolsRemoved"]}
    assert removed == {"bash", "edit", "write"}
    assert stage.requests[1].system != stage.requests[0].system


def test_another_model_answers_from_the_next_request_and_its_window_counts(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """04 §6.4: the smaller window is the reason for a compaction between the turns."""
    stage.use_window(9_000, monkeypatch, name="small")
    stage.say(user("Plan."), assistant(words(3_000)), user("More."), assistant(words(1_200)))

    def choose(request: Any) -> list[Json]:
        Session.objects.filter(pk=stage.session.pk).update(model="small")
        return [{"call": "ls", "arguments": {}}]

    stage.prompt("Go.", choose, [{"text": "ok"}])
    assert [request.model for request in stage.requests] == ["scripted", "small"]
    kinds = stage.kinds()
    assert kinds[kinds.index("toolResult") :] == ["toolResult", "compaction", "assistant"]


def test_the_operator_says_how_long_prompts_are_cached_and_whether_tools_wait_for_one_another(
    stage: Stage, settings: Any
) -> None:
    """04 §9.2, TX-01."""
    settings.CACHE_RETENTION, settings.TOOLS_ONE_BY_ONE = "long", True
    stage.prompt("Go.", [{"call": "ls", "arguments": {}}, {"call": "ls", "arguments": {}}], [{"text": "ok"}])
    assert [request.options for request in stage.requests] == [
        {"cacheRetention": "long", "blockImages": False}
    ] * 2
    marks = [
        build_body(request, describe_model("anthropic", "m"))["system"][-1]["cache_control"]
        for request in stage.requests
    ]
    assert marks == [{"type": "ephemeral", "ttl": "1h"}] * 2
    told = [event["type"] for event in stage.told("tool_execution_start", "tool_execution_end")]
    assert told == ["tool_execution_start", "tool_execution_end"] * 2
