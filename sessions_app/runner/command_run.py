"""A person's own command (05 §8): run in the folder beside whatever the agent does, its result told when nothing is open."""

from __future__ import annotations

import codecs
import json
import logging
import shutil
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import connection

from sessions_app import blobs, entry_log, live
from sessions_app.agent.hooks import HookRefusalError
from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.tools.clean_text import clean_output
from sessions_app.agent.tools.command_output import CommandOutput, Output
from sessions_app.agent.tools.partial_output import PartialOutput
from sessions_app.models import Run
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.extensions import hooks_of
from sessions_app.runner.providers import CannotStart
from sessions_app.runner.settling import end_run, tell_result
from sessions_app.runner.workplace import open_sandbox, spill_dir_of
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_TELL_SECONDS = 0.4
# As shells say it: found, but not to be carried out.
_CANNOT_EXECUTE = 126
# Bytes that are told at once to whoever follows the run.
_MOST_NEWS = 65_536
# Characters of the output so far that every viewer's card is drawn from.
_TAIL = 8_000


def run_command(active: ActiveRun) -> None:
    """From claim to end. The result is a `bashExecution` message; while the agent is at work it is held until that ends
    (04 QU-07).
    """
    request = json.loads(active.run.request)
    try:
        told = _attempted(active, request)
        uses: list[tuple[Any, str]] = told.pop("uses", [])
        message = {
            "role": "bashExecution",
            "command": request["command"],
            **told,
            "timestamp": _milliseconds(),
        }
        if request.get("exclude"):
            message["excludeFromContext"] = True
        if message["cancelled"]:
            active.end_as_stopped()
        _end(active, message, uses)
    finally:
        shutil.rmtree(spill_dir_of(active.run), ignore_errors=True)


def _attempted(active: ActiveRun, request: Json) -> Json:
    try:
        return _from_hook(active, request) or _executed(active, request["command"])
    except (CannotStart, SandboxError) as refusal:
        return _result(str(refusal), code=_CANNOT_EXECUTE)


def _from_hook(active: ActiveRun, request: Json) -> Json | None:
    """A finished result that an extension brings; one that raises refuses the command (07 EX-02)."""
    hooks = hooks_of(active.run.session)
    if not hooks.has("user_bash"):
        return None
    event = {"command": request["command"], "excludeFromContext": bool(request.get("exclude"))}
    try:
        brought = hooks.user_bash(event).get("result")
    except HookRefusalError as refusal:
        return _result(f"The command was refused because a check failed: {refusal}", code=_CANNOT_EXECUTE)
    if not isinstance(brought, dict):
        return None
    code = brought.get("exitCode")
    return _result(str(brought.get("output") or ""), code=code if isinstance(code, int) else None)


def _executed(active: ActiveRun, command: str) -> Json:
    sandbox = open_sandbox(active.run, active.run.session)
    output = CommandOutput(sandbox)
    try:
        growing = GrowingOutput(lambda delta: active.stream.add(_update(active, delta)))

        def tell(text: str) -> None:
            growing.tell()
            _show(active, text)

        with PartialOutput(output, tell, seconds=_TELL_SECONDS) as partial:

            def take(data: bytes) -> None:
                growing.add(data)
                partial.add(data)

            # No variables of the session (05 §8), and no limit of time but the operator's.
            ended = sandbox.exec(command, stop=active.stop, on_data=take, env={})
        growing.tell(last=True)
    finally:
        sandbox.kill_all()
    told = _result(*_shown(output.finish()), code=ended.exit_code)
    told["cancelled"] = ended.stopped
    if ended.timed_out or ended.output_exceeded:
        why = "its time was up" if ended.timed_out else "it printed more than is allowed here"
        told["output"] = f"{told['output']}\n\n[The command was ended: {why}.]".lstrip()
    return told


class GrowingOutput:
    """What is new of an output since it was told, for whoever follows the run; of a flood only the end (spec 10)."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._fresh = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, data: bytes) -> None:
        with self._lock:
            self._fresh += data
            del self._fresh[:-_MOST_NEWS]

    def tell(self, *, last: bool = False) -> None:
        with self._lock:
            fresh = bytes(self._fresh)
            self._fresh.clear()
        text = self._decoder.decode(fresh, last)
        if text:
            self._tell(clean_output(text.encode()))


def _update(active: ActiveRun, delta: str) -> Json:
    return {"type": "bash_execution_update", "id": str(active.run.pk), "delta": delta}


def _shown(final: Output) -> tuple[str, Json]:
    """The end of the output, and what is kept of the whole."""
    text = final.text.rstrip("\n")
    if not final.truncation.truncated:
        return text, {}
    kept: Json = {"truncated": True, "details": {"truncation": final.truncation.to_details()}}
    if final.path is not None:
        stored, uses = blobs.externalise({"details": {"fullOutputPath": str(final.path)}})
        kept["details"] |= stored["details"]
        kept["uses"] = uses
    elif final.problem:
        text = f"{text}\n\n[{final.problem}]"
    return text, kept


def _result(text: str, kept: Json | None = None, *, code: int | None) -> Json:
    return {"output": text, "exitCode": code, "cancelled": False, "truncated": False, **(kept or {})}


def _show(active: ActiveRun, text: str) -> None:
    """What it has printed so far, for every viewer; called from a thread of its own."""
    try:
        Run.objects.filter(pk=active.run.pk).update(output=text[-_TAIL:])
    finally:
        connection.close()
    live.notify(active.session_pk, "command", run=active.run.pk)


def _end(active: ActiveRun, message: Json, uses: list[tuple[Any, str]]) -> None:
    with write_transaction():
        session = entry_log.lock_session(active.session_pk)
        active.assert_owned()
        tell_result(session, active.run, message, [(blob.pk, name) for blob, name in uses])
        end_run(active.run, session, status=active.outcome, error=active.error, error_kind=active.error_kind)


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
