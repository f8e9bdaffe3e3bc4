"""Tool calls of one answer: order, side by side, refusals, stops, and exactly one result each."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from sessions_app.agent import tool_batch
from sessions_app.agent.events import ToolStarted
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.loop import Limits
from sessions_app.agent.providers.scripted import ScriptedProvider
from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.tools.base import ToolError
from tests.agent.images import image_block, picture
from tests.agent.stand_ins import (
    Conversation,
    FunctionTool,
    call,
    names,
    of_type,
    result_texts,
    results,
    text_result,
)


def tool_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("tool-")]


def converse(*steps: Any, tools: Any, **settings: Any) -> Conversation:
    return Conversation(ScriptedProvider([list(steps), [{"text": "end"}]]), tools, **settings)


def test_calls_run_at_the_same_time_and_results_keep_the_order_of_the_calls():
    """04 TX-01, TX-02."""
    together = threading.Barrier(3, timeout=5)

    def meet(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        together.wait()
        time.sleep(arguments["wait"])
        return str(arguments["wait"])

    conversation = converse(
        call("meet", "a", wait=0.1), call("meet", "b", wait=0.05), call("meet", "c", wait=0),
        tools=[FunctionTool("meet", meet)],
    )  # fmt: skip
    events = conversation.run("Go")
    assert [event["toolCallId"] for event in of_type(events, "tool_execution_start")] == ["a", "b", "c"]
    assert [event["toolCallId"] for event in of_type(events, "tool_execution_end")] == ["c", "b", "a"]
    assert [message["toolCallId"] for message in results(conversation)] == ["a", "b", "c"]
    assert result_texts(conversation) == ["0.1", "0.05", "0"]


def test_one_sequential_tool_makes_the_whole_batch_sequential():
    """04 TX-01."""
    running: list[str] = []

    def alone(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        running.append("in")
        time.sleep(0.02)
        running.append("out")
        return "ok"

    tools = [FunctionTool("alone", alone, sequential=True), FunctionTool("free", alone)]
    events = converse(call("free", "a"), call("alone", "b"), call("free", "c"), tools=tools).run("Go")
    assert running == ["in", "out"] * 3
    starts_and_ends = [name for name in names(events) if name.startswith("tool_execution")]
    assert starts_and_ends == ["tool_execution_start", "tool_execution_end"] * 3


def test_partial_results_arrive_while_the_tool_runs():
    seen = threading.Event()

    def talk(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        on_update(text_result("half"))
        assert seen.wait(5), "the update must be out before the tool ends"
        return "whole"

    conversation = converse(call("talk", "a"), tools=[FunctionTool("talk", talk)])
    for event in conversation.start("Go"):
        wire = event.to_wire()
        if wire["type"] == "tool_execution_update":
            assert wire["partialResult"]["content"] == [{"type": "text", "text": "half"}]
            seen.set()
    assert result_texts(conversation) == ["whole"]


def test_updates_after_the_end_are_ignored():
    """04 TX-05."""
    sinks: list[Any] = []

    def remember(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        sinks.append(on_update)
        return "ok"

    conversation = converse(call("remember", "a"), tools=[FunctionTool("remember", remember)])
    events = []
    for event in conversation.start("Go"):
        if sinks:
            sinks[0](text_result("too late"))
        events.append(event.to_wire())
    assert "tool_execution_update" not in names(events)


def test_every_kind_of_failure_is_a_result_the_model_can_read():
    """04 TX-03, TX-05."""

    def fail(error: Exception) -> FunctionTool:
        def raising(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
            raise error

        return FunctionTool(type(error).__name__, raising)

    strict = FunctionTool(
        "strict",
        lambda *_: "never",
        parameters={"type": "object", "required": ["path"], "properties": {"path": {}}},
    )
    nothing = FunctionTool("nothing", lambda *_: None)
    conversation = converse(
        call("missing", "a"), call("strict", "b"), call("ToolError", "c"), call("SandboxError", "d"),
        call("ZeroDivisionError", "e"), call("nothing", "f"), call("SystemExit", "g"),
        tools=[strict, nothing, fail(ToolError("no such line", details={"line": 3})), fail(SandboxError("outside")),
               fail(ZeroDivisionError("division")), fail(SystemExit(1))],  # type: ignore[arg-type]
    )  # fmt: skip
    events = conversation.run("Go")
    texts = result_texts(conversation)
    assert texts[0].startswith("There is no tool named 'missing'. Available tools:")
    assert "path" in texts[1]
    assert texts[2:] == [
        "no such line", "outside", "ZeroDivisionError: division",
        "The tool ended without a result.", "SystemExit: 1",
    ]  # fmt: skip
    messages = results(conversation)
    assert all(message["isError"] for message in messages)
    assert messages[2]["details"] == {"line": 3}
    assert ["durationMs" in message for message in messages] == [False, False, True, True, True, True, True]
    assert len(of_type(events, "tool_execution_end")) == 7


def test_arguments_that_were_no_json_are_refused():
    """04 TX-03."""
    conversation = converse(tools=[FunctionTool("any", lambda *_: "never")])
    batch = tool_batch.ToolBatch(
        calls=[{"id": "a", "name": "any", "arguments": {}, "malformedArguments": '{"path": "/tm'}],
        tools=conversation.tools, sandbox=conversation.sandbox, hooks=Hooks(), stop=conversation.stop,
        clock=lambda: 0,
    )  # fmt: skip
    list(batch.run())
    assert batch.messages()[0]["content"][0]["text"] == 'The arguments are not a JSON object: {"path": "/tm'


def test_a_hook_may_change_arguments_or_refuse():
    """04 TX-04, TX-05."""
    hooks = Hooks()

    def check(event: dict[str, Any]) -> dict[str, Any] | None:
        if event["input"].get("say") == "secret":
            return {"block": True, "reason": "Not that."}
        event["input"]["say"] = event["input"]["say"].upper()
        return None

    hooks.add("tool_call", check)
    echo = FunctionTool("echo", lambda arguments, *_: arguments["say"])
    conversation = converse(
        call("echo", "a", say="hi"), call("echo", "b", say="secret"), tools=[echo], hooks=hooks
    )
    conversation.run("Go")
    assert result_texts(conversation) == ["HI", "Not that."]
    assert "durationMs" not in results(conversation)[1]


def test_a_hook_that_raises_refuses_the_call():
    """04 TX-03."""
    failures: list[Any] = []
    hooks = Hooks(failures.append)

    def broken(event: dict[str, Any]) -> None:
        raise ValueError("oops")

    hooks.add("tool_call", broken, extension="guard.py")
    ran: list[int] = []
    tool = FunctionTool("echo", lambda *_: ran.append(1) or "x")
    conversation = converse(call("echo", "a"), tools=[tool], hooks=hooks)
    conversation.run("Go")
    assert ran == []
    assert result_texts(conversation) == ["The call was refused because a check failed: ValueError: oops"]
    assert failures[0].to_wire() == {
        "type": "extension_error", "extensionPath": "guard.py", "event": "tool_call", "error": "ValueError: oops",
    }  # fmt: skip


def test_a_result_hook_patches_and_new_content_drops_the_details():
    """04 TX-06."""
    hooks = Hooks()
    hooks.add("tool_result", lambda event: {"content": [{"type": "text", "text": "redacted"}]})
    tool = FunctionTool("echo", lambda *_: text_result("key", details={"diff": "key"}))
    conversation = converse(call("echo", "a"), tools=[tool], hooks=hooks)
    conversation.run("Go")
    assert result_texts(conversation) == ["redacted"]
    assert "details" not in results(conversation)[0]


def test_result_hooks_see_what_there_is_for_scripts_and_new_content_drops_it():
    """04 TX-06, 05 §1.6."""
    seen: list[object] = []
    hooks = Hooks()
    hooks.add("tool_result", lambda event: seen.append(event["structuredContent"]))
    hooks.add("tool_result", lambda event: {"content": [{"type": "text", "text": "other"}]})
    hooks.add("tool_result", lambda event: seen.append("structuredContent" in event))
    tool = FunctionTool("echo", lambda *_: replace(text_result("x"), structured=lambda: {"output": "x"}))
    converse(call("echo", "a"), tools=[tool], hooks=hooks).run("Go")
    assert seen == [{"output": "x"}, False]


def test_a_batch_ends_the_pass_only_if_all_its_results_ask_for_it():
    """04 TX-07."""
    last = FunctionTool("last", lambda *_: text_result("bye", terminate=True))
    echo = FunctionTool("echo", lambda *_: "x")
    both = converse(call("last", "a"), call("echo", "b"), tools=[last, echo])
    both.run("Go")
    assert len(both.provider.requests) == 2
    alone = converse(call("last", "a"), call("last", "b"), tools=[last, echo])
    alone.run("Go")
    assert len(alone.provider.requests) == 1


def test_calls_of_a_cut_off_answer_are_not_carried_out():
    """04 TX-08."""
    ran: list[int] = []
    tool = FunctionTool("echo", lambda *_: ran.append(1) or "x")
    conversation = converse(call("echo", "a"), call("echo", "b"), {"stop_reason": "length"}, tools=[tool])
    conversation.run("Go")
    assert ran == []
    assert result_texts(conversation) == [tool_batch.CUT_OFF] * 2
    assert len(conversation.provider.requests) == 2, "the model is asked again"


def test_calls_of_a_failed_answer_get_results_too():
    """04 TX-03."""
    conversation = Conversation(
        ScriptedProvider([[call("echo", "a"), {"error": "server", "message": "boom"}]])
    )
    conversation.run("Go")
    assert [message["role"] for message in conversation.messages] == ["user", "assistant", "toolResult"]
    assert conversation.messages[-1]["isError"]


def test_a_stop_ends_running_calls_and_spares_the_others(monkeypatch):
    """04 TX-03, 04 §6.1."""
    monkeypatch.setattr(tool_batch, "MAX_PARALLEL_CALLS", 2)
    started = threading.Semaphore(0)

    def obedient(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        started.release()
        assert stop.wait(10)
        raise ToolError("stopped")

    conversation = converse(*(call("wait", str(n)) for n in range(4)), tools=[FunctionTool("wait", obedient)])

    def press_stop() -> None:
        started.acquire()
        started.acquire()
        conversation.stop.request()

    presser = threading.Thread(target=press_stop)
    presser.start()
    before = time.monotonic()
    conversation.run("Go")
    presser.join()
    assert time.monotonic() - before < 2
    assert sorted(result_texts(conversation)) == sorted(["stopped"] * 2 + [tool_batch.ABORTED_BEFORE] * 2)
    assert conversation.messages[-1]["stopReason"] == "aborted"
    assert len(conversation.provider.requests) == 1
    assert tool_threads() == []


def test_a_stop_between_preparation_and_execution_prevents_the_call():
    """04 TX-03."""
    hooks = Hooks()
    ran: list[int] = []
    conversation = converse(
        call("echo", "a"), tools=[FunctionTool("echo", lambda *_: ran.append(1))], hooks=hooks
    )
    hooks.add("tool_call", lambda event: conversation.stop.request())
    conversation.run("Go")
    assert ran == []
    assert result_texts(conversation) == [tool_batch.ABORTED_BEFORE]


def test_a_tool_that_ignores_the_stop_is_given_up_and_that_is_said(monkeypatch):
    monkeypatch.setattr(tool_batch, "SECONDS_TO_END", 0.1)
    monkeypatch.setattr(tool_batch, "SECONDS_AFTER_KILL", 0.1)
    release = threading.Event()
    conversation = converse(
        call("deaf", "a"), tools=[FunctionTool("deaf", lambda *_: release.wait(10) and "late")]
    )
    conversation.arguments["hooks"].add("tool_execution_start", lambda event: None)
    for event in conversation.start("Go"):
        if isinstance(event, ToolStarted):
            threading.Timer(0.05, conversation.stop.request).start()
    assert "may still be running" in result_texts(conversation)[0]
    assert conversation.sandbox.kills == 1
    release.set()


def test_closing_the_generator_ends_the_tools():
    entered = threading.Event()

    def obedient(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        on_update(text_result("here"))
        entered.set()
        stop.wait(10)
        return "ended"

    conversation = converse(call("wait", "a"), tools=[FunctionTool("wait", obedient)])
    events = conversation.start("Go")
    for event in events:
        if event.to_wire()["type"] == "tool_execution_update":
            break
    events.close()  # type: ignore[attr-defined]
    assert entered.is_set()
    assert conversation.sandbox.kills == 1
    assert tool_threads() == []


@pytest.mark.parametrize("count", [1, 20])
def test_any_number_of_calls_gets_as_many_results(count):
    """04 TX-03."""
    conversation = converse(
        *(call("echo", str(n)) for n in range(count)), tools=[FunctionTool("echo", lambda *_: "x")]
    )
    conversation.run("Go")
    assert len(results(conversation)) == count
    assert tool_threads() == []


def test_results_hold_only_text_that_can_be_stored_and_images_that_can_be_shown():
    """04 TX-06, B35, B38."""
    odd = text_result("a\x00b\udcff", details={"name\ud800": ["\x00"]})
    odd.content.extend([image_block(picture("BMP"), "image/bmp"), image_block("nonsense")])
    conversation = converse(call("odd", "a"), tools=[FunctionTool("odd", lambda *_: odd)])
    conversation.run("Go")
    message = results(conversation)[0]
    assert message["content"][0]["text"] == "a\ufffdb\ufffd"
    assert message["details"] == {"name\ufffd": ["\ufffd"]}
    assert message["content"][1]["mimeType"] == "image/png"
    assert message["content"][2]["text"].startswith("(An image was left out: ")


def test_a_call_that_gets_no_thread_gets_a_result_all_the_same(monkeypatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    conversation = converse(call("echo", "a"), tools=[FunctionTool("echo", lambda *_: "x")])
    monkeypatch.setattr(threading.Thread, "start", refuse)
    conversation.run("Go")
    assert result_texts(conversation) == ["RuntimeError: can't start new thread"]


def test_tools_wait_for_one_another_where_that_is_configured():
    """04 TX-01."""
    tools = [FunctionTool("free", lambda *_: "ok")]
    events = converse(call("free", "a"), call("free", "b"), tools=tools, sequential_tools=True).run("Go")
    told = [event["toolCallId"] for event in events if event["type"].startswith("tool_execution")]
    assert told == ["a", "a", "b", "b"], "start and end of the one before the start of the other"


def test_calls_of_one_answer_with_the_same_id_get_a_result_each():
    """04 TX-03."""
    both = threading.Barrier(2, timeout=5)
    tool = FunctionTool("echo", lambda arguments, *_: f"{arguments['say']} {both.wait() >= 0}")
    conversation = converse(call("echo", "same", say="one"), call("echo", "same", say="two"), tools=[tool])
    conversation.run("Go")
    assert result_texts(conversation) == ["one True", "two True"]


def test_a_late_update_of_one_call_is_ignored_while_another_runs():
    """04 TX-05."""
    sinks: list[Any] = []
    ended = threading.Event()

    def first(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        sinks.append(on_update)
        return "done"

    def second(arguments: dict[str, Any], stop: Any, on_update: Any) -> str:
        assert ended.wait(5)
        sinks[0](text_result("too late"))
        on_update(text_result("in time"))
        time.sleep(0.1)
        return "done too"

    conversation = converse(call("first", "a"), call("second", "b"),
                            tools=[FunctionTool("first", first), FunctionTool("second", second)])  # fmt: skip
    updates = []
    for event in conversation.start("Go"):
        wire = event.to_wire()
        if wire["type"] == "tool_execution_end":
            ended.set()
        elif wire["type"] == "tool_execution_update":
            updates.append(wire["toolCallId"])
    assert updates == ["b"]


def test_arguments_that_a_hook_changed_are_not_checked_again():
    """04 TX-04."""
    hooks = Hooks()
    hooks.add("tool_call", lambda event: event["input"].update(path=5))
    strict = FunctionTool(
        "strict",
        lambda arguments, *_: f"path {arguments['path']}",
        parameters={"type": "object", "properties": {"path": {"type": "string"}}},
    )
    conversation = converse(call("strict", "a", path="f"), tools=[strict], hooks=hooks)
    conversation.run("Go")
    assert result_texts(conversation) == ["path 5"]


def test_a_refusal_may_end_the_pass():
    """04 TX-04, TX-07."""
    hooks = Hooks()
    hooks.add("tool_call", lambda event: {"block": True, "reason": "Enough.", "terminate": True})
    conversation = converse(call("echo", "a"), tools=[FunctionTool("echo", lambda *_: "x")], hooks=hooks)
    conversation.run("Go")
    assert result_texts(conversation) == ["Enough."]
    assert len(conversation.provider.requests) == 1


def test_a_result_hook_may_give_new_details_with_its_content_and_one_that_raises_is_passed_over():
    """04 TX-06, TX-03: still one result."""
    hooks = Hooks(lambda failure: None)
    patch = {"content": [{"type": "text", "text": "short"}], "details": {"cut": True}, "isError": True}
    hooks.add("tool_result", lambda event: patch)
    hooks.add("tool_result", lambda event: event["nothing"])
    conversation = converse(call("echo", "a"), tools=[FunctionTool("echo", lambda *_: "long")], hooks=hooks)
    conversation.run("Go")
    (message,) = results(conversation)
    assert (message["content"], message["details"], message["isError"]) == (
        [{"type": "text", "text": "short"}],
        {"cut": True},
        True,
    )


def test_what_a_tool_spent_is_stored_with_its_result_and_counts():
    """04 §8.2."""
    usage = {"input": 10, "output": 5, "cost": {"total": 0.5}}
    tool = FunctionTool("ask", lambda *_: text_result("x", usage=usage))
    conversation = converse(call("ask", "a"), tools=[tool], limits=Limits(max_cost=0.4))
    events = conversation.run("Go")
    assert results(conversation)[0]["usage"] == usage
    assert of_type(events, "limit_reached")[0]["kind"] == "cost"
