"""A person's own commands: beside the agent, told when nothing is open, stopped by themselves (05 §8)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.sandboxes.processes import kill_marked
from sessions_app.core.transcript import user_text_of
from sessions_app.models import BlobUse, Membership, Run
from sessions_app.runner import command_run, recovery
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.services import runs
from sessions_app.services.errors import Conflict
from tests.staging import Stage, stage

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

__all__ = ["stage"]

Json = dict[str, Any]

# Commands in threads of their own write beside the test.
in_threads = pytest.mark.django_db(transaction=True)


def own(stage: Stage, command: str, *, exclude: bool = False) -> Run:
    return runs.run_command(session=stage.session, author=stage.author, command=command, exclude=exclude)


def executed(stage: Stage) -> list[Json]:
    rows = stage.session.entries.filter(role="bashExecution").order_by("seq")
    return [row.record["message"] for row in rows]


def until(condition: Callable[[], Any], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_what_is_a_command_and_what_is_not() -> None:
    assert runs.command_in("!ls -l") == ("ls -l", False)
    assert runs.command_in("!!  ls\necho") == ("ls\necho", True)
    assert runs.command_in("! ") is None
    assert runs.command_in(" !ls") is None
    assert runs.command_in("Stop!") is None


def test_a_command_runs_in_the_folder_and_the_model_is_told_with_the_next_request(stage: Stage) -> None:
    """05 §8.1, §8.2, §8.3."""
    stage.carry_out(own(stage, r"pwd; printf '\033[31mred\033[0m\rover\n'; exit 3"))
    message = executed(stage)[0]
    assert message["output"].splitlines() == [str(Path(stage.session.workspace.path)), "over"]
    assert (message["exitCode"], message["cancelled"], message["truncated"]) == (3, False, False)
    stage.prompt("What was that?")
    told = [text_of_message(message) for message in stage.requests[-1].messages]
    assert "Ran `pwd;" in told[0]
    assert "Command exited with code 3" in told[0]


def text_of_message(message: Json) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def test_a_command_that_is_to_stay_between_us_is_stored_and_never_sent(stage: Stage) -> None:
    """05 §8.1."""
    stage.carry_out(own(stage, "echo secret-word", exclude=True))
    assert executed(stage)[0]["excludeFromContext"] is True
    assert user_text_of(executed(stage)[0]) == ""
    stage.prompt("What was that?")
    assert "secret-word" not in json.dumps(stage.requests[-1].messages)


def test_it_sees_no_variables_of_the_session_and_no_key_of_the_server(stage: Stage) -> None:
    """05 §8.2, §6.3."""
    stage.carry_out(own(stage, "env | grep -i -e AGENTWEB_SESSION -e SECRET_KEY; true"))
    assert executed(stage)[0]["output"] == ""
    stage.prompt("Env.", [{"call": "bash", "arguments": {"command": "env"}, "id": "b"}], [{"text": "ok"}])
    result = stage.session.entries.filter(role="toolResult").get().record["message"]["content"][0]["text"]
    assert f"AGENTWEB_SESSION_ID={stage.session.key}" in result
    assert "AGENTWEB_SESSION_MODEL=scripted" in result


@in_threads
def test_while_the_agent_works_the_result_is_held_until_it_has_ended(stage: Stage) -> None:
    """04 QU-07: never between a call and its result; 05 §8.4, 04 §1.10."""
    done = threading.Event()

    def with_commands(request: Any) -> list[Json]:
        first, second = own(stage, "echo one"), own(stage, "echo two")
        for run in (second, first):
            stage.in_thread(run).join()
        assert {run.status for run in Run.objects.filter(kind="command")} == {"completed"}
        assert executed(stage) == []
        done.set()
        return [{"call": "ls", "arguments": {}, "id": "l"}]

    stage.prompt("Look.", with_commands, [{"text": "Empty."}])
    assert done.is_set()
    # In the order in which they were started.
    assert stage.kinds() == ["user", "assistant", "toolResult", "assistant", "bashExecution", "bashExecution"]
    assert [message["output"] for message in executed(stage)] == ["one", "two"]
    assert Run.objects.exclude(held="").count() == 0


def test_a_command_waits_for_the_answer_a_person_owes_too(stage: Stage) -> None:
    type(stage.session).objects.filter(pk=stage.session.pk).update(tool_preset="ask")
    run = stage.prompt("Do.", [{"call": "bash", "arguments": {"command": "true"}, "id": "b"}])
    assert run.status == "asking"
    stage.carry_out(own(stage, "echo meanwhile"))
    assert executed(stage) == []
    runs.stop_run(session=stage.session, author=stage.author)
    stage.carry_out(run)
    assert stage.kinds() == ["user", "assistant", "toolResult", "assistant", "bashExecution"]


@in_threads
def test_several_run_at_once_and_stop_ends_all_with_what_they_said(stage: Stage) -> None:
    """05 §8.4."""
    started = [own(stage, "echo begun; sleep 300"), own(stage, "echo too; (setsid sleep 301 &) ; sleep 302")]
    threads = [stage.in_thread(run) for run in started]
    until(lambda: Run.objects.filter(kind="command").exclude(output="").count() == 2)
    began = time.monotonic()
    assert runs.stop_commands(session=stage.session, author=stage.author) == 2
    for run in started:
        heartbeat.stop_run(run.pk)
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < 5
    assert sorted((message["output"], message["cancelled"]) for message in executed(stage)) == [
        ("begun", True), ("too", True),
    ]  # fmt: skip
    for run in started:
        run.refresh_from_db()
        assert run.status == "stopped"
        assert kill_marked(run.marker) == 0


def test_a_long_output_keeps_its_end_and_the_whole_as_a_file(stage: Stage, alice_client: Client) -> None:
    """05 §8.2."""
    stage.carry_out(own(stage, "seq 1 30000"))
    message = executed(stage)[0]
    assert message["truncated"] is True
    assert message["output"].endswith("30000")
    assert len(message["output"]) < 60_000
    use = BlobUse.objects.get()
    assert message["details"]["fullOutput"]["sha256"] == use.blob.sha256
    page = alice_client.get(f"/s/{stage.session.key}/").content.decode()
    assert "Full output" in page
    kept = alice_client.get(f"/s/{stage.session.key}/blobs/{use.blob.sha256}/output.txt")
    assert kept.getvalue().count(b"\n") == 30000


def test_a_lost_worker_leaves_what_was_printed_as_cancelled(stage: Stage) -> None:
    run = own(stage, "echo never seen")
    Run.objects.filter(pk=run.pk).update(
        status="running", output="so far", lease_until=timezone.now() - timedelta(seconds=1)
    )
    assert recovery.sweep(lambda run_id: None) == 1
    assert (executed(stage)[0]["output"], executed(stage)[0]["cancelled"]) == ("so far", True)


def test_a_missing_folder_is_told_as_the_result(stage: Stage) -> None:
    Path(stage.session.workspace.path).rmdir()
    stage.carry_out(own(stage, "ls"))
    assert "is gone" in executed(stage)[0]["output"]
    assert executed(stage)[0]["exitCode"] == 126


def test_a_check_that_fails_refuses_the_command_and_another_brings_its_result(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """07 EX-02: the user_bash hook is fail-closed; 05 §8.5."""
    hooks = Hooks(on_failure=lambda failure: None)
    hooks.add("user_bash", lambda event: {"result": {"output": "from elsewhere", "exitCode": 0}})
    monkeypatch.setattr(command_run, "hooks_of", lambda session: hooks)
    stage.carry_out(own(stage, "touch made"))
    assert executed(stage)[0]["output"] == "from elsewhere"

    def refuse(event: Json) -> Json:
        raise ValueError("not here")

    refusing = Hooks(on_failure=lambda failure: None)
    refusing.add("user_bash", refuse)
    monkeypatch.setattr(command_run, "hooks_of", lambda session: refusing)
    stage.carry_out(own(stage, "touch made"))
    assert "not here" in executed(stage)[1]["output"]
    assert not (Path(stage.session.workspace.path) / "made").exists()


def test_it_is_not_the_session_s_job(
    stage: Stage, alice_client: Client, bob: User, bob_client: Client
) -> None:
    """The page goes on saying what the agent does, and shows the command beside it; viewers can't stop it."""
    stage.prompt("Hello.")
    run = own(stage, "sleep 300")
    Run.objects.filter(pk=run.pk).update(status="running", output="half\nway")
    page = alice_client.get(f"/s/{stage.session.key}/").content.decode()
    assert "Finished" in page
    assert "half\nway" in page
    assert "Stop command" in page
    said = runs.submit_prompt(session=stage.session, author=stage.author, text="Go on.")
    assert said.run is not None
    Membership.objects.filter(user=bob).update(role=Membership.Role.VIEWER)
    assert "Stop command" not in bob_client.get(f"/s/{stage.session.key}/").content.decode()
    assert bob_client.post(f"/s/{stage.session.key}/prompt/", {"text": "!ls"}).status_code == 403


