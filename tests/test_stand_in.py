"""The stand-in for model services answers both wires, as both of our providers read them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from bench.stand_in import StandIn, running_stand_in
from sessions_app.agent.providers.anthropic import AnthropicProvider
from sessions_app.agent.providers.base import ProviderError, ProviderRequest, ToolSpec
from sessions_app.agent.providers.openai_compatible import OpenAICompatibleProvider
from sessions_app.agent.stop import StopSignal

Json = dict[str, Any]
TOOLS = tuple(ToolSpec(name, name, {"type": "object"}) for name in ("ls", "read", "bash", "write"))


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with running_stand_in() as running:
        yield running


@pytest.fixture(params=["anthropic", "chat completions"])
def provider(request: pytest.FixtureRequest, server: StandIn) -> Iterator[Any]:
    made: Any
    if request.param == "anthropic":
        made = AnthropicProvider(api_key="any", base_url=server.url)
    else:
        made = OpenAICompatibleProvider(base_url=f"{server.url}/v1")
    yield made
    made.close()


def ask(provider: Any, text: str, *more: Json, model: str = "m") -> Json:
    messages = [{"role": "user", "content": text, "timestamp": 1}, *more]
    asked = ProviderRequest(model=model, system="", messages=messages, tools=TOOLS, thinking_level="low")
    message = list(provider.stream(asked, StopSignal()))[-1].message
    assert message is not None
    return message


def text_of(message: Json) -> str:
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def test_it_repeats_what_was_said(provider):
    message = ask(provider, "Good morning")
    assert text_of(message) == "You said: Good morning"
    assert message["usage"]["input"] > 0
    assert message["stopReason"] == "stop"


def test_it_streams_as_many_deltas_as_asked_at_the_rate_asked(provider):
    before = time.monotonic()
    message = ask(provider, "stream 20 at 100")
    assert 0.15 < time.monotonic() - before < 2
    assert text_of(message).startswith("A stand-in says what it is told. Häppy 😀 A stand-in")
    assert message["usage"]["output"] == 20


def test_it_thinks_and_calls_tools_side_by_side(provider):
    message = ask(provider, "tools please")
    assert [block["type"] for block in message["content"]] == ["thinking", "text", *["toolCall"] * 3]
    calls = message["content"][2:]
    assert [call["name"] for call in calls] == ["ls", "read", "bash"]
    done = [
        {"role": "toolResult", "toolCallId": call["id"], "toolName": call["name"], "isError": False, "timestamp": 1,
         "content": [{"type": "text", "text": "ok"}]}
        for call in calls
    ]  # fmt: skip
    assert text_of(ask(provider, "tools please", message, *done)) == "That is what the tools said."


def test_it_runs_the_command_it_is_given(provider):
    calls = [block for block in ask(provider, "run echo Hi")["content"] if block["type"] == "toolCall"]
    assert [(call["name"], call["arguments"]) for call in calls] == [("bash", {"command": "echo Hi"})]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("error in the middle", "overloaded"), ("cut off", None), ("overflow", "overflow"), ("fail 401", "auth"),
     ("fail 429", "rate_limit"), ("fail 529", "overloaded"), ("refuse", "refused")],
)  # fmt: skip
def test_it_fails_as_it_is_told(provider, text, kind):
    with pytest.raises(ProviderError) as caught:
        ask(provider, text)
    assert kind is None or caught.value.kind == kind


def test_it_fails_once(provider):
    text = f"fail once 529 {provider.name}"
    with pytest.raises(ProviderError):
        ask(provider, text)
    assert text_of(ask(provider, text)) == "It works now."


def test_the_models_name_can_choose_too(provider, server):
    before = server.count
    assert ask(provider, "whatever", model="too-long")["stopReason"] == "length"
    assert server.count == before + 1
