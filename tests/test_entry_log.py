"""Appending and reading: rows answer as the pure core does, whatever tree they hold."""

from __future__ import annotations

import os
import random
import re
import threading
import uuid
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from sessions_app import entry_log
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.errors import CyclicTree, SessionError
from sessions_app.core.projection import project
from sessions_app.core.tree import Tree
from sessions_app.models import Entry, Segment, Session
from sessions_app.transactions import write_transaction

Json = dict[str, Any]


def user(text: str) -> Json:
    return {"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}}


def answer(text: str) -> Json:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "provider": "demo",
        "model": "demo",
        "usage": {
            "input": 7,
            "output": 3,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": 10,
            "cost": {"total": 0.5},
        },
        "stopReason": "stop",
        "timestamp": 2,
    }
    return {"type": "message", "message": message}


def compaction(kept: str) -> Json:
    return {"type": "compaction", "summary": "what was", "firstKeptEntryId": kept, "tokensBefore": 9}


def core_tree(session: Session) -> Tree:
    return Tree([row.as_core() for row in session.entries.order_by("seq")])


def ids(entries: list[Entry]) -> list[str]:
    return [entry.entry_id for entry in entries]


def go_to(session: Session, entry: Entry | None) -> None:
    with transaction.atomic():
        entry_log.move_leaf(entry_log.lock_session(session.pk), entry)


def grow_at_random(session: Session, seed: int, steps: int) -> None:
    """A tree with forks, compactions, labels and model changes."""
    rng = random.Random(seed)
    for step in range(steps):
        entries = list(session.entries.all())
        if entries and rng.random() < 0.3:
            go_to(session, rng.choice([*entries, None]))
        kept = rng.choice(entries).entry_id if entries else "none"
        fields = rng.choice(
            [
                user(f"question {step}"),
                answer(f"answer {step}"),
                answer(f"answer {step}"),
                compaction(kept),
                {"type": "label", "targetId": kept, "label": "here"},
                {"type": "model_change", "provider": "p", "modelId": f"m{step}"},
                {"type": "thinking_level_change", "thinkingLevel": "high"},
                {"type": "branch_summary", "summary": "the other way", "fromId": kept},
                {"type": "context_edit", "targetId": kept, "replacement": None},
            ]
        )
        entry_log.append(session.pk, fields)
    session.refresh_from_db()


def test_an_entry_hangs_from_the_leaf_and_becomes_it(session: Session) -> None:
    """01 ST-04: every append moves the leaf, a label's too."""
    first = entry_log.append(session.pk, user("hello"))
    label = entry_log.append(session.pk, {"type": "label", "targetId": first.entry_id, "label": "start"})
    session.refresh_from_db()
    assert session.leaf == label
    assert label.parent == first
    assert label.record["parentId"] == first.entry_id
    assert [first.seq, label.seq, session.next_seq] == [1, 2, 3]


def test_totals_name_and_title_follow_what_is_written(session: Session) -> None:
    entry_log.append(session.pk, user("  Fix\n the clock  "))
    entry_log.append(session.pk, answer("done"))
    entry_log.append(session.pk, {"type": "session_info", "name": "Clock"})
    session.refresh_from_db()
    assert (session.title, session.name, session.tokens, session.cost) == ("Fix the clock", "Clock", 10, 0.5)


def test_text_that_no_database_takes_is_cleaned_before_it_is_stored(session: Session) -> None:
    """B35, B38: NUL bytes and halves of surrogate pairs."""
    entry = entry_log.append(session.pk, user("a\0b\ud83dc"))
    assert entry.record["message"]["content"] == "a\ufffdb\ufffdc"
    assert entry.payload.isascii()


def test_the_payload_is_ascii_text_in_the_order_it_was_written(session: Session) -> None:
    entry = entry_log.append(session.pk, user("naïve 🚢"))
    entry.refresh_from_db()
    assert entry.payload.isascii()
    assert list(entry.record) == ["type", "id", "parentId", "timestamp", "message"]
    assert entry.record["message"]["content"] == "naïve 🚢"


