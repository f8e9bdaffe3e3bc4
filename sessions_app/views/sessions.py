"""A session's page and the commands given on it: prompt, stop, continue, model, name, queue, undo."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from sessions_app import fragments
from sessions_app.forms import BeginForm, ImportForm, ModelForm, NameForm, PromptForm, QueuedForm
from sessions_app.models import Session
from sessions_app.services import navigation, runs, sessions
from sessions_app.views import home, leaving, session_page
from sessions_app.views.errors import problem, tells_errors, wants_fragment


def visible_session(request: HttpRequest, key: uuid.UUID) -> Session:
    """The session if the user may see it, else 404."""
    found = Session.objects.visible_to(request.user).select_related("workspace", "leaf")
    return get_object_or_404(found, key=key)


def editable_session(request: HttpRequest, key: uuid.UUID) -> Session:
    """The session if the user may change it. Viewers are told so; for others it does not exist."""
    session = visible_session(request, key)
    if not fragments.may_edit(session, request.user):
        raise session_page.read_only()
    return session


@require_GET
def session(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The page; for htmx the transcript with everything that follows from where the leaf stands, or with
    `part=facts` what stands below the tree."""
    if Session.objects.deleted(request.user).filter(key=key).exists():
        return problem(
            request,
            "This session was deleted.",
            "Bring it back from the shelf: Archived and deleted, below the list of sessions.",
            status=410,
        )
    found = visible_session(request, key)
    if not wants_fragment(request):
        return render(request, "sessions_app/session.html", session_page.facts(request, found))
    if request.GET.get("part") == "facts":
        return render(
            request, "sessions_app/_side_facts.html", session_page.side_facts(found) | {"counts": True}
        )
    return session_page.transcript(request, found)


