"""The wire form of every loop event, as spec 10 names it."""

from __future__ import annotations

import pytest

from sessions_app.agent import events
from sessions_app.agent.tools.base import ToolResult

RESULT = ToolResult(content=[{"type": "text", "text": "x"}], details={"exitCode": 1}, is_error=True)
WIRE_RESULT = {"content": [{"type": "text", "text": "x"}], "details": {"exitCode": 1}}
MESSAGE = {"role": "user", "content": "Hi"}
CALL = {"toolCallId": "c1", "toolName": "read"}


@pytest.mark.parametrize(
    ("event", "wire"),
    [
        (events.AgentStarted(), {"type": "agent_start"}),
        (events.AgentEnded((MESSAGE,), will_retry=True), {"type": "agent_end", "messages": [MESSAGE], "willRetry": True}),
        (events.TurnStarted(), {"type": "turn_start"}),
        (events.TurnEnded(MESSAGE, (MESSAGE,), ({"type": "custom"},)),
         {"type": "turn_end", "message": MESSAGE, "toolResults": [MESSAGE]}),
        (events.MessageStarted(MESSAGE), {"type": "message_start", "message": MESSAGE}),
        (events.MessageUpdated({"input": 1}, {"type": "text_start", "contentIndex": 0}),
         {"type": "message_update", "usage": {"input": 1}, "assistantMessageEvent": {"type": "text_start", "contentIndex": 0}}),
        (events.MessageEnded(MESSAGE), {"type": "message_end", "message": MESSAGE}),
        (events.ToolStarted("c1", "read", {"path": "a"}), {"type": "tool_execution_start", **CALL, "args": {"path": "a"}}),
        (events.ToolUpdated("c1", "read", {}, RESULT),
         {"type": "tool_execution_update", **CALL, "args": {}, "partialResult": WIRE_RESULT}),
        (events.ToolEnded("c1", "read", RESULT), {"type": "tool_execution_end", **CALL, "result": WIRE_RESULT, "isError": True}),
        (events.ToolEnded("c1", "read", RESULT, 5),
         {"type": "tool_execution_end", **CALL, "result": WIRE_RESULT, "isError": True, "durationMs": 5}),
        (events.RequestRepaired(("a",)), {"type": "request_repaired", "repairs": ["a"]}),
        (events.LimitReached("turns", 3), {"type": "limit_reached", "kind": "turns", "value": 3}),
    ],
)  # fmt: skip
def test_wire_forms(event: events.LoopEvent, wire: dict[str, object]):
    """10 §1."""
    assert event.to_wire() == wire
