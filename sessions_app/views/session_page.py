"""What the session page shows, gathered for the page and for the parts that a command changes."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from sessions_app import entry_log, fragments, integrity, session_rows
from sessions_app.agent.system_prompt import find_context_files
from sessions_app.fragments import branch_cost, changed_files, tree_panel, wording
from sessions_app.fragments.company import company
from sessions_app.models import Run, Session, ToolPreset, Workspace
from sessions_app.services import compaction, sessions, tour, workspaces
from sessions_app.services.errors import NotAllowed
from sessions_app.views.errors import wants_fragment

Json = dict[str, Any]

WINDOW = 60
"""Entries of the active path on the page; older ones come when they are scrolled to."""

LONGEST_IN_HEADER = 1_000
"""Characters of a returned text that travel beside the transcript; servers refuse long headers."""

_RETURNED_TEXT = "returned-text"
_ARRIVAL = "arrival"
_REPAIRS = "repairs"


def read_only() -> NotAllowed:
    return NotAllowed(
        "You may read this session, not change it.", "Ask an admin of its workspace for the role of a member."
    )


def facts(request: HttpRequest, session: Session, *, before: int | None = None) -> Json:
    """Everything the page shows. `before` is a depth: then the page ends above it."""
    user = request.user
    damage = integrity.mend_leaf(session)
    may_edit = fragments.may_edit(session, user)
    state = fragments.run_state(session)
    found = window_facts(request, session, before) | side_facts(session) | compaction_facts(request, session)
    if may_edit:
        found |= picker_facts(request, session) | tools_facts(session)
    return found | {
        "active": state.is_active,
        "run_status": fragments.render_run_status(session, user=user),
        "run_notice": fragments.render_run_notice(session, user=user),
        "live": live_parts(session, found["entries"], active=state.is_active),
        "queue": fragments.render_queue(session, user=user),
        "questions": fragments.render_questions(session, user=user),
        "commands": fragments.render_commands(session, user=user),
        "meta": fragments.render_session_meta(session, user=user),
        "tree": fragments.render_tree(session, user=user, panel=found["panel"]),
        "company": company(session, user),
        "ends_above": before is not None,
        **_folder_facts(session, user),
        "damage": damage,
        "repairs": request.session.pop(f"{_REPAIRS}:{session.key}", []),
        "workspace_path": session_rows.short_path(session.workspace.path),
        "draft": take_returned_text(request, session),
        "prompt_key": uuid.uuid4().hex,
        "largest": settings.MAX_PROMPT_BYTES,
        "largest_file": wording.size(settings.MAX_UPLOAD_BYTES),
        "page": "sessions",
    }


def _folder_facts(session: Session, user: Any) -> Json:
    """What is wrong with the session's folder, and then where else it could go on."""
    if not (trouble := workspaces.folder_problem(session.workspace)):
        return {"folder_problem": ""}
    others = Workspace.objects.may_edit(user).exclude(pk=session.workspace_id)
    usable = [folder for folder in others if not workspaces.folder_problem(folder)]
    return {"folder_problem": trouble, "other_folders": usable}


def side_facts(session: Session) -> Json:
    """What stands below the tree."""
    return {
        "session": session,
        "panel": tree_panel.build(session),
        "files": changed_files.changed_files(session),
        "branch_cost": branch_cost.branch_cost(session),
        "rules": rules(session),
        "tour_begins": tour.beginning(session) if tour.is_tour(session) else None,
    }


def window_facts(request: HttpRequest, session: Session, before: int | None = None) -> Json:
    """A stretch of the active path as articles, and from which depth on there is more above it."""
    window = entry_log.load_window(session, before_depth=before, limit=WINDOW)
    entries = list(window.entries)
    if entries:
        entries[0].session = session
    return {
        "entries": entries,
        "articles": fragments.render_entries(entries, user=request.user),
        "older": entries[0].depth if window.has_older and entries else None,
        "leaf": session.leaf.seq if session.leaf else None,
        "seq": session.next_seq - 1,
        "key": session.key,
    }


def live_parts(session: Session, entries: list[Any], *, active: bool) -> str:
    """What stands in #live until the socket brings what is there now: the checkpoint of the answer, open calls."""
    run = session.runs.active().first() if active else None
    parts: list[str] = []
    if run is not None and run.checkpoint:
        unfinished = json.loads(run.checkpoint)
        # A checkpoint may be older than the entry of its answer: then that is on the page already.
        if unfinished["answer"] > run.entries.filter(kind="message", role="assistant").count():
            # Under the name that the answer has in frames, so that its entry takes its place.
            message = fragments.live_message_of(f"m{unfinished['answer']}", unfinished["message"])
            parts.append(fragments.render_live_message(message))
    if run is not None and run.status == Run.Status.ASKING:
        return ""  # its calls are not at work: they are asked for
    card = fragments.render_tool_running if active else fragments.render_tool_open
    parts += [card(call) for call in fragments.open_calls(entries)]
    return "".join(parts)


def compaction_facts(request: HttpRequest, session: Session) -> Json:
    """Why automatic compaction has stopped on the active branch, if it has."""
    return {
        "session": session,
        "compaction_problem": compaction.automatic_problem(session),
        "may_edit": fragments.may_edit(session, request.user),
    }


