"""What stays of an erased entry: nothing that was said, everything that holds the tree together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessions_app.core.entries import Entry
from sessions_app.core.projection import project
from sessions_app.core.tombstones import tombstone
from sessions_app.core.totals import total
from tests.builders import answer, call, message_entry

SECRET = "Elm Street 5"
FRAME = {"id": "a", "parentId": "p", "timestamp": "2026-01-01T00:00:00.000Z"}


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "message", "message": {"role": "user", "content": SECRET, "timestamp": 1}},
        {
            "type": "message",
            "message": {
                "role": "toolResult",
                "toolCallId": "c",
                "toolName": "read",
                "content": [{"type": "text", "text": SECRET}],
                "details": {"path": SECRET},
                "isError": False,
            },
        },
        {
            "type": "message",
            "message": {"role": "bashExecution", "command": SECRET, "output": SECRET, "exitCode": 0},
        },
        {"type": "message", "message": {"role": "system", "content": SECRET, "sections": {"a": SECRET}}},
        {"type": "message", "message": {"role": "of another program", "content": SECRET, "note": SECRET}},
        {
            "type": "compaction",
            "summary": SECRET,
            "firstKeptEntryId": "k",
            "tokensBefore": 9,
            "details": {"readFiles": [SECRET]},
        },
        {"type": "branch_summary", "summary": SECRET, "fromId": "f", "details": {"x": SECRET}},
        {"type": "label", "targetId": "t", "label": SECRET},
        {"type": "session_info", "name": SECRET},
        {"type": "custom", "customType": "x", "data": SECRET},
        {"type": "custom_message", "customType": "x", "content": SECRET, "display": True},
        {"type": "context_edit", "targetId": "t", "replacement": {"content": SECRET}},
        {"type": "of another program", "words": SECRET},
    ],
    ids=lambda fields: str(fields["type"]),
)
def test_no_word_of_any_kind_stays_and_its_place_does(fields: dict[str, Any]) -> None:
    entry = Entry({**FRAME, **fields})
    stone = tombstone(entry, "an address")
    assert SECRET not in json.dumps(stone)
    assert {name: stone[name] for name in FRAME} == FRAME
    assert stone["type"] == fields["type"]
    assert Entry(stone).role == entry.role


def test_an_erased_answer_keeps_its_calls_and_what_it_cost() -> None:
    message = answer("", content=[{"type": "thinking", "thinking": SECRET}, call("read", path=SECRET)])
    entry = message_entry("a", None, message)
    stone = Entry(tombstone(entry, "an address"))
    assert SECRET not in json.dumps(stone.record)
    assert stone.message is not None
    kept = [block for block in stone.message["content"] if block["type"] == "toolCall"]
    assert kept == [{"type": "toolCall", "id": "c1", "name": "read", "arguments": {}}]
    assert total([stone]).spending == total([entry]).spending
    assert project([stone]).messages[0]["role"] == "assistant"
