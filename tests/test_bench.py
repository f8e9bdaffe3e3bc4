"""The counting of deltas: what the benchmark says of latency and loss depends on it."""

from __future__ import annotations

import json

from bench.deltas import Page, Tally, found, is_last, percentile, stamped, timed_deltas


def live(*ops: list[object]) -> str:
    return json.dumps({"t": "live", "id": "1:2", "ops": ops}, separators=(",", ":"))


def stored(html: str) -> str:
    return json.dumps({"t": "entries", "seq": 3, "html": html}, separators=(",", ":"))


def page_after(count: int, *frames: str) -> Tally:
    page = Page(count)
    for frame in frames:
        page.take(1000, frame)
    return page.tally


def test_a_delta_gets_the_time_at_which_it_is_written():
    first, second = timed_deltas(2)
    (number, when), (_, later) = found((stamped(first.encode()) + stamped(second.encode())).decode())
    assert number == 0
    assert 0 < when <= later


def test_latency_counts_to_the_first_frame_that_shows_a_delta():
    page = Page(1)
    page.take(1500, live(["tail", "m1", 0, "<p>n0t1000</p>"]))
    page.take(9000, live(["tail", "m1", 0, "<p>n0t1000</p>"]))
    assert page.tally.added == {0: 500}


def test_what_moves_from_the_open_end_into_the_final_part_is_not_doubled():
    frames = [
        live(["block", "m1", 0, '<div class="stable"></div><div class="tail">n0t1</div>']),
        live(["more", "m1", 0, "n1t1 "]),
        live(["stable", "m1", 0, "<p>n0t1 n1t1</p>"], ["tail", "m1", 0, "n2t1"]),
        stored("n0t1 n1t1 n2t1"),
    ]
    tally = page_after(3, *frames)
    assert (tally.lost, tally.doubled, tally.disordered) == (0, 0, 0)


def test_a_delta_that_is_shown_twice_is_doubled_once():
    frames = [live(["stable", "m1", 0, "n0t1"]), live(["tail", "m1", 0, "n0t1"]), stored("n0t1")]
    assert page_after(1, *frames).doubled == 1


def test_what_is_missing_in_the_end_is_lost_though_it_was_shown():
    tally = page_after(3, live(["tail", "m1", 0, "n0t1 n1t1"]), stored("n0t1"))
    assert tally.lost == 2


def test_the_last_frame_is_the_one_with_the_stored_answer():
    assert is_last(stored("n0t1 n1t1"), 2)
    assert not is_last(live(["tail", "m1", 0, "n1t1"]), 2)
    assert not is_last(stored("timed 2 at 50"), 2)


def test_percentiles_of_few_values():
    assert percentile([], 0.5) == 0
    assert percentile([3, 1, 2], 0.99) == 3
