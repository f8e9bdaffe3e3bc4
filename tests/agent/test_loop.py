"""What one pass of the loop yields, from question to answer."""

from __future__ import annotations

import threading
from typing import Any

from sessions_app.agent.events import AgentEnded, TurnEnded
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.loop import Limits, TurnSettings
from sessions_app.agent.providers.base import ProviderError, ProviderEvent
from sessions_app.agent.providers.scripted import ScriptedProvider
from sessions_app.core.messages import user_message
from tests.agent.stand_ins import MODEL, Conversation, FunctionTool, call, names, of_type, result_texts


def echo(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
    return f"echo {arguments.get('say', '')}"


ECHO = FunctionTool("echo", echo)


def test_a_question_and_its_answer():
    """04 §1.1, §1.2, §1.13, §2.1; 10 §2."""
    conversation = Conversation(ScriptedProvider([[{"thinking": "hm"}, {"text": "Hello there"}]]))
    events = conversation.run("Hi")
    assert names(events) == [
        "agent_start", "turn_start", "message_start", "message_end", "message_start",
        "message_update", "message_update", "message_update",
        "message_update", "message_update", "message_update",
        "message_end", "turn_end", "agent_end",
    ]  # fmt: skip
    updates = [event["assistantMessageEvent"] for event in of_type(events, "message_update")]
    assert updates == [
        {"type": "thinking_start", "contentIndex": 0},
        {"type": "thinking_delta", "contentIndex": 0, "delta": "hm"},
        {"type": "thinking_end", "contentIndex": 0, "content": "hm"},
        {"type": "text_start", "contentIndex": 1},
        {"type": "text_delta", "contentIndex": 1, "delta": "Hello there"},
        {"type": "text_end", "contentIndex": 1, "content": "Hello there"},
    ]
    answer = conversation.messages[-1]
    assert answer["stopReason"] == "stop"
    assert answer["thinkingLevel"] == "off"
    assert events[-1] == {"type": "agent_end", "messages": conversation.messages, "willRetry": False}


def test_the_unfinished_answer_is_announced_as_pending():
    """04 §2.1."""
    events = Conversation(ScriptedProvider([[{"text": "x"}]])).run("Hi")
    started = of_type(events, "message_start")[-1]["message"]
    assert started["stopReason"] == "pending"
    assert started["content"] == []


def test_a_tool_call_is_answered_and_the_model_asked_again():
    """04 §1.1, §1.16, §2.1."""
    provider = ScriptedProvider([[{"text": "Look"}, call("echo", "c1", say="a")], [{"text": "Done"}]])
    conversation = Conversation(provider, [ECHO])
    events = conversation.run("Go")
    assert [message["role"] for message in conversation.messages] == [
        "user",
        "assistant",
        "toolResult",
        "assistant",
    ]
    assert result_texts(conversation) == ["echo a"]
    assert [message["role"] for message in provider.requests[1].messages] == [
        "user",
        "assistant",
        "toolResult",
    ]
    assert names(events).count("turn_start") == names(events).count("turn_end") == 2
    update = [event["assistantMessageEvent"] for event in of_type(events, "message_update")]
    assert {"type": "toolcall_start", "contentIndex": 1, "id": "c1", "toolName": "echo"} in update
    assert update[-4]["type"] == "toolcall_end"
    assert update[-4]["toolCall"]["arguments"] == {"say": "a"}


def test_steering_comes_before_the_next_request_and_follow_ups_only_at_the_end():
    """04 QU-01, 04 §1.17."""
    provider = ScriptedProvider([[call("echo", "c1")], [{"text": "one"}], [{"text": "two"}]])
    conversation = Conversation(provider, [ECHO])
    conversation.steering = [[], [user_message("rather this", timestamp=2)]]
    conversation.follow_ups = [[user_message("and then", timestamp=3)]]
    conversation.run("Go")
    said = [message["content"] for message in conversation.messages if message["role"] == "user"]
    assert said == ["Go", "rather this", "and then"]
    assert [message["role"] for message in provider.requests[1].messages][-2:] == ["toolResult", "user"]
    assert len(provider.requests) == 3


def test_steering_is_polled_again_after_preparing_a_turn_only_if_nothing_waits():
    """04 QU-03, 04 §1.14."""
    provider = ScriptedProvider([[call("echo", "c1")], [{"text": "end"}]])
    conversation = Conversation(provider, [ECHO])
    conversation.steering = [[], [], [user_message("late", timestamp=2)]]
    conversation.arguments["prepare_turn"] = lambda: None
    conversation.run("Go")
    assert [message["content"] for message in conversation.messages if message["role"] == "user"] == [
        "Go",
        "late",
    ]
    assert len(provider.requests) == 2
    assert provider.requests[1].messages[-1]["content"] == [{"type": "text", "text": "late"}]


def test_settings_of_a_prepared_turn_count_from_the_next_request():
    """04 §2.2, §6.4."""
    provider = ScriptedProvider([[call("echo", "c1")], [{"text": "end"}]])
    conversation = Conversation(provider, [ECHO])
    conversation.arguments["prepare_turn"] = lambda: TurnSettings(provider, MODEL, (), thinking_level="high")
    conversation.run("Go")
    assert [request.thinking_level for request in provider.requests] == ["off", "high"]
    assert conversation.messages[-1]["thinkingLevel"] == "high"


def test_a_providers_error_becomes_a_message_and_ends_the_pass():
    """04 §1.15."""
    provider = ScriptedProvider(
        [[{"text": "half"}, {"error": "overloaded", "message": "Overloaded", "retryable": True}]]
    )
    conversation = Conversation(provider, [ECHO])
    conversation.steering = [[], [user_message("never polled", timestamp=2)]]
    events = list(conversation.start("Go"))
    answer = conversation.messages[-1]
    assert answer["stopReason"] == "error"
    assert answer["errorMessage"] == "Overloaded"
    assert answer["content"] == [{"type": "text", "text": "half"}]
    assert answer["diagnostics"] == [{"type": "provider_error", "kind": "overloaded", "retryable": True}]
    assert isinstance(events[-2], TurnEnded)
    assert isinstance(events[-1], AgentEnded)
    assert events[-1].error is not None
    assert events[-1].error.retryable
    assert conversation.steering, "the queue is left as it is"


def test_an_unexpected_failure_of_the_provider_is_an_error_message_too():
    """04 §2.3."""

    class Broken:
        name = "broken"

        def stream(self, request: Any, stop: Any) -> Any:
            raise RuntimeError("wires crossed")

    conversation = Conversation(Broken())
    events = conversation.run("Go")
    assert conversation.messages[-1]["errorMessage"] == "RuntimeError: wires crossed"
    assert names(events)[-4:] == ["message_start", "message_end", "turn_end", "agent_end"]


def test_a_stream_without_its_end_is_an_error():
    """04 §2.3."""

    class Silent:
        name = "silent"

        def stream(self, request: Any, stop: Any) -> Any:
            yield ProviderEvent("text_start")

    conversation = Conversation(Silent())
    conversation.run("Go")
    assert conversation.messages[-1]["stopReason"] == "error"


def test_a_failing_context_or_queue_closes_the_pass_properly():
    """04 §2.3."""
    provider = ScriptedProvider([[call("echo", "c1")], [{"text": "never"}]])
    conversation = Conversation(provider, [ECHO])

    def broken() -> None:
        raise OSError("the database is gone")

    conversation.arguments["prepare_turn"] = broken
    events = conversation.run("Go")
    assert conversation.messages[-1]["errorMessage"] == "OSError: the database is gone"
    assert names(events)[-1] == "agent_end"
    assert len(provider.requests) == 1


def test_a_stop_while_the_answer_streams_keeps_what_had_arrived():
    """04 §6.1."""
    provider = ScriptedProvider([[{"text": "half an answer"}, {"wait_for_stop": True}]])
    conversation = Conversation(provider)
    timer = threading.Timer(0.05, conversation.stop.request)
    timer.start()
    events = conversation.run("Go")
    timer.join()
    answer = conversation.messages[-1]
    assert answer["stopReason"] == "aborted"
    assert answer["content"] == [{"type": "text", "text": "half an answer"}]
    assert names(events)[-2:] == ["turn_end", "agent_end"]


def test_a_stop_before_the_request_sends_nothing():
    """04 §6.1."""
    provider = ScriptedProvider([])
    conversation = Conversation(provider)
    conversation.stop.request()
    conversation.run("Go")
    assert provider.requests == []
    assert conversation.messages[-1]["stopReason"] == "aborted"
    assert conversation.messages[0]["content"] == "Go", "what was said is kept"


def test_limits_end_the_pass_after_the_turn():
    for limits, kind in [
        (Limits(max_turns=2), "turns"),
        (Limits(deadline_ms=1_010), "time"),
        (Limits(max_cost=0.000001), "cost"),
    ]:
        provider = ScriptedProvider([[call("echo", f"c{n}"), {"text": "x" * 400}] for n in range(9)])
        conversation = Conversation(provider, [ECHO], limits=limits)
        events = conversation.run("Go")
        assert names(events)[-2:] == ["limit_reached", "agent_end"], kind
        assert events[-2]["kind"] == kind
        assert conversation.messages[-1]["role"] == "toolResult"
        assert len(provider.requests) < 9
        assert kind != "turns" or len(provider.requests) == events[-2]["value"] == 2


def test_a_limit_is_not_announced_when_nothing_is_left_to_do():
    events = Conversation(ScriptedProvider([[{"text": "x"}]]), limits=Limits(max_turns=1)).run("Go")
    assert "limit_reached" not in names(events)


def test_a_turn_end_hook_can_ask_for_one_more_request_and_for_entries():
    """04 §1.17."""
    hooks = Hooks()
    asked: list[int] = []

    def once(event: dict[str, Any]) -> dict[str, Any] | None:
        asked.append(event["turnIndex"])
        if event["turnIndex"] == 0:
            return {"entries": [{"type": "custom_message", "content": "note"}], "continue": True}
        return None

    hooks.add("turn_end", once)
    provider = ScriptedProvider([[{"text": "one"}], [{"text": "two"}]])
    conversation = Conversation(provider, hooks=hooks)
    for event in conversation.start("Go"):
        if isinstance(event, TurnEnded) and event.drafts:
            conversation.messages.append({"role": "custom", "content": "note", "timestamp": 5})
    assert asked == [0, 1]
    assert len(provider.requests) == 2


def test_no_further_request_without_something_to_answer():
    """04 §1.17."""
    hooks = Hooks()
    hooks.add("turn_end", lambda event: {"continue": True})
    provider = ScriptedProvider([[{"text": "one"}]])
    Conversation(provider, hooks=hooks).run("Go")
    assert len(provider.requests) == 1


def test_message_end_hooks_may_replace_what_is_stored():
    """04 §2.2, §2.4."""
    hooks = Hooks()
    hooks.add(
        "message_end",
        lambda event: {"message": {**event["message"], "content": [{"type": "text", "text": "!"}]}},
    )
    conversation = Conversation(ScriptedProvider([[{"text": "one"}]]), hooks=hooks)
    conversation.run("Go")
    assert conversation.messages[-1]["content"] == [{"type": "text", "text": "!"}]


def test_repairs_are_told_once():
    history = [{"role": "toolResult", "toolCallId": "x", "toolName": "echo", "content": [], "timestamp": 1}]
    provider = ScriptedProvider([[call("echo", "c1")], [{"text": "end"}]])
    events = Conversation(provider, [ECHO], history=history).run("Go")
    assert of_type(events, "request_repaired") == [
        {"type": "request_repaired", "repairs": ["A tool result without its call was left out."]}
    ]


def test_costs_are_computed_from_the_models_price():
    """04 §8.1."""
    conversation = Conversation(
        ScriptedProvider(
            [[{"text": "x"}, {"stop_reason": "stop", "usage": {"input": 1_000_000, "output": 100_000}}]]
        )
    )
    conversation.run("Go")
    assert conversation.messages[-1]["usage"]["cost"]["total"] == 2.0


def test_the_system_prompt_is_asked_for_before_every_request():
    prompts = iter(["first", "second"])
    provider = ScriptedProvider([[call("echo", "c1")], [{"text": "end"}]])
    Conversation(provider, [ECHO], system=lambda: next(prompts)).run("Go")
    assert [request.system for request in provider.requests] == ["first", "second"]


def test_closing_the_generator_closes_the_providers_stream():
    closed: list[bool] = []

    class Endless:
        name = "endless"

        def stream(self, request: Any, stop: Any) -> Any:
            try:
                while True:
                    yield ProviderEvent("text_delta", delta="x")
            finally:
                closed.append(stop.is_set())

    conversation = Conversation(Endless())
    events = conversation.start("Go")
    for event in events:
        if event.to_wire()["type"] == "message_update":
            break
    events.close()  # type: ignore[attr-defined]
    assert closed == [False]
    assert not conversation.stop.is_set(), "the run's own switch is not touched"


def test_provider_errors_with_a_status_say_so():
    class Refusing:
        name = "refusing"

        def stream(self, request: Any, stop: Any) -> Any:
            raise ProviderError("no", kind="auth", status=401)

    conversation = Conversation(Refusing())
    conversation.run("Go")
    assert conversation.messages[-1]["diagnostics"][0]["status"] == 401


def test_follow_ups_wait_until_the_model_has_seen_its_results():
    """04 QU-01."""
    provider = ScriptedProvider([[call("echo", "c1")], [{"text": "one"}], [{"text": "two"}]])
    conversation = Conversation(provider, [ECHO])
    conversation.follow_ups = [[user_message("and then", timestamp=3)]]
    conversation.run("Go")
    assert provider.requests[1].messages[-1]["role"] == "toolResult"
    assert provider.requests[2].messages[-1]["content"] == [{"type": "text", "text": "and then"}]


def test_an_answer_that_was_broken_off_ends_the_pass_and_leaves_the_queues():
    """04 §1.15: also when nobody here asked for it."""
    provider = ScriptedProvider([[{"text": "half"}, {"stop_reason": "aborted"}], [{"text": "never"}]])
    conversation = Conversation(provider)
    conversation.steering = [[], [user_message("steer", timestamp=2)]]
    conversation.follow_ups = [[user_message("and then", timestamp=3)]]
    conversation.run("Go")
    assert len(provider.requests) == 1
    assert len(conversation.steering) == len(conversation.follow_ups) == 1


def test_hooks_may_replace_what_is_said_and_what_a_tool_returned():
    """04 §2.4: what they leave is what is stored and sent."""
    hooks = Hooks()

    def shout(event: dict[str, Any]) -> dict[str, Any] | None:
        message = event["message"]
        if message["role"] == "assistant":
            return None
        return {"message": {**message, "content": [{"type": "text", "text": f"{message['role']}!"}]}}

    hooks.add("message_end", shout)
    provider = ScriptedProvider([[call("echo", "c1", say="a")], [{"text": "end"}]])
    conversation = Conversation(provider, [ECHO], hooks=hooks)
    conversation.run("Go")
    assert [m["content"][0]["text"] for m in conversation.messages if m["role"] != "assistant"] == [
        "user!",
        "toolResult!",
    ]
    assert provider.requests[1].messages[-1]["content"] == [{"type": "text", "text": "toolResult!"}]


def test_the_answer_is_limited_to_what_the_request_leaves_of_the_window():
    """04 §6.6: 330,000 characters of instructions in a window of 100,000 tokens."""
    provider = ScriptedProvider([[{"text": "x"}]])
    Conversation(provider, system="x" * 330_000).run("Go")
    assert 1 <= provider.requests[0].max_tokens < 2_000
