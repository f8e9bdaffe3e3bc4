"""A person's own commands while they run, and those whose results wait for the agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.template.loader import render_to_string

from sessions_app.fragments.permission import may_edit
from sessions_app.fragments.tool_cards import Card, command_card, running_command_card
from sessions_app.models import Run, Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """`since` is empty for one that has ended and is held; `stopping`: it was asked to end."""

    pk: int
    card: Card
    since: str = ""
    stopping: bool = False


def render_commands(session: Session, *, user: AnyUser) -> str:
    """The inside of `#commands`: empty where nothing runs and nothing is held."""
    runs = Run.objects.filter(session=session, kind=Run.Kind.COMMAND)
    running = [_running(run) for run in runs.filter(status__in=Run.ACTIVE).order_by("pk")]
    held = [
        OwnCommand(run.pk, command_card(json.loads(run.held)["message"]))
        for run in runs.exclude(held="").order_by("pk")
    ]
    return render_to_string(
        "sessions_app/_commands.html",
        {"commands": [*held, *running], "key": session.key, "may_edit": may_edit(session, user)},
    )


def _running(run: Run) -> OwnCommand:
    request = json.loads(run.request)
    card = running_command_card(request["command"], run.output, excluded=bool(request.get("exclude")))
    since = (run.started_at or run.created_at).isoformat()
    return OwnCommand(run.pk, card, since, run.stop_requested)
