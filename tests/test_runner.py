"""Runs: claimed once, stored message by message, ended whatever comes."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from sessions_app.agent.hooks import Hooks
from sessions_app.agent.partial_answer import Unfinished
from sessions_app.agent.providers.base import ToolSpec
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.sandboxes.processes import living
from sessions_app.agent.stop import StopSignal
from sessions_app.models import Blob, BlobUse, Entry, QueuedMessage, Run, Session
from sessions_app.runner import active_run, prompt_run, recovery
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.runner.work import carry_out as carry_out_run
from sessions_app.services import runs

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Json = dict[str, Any]
LS = ToolSpec("ls", "lists", {"type": "object"})
Play = Callable[..., Run]


@pytest.fixture(autouse=True)
def the_heart_beats_when_the_test_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "start", lambda: None)


@pytest.fixture
def play(session: Session, alice: User, tmp_path: Path, settings: Any) -> Play:
    """Send a prompt and carry it out with a script's answers; gives the run as it ended."""
    settings.ALLOW_LOCAL_EXECUTION = True
    numbers = iter(range(1000))

    def prepare(*answers: list[Json], text: str = "Do it") -> Run:
        script = tmp_path / f"script-{next(numbers)}.json"
        script.write_text(json.dumps({"answers": answers}))
        settings.SCRIPTED_PROVIDER_FILE = str(script)
        Session.objects.filter(pk=session.pk).update(provider="scripted", model="scripted")
        session.refresh_from_db()
        run = runs.submit_prompt(session=session, author=alice, text=text).run
        assert run is not None
        return run

    def carry_out(*answers: list[Json], text: str = "Do it") -> Run:
        run = prepare(*answers, text=text)
        carry_out_run(run.pk)
        run.refresh_from_db()
        return run

    carry_out.prepare = prepare  # type: ignore[attr-defined]
    return carry_out


def in_thread(run: Run) -> threading.Thread:
    def work() -> None:
        try:
            carry_out_run(run.pk)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def until(condition: Callable[[], Any], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def messages(session: Session) -> list[Json]:
    return [entry.record["message"] for entry in session.entries.filter(kind="message").order_by("seq")]


def roles(session: Session) -> list[str]:
    return [message["role"] for message in messages(session) if message["role"] != "system"]


def test_an_answer_is_stored_and_the_run_completed(play: Play, session: Session) -> None:
    run = play([{"text": "Hello there."}])
    assert (run.status, run.error, run.lease_until, run.checkpoint) == ("completed", "", None, "")
    assert roles(session) == ["user", "assistant"]
    assert messages(session)[-1]["content"] == [{"type": "text", "text": "Hello there."}]
    assert session.entries.last().run == run  # type: ignore[union-attr]


def test_tools_act_in_the_folder_and_their_results_are_stored(play: Play, session: Session) -> None:
    call = {"call": "write", "arguments": {"path": "made.txt", "content": "by the agent"}}
    play([{"text": "I write."}, call], [{"text": "Done."}])
    assert (Path(session.workspace.path) / "made.txt").read_text() == "by the agent"
    assert roles(session) == ["user", "assistant", "toolResult", "assistant"]
    result = messages(session)[-2]
    assert (result["toolName"], result["isError"]) == ("write", False)


def test_results_stand_in_the_order_of_their_calls(play: Play, session: Session) -> None:
    slow = {"call": "bash", "arguments": {"command": "sleep 0.3; echo slow"}, "id": "first"}
    quick = {"call": "bash", "arguments": {"command": "echo quick"}, "id": "second"}
    play([slow, quick], [{"text": "Both."}])
    found = [m["toolCallId"] for m in messages(session) if m["role"] == "toolResult"]
    assert found == ["first", "second"]


def test_a_second_delivery_of_the_same_run_does_nothing(play: Play, session: Session) -> None:
    """B33."""
    run = play([{"text": "Once."}])
    carry_out_run(run.pk)
    assert roles(session) == ["user", "assistant"]


def test_a_provider_error_ends_the_run_and_the_next_prompt_works(play: Play, session: Session) -> None:
    run = play([{"text": "Half a"}, {"error": "overloaded", "message": "Try later."}])
    assert (run.status, run.error_kind) == ("failed", "overloaded")
    assert "Try later." in run.error
    assert messages(session)[-1]["stopReason"] == "error"
    assert play([{"text": "Now it works."}]).status == "completed"


def test_a_missing_key_is_told_before_anything_is_asked(play: Play, session: Session, alice: User) -> None:
    """04 §1.8."""
    run = play.prepare([])  # type: ignore[attr-defined]
    Run.objects.filter(pk=run.pk).update(provider="anthropic", model="claude-haiku-4-5")
    carry_out_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.error_kind) == ("failed", "missing_key")
    assert "Models and keys" in run.error
    assert roles(session) == ["user"]


