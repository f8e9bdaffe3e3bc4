"""The log of prompt and tool patches."""

from __future__ import annotations

from sessions_app.core.messages import Json
from sessions_app.core.system_prompt_log import checkpoint, replay, system_patch
from tests.builders import answer


def test_replay_patches_sections_and_tools_in_order() -> None:
    """01 §2."""
    read, bash = {"name": "read", "description": "r"}, {"name": "bash"}
    messages = [
        {
            "role": "system",
            "content": "base",
            "sections": {"a": "1", "b": None, "c": "", "d": 5},
            "toolsAdded": [read],
            "timestamp": 1,
        },
        answer(),
        {
            "role": "system",
            "content": "",
            "sections": {"a": None, "e": "2"},
            "toolsRemoved": [read],
            "toolsAdded": [bash, "odd"],
            "timestamp": 2,
        },
        {"role": "system", "content": "more", "sections": "odd", "toolsRemoved": None, "timestamp": 3},
    ]
    state = {
        "role": "system",
        "content": "base\n\nmore",
        "sections": {"c": "", "e": "2"},
        "toolsAdded": [bash],
        "timestamp": 1,
    }
    assert replay(messages) == state
    assert checkpoint(messages, timestamp=9) == {**state, "timestamp": 9}


def test_without_system_messages_there_is_no_checkpoint() -> None:
    assert checkpoint([answer()], timestamp=9) is None


READ: Json = {"name": "read", "description": "r"}
BASH: Json = {"name": "bash"}


def test_a_first_patch_declares_everything() -> None:
    """01 §2."""
    assert system_patch(None, {"rules": "be brief"}, [READ]) == {
        "role": "system",
        "content": "",
        "sections": {"rules": "be brief"},
        "toolsAdded": [READ],
    }


def test_without_a_change_there_is_no_patch() -> None:
    known = replay([{**(system_patch(None, {"a": "1"}, [READ]) or {}), "timestamp": 1}])
    assert system_patch(known, {"a": "1"}, [READ]) is None
    assert system_patch(None, {}, []) is None


def test_a_patch_takes_the_replayed_state_to_the_wanted_one() -> None:
    """01 §2: a removed section is null, a changed tool is removed and added."""
    first = {**(system_patch(None, {"a": "1", "b": "2"}, [READ]) or {}), "timestamp": 1}
    changed = {**READ, "description": "new"}
    patch = system_patch(replay([first]), {"b": "3"}, [changed, BASH])
    assert patch == {
        "role": "system",
        "content": "",
        "sections": {"b": "3", "a": None},
        "toolsAdded": [changed, BASH],
        "toolsRemoved": [READ],
    }
    after = replay([first, {**patch, "timestamp": 2}])
    assert after is not None
    assert (after["sections"], after["toolsAdded"]) == ({"b": "3"}, [changed, BASH])
    assert system_patch(after, {"b": "3"}, [BASH]) == {
        "role": "system",
        "content": "",
        "toolsRemoved": [changed],
    }


def test_blocks_of_text_are_joined_line_by_line() -> None:
    """01 §2: old files hold lists."""
    blocks = [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]
    first = {"role": "system", "content": blocks, "timestamp": None}
    assert replay([first, {"role": "system", "content": "three", "timestamp": 5}]) == {
        "role": "system",
        "content": "one\ntwo\n\nthree",
        "timestamp": 5,
    }


def test_messages_without_a_time_or_a_tool_leave_no_state() -> None:
    assert replay([{"role": "system", "content": "x"}]) is None
    state = replay([{"role": "system", "content": "x", "toolsAdded": [READ]}])
    assert state is not None
    assert state["timestamp"] == 0
