"""Reads the rows of a session for the replay test, in a process that has the server's settings."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.running import Up

Json = dict[str, Any]


class Rows:
    """Commands go to the other process as a line, answers come back as one."""

    def __init__(self, up: Up) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.replay_rows"],
            env=up.environment | {"DJANGO_SETTINGS_MODULE": "agentweb.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, command: str, *arguments: str) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([command, *arguments]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.communicate(timeout=20)


def create(provider: str, model: str) -> str:
    """A new session's key."""
    from django.contrib.auth.models import User

    from sessions_app.models import Workspace
    from sessions_app.services.sessions import create_session

    owner, workspace = User.objects.get(), Workspace.objects.get()
    return str(create_session(workspace=workspace, owner=owner, provider=provider, model=model).key)


def runs(key: str) -> list[Json]:
    """All runs of the session, oldest first; times in seconds."""
    from sessions_app.models import Run

    return [
        {
            "id": run.pk,
            "status": run.status,
            "active": run.is_active,
            "marker": run.marker,
            "error": run.error,
            "created": run.created_at.timestamp(),
            "started": run.started_at.timestamp() if run.started_at else None,
            "ended": run.ended_at.timestamp() if run.ended_at else None,
        }
        for run in Run.objects.filter(session__key=key).order_by("pk")
    ]


def everything(key: str) -> Json:
    """The entries, the path as seqs and as HTML, the queue and what the page should say of the run."""
    from sessions_app import entry_log, fragments
    from sessions_app.models import Session

    session = Session.objects.select_related("leaf", "owner").get(key=key)
    path = entry_log.path_to(session.leaf) if session.leaf else []
    return {
        "next_seq": session.next_seq,
        "entries": [
            {"seq": entry.seq, "id": entry.entry_id, "run": entry.run_id, "record": entry.record}
            for entry in session.entries.order_by("seq")
        ],
        "path": [entry.seq for entry in path],
        "html": fragments.render_entries(path, user=session.owner),
        "queue": list(session.queue.values_list("text", flat=True)),
        "state": fragments.run_state(session).name,
        "runs": runs(key),
    }


def main() -> None:
    import django

    django.setup()
    commands = {"create": create, "runs": runs, "everything": everything}
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        print(json.dumps(commands[command](*arguments)), flush=True)


if __name__ == "__main__":
    main()
