"""Laying two branches beside each other."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.core.comparing import Block, align, key_of
from sessions_app.core.entries import Entry
from tests.builders import answer, call, message_entry


def test_equal_stretches_are_found_in_the_order_of_both() -> None:
    assert align("abcdef", "xbcdyf") == [
        Block(False, 0, 1, 0, 1),
        Block(True, 1, 4, 1, 4),
        Block(False, 4, 5, 4, 5),
        Block(True, 5, 6, 5, 6),
    ]


def test_what_stands_twice_anchors_nothing_but_grows_from_its_neighbours() -> None:
    assert [block for block in align("aaXaa", "aXaaa") if block.equal][-1] == Block(True, 2, 5, 1, 4)


@given(st.text("abcdefgh", max_size=40), st.text("abcdefgh", max_size=40))
def test_blocks_cover_both_sides_once_and_equal_ones_are_equal(a: str, b: str) -> None:
    at_a = at_b = 0
    for block in align(a, b):
        assert (block.a_start, block.b_start) == (at_a, at_b)
        if block.equal:
            assert a[block.a_start : block.a_end] == b[block.b_start : block.b_end]
        at_a, at_b = block.a_end, block.b_end
    assert (at_a, at_b) == (len(a), len(b))


def test_five_thousand_entries_a_side_take_no_time() -> None:
    a = [f"a{number}" if number % 3 else "same" for number in range(5000)]
    b = [f"b{number}" if number % 7 else "same" for number in range(5000)]
    begun = time.perf_counter()
    align(a, b)
    align(a, [*a[:2500], "new", *a[2500:]])
    assert time.perf_counter() - begun < 2


def test_entries_that_say_the_same_have_one_key() -> None:
    one = message_entry("e1", None, {**answer("Done."), "content": [call("read", "c1", path="a")]})
    other = message_entry(
        "e9", "e8", {**answer("Done."), "content": [call("read", "c7", path="a")], "timestamp": 5}
    )
    different = message_entry("e9", "e8", {**answer("Done."), "content": [call("read", "c7", path="b")]})
    assert key_of(one) == key_of(other)
    assert key_of(one) != key_of(different)
    assert key_of(Entry({"type": "custom", "id": "e2", "data": 1})) != key_of(one)
