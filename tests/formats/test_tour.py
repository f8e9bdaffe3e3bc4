"""The tour that a new user opens first is a session file without a fault, and shows what it speaks of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessions_app import formats
from sessions_app.core.entries import Entry
from sessions_app.core.messages import text_of
from sessions_app.core.projection import project
from sessions_app.core.tree import Tree
from sessions_app.formats.jsonl import read_session

TEXT = Path(formats.__file__).with_name("tour.jsonl").read_text(encoding="utf-8")
RECORDS = [json.loads(line) for line in TEXT.splitlines()]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return [Entry(record, seq) for seq, record in enumerate(RECORDS[1:], 1)]


@pytest.fixture(scope="module")
def tree(entries: list[Entry]) -> Tree:
    return Tree(entries)


@pytest.fixture(scope="module")
def path(tree: Tree, entries: list[Entry]) -> list[Entry]:
    """The active path: from the last entry of the file to the root."""
    return list(tree.path(entries[-1].id))


def roles(path: list[Entry]) -> list[str]:
    return [str(entry.message["role"]) for entry in path if entry.message is not None]


def test_it_is_read_without_a_repair() -> None:
    session = read_session(TEXT, mint_id=lambda: "unused")
    assert session.repairs == []
    assert [entry.id for entry in session.entries] == [record["id"] for record in RECORDS[1:]]


def test_the_header_and_name_say_what_it_is() -> None:
    assert RECORDS[0]["type"] == "session"
    assert RECORDS[0]["version"] == 3
    assert [record["name"] for record in RECORDS if record["type"] == "session_info"] == [
        "A tour of agentweb"
    ]


def test_it_is_read_in_five_minutes() -> None:
    words = sum(len(text_of(r["message"].get("content", "")).split()) for r in RECORDS if "message" in r)
    assert 30 <= len(RECORDS) <= 48
    assert 600 <= words <= 1300


def test_every_parent_comes_before_its_children(entries: list[Entry]) -> None:
    seen: set[str | None] = {None}
    for entry in entries:
        assert entry.parent_id in seen
        assert entry.id not in seen
        seen.add(entry.id)
    assert sum(entry.parent_id is None for entry in entries) == 1


def test_times_never_go_back(entries: list[Entry]) -> None:
    times = [str(entry.timestamp) for entry in entries]
    assert times == sorted(times)


def test_it_has_two_places_where_branches_part(tree: Tree, entries: list[Entry]) -> None:
    assert sum(len(tree.children(entry.id)) > 1 for entry in entries) == 2
    assert len(tree.tips()) == 3


def test_labels_point_to_entries_and_differ(tree: Tree, entries: list[Entry]) -> None:
    labels = [entry.record for entry in entries if entry.kind == "label"]
    assert all(tree.get(label["targetId"]) is not None for label in labels)
    assert len({label["label"] for label in labels}) == len(labels) == 5


def test_one_compaction_lies_on_the_active_path_and_keeps_what_it_names(path: list[Entry]) -> None:
    kinds = [entry.kind for entry in path]
    assert kinds.count("compaction") == 1
    place = kinds.index("compaction")
    assert path[place].record["firstKeptEntryId"] in [entry.id for entry in path[:place]]
    told = project(path).messages
    assert told[0]["role"] == "compactionSummary"
    assert "Leave `berthline/migrations/` alone" in told[0]["summary"]
    assert [m["role"] for m in told[1:3]] == ["user", "assistant"]


def test_one_branch_summary_hangs_where_the_way_parted(tree: Tree, path: list[Entry]) -> None:
    found = [entry for entry in path if entry.kind == "branch_summary"]
    assert len(found) == 1
    left = tree.path(found[0].record["fromId"])
    assert found[0].parent_id in [entry.id for entry in left]
    assert left[-1].message is not None
    assert left[-1].message["stopReason"] == "aborted"


def test_every_call_has_its_result_on_each_branch(tree: Tree) -> None:
    for tip in tree.tips():
        open_calls: set[str] = set()
        for entry in tree.path(tip.id):
            message = entry.message or {}
            if message.get("role") == "assistant":
                assert not open_calls
                open_calls = {b["id"] for b in message["content"] if b["type"] == "toolCall"}
                assert (message["stopReason"] == "toolUse") == bool(open_calls)
            elif message.get("role") == "toolResult":
                open_calls.remove(message["toolCallId"])
            elif message:
                assert not open_calls
        assert not open_calls


def test_it_shows_what_it_speaks_of(entries: list[Entry]) -> None:
    messages = [entry.message for entry in entries if entry.message is not None]
    results = {(m["toolName"], m["isError"]) for m in messages if m["role"] == "toolResult"}
    assert {("read", False), ("bash", True), ("bash", False), ("edit", False), ("grep", False)} <= results
    edits = [m for m in messages if m["role"] == "toolResult" and m["toolName"] == "edit"]
    assert all("\n+" in m["details"]["diff"] for m in edits)
    assert any(b["type"] == "thinking" for m in messages if m["role"] == "assistant" for b in m["content"])
    assert any(m["role"] == "bashExecution" for m in messages)


def test_it_names_no_place_of_a_real_machine() -> None:
    assert RECORDS[0]["cwd"] == "/home/you/berthline"
    assert "/work" not in TEXT
    assert "/root" not in TEXT
