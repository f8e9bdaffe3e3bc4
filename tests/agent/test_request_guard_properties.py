"""Whatever a session holds, wherever it broke off, the guarded request passes a strict service."""

from __future__ import annotations

import base64
import os
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.agent.models_catalogue import describe_model
from sessions_app.agent.providers.anthropic_request import build_body
from sessions_app.agent.providers.base import ProviderRequest, ToolSpec
from sessions_app.agent.request_guard import make_valid
from sessions_app.core.projection import project
from sessions_app.core.tree import Tree
from tests.agent.images import image_block, png
from tests.agent.strict_provider import check
from tests.core.strategies import examples, trees

Json = dict[str, Any]

SESSIONS = int(os.environ.get("AGENTWEB_SESSIONS", "150"))
TOOLS = (ToolSpec("read", "Read", {"type": "object"}),)
SIGNATURES = {"sig1": "deep thought", "sig2": "", "sig3": " spaced "}

texts = st.sampled_from(["hello", "", " ", "\n", "a\x00b", "\ud83d", "\ud83d\ude00", "x ", None, 7])
ids = st.sampled_from(["c1", "c2", "c3", "c1", "call|x/1", "", "z" * 90, "\ud800", None, 5])
images = st.sampled_from([
    image_block(png()), image_block(png(2500, 10)), image_block(png(9000, 1)), image_block("nonsense"),
    image_block(base64.b64encode(b"zero").decode()), image_block(png(), "image/gif"), {"type": "image"},
])  # fmt: skip
text_blocks = st.builds(lambda text: {"type": "text", "text": text}, texts)
visible = st.one_of(
    texts,
    st.lists(
        st.one_of(text_blocks, images, st.sampled_from([{}, "bare", None, {"type": "video"}])), max_size=4
    ),
)
signed = st.sampled_from(sorted(SIGNATURES)).map(
    lambda signature: {"type": "thinking", "thinking": SIGNATURES[signature], "thinkingSignature": signature}
)
redacted = st.just({"type": "thinking", "thinking": "", "thinkingSignature": "blob", "redacted": True})
unsigned = st.builds(lambda text: {"type": "thinking", "thinking": text}, texts)
arguments = st.sampled_from([{}, {"path": "a"}, {"p\ud800": ["\udfff", {"x": "\x00"}]}, "{}", "{broken", None, [1],
                             {"n": float("inf")}])  # fmt: skip
calls = st.builds(
    lambda call_id, name, args: {"type": "toolCall", "id": call_id, "name": name, "arguments": args},
    ids, st.sampled_from(["read", "read", "no such!", "", None, "x" * 200]), arguments,
)  # fmt: skip
answers = st.builds(
    lambda content, stop, model, provider: {
        "role": "assistant", "content": content, "stopReason": stop, "model": model, "provider": provider, "timestamp": 1,
    },
    st.one_of(st.lists(st.one_of(text_blocks, signed, redacted, unsigned, calls, calls), max_size=5), texts),
    st.sampled_from(["stop", "toolUse", "toolUse", "length", "error", "aborted", "pending", None]),
    st.sampled_from(["m", "m", "other"]), st.sampled_from(["anthropic", "anthropic", "openai"]),
)  # fmt: skip
results = st.builds(
    lambda call_id, content, is_error: {
        "role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": content, "isError": is_error,
    },
    ids, visible, st.booleans(),
)  # fmt: skip
others = st.one_of(
    st.builds(lambda content: {"role": "user", "content": content}, visible),
    st.builds(lambda content: {"role": "custom", "content": content}, visible),
    st.builds(lambda text: {"role": "compactionSummary", "summary": text}, texts),
    st.builds(lambda text: {"role": "branchSummary", "summary": text}, texts),
    st.builds(lambda text: {"role": "bashExecution", "command": text, "output": text, "exitCode": 1}, texts),
    st.builds(lambda text: {"role": "system", "content": text}, texts),
    st.sampled_from([{"role": "hologram"}, {}, None, "text"]),
)
histories = st.lists(st.one_of(answers, results, results, others), max_size=14)


@settings(max_examples=SESSIONS, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    history=histories, cut=st.integers(0, 14), with_tools=st.booleans(), with_images=st.booleans(),
    level=st.sampled_from(["off", "high"]),
)  # fmt: skip
def test_any_history_cut_anywhere_passes_the_strict_service(
    history: list[Any], cut: int, with_tools: bool, with_images: bool, level: str
) -> None:
    tools = TOOLS if with_tools else ()

    def guard(messages: list[Any]) -> list[Json]:
        return make_valid(messages, provider="anthropic", model="m", tools=tools, images=with_images).messages

    guarded = guard(history[:cut])
    for thinking in ("adaptive", "budget"):
        model = describe_model("anthropic", "m", thinking=thinking, levels=("off", "high"))
        request = ProviderRequest(model="m", system="s", messages=guarded, tools=tools, thinking_level=level)
        check(build_body(request, model), signatures=SIGNATURES)
    assert guard(guarded) == guarded


@settings(max_examples=SESSIONS, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories)
def test_what_the_user_said_is_never_lost(history: list[Any]) -> None:
    marked = [{"role": "user", "content": "keep me 1"}, *history, {"role": "user", "content": "keep me 2"}]
    guarded = make_valid(marked, provider="x", model="m", tools=TOOLS, images=True).messages
    texts = [
        block.get("text") for message in guarded if message["role"] == "user" for block in message["content"]
    ]
    assert texts.index("keep me 1") < texts.index("keep me 2")


@examples
@given(built=trees(), data=st.data())
def test_the_projection_of_any_leaf_gives_a_request_that_the_strict_service_takes(
    built: Tree, data: st.DataObject
) -> None:
    leaf = data.draw(st.sampled_from(built.entries))
    messages = project(built.path(leaf.id)).messages
    guarded = make_valid(messages, provider="anthropic", model="m", tools=TOOLS, images=True).messages
    request = ProviderRequest(model="m", system="s", messages=guarded, tools=TOOLS, thinking_level="off")
    check(build_body(request, describe_model("anthropic", "m")))
