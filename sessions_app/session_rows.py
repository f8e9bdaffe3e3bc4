"""A session in one row: its shape, when it last moved, and one line on what it is doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.db.models import Max, Q, QuerySet
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from sessions_app.models import Run, Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

# More than anybody scrolls through; older ones are found by name.
ROWS = 200
FRESH = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """`glyph` names a shape of the sprite ("running" → #g-running); `moment` is when the session last moved;
    `since` and `elapsed`, while it runs, when that began and how long ago ("48 s")."""

    session: Session
    glyph: str
    doing: str
    moment: datetime
    time: str
    quiet: bool
    since: datetime | None = None
    elapsed: str = ""


def named(user: AnyUser, query: str) -> list[SessionRow]:
    """The user's sessions whose name or first words hold the query, the one that moved last first."""
    named = Q(name__icontains=query) | Q(name="", title__icontains=query)
    return made_rows(Session.objects.visible_to(user).filter(named))


def newest(user: AnyUser) -> list[SessionRow]:
    """The user's sessions, the one that moved last first."""
    return made_rows(Session.objects.visible_to(user))


def made_rows(sessions: QuerySet[Session]) -> list[SessionRow]:
    shown = list(sessions.select_related("workspace").order_by("-updated_at", "-pk")[:ROWS])
    runs, now = newest_runs(shown), timezone.now()
    return [make_row(session, runs.get(session.pk), now) for session in shown]


def running_count(user: AnyUser) -> int:
    """How many of the user's sessions are at work."""
    return (
        Session.objects.visible_to(user)
        .filter(runs__in=Run.objects.active().filter(status=Run.Status.RUNNING))
        .count()
    )


def row_of(session: Session) -> SessionRow:
    """The row of one session, as it is now."""
    return make_row(session, newest_runs([session]).get(session.pk), timezone.now())


def newest_runs(sessions: Sequence[Session]) -> dict[int, Run]:
    """Session id → its newest run, for those that ever had one."""
    begun = Run.objects.of_agents().exclude(status=Run.Status.WAITING)
    newest = begun.filter(session__in=[session.pk for session in sessions]).values("session")
    runs = Run.objects.filter(pk__in=newest.annotate(newest=Max("pk")).values("newest")).defer("checkpoint")
    return {run.session_id: run for run in runs}


def make_row(session: Session, run: Run | None, now: datetime) -> SessionRow:
    glyph, doing = state_of(session, run, now)
    since = run.started_at or now if run and glyph == "running" and not run.stop_requested else None
    return SessionRow(
        session=session,
        glyph=glyph,
        doing=doing,
        moment=session.updated_at,
        time=_("now") if glyph == "running" else short_time(session.updated_at, now),
        quiet=glyph == "idle",
        since=since,
        elapsed=duration(now - since) if since else "",
    )


def state_of(session: Session, run: Run | None, now: datetime) -> tuple[str, str]:
    """Shape and words, from the newest run. What is not known to be running is never shown as running."""
    entries = session.next_seq - 1
    count = ngettext("%(count)s entry", "%(count)s entries", entries) % {"count": entries}
    if run is None:
        return "idle", _("Idle · %(count)s") % {"count": count} if entries else _("Nothing said yet")
    match run.status:
        case Run.Status.QUEUED:
            return "queued", _("Waiting to start")
        case Run.Status.ASKING | Run.Status.REVIEWING:
            asks = run.status == Run.Status.ASKING
            return "wait", _("Waits for your answer") if asks else _("Waiting for review")
        case Run.Status.RUNNING if run.stop_requested:
            return "running", _("Stopping")
        case Run.Status.RUNNING if run.kind == Run.Kind.COMPACTION:
            return "running", _("Compacting")
        case Run.Status.RUNNING:
            return "running", _("Running")
        case Run.Status.FAILED:
            error = run.error.strip().partition("\n")[0]
            return "error", _("Stopped: %(error)s") % {"error": error} if error else _("Stopped on an error")
        case Run.Status.INTERRUPTED:
            return "stopped", _("Interrupted, can go on")
        case Run.Status.LIMITED:
            return "wait", _("Waits: its ceiling is reached")
        case Run.Status.STOPPED:
            return "stopped", _("Stopped by a person · %(count)s") % {"count": count}
        case _ if now - session.updated_at < FRESH:
            return "worked", _("Finished · %(count)s") % {"count": count}
        case _:
            return "idle", _("Idle · %(count)s") % {"count": count}


def duration(length: timedelta) -> str:
    """ "48 s", "2 min 14 s", "1 h 5 min"."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:
        return _("%(seconds)s s") % {"seconds": seconds}
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return _("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": seconds}
    hours, minutes = divmod(minutes, 60)
    return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes}


def short_time(moment: datetime, now: datetime) -> str:
    """ "now", "12m", "3h", "Tue", "21 Nov", "21 Nov 2024": how long ago, in the width of a column."""
    age = now - moment
    if age < timedelta(minutes=1):
        return _("now")
    if age < timedelta(hours=1):
        return _("%(minutes)sm") % {"minutes": int(age.total_seconds() // 60)}
    if age < timedelta(hours=20):
        return _("%(hours)sh") % {"hours": int(age.total_seconds() // 3600)}
    local = timezone.localtime(moment)
    if age < timedelta(days=6):
        return formats.date_format(local, "D")
    return formats.date_format(local, "j M" if local.year == timezone.localtime(now).year else "j M Y")


def short_path(path: str) -> str:
    """The path with the server user's home written as ~."""
    try:
        return str(Path("~") / Path(path).relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return path
