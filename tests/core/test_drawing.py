"""The tree's drawing in numbers: folding, lanes, filters, and that nothing moves because something was added."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sessions_app.core.drawing import Filter, Outline, Shape, Strand, View, draw
from sessions_app.core.drawing.layout import TIP_WORDS
from sessions_app.core.drawing.strands import capsule_width

STEPS = "utratrwrfauctbes"


def outline(*strands: Strand, leaf: tuple[int, int] | None = None, **facts: object) -> Outline:
    return Outline.of(strands, leaf=leaf, **facts)


def shapes(drawn_from: Outline, key: int = 1, view: View | None = None) -> list[tuple[Shape, int]]:
    return [(item.shape, item.count) for item in draw(drawn_from, view or View()).items[key]]


def long(count: int, begin: str = "u") -> str:
    return begin + "ra" * (count // 2)


def test_up_to_sixty_entries_every_one_is_a_shape() -> None:
    assert shapes(outline(Strand(1, None, 0, "u" + "ra" * 20))) == [(Shape.ENTRY, 1)] * 41


def test_a_long_run_is_a_capsule_between_what_stands_out() -> None:
    """UI §6: runs of five and more, without a fork, compaction, error, label or pin."""
    found = shapes(outline(Strand(1, None, 0, "u" + "ra" * 40 + "c" + "ra" * 10 + "e")))
    assert found == [
        (Shape.ENTRY, 1),
        (Shape.CAPSULE, 80),
        (Shape.ENTRY, 1),
        (Shape.CAPSULE, 20),
        (Shape.ENTRY, 1),
    ]


def test_what_the_filter_hides_is_not_counted() -> None:
    """01 TR-09: bookkeeping and answers of calls alone."""
    every = outline(Strand(1, None, 0, "u" + "trn" * 80 + "a"))
    assert shapes(every)[1] == (Shape.CAPSULE, 80)
    assert shapes(every, view=View(filter=Filter.ALL))[1] == (Shape.CAPSULE, 160)
    assert shapes(every, view=View(filter=Filter.NO_TOOLS)) == [(Shape.ENTRY, 1), (Shape.ENTRY, 1)]


@pytest.mark.parametrize(
    ("filter_", "kept"),
    [(Filter.USER_ONLY, "u"), (Filter.FILES, "we"), (Filter.ERRORS, "fe")],
)
def test_filters_leave_only_what_they_name_and_ours_where_one_stands(filter_: Filter, kept: str) -> None:
    every = outline(Strand(1, None, 0, "uatrwtfae"), leaf=(1, 8))
    drawn = draw(every, View(filter=filter_))
    assert "".join(item.face for item in drawn.items[1] if item.shape is Shape.ENTRY) == kept


def test_a_branch_without_anything_the_filter_shows_is_left_out() -> None:
    every = outline(Strand(1, None, 0, "uaua"), Strand(2, 1, 1, "aaa"), leaf=(1, 3))
    assert list(draw(every, View(filter=Filter.USER_ONLY)).items) == [1]


def test_only_labelled_entries_and_where_their_branches_leave() -> None:
    every = outline(Strand(1, None, 0, "uaua"), Strand(2, 1, 1, "ua"), labels={(2, 1): "here"}, leaf=(1, 3))
    drawn = draw(every, View(filter=Filter.LABELED_ONLY))
    assert [item.shape for item in drawn.items[1]] == [Shape.FORK]
    assert [item.place for item in drawn.items[2]] == [(2, 1)]


def test_an_opened_capsule_shows_its_entries_and_a_longer_one_parts() -> None:
    every = outline(Strand(1, None, 0, long(60) + "c" + "ra" * 100))
    [first, second] = [item for item in draw(every, View()).items[1] if item.shape is Shape.CAPSULE]
    assert first.count == 60
    opened = draw(every, View(opened=frozenset({second.key})))
    parts = [item for item in opened.items[1] if item.within == second.key]
    assert 5 <= len(parts) <= 40
    assert all(part.shape is Shape.CAPSULE for part in parts)
    assert sum(part.count for part in parts) == second.count
    smaller = draw(every, View(opened=frozenset({second.key, parts[0].key})))
    inside = [item for item in smaller.items[1] if item.within == parts[0].key]
    assert [item.shape for item in inside] == [Shape.ENTRY] * parts[0].count


def test_a_folded_branch_is_one_item_with_all_that_hangs_below() -> None:
    every = outline(Strand(1, None, 0, "ua" * 40), Strand(2, 1, 3, "ua"), Strand(3, 2, 1, "uau"))
    [item] = draw(every, View(folded=frozenset({2}))).items[2]
    assert (item.shape, item.count) == (Shape.FOLDED, 5)


def test_a_hoisted_subtree_begins_with_what_lies_above_it() -> None:
    every = outline(Strand(1, None, 0, "ua" * 40), Strand(2, 1, 9, "uaua"))
    drawn = draw(every, View(root=(2, 1)))
    assert list(drawn.items) == [2]
    above, first = drawn.items[2][:2]
    assert (above.shape, above.count, first.place) == (Shape.ABOVE, 11, (2, 1))


def test_hits_are_shown_in_place_wherever_they_are() -> None:
    every = outline(Strand(1, None, 0, "ua" * 1200), Strand(2, 1, 1001, "uau"), leaf=(1, 2399))
    assert 2 not in draw(every, View()).items
    drawn = draw(every, View(hits=frozenset({(2, 2), (1, 500)})))
    assert [item.place for items in drawn.items.values() for item in items if item.hits] == [(1, 500), (2, 2)]


def test_of_thousands_of_entries_short_branches_are_bundled_and_open_again() -> None:
    branches = [Strand(2 + n, 1, 10 + n, "ua") for n in range(12)]
    every = outline(Strand(1, None, 0, "ua" * 1500), *branches, leaf=(1, 2999))
    drawn = draw(every, View())
    [bundle] = [item for item in drawn.items[1] if item.shape is Shape.BUNDLE]
    assert bundle.count == 12
    assert list(drawn.items) == [1]
    assert len(draw(every, View(opened=frozenset({bundle.key}))).items) == 13


def test_a_running_branch_keeps_its_newest_as_shapes() -> None:
    every = outline(Strand(1, None, 0, long(100)), leaf=(1, 100), running=True, queued=2)
    assert [shape for shape, _ in shapes(every)] == [
        Shape.ENTRY,
        Shape.CAPSULE,
        *[Shape.ENTRY] * 3,
        Shape.RUNNING,
        Shape.QUEUED,
    ]


def test_totals_below_an_entry_count_its_own_strand_and_what_forks_from_it() -> None:
    every = outline(
        Strand(1, None, 0, "uaua", 40, 0.4), Strand(2, 1, 0, "u", 7, 0.1), Strand(3, 1, 2, "ua", 5, 0.2)
    )
    below = every.below_place((1, 1), used=30, cost=0.3)
    assert (below.entries, below.tips, below.used) == (5, 2, 35)
    assert below.cost == pytest.approx(0.5)
    assert every.below[1].entries == 7


def test_capsules_grow_in_steps_between_two_widths() -> None:
    widths = {capsule_width(count) for count in range(1, 100_000)}
    assert min(widths) == 56
    assert max(widths) == 140
    assert {round(width - 56) % 12 for width in widths} == {0}


# ---- properties ----


@st.composite
def trees(draw_: st.DrawFn) -> Outline:
    source = random.Random(draw_(st.integers(0, 10_000)))
    strands: list[Strand] = []
    for key in range(1, draw_(st.integers(1, 25)) + 1):
        length = source.choice([1, 2, 4, 9, 40, 300])
        faces = "".join(source.choice(STEPS) for _ in range(length - 1)) + "a"
        parent = source.choice(strands) if strands and source.random() < 0.9 else None
        fork = source.randrange(len(parent.faces)) if parent else 0
        strands.append(Strand(key, parent.key if parent else None, fork, faces))
    tip = source.choice(strands)
    return outline(*strands, leaf=(tip.key, source.randrange(len(tip.faces))))


@settings(max_examples=60, deadline=None)
@given(trees(), st.sampled_from(list(Filter)))
def test_no_two_branches_stand_on_top_of_each_other(every: Outline, filter_: Filter) -> None:
    drawn = draw(every, View(filter=filter_))
    taken: dict[int, list[tuple[float, float]]] = {}
    for key, items in drawn.items.items():
        for before, after in pairwise(items):
            assert before.x + before.width < after.x
        line = drawn.lines[key]
        begin = line.left if line.fork_x is None else line.fork_x
        taken.setdefault(line.lane, []).append((begin, line.right))
    for stretches in taken.values():
        stretches.sort()
        assert all(one[1] < two[0] for one, two in pairwise(stretches))


@settings(max_examples=60, deadline=None)
@given(trees())
def test_every_shown_entry_is_in_exactly_one_item(every: Outline) -> None:
    drawn = draw(every, View())
    # Of very many, compactions and errors are shown once more beside the capsule that counts them.
    assume(not drawn.chosen.bulk)
    for key, items in drawn.items.items():
        shown = every.strands[key].shown(Filter.DEFAULT)
        counted = sum(item.count for item in items if item.shape in (Shape.ENTRY, Shape.CAPSULE, Shape.FORK))
        hidden = sum(shown[item.start] == "." for item in items if item.shape in (Shape.ENTRY, Shape.FORK))
        assert counted - hidden == len(shown) - shown.count(".")


@settings(max_examples=60, deadline=None)
@given(trees(), st.integers(1, 30))
def test_what_is_added_behind_a_tip_moves_no_other_branch(every: Outline, added: int) -> None:
    """UI §6: nothing already drawn moves because something was added."""
    tip = max(every.strands)
    grown = [
        Strand(strand.key, strand.parent, strand.fork_at, strand.faces + "a" * added * (key == tip))
        for key, strand in every.strands.items()
    ]
    before, after = draw(every, View()), draw(outline(*grown, leaf=every.leaf), View())
    if before.chosen.small != after.chosen.small or before.chosen.bulk != after.chosen.bulk:
        return
    for key, items in before.items.items():
        if key != tip:
            assert before.lanes[key] == after.lanes[key]
            assert [item.x for item in items] == [item.x for item in after.items[key]]


@settings(max_examples=60, deadline=None)
@given(trees(), st.integers(1, 30))
def test_the_newest_branch_keeps_its_lane_while_it_grows_and_when_another_follows(
    every: Outline, added: int
) -> None:
    """UI §6: a branch keeps its lane."""
    newest = max(every.strands)
    grown = [
        Strand(key, strand.parent, strand.fork_at, strand.faces + ("ura" * added if key == newest else ""))
        for key, strand in every.strands.items()
    ]
    before = draw(every, View())
    after = draw(outline(*grown, leaf=every.leaf), View())
    assume(before.chosen.small == after.chosen.small and not after.chosen.bulk)
    assert after.lanes[newest] == before.lanes[newest]
    tip = len(grown[list(every.strands).index(newest)].faces) - 1
    following = Strand(newest + 1, newest, tip, "u" + "ra" * 40)
    followed = draw(outline(*grown, following, leaf=every.leaf), View(), known_lanes=after.lanes)
    assume(followed.chosen.small == after.chosen.small and not followed.chosen.bulk)
    assert {key: followed.lanes[key] for key in after.lanes} == after.lanes


@settings(max_examples=60, deadline=None)
@given(trees())
def test_another_active_path_changes_no_place(every: Outline) -> None:
    """UI §6: switching the active path changes weight and colour, not places."""
    keys = list(every.strands)
    drawings = [
        draw(outline(*every.strands.values(), leaf=(key, len(every.strands[key].faces) - 1)), View())
        for key in (keys[0], keys[-1])
    ]
    assert drawings[0].lanes == drawings[1].lanes


@settings(max_examples=60, deadline=None)
@given(trees(), st.randoms(use_true_random=False))
def test_what_is_opened_is_drawn_alike_with_and_without_the_drawing_before(
    every: Outline, chance: random.Random
) -> None:
    """Strands that nothing was opened on are taken over; of large trees bundles among them."""
    before, opened = draw(every, View()), frozenset[str]()
    for _ in range(3):
        keys = {item.key for items in before.items.values() for item in items if item.key} | opened
        opened = frozenset(key for key in sorted(keys) if chance.random() < 0.3)
        after, anew = draw(every, View(opened=opened), before), draw(every, View(opened=opened))
        assert (after.items, after.lanes, after.lines, after.bundle_lanes, after.attached) == (
            anew.items,
            anew.lanes,
            anew.lines,
            anew.bundle_lanes,
            anew.attached,
        )
        before = after


@settings(max_examples=40, deadline=None)
@given(trees())
def test_a_window_holds_what_it_touches_and_nothing_else(every: Outline) -> None:
    drawn = draw(every, View())
    whole = drawn.within(drawn.left, drawn.top, drawn.right, drawn.bottom)
    assert sorted(map(id, whole)) == sorted(id(item) for items in drawn.items.values() for item in items)
    part = drawn.within(0, -30, 400, 30)
    assert {id(item) for item in part} <= {id(item) for item in whole}
    assert all(item.x <= 400 and item.x + item.width >= -TIP_WORDS for item in part)
