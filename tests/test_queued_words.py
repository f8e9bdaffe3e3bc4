"""Words that wait: delivered one at a time or all at once, and the queues told whole at each change."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.services import runs
from tests.staging import Stage, stage

__all__ = ["stage"]

Json = dict[str, Any]

pytestmark = pytest.mark.django_db(transaction=True)


def queued(stage: Stage, text: str, mode: str) -> int:
    found = runs.submit_prompt(session=stage.session, author=stage.author, text=text, mode=mode).queued
    assert found is not None
    return found.pk


def spoken(stage: Stage) -> list[str]:
    return [
        str(m["content"]) if m["role"] == "user" else "answer"
        for m in stage.context()
        if m["role"] != "system"
    ]


def with_two_of_each(stage: Stage) -> Any:
    def answer(request: Any) -> list[Json]:
        for mode in ("steer", "follow_up"):
            for number in (1, 2):
                queued(stage, f"{mode} {number}", mode)
        return [{"text": "one"}]

    return answer


@pytest.mark.parametrize(
    ("steering", "follow_up", "order"),
    [
        ("one-at-a-time", "one-at-a-time",
         ["steer 1", "answer", "steer 2", "answer", "follow_up 1", "answer", "follow_up 2", "answer"]),
        ("all", "one-at-a-time", ["steer 1", "steer 2", "answer", "follow_up 1", "answer", "follow_up 2", "answer"]),
        ("one-at-a-time", "all",
         ["steer 1", "answer", "steer 2", "answer", "follow_up 1", "follow_up 2", "answer"]),
    ],
)  # fmt: skip
def test_each_queue_is_said_one_at_a_time_or_all_at_once(
    stage: Stage, settings: Any, steering: str, follow_up: str, order: list[str]
) -> None:
    """04 QU-02."""
    settings.STEERING_MODE, settings.FOLLOW_UP_MODE = steering, follow_up
    run = stage.prompt("Go.", with_two_of_each(stage))
    assert run.status == "completed"
    assert spoken(stage) == ["Go.", "answer", *order]
    assert not stage.session.queue.exists()


def test_every_change_tells_both_queues_whole(stage: Stage) -> None:
    """04 QU-05: and words that are said leave them."""

    def answer(request: Any) -> list[Json]:
        first, second = queued(stage, "one", "steer"), queued(stage, "two", "steer")
        later = queued(stage, "later", "follow_up")
        runs.edit_queued(session=stage.session, author=stage.author, queued_id=later, text="much later")
        runs.reorder_queued(session=stage.session, author=stage.author, queued_id=second, up=True)
        runs.remove_queued(session=stage.session, author=stage.author, queued_id=first)
        return [{"text": "ok"}]

    stage.prompt("Go.", answer)
    told = [(event["steering"], event["followUp"]) for event in stage.told("queue_update")]
    assert told == [
        (["one"], []),
        (["one", "two"], []),
        (["one", "two"], ["later"]),
        (["one", "two"], ["much later"]),
        (["two", "one"], ["much later"]),
        (["two"], ["much later"]),
        ([], ["much later"]),
        ([], []),
    ]


def test_words_that_come_back_with_a_stop_leave_the_queues(stage: Stage) -> None:
    """04 QU-05, QU-08."""
    runs.submit_prompt(session=stage.session, author=stage.author, text="Go.")
    queued(stage, "wait", "steer")
    stopped = runs.stop_run(session=stage.session, author=stage.author, return_queue=True)
    assert stopped.returned_text == "wait"
    assert not stage.session.queue.exists()
