"""The tree in rows: what is shown, what is folded, and what a large session costs."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app import entry_log, fragments
from sessions_app.fragments import tree_panel
from sessions_app.fragments.tree_panel import first_words
from sessions_app.models import Entry, Session


def say(session: Session, words: str, role: str = "user") -> Entry:
    message = {"role": role, "content": [{"type": "text", "text": words}], "timestamp": 1}
    return entry_log.append(session.pk, {"type": "message", "message": message})


def stand_on(session: Session, entry: Entry | None) -> None:
    session.refresh_from_db()
    entry_log.move_leaf(session, entry)
    session.refresh_from_db()


def rows_of(session: Session) -> list[tuple[str, str]]:
    session.refresh_from_db()
    return [(row.shape, row.words) for row in tree_panel.build(session).rows]


def test_a_short_session_shows_every_message(session: Session) -> None:
    say(session, "One")
    say(session, "Two", "assistant")
    assert rows_of(session) == [("user", "One"), ("assistant", "Two")]


def test_the_place_where_one_stands_is_marked(session: Session) -> None:
    say(session, "One")
    say(session, "Two", "assistant")
    session.refresh_from_db()
    here = [row for row in tree_panel.build(session).rows if row.here]
    assert [row.words for row in here] == ["Two"]


def test_a_long_stretch_becomes_a_capsule(session: Session) -> None:
    say(session, "Begin")
    for number in range(20):
        say(session, f"Step {number}", "assistant")
    assert rows_of(session)[:2] == [("user", "Begin"), ("capsule", "17 entries")]
    assert len(rows_of(session)) == 5


def test_a_branch_is_one_row_beside_its_fork(session: Session) -> None:
    root = say(session, "Root")
    say(session, "Left")
    say(session, "Left answer", "assistant")
    stand_on(session, root)
    say(session, "Right")
    session.refresh_from_db()
    rows = tree_panel.build(session).rows
    assert [(row.words, row.level, row.aside) for row in rows] == [
        ("Root", 1, ""),
        ("Left", 2, "2 entries"),
        ("Right", 1, "here"),
    ]
    assert rows[1].tip


def test_what_lies_below_the_leaf_is_shown_as_going_on(session: Session) -> None:
    root = say(session, "Root")
    say(session, "Next")
    say(session, "Last")
    stand_on(session, root)
    rows = tree_panel.build(session).rows
    assert [(row.words, row.tail) for row in rows] == [("Root", False), ("Next", True)]


def test_branches_of_branches_are_counted(session: Session) -> None:
    root = say(session, "Root")
    inner = say(session, "Inner")
    say(session, "Inner one")
    stand_on(session, inner)
    say(session, "Inner two")
    stand_on(session, root)
    say(session, "Other")
    session.refresh_from_db()
    branch = next(row for row in tree_panel.build(session).rows if row.level == 2)
    assert branch.aside == "3 entries, 1 fork"


def test_before_the_first_entry_all_beginnings_are_listed(session: Session) -> None:
    say(session, "Root")
    stand_on(session, None)
    assert [row.words for row in tree_panel.build(session).rows] == ["Root"]


def test_compactions_and_labels_are_never_folded(session: Session) -> None:
    say(session, "Begin")
    for number in range(10):
        say(session, f"Step {number}", "assistant")
    marked = say(session, "Marked", "assistant")
    entry_log.append(session.pk, {"type": "label", "targetId": marked.entry_id, "label": "worked"})
    for number in range(10):
        say(session, f"More {number}", "assistant")
    entry_log.append(session.pk, {"type": "compaction", "summary": "S", "firstKeptEntryId": marked.entry_id})
    for number in range(10):
        say(session, f"Most {number}", "assistant")
    rows = rows_of(session)
    assert ("assistant", "Marked") in rows
    assert ("compaction", "Compaction 1") in rows


def test_running_work_has_a_row_of_its_own(session: Session, alice: User) -> None:
    say(session, "Go")
    session.runs.create(author=alice, status="running")
    assert rows_of(session)[-1] == ("running", "At work…")


def test_many_branches_at_one_fork_are_cut(session: Session) -> None:
    root = say(session, "Root")
    for number in range(30):
        stand_on(session, root)
        say(session, f"Try {number}")
    session.refresh_from_db()
    rows = tree_panel.build(session).rows
    assert len(rows) == 15
    assert ("capsule", "17 more branches") in [(row.shape, row.words) for row in rows]


def test_the_panel_never_exceeds_its_rows(session: Session) -> None:
    last = say(session, "Root")
    for number in range(400):
        stand_on(session, last)
        say(session, f"Dead end {number}", "assistant")
        stand_on(session, last)
        last = say(session, f"On {number}", "assistant")
    session.refresh_from_db()
    panel = tree_panel.build(session)
    assert len(panel.rows) == tree_panel.MOST_ROWS
    assert panel.hidden > 0


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_the_tree(
    session: Session, django_assert_max_num_queries: Any
) -> None:
    last = say(session, "Root")
    for number in range(30):
        stand_on(session, last)
        say(session, f"Dead end {number}")
        stand_on(session, last)
        last = say(session, f"On {number}", "assistant")
    session.refresh_from_db()
    with django_assert_max_num_queries(10):
        tree_panel.build(session)


def test_rows_are_a_tree_for_screen_readers(session: Session, alice: User) -> None:
    root = say(session, "Root <b>")
    say(session, "Left")
    stand_on(session, root)
    say(session, "Right")
    session.refresh_from_db()
    html = fragments.render_tree(session, user=alice)
    assert html.count('role="treeitem"') == 3
    assert html.count('tabindex="0"') == 1
    assert 'aria-level="2" aria-posinset="1" aria-setsize="1"' in html
    assert "Root &lt;b&gt;" in html


def test_first_words_are_found_in_a_record_that_is_cut_short() -> None:
    assert first_words('{"message":{"content":[{"type":"text","text":"Sch\\u00f6n \\n da') == "Schön da"
    assert first_words('{"message":{"content":[{"type":"text","text":"Schön"},{"type":"im') == "Schön"
    assert first_words("nonsense") == ""
    assert first_words("[1]") == ""


def test_first_words_are_without_marks_of_markdown() -> None:
    assert first_words('{"summary":"## Goal\\nFind **why** `x` fails."}') == "Find why x fails."
    assert first_words('{"summary":"# Only a heading"}') == "Only a heading"


def test_a_folded_run_opens_to_its_entries(session: Session) -> None:
    say(session, "Begin")
    for number in range(90):
        say(session, f"Step {number}", "assistant")
    session.refresh_from_db()
    [capsule] = [row for row in tree_panel.build(session).rows if row.shape == "capsule"]
    assert (capsule.first, capsule.last) == (1, 87)
    rows = tree_panel.opened_run(session, 1, 87).rows
    assert [row.words for row in rows[:2]] == ["Step 0", "Step 1"]
    assert (rows[-1].shape, rows[-1].words, rows[-1].first) == ("capsule", "27 entries", 61)
    assert len(tree_panel.opened_run(session, 61, 10_000).rows) == 30