def test_a_failed_write_leaves_nothing_behind(session: Session) -> None:
    """01 ST-08."""
    entry_log.append(session.pk, user("one"))

    def write_and_fail() -> None:
        with transaction.atomic():
            entry_log.append(session.pk, user("two"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    session.refresh_from_db()
    assert session.entries.count() == 1
    assert session.leaf is not None
    assert session.leaf.seq == 1
    assert entry_log.append(session.pk, user("two")).seq == 2


def test_a_seq_is_given_once(session: Session) -> None:
    entry = entry_log.append(session.pk, user("one"))
    entry.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        entry.save(force_insert=True)


def test_metadata_may_come_between_what_a_run_writes(session: Session) -> None:
    question = entry_log.append(session.pk, user("one"))
    entry_log.append(session.pk, {"type": "label", "targetId": question.entry_id, "label": "x"})
    entry_log.append(session.pk, {"type": "session_info", "name": "Named meanwhile"})
    written = entry_log.append(session.pk, answer("two"), expected_leaf_seq=question.seq)
    assert written.seq == 4


def test_a_writer_whose_leaf_has_moved_is_refused(session: Session) -> None:
    """B21: an append never follows a moved leaf."""
    question = entry_log.append(session.pk, user("one"))
    entry_log.append(session.pk, user("two"))
    with pytest.raises(entry_log.LeafMoved):
        entry_log.append(session.pk, answer("late"), expected_leaf_seq=question.seq)
    go_to(session, None)
    with pytest.raises(entry_log.LeafMoved):
        entry_log.append(session.pk, answer("late"), expected_leaf_seq=question.seq)
    assert session.entries.count() == 2


def test_an_entry_of_another_session_is_no_leaf(session: Session) -> None:
    other = Session.objects.create(workspace=session.workspace, owner=session.owner, file_id="other")
    foreign = entry_log.append(other.pk, user("there"))
    with pytest.raises(SessionError):
        go_to(session, foreign)


@pytest.mark.parametrize("seed", range(12))
def test_rows_give_the_context_that_the_core_gives(session: Session, seed: int) -> None:
    """01 §5: reading from the kept boundary on equals projecting the whole path, at every leaf; so does following
    the leaves as they were written.
    """
    grow_at_random(session, seed, 40)
    tree = core_tree(session)
    follower = entry_log.PathFollower()
    for row in session.entries.select_related("segment"):
        path = tree.path(row.entry_id)
        assert ids(entry_log.path_to(row)) == [entry.id for entry in path]
        expected = project(path)
        found = entry_log.load_context(session, leaf=row)
        assert found.messages == expected.messages
        assert (found.model, found.thinking_level) == (expected.model, expected.thinking_level)
        active = entry_log.active_path(row)
        assert follower.read(row) == (active, project(active))


def test_who_follows_a_path_reads_only_what_is_new(session: Session) -> None:
    for number in range(3):
        entry_log.append(session.pk, user(f"question {number}"))
    follower = entry_log.PathFollower()
    session.refresh_from_db()
    before, _ = follower.read(session.leaf)
    entry_log.append(session.pk, answer("answer"))
    session.refresh_from_db()
    path, context = follower.read(session.leaf)
    assert all(one is other for one, other in zip(path, before, strict=False))
    assert len(context.messages) == len(path) == 4


@pytest.mark.parametrize("seed", range(4))
def test_windows_tile_the_path(session: Session, seed: int) -> None:
    grow_at_random(session, seed, 50)
    assert session.leaf is not None
    whole = ids(entry_log.path_to(session.leaf))
    read: list[str] = []
    before: int | None = None
    while True:
        window = entry_log.load_window(session, before_depth=before, limit=7)
        read = ids(window.entries) + read
        if not window.has_older:
            break
        before = window.entries[0].depth
    assert read == whole


@pytest.mark.parametrize("seed", range(4))
def test_an_imported_tree_has_the_rows_that_writing_it_would_give(session: Session, seed: int) -> None:
    grow_at_random(session, seed, 60)
    copy = Session.objects.create(workspace=session.workspace, owner=session.owner, file_id="copy")
    with transaction.atomic():
        entry_log.import_records(copy, [row.as_core() for row in session.entries.order_by("seq")])
    copy.refresh_from_db()
    columns = ("seq", "entry_id", "raw_parent_id", "depth", "kind", "role", "payload", "tokens")
    facts = ("ordinal", "compaction_seq", "model_seq", "thinking_seq", "kept_seq")
    written = session.entries.order_by("seq").values_list(*columns, *facts)
    imported = copy.entries.order_by("seq").values_list(*columns, *facts)
    assert list(imported) == list(written)
    assert copy.segments.count() == session.segments.count()
    assert (copy.next_seq, copy.tokens, copy.title) == (session.next_seq, session.tokens, session.title)


def test_an_imported_session_can_be_written_on(session: Session) -> None:
    records = [CoreEntry({**user("a"), "id": "one", "parentId": None, "timestamp": "t"}, 1)]
    with transaction.atomic():
        entry_log.import_records(session, records)
    entry = entry_log.append(session.pk, answer("b"))
    assert (entry.seq, entry.depth, entry.segment_id) == (2, 1, Entry.objects.get(entry_id="one").segment_id)


def imported(session: Session, *nodes: tuple[str, str | None]) -> list[Entry]:
    records = [
        CoreEntry({**user(name), "id": name, "parentId": parent, "timestamp": "t"}, index)
        for index, (name, parent) in enumerate(nodes, start=1)
    ]
    with transaction.atomic():
        entry_log.import_records(session, records)
    session.refresh_from_db()
    return list(session.entries.order_by("seq"))


def test_missing_parents_and_self_parents_become_roots(session: Session) -> None:
    """01 ST-06. What the file said is kept beside it."""
    rows = imported(session, ("a", None), ("b", "gone"), ("c", "c"))
    assert [row.parent for row in rows] == [None, None, None]
    assert [row.raw_parent_id for row in rows] == [None, "gone", "c"]


def test_a_parent_may_be_written_later_in_an_imported_file(session: Session) -> None:
    rows = imported(session, ("child", "root"), ("root", None))
    assert rows[0].parent == rows[1]
    assert ids(entry_log.path_to(rows[0])) == ["root", "child"]


def test_where_an_id_is_repeated_the_one_written_last_is_meant(session: Session) -> None:
    rows = imported(session, ("a", None), ("a", None), ("b", "a"))
    assert rows[2].parent == rows[1]
    assert entry_log.find_by_id(session.pk, "a") == rows[1]


def test_a_circle_of_parents_is_refused_and_nothing_is_written(session: Session) -> None:
    with pytest.raises(CyclicTree):
        imported(session, ("a", "b"), ("b", "a"))
    assert session.entries.count() == 0


def test_siblings_know_their_place(session: Session) -> None:
    rows = imported(
        session, ("root", None), ("one", "root"), ("two", "root"), ("three", "root"), ("alone", "one")
    )
    found = entry_log.siblings(rows)
    assert set(found) == {rows[1].pk, rows[2].pk, rows[3].pk}
    middle = found[rows[2].pk]
    assert (middle.index, middle.count, middle.previous, middle.next) == (2, 3, rows[1].pk, rows[3].pk)


def test_going_down_takes_the_newest_child_at_every_fork(session: Session) -> None:
    rows = imported(
        session, ("root", None), ("old", "root"), ("new", "root"), ("old tip", "old"), ("new tip", "new")
    )
    assert entry_log.newest_below(rows[0]).entry_id == "new tip"
    assert entry_log.newest_below(rows[1]).entry_id == "old tip"
    assert entry_log.newest_below(rows[4]) == rows[4]


def test_loading_the_context_reads_no_more_rows_in_an_old_session(session: Session) -> None:
    """Cost follows the active context: the same tail behind 20 and behind 400 entries."""

    def queries_and_rows(before: int) -> tuple[int, int]:
        fresh = Session.objects.create(workspace=session.workspace, owner=session.owner, file_id=f"s{before}")
        nodes = [(f"e{i}", f"e{i - 1}" if i else None) for i in range(before)]
        imported(fresh, *nodes)
        entry_log.append(fresh.pk, compaction(f"e{before - 2}"))
        entry_log.append(fresh.pk, user("go on"))
        fresh.refresh_from_db()
        with CountedRows() as counted:
            entry_log.load_context(fresh)
        return counted.queries, counted.rows

    assert queries_and_rows(20) == queries_and_rows(400)


class CountedRows:
    """Counts queries and the entry rows they gave."""

    def __enter__(self) -> CountedRows:
        self.queries = 0
        self.rows = 0
        self._original = Entry.from_db
        counted = self

        def from_db(*args: Any, **kwargs: Any) -> Any:
            counted.rows += 1
            return counted._original(*args, **kwargs)

        def execute(run: Any, *args: Any) -> Any:
            counted.queries += 1
            return run(*args)

        Entry.from_db = from_db  # type: ignore[method-assign, assignment]
        self._wrapper = connection.execute_wrapper(execute)
        self._wrapper.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._wrapper.__exit__(*exc)
        Entry.from_db = self._original  # type: ignore[method-assign]


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_each_get_a_seq_of_their_own(session: Session) -> None:
    """B34: no "database is locked", no gap, no double."""
    writes = 200 if int(os.environ.get("AGENTWEB_EXAMPLES", "0")) >= 1000 else 15
    barrier = threading.Barrier(4)
    failures: list[BaseException] = []

    def write() -> None:
        try:
            barrier.wait()
            for number in range(writes):
                # Read and written in one: what a lock that is taken too late stumbles over.
                with write_transaction():
                    assert Entry.objects.filter(session=session).count() >= number
                    entry_log.append(session.pk, user(str(number)))
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert list(session.entries.order_by("seq").values_list("seq", flat=True)) == list(
        range(1, 4 * writes + 1)
    )
    assert Segment.objects.filter(session=session).count() == 1


def test_what_drawings_add_up_is_written_once(session: Session) -> None:
    usage = {"input": 7, "output": 3, "cost": {"total": 0.25}}
    message = {"role": "assistant", "content": [], "stopReason": "error", "usage": usage}
    entry = entry_log.append(session.pk, {"type": "message", "message": message})
    entry.refresh_from_db()
    assert (entry.face, entry.used, entry.cost) == ("e", 10, 0.25)


def test_what_was_written_is_never_written_again(session: Session) -> None:
    """01 ST-01: whatever follows: labels, edits, compactions, going back."""
    first = entry_log.append(session.pk, user("one"))
    entry_log.append(session.pk, answer("two"))
    before = list(session.entries.order_by("seq").values_list("entry_id", "payload", "parent_id"))
    entry_log.append(session.pk, {"type": "context_edit", "targetId": first.entry_id, "replacement": None})
    entry_log.append(session.pk, compaction(first.entry_id))
    go_to(session, None)
    entry_log.append(session.pk, user("another beginning"))
    rows = session.entries.order_by("seq").values_list("entry_id", "payload", "parent_id")
    assert list(rows)[:2] == before
    assert rows.count() == 5


def test_ids_are_eight_hex_digits_and_never_twice_in_a_session(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """01 ST-03: a whole UUID after a hundred collisions."""
    first = entry_log.append(session.pk, user("one"))
    assert re.fullmatch("[0-9a-f]{8}", first.entry_id)
    numbers = iter([*[uuid.UUID(first.entry_id + "0" * 24)] * 3, *[uuid.uuid4()] * 200])
    monkeypatch.setattr(uuid, "uuid4", lambda: next(numbers))
    second = entry_log.append(session.pk, user("two"))
    assert re.fullmatch("[0-9a-f]{8}", second.entry_id)
    assert second.entry_id != first.entry_id
    third = entry_log.append(session.pk, user("three"))
    assert str(uuid.UUID(third.entry_id)) == third.entry_id


def test_a_title_is_one_line_without_control_characters(session: Session) -> None:
    """B50: no colours, no terminal titles, no turned reading direction."""
    entry_log.append(session.pk, user("\x1b]0;owned\x07\x1b[31mFix\r\n\u202ethe\x08 clock\x9b"))
    session.refresh_from_db()
    assert session.title.isprintable()
    assert "Fix" in session.title
    entry_log.append(session.pk, {"type": "session_info", "name": "A\x1b[31m\r\nname"})
    session.refresh_from_db()
    assert session.name.isprintable()


def test_a_compaction_behind_an_imported_path_with_a_doubled_id_keeps_from_the_first(
    session: Session,
) -> None:
    """01 §5: as the projection finds it, from the root on."""
    imported(session, ("a", None), ("x", "a"), ("b", "x"))
    # Look-ups find the later of two entries with one id, so a file's path never holds both: this one is made so.
    rows = {entry.seq: entry for entry in session.entries.all()}
    Entry.objects.filter(pk=rows[3].pk).update(entry_id="x", payload=rows[3].payload.replace('"b"', '"x"'))
    session.refresh_from_db()
    entry_log.append(session.pk, compaction("x"))
    session.refresh_from_db()
    assert session.leaf is not None
    assert session.leaf.kept_seq == 2
    path = [entry.as_core() for entry in entry_log.path_to(session.leaf)]
    assert entry_log.load_context(session).messages == project(path).messages


def test_after_a_large_import_the_database_counts_its_tables_again(session: Session) -> None:
    """PostgreSQL planned pages of a new session by tables that were small: they took a minute. SQLite needs nothing."""
    records = [
        CoreEntry({"type": "message", "id": f"e{n}", "parentId": f"e{n - 1}" if n else None, "message": {"role": "user", "content": "x", "timestamp": 1}}, n + 1)
        for n in range(1_000)
    ]  # fmt: skip
    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        entry_log.import_records(session, records)
    counted = [query["sql"] for query in queries if query["sql"].startswith("ANALYZE")]
    assert len(counted) == (2 if connection.vendor == "postgresql" else 0)
