"""Tools that ask first: a run that waits for a person holds no worker, and goes on when it is answered."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from sessions_app import live
from sessions_app.consumers.page_news import Shown, read_news
from sessions_app.core.messages import text_of
from sessions_app.models import Membership, Question, Run, Session
from sessions_app.runner import recovery
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.services import questions, runs, sessions
from sessions_app.services.errors import BadInput, Conflict
from tests.staging import Stage, stage

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

__all__ = ["stage"]

Json = dict[str, Any]


def bash(command: str, call_id: str = "b1") -> Json:
    return {"call": "bash", "arguments": {"command": command}, "id": call_id}


def write(path: str, content: str, call_id: str = "w1") -> Json:
    return {"call": "write", "arguments": {"path": path, "content": content}, "id": call_id}


@pytest.fixture(autouse=True)
def _asks_first(stage: Stage) -> None:
    Session.objects.filter(pk=stage.session.pk).update(tool_preset="ask")
    stage.session.refresh_from_db()


def folder(stage: Stage) -> Path:
    return Path(stage.session.workspace.path)


def answer(stage: Stage, text: str, *, at: int = 0) -> None:
    asked = questions.open_questions(stage.session)[at]
    questions.answer_question(session=stage.session, author=stage.author, question_id=asked.pk, answer=text)


def results(stage: Stage) -> list[Json]:
    rows = stage.session.entries.filter(role="toolResult").order_by("seq")
    return [row.record["message"] for row in rows]


def test_a_run_that_asks_holds_no_worker_and_has_done_nothing(stage: Stage) -> None:
    run = stage.prompt("Make it.", [{"text": "I make it."}, bash("touch made")])
    assert (run.status, run.owner, run.lease_until) == ("asking", "", None)
    assert heartbeat.active_count() == 0
    assert not (folder(stage) / "made").exists()
    assert stage.kinds() == ["user", "assistant"]
    asked = questions.open_questions(stage.session)[0]
    assert (asked.tool, json.loads(asked.arguments)) == ("bash", {"command": "touch made"})
    assert recovery.sweep(lambda run_id: None) == 0


def test_an_allowed_call_is_carried_out_and_the_run_goes_on(stage: Stage) -> None:
    run = stage.prompt(
        "Make it.", [{"text": "I make it."}, bash("touch made; echo done")], [{"text": "Made."}]
    )
    answer(stage, "allow")
    run.refresh_from_db()
    assert run.status == "queued"
    assert stage.carry_out(run).status == "completed"
    assert (folder(stage) / "made").exists()
    assert stage.kinds() == ["user", "assistant", "toolResult", "assistant"]
    assert run.turns == 2
    # One pass from its start to its end, whatever was in between (04 §1).
    names = [event["type"] for event in stage.events]
    assert (names.count("agent_start"), names.count("agent_end"), names.count("run_end")) == (1, 1, 1)
    assert [event["type"] for event in stage.events if event["type"].startswith("extension_ui")] == [
        "extension_ui_request",
        "extension_ui_response",
    ]


def test_a_denied_call_gets_a_result_that_says_so(stage: Stage) -> None:
    """04 TX-03: every call gets exactly one result."""
    run = stage.prompt("Make it.", [bash("touch made")], [{"text": "As you like."}])
    answer(stage, "deny")
    stage.carry_out(run)
    assert not (folder(stage) / "made").exists()
    assert [result["isError"] for result in results(stage)] == [True]
    assert "did not allow" in text_of(results(stage)[0]["content"])
    assert "durationMs" not in results(stage)[0]


def test_only_what_changes_something_asks_and_all_of_a_batch_waits(stage: Stage) -> None:
    (folder(stage) / "a.txt").write_text("one\n")
    calls = [{"call": "read", "arguments": {"path": "a.txt"}, "id": "r"}, bash("echo b"), write("c.txt", "c")]
    run = stage.prompt("Do.", calls)
    assert [asked.tool for asked in questions.open_questions(stage.session)] == ["bash", "write"]
    answer(stage, "allow")
    run.refresh_from_db()
    assert run.status == "asking"
    answer(stage, "deny")
    stage.carry_out(run)
    assert [(result["toolCallId"], result["isError"]) for result in results(stage)] == [
        ("r", False), ("b1", False), ("w1", True),
    ]  # fmt: skip


def test_reading_alone_never_asks(stage: Stage) -> None:
    run = stage.prompt("Look.", [{"call": "ls", "arguments": {}, "id": "l"}], [{"text": "Empty."}])
    assert run.status == "completed"


def test_allowing_for_the_run_asks_no_more_for_that_tool(stage: Stage) -> None:
    run = stage.prompt(
        "Do.",
        [bash("echo 1"), bash("echo 2", "b2")],
        [bash("echo 3", "b3")],
        [write("x", "x")],
        [{"text": "Done."}],
    )
    answer(stage, "allow_run")
    assert questions.open_questions(stage.session) == []
    stage.carry_out(run)
    assert [asked.tool for asked in questions.open_questions(stage.session)] == ["write"]
    answer(stage, "allow")
    assert stage.carry_out(run).status == "completed"
    # The next run asks again.
    later = stage.prompt("Again.", [bash("echo 4", "b4")])
    assert later.status == "asking"


def test_a_call_that_cannot_work_is_refused_without_a_question(stage: Stage) -> None:
    run = stage.prompt("Do.", [{"call": "bash", "arguments": {"cmd": "ls"}, "id": "b"}], [{"text": "Sorry."}])
    assert run.status == "completed"
    assert results(stage)[0]["isError"]


def test_the_question_shows_what_a_file_would_become(stage: Stage, alice_client: Client) -> None:
    (folder(stage) / "a.txt").write_text("one\ntwo\n")
    edits = [{"oldText": "two", "newText": "zwei"}]
    stage.prompt("Edit.", [{"call": "edit", "arguments": {"path": "a.txt", "edits": edits}, "id": "e"}])
    page = alice_client.get(f"/s/{stage.session.key}/").content.decode()
    assert 'id="question-' in page
    assert "diff__row--add" in page
    assert "zwei" in page
    assert "Waits for your answer" in page
    assert (folder(stage) / "a.txt").read_text() == "one\ntwo\n"


def test_a_change_that_would_fail_is_said_on_its_card(stage: Stage, alice_client: Client) -> None:
    edits = [{"oldText": "two", "newText": "zwei"}]
    stage.prompt("Edit.", [{"call": "edit", "arguments": {"path": "gone.txt", "edits": edits}, "id": "e"}])
    assert "it would fail" in alice_client.get(f"/s/{stage.session.key}/").content.decode()


def test_nobody_answering_counts_as_no(stage: Stage) -> None:
    run = stage.prompt("Make it.", [bash("touch made")], [{"text": "I wait."}])
    Question.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert recovery.sweep(lambda run_id: None) == 1
    assert recovery.sweep(lambda run_id: None) == 0
    assert stage.carry_out(run).status == "completed"
    assert "Nobody answered" in text_of(results(stage)[0]["content"])
    assert not (folder(stage) / "made").exists()


def test_the_second_answer_is_refused(stage: Stage) -> None:
    run = stage.prompt("Make it.", [bash("echo 1")], [{"text": "Done."}])
    asked = questions.open_questions(stage.session)[0]
    answer(stage, "deny")
    with pytest.raises(Conflict):
        questions.answer_question(
            session=stage.session, author=stage.author, question_id=asked.pk, answer="allow"
        )
    with pytest.raises(BadInput):
        questions.answer_question(
            session=stage.session, author=stage.author, question_id=asked.pk, answer="maybe"
        )
    stage.carry_out(run)
    assert "did not allow" in text_of(results(stage)[0]["content"])


def test_stop_ends_a_run_that_asks_with_a_result_for_each_call(stage: Stage) -> None:
    """B41."""
    run = stage.prompt("Make it.", [bash("touch made"), write("x", "x")])
    runs.stop_run(session=stage.session, author=stage.author)
    assert stage.carry_out(run).status == "stopped"
    assert [result["isError"] for result in results(stage)] == [True, True]
    assert questions.open_questions(stage.session) == []
    assert not (folder(stage) / "made").exists()


def test_words_sent_meanwhile_wait_and_are_said_after_the_results(stage: Stage) -> None:
    """04 QU-01, B43: nothing comes between a call and its result."""
    run = stage.prompt("Make it.", [bash("echo 1")], [{"text": "Done."}])
    said = runs.submit_prompt(session=stage.session, author=stage.author, text="Use tabs.")
    assert said.queued is not None
    answer(stage, "allow")
    stage.carry_out(run)
    assert stage.kinds() == ["user", "assistant", "toolResult", "user", "assistant"]


def test_a_process_in_the_background_lives_on_while_the_run_waits(stage: Stage) -> None:
    starts = bash("sleep 300 & echo $! >pid")
    run = stage.prompt("Serve.", [starts], [write("x", "x")], [{"text": "Done."}])
    answer(stage, "allow")
    stage.carry_out(run)
    assert run.status == "asking"
    process = Path("/proc") / (folder(stage) / "pid").read_text().strip() / "cmdline"
    assert process.exists()
    answer(stage, "deny")
    stage.carry_out(run)
    assert not process.exists() or not process.read_bytes()


def test_the_time_a_person_takes_does_not_count(stage: Stage) -> None:
    run = stage.prompt("Make it.", [bash("echo 1")], [{"text": "Done."}])
    Run.objects.filter(pk=run.pk).update(max_seconds=60, started_at=timezone.now() - timedelta(hours=2))
    Question.objects.update(created_at=timezone.now() - timedelta(hours=2))
    answer(stage, "allow")
    assert stage.carry_out(run).status == "completed"


def test_a_ceiling_of_turns_counts_those_before_the_question(stage: Stage) -> None:
    run = runs.submit_prompt(session=stage.session, author=stage.author, text="Go.").run
    assert run is not None
    Run.objects.filter(pk=run.pk).update(max_turns=2)
    stage.answers.extend([[bash("echo 1")], [bash("echo 2", "b2")], [{"text": "Never said."}]])
    stage.carry_out(run)
    answer(stage, "allow")
    stage.carry_out(run)
    answer(stage, "allow")
    assert stage.carry_out(run).status == "limited"
    assert run.turns == 2


def test_a_viewer_sees_the_question_and_cannot_answer(stage: Stage, bob: User, bob_client: Client) -> None:
    Membership.objects.filter(user=bob).update(role=Membership.Role.VIEWER)
    stage.prompt("Make it.", [bash("touch made")])
    asked = questions.open_questions(stage.session)[0]
    page = bob_client.get(f"/s/{stage.session.key}/").content.decode()
    assert "touch made" in page
    assert 'data-answer="y"' not in page
    address = f"/s/{stage.session.key}/questions/{asked.pk}/"
    assert bob_client.post(address, {"answer": "allow"}).status_code == 403
    assert bob_client.post(f"/s/{stage.session.key}/tools/", {"tools": "all"}).status_code == 403
    assert len(questions.open_questions(stage.session)) == 1


def test_any_browser_may_answer_and_all_are_told(
    stage: Stage,
    bob_client: Client,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    heard: list[str] = []
    monkeypatch.setattr(live, "notify", lambda session_id, kind, **facts: heard.append(kind))
    stage.prompt("Make it.", [bash("echo 1"), write("x", "x")])
    assert "run" in heard
    news = read_news(alice, stage.session.pk, Shown(), ())
    assert news is not None
    parts = {frame["target"]: frame["html"] for frame in news.frames if frame["t"] == "part"}
    assert "question-card" in parts["questions"]
    heard.clear()
    asked = questions.open_questions(stage.session)[0]
    address = f"/s/{stage.session.key}/questions/{asked.pk}/"
    with django_capture_on_commit_callbacks(execute=True):
        response = bob_client.post(address, {"answer": "allow"}, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert "question" in heard
    assert f"question-{asked.pk}" not in response.content.decode()
    asked.refresh_from_db()
    assert (asked.answer, asked.answered_by and asked.answered_by.username) == ("allow", "bob")


@pytest.mark.parametrize(
    ("preset", "names"),
    [
        ("read_only", ["read", "grep", "find", "ls"]),
        ("edit", ["read", "edit", "write", "grep", "find", "ls"]),
        ("all", ["read", "bash", "edit", "write", "grep", "find", "ls"]),
        ("ask", ["read", "bash", "edit", "write", "grep", "find", "ls"]),
    ],
)
def test_a_preset_decides_which_tools_the_model_gets(stage: Stage, preset: str, names: list[str]) -> None:
    sessions.choose_tools(session=stage.session, author=stage.author, preset=preset)
    stage.prompt("Hello.")
    assert [tool.name for tool in stage.requests[-1].tools] == names
    declared = [e.record["message"] for e in stage.session.entries.filter(role="system")]
    assert sorted(tool["name"] for tool in declared[-1]["toolsAdded"]) == sorted(names)


def test_tools_chosen_within_a_job_count_from_the_next_turn(stage: Stage) -> None:
    """04 §1: a system message declares what has changed before the next request."""
    sessions.choose_tools(session=stage.session, author=stage.author, preset="all")

    def switching(request: Any) -> list[Json]:
        sessions.choose_tools(session=stage.session, author=stage.author, preset="read_only")
        return [{"call": "ls", "arguments": {}, "id": "l"}]

    stage.prompt("Look.", switching, [bash("touch made")], [{"text": "I may not."}])
    assert [tool.name for tool in stage.requests[1].tools] == ["read", "grep", "find", "ls"]
    assert "There is no tool named 'bash'" in text_of(results(stage)[1]["content"])
    removed = [e.record["message"] for e in stage.session.entries.filter(role="system")][-1]
    assert sorted(tool["name"] for tool in removed["toolsRemoved"]) == ["bash", "edit", "write"]


def test_an_unknown_choice_of_tools_is_refused(stage: Stage) -> None:
    with pytest.raises(BadInput):
        sessions.choose_tools(session=stage.session, author=stage.author, preset="everything")
