"""JSON is read without loss and printed as JavaScript prints it."""

from __future__ import annotations

import gc
from threading import Barrier, Thread
from typing import Any

import pytest

from sessions_app.core.bulk import building_many
from sessions_app.core.json_text import (
    parse_json,
    print_compact_json,
    print_json,
    print_number,
    string_of,
)


@pytest.mark.parametrize(
    ("spelling", "printed"),
    [
        ("1.0", "1"),
        ("1E21", "1e+21"),
        ("123456789012345678901", "123456789012345680000"),
        ("12345678901234567890", "12345678901234567000"),
        ("9007199254740993", "9007199254740992"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1.5e-7", "1.5e-7"),
        ("0.00001234", "0.00001234"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("-12.50", "-12.5"),
        ("1e400", "null"),
        ("-1e400", "null"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("100e1", "1000"),
    ],
)
def test_numbers_print_as_javascript_prints_doubles(spelling: str, printed: str) -> None:
    """FINDINGS 31, 02 §9."""
    assert print_compact_json(parse_json(spelling)) == printed


def test_an_integer_too_large_for_a_double_prints_as_null() -> None:
    assert print_number(10**400) == "null"
    assert print_compact_json(parse_json("1" + "0" * 5000)) == "null"


def test_keys_that_are_array_indices_come_first_in_numeric_order() -> None:
    """FINDINGS 31."""
    value = parse_json('{"b":1,"10":2,"2":3,"01":4,"4294967295":5,"4294967294":6,"b":7}')
    assert print_compact_json(value) == '{"2":3,"10":2,"4294967294":6,"b":7,"01":4,"4294967295":5}'


def test_text_is_raw_but_for_controls_and_halves_of_pairs() -> None:
    assert print_compact_json('é\u2028\x7f😀"\\\n\x01') == '"é\u2028\x7f😀\\"\\\\\\n\\u0001"'
    assert print_compact_json(["\ud83d", 1.5]) == '["\\ud83d",1.5]'
    assert print_compact_json(["\ud83d"]) == '["\\ud83d"]'


def test_empty_containers_and_words_print() -> None:
    assert print_compact_json({"a": [], "b": {}, "c": [True, False, None, 0.5]}) == (
        '{"a":[],"b":{},"c":[true,false,null,0.5]}'
    )


def test_nesting_deeper_than_the_stack_prints() -> None:
    value: Any = 1
    for _ in range(5000):
        value = [{"k": value}]
    assert print_compact_json(value).startswith('[{"k":[{"k":')
    assert print_json(value).endswith("}]}]")


def test_nesting_deeper_than_can_be_read_is_an_error_not_a_crash() -> None:
    with pytest.raises(ValueError, match="nesting"):
        parse_json("[" * 100_000 + "]" * 100_000)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", "", "{} {}"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_stored_text_is_ascii_and_reads_back_as_the_same_value() -> None:
    value = parse_json('{"a":1.0,"b":1e999,"c":"\\ud83d é","d":12345678901234567890,"e":[-1e999,{}]}')
    text = print_json(value)
    assert text.isascii()
    assert parse_json(text) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x", "x"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        ([1], "1"),
        ([1, None, [2, [], "x"]], "1,,2,,x"),
        ([[]], ""),
        ({}, "[object Object]"),
        ([{}], "[object Object]"),
    ],
)
def test_values_show_as_javascript_strings(value: Any, shown: str) -> None:
    """FORMAT clarification 8."""
    assert string_of(value) == shown


def test_collection_rests_until_the_last_builder_leaves() -> None:
    barrier = Barrier(2)
    seen: list[bool] = []

    def build() -> None:
        with building_many():
            barrier.wait(5)
            seen.append(gc.isenabled())
            barrier.wait(5)

    threads = [Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [False, False]
    assert gc.isenabled()


def test_collection_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with building_many():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
