"""The parts of a session page that change by themselves: queue, state of the run, context, tree."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from sessions_app import entry_log, session_rows
from sessions_app.agent.models_catalogue import describe_model
from sessions_app.fragments import context_meter, tree_panel, wording
from sessions_app.fragments.permission import may_edit
from sessions_app.fragments.plain_text import one_line, visible
from sessions_app.models import QueuedMessage, Run, Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

Json = dict[str, Any]

_ENDED_BADLY = (Run.Status.FAILED, Run.Status.INTERRUPTED, Run.Status.LIMITED)


@dataclass(frozen=True, slots=True)
class RunState:
    """`name` is for the page's own use: idle, queued, running, stopping, or how the last run ended. `kind` is the
    run's; `action` is what the button of a bad end says."""

    name: str
    glyph: str
    words: str
    started: str = ""
    elapsed: str = ""
    title: str = ""
    kept: str = ""
    action: str = ""
    kind: str = Run.Kind.PROMPT

    @property
    def is_summary(self) -> bool:
        return self.kind != Run.Kind.PROMPT

    @property
    def is_active(self) -> bool:
        return self.name in {"queued", "running", "asking", "reviewing", "stopping"}


# Bytes below which the broker can no longer write what it is given.
_ROOM_NEEDED = 10 * 1024 * 1024


def run_state(session: Session) -> RunState:
    """What the newest run of a session does or did. What is not known to be running is not shown as running."""
    # One that waits for another to end is not what the session does.
    run = (
        session.runs.of_agents()
        .exclude(status=Run.Status.WAITING)
        .order_by("-pk")
        .defer("checkpoint")
        .first()
    )
    if run is None:
        return RunState("idle", "idle", "Nothing said yet" if session.leaf_id is None else "Idle")
    if run.kind != Run.Kind.PROMPT:
        return _summary_state(session, run)
    if run.is_active:
        started = run.started_at or run.enqueued_at
        since = timezone.now() - started
        name, words = (
            ("running", "Running") if run.status == Run.Status.RUNNING else ("queued", "Waiting to start")
        )
        if run.status == Run.Status.ASKING:
            return RunState("asking", "wait", "Waits for your answer")
        if run.status == Run.Status.REVIEWING:
            return RunState("reviewing", "wait", "Waiting for review")
        if run.stop_requested:
            waits = session.runs.filter(status=Run.Status.WAITING, kind=Run.Kind.COMPACTION).exists()
            name, words = "stopping", "Stopping, then compacting" if waits else "Stopping"
        if _disk_is_full():
            words = f"{words}: the server’s disk is full"
        return RunState(
            name,
            "queued" if name == "queued" else "running",
            words,
            started=started.isoformat(),
            elapsed=wording.duration(since.total_seconds() * 1000),
        )
    if run.status in _ENDED_BADLY:
        return _ended_badly(session, run)
    if run.status == Run.Status.STOPPED:
        return RunState("stopped", "stopped", "Stopped")
    return RunState("completed", "worked", "Finished")


def _disk_is_full() -> bool:
    """Then the broker takes nothing and jobs stand still until somebody makes room; they go on by themselves."""
    try:
        return shutil.disk_usage(settings.DATA_DIR).free < _ROOM_NEEDED
    except OSError:
        return False


_AT_SUMMARY: dict[str, tuple[str, str, str]] = {
    Run.Kind.COMPACTION: ("Compacting", "Compacted", "The compaction"),
    Run.Kind.BRANCH_SUMMARY: ("Summarising the branch you leave", "Summarised", "The summary"),
}


def _summary_state(session: Session, run: Run) -> RunState:
    """A compaction or branch summary: while it runs the page says so, and where it fails nothing has changed."""
    doing, done, subject = _AT_SUMMARY.get(run.kind, ("At work", "Finished", "The job"))
    if run.is_active:
        started = run.started_at or run.enqueued_at
        since = timezone.now() - started
        name = "stopping" if run.stop_requested else run.status
        return RunState(
            name, "running", f"{doing}, cancelling" if run.stop_requested else doing, started=started.isoformat(),
            elapsed=wording.duration(since.total_seconds() * 1000), kind=run.kind,
        )  # fmt: skip
    if run.status == Run.Status.COMPLETED:
        return RunState("completed", "worked", done, kind=run.kind)
    if run.status == Run.Status.STOPPED or not _still_there(session, run):
        return RunState("stopped", "stopped", "Cancelled", kind=run.kind)
    error = visible(run.error[:2000]).strip()
    kept = "Nothing was changed: all of it is still told to the model."
    if run.kind == Run.Kind.BRANCH_SUMMARY:
        kept = "Nothing was changed: you are still on the branch you were leaving. Go there again, or without a summary."
    return RunState(
        "failed", "error", f"{subject} failed", title=one_line(error, 300) or f"{subject} failed.", kept=kept,
        action="Try again" if run.kind == Run.Kind.COMPACTION else "", kind=run.kind,
    )  # fmt: skip


