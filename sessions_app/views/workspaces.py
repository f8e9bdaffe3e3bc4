"""Folders: adding one as a workspace, and looking for it within the operator's roots."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from sessions_app.forms import WorkspaceForm
from sessions_app.services import workspaces
from sessions_app.services.errors import ServiceError
from sessions_app.session_rows import short_path
from sessions_app.views.errors import wants_fragment


@require_http_methods(["GET", "POST"])
def workspace_add(request: HttpRequest) -> HttpResponse:
    """The form with its folder browser; leads to the new folder's empty composer."""
    form = WorkspaceForm(request.POST or None, initial={"path": request.GET.get("path", "")})
    remedy = ""
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            workspace = workspaces.add_workspace(
                user=request.user, path=data["path"], name=data["name"], create=data["create"]
            )
        except ServiceError as error:
            form.add_error("path", str(error))
            remedy = error.remedy
        else:
            return redirect(f"{reverse('session_list')}?workspace={workspace.pk}")
    facts = {
        "form": form,
        "remedy": remedy,
        "listing": first_listing(form["path"].value() or ""),
        "page": "workspaces",
    }
    return render(request, "sessions_app/workspace_add.html", facts, status=422 if form.errors else 200)


@require_safe
def folder_listing(request: HttpRequest) -> HttpResponse:
    """The folders inside `path` (default: the first root). htmx gets the list, or what is wrong with the path."""
    path = request.GET.get("path", "")
    if not wants_fragment(request):
        return redirect(f"{reverse('workspace_add')}?{request.GET.urlencode()}")
    facts: dict[str, object] = {}
    try:
        facts["listing"] = listed(path)
    except ServiceError as error:
        facts["problem"] = error
    return render(request, "sessions_app/_folders.html", facts)


def first_listing(path: str) -> dict[str, object] | None:
    """What the browser shows at first: the folder asked for, else the first root."""
    for candidate in (path, ""):
        try:
            return listed(candidate)
        except ServiceError:
            continue
    return None


def listed(path: str) -> dict[str, object]:
    found = workspaces.list_folders(path)
    return {
        "path": found.path,
        "shown": short_path(found.path),
        "parent": found.parent,
        "folders": [{"name": name, "path": f"{found.path.rstrip('/')}/{name}"} for name in found.folders],
        "more": found.more,
    }
