"""Session files: what is read, what is mended, what is refused, what is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sessions_app.core.entries import Kind
from sessions_app.core.errors import CyclicTree, NotASession
from sessions_app.core.projection import project
from sessions_app.formats.jsonl import SessionFile, new_header, read_session, write_branch, write_session

GOLDEN = Path(__file__).parent / "golden"
PLACE = "2030-01-01T08:00:00.000Z"
HEADER = json.dumps({"type": "session", "version": 3, "id": "s", "timestamp": PLACE, "cwd": "/work"})


def minting() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"gen{next(numbers)}"


def read(*lines: str, end: str = "\n", header: str = HEADER) -> SessionFile:
    return read_session("\n".join([header, *lines]) + end, minting())


def entry(entry_id: Any, parent: Any = None, **fields: Any) -> str:
    return json.dumps({"type": "custom", "id": entry_id, "parentId": parent, "timestamp": PLACE, **fields})


def repairs(session: SessionFile) -> list[tuple[int, str]]:
    return [(repair.line, repair.what) for repair in session.repairs]


def test_a_sound_file_is_read_without_repairs() -> None:
    session = read(entry("a"), entry("b", "a"))
    assert (session.session_id, session.version, session.migrated) == ("s", 3, False)
    assert [item.id for item in session.entries] == ["a", "b"]
    assert [item.seq for item in session.entries] == [1, 2]
    assert session.repairs == []
    assert session.tree.last_id() == "b"


def test_blank_and_malformed_lines_are_skipped_and_reported() -> None:
    """01 SF-02, BUGS B56."""
    session = read(
        "", "   ", "{broken", entry("a") + "\r", '{"type":"custom"', "5", entry("b", "a") + entry("c", "b")
    )
    assert [item.id for item in session.entries] == ["a"]
    assert [line for line, _ in repairs(session)] == [4, 6, 7, 8]
    assert repairs(session)[2][1] == "skipped: not a JSON object"
    assert repairs(session)[3][1] == "skipped: more than one JSON value on the line"


def test_a_missing_last_line_end_is_noticed() -> None:
    """01 SF-02."""
    assert read(entry("a"), end="").newline_missing
    assert not read(entry("a")).newline_missing


def test_an_empty_file_is_a_new_session() -> None:
    """01 SF-01."""
    for source in ("", b""):
        session = read_session(source, minting())
        assert (session.header, session.session_id, session.entries) == (None, None, [])


@pytest.mark.parametrize(
    "text",
    [
        entry("a") + "\n",
        '{"type":"session","id":5}\n',
        '{"type":"session"}\n',
    ],
)
def test_a_first_record_that_is_no_header_refuses_the_file_and_names_the_line(text: str) -> None:
    """01 SF-01."""
    with pytest.raises(NotASession, match="line 2"):
        read_session("\n" + text, minting())


@pytest.mark.parametrize("text", ["hello\n", "\n \n", "[]\n" + HEADER + "\n"])
def test_a_file_without_a_record_in_front_is_no_session(text: str) -> None:
    with pytest.raises(NotASession, match="line 1"):
        read_session(text, minting())


@pytest.mark.parametrize("nothing", ["null", "0", "-0.0", '""', "false"])
def test_lines_that_say_nothing_before_the_header_are_skipped(nothing: str) -> None:
    assert read_session(f"{nothing}\n{HEADER}\n", minting()).session_id == "s"


def test_malformed_lines_before_the_header_are_skipped() -> None:
    assert read_session("{oops\n" + HEADER + "\n", minting()).session_id == "s"


def test_a_byte_order_mark_refuses_the_file_unless_it_is_accepted() -> None:
    """FINDINGS 52, BUGS B56."""
    text = "\ufeff" + HEADER + "\n" + entry("a") + "\n"
    with pytest.raises(NotASession, match="byte order mark"):
        read_session(text, minting())
    assert read_session("\ufeff\n" + HEADER + "\n", minting()).session_id == "s"
    session = read_session(text.encode(), minting(), accept_byte_order_mark=True)
    assert len(session.entries) == 1
    assert repairs(session) == [(1, "a byte order mark was dropped")]


def test_a_second_header_is_no_entry() -> None:
    """FINDINGS 52."""
    session = read(entry("a"), HEADER, entry("b", "a"))
    assert [item.id for item in session.entries] == ["a", "b"]
    assert repairs(session) == [(3, "skipped: a second session header")]


def test_line_separators_of_unicode_end_no_line() -> None:
    """FORMAT: U+2028 and U+0085 are text."""
    session = read(
        entry("a", data="x\u2028y\u0085z").replace("\\u2028", "\u2028").replace("\\u0085", "\u0085")
    )
    assert session.entries[0].record["data"] == "x\u2028y\u0085z"


def test_bytes_that_are_not_utf8_are_replaced_and_reported() -> None:
    source = (HEADER + "\n").encode() + b'{"type":"custom","id":"a","data":"\xff"}\n'
    session = read_session(source, minting())
    assert session.entries[0].record["data"] == "\ufffd"
    assert repairs(session)[0][0] == 2


def test_a_cycle_of_parents_refuses_the_file_and_names_the_line() -> None:
    """BUGS B56: refused, and reading comes to an end."""
    with pytest.raises(CyclicTree, match="line 3"):
        read(entry("a"), entry("b", "c"), entry("c", "b"))


def test_an_entry_before_its_parent_is_read() -> None:
    session = read(entry("b", "a"), entry("a"))
    assert session.repairs == []
    assert [item.id for item in session.tree.path("b")] == ["a", "b"]


def test_orphans_selves_and_doubles_are_kept_and_reported() -> None:
    """01 ST-06, FINDINGS 52."""
    session = read(entry("a", "gone"), entry("b", "b"), entry("c", "a"), entry("c", "b"), entry("d", 5))
    assert [line for line, _ in repairs(session)] == [2, 3, 5, 6]
    assert "'gone' is missing" in repairs(session)[0][1]
    assert "used twice" in repairs(session)[2][1]
    assert [item.id for item in session.tree.roots()] == ["a", "b", "d"]


def test_an_entry_without_an_id_is_given_one() -> None:
    session = read('{"type":"custom","parentId":null}', entry(7))
    assert [item.id for item in session.entries] == ["gen1", "gen2"]
    assert session.lines == [None, None]
    assert repairs(session) == [
        (2, "an entry without an id was given one"),
        (3, "an entry without an id was given one"),
    ]


def test_version_1_becomes_a_chain_with_ids_and_a_kept_boundary() -> None:
    """01 §4."""
    session = read_session((GOLDEN / "v1.jsonl").read_bytes(), minting())
    assert (session.version, session.migrated) == (1, True)
    assert session.header is not None
    assert session.header["version"] == 3
    assert [(item.id, item.parent_id) for item in session.entries] == [
        ("gen1", None),
        ("gen2", "gen1"),
        ("gen3", "gen2"),
        ("gen4", "gen3"),
        ("gen5", "gen4"),
    ]
    assert session.entries[2].role == "custom"
    assert session.entries[3].record["firstKeptEntryId"] == "gen3"
    assert "firstKeptEntryIndex" not in session.entries[3].record
    assert session.lines == [None] * 5


@pytest.mark.parametrize(
    ("index", "kept"), [(0, None), (9, None), (2, None), (1, "gen1"), (1.0, "gen1"), (-1, None)]
)
def test_an_index_that_points_nowhere_keeps_nothing(index: float, kept: str | None) -> None:
    """01 §4, FINDINGS 51: 0 is the header, 2 a second header, 9 out of range."""
    old = json.dumps({"type": "session", "id": "s"})
    compaction = json.dumps({"type": "compaction", "firstKeptEntryIndex": index})
    session = read('{"type":"custom"}', old, compaction, '{"type":"custom"}', header=old)
    assert session.entries[1].record.get("firstKeptEntryId") == kept
    assert "firstKeptEntryIndex" not in session.entries[1].record


def test_an_index_ahead_of_the_compaction_names_what_the_entry_was_called_before() -> None:
    """01 §4: ids are given in the order of the file, so the boundary names nothing that is left."""
    lines = ('{"type":"compaction","id":"c","firstKeptEntryIndex":2}', '{"type":"custom","id":"later"}')
    session = read(*lines, header=json.dumps({"type": "session", "id": "s"}))
    assert session.entries[0].record["firstKeptEntryId"] == "later"
    assert session.entries[1].id != "later"


def test_an_index_that_is_no_number_stays() -> None:
    old = json.dumps({"type": "session", "id": "s"})
    session = read('{"type":"compaction","firstKeptEntryIndex":"1"}', header=old)
    assert session.entries[0].record["firstKeptEntryIndex"] == "1"


def test_version_2_only_renames_a_role() -> None:
    """01 §4."""
    source = (GOLDEN / "v2.jsonl").read_text()
    session = read_session(source, minting())
    assert session.migrated
    assert [item.id for item in session.entries] == ["a1", "a2", "a3"]
    assert session.entries[1].role == "custom"
    assert session.lines == [source.splitlines()[1], None, source.splitlines()[3]]


@pytest.mark.parametrize(
    ("version", "migrated"), [(3, False), (99, False), ("x", False), (2, True), (None, True)]
)
def test_newer_versions_are_untouched(version: Any, migrated: bool) -> None:
    """01 §4."""
    header = json.dumps({"type": "session", "version": version, "id": "s"})
    session = read(entry("a"), header=header)
    assert session.migrated is migrated
    assert session.header is not None
    assert session.header["version"] == (3 if migrated else version)


def test_the_current_version_is_read_with_every_kind_and_written_as_the_same_bytes() -> None:
    source = (GOLDEN / "v3.jsonl").read_text()
    session = read_session(source, minting())
    assert {item.kind for item in session.entries} == {*Kind, "hologram"}
    assert session.tree.name() == "A session"
    assert session.tree.labels() == {"a1": "start"}
    context = project(session.tree.path("b4"))
    assert [message["role"] for message in context.messages] == [
        "compactionSummary",
        "branchSummary",
        "custom",
    ]
    assert "".join(write_session(session.header_line or "", session.entries, session.lines)) == source


def test_number_spellings_and_carriage_returns_survive_a_whole_export() -> None:
    lines = [
        HEADER,
        entry("a") + "\r",
        '{"type":"custom", "id":"b","parentId":"a","data":[1.0,1E3,12345678901234567890]}',
    ]
    text = "\n".join(lines) + "\n"
    session = read_session(text, minting())
    assert "".join(write_session(session.header_line or "", session.entries, session.lines)) == text


def test_mended_entries_are_written_anew() -> None:
    session = read('{"type":"custom"}')
    written = list(write_session(session.header or {}, session.entries, session.lines))
    assert json.loads(written[1]) == {"type": "custom", "id": "gen1"}


def test_a_branch_is_exported_as_one_chain_without_its_parent_session() -> None:
    """01 IO-01."""
    header = {**new_header("s", PLACE, "/work", "/old.jsonl"), "version": 99}
    session = read(entry("a", "gone"), entry("b", "a"), entry("x", "a"))
    written = [json.loads(line) for line in write_branch(header, session.tree.path("b"))]
    assert written[0] == new_header("s", PLACE, "/work")
    assert [(record["id"], record["parentId"]) for record in written[1:]] == [("a", None), ("b", "a")]


def test_halves_of_surrogate_pairs_survive() -> None:
    """BUGS B38: kept in the file, written as an escape."""
    session = read(entry("a", data="\ud83d"))
    assert session.entries[0].record["data"] == "\ud83d"
    assert "".join(write_branch(session.header or {}, session.entries)).encode().count(b"\\ud83d") == 1


def test_a_chain_of_a_hundred_thousand_entries_is_read() -> None:
    """BUGS B25."""
    total = 100_000
    lines = [
        f'{{"type":"custom","id":"{n}","parentId":{f"{chr(34)}{n - 1}{chr(34)}" if n else "null"}}}'
        for n in range(total)
    ]
    session = read(*lines)
    assert len(session.tree.path(str(total - 1))) == total


def test_a_line_of_fifty_megabytes_is_read() -> None:
    """BUGS B56."""
    session = read(entry("a", data="x" * 50_000_000))
    assert len(session.entries[0].record["data"]) == 50_000_000


def test_nesting_too_deep_to_read_is_one_skipped_line() -> None:
    session = read('{"type":"custom","id":"a","data":' + "[" * 100_000 + "]" * 100_000 + "}", entry("b"))
    assert [item.id for item in session.entries] == ["b"]
    assert "nesting" in repairs(session)[0][1]
