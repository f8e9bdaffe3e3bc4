"""Entries of every kind keep their record whole."""

from __future__ import annotations

import pytest

from sessions_app.core import entries as make
from sessions_app.core.entries import Entry, Kind, tidy_name
from sessions_app.core.errors import MalformedPayload

PLACE = ("id1", "id0", "2030-01-01T08:00:00.000Z")
ALL = [
    make.message_entry(*PLACE, {"role": "user", "content": "x", "timestamp": 1}),
    make.model_change_entry(*PLACE, provider="p", model_id="m"),
    make.thinking_level_change_entry(*PLACE, "high"),
    make.usage_entry(*PLACE, usage_kind="cache_warm", provider="p", model="m", usage={"input": 1}),
    make.compaction_entry(*PLACE, summary="s", tokens_before=5, first_kept_entry_id="id0"),
    make.branch_summary_entry(*PLACE, summary="s", from_id="id9", details={"readFiles": []}),
    make.context_edit_entry(*PLACE, target_id="id0", replacement=None),
    make.label_entry(*PLACE, target_id="id0", label="L"),
    make.session_info_entry(*PLACE, "A name"),
    make.custom_entry(*PLACE, custom_type="state", data=[1]),
    make.custom_message_entry(*PLACE, custom_type="note", content="x"),
]


def test_there_is_a_constructor_for_every_kind() -> None:
    assert {entry.kind for entry in ALL} == set(Kind)


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.kind)
def test_an_entry_reads_back_from_its_json_as_the_same_entry(entry: Entry) -> None:
    assert Entry.from_json(entry.to_json()) == entry
    assert (entry.id, entry.parent_id, entry.timestamp) == PLACE


def test_unknown_kinds_are_kept_as_they_came() -> None:
    entry = Entry.from_json('{"type":"hologram","id":"x","parentId":5,"depth":1.0}', seq=3)
    assert (entry.kind, entry.parent_id, entry.message, entry.role) == ("hologram", None, None, None)
    assert Entry.from_json(entry.to_json(), 3) == entry


@pytest.mark.parametrize("text", ["{", "[]", '{"type":"label"}'])
def test_what_is_no_entry_is_refused(text: str) -> None:
    with pytest.raises(MalformedPayload):
        Entry.from_json(text)


def test_a_compaction_that_retains_nothing_names_itself() -> None:
    """02 §11."""
    entry = make.compaction_entry(*PLACE, summary="s", tokens_before=1)
    assert entry.record["firstKeptEntryId"] == "id1"


def test_a_branch_summary_without_an_old_leaf_says_root() -> None:
    """03 BS-16."""
    assert make.branch_summary_entry(*PLACE, summary="s", from_id=None).record["fromId"] == "root"


def test_an_omission_is_written_as_null() -> None:
    """01 §2."""
    entry = make.context_edit_entry(*PLACE, target_id="id0", replacement=None)
    assert entry.record["replacement"] is None


def test_a_message_entry_without_a_message_has_no_role() -> None:
    entry = Entry({"type": "message", "id": "x", "message": None})
    assert (entry.message, entry.role) == (None, None)


@pytest.mark.parametrize(("given", "name"), [(" a\r\n\nb ", "a b"), ("\ufeff x\u00a0", "x"), ("\n", "")])
def test_a_session_name_is_one_trimmed_line(given: str, name: str) -> None:
    """01 §2 session_info."""
    assert tidy_name(given) == name
