"""Arguments are put in order and checked before a tool sees them (04 TX-02)."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.agent.tools import DEFAULT_TOOLS, create_tools
from sessions_app.agent.tools.arguments import prepare_arguments
from sessions_app.agent.tools.base import ToolError


def prepared(tool: str, arguments: Any) -> dict[str, Any]:
    [chosen] = create_tools((tool,))
    return prepare_arguments(chosen, arguments)


def test_all_seven_tools_are_active() -> None:
    assert sorted(DEFAULT_TOOLS) == ["bash", "edit", "find", "grep", "ls", "read", "write"]
    assert [tool.name for tool in create_tools()] == list(DEFAULT_TOOLS)


def test_every_tool_describes_itself_and_all_its_fields() -> None:
    for tool in create_tools():
        assert tool.description
        assert all(field["description"] for field in tool.parameters["properties"].values())


def test_the_models_own_arguments_are_not_changed() -> None:
    arguments = {"path": "f", "oldText": "a", "newText": "b"}
    assert prepared("edit", arguments)["edits"] == [{"oldText": "a", "newText": "b"}]
    assert arguments == {"path": "f", "oldText": "a", "newText": "b"}


def test_values_of_a_near_type_are_understood() -> None:
    assert prepared("read", {"path": "f", "offset": "5", "limit": None}) == {"path": "f", "offset": 5}
    assert prepared("grep", {"pattern": "x", "ignoreCase": "true"}) == {"pattern": "x", "ignoreCase": True}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "'command' is a required property"),
        ({"command": 5}, "command: 5 is not of type 'string'"),
        ({"command": "x", "timeout": "soon"}, "timeout: 'soon' is not of type 'number'"),
        ("text", "must be a JSON object"),
        (None, "must be a JSON object"),
    ],
)
def test_what_is_wrong_is_said_in_words(arguments: Any, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        prepared("bash", arguments)
    assert said in str(caught.value)


def test_a_long_wrong_value_is_not_repeated_in_full() -> None:
    with pytest.raises(ToolError) as caught:
        prepared("bash", {"command": ["x" * 10_000]})
    assert len(str(caught.value)) < 600


def test_half_characters_are_replaced() -> None:
    """B38."""
    assert prepared("bash", {"command": "echo \ud83d"}) == {"command": "echo \ufffd"}