def test_a_folder_that_vanished_fails_the_run_with_a_remedy(play: Play, session: Session) -> None:
    Path(session.workspace.path).rmdir()
    run = play([{"text": "never"}])
    assert (run.status, run.error_kind) == ("failed", "missing_folder")
    assert "Put it back" in run.error


def test_a_ceiling_of_turns_ends_the_run_after_the_turn(play: Play, session: Session) -> None:
    run = play.prepare(  # type: ignore[attr-defined]
        [{"call": "ls", "arguments": {}}], [{"call": "ls", "arguments": {}}], [{"text": "end"}]
    )
    Run.objects.filter(pk=run.pk).update(max_turns=1)
    carry_out_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.error_kind) == ("limited", "turns")
    assert roles(session) == ["user", "assistant", "toolResult"]


def test_queued_messages_are_delivered_once_each_in_their_place(
    play: Play, session: Session, alice: User
) -> None:
    """04 QU-01."""
    run = play.prepare([{"call": "ls", "arguments": {}}], [{"text": "saw it"}], [{"text": "after"}])  # type: ignore[attr-defined]
    runs.submit_prompt(session=session, author=alice, text="later", mode="follow_up")
    runs.submit_prompt(session=session, author=alice, text="steer", mode="steer")
    carry_out_run(run.pk)
    assert not QueuedMessage.objects.exists()
    texts = [m["content"] for m in messages(session) if m["role"] == "user"]
    assert texts == ["Do it", "steer", "later"]
    assert Entry.objects.filter(role="user", author=alice).count() == 3
    run.refresh_from_db()
    assert run.status == "completed"


def test_a_failed_run_leaves_the_queue_where_people_see_it(play: Play, session: Session, alice: User) -> None:
    """04 §1.15."""
    run = play.prepare([{"error": "auth", "message": "No."}])  # type: ignore[attr-defined]
    runs.submit_prompt(session=session, author=alice, text="later", mode="follow_up")
    carry_out_run(run.pk)
    assert QueuedMessage.objects.get().text == "later"


def test_images_and_full_outputs_become_blobs(play: Play, session: Session) -> None:
    from PIL import Image

    Image.new("RGB", (3, 2), "red").save(Path(session.workspace.path) / "dot.png")
    long = {"call": "bash", "arguments": {"command": "seq 1 30000"}}
    look = {"call": "read", "arguments": {"path": "dot.png"}}
    play([look, long], [{"text": "seen"}])
    results = [m for m in messages(session) if m["role"] == "toolResult"]
    image = next(block for block in results[0]["content"] if block["type"] == "image")
    assert "data" not in image
    assert image["blob"] in Blob.objects.values_list("sha256", flat=True)
    assert results[1]["details"]["fullOutput"]["size"] > 100_000
    assert "fullOutputPath" not in results[1]["details"]
    assert BlobUse.objects.filter(entry__session=session).count() == 2


def test_nul_bytes_of_a_tool_are_stored_as_something_every_database_takes(
    play: Play, session: Session
) -> None:
    """B35."""
    play([{"call": "bash", "arguments": {"command": "printf 'a\\0b'"}}], [{"text": "ok"}])
    assert "\0" not in json.dumps(messages(session))


# --- stopping ---


@pytest.mark.django_db(transaction=True)
def test_stop_ends_a_blocked_provider_and_keeps_what_came(play: Play, session: Session, alice: User) -> None:
    """04 §6.1."""
    run = play.prepare([{"text": "Some words"}, {"wait_for_stop": True}])  # type: ignore[attr-defined]
    thread = in_thread(run)
    until(lambda: heartbeat.active_count() == 1)
    time.sleep(0.2)
    runs.stop_run(session=session, author=alice)
    heartbeat.beat()
    thread.join(5)
    run.refresh_from_db()
    assert run.status == "stopped"
    last = messages(session)[-1]
    assert (last["stopReason"], last["content"][0]["text"]) == ("aborted", "Some words")


