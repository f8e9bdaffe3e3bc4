"""The loop asks every hook of a run at its place."""

from __future__ import annotations

from typing import Any

from sessions_app.agent.hooks import Hooks
from sessions_app.agent.providers.scripted import ScriptedProvider
from tests.agent.stand_ins import Conversation, FunctionTool, call, text_result

OF_THE_LOOP = (
    "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end",
    "tool_execution_start", "tool_execution_update", "tool_execution_end", "tool_call", "tool_result",
    "context", "context_with_system",
)  # fmt: skip


def test_each_hook_is_asked_in_its_place():
    """04 §1.13, §1.16."""
    hooks = Hooks()
    order: list[str] = []
    for name in OF_THE_LOOP:
        hooks.add(name, lambda event, name=name: order.append(name))

    def tool(arguments: Any, stop: Any, on_update: Any) -> str:
        on_update(text_result("part"))
        stop.wait(0.05)
        return "whole"

    provider = ScriptedProvider([[call("echo", "a")], [{"text": "x"}]])
    Conversation(provider, [FunctionTool("echo", tool)], hooks=hooks).run("Go")
    calls_update = ["message_update"] * 3
    assert order == [
        "agent_start", "turn_start", "message_start", "message_end", "context", "context_with_system",
        "message_start", *calls_update, "message_end",
        "tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end",
        "message_start", "message_end", "turn_end",
        "turn_start", "context", "context_with_system", "message_start", *calls_update, "message_end", "turn_end",
        "agent_end",
    ]  # fmt: skip


def test_the_context_hook_changes_what_is_sent_but_not_what_is_stored():
    hooks = Hooks()
    hooks.add("context", lambda event: {"messages": [{"role": "user", "content": "instead"}]})
    provider = ScriptedProvider([[{"text": "x"}]])
    conversation = Conversation(provider, hooks=hooks)
    conversation.run("Go")
    assert provider.requests[0].messages[0]["content"][0]["text"] == "instead"
    assert conversation.messages[0]["content"] == "Go"


def test_provider_hooks_reach_the_request_only_if_somebody_listens():
    provider = ScriptedProvider([[{"text": "x"}], [{"text": "y"}]])
    hooks = Hooks()
    Conversation(provider, hooks=hooks).run("Go")
    hooks.add("before_provider_request", lambda event: None)
    Conversation(provider, hooks=hooks).run("Go")
    assert provider.requests[0].taps.payload is None
    assert provider.requests[1].taps.payload is not None
    assert provider.requests[1].taps.headers is None
