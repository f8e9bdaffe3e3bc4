"""What becomes of text on its way to the model: cut to whole lines, and clean."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.agent.tools.clean_text import (
    clean_file_text,
    clean_name,
    clean_output,
    without_surrogates_inside,
)
from sessions_app.agent.tools.truncation import byte_size, format_size, truncate_head, truncate_tail


def test_a_text_within_the_limits_stays_as_it_is() -> None:
    """05 §1.1, §1.2."""
    for text in ("", "a", "a\n", "a\nb\n", "x" * 51200, "x\n" * 2000):
        for cut in (truncate_head(text), truncate_tail(text)):
            assert (cut.content, cut.truncated, cut.total_lines) == (text, False, len(text.splitlines()))


def test_the_head_keeps_whole_lines() -> None:
    """05 §1.7, §1.9."""
    cut = truncate_head("aaa\nbbb\nccc\n", max_bytes=8)
    assert (cut.content, cut.truncated_by, cut.output_lines, cut.total_lines) == ("aaa\nbbb", "bytes", 2, 3)
    cut = truncate_head("aaa\nbbb\nccc\n", max_lines=1)
    assert (cut.content, cut.truncated_by, cut.total_bytes) == ("aaa", "lines", 12)


def test_a_first_line_that_is_too_long_leaves_nothing() -> None:
    """05 §1.2, §1.7."""
    cut = truncate_head("x" * 51201 + "\ny")
    assert (cut.content, cut.first_line_exceeds_limit, cut.output_lines) == ("", True, 0)


def test_the_tail_keeps_whole_lines() -> None:
    """05 §1.7, §1.9."""
    cut = truncate_tail("aaa\nbbb\nccc\n", max_bytes=8)
    assert (cut.content, cut.truncated_by, cut.output_lines) == ("bbb\nccc", "bytes", 2)
    assert truncate_tail("a\nb\nc", max_lines=2).content == "b\nc"


def test_of_a_last_line_that_is_too_long_the_end_is_left_on_a_character_boundary() -> None:
    """05 §1.7."""
    cut = truncate_tail("first\n" + "é" * 100, max_bytes=11)
    assert (cut.content, cut.last_line_partial, cut.output_bytes) == ("é" * 5, True, 10)


def test_a_newline_at_the_end_is_no_line_and_costs_nothing() -> None:
    """05 §1.1, §1.8."""
    assert not truncate_head("x" * 51200 + "\n").truncated
    assert truncate_head("a\n" * 2000).total_lines == 2000
    assert not truncate_head("a\n" * 2000).truncated
    assert truncate_head("a\n" * 2001).truncated


@given(st.text(st.sampled_from("aé\n😀"), max_size=60), st.integers(1, 8), st.integers(1, 30))
def test_no_cut_exceeds_its_limits_or_invents_anything(text: str, lines: int, size: int) -> None:
    for cut, holds in ((truncate_head, str.startswith), (truncate_tail, str.endswith)):
        kept = cut(text, max_lines=lines, max_bytes=size)
        assert byte_size(kept.content) <= size
        assert kept.content.count("\n") <= lines
        assert any(holds(whole, kept.content) for whole in (text, text.removesuffix("\n")))


def test_the_details_have_the_stored_names() -> None:
    """05 §1.9."""
    assert truncate_head("a").to_details() == {
        "truncated": False, "truncatedBy": None, "totalLines": 1, "totalBytes": 1, "outputLines": 1, "outputBytes": 1,
        "lastLinePartial": False, "firstLineExceedsLimit": False, "maxLines": 2000, "maxBytes": 51200,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0B"), (1023, "1023B"), (1024, "1.0KB"), (51200, "50.0KB"), (5 << 20, "5.0MB")]
)
def test_sizes_are_written_with_one_decimal(size: int, text: str) -> None:
    """05 §1.8."""
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (b"a\0b", "ab"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1bPdevice\x1b\\text\x1b(B", "text"),
        (b"10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        (b"progress\r", "progress"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"N\x08NA\x08A bold", "NA bold"),
        (b"  indented\tx\n", "  indented\tx\n"),
        (b"\xff\xfe caf\xc3\xa9", "\ufffd\ufffd café"),
        ("\u202egnp.exe".encode(), "<U+202E>gnp.exe"),
        (b"\x1b[2K\x1b[1A\x1b[?25lx", "x"),
        (b"bell\x07\x7f\xc2\x9b31mz", "bellz"),
    ],
)
def test_a_programs_output_is_shown_as_a_person_would_have_seen_it(raw: bytes, clean: str) -> None:
    """B50."""
    assert clean_output(raw) == clean


def test_ten_thousand_progress_updates_become_one_line() -> None:
    """B50."""
    raw = b"".join(b"\r\x1b[K%d/10000 building" % number for number in range(10_001))
    assert clean_output(raw + b"\nok\n") == "10000/10000 building\nok\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x1b" * 200_000,
        b"\x1b]" * 100_000,
        b"\x1bP" * 100_000,
        b"a\x08" * 200_000,
        b"a" * 50_000 + b"\x08" * 50_000,
    ],
)
def test_hostile_output_costs_no_time(raw: bytes) -> None:
    started = time.monotonic()
    clean_output(raw)
    assert time.monotonic() - started < 5


@given(st.binary(max_size=200))
def test_clean_output_can_be_stored(raw: bytes) -> None:
    text = clean_output(raw)
    text.encode()
    assert not set(text) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}


def test_a_files_text_keeps_what_an_edit_needs_and_shows_the_rest() -> None:
    assert clean_file_text("a\tb\r\n\x0c\x00\x1b\x7f\x85\ud83d") == "a\tb\r\n\x0c␀␛␡\ufffd\ufffd"


def test_a_name_stays_on_one_line() -> None:
    assert clean_name("a\nb\tc\udcff\u202e") == "a␊b␉c\ufffd<U+202E>"


def test_half_characters_are_replaced_everywhere() -> None:
    """B38."""
    value = json.loads('{"a\\ud83d": ["\\ud83d\\ude00", {"b": "x\\udc00"}], "n": 1, "t": true}')
    clean = without_surrogates_inside(value)
    assert clean == {"a\ufffd": ["😀", {"b": "x\ufffd"}], "n": 1, "t": True}
    json.dumps(clean, ensure_ascii=False).encode()
