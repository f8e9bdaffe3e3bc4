"""The case runner notices every wrong answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.comparing import first_difference
from tests.conformance.run import main, problem_of

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2030-01-01T08:00:00.000Z", "cwd": "x"}
USER = {"role": "user", "content": "hello you", "timestamp": 1}
ENTRY = {"type": "message", "id": "a", "parentId": None, "timestamp": HEADER["timestamp"], "message": USER}


def case(**expected: Any) -> dict[str, Any]:
    return {
        "name": "one",
        "kind": "session",
        "session": [HEADER, ENTRY],
        "options": {"navigate": [{"targetId": "a"}]},
        "expected": {"path": ["a"], **expected},
    }


def test_right_answers_pass_and_end_with_a_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.json").write_text(json.dumps(case()))
    (tmp_path / "other.json").write_text("[]")
    assert main([str(tmp_path), "--session", "core"]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n"


def test_a_wrong_answer_fails_and_names_the_first_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.json").write_text(json.dumps(case(projection=[{"entryId": "a", "messages": []}])))
    assert main([str(tmp_path), "--session", "core"]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("FAILED one: core: projection[0].messages: expected []")
    assert last == "0 passed, 1 failed"


def test_a_folder_without_cases_is_a_failure(tmp_path: Path) -> None:
    assert main([str(tmp_path), "--session", "core"]) == 1


def test_navigations_are_asked_on_a_fresh_session_each() -> None:
    result = {"cancelled": False, "requests": [], "appended": [], "leafId": "a"}
    files = {
        "fileOps": {"read": [], "written": [], "edited": []},
        "fileLists": {"readFiles": [], "modifiedFiles": [], "block": ""},
    }
    prepare = {"tokenBudget": 183616, "items": [], "totalTokens": 0, "serialized": "", **files}
    navigation = {"commonAncestorId": "a", "entries": [], "prepare": prepare, "result": result}
    assert problem_of(case(navigate=[navigation])) is None
    assert problem_of(case(navigate=[{**navigation, "entries": ["a"]}])) is not None


def test_a_crash_is_a_failure_with_its_reason() -> None:
    broken = {
        **case(),
        "session": [HEADER, {**ENTRY, "parentId": "b"}, {**ENTRY, "id": "b", "parentId": "a"}],
    }
    problem = problem_of(broken)
    assert problem is not None
    assert "CyclicTree" in problem


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": 1}, {}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}),
        ({"a": 1}, {"a": True}),
        ({"a": [1]}, {"a": [1, 2]}),
    ],
)
def test_missing_extra_and_unlike_values_differ(expected: dict[str, Any], actual: dict[str, Any]) -> None:
    assert first_difference(expected, actual) is not None


def test_where_the_reference_raised_anything_is_right() -> None:
    raised = {"error": "TypeError"}
    assert (
        first_difference(
            {"prepare": raised, "estimate": {"projected": raised}, "shouldCompact": None},
            {
                "prepare": 5,
                "estimate": {"projected": 1},
                "shouldCompact": False,
            },
        )
        is None
    )
    assert first_difference({"compact": {"error": {"kind": "TypeError"}}}, {"compact": {"result": 1}}) is None
    assert (
        first_difference({"compact": {"error": {"kind": "length"}}}, {"compact": {"result": 1}}) is not None
    )
