"""Words that wait: delivered one at a time or all at once, and the queues told whole at each change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions_app.agent.hooks import Hooks
from sessions_app.services import runs
from sessions_app.services.errors import BadInput
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


def test_words_for_the_next_turn_wait_for_the_next_prompt(stage: Stage) -> None:
    """04 QU-06: a run neither says them nor waits for them, a stop leaves them."""

    def answer(request: Any) -> list[Json]:
        runs.hold_queued(
            session=stage.session, author=stage.author, queued_id=queued(stage, "held", "follow_up")
        )
        return [{"text": "one"}]

    assert queued(stage, "left before", "next_turn")
    assert stage.prompt("Go.", answer).status == "completed"
    assert spoken(stage) == ["Go.", "left before", "answer"]
    assert [item.text for item in stage.session.queue.all()] == ["held"]
    runs.stop_run(session=stage.session, author=stage.author, return_queue=True)
    assert stage.prompt("More.").status == "completed"
    assert spoken(stage) == ["Go.", "left before", "answer", "More.", "held", "answer"]
    assert not stage.session.queue.exists()


def test_queued_words_are_expanded_when_they_are_queued(stage: Stage, settings: Any, tmp_path: Path) -> None:
    """04 §1.7, QU-04: skills and templates of the agent's folder; names nobody has stay as they are."""
    settings.AGENT_DIR = tmp_path
    for name, text in {
        "prompts/review.md": "Review $1 well.",
        "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF\n---\nUse pdftotext.",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)

    def answer(request: Any) -> list[Json]:
        pk = queued(stage, "/review b.py", "follow_up")
        runs.edit_queued(session=stage.session, author=stage.author, queued_id=pk, text="/review c.py")
        return [{"text": "one"}]

    stage.prompt("/review a.py", answer)
    stage.prompt("/skill:pdf now")
    stage.prompt("/nobody knows")
    said = [words for words in spoken(stage) if words != "answer"]
    assert said[:2] == ["Review a.py well.", "Review c.py well."]
    assert "Use pdftotext." in said[2]
    assert said[2].endswith("\n\nnow")
    assert said[3] == "/nobody knows"
    assert "Reads PDF" in stage.requests[0].system


def test_what_an_extensions_command_does_is_done_at_once_and_never_queued(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """04 §1.4, QU-04: also while an agent works, and no input hook hears of it."""
    hooks, heard, done = Hooks(), [], []
    hooks.add("input", lambda event: heard.append(event["text"]))
    hooks.add_command("tally", done.append)
    hooks.add_command("fail", lambda words: 1 / 0)
    monkeypatch.setattr(runs, "hooks_of", lambda session: hooks)

    def answer(request: Any) -> list[Json]:
        said = runs.submit_prompt(session=stage.session, author=stage.author, text="/tally of all")
        assert (said.run, said.entry, said.queued) == (None, None, None)
        assert runs.submit_prompt(session=stage.session, author=stage.author, text="/fail").run is None
        pk = queued(stage, "later", "follow_up")
        with pytest.raises(BadInput, match="cannot wait"):
            runs.edit_queued(session=stage.session, author=stage.author, queued_id=pk, text="/tally")
        return [{"text": "one"}]

    stage.prompt("Go.", answer)
    assert done == ["of all"]
    assert heard == ["Go.", "later"]
    assert spoken(stage) == ["Go.", "answer", "later", "answer"]