def rules(session: Session) -> list[Json]:
    """The instruction files that apply to the session's folder."""
    folder = Path(session.workspace.path)
    found = find_context_files(settings.AGENT_DIR, folder)
    return [
        {
            "path": str(file.path),
            "shown": session_rows.short_path(str(file.path)),
            "origin": str(getattr(file, "origin", "")),
        }
        for file in found
    ]


def picker_facts(request: HttpRequest, session: Session) -> Json:
    return {
        "session": session,
        "models": sessions.available_models(request.user),
        "levels": fragments.thinking_levels(session),
    }


def tools_facts(session: Session) -> Json:
    return {"session": session, "presets": ToolPreset.choices}


def transcript(request: HttpRequest, session: Session) -> HttpResponse:
    """The transcript as it is now, and beside it (out of band) the parts that depend on the leaf."""
    log = render(request, "sessions_app/_transcript.html", window_facts(request, session))
    log.write(out_of_band(request, session, "run-status", "queue", "session-meta", "session-tree"))
    log.write(
        render_to_string(
            "sessions_app/_side_facts.html", side_facts(session) | {"out_of_band": True, "counts": True}
        )
    )
    if text := _text_of_arrival(request, session):
        log["HX-Trigger-After-Swap"] = json.dumps({"session:moved": {"text": text}})
    return log


def going(request: HttpRequest, session: Session, run: Run, text: str) -> HttpResponse:
    """The answer to a move that waits for a summary of the branch that is left; `text` waits for it too."""
    session.refresh_from_db()
    if text:
        request.session[f"{_ARRIVAL}:{session.key}"] = {"run": run.pk, "text": text}
    if not wants_fragment(request) or request.headers.get("HX-Target") != "transcript":
        return _to_page(request, session, "")
    response = changed_parts(request, session, "run-status", "queue", "session-tree")
    response["HX-Reswap"] = "none"
    response["HX-Trigger"] = "sessions-changed"
    return response


def opened(request: HttpRequest, session: Session, text: str = "") -> HttpResponse:
    """The answer to a command that made another session: to its page, `text` in the composer."""
    return _to_page(request, session, text)


def moved(request: HttpRequest, session: Session, text: str = "", *, seq: int | None = None) -> HttpResponse:
    """The answer to a command that moved the leaf; `text` goes back into the composer if that is empty."""
    session.refresh_from_db()
    elsewhere = request.headers.get("HX-Target", "transcript") != "transcript"
    if not wants_fragment(request) or elsewhere or len(text) > LONGEST_IN_HEADER:
        return _to_page(request, session, text)
    response = transcript(request, session)
    response["HX-Reswap"] = "outerHTML"
    leaf = session.leaf.seq if session.leaf else None
    # Header values are Latin-1: everything else is escaped.
    response["HX-Trigger-After-Swap"] = json.dumps(
        {"session:moved": {"leaf": leaf, "seq": session.next_seq - 1, "text": text}, "sessions-changed": {}}
    )
    return response


def changed_parts(request: HttpRequest, session: Session, *names: str) -> HttpResponse:
    """Only out-of-band parts, for commands whose own element stays as it is."""
    return HttpResponse(out_of_band(request, session, *names))


def remember_repairs(request: HttpRequest, session: Session, repairs: list[str]) -> None:
    """What was mended in an imported file, told on the session's page when it is opened next."""
    if repairs:
        request.session[f"{_REPAIRS}:{session.key}"] = repairs


def take_returned_text(request: HttpRequest, session: Session) -> str:
    """Text that a command without script put aside for the composer; given once."""
    text: str = request.session.pop(f"{_RETURNED_TEXT}:{session.key}", "")
    return text or _text_of_arrival(request, session)


def _text_of_arrival(request: HttpRequest, session: Session) -> str:
    """The words of the message one went back to, once the summary of the branch that was left is there; given once."""
    waiting = request.session.get(f"{_ARRIVAL}:{session.key}")
    if not waiting:
        return ""
    run = Run.objects.filter(pk=waiting["run"]).first()
    if run is not None and (run.is_active or run.status == Run.Status.WAITING):
        return ""
    del request.session[f"{_ARRIVAL}:{session.key}"]
    return str(waiting["text"]) if run is not None and run.status == Run.Status.COMPLETED else ""


def _to_page(request: HttpRequest, session: Session, text: str) -> HttpResponse:
    """To the conversation from wherever the command was given; the text waits there."""
    if text:
        request.session[f"{_RETURNED_TEXT}:{session.key}"] = text
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("session", args=[session.key])})
    return redirect("session", session.key)


def out_of_band(request: HttpRequest, session: Session, *names: str) -> str:
    """Parts of the page that an answer to something else renews."""
    render_part = {
        "run-status": fragments.render_run_status,
        "queue": fragments.render_queue,
        "questions": fragments.render_questions,
        "commands": fragments.render_commands,
        "session-meta": fragments.render_session_meta,
        "session-tree": fragments.render_tree,
    }
    return "".join(
        format_html(
            '<div id="{}" hx-swap-oob="innerHTML">{}</div>',
            name,
            mark_safe(render_part[name](session, user=request.user)),  # noqa: S308 - made by templates
        )
        for name in names
    )
