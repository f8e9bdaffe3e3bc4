"""Finding sessions: by name, by what was said in them on any branch, and by what they are to the person who looks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from sessions_app import entry_log, search_index, session_rows
from sessions_app.core import faces
from sessions_app.core.entries import Kind
from sessions_app.core.search_words import Phrase, excerpt_around, read_query, text_to_find
from sessions_app.models import Entry, Run, Session, Workspace

CATCH_UP_SECONDS: Final = 0.4
"""What a search may spend on entries that have not been read yet, before it answers with what there is."""
SESSIONS_SHOWN: Final = 50
HITS_SHOWN: Final = 3
HITS_SHOWN_OF_OPEN_SESSION: Final = 20


class Only(StrEnum):
    """Which sessions are listed."""

    ALL = ""
    RUNNING = "running"
    MINE = "mine"
    LABELLED = "labelled"


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry in which all words were found; `pieces` are (text, whether it was looked for)."""

    seq: int
    glyph: str
    pieces: list[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A session and what was found in it, newest first; `more` hits are not shown."""

    row: session_rows.SessionRow
    hits: list[Hit] = field(default_factory=list)
    more: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """A workspace and the sessions found in it."""

    workspace: Workspace
    path: str
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class Found:
    """`unread` entries could not be looked through yet: asking again reads on."""

    groups: list[Group]
    unread: int = 0


def find_sessions(*, user: Any, text: str = "", only: str = Only.ALL, current: Any = None) -> Found:
    """The user's sessions, by workspace, the one that moved last first.

    With words: those that have all of them in their name or in one entry of any branch; of the session whose key
    is `current` more hits are shown, and it comes first. Without words: all that `only` lets through, and empty workspaces too.
    """
    sessions = narrowed(Session.objects.visible_to(user), user, only)
    if not text:
        # What was archived is found by its words, but not listed.
        rows = session_rows.made_rows(sessions.filter(shelf__archived_at=None))
        return Found(_grouped([Finding(row) for row in rows], user if only == Only.ALL else None))
    phrases = read_query(text)
    unread = search_index.catch_up(sessions, CATCH_UP_SECONDS)
    entries = search_index.matching(Entry.objects.filter(session__in=sessions), phrases)
    counts = dict(entries.order_by().values_list("session").annotate(Count("pk")))
    named = sessions.filter(Q(name__icontains=text) | Q(name="", title__icontains=text))
    rows = session_rows.made_rows(sessions.filter(Q(pk__in=named.values("pk")) | Q(pk__in=list(counts))))
    rows.sort(key=lambda row: row.session.key != current)
    findings = [
        Finding(row, *_hits(row.session, phrases, counts.get(row.session.pk, 0), row.session.key == current))
        for row in rows[:SESSIONS_SHOWN]
    ]
    return Found(_grouped(findings), unread)


def narrowed(sessions: QuerySet[Session], user: Any, only: str) -> QuerySet[Session]:
    """The sessions that a filter lets through; an unknown filter lets all through."""
    match only:
        case Only.RUNNING:
            return sessions.filter(Exists(Run.objects.active().filter(session=OuterRef("pk"))))
        case Only.MINE:
            return sessions.filter(owner=user)
        case Only.LABELLED:
            return sessions.filter(pk__in=_labelled(sessions))
        case _:
            return sessions


def _labelled(sessions: QuerySet[Session]) -> set[int]:
    """Sessions with a label that was not taken away again (01 LB-*: the newest one counts)."""
    newest: dict[tuple[int, str], bool] = {}
    labels = Entry.objects.filter(session__in=sessions, kind=Kind.LABEL).order_by("seq")
    for entry in labels.only("session_id", "payload", "seq"):
        record = entry.record
        target = record.get("targetId")
        if isinstance(target, str):
            newest[entry.session_id, entry_log.stored_id(target)] = bool(record.get("label"))
    return {session for (session, _target), labelled in newest.items() if labelled}


def _hits(session: Session, phrases: tuple[Phrase, ...], count: int, is_open: bool) -> tuple[list[Hit], int]:
    if not count:
        return [], 0
    limit = HITS_SHOWN_OF_OPEN_SESSION if is_open else HITS_SHOWN
    entries = search_index.matching(Entry.objects.filter(session=session), phrases).order_by("-seq")[:limit]
    hits = [_hit(entry, phrases) for entry in entries]
    return hits, count - len(hits)


def _hit(entry: Entry, phrases: tuple[Phrase, ...]) -> Hit:
    core = entry.as_core()
    pieces = excerpt_around(text_to_find(core), phrases)
    return Hit(entry.seq, faces.GLYPHS.get(faces.face_of(core), "note"), pieces)


def _grouped(findings: Sequence[Finding], user: Any = None) -> list[Group]:
    """By workspace, in the order in which they come; for a user also the workspaces without a session."""
    of_workspace: dict[Workspace, list[Finding]] = defaultdict(list)
    for finding in findings:
        of_workspace[finding.row.session.workspace].append(finding)
    if user is not None:
        for workspace in Workspace.objects.visible_to(user).order_by("name"):
            of_workspace.setdefault(workspace, [])
    return [
        Group(workspace, session_rows.short_path(workspace.path), found)
        for workspace, found in of_workspace.items()
    ]
