"""Files read and changed."""

from __future__ import annotations

from sessions_app.core.file_lists import FileLists, FileOperations
from tests.builders import answer, call


def operations(*calls: dict[str, object]) -> FileOperations:
    noted = FileOperations()
    noted.add_calls(answer(content=list(calls)), nested=True)
    return noted


def test_a_file_that_was_changed_is_not_listed_as_read() -> None:
    """02 §8."""
    lists = operations(
        call("read", path="b"), call("read", path="a"), call("edit", path="b"), call("write", path="c")
    ).lists()
    assert lists.details == {"readFiles": ["a"], "modifiedFiles": ["b", "c"]}
    assert lists.block == "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\n</modified-files>"


def test_other_tools_and_paths_that_are_no_text_are_passed_over() -> None:
    """FINDINGS 15."""
    noted = operations(call("Read", path="a"), call("read", path=""), call("read", path=5), call("read"))
    noted.add_calls(answer(content=[{"type": "toolCall", "name": "read", "arguments": "x"}]), nested=False)
    assert noted.lists() == FileLists([], [])
    assert noted.lists().block == ""


def test_nested_calls_count_where_they_are_asked_for() -> None:
    """02 §8, FINDINGS 44."""
    result = {"role": "toolResult", "nestedCalls": {"calls": [{"name": "read", "arguments": {"path": "n"}}]}}
    noted = FileOperations()
    noted.add_calls(result, nested=False)
    noted.add_calls({"role": "toolResult", "nestedCalls": "odd"}, nested=True)
    assert noted.read.sorted() == []
    noted.add_calls(result, nested=True)
    assert noted.read.sorted() == ["n"]


def test_lists_of_extensions_are_not_carried() -> None:
    """02 §8."""
    noted = FileOperations()
    noted.add_details({"fromHook": True, "details": {"readFiles": ["a"]}})
    noted.add_details({"details": "odd"})
    noted.add_details({"details": {"readFiles": "odd", "modifiedFiles": ["m"]}})
    assert noted.lists().details == {"readFiles": [], "modifiedFiles": ["m"]}


def test_items_of_stored_lists_are_not_checked() -> None:
    """FINDINGS 14: values are the same by content, objects are not."""
    noted = FileOperations()
    noted.add_details({"details": {"readFiles": ["b", None, 5, 5.0, {}, {}, True, 1]}})
    assert noted.lists().read_files == [1, 5, {}, {}, "b", None, True]
    assert noted.lists().block == (
        "\n\n<read-files>\n1\n5\n[object Object]\n[object Object]\nb\n\ntrue\n</read-files>"
    )


def test_paths_are_sorted_by_utf16_units() -> None:
    """FINDINGS 15: an astral character sorts before U+FB01."""
    lists = operations(*(call("read", path=path) for path in ("\ufb01", "😀", "\uff5e", "a", "B"))).lists()
    assert lists.read_files == ["B", "a", "😀", "\ufb01", "\uff5e"]
