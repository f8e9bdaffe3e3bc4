"""The edit tool: what it finds, what it refuses and which bytes it leaves alone (05 §5)."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import ToolError
from sessions_app.agent.tools.edit_matching import Edit, apply_edits
from tests.agent.sandboxes.workspace import Workspace, text_of


def edited(text: str, *edits: tuple[str, str]) -> str:
    return apply_edits(text, [Edit(old, new) for old, new in edits]).text


def refusal(text: str, *edits: tuple[str, str]) -> str:
    with pytest.raises(ToolError) as caught:
        edited(text, *edits)
    return str(caught.value)


def test_a_place_is_replaced_and_the_change_told(workspace: Workspace) -> None:
    """05 ED-09."""
    path = workspace.file("a.py", "one\ntwo\nthree\n")
    result = workspace.call("edit", path="a.py", edits=[{"oldText": "two", "newText": "zwei\ndrei"}])
    assert path.read_text() == "one\nzwei\ndrei\nthree\n"
    assert text_of(result) == "Changed 1 place in a.py."
    assert result.details == {
        "path": str(path),
        "firstChangedLine": 2,
        "added": 2,
        "removed": 1,
        "diff": f"--- {path}\n+++ {path}\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n three\n",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"edits": json.dumps([{"oldText": "a", "newText": "b"}])},
        {"edits": json.dumps({"oldText": "a", "newText": "b"})},
        {"edits": {"oldText": "a", "newText": "b"}},
        {"oldText": "a", "newText": "b"},
    ],
)
def test_forms_that_models_send_are_understood(workspace: Workspace, arguments: dict[str, object]) -> None:
    """ED-01"""
    path = workspace.file("f", "a c\n")
    workspace.call("edit", path="f", **arguments)
    assert path.read_text() == "b c\n"


def test_a_legacy_edit_comes_after_the_others(workspace: Workspace) -> None:
    """ED-01"""
    path = workspace.file("f", "a c\n")
    workspace.call("edit", path="f", edits=[{"oldText": "c", "newText": "d"}], oldText="a", newText="b")
    assert path.read_text() == "b d\n"


@pytest.mark.parametrize("arguments", [{}, {"edits": "no json"}, {"edits": [{"oldText": "a"}]}, {"edits": 5}])
def test_arguments_that_make_no_sense_are_explained(
    workspace: Workspace, arguments: dict[str, object]
) -> None:
    workspace.file("f", "a")
    with pytest.raises(ToolError, match="arguments of edit are not valid"):
        workspace.call("edit", path="f", **arguments)


def test_nothing_to_do_and_empty_text_are_errors() -> None:
    """ED-02"""
    assert "at least one" in refusal("a")
    assert "oldText is empty" in refusal("a", ("", "b"))
    assert "edits[1]: oldText is empty" in refusal("a", ("a", "c"), ("", "b"))


def test_all_edits_see_the_original() -> None:
    """ED-04"""
    assert edited("a b\n", ("a", "b"), ("b", "a")) == "b a\n"
    assert edited("1\n2\n3\n", ("3", "x"), ("1", "y")) == "y\n2\nx\n"
    assert "not found" in refusal("a\n", ("a", "b"), ("b", "c"))


def test_overlapping_edits_are_refused_and_touching_ones_are_not() -> None:
    """ED-04, ED-10"""
    assert "edits[0] and edits[1] overlap" in refusal("abcd", ("abc", "x"), ("cd", "y"))
    assert "overlap" in refusal("abcd", ("bc", "x"), ("abcd", "y"))
    assert edited("abcd", ("ab", "x"), ("cd", "y")) == "xy"


def test_an_ambiguous_text_is_refused_with_the_lines() -> None:
    """ED-04, ED-10"""
    assert "occurs 2 times (lines 1, 3)" in refusal("foo\nbar\nfoo\n", ("foo", "x"))
    assert "edits[1]: oldText occurs 2 times" in refusal("foo\nbar\nfoo\n", ("bar", "x"), ("foo", "x"))
    assert "occurs 2 times" in refusal("aaa", ("aa", "b"))
    assert "100 or more times" in refusal("a\n" * 500, ("a", "b"))


def test_what_looks_the_same_counts_as_the_same() -> None:
    """ED-05: an exact and unique match is still ambiguous when a look-alike is there."""
    assert "occurs 2 times" in refusal('say "hi"\nsay “hi”\n', ('say "hi"', "x"))


@pytest.mark.parametrize(
    ("there", "sought"),
    [
        ("say “hi”", 'say "hi"'),
        ("it’s", "it's"),
        ("a – b — c", "a - b - c"),
        ("a\u00a0b\u202fc", "a b c"),
        ("ﬁne", "fine"),
        ("tail   ", "tail"),
        ("ｆｕｌｌ", "full"),
    ],
)
def test_typography_does_not_matter(there: str, sought: str) -> None:
    """ED-05"""
    assert edited(f"x\n{there}\ny\n", (f"x\n{sought}\ny", "z")) == "z\n"


def test_only_touched_lines_are_evened_out() -> None:
    """ED-06"""
    text = "“keep”  \n“touch” it  \n“keep”\t\n"
    assert edited(text, ('"touch" it\n', "done\n")) == "“keep”  \ndone\n“keep”\t\n"
    assert edited(text, ('"touch"', "“new”")) == "“keep”  \n“new” it\n“keep”\t\n"


def test_lines_that_are_only_repeated_to_be_unique_keep_their_bytes() -> None:
    """ED-06"""
    assert edited("“a”  \r\nb\n“c”\n", ('"a"\nb\n"c"', '"a"\nB\n"c"')) == "“a”  \r\nB\n“c”\n"


def test_when_one_edit_needs_the_fuzzy_view_all_use_it() -> None:
    """ED-05"""
    result = apply_edits("a  \n“b”\nc\n", [Edit('"b"', "B"), Edit("c", "C")])
    assert (result.text, result.fuzzy) == ("a  \nB\nC\n", True)


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("a\r\nb\r\nc\r\n", ("b", "x\ny"), "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\nc\r\nd\n", ("b", "x\ny"), "a\r\nx\ny\nc\r\nd\n"),
        ("a\r\nb\nc\n", ("a", "x\ny"), "x\r\ny\r\nb\nc\n"),
        ("a\r\nb\nc\n", ("a\nb", "a\nB"), "a\r\nB\nc\n"),
        ("a\rb\rc", ("b", "x\ny"), "a\rx\ry\rc"),
        ("a\rb\nc\n", ("c", "x\ny"), "a\rb\nx\ny\n"),
        ("a\r\nb", ("b", "x\ny"), "a\r\nx\r\ny"),
        ("a", ("a", "x\ny"), "x\ny"),
        ("a\r\nb\r\n", ("a\r\nb", "x\r\ny"), "x\r\ny\r\n"),
        ("a\n\n\nb", ("\n\n\n", "\n"), "a\nb"),
        ("a\r\nb\r\nc", ("b\n", ""), "a\r\nc"),
    ],
)
def test_line_endings_stay_what_they_are(text: str, edit: tuple[str, str], expected: str) -> None:
    """ED-03, ED-07; B47."""
    assert edited(text, edit) == expected


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("a\rX\nb\n", ("X", ""), "a\r\r\nb\n"),
        ("aX\nb\n", ("X", "\r"), "a\r\r\nb\n"),
        ("a\rX\nb\n", ("X\n", "\n"), "a\r\r\nb\n"),
    ],
)
def test_no_pair_of_cr_and_lf_arises_by_accident(text: str, edit: tuple[str, str], expected: str) -> None:
    """ED-07"""
    assert edited(text, edit) == expected


def test_the_byte_order_mark_and_bytes_that_are_no_text_are_kept(workspace: Workspace) -> None:
    """ED-03; B47."""
    path = workspace.file("f", b"\xef\xbb\xbffirst\r\n\xff\xfe\tx\r\nlast")
    workspace.call("edit", path="f", edits=[{"oldText": "last", "newText": "z"}])
    assert path.read_bytes() == b"\xef\xbb\xbffirst\r\n\xff\xfe\tx\r\nz"
    workspace.call("edit", path="f", edits=[{"oldText": "first", "newText": "1"}])
    assert path.read_bytes() == b"\xef\xbb\xbf1\r\n\xff\xfe\tx\r\nz"


def test_no_change_is_an_error(workspace: Workspace) -> None:
    """ED-08"""
    assert "Nothing would change" in refusal("a\n", ("a", "a"))


def test_a_missing_text_names_the_nearest_line() -> None:
    """ED-10"""
    text = "def first():\n    pass\n\ndef second(value):\n    return value\n"
    message = refusal(text, ("def second(values):\n    return 1", "x"))
    assert "nearest line is 4: def second(value):" in message
    assert "read the file again" in refusal(text, ("entirely different words", "x"))


def test_errors_leave_the_file_alone(workspace: Workspace) -> None:
    path = workspace.file("f", b"a\r\na\n")
    with pytest.raises(ToolError):
        workspace.call("edit", path="f", edits=[{"oldText": "a", "newText": "b"}])
    assert path.read_bytes() == b"a\r\na\n"


def test_missing_files_and_folders_are_refused(workspace: Workspace) -> None:
    with pytest.raises(SandboxError, match="does not exist"):
        workspace.call("edit", path="zz", edits=[{"oldText": "a", "newText": "b"}])
    with pytest.raises(SandboxError, match="is a folder"):
        workspace.call("edit", path=".", edits=[{"oldText": "a", "newText": "b"}])
    with pytest.raises(SandboxError, match="outside the workspace"):
        workspace.call("edit", path="/etc/passwd", edits=[{"oldText": "root", "newText": "b"}])


def test_edits_of_one_file_at_the_same_time_lose_nothing(workspace: Workspace) -> None:
    """ED-11, 04 TX-09: also when one of them goes through a link."""
    path = workspace.file("f", "".join(f"<{number}>\n" for number in range(24)))
    (workspace.folder / "link").symlink_to("f")
    sandbox = workspace.sandbox()

    def one(number: int) -> None:
        name = "link" if number % 2 else "f"
        workspace.call(
            "edit", sandbox=sandbox, path=name, edits=[{"oldText": f"<{number}>", "newText": f"[{number}]"}]
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(24)))
    assert path.read_text() == "".join(f"[{number}]\n" for number in range(24))


def test_a_stopped_edit_changes_nothing(workspace: Workspace) -> None:
    """ED-11"""
    path = workspace.file("f", "a")
    stop = StopSignal()
    stop.request()
    with pytest.raises(ToolError, match="not changed"):
        workspace.call("edit", stop=stop, path="f", edits=[{"oldText": "a", "newText": "b"}])
    assert path.read_text() == "a"


def test_a_large_file_is_edited_quickly(workspace: Workspace) -> None:
    path = workspace.file("f", "".join(f"line number {number}\n" for number in range(100_000)))
    started = time.monotonic()
    workspace.call("edit", path="f", edits=[{"oldText": "line number 77777\n", "newText": "other\n"}])
    assert time.monotonic() - started < 10
    assert path.read_text().count("\n") == 100_000


LINE = st.text(st.sampled_from("ab “”\t\u00a0é"), max_size=4)
TEXT = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n", "\r"])), max_size=8).map(
    lambda lines: "".join(line + ending for line, ending in lines)
)
# Whether a change is found exactly or in the evened-out view, with a mark in front or without.
EXAMPLES = int(os.environ.get("AGENTWEB_EXAMPLES", "60"))


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    mark=st.sampled_from(["", "\ufeff"]), before=TEXT, after=TEXT, rest=LINE,
    new=st.text(st.sampled_from('xy\n "'), max_size=6),
)  # fmt: skip
def test_what_is_not_replaced_keeps_its_bytes(
    mark: str, before: str, after: str, rest: str, new: str
) -> None:
    """ED-03, ED-06, ED-07, exactly and in the fuzzy view; B47: LF, CRLF, lone CR, all mixed, with a byte order mark, with
    and without a last line break.
    """
    # Beside LF a lone CR ends no line (ED-07): what stands in front of it then belongs to the line that is changed.
    before, after = mark + before + ("\n" if before.endswith("\r") else ""), after + rest
    for there in ("QQQ\n", "“Q”\n"):
        result = edited(
            f"{before}{there}{after}", (there.strip().replace("“", '"').replace("”", '"'), new + "!")
        )
        assert result.startswith(before)
        assert result.endswith(f"!\n{after}")
