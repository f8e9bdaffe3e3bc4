"""Each hook point: who is asked, what may change, what refusing means, and that a fault stays where it is."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.agent.hooks import HOOK_NAMES, HookFailure, HookRefusalError, Hooks

Json = dict[str, Any]

# The names of spec 07 §2–§4.
SPECIFIED = {
    "session_before_compact", "session_compact", "session_compact_failed", "session_before_tree", "session_tree",
    "agent_before_settle", "input", "before_agent_start", "agent_start", "agent_end", "agent_settled", "turn_start",
    "turn_end", "message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_update",
    "tool_execution_end", "tool_call", "tool_result", "context", "context_with_system", "before_provider_headers",
    "before_provider_request", "after_provider_response", "provider_stream_event", "model_select",
    "thinking_level_select", "user_bash", "project_trust", "session_start", "session_before_switch",
    "session_before_fork", "session_shutdown", "session_info_changed", "resources_discover",
}  # fmt: skip


def broken(event: Json) -> Json:
    raise ValueError("oops")


def test_every_specified_name_is_a_method_with_a_docstring():
    assert set(HOOK_NAMES) == SPECIFIED
    for name in HOOK_NAMES:
        assert getattr(Hooks, name).__doc__, name


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no hook named"):
        Hooks().add("before_lunch", broken)


@pytest.mark.parametrize("name", sorted(SPECIFIED - {"tool_call", "user_bash"}))
def test_a_handler_that_raises_is_reported_and_the_next_one_runs(name: str):
    """07 EX-02."""
    failures: list[HookFailure] = []
    hooks = Hooks(failures.append)
    seen: list[str] = []
    hooks.add(name, broken, extension="bad.py")
    hooks.add(name, lambda event: seen.append(name))
    argument: Any = [] if name in ("context", "context_with_system") else {}
    getattr(hooks, name)(argument)
    assert failures == [HookFailure("bad.py", name, "ValueError: oops")]
    assert seen == [name]


@pytest.mark.parametrize("name", ["tool_call", "user_bash"])
def test_a_handler_that_raises_refuses_at_the_fail_closed_points(name: str):
    """07 EX-02."""
    hooks = Hooks(lambda failure: None)
    hooks.add(name, broken)
    with pytest.raises(HookRefusalError, match="ValueError: oops"):
        getattr(hooks, name)({})


def test_handlers_run_in_the_order_they_were_added():
    hooks = Hooks()
    order: list[int] = []
    for number in range(3):
        hooks.add("turn_start", lambda event, number=number: order.append(number))
    hooks.turn_start({})
    assert order == [0, 1, 2]


def test_of_the_before_hooks_the_last_answer_wins_and_the_first_cancel_ends():
    hooks = Hooks()
    asked: list[int] = []
    for answer in ({"compaction": 1}, None, {"compaction": 2}):
        hooks.add("session_before_compact", lambda event, answer=answer: answer)
    assert hooks.session_before_compact({}) == {"compaction": 2}
    hooks.add("session_before_compact", lambda event: {"cancel": True})
    hooks.add("session_before_compact", lambda event: asked.append(1))
    assert hooks.session_before_compact({}) == {"cancel": True}
    assert asked == []


def test_input_is_changed_by_one_after_another_or_taken():
    hooks = Hooks()
    hooks.add("input", lambda event: {"action": "transform", "text": event["text"] + "!"})
    hooks.add("input", lambda event: {"action": "transform", "text": event["text"] + "?"})
    assert hooks.input({"text": "Hi", "images": []}) == {"text": "Hi!?", "images": [], "action": "continue"}
    hooks.add("input", lambda event: {"action": "handled"})
    assert hooks.input({"text": "Hi"})["action"] == "handled"


def test_before_agent_start_replaces_the_prompt_and_collects_messages():
    hooks = Hooks()
    hooks.add(
        "before_agent_start",
        lambda event: {"systemPrompt": event["systemPrompt"] + " B", "message": {"n": 1}},
    )
    hooks.add(
        "before_agent_start",
        lambda event: {"systemPrompt": event["systemPrompt"] + " C", "message": {"n": 2}},
    )
    assert hooks.before_agent_start({"systemPrompt": "A"}) == {
        "systemPrompt": "A B C",
        "messages": [{"n": 1}, {"n": 2}],
    }


def test_boundary_requests_add_up():
    hooks = Hooks()
    hooks.add("agent_before_settle", lambda event: {"entries": [1]})
    hooks.add("agent_before_settle", lambda event: {"entries": [2], "continue": True})
    assert hooks.agent_before_settle({}) == {"entries": [1, 2], "continue": True}


def test_a_message_may_be_replaced_only_by_one_of_the_same_role():
    failures: list[HookFailure] = []
    hooks = Hooks(failures.append)
    hooks.add("message_end", lambda event: {"message": {"role": "user", "content": "changed"}})
    hooks.add("message_end", lambda event: {"message": {"role": "assistant", "content": "no"}})
    assert hooks.message_end({"role": "user", "content": "x"}) == {"role": "user", "content": "changed"}
    assert len(failures) == 1


def test_the_context_hook_never_sees_system_messages_and_cannot_lose_them():
    hooks = Hooks()
    seen: list[Any] = []

    def drop_all(event: Json) -> Json:
        seen.extend(event["messages"])
        return {"messages": []}

    system, user = {"role": "system"}, {"role": "user"}
    assert hooks.context([system, user]) == [system, user]
    hooks.add("context", drop_all)
    assert hooks.context([system, user]) == [system]
    assert seen == [user]
    hooks.add("context_with_system", lambda event: {"messages": [user]})
    assert hooks.context_with_system([system, user]) == [user]


def test_a_result_patch_is_seen_by_the_next_handler():
    hooks = Hooks()
    hooks.add("tool_result", lambda event: {"isError": True, "details": {"kept": 1}})
    hooks.add("tool_result", lambda event: {"content": [event["isError"]]})
    event = hooks.tool_result({"content": [], "details": {"x": 1}, "isError": False, "usage": None})
    assert event == {"content": [True], "details": {}, "isError": True, "usage": None}


def test_provider_hooks_change_headers_in_place_and_chain_the_payload():
    """07 §3."""
    hooks = Hooks()
    hooks.add("before_provider_headers", lambda event: event["headers"].update({"x": "1"}))
    hooks.add("before_provider_request", lambda event: {"payload": {**event["payload"], "a": 1}})
    hooks.add("before_provider_request", lambda event: {"payload": {**event["payload"], "b": 2}})
    headers: dict[str, str] = {}
    hooks.before_provider_headers(headers)
    assert headers == {"x": "1"}
    assert hooks.before_provider_request({}) == {"a": 1, "b": 2}


def test_trust_is_the_first_clear_answer_and_resources_add_up():
    hooks = Hooks()
    hooks.add("project_trust", lambda event: {"trusted": None})
    hooks.add("project_trust", lambda event: {"trusted": False})
    hooks.add("project_trust", lambda event: {"trusted": True})
    assert hooks.project_trust({}) == {"trusted": False}
    hooks.add("resources_discover", lambda event: {"skillPaths": ["a"]})
    hooks.add("resources_discover", lambda event: {"skillPaths": ["b"], "themePaths": ["t"]})
    assert hooks.resources_discover({}) == {"skillPaths": ["a", "b"], "themePaths": ["t"]}


@pytest.mark.parametrize("name", ["context", "context_with_system"])
def test_what_a_handler_changes_in_place_stays_out_of_the_conversation(name: str):
    hooks = Hooks()

    def change(event: Json) -> None:
        event["messages"][0]["content"] = "changed"

    hooks.add(name, change)
    messages = [{"role": "user", "content": "said"}]
    assert getattr(hooks, name)(messages)[0]["content"] == "changed"
    assert messages == [{"role": "user", "content": "said"}]
