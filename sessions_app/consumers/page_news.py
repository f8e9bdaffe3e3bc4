"""What a page doesn't show yet: read from the rows with the viewer's permission, each time anew."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import auth
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.template.loader import render_to_string

from sessions_app import entry_log, fragments
from sessions_app.core.entries import Kind
from sessions_app.models import Entry, Run, Session, ToolPreset
from sessions_app.services import sessions

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

Json = dict[str, Any]

# More new entries than this are not sent one by one: the browser fetches the transcript.
MOST_APPENDED = 100

HEADER = ("session-name", "model-picker", "tools-picker")
PARTS = ("questions", "commands", "queue", "run-status", *HEADER, "session-meta", "session-tree")
# Entries that say something new about an earlier one.
_ABOUT_OTHERS = (Kind.LABEL, Kind.CONTEXT_EDIT)
_WORDS: dict[str, str] = {
    Run.Status.RUNNING: "The agent is at work.",
    Run.Status.ASKING: "The agent asks for your permission.",
    Run.Status.REVIEWING: "The agent waits until its compaction has been reviewed.",
    Run.Status.COMPLETED: "The agent has finished.",
    Run.Status.FAILED: "The agent's job failed.",
    Run.Status.STOPPED: "The agent was stopped.",
    Run.Status.INTERRUPTED: "The agent's job was interrupted.",
    Run.Status.LIMITED: "The agent stopped at a limit.",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page has: the newest seq of the session, its leaf's seq (0: none), and its newest run with status."""

    seq: int = 0
    leaf: int = 0
    run: int | None = None
    status: str = ""


@dataclass(frozen=True, slots=True)
class News:
    """Frames to send, what the page shows after them, and the run to follow, if one is active."""

    frames: list[Json] = field(default_factory=list)
    shown: Shown = field(default_factory=Shown)
    active_run: int | None = None
    postponed: frozenset[str] = frozenset()


def signed_in_user(session: SessionBase) -> AnyUser | None:
    """The user of a browser session as it is in the store now; None once signed out, disabled or changed."""
    request = HttpRequest()
    store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(session.session_key)
    user = auth.get_user(request)
    return user if user.is_authenticated and user.is_active else None


def find_session(user: AnyUser, key: Any) -> Session | None:
    return Session.objects.visible_to(user).filter(key=key).first()


def read_news(
    user: AnyUser, session_pk: int, shown: Shown, parts: Collection[str], *, later: Collection[str] = ()
) -> News | None:
    """What has changed since `shown`, and those parts. None: the user may not see the session (any more).

    Parts that a change makes old are rendered though they were not asked for. Those in `later` are not
    rendered now but named in `postponed`.
    """
    session = (
        Session.objects.visible_to(user).select_related("leaf", "workspace").filter(pk=session_pk).first()
    )
    if session is None:
        return None
    run = Run.objects.of_agents().filter(session=session).order_by("-pk").first()
    now = Shown(
        seq=session.next_seq - 1,
        leaf=session.leaf.seq if session.leaf else 0,
        run=run.pk if run else None,
        status=run.status if run else "",
    )
    wanted = set(parts)
    frames: list[Json] = []
    if now.leaf != shown.leaf:
        frames += _entries_frames(session, shown, now, user)
    if (now.run, now.status) != (shown.run, shown.status):
        wanted |= {"run-status", "queue", "questions", "commands"}
        frames += _words_about(now)
    if now.seq != shown.seq or now.leaf != shown.leaf:
        wanted |= {"session-meta", "session-tree"}
    frames += [
        {"t": "part", "target": part, "html": _render_part(part, session, user)}
        for part in PARTS
        if part in wanted and part not in later
    ]
    return News(frames, now, run.pk if run and run.is_active else None, frozenset(wanted.intersection(later)))


def _entries_frames(session: Session, shown: Shown, now: Shown, user: AnyUser) -> list[Json]:
    entries = _continuation(session, shown.leaf)
    frame: Json = {"t": "entries", "seq": now.seq, "leaf": now.leaf}
    if entries is None:
        return [frame | {"path": "reset", "html": "", "replaces": []}]
    if entries:
        entries[0].session = session
    html = fragments.render_entries(entries, user=user)
    frame |= {"path": "append", "html": html, "replaces": _replaced_by(entries)}
    return [frame, *_articles_anew(session, entries, user)]