@require_GET
def session_older(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Entries above `before` (a depth): what replaces the row at the top, or the whole page from there up."""
    found = visible_session(request, key)
    text = request.GET.get("before", "")
    before = int(text) if text.isdecimal() and len(text) < 10 else None
    if wants_fragment(request):
        return render(
            request, "sessions_app/_older_page.html", session_page.window_facts(request, found, before)
        )
    return render(request, "sessions_app/session.html", session_page.facts(request, found, before=before))


@require_POST
@tells_errors
def session_new(request: HttpRequest) -> HttpResponse:
    """A session in `workspace`, with its first message when `text` holds one."""
    form = BeginForm(request.POST, request.FILES, user=request.user)
    if not form.is_valid():
        return problem(request, first_error(form))
    data = form.cleaned_data
    provider, _slash, model = data["model"].partition("/")
    wanted: dict[str, Any] = {"provider": provider or None, "model": model or None}
    if data["text"].strip() or data["images"]:
        made = home.start(
            request.user, data["workspace"], data["text"], images=data["images"], key=data["key"], **wanted
        )
    else:
        made = sessions.create_session(workspace=data["workspace"], owner=request.user, **wanted)
    return home.go(request, made)


@require_POST
@tells_errors
def session_import(request: HttpRequest) -> HttpResponse:
    """A session from an uploaded session file."""
    form = ImportForm(request.POST, request.FILES, user=request.user)
    if not form.is_valid():
        return problem(request, first_error(form))
    file = form.cleaned_data["file"]
    repairs: list[str] = []
    made = sessions.import_session_text(
        workspace=form.cleaned_data["workspace"],
        owner=request.user,
        text=file.file,
        name=file.name,
        key=form.cleaned_data["key"],
        repaired=repairs.append,
    )
    session_page.remember_repairs(request, made, repairs)
    return home.go(request, made)


@require_GET
def import_progress(request: HttpRequest) -> HttpResponse:
    """How far the import with this `key` has come: `{"done", "of"}` in entries, nothing while that is not known."""
    progress = sessions.import_progress(request.user, request.GET.get("key", "")[:64])
    if progress is None:
        return HttpResponse(status=204)
    return JsonResponse({"done": progress[0], "of": progress[1]})


@require_POST
@tells_errors
def submit_prompt(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Words for the agent: a run begins, or they wait for the one at work."""
    found = editable_session(request, key)
    form = PromptForm(request.POST, request.FILES)
    if not form.is_valid():
        return problem(request, first_error(form))
    data = form.cleaned_data
    if not data["images"] and (own := runs.command_in(data["text"])):
        return _run_command(request, found, *own, key=data["key"])
    said = runs.submit_prompt(
        session=found,
        author=request.user,
        text=data["text"],
        images=data["images"],
        mode=data["mode"],
        key=data["key"],
    )
    if not wants_fragment(request):
        return redirect("session", key)
    found.refresh_from_db()
    response = session_page.changed_parts(request, found, "run-status", "queue")
    seq = said.entry.seq if said.entry else None
    response["HX-Trigger"] = json.dumps({"session:accepted": {"seq": seq}, "sessions-changed": {}})
    return response


def _run_command(
    request: HttpRequest, found: Session, command: str, excluded: bool, *, key: str
) -> HttpResponse:
    """A person's own command, sent from the composer."""
    runs.run_command(session=found, author=request.user, command=command, exclude=excluded, key=key)
    if not wants_fragment(request):
        return redirect("session", found.key)
    response = session_page.changed_parts(request, found, "commands")
    response["HX-Trigger"] = json.dumps({"session:accepted": {"seq": None}})
    return response


@require_POST
@tells_errors
def stop_commands(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """End every command of a person that runs in this session."""
    found = editable_session(request, key)
    runs.stop_commands(session=found, author=request.user)
    if not wants_fragment(request):
        return redirect("session", key)
    return HttpResponse(fragments.render_commands(found, user=request.user))


@require_POST
@tells_errors
def stop_run(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """End the active run at once; what waits stays in the queue."""
    found = editable_session(request, key)
    runs.stop_run(session=found, author=request.user)
    return _run_status(request, found)


@require_POST
@tells_errors
def continue_run(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Go on from the leaf after a ceiling, an interruption, a stop or an error."""
    found = editable_session(request, key)
    runs.raise_and_continue(session=found, author=request.user)
    return _run_status(request, found)


@require_POST
@tells_errors
def choose_model(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The model and thinking level of the next request."""
    found = editable_session(request, key)
    form = ModelForm(request.POST)
    if not form.is_valid():
        return problem(request, first_error(form))
    provider, model = form.cleaned_data["model"]
    changed = sessions.choose_model(
        session=found,
        author=request.user,
        provider=provider,
        model=model,
        thinking_level=form.cleaned_data["thinking_level"] or None,
    )
    if not wants_fragment(request):
        return redirect("session", key)
    return render(request, "sessions_app/_model_picker.html", session_page.picker_facts(request, changed))


@require_POST
@tells_errors
def rename_session(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Give the session a name; an empty one leaves its first words as its name."""
    found = editable_session(request, key)
    form = NameForm(request.POST)
    if not form.is_valid():
        return problem(request, first_error(form))
    renamed = sessions.rename_session(session=found, author=request.user, name=form.cleaned_data["name"])
    if not wants_fragment(request):
        return redirect("session", key)
    response = render(request, "sessions_app/_session_name.html", {"session": renamed, "may_edit": True})
    response["HX-Trigger"] = "sessions-changed"
    return response


@require_POST
@tells_errors
def edit_queued(request: HttpRequest, key: uuid.UUID, id: int) -> HttpResponse:  # noqa: A002 - named by the address
    """Change, remove, hold back or move a waiting message."""
    found = editable_session(request, key)
    form = QueuedForm(request.POST)
    if not form.is_valid():
        return problem(request, first_error(form))
    action = form.cleaned_data["action"]
    who: dict[str, Any] = {"session": found, "author": request.user, "queued_id": id}
    if action == "remove":
        runs.remove_queued(**who)
    elif action == "hold":
        runs.hold_queued(**who)
    elif action in {"up", "down"}:
        runs.reorder_queued(**who, up=action == "up")
    else:
        runs.edit_queued(**who, text=form.cleaned_data["text"])
    if not wants_fragment(request):
        return redirect("session", key)
    return HttpResponse(fragments.render_queue(found, user=request.user))


@require_POST
@tells_errors
def undo(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Go back before the newest of the user's messages on this branch."""
    found = editable_session(request, key)
    if wants_fragment(request) and navigation.is_at_work(found):
        target = navigation.newest_own(found)
        return leaving.ask(request, found, target, leaving.look_back(found, target))
    moved = navigation.undo(session=found, author=request.user)
    return session_page.moved(request, found, moved.text)


def _run_status(request: HttpRequest, found: Session) -> HttpResponse:
    if not wants_fragment(request):
        return redirect("session", found.key)
    response = session_page.changed_parts(request, found, "queue", "session-tree")
    response.content = fragments.render_run_status(found, user=request.user).encode() + response.content
    response["HX-Trigger"] = "sessions-changed"
    return response


def first_error(form: Any) -> str:
    """What is wrong with a form, in one line."""
    return " ".join(error for errors in form.errors.values() for error in errors)
