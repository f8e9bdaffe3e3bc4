"""What the guard sends instead of what a session holds."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from sessions_app.agent import request_content as content
from sessions_app.agent.providers.base import ToolSpec
from sessions_app.agent.request_guard import GO_ON, NO_BEGINNING, NO_RESULT, GuardedRequest, make_valid
from tests.agent.images import image_block, png

Json = dict[str, Any]
TOOLS = (ToolSpec("read", "Read", {"type": "object"}),)


def guard(
    *messages: Any, provider: str = "anthropic", model: str = "m", images: bool = True, **more: Any
) -> GuardedRequest:
    return make_valid(list(messages), provider=provider, model=model, tools=TOOLS, images=images, **more)


def user(text: Any = "Hi") -> Json:
    return {"role": "user", "content": text, "timestamp": 1}


def answer(*blocks: Json | str, stop: str = "stop", model: str = "m", provider: str = "anthropic") -> Json:
    made = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {
        "role": "assistant", "content": made, "api": "a", "provider": provider, "model": model,
        "stopReason": stop, "timestamp": 2, "usage": {},
    }  # fmt: skip


def call(call_id: str, name: str = "read", **arguments: Any) -> Json:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def result(call_id: str, text: str = "ok", **fields: Any) -> Json:
    return {
        "role": "toolResult", "toolCallId": call_id, "toolName": "read", "isError": False, "timestamp": 3,
        "content": [{"type": "text", "text": text}], **fields,
    }  # fmt: skip


def shape(request: GuardedRequest) -> list[Any]:
    """`u:text`, `a:text+call(id)`, `r:id:text`, short enough to compare."""
    shapes = []
    for message in request.messages:
        texts = [
            block.get("text", "") or block.get("id", "") or block["type"] for block in message["content"]
        ]
        head = {"user": "u", "assistant": "a", "toolResult": f"r:{message.get('toolCallId')}"}[
            message["role"]
        ]
        shapes.append(f"{head}:{'+'.join(texts)}")
    return shapes


def test_a_valid_history_is_sent_as_it_is_and_nothing_is_reported():
    request = guard(user("one"), answer("two", call("c1")), result("c1"), user("three"))
    assert shape(request) == ["u:one", "a:two+c1", "r:c1:ok", "u:three"]
    assert request.repairs == []


def test_failed_and_stopped_answers_go_with_their_results():
    """04 §4.1."""
    request = guard(
        user(), answer("half", call("c1"), stop="aborted"), result("c1", "aborted"),
        answer(call("c2"), stop="error"), result("c2"), user("again"),
    )  # fmt: skip
    assert shape(request) == ["u:Hi", "u:again"]
    assert request.repairs == []
    behind_calls = guard(
        user(),
        answer(call("c1")),
        result("c1"),
        answer(call("c2"), stop="aborted"),
        result("c2"),
        user("again"),
    )
    assert shape(behind_calls) == ["u:Hi", "a:c1", "r:c1:ok", "u:again"]
    assert behind_calls.repairs == []


def test_a_retried_call_with_the_same_id_keeps_its_own_result():
    """04 §4.1."""
    request = guard(
        user(), answer(call("c1"), stop="error"), result("c1", "old"), answer(call("c1")), result("c1", "new")
    )
    assert shape(request) == ["u:Hi", "a:c1", "r:c1:new"]


def test_a_call_without_a_result_gets_one_before_anything_else_is_said():
    """04 §4.2, B41."""
    request = guard(user(), answer(call("c1"), call("c2")), result("c2"), user("next"))
    assert shape(request) == ["u:Hi", "a:c1+c2", f"r:c1:{NO_RESULT}", "r:c2:ok", "u:next"]
    assert request.messages[2]["isError"]
    assert request.repairs == ["A tool call without a result got a note in its place."]


def test_what_was_said_while_tools_ran_comes_after_their_results():
    """B43: never between."""
    note = {"role": "custom", "customType": "x", "content": "note", "display": True, "timestamp": 2}
    summary = {"role": "branchSummary", "summary": "S", "fromId": "x", "timestamp": 2}
    request = guard(user(), answer(call("c1"), call("c2")), result("c1"), note, summary, result("c2"))
    assert [line.split(":")[0] for line in shape(request)] == ["u", "a", "r", "r", "u", "u"]


def test_results_without_their_call_are_left_out():
    request = guard(
        user(), result("ghost"), answer("x", call("c1")), result("c1"), result("c1", "twice"), user("y")
    )
    assert shape(request) == ["u:Hi", "a:x+c1", "r:c1:ok", "u:y"]
    assert request.repairs == ["A tool result without its call was left out. (2 times)"]


def test_ids_that_occur_twice_are_told_apart():
    request = guard(
        user(), answer(call("c1"), call("c1")), result("c1", "first"), result("c1", "second"),
        answer(call("c1")), result("c1", "third"),
    )  # fmt: skip
    assert shape(request) == ["u:Hi", "a:c1+c1_2", "r:c1:first", "r:c1_2:second", "a:c1_3", "r:c1_3:third"]


@pytest.mark.parametrize("foreign", ["call|fc_1/2", "x" * 300, "", "ünï", "a b"])
def test_foreign_ids_are_made_well_formed_on_both_sides(foreign):
    """04 §4.5."""
    request = guard(user(), answer(call(foreign)), result(foreign))
    call_id = request.messages[1]["content"][0]["id"]
    assert call_id == request.messages[2]["toolCallId"]
    assert 1 <= len(call_id) <= 64
    assert all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in call_id)
    assert request.repairs == []


def test_long_foreign_ids_stay_different():
    """04 §4.5."""
    ids = ["y" * 80 + "1", "y" * 80 + "2"]
    request = guard(user(), answer(*map(call, ids)), *map(result, ids))
    assert len({message.get("toolCallId") for message in request.messages}) == 3


def test_thinking_stays_only_with_its_model_and_unchanged():
    """04 §4.4, B12."""
    signed = {"type": "thinking", "thinking": " deep  ", "thinkingSignature": "sig"}
    redacted = {"type": "thinking", "thinking": "", "thinkingSignature": "data", "redacted": True}
    empty = {"type": "thinking", "thinking": "  "}
    same = guard(user(), answer(signed, redacted, empty, "x"), user())
    assert same.messages[1]["content"][:-1] == [signed, redacted]
    for other in (guard(user(), answer(signed, "x", model="other"), user()),
                  guard(user(), answer(signed, "x", provider="other"), user())):  # fmt: skip
        assert shape(other) == ["u:Hi", "a:x", "u:Hi"]


def test_an_answer_that_is_only_thinking_is_left_out():
    request = guard(
        user(), answer({"type": "thinking", "thinking": "t", "thinkingSignature": "s"}), user("more")
    )
    assert shape(request) == ["u:Hi", "u:more"]


def test_thinking_at_the_end_of_an_answer_is_cut():
    request = guard(
        user(), answer("x", {"type": "thinking", "thinking": "t", "thinkingSignature": "s"}), user("more")
    )
    assert shape(request) == ["u:Hi", "a:x", "u:more"]


def test_the_first_and_the_last_message_are_not_answers():
    """B43: whatever the cut left."""
    request = guard(answer("before "), user("x"), answer("after \n"))
    assert shape(request) == [f"u:{NO_BEGINNING}", "a:before ", "u:x", "a:after \n", f"u:{GO_ON}"]
    assert shape(guard()) == [f"u:{NO_BEGINNING}"]


def test_blank_texts_and_empty_messages_are_left_out():
    """04 §4.7."""
    request = guard(user("  \n"), user([{"type": "text", "text": ""}, {"type": "text", "text": "x"}]),
                    answer(), answer(" "), user(None), user("y"))  # fmt: skip
    assert shape(request) == ["u:x", "u:y"]


def test_an_empty_result_says_so():
    assert shape(guard(user(), answer(call("c1")), result("c1", "")))[-1] == f"r:c1:{content.NO_OUTPUT}"


def test_other_roles_are_told_as_the_user():
    request = guard(
        {"role": "system", "content": "prompt", "timestamp": 1},
        {"role": "compactionSummary", "summary": "Before", "timestamp": 1},
        {"role": "bashExecution", "command": "ls", "output": "a", "cancelled": False, "truncated": False, "exitCode": 2,
         "timestamp": 1},
        {"role": "bashExecution", "command": "secret", "output": "x", "excludeFromContext": True, "timestamp": 1},
        {"role": "branchSummary", "summary": " ", "timestamp": 1},
        {"role": "hologram", "content": "?"},
    )  # fmt: skip
    assert [message["role"] for message in request.messages] == ["user", "user"]
    assert "<summary>\nBefore\n</summary>" in request.messages[0]["content"][0]["text"]
    assert request.messages[1]["content"][0]["text"] == "Ran `ls`\n```\na\n```\n\nCommand exited with code 2"
    assert request.repairs == ["A message of an unknown kind was left out."]


def test_characters_that_cannot_be_sent_are_replaced_everywhere():
    """04 §4.7, B38."""
    request = guard(
        user("a\x00b\ud83d"), answer(call("c\ud800", "na\ud800me", path="\udcff", **{"k\ud800": ["\x00"]})),
        result("c\ud800", "x\udfff"),
    )  # fmt: skip
    assert request.messages[0]["content"][0]["text"] == "a\ufffdb\ufffd"
    assert request.messages[1]["content"][0]["arguments"] == {"path": "\ufffd", "k\ufffd": ["\ufffd"]}
    assert request.messages[2]["toolCallId"] == request.messages[1]["content"][0]["id"]
    assert request.repairs == ["Characters that cannot be sent were replaced. (2 times)"]


def test_two_halves_that_belong_together_become_their_character():
    assert guard(user("\ud83d\ude00")).messages[0]["content"][0]["text"] == "😀"


def test_models_without_images_get_one_note_for_images_in_a_row():
    """04 §4.6."""
    picture = image_block(png())
    request = guard(user([picture, picture, {"type": "text", "text": "x"}, picture]), images=False)
    assert shape(request) == [f"u:{content.NO_IMAGES}+x+{content.NO_IMAGES}"]
    assert request.repairs == []


def test_where_no_images_are_sent_a_note_says_so():
    """04 §6.9: whatever the model could see."""
    picture = image_block(png())
    request = guard(user([picture, picture]), images_blocked=True)
    assert shape(request) == [f"u:{content.BLOCKED_IMAGES}"]
    assert request.repairs == []


@pytest.mark.parametrize(
    "broken", ["", "not base64!", base64.b64encode(b"text").decode(), base64.b64encode(b"BM" + b"\x00" * 40).decode(),
               base64.b64encode(png()[:20]).decode(), None]
)  # fmt: skip
def test_broken_images_leave_a_note(broken):
    """04 §6.7, B39."""
    request = guard(user([{"type": "image", "data": broken, "mimeType": "image/png"}]))
    assert shape(request) == [f"u:{content.BAD_IMAGE}"]
    assert request.repairs == ["An image that cannot be read was left out."]


def test_an_images_type_is_what_its_bytes_say():
    """B39: a wrong type."""
    assert (
        guard(user([image_block(png(), "image/jpeg")])).messages[0]["content"][0]["mimeType"] == "image/png"
    )


def test_too_large_images_leave_a_note():
    """04 §6.7, B39."""
    assert shape(guard(user([image_block(png(9000, 10))]))) == [f"u:{content.LARGE_IMAGE}"]
    assert shape(guard(user([image_block(png(padding=4_000_000))]))) == [f"u:{content.LARGE_IMAGE}"]


def test_among_many_images_each_must_be_small():
    """B39: 25 images, one of 2162 × 322."""
    many = [image_block(png(2162, 322)), *(image_block(png(10 + n, 10)) for n in range(24))]
    request = guard(user(many))
    assert shape(request)[0].startswith(f"u:{content.LARGE_IMAGE}+image+image")
    assert len(request.messages[0]["content"]) == 25
    assert shape(guard(user(many[:20])))[0].startswith("u:image+image")


def test_only_the_newest_hundred_images_are_sent():
    request = guard(*(user([image_block(png())]) for _ in range(103)))
    assert [block["content"][0]["type"] for block in request.messages] == ["text"] * 3 + ["image"] * 100


def test_without_tools_calls_are_told_as_text():
    request = make_valid([user(), answer("x", call("c1", path="a")), result("c1", "file")], provider="anthropic",
                         model="m", tools=(), images=True)  # fmt: skip
    assert shape(request) == ["u:Hi", 'a:x+[Called read with {"path": "a"}]', "u:[Result of read]+file"]


def test_arguments_may_be_text_or_nonsense():
    blocks = [
        {**call("c1"), "arguments": '{"a": 1}'},
        {**call("c2"), "arguments": "{"},
        {**call("c3"), "arguments": None},
    ]
    request = guard(user(), answer(*blocks), result("c1"), result("c2"), result("c3"))
    assert [block["arguments"] for block in request.messages[1]["content"]] == [{"a": 1}, {}, {}]


def test_nothing_that_was_given_is_changed():
    messages = [user(), answer(call("c!")), result("c!", "\x00")]
    before = repr(messages)
    guard(*messages)
    assert repr(messages) == before


def test_a_system_message_never_stands_between_a_call_and_its_result():
    """04 §4.3: the system prompt holds it."""
    changed = {"role": "system", "content": "", "toolsAdded": [], "timestamp": 2}
    request = guard(user(), answer(call("c1"), call("c2")), result("c1"), changed, result("c2"), user("next"))
    assert shape(request) == ["u:Hi", "a:c1+c2", "r:c1:ok", "r:c2:ok", "u:next"]
    assert request.repairs == []


def test_two_messages_of_the_user_in_a_row_stay_two_and_an_answer_without_blocks_goes():
    """B43: what an abort before the first word, or a cut, leaves behind."""
    request = guard(user("one"), answer(stop="aborted"), user("two"), answer(), user("three"))
    assert shape(request) == ["u:one", "u:two", "u:three"]
