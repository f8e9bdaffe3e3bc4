"""Tool calls of one answer: order, side by side, refusals, stops, and exactly one result each."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from sessions_app.agent import tool_batch
from sessions_app.agent.events import ToolStarted
from sessions_app.agent.hooks import Hooks
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
    conversation = converse(tools=[FunctionTool("any", lambda *_: "never")])
    batch = tool_batch.ToolBatch(
        calls=[{"id": "a", "name": "any", "arguments": {}, "malformedArguments": '{"path": "/tm'}],
        tools=conversation.tools, sandbox=conversation.sandbox, hooks=Hooks(), stop=conversation.stop,
        clock=lambda: 0,
    )  # fmt: skip
    list(batch.run())
    assert batch.messages()[0]["content"][0]["text"] == 'The arguments are not a JSON object: {"path": "/tm'


def test_a_hook_may_change_arguments_or_refuse():
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
    hooks = Hooks()
    hooks.add("tool_result", lambda event: {"content": [{"type": "text", "text": "redacted"}]})
    tool = FunctionTool("echo", lambda *_: text_result("key", details={"diff": "key"}))
    conversation = converse(call("echo", "a"), tools=[tool], hooks=hooks)
    conversation.run("Go")
    assert result_texts(conversation) == ["redacted"]
    assert "details" not in results(conversation)[0]


def test_a_batch_ends_the_pass_only_if_all_its_results_ask_for_it():
    last = FunctionTool("last", lambda *_: text_result("bye", terminate=True))
    echo = FunctionTool("echo", lambda *_: "x")
    both = converse(call("last", "a"), call("echo", "b"), tools=[last, echo])
    both.run("Go")
    assert len(both.provider.requests) == 2
    alone = converse(call("last", "a"), call("last", "b"), tools=[last, echo])
    alone.run("Go")
    assert len(alone.provider.requests) == 1


def test_calls_of_a_cut_off_answer_are_not_carried_out():
    ran: list[int] = []
    tool = FunctionTool("echo", lambda *_: ran.append(1) or "x")
    conversation = converse(call("echo", "a"), call("echo", "b"), {"stop_reason": "length"}, tools=[tool])
    conversation.run("Go")
    assert ran == []
    assert result_texts(conversation) == [tool_batch.CUT_OFF] * 2
    assert len(conversation.provider.requests) == 2, "the model is asked again"


def test_calls_of_a_failed_answer_get_results_too():
    conversation = Conversation(
        ScriptedProvider([[call("echo", "a"), {"error": "server", "message": "boom"}]])
    )
    conversation.run("Go")
    assert [message["role"] for message in conversation.messages] == ["user", "assistant", "toolResult"]
    assert conversation.messages[-1]["isError"]


def test_a_stop_ends_running_calls_and_spares_the_others(monkeypatch):
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
    conversation = converse(
        *(call("echo", str(n)) for n in range(count)), tools=[FunctionTool("echo", lambda *_: "x")]
    )
    conversation.run("Go")
    assert len(results(conversation)) == count
    assert tool_threads() == []


def test_results_hold_only_text_that_can_be_stored_and_images_that_can_be_shown():
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