def test_the_composer_sends_commands_the_same_way(stage: Stage, alice_client: Client) -> None:
    address = f"/s/{stage.session.key}/prompt/"
    for _ in range(2):
        alice_client.post(address, {"text": "!!echo hi", "mode": "steer", "key": "once"})
    run = Run.objects.get(kind="command")
    assert json.loads(run.request) == {"command": "echo hi", "exclude": True}
    for _ in range(7):
        own(stage, "true")
    with pytest.raises(Conflict):
        own(stage, "true")


def test_a_leaf_that_has_moved_meanwhile_takes_the_result(stage: Stage) -> None:
    stage.prompt("Hello.")
    run = own(stage, "echo late")
    written = entry_log.append(stage.session.pk, {"type": "label", "targetId": "x", "label": "here"})
    stage.carry_out(run)
    assert stage.session.leaf is not None
    assert stage.session.leaf.seq == written.seq + 1


def test_what_a_command_prints_is_told_as_it_comes(stage: Stage) -> None:
    """10 §1.1: all of it, in parts, clean; of a flood only the end."""
    run = runs.run_command(session=stage.session, author=stage.author, command="printf 'a\\033[31mb'; echo ü")
    stage.carry_out(run)
    told = stage.told("bash_execution_update")
    assert {event["id"] for event in told} == {str(run.pk)}
    assert "".join(event["delta"] for event in told) == "abü\n"
    news: list[str] = []
    growing = command_run.GrowingOutput(news.append)
    growing.add("ü".encode()[:1])
    growing.tell()
    growing.add("ü".encode()[1:] + b"x" * 100_000)
    growing.tell(last=True)
    assert len(news) == 1
    assert len(news[0]) <= 65_537