def _articles_anew(session: Session, entries: list[Entry], user: AnyUser) -> list[Json]:
    """Earlier entries that got another label, or are told to the model in another way."""
    targets: dict[int, Entry] = {}
    for entry in entries:
        target = (
            entry_log.find_by_id(session.pk, entry.record.get("targetId"))
            if entry.kind in _ABOUT_OTHERS
            else None
        )
        if target is not None:
            target.session = session
            targets[target.pk] = target
    return [
        {"t": "article", "seq": target.seq, "html": fragments.render_entry(target, user=user)}
        for target in targets.values()
    ]


def _continuation(session: Session, old_leaf_seq: int) -> list[Entry] | None:
    """The entries between the page's leaf and the session's; None when the leaf has moved elsewhere."""
    leaf = session.leaf
    if leaf is None:
        return None
    from_depth = 0
    old_leaf = None
    if old_leaf_seq:
        old_leaf = Entry.objects.only("pk", "depth").filter(session=session, seq=old_leaf_seq).first()
        if old_leaf is None:
            return None
        from_depth = old_leaf.depth + 1
    if not 0 <= leaf.depth - from_depth < MOST_APPENDED:
        return None
    entries = entry_log.load_path(leaf, from_depth=from_depth)
    continues = bool(entries) and entries[0].parent_id == (old_leaf.pk if old_leaf else None)
    return entries if continues else None


def _replaced_by(entries: list[Entry]) -> list[str]:
    """Keys of the previews in the live region that these entries take the place of."""
    keys: list[str] = []
    for entry in entries:
        if entry.run_id is None:
            continue
        if entry.role == "assistant":
            answers = Entry.objects.filter(run_id=entry.run_id, role="assistant", seq__lte=entry.seq).count()
            keys.append(f"m{answers}")
        elif entry.role == "toolResult":
            call = entry.record.get("message", {}).get("toolCallId")
            keys.append(str(call))
    return keys


def stored_previews(run_pk: int | None, seq: int) -> frozenset[str]:
    """Keys of all previews of a run whose entries are among the session's first `seq`."""
    if run_pk is None:
        return frozenset()
    rows = Entry.objects.filter(run_id=run_pk, seq__lte=seq, kind="message").order_by("seq")
    answers = rows.filter(role="assistant").count()
    keys = [f"m{number + 1}" for number in range(answers)]
    # Tools of answers before the last one have long been dropped.
    newest = rows.filter(role="assistant").last()
    if newest is not None:
        results = rows.filter(role="toolResult", seq__gt=newest.seq)
        keys += [str(entry.record.get("message", {}).get("toolCallId")) for entry in results]
    return frozenset(keys)


def _words_about(now: Shown) -> list[Json]:
    words = _WORDS.get(now.status)
    return [{"t": "say", "text": words}] if words else []


def _render_part(part: str, session: Session, user: AnyUser) -> str:
    match part:
        case "questions":
            return fragments.render_questions(session, user=user)
        case "commands":
            return fragments.render_commands(session, user=user)
        case "queue":
            return fragments.render_queue(session, user=user)
        case "run-status":
            return fragments.render_run_status(session, user=user)
        case "session-name":
            return fragments.render_session_name(session, user=user)
        case "model-picker":
            return _render_picker("_model_picker", session, user)
        case "tools-picker":
            return _render_picker("_tools_picker", session, user)
        case "session-meta":
            return fragments.render_session_meta(session, user=user)
        case _:
            return fragments.render_tree(session, user=user)


def _render_picker(name: str, session: Session, user: AnyUser) -> str:
    """A picker of the header; empty for those who may not choose, whose page has none."""
    if not fragments.may_edit(session, user):
        return ""
    facts = {
        "session": session,
        "models": sessions.available_models(user),
        "levels": fragments.thinking_levels(session),
        "presets": ToolPreset.choices,
    }
    return render_to_string(f"sessions_app/{name}.html", facts)
