"""Where work begins: the list of sessions with an empty composer, and the first run."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from sessions_app import provider_keys, session_rows
from sessions_app.forms import SUGGESTED_JOBS, BeginForm, WelcomeForm
from sessions_app.models import Session, Workspace
from sessions_app.runner.execution_policy import local_execution_problem
from sessions_app.services import runs, sessions, tour, workspaces
from sessions_app.services.errors import ServiceError
from sessions_app.services.search import find_sessions
from sessions_app.views.errors import problem, tells_errors, wants_fragment
from sessions_app.views.workspaces import first_listing, remedy_for

MOST_IN_PALETTE = 7


@require_http_methods(["GET", "POST"])
@tells_errors
def session_list(request: HttpRequest) -> HttpResponse:
    """GET: the composer and the sessions (for htmx only the list: what has the words `q`, and
    what `only` lets through). POST: begin a session with
    `text` in `workspace`, or with `tour` open the tour."""
    if request.method == "POST":
        return begin(request)
    query, only = request.GET.get("q", "").strip(), request.GET.get("only", "")
    if wants_fragment(request):
        current = uuid_or_none(request.GET.get("current", ""))
        found = find_sessions(user=request.user, text=query, only=only, current=current)
        facts = {
            "groups": found.groups,
            "unread": found.unread,
            "query": query,
            "only": only,
            "running": session_rows.running_count(request.user),
            "oob": True,
            "current": current,
        }
        return render(request, "sessions_app/_sessions_nav.html", facts)
    if not tour.without_tour(Workspace.objects.visible_to(request.user)).exists():
        return redirect("welcome")
    return render(request, "sessions_app/session_list.html", composer_facts(request, query))


def put_away(request: HttpRequest) -> dict[str, Any] | None:
    """What was just archived or deleted, with the command that takes it back."""
    return put_away_facts(
        request,
        archived=uuid_or_none(request.GET.get("archived", "")),
        deleted=uuid_or_none(request.GET.get("deleted", "")),
    )


def put_away_facts(
    request: HttpRequest, archived: uuid.UUID | None = None, deleted: uuid.UUID | None = None
) -> dict[str, Any] | None:
    """The words about it, the command that takes it back and the session's key; None for one that is not the user's."""
    if archived and (session := Session.objects.may_edit(request.user).filter(key=archived).first()):
        return {
            "words": _("Archived: %(name)s") % {"name": session},
            "action": "unarchive",
            "key": archived,
        }
    if deleted and (session := Session.objects.deleted(request.user).filter(key=deleted).first()):
        return {"words": _("Deleted: %(name)s") % {"name": session}, "action": "restore", "key": deleted}
    return None


def composer_facts(request: HttpRequest, query: str) -> dict[str, Any]:
    """The folder comes from `?workspace=`, else it is the one of the newest session."""
    choices = list(tour.without_tour(Workspace.objects.may_edit(request.user)).order_by("name"))
    newest = (
        Session.objects.may_edit(request.user)
        .order_by("-updated_at")
        .values_list("workspace", flat=True)
        .first()
    )
    wanted = request.GET.get("workspace", "")
    asked = (
        [it for it in choices if str(it.pk) == wanted] or [it for it in choices if it.pk == newest] or choices
    )
    chosen = asked[0] if asked else None
    models = sessions.available_models(request.user)
    return {
        "page": "sessions",
        "put_away": put_away(request),
        "query": query,
        "found": find_sessions(user=request.user, text=query) if query else None,
        "workspaces": [
            {"pk": it.pk, "name": it.name, "path": session_rows.short_path(it.path)} for it in choices
        ],
        "chosen": chosen,
        "may_not_run": local_execution_problem(),
        "folder_problem": workspaces.folder_problem(chosen) if chosen else "",
        "models": models,
        "model": sessions.default_model(request.user),
        "jobs": SUGGESTED_JOBS,
        "key": uuid.uuid4().hex,
        "largest": settings.MAX_PROMPT_BYTES,
    }


def begin(request: HttpRequest) -> HttpResponse:
    """A session with its first message; nothing is left behind when the message is refused."""
    if "tour" in request.POST:
        return go(request, tour.open_tour(request.user))
    form = BeginForm(request.POST, request.FILES, user=request.user)
    if not form.is_valid():
        return problem(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    data = form.cleaned_data
    provider, _slash, model = data["model"].partition("/")
    session = start(
        request.user,
        data["workspace"],
        form.first_words(),
        images=data["images"],
        key=data["key"],
        provider=provider or None,
        model=model or None,
    )
    return go(request, session)


def start(
    user: Any,
    workspace: Workspace,
    text: str,
    *,
    images: list[dict[str, str]] | None = None,
    key: str = "",
    provider: str | None = None,
    model: str | None = None,
) -> Session:
    """The session in which the words were said. Raises ServiceError."""
    runs.checked_words(text, images or [])
    session = sessions.create_session(workspace=workspace, owner=user, provider=provider, model=model)
    try:
        said = runs.submit_prompt(session=session, author=user, text=text, images=images or [], key=key)
    except ServiceError:
        session.delete()
        raise
    if said.run is not None and said.run.session_id != session.pk:
        # The form was sent twice: the first one counts.
        session.delete()
        return said.run.session
    return session


def go(request: HttpRequest, session: Session) -> HttpResponse:
    """To the session: to its end, where things happen, but to the beginning of the tour."""
    address = reverse("session", args=[session.key])
    if tour.is_tour(session) and (first := tour.beginning(session)):
        address = f"{address}#entry-{first.seq}"
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)


@sensitive_post_parameters("secret")
@require_http_methods(["GET", "POST"])
def welcome(request: HttpRequest) -> HttpResponse:
    """The first run on one page: a folder, a model, a first job."""
    form = WelcomeForm(request.POST or None, initial={"provider": "demo", "job": "1", "create": False})
    remedy = ""
    if request.method == "POST" and form.is_valid():
        try:
            return go(request, set_up(request.user, form))
        except ServiceError as error:
            form.add_error("path", str(error))
            remedy = remedy_for(error)
    facts = {
        "form": form,
        "remedy": remedy,
        "listing": first_listing(form["path"].value() or ""),
        "jobs": SUGGESTED_JOBS,
        "keys": provider_keys.key_status(request.user),
        "page": "welcome",
    }
    return render(request, "sessions_app/welcome.html", facts, status=422 if form.errors else 200)


def set_up(user: Any, form: WelcomeForm) -> Session:
    """Folder, key and first session, in that order; each is kept should a later one be refused. The tour needs
    no folder."""
    data = form.cleaned_data
    workspace = None
    if data["path"]:
        workspace = workspaces.add_workspace(
            user=user, path=data["path"], name=data["name"], create=data["create"]
        )
    if data["provider"] != "demo":
        provider_keys.save_key(
            user=user,
            provider=data["provider"],
            secret=data["secret"] or None,
            base_url=data["base_url"],
            models_offered=data["models_offered"],
        )
    words = form.first_words()
    return start(user, workspace, words) if words and workspace else tour.open_tour(user)


def uuid_or_none(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


@require_GET
def palette(request: HttpRequest) -> HttpResponse:
    """What the palette finds by name: sessions, the newest first, and folders one may work in."""
    query = request.GET.get("q", "").strip().removeprefix("/")[:200]
    rows = session_rows.named(request.user, query)[:MOST_IN_PALETTE]
    found = Workspace.objects.visible_to(request.user).filter(name__icontains=query).order_by("name")
    folders = [
        {"pk": it.pk, "name": it.name, "path": session_rows.short_path(it.path)}
        for it in (found[:MOST_IN_PALETTE] if query else ())
    ]
    return render(request, "sessions_app/_palette_found.html", {"rows": rows, "workspaces": folders})
