"""Two at once, with barriers: compactions, moves, cancels, labels and deletions against a run, on either database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from sessions_app import integrity
from sessions_app.models import CompactionAttempt, Run
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.runner.work import carry_out
from sessions_app.services import compaction, navigation, runs, sessions
from sessions_app.services.errors import Conflict, ServiceError
from tests.staging import SUMMARY, Stage, assistant, stage, user, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 4


def history(stage: Stage) -> None:
    stage.say(
        user("Plan the mill."), assistant(words(5_000)), user("And the wheel."), assistant(words(1_200))
    )


def together(*actions: Callable[[], Any]) -> list[Any]:
    """Every action in a thread of its own, let go at the same moment; what they gave or raised."""
    barrier = threading.Barrier(len(actions))
    results: list[Any] = [None] * len(actions)

    def run(index: int, action: Callable[[], Any]) -> None:
        try:
            barrier.wait(10)
            results[index] = action()
        except ServiceError as error:
            results[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index, action)) for index, action in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


def sound(stage: Stage) -> None:
    assert integrity.check_session(stage.session.pk).findings == []


def test_two_compactions_at_once_are_one(stage: Stage) -> None:
    """B16."""
    for _ in range(ROUNDS):
        history(stage)
        compact = lambda: compaction.compact_session(session=stage.session, author=stage.author)  # noqa: E731
        results = together(compact, compact)
        assert sorted(type(result).__name__ for result in results) == ["Conflict", "Run"]
        stage.carry_out_all()
        assert stage.kinds()[-1] == "compaction"
    assert CompactionAttempt.objects.filter(outcome="compacted").count() == ROUNDS
    sound(stage)


def test_two_workers_carry_a_compaction_out_once(stage: Stage) -> None:
    """B33."""
    history(stage)
    run = compaction.compact_session(session=stage.session, author=stage.author)
    together(lambda: carry_out(run.pk), lambda: carry_out(run.pk))
    assert stage.kinds().count("compaction") == 1
    assert CompactionAttempt.objects.count() == 1


def test_a_prompt_and_a_compaction_at_once_leave_one_active_run(stage: Stage) -> None:
    """B26."""
    for number in range(ROUNDS):
        history(stage)
        results = together(
            lambda: compaction.compact_session(session=stage.session, author=stage.author),
            lambda: runs.submit_prompt(session=stage.session, author=stage.author, text="Next."),
        )
        assert not any(isinstance(result, Exception) for result in results), (number, results)
        assert Run.objects.active().filter(session=stage.session).count() == 1
        stage.carry_out_all()
        assert "Next." in str(stage.context())
    sound(stage)


def test_nobody_moves_away_from_a_running_run(stage: Stage) -> None:
    """B21: navigate during run."""
    history(stage)
    first = stage.session.entries.order_by("seq")[0]
    refused: list[bool] = []

    def meanwhile(request: Any) -> list[dict[str, Any]]:
        (result,) = together(
            lambda: navigation.navigate(session=stage.session, author=stage.author, entry=first)
        )
        refused.append(isinstance(result, Conflict))
        return [{"text": "Done."}]

    stage.prompt("Next.", meanwhile)
    assert refused == [True]
    assert stage.kinds()[-2:] == ["user", "assistant"]


def test_a_move_and_a_prompt_at_once_never_mix(stage: Stage) -> None:
    """B21: whoever is first; the other sees it."""
    for _ in range(ROUNDS):
        history(stage)
        target = stage.session.entries.order_by("-seq")[2]
        move, sent = together(
            lambda target=target: navigation.navigate(
                session=stage.session, author=stage.author, entry=target
            ),  # type: ignore[misc]
            lambda: runs.submit_prompt(session=stage.session, author=stage.author, text="Here."),
        )
        assert not isinstance(sent, Exception)
        parent = sent.entry.parent
        if isinstance(move, Conflict):
            assert parent.seq > target.seq
        else:
            assert parent is None or parent.pk == (move.leaf.pk if move.leaf else None)
        stage.carry_out_all()
    sound(stage)


def test_cancel_against_commit_is_either_one_or_the_other(stage: Stage) -> None:
    """B17: an entry and completed, or none and stopped."""
    seen = set()
    for _ in range(ROUNDS * 2):
        history(stage)
        before = stage.session.entries.filter(kind="compaction").count()
        asked = threading.Event()

        def answered(request: Any, asked: threading.Event = asked) -> list[dict[str, Any]]:
            asked.set()
            return [{"text": SUMMARY}]

        stage.summaries = [answered, answered]
        run = compaction.compact_session(session=stage.session, author=stage.author)
        thread = stage.in_thread(run)
        assert asked.wait(10)
        runs.stop_run(session=stage.session, author=stage.author)
        heartbeat.beat()
        thread.join(20)
        run.refresh_from_db()
        written = stage.session.entries.filter(kind="compaction").count() - before
        assert (run.status, written) in {("completed", 1), ("stopped", 0)}
        seen.add(run.status)
        stage.session.refresh_from_db()
    assert seen <= {"completed", "stopped"}
    sound(stage)


def test_labels_given_all_through_a_compaction_disturb_nothing(stage: Stage) -> None:
    history(stage)
    first = stage.session.entries.order_by("seq")[0]
    run = compaction.compact_session(session=stage.session, author=stage.author)

    def label() -> None:
        for number in range(20):
            sessions.set_label(
                session=stage.session, author=stage.author, entry=first, label=f"label {number}"
            )

    together(lambda: stage.carry_out(run), label)
    run.refresh_from_db()
    assert (run.status, run.error) == ("completed", "")
    assert stage.kinds().count("compaction") == 1
    assert stage.kinds().count("label") == 20
    sound(stage)


def test_going_to_another_branch_against_a_prompt(stage: Stage) -> None:
    """A branch summary's run and a prompt at once: the words are queued and delivered where it ends."""
    stage.configure(enabled=False)
    for _ in range(ROUNDS):
        history(stage)
        target = stage.session.entries.order_by("-seq")[3]
        move, sent = together(
            lambda target=target: navigation.navigate(  # type: ignore[misc]
                session=stage.session, author=stage.author, entry=target, summarise="summarise"
            ),
            lambda: runs.submit_prompt(session=stage.session, author=stage.author, text="Here."),
        )
        assert not isinstance(sent, Exception)
        assert isinstance(move, Conflict) == (sent.queued is None)
        stage.carry_out_all()
        assert stage.kinds()[-2:] == ["user", "assistant"]
    sound(stage)


def test_two_prompts_at_once_start_one_run_and_both_are_answered(stage: Stage) -> None:
    """B26: from two tabs, in the same moment."""
    for number in range(ROUNDS):
        sent = together(
            lambda number=number: runs.submit_prompt(  # type: ignore[misc]
                session=stage.session, author=stage.author, text=f"first {number}"
            ),
            lambda number=number: runs.submit_prompt(  # type: ignore[misc]
                session=stage.session, author=stage.author, text=f"second {number}"
            ),
        )
        assert sorted(type(result).__name__ for result in sent) == ["Submission"] * 2
        assert [result.run is None for result in sent].count(True) == 1
        assert Run.objects.active().filter(session=stage.session).count() == 1
        stage.carry_out_all()
        assert {"first", "second"} <= {
            str(m["content"]).split()[0] for m in stage.context() if m["role"] == "user"
        }
    assert not stage.session.queue.exists()
    sound(stage)