def _ended_badly(session: Session, run: Run) -> RunState:
    error = visible(run.error[:2000]).strip()
    title = one_line(error, 300)
    if not _still_there(session, run):
        return RunState("idle", "idle", "Idle")
    if run.status == Run.Status.LIMITED:
        return RunState(
            "limited", "wait", "Waits: its ceiling is reached", title=title or "The job reached its ceiling.",
            kept="Everything up to here is kept. Going on doubles the ceiling.", action="Raise it and continue",
        )  # fmt: skip
    if run.status == Run.Status.INTERRUPTED:
        return RunState(
            "interrupted", "stopped", "Interrupted", title=title or "The job was interrupted.",
            kept="What had arrived is kept. No tool is run a second time.", action="Continue",
        )  # fmt: skip
    # An answer that ended with the error says it itself, where it happened.
    answer = session.entries.filter(run=run, role="assistant").order_by("-seq").first()
    if answer is not None and answer.record["message"].get("stopReason") == "error":
        return RunState("failed", "error", "Stopped on an error")
    return RunState(
        "failed", "error", "Stopped on an error", title=title or "The job failed.",
        kept="Everything up to here is kept.", action="Continue",
    )  # fmt: skip


def _still_there(session: Session, run: Run) -> bool:
    """Does the session stand where the run ended? Elsewhere its end is no news."""
    last = session.entries.filter(run=run).order_by("-seq").values_list("seq", flat=True).first()
    leaf = session.leaf
    if last is None or leaf is None:
        return last is None
    return leaf.seq == last or (leaf.seq > last and leaf.kind in entry_log.METADATA_KINDS)


def render_run_status(session: Session, *, user: AnyUser) -> str:
    """The inside of `#run-status`: shape, word and time; the notice of a run that ended badly rides along in
    a template that `run-state` moves to the end of the transcript."""
    return render_to_string(
        "sessions_app/_run.html",
        {"state": run_state(session), "key": session.key, "may_edit": may_edit(session, user)},
    )


def render_run_notice(session: Session, *, user: AnyUser) -> str:
    """The inside of `#run-notice`: how the last run ended, if that needs a word and is not told by an entry."""
    return render_to_string(
        "sessions_app/_run_notice.html",
        {"state": run_state(session), "key": session.key, "may_edit": may_edit(session, user)},
    )


def render_queue(session: Session, *, user: AnyUser) -> str:
    """The inside of `#queue`: what waits to be said to the agent."""
    waiting = list(session.queue.all())
    order = {QueuedMessage.Mode.STEER: 0, QueuedMessage.Mode.FOLLOW_UP: 1, QueuedMessage.Mode.NEXT_TURN: 2}
    waiting.sort(key=lambda item: order[QueuedMessage.Mode(item.mode)])
    rows = [
        {
            "pk": item.pk,
            "steers": item.mode == QueuedMessage.Mode.STEER,
            "is_held": item.mode == QueuedMessage.Mode.NEXT_TURN,
            "words": one_line(item.text, 300),
            "text": visible(item.text),
        }
        for item in waiting
    ]
    return render_to_string(
        "sessions_app/_queue.html",
        {"waiting": rows, "key": session.key, "may_edit": may_edit(session, user), "many": len(rows) > 1},
    )


def render_session_name(session: Session, *, user: AnyUser) -> str:
    """The inside of `#session-name`: the heading, and the field that replaces it."""
    return render_to_string(
        "sessions_app/_session_name.html", {"session": session, "may_edit": may_edit(session, user)}
    )


def render_session_meta(session: Session, *, user: AnyUser) -> str:
    """The inside of `#session-meta`: context meter and cost."""
    meter = context_meter.measure(session)
    return render_to_string(
        "sessions_app/_session_meta.html",
        {
            "meter": meter,
            "summary": context_meter.summary(meter),
            "width": context_meter.WIDTH,
            "cost": session.cost,
        },
    )


def render_tree(session: Session, *, user: AnyUser, panel: tree_panel.TreePanel | None = None) -> str:
    """The inside of `#session-tree`: the rows of `panel`, or of the session as it stands."""
    return render_to_string(
        "sessions_app/_tree.html",
        {
            "panel": panel or tree_panel.build(session),
            "queued": [one_line(item.text, 60) for item in session.queue.all()[:5]],
        },
    )


def render_tree_run(session: Session, first: int, last: int) -> str:
    """The rows that take the place of a folded run's."""
    panel = tree_panel.opened_run(session, first, last)
    return render_to_string("sessions_app/_tree.html", {"panel": panel, "queued": [], "part": True})


def render_session_row(session: Session, *, user: AnyUser) -> str:
    """The session's row in the list."""
    return render_to_string(
        "sessions_app/_session_row.html", {"row": session_rows.row_of(session), "current": None}
    )


def thinking_levels(session: Session) -> tuple[str, ...]:
    """The levels the session's model knows; empty when there is nothing to choose."""
    levels = tuple(describe_model(session.provider, session.model).levels)
    return levels if len(levels) > 1 else ()
