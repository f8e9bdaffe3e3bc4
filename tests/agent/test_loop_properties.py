"""Whatever the model says and wherever the run breaks off: what was stored can be sent, and every call has one result."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.agent.events import AgentEnded, MessageEnded
from sessions_app.agent.models_catalogue import describe_model
from sessions_app.agent.providers.anthropic_request import build_body
from sessions_app.agent.providers.base import ProviderRequest, ToolSpec
from sessions_app.agent.providers.scripted import ScriptedProvider
from sessions_app.agent.request_guard import make_valid
from sessions_app.agent.tools.base import ToolError
from sessions_app.core.messages import tool_calls_of, user_message
from tests.agent.stand_ins import Conversation, FunctionTool
from tests.agent.strict_provider import check

Json = dict[str, Any]

SESSIONS = int(os.environ.get("AGENTWEB_SESSIONS", "60"))
# In the long form every session breaks off at every event, by a crash and by a stop.
EVERY_POINT = SESSIONS >= 1000
NEVER = 10_000


def fail(*_: Any) -> str:
    raise ToolError("it failed")


TOOLS = [
    FunctionTool("work", lambda *_: "done"),
    FunctionTool("fail", fail),
    FunctionTool("alone", lambda *_: "x", sequential=True),
]
SPECS = tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in TOOLS)

steps = st.one_of(
    st.builds(lambda text: {"text": text}, st.sampled_from(["Hello", "", " ", "\ud83d", "a" * 50])),
    st.builds(lambda text: {"thinking": text, "signature": "sig"}, st.sampled_from(["hm", ""])),
    st.builds(
        lambda name, call_id: {"call": name, "id": call_id, "arguments": {}},
        st.sampled_from(["work", "fail", "alone", "missing"]), st.sampled_from(["c1", "c2", "c3"]),
    ),
    st.just({"stop_reason": "length"}),
    st.builds(lambda kind: {"error": kind}, st.sampled_from(["overloaded", "overflow"])),
)  # fmt: skip
scripts = st.lists(st.lists(steps, max_size=5), min_size=1, max_size=4)


def run(script: list[list[Json]], *, close_at: int, stop_at: int) -> tuple[Conversation, bool, int]:
    """Plays the script; the listener goes away at one event, a person stops the run at another. Gives the number of
    events too."""
    conversation = Conversation(ScriptedProvider(script), TOOLS)
    conversation.steering = [[], [user_message("meanwhile", timestamp=1)]]
    ended, number = False, -1
    events = conversation.start("Go")
    for number, event in enumerate(events):
        if number == stop_at:
            conversation.stop.request()
        ended = isinstance(event, AgentEnded)
        if number == close_at:
            break
    events.close()  # type: ignore[attr-defined]
    return conversation, ended, number + 1


def results_of(messages: list[Json]) -> list[tuple[list[str], list[str]]]:
    """For each answer its call ids, and the ids of the results that follow it."""
    pairs: list[tuple[list[str], list[str]]] = []
    for message in messages:
        if message["role"] == "assistant":
            pairs.append(([call["id"] for call in tool_calls_of(message)], []))
        elif message["role"] == "toolResult":
            pairs[-1][1].append(message["toolCallId"])
    return pairs


@settings(max_examples=SESSIONS, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=scripts, close_at=st.integers(0, 80), stop_at=st.integers(0, 80))
def test_what_is_stored_can_be_sent_wherever_the_run_breaks_off(
    script: list[list[Json]], close_at: int, stop_at: int
) -> None:
    points = [(close_at, stop_at)]
    if EVERY_POINT:
        count = run(script, close_at=NEVER, stop_at=NEVER)[2]
        points += [(point, NEVER) for point in range(count)] + [(NEVER, point) for point in range(count)]
    for close, stop in points:
        conversation, ended, _ = run(script, close_at=close, stop_at=stop)
        assert_can_be_sent(conversation, ended=ended)


def assert_can_be_sent(conversation: Conversation, *, ended: bool) -> None:
    guarded = make_valid(
        conversation.messages, provider="scripted", model="script-1", tools=SPECS, images=True
    ).messages
    request = ProviderRequest(model="m", system="s", messages=guarded, tools=SPECS, thinking_level="high")
    check(build_body(request, describe_model("anthropic", "m")))
    if ended:
        for calls, results in results_of(conversation.messages):
            assert results == calls


def test_a_stored_message_is_never_changed_afterwards() -> None:
    conversation = Conversation(ScriptedProvider([[{"call": "work", "id": "a"}], [{"text": "end"}]]), TOOLS)
    ended = (event for event in conversation.start("Go") if isinstance(event, MessageEnded))
    stored = [(event.message, repr(event.message)) for event in ended]
    assert all(repr(message) == before for message, before in stored)
