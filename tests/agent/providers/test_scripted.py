"""The scripted provider plays what it is told."""

from __future__ import annotations

import json
import threading

import pytest

from sessions_app.agent.providers import create_provider
from sessions_app.agent.providers.base import ProviderError
from sessions_app.agent.providers.scripted import Script, ScriptedProvider, ScriptUsedUpError
from sessions_app.agent.stop import StopSignal
from tests.agent.providers.contract import collect, request


def said(text: str, session_id: str = "s1"):
    return request(session_id=session_id, messages=[{"role": "user", "content": text, "timestamp": 1}])


def test_an_answer_of_every_kind_of_step():
    provider = ScriptedProvider(
        [[{"thinking": "hm", "signature": "sig"}, {"text": "x" * 50}, {"call": "read", "id": "c"}]]
    )
    events = collect(provider)
    assert [event.kind for event in events] == [
        "thinking_start", "thinking_delta", "thinking_end",
        "text_start", "text_delta", "text_delta", "text_delta", "text_end",
        "toolcall_start", "toolcall_delta", "toolcall_end", "done",
    ]  # fmt: skip
    message = events[-1].message
    assert message is not None
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
        {"type": "text", "text": "x" * 50},
        {"type": "toolCall", "id": "c", "name": "read", "arguments": {}},
    ]
    assert message["stopReason"] == "toolUse"


def test_the_script_says_when_it_is_used_up():
    provider = ScriptedProvider([[{"text": "only"}]])
    collect(provider)
    with pytest.raises(ScriptUsedUpError, match="no answer number 2"):
        collect(provider)


def test_errors_carry_what_had_arrived():
    provider = ScriptedProvider(
        [[{"text": "half"}, {"error": "rate_limit", "retryable": True, "retry_after": 2}]]
    )
    with pytest.raises(ProviderError) as caught:
        collect(provider)
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after) == ("rate_limit", True, 2)
    assert caught.value.partial is not None


def test_a_stop_ends_waiting_and_pacing():
    for step in ({"wait_for_stop": True}, {"delay": 30}):
        stop = StopSignal()
        threading.Timer(0.05, stop.request).start()
        events = collect(ScriptedProvider([[{"text": "a"}, step, {"text": "never"}]]), stop=stop)
        message = events[-1].message
        assert message is not None
        assert message["stopReason"] == "aborted"
        assert message["content"] == [{"type": "text", "text": "a"}]


def test_each_conversation_plays_the_script_from_the_beginning():
    script = Script(answers=[[{"text": "one"}], [{"text": "two"}]], replies={"weather": [[{"text": "rain"}]]})
    provider = ScriptedProvider(script)

    def answer(text: str, session_id: str) -> str:
        message = collect(provider, said(text, session_id))[-1].message
        assert message is not None
        return str(message["content"][0]["text"])

    assert [answer("Hi", "a"), answer("Hi", "b"), answer("the weather?", "a"), answer("Hi", "a")] == [
        "one", "one", "rain", "two",
    ]  # fmt: skip


def test_a_script_in_a_file_is_played_on_by_every_provider_of_the_process(tmp_path):
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"answers": [[{"text": "one"}], [{"text": "two"}]]}))
    texts = []
    for _ in range(2):
        message = collect(create_provider("scripted", base_url=str(path)))[-1].message
        assert message is not None
        texts.append(message["content"][0]["text"])
    assert texts == ["one", "two"]


def test_a_function_can_answer():
    provider = ScriptedProvider(lambda asked: [{"text": f"{len(asked.messages)} messages"}])
    message = collect(provider)[-1].message
    assert message is not None
    assert message["content"][0]["text"] == "1 messages"


def test_an_unknown_provider_is_named_with_the_known_ones():
    with pytest.raises(ProviderError, match="no provider named 'oracle'"):
        create_provider("oracle")