@pytest.mark.django_db(transaction=True)
def test_stop_in_a_batch_gives_every_call_its_result(play: Play, session: Session, alice: User) -> None:
    """B41, B44; 04 TX-03, §6.1."""
    command = {"command": "sleep 60 & sleep 60"}
    run = play.prepare([{"call": "bash", "arguments": command, "id": i} for i in "abc"])  # type: ignore[attr-defined]
    thread = in_thread(run)
    until(lambda: Run.objects.filter(pk=run.pk).exclude(marker="").exists())
    time.sleep(0.5)
    runs.stop_run(session=session, author=alice)
    heartbeat.beat()
    thread.join(8)
    results = [m["toolCallId"] for m in messages(session) if m["role"] == "toolResult"]
    assert results == ["a", "b", "c"]
    run.refresh_from_db()
    assert living(run.marker) == []


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_told_to_go_saves_and_marks_the_run_interrupted(
    play: Play, session: Session
) -> None:
    run = play.prepare([{"text": "Half"}, {"wait_for_stop": True}])  # type: ignore[attr-defined]
    thread = in_thread(run)
    until(lambda: heartbeat.active_count() == 1)
    time.sleep(0.2)
    try:
        heartbeat.shut_down()
        thread.join(5)
    finally:
        heartbeat.shutting_down = False
    run.refresh_from_db()
    assert run.status == "interrupted"
    assert messages(session)[-1]["content"][0]["text"] == "Half"


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_lost_its_lease_writes_nothing_more(play: Play, session: Session) -> None:
    run = play.prepare([{"text": "Half"}, {"wait_for_stop": True}], [{"text": "never"}])  # type: ignore[attr-defined]
    thread = in_thread(run)
    until(lambda: heartbeat.active_count() == 1)
    Run.objects.filter(pk=run.pk).update(owner="another worker")
    heartbeat.beat()
    thread.join(5)
    assert roles(session) == ["user"]
    run.refresh_from_db()
    assert run.status == "running"


# --- recovery ---


def dead_run(run: Run, unfinished: Unfinished | None = None) -> None:
    """As a worker leaves it that was killed 20 s ago."""
    Run.objects.filter(pk=run.pk).update(
        status="running",
        owner="dead",
        marker="no-such-process",
        lease_until=timezone.now() - timedelta(seconds=5),
        checkpoint=json.dumps(unfinished) if unfinished else "",
    )


def assistant(*content: Json, reason: str = "toolUse") -> Json:
    return {
        "role": "assistant",
        "content": list(content),
        "provider": "scripted",
        "model": "scripted",
        "stopReason": reason,
        "timestamp": 5,
    }


def test_the_partial_answer_of_a_dead_worker_is_kept(play: Play, session: Session) -> None:
    """B32."""
    run = play.prepare([])  # type: ignore[attr-defined]
    dead_run(
        run,
        {"answer": 1, "message": assistant({"type": "text", "text": "Two thousand words"}, reason="aborted")},
    )
    assert recovery.sweep(lambda _: None) == 1
    run.refresh_from_db()
    assert (run.status, run.checkpoint) == ("interrupted", "")
    last = messages(session)[-1]
    assert (last["stopReason"], last["content"][0]["text"]) == ("aborted", "Two thousand words")
    assert recovery.sweep(lambda _: None) == 0


def test_an_answer_that_was_stored_before_the_worker_died_is_not_stored_again(
    play: Play, session: Session
) -> None:
    run = play([{"text": "Whole."}])
    dead_run(run, {"answer": 1, "message": assistant({"type": "text", "text": "Whole."}, reason="aborted")})
    recovery.sweep(lambda _: None)
    assert roles(session) == ["user", "assistant"]


def test_open_calls_of_a_dead_worker_get_their_results_and_are_never_run_again(
    play: Play, session: Session
) -> None:
    from sessions_app import entry_log

    run = play.prepare([])  # type: ignore[attr-defined]
    calls = [{"type": "toolCall", "id": name, "name": "bash", "arguments": {}} for name in ("one", "two")]
    entry_log.append(session.pk, {"type": "message", "message": assistant(*calls)}, run=run)
    done = {"role": "toolResult", "toolCallId": "one", "toolName": "bash", "content": [], "isError": False}
    entry_log.append(session.pk, {"type": "message", "message": done}, run=run)
    entry_log.append(session.pk, {"type": "session_info", "name": "named meanwhile"})
    dead_run(run)
    recovery.sweep(lambda _: None)
    results = [(m["toolCallId"], m["isError"]) for m in messages(session) if m["role"] == "toolResult"]
    assert results == [("one", False), ("two", True)]


