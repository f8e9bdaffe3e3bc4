"""Messages as text for a summariser."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.core.messages import Json
from sessions_app.core.transcript import (
    BRANCH_PREFIX,
    COMPACTION_PREFIX,
    bash_text,
    cut_tool_result,
    serialise,
)
from tests.builders import answer, call


def result(text: str) -> Json:
    return {"role": "toolResult", "content": [{"type": "text", "text": text}]}


def test_parts_stand_under_their_heads_separated_by_blank_lines() -> None:
    """02 §9."""
    messages = [
        {"role": "user", "content": "do it"},
        answer(
            content=[
                call("read", path="a b", n=1.0),
                {"type": "text", "text": "one"},
                call("ls", "c2"),
                {"type": "text", "text": "two"},
            ]
        ),
        result("done"),
        {"role": "custom", "content": "note"},
    ]
    assert serialise(messages) == (
        "[User]: do it\n\n[Assistant]: one\ntwo\n\n"
        '[Assistant tool calls]: read(path="a b", n=1); ls()\n\n[Tool result]: done\n\n[User]: note'
    )


def test_thinking_images_and_empty_texts_leave_no_trace() -> None:
    """02 §9, FINDINGS 29; B12."""
    messages = [
        answer(content=[{"type": "thinking", "thinking": "hm"}]),
        {"role": "user", "content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
        result(""),
        {"role": "system", "content": "prompt"},
        {"role": "bashExecution", "command": "secret", "excludeFromContext": True},
    ]
    assert serialise(messages) == ""


def test_an_empty_text_block_still_prints_the_assistants_head() -> None:
    """FINDINGS 29."""
    assert serialise([answer("")]) == "[Assistant]: "


def test_summaries_speak_as_the_user() -> None:
    """01 §2, FORMAT placeholders."""
    text = serialise(
        [{"role": "compactionSummary", "summary": "C"}, {"role": "branchSummary", "summary": "B"}]
    )
    assert text == f"[User]: {COMPACTION_PREFIX}C\n</summary>\n\n[User]: {BRANCH_PREFIX}B</summary>"
    assert COMPACTION_PREFIX.endswith("<summary>\n")
    assert BRANCH_PREFIX.endswith("<summary>\n")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ({"10": "x", "a": 1, "2": None}, '2=null, 10="x", a=1'),
        (["x", 1], '0="x", 1=1'),
        ("a😀", '0="a", 1="\\ud83d", 2="\\ude00"'),
        (5, ""),
        (None, ""),
    ],
)
def test_arguments_print_as_javascript_lists_them(arguments: Any, printed: str) -> None:
    """FINDINGS 31; where the reference raises (null) the call has no arguments."""
    block = {"type": "toolCall", "name": "n", "arguments": arguments}
    assert serialise([answer(content=[block])]) == f"[Assistant tool calls]: n({printed})"


@pytest.mark.parametrize(
    ("text", "kept", "missing"),
    [
        ("x" * 2001, "x" * 2000, 1),
        ("x" * 1999 + "😀", "x" * 1999, 1),
        ("x" * 1998 + "😀y", "x" * 1998 + "😀", 1),
        ("x" * 1999 + "\ud83dyy", "x" * 1999 + "\ud83d", 2),
        ("é" * 3000, "é" * 2000, 1000),
    ],
)
def test_long_tool_results_are_cut_without_halving_a_character(text: str, kept: str, missing: int) -> None:
    """02 §9, FINDINGS 30."""
    assert cut_tool_result(text) == f"{kept}\n\n[... {missing} more characters truncated]"


def test_a_tool_result_of_the_limit_is_whole() -> None:
    assert cut_tool_result("x" * 2000) == "x" * 2000


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"output": ""}, "Ran `ls`\n(no output)"),
        ({"output": "o", "exitCode": 0}, "Ran `ls`\n```\no\n```"),
        ({"output": "o", "exitCode": 2}, "Ran `ls`\n```\no\n```\n\nCommand exited with code 2"),
        ({"output": "o", "exitCode": 1, "cancelled": True}, "Ran `ls`\n```\no\n```\n\n(command cancelled)"),
        (
            {"truncated": True, "fullOutputPath": "p"},
            "Ran `ls`\n(no output)\n\n[Output truncated. Full output: p]",
        ),
        ({"truncated": True}, "Ran `ls`\n(no output)"),
    ],
)
def test_a_users_command_reads_as_text(fields: Json, text: str) -> None:
    """05 §8; 05 §8.3."""
    assert bash_text({"role": "bashExecution", "command": "ls", **fields}) == text
