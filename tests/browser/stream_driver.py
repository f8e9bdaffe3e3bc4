"""Plays worker and provider for browser tests: one command per line of standard input, one answer per line."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from typing import Any

from tests.running import Up

Json = dict[str, Any]


class StreamDriver:
    """The driver as the test sees it. Runs in a process of its own, with the server's settings."""

    def __init__(self, up: Up) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.stream_driver"],
            env=up.environment | {"DJANGO_SETTINGS_MODULE": "agentweb.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, command: str, *arguments: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([command, *arguments]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.communicate(timeout=20)


def main() -> None:
    import django

    django.setup()
    player = Player()
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        print(json.dumps(getattr(player, command)(*arguments)), flush=True)


class Player:
    """The commands."""

    def session(self) -> str:
        from django.contrib.auth.models import User

        from sessions_app.models import Session, Workspace

        workspace = Workspace.objects.earliest("pk")
        owner = User.objects.earliest("pk")
        self.session_row = Session.objects.create(workspace=workspace, owner=owner, file_id="driven")
        return str(self.session_row.key)

    def entry(self, role: str, text: str) -> int:
        from sessions_app import entry_log

        message: Json = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1}
        run = None
        if role == "assistant":
            message |= {"model": "demo", "provider": "demo", "stopReason": "stop", "usage": {}}
            run = getattr(self, "run", None)
        return entry_log.append(self.session_row.pk, {"type": "message", "message": message}, run=run).seq

    def go(self, seq: int) -> None:
        from sessions_app import entry_log

        entry_log.move_leaf(
            entry_log.lock_session(self.session_row.pk), self.session_row.entries.get(seq=seq)
        )

    def begin(self) -> None:
        from django.utils import timezone

        from sessions_app import live
        from sessions_app.models import Run

        # A lease beyond the test: the sweep must not take it for a dead worker's.
        self.run = Run.objects.create(
            session=self.session_row,
            status=Run.Status.RUNNING,
            owner="driver",
            lease_until=timezone.now() + timedelta(minutes=10),
            started_at=timezone.now(),
        )
        self.stream = live.RunStream(self.run.pk, self.session_row.pk)
        live.notify(self.session_row.pk, "run", run=self.run.pk, status=self.run.status)

    def start(self, answer: int = 1) -> None:
        message = {"role": "assistant", "content": [], "model": "demo"}
        self.stream.add({"type": "message_start", "message": message, "answer": answer})

    def text(self, delta: str) -> None:
        update = {"type": "text_delta", "contentIndex": 0, "delta": delta}
        self.stream.add({"type": "message_update", "usage": {}, "assistantMessageEvent": update})

    def event(self, event: Json) -> None:
        self.stream.add(event)

    def end(self, status: str = "completed") -> None:
        from sessions_app import live

        type(self.run).objects.filter(pk=self.run.pk).update(status=status)
        live.notify(self.session_row.pk, "run", run=self.run.pk, status=status)
        self.stream.close(status)


if __name__ == "__main__":
    main()