def test_a_queued_run_nobody_claimed_is_enqueued_again_once(play: Play, session: Session) -> None:
    run = play.prepare([])  # type: ignore[attr-defined]
    Run.objects.filter(pk=run.pk).update(enqueued_at=timezone.now() - timedelta(seconds=30))
    sent: list[int] = []
    recovery.sweep(sent.append)
    recovery.sweep(sent.append)
    assert sent == [run.pk]


def test_a_living_run_is_left_alone(play: Play, session: Session) -> None:
    run = play.prepare([])  # type: ignore[attr-defined]
    assert active_run.claim(run.pk) is not None
    assert recovery.sweep(lambda _: None) == 0
    assert recovery.close_interrupted(run.pk) == 0


def test_two_workers_claim_a_run_once(play: Play, session: Session) -> None:
    run = play.prepare([])  # type: ignore[attr-defined]
    assert active_run.claim(run.pk) is not None
    assert active_run.claim(run.pk) is None


# --- metadata while a run is active ---


@pytest.mark.django_db(transaction=True)
def test_labels_and_names_written_during_a_run_go_behind_its_tail_and_never_into_a_request(
    play: Play, session: Session, alice: User
) -> None:
    """B43: whatever comes between a call and its result is no message."""
    from sessions_app import entry_log
    from sessions_app.agent.request_guard import make_valid
    from sessions_app.services import sessions

    turns = 12
    run = play.prepare(*[[{"call": "ls", "arguments": {}}]] * turns, [{"text": "end"}])  # type: ignore[attr-defined]
    begun = threading.Event()

    def annotate() -> None:
        try:
            begun.wait(5)
            first = session.entries.order_by("seq")[0]
            for number in range(30):
                sessions.set_label(session=session, author=alice, entry=first, label=f"label {number}")
                sessions.rename_session(session=session, author=alice, name=f"name {number}")
        finally:
            connection.close()

    thread = threading.Thread(target=annotate)
    thread.start()
    begun.set()
    carry_out_run(run.pk)
    thread.join(20)
    run.refresh_from_db()
    session.refresh_from_db()
    assert (run.status, run.error) == ("completed", "")
    assert session.entries.filter(kind="label").count() == 30
    assert roles(session).count("toolResult") == turns
    assert len(entry_log.path_to(session.leaf)) == session.entries.count()  # type: ignore[arg-type]
    context = entry_log.load_context(session).messages
    repairs = make_valid(context, provider="scripted", model="scripted", tools=(LS,), images=True).repairs
    assert repairs == []


def test_what_is_queued_in_the_last_moment_is_still_delivered_by_the_run(
    play: Play, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """04 §1.11: nothing may wait unseen."""
    hooks = Hooks()
    said = iter(["late words"])

    def before_settling(event: Json) -> None:
        for text in said:
            runs.submit_prompt(session=session, author=alice, text=text, mode="follow_up")

    hooks.add("agent_before_settle", before_settling)
    monkeypatch.setattr(prompt_run, "hooks_of", lambda session: hooks)
    run = play([{"text": "one"}], [{"text": "two"}])
    assert run.status == "completed"
    assert [m["content"] for m in messages(session) if m["role"] == "user"] == ["Do it", "late words"]
    assert not QueuedMessage.objects.exists()


def test_what_a_dead_worker_had_started_is_ended(play: Play, session: Session, tmp_path: Path) -> None:
    """B32, B44: found by the run's mark, wherever it hides."""
    mark = f"dead-{secrets.token_hex(6)}"
    run = play.prepare([])  # type: ignore[attr-defined]
    dead_run(run)
    Run.objects.filter(pk=run.pk).update(marker=mark)
    sandbox = LocalSandbox(tmp_path, run_marker=mark, spill_dir=tmp_path)
    sandbox.exec("setsid sleep 600 >/dev/null 2>&1 &", stop=StopSignal(), on_data=lambda data: None)
    assert len(living(mark)) == 1
    recovery.sweep(lambda _: None)
    assert living(mark) == []
