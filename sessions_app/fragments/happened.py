"""What happened in a session: runs and how they ended, retries, compactions, changes of model, and who did it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sessions_app.agent.models_catalogue import spoken_name
from sessions_app.core.entries import Kind
from sessions_app.core.messages import text_of
from sessions_app.fragments import wording
from sessions_app.fragments.plain_text import one_line
from sessions_app.models import CompactionAttempt, Entry, Run, Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

Json = dict[str, Any]

MOST_RUNS = 40
"""Runs on one page; older ones come with a link."""

_NOTED = (
    Kind.MODEL_CHANGE,
    Kind.THINKING_LEVEL_CHANGE,
    Kind.SESSION_INFO,
    Kind.LABEL,
    Kind.CONTEXT_EDIT,
    Kind.BRANCH_SUMMARY,
)
_ENDS: dict[str, tuple[str, str]] = {
    Run.Status.QUEUED: ("queued", "Waits to start"),
    Run.Status.RUNNING: ("running", "Running"),
    Run.Status.WAITING: ("queued", "Waits for the job before it"),
    Run.Status.COMPLETED: ("worked", "Finished"),
    Run.Status.STOPPED: ("stopped", "Stopped"),
    Run.Status.FAILED: ("error", "Failed"),
    Run.Status.INTERRUPTED: ("error", "Interrupted: its worker was lost"),
    Run.Status.LIMITED: ("wait", "Stopped at its ceiling"),
}


@dataclass(frozen=True, slots=True)
class Happening:
    """One row. `seq` is an entry to look at, where there is one; `facts` stand below the words."""

    moment: datetime
    clock: str
    glyph: str
    words: str
    facts: str = ""
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """Rows, the newest first; `older` is the run below which there is more."""

    rows: list[Happening]
    older: int | None


def happened(session: Session, user: AnyUser, *, before: int | None = None) -> Happened:
    """A page of what happened, of runs older than `before` (a run's pk)."""
    runs = session.runs.select_related("author", "stop_author").defer("checkpoint").order_by("-pk")
    if before is not None:
        runs = runs.filter(pk__lt=before)
    found = list(runs[: MOST_RUNS + 1])
    shown, more = found[:MOST_RUNS], len(found) > MOST_RUNS
    since = shown[-1].enqueued_at if more else None
    until = (
        None
        if before is None
        else Run.objects.filter(pk=before).values_list("enqueued_at", flat=True).first()
    )
    rows = [row for run in shown for row in _of_run(session, run, user)]
    rows += _of_entries(session, user, since, until)
    if not more:
        rows.append(_row(session.created_at, "fork", f"Begun by {_name(session.owner, user)}"))
    return Happened(sorted(rows, key=lambda row: row.moment, reverse=True), shown[-1].pk if more else None)


def _of_run(session: Session, run: Run, user: AnyUser) -> Iterator[Happening]:
    entries = session.entries.filter(run=run)
    first = entries.order_by("seq").only("seq", "parent_id", "depth").first()
    glyph, ending = _ENDS[run.status]
    if run.stop_author is not None and run.status in (Run.Status.STOPPED, Run.Status.RUNNING):
        ending = f"{ending} by {_name(run.stop_author, user)}"
    yield _row(
        run.ended_at or run.started_at or run.enqueued_at,
        glyph,
        f"{_job(run)}: {ending}" if run.kind != Run.Kind.PROMPT else ending,
        facts=" · ".join(filter(None, [_measures(run), one_line(run.error, 240), *_retries(entries, run)])),
        seq=first.seq if first else None,
    )
    words = _asked(first) if run.kind == Run.Kind.PROMPT else ""
    who = _name(run.author, user)
    yield _row(
        run.enqueued_at,
        "user"
        if run.kind == Run.Kind.PROMPT
        else "compaction"
        if run.kind == Run.Kind.COMPACTION
        else "branch",
        f"{who} asked: “{words}”" if words else f"{_job(run)} begun by {who}",
        facts=spoken_name(run.provider, run.model),
    )
    for attempt in run.compaction_attempts.all():
        yield _of_attempt(attempt)


def _job(run: Run) -> str:
    names: dict[str, str] = {Run.Kind.COMPACTION: "Compaction", Run.Kind.BRANCH_SUMMARY: "Branch summary"}
    return names.get(run.kind, "Job")


def _measures(run: Run) -> str:
    parts = []
    if run.turns:
        parts.append(wording.plural(run.turns, "turn"))
    if run.started_at and run.ended_at:
        parts.append(wording.duration((run.ended_at - run.started_at).total_seconds() * 1000))
    if run.tokens:
        parts.append(f"{wording.tokens(run.tokens)} tokens")
    if run.cost:
        parts.append(wording.money(run.cost))
    return " · ".join(parts)


def _retries(entries: Any, run: Run) -> list[str]:
    """Requests that failed and were made again: all but the one the run ended with."""
    failed = entries.filter(role="assistant", payload__contains='"stopReason":"error"').count()
    if run.status == Run.Status.FAILED:
        failed -= 1
    return [f"{wording.plural(failed, 'request')} failed and tried again"] if failed > 0 else []


def _asked(first: Entry | None) -> str:
    """The words that a run answers: of the nearest message of a person above its first entry."""
    if first is None or first.parent_id is None:
        return ""
    above = Entry.objects.filter(session_id=first.session_id, role="user", depth__lt=first.depth)
    said = (
        above.filter(pk=first.parent_id).first() or above.filter(seq__lt=first.seq).order_by("-seq").first()
    )
    message = said.record.get("message") if said else None
    return one_line(text_of(message.get("content")), 120) if isinstance(message, dict) else ""


def _of_attempt(attempt: CompactionAttempt) -> Happening:
    outcomes = CompactionAttempt.Outcome
    words = {
        outcomes.COMPACTED: "Compacted",
        outcomes.STARTED: "Compacting",
        outcomes.NOTHING: "Nothing to compact",
        outcomes.NOT_SMALLER: "Compaction not applied: it would not have made room",
        outcomes.FAILED: "Compaction failed",
        outcomes.CANCELLED: "Compaction cancelled",
    }[outcomes(attempt.outcome)]
    why = {
        "manual": "by hand",
        "threshold": "the context was nearly full",
        "overflow": "the context was full",
    }
    sizes = (
        f"{wording.tokens(attempt.tokens_before)} → {wording.tokens(attempt.tokens_after)} tokens"
        if attempt.tokens_after
        else ""
    )
    facts = [
        why.get(attempt.reason, ""),
        sizes,
        wording.duration(attempt.duration_ms or None),
        one_line(attempt.error, 200),
    ]
    return _row(
        attempt.created_at,
        "compaction",
        words,
        facts=" · ".join(filter(None, facts)),
        seq=attempt.entry.seq if attempt.entry else None,
    )


def _of_entries(
    session: Session, user: AnyUser, since: datetime | None, until: datetime | None
) -> list[Happening]:
    """Changes that are entries of their own."""
    entries = session.entries.filter(kind__in=_NOTED).select_related("author")
    if since is not None:
        entries = entries.filter(created_at__gte=since)
    if until is not None:
        entries = entries.filter(created_at__lt=until)
    return [
        _row(
            entry.created_at,
            glyph,
            words,
            facts=_name(entry.author, user) if entry.author else "",
            seq=entry.seq,
        )
        for entry in entries.order_by("-seq")[: MOST_RUNS * 5]
        for glyph, words in [_noted(entry)]
    ]


def _noted(entry: Entry) -> tuple[str, str]:
    record: Json = entry.record
    match entry.kind:
        case Kind.MODEL_CHANGE:
            return (
                "note",
                f"Model: {spoken_name(str(record.get('provider', '')), str(record.get('modelId', '')))[:80]}",
            )
        case Kind.THINKING_LEVEL_CHANGE:
            return "note", f"Thinking: {one_line(str(record.get('thinkingLevel', '')), 40)}"
        case Kind.SESSION_INFO:
            name = one_line(str(record.get("name") or ""), 120)
            return "note", f"Named “{name}”" if name else "Name removed"
        case Kind.LABEL:
            label = one_line(str(record.get("label") or ""), 80)
            return "note", f"Labelled “{label}”" if label else "Label removed"
        case Kind.CONTEXT_EDIT:
            left_out = record.get("replacement") is None
            return "omit", "Left out of what the model is told" if left_out else "Changed for the model"
        case _:
            return "branch", "Left a branch, with a summary"


def _name(person: Any, user: AnyUser) -> str:
    if person is None:
        return "the server"
    return "you" if person.pk == user.pk else str(person.get_username())


def _row(moment: datetime, glyph: str, words: str, *, facts: str = "", seq: int | None = None) -> Happening:
    return Happening(moment, wording.clock(moment), glyph, words[:1].upper() + words[1:], facts, seq)
