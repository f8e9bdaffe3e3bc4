"""Folders: adding one as a workspace, and looking for it within the operator's roots."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
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
            remedy = remedy_for(error)
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
    """What the agent would work in at `path` and the folders inside (without a path: those of the first root), or
    what is wrong with the path. `create`: a folder that is not there would be made."""
    path = request.GET.get("path", "")
    if not wants_fragment(request):
        return redirect(f"{reverse('workspace_add')}?{request.GET.urlencode()}")
    facts: dict[str, object] = {"named": bool(path.strip()), "browsing": "browsing" in request.GET}
    try:
        facts["listing"] = listed(path)
    except workspaces.NoSuchFolder as error:
        if "create" in request.GET:
            facts["made"] = short_path(str(error.path))
        else:
            facts |= {"problem": error, "remedy": remedy_for(error)}
    except ServiceError as error:
        facts |= {"problem": error, "remedy": error.remedy}
    return render(request, "sessions_app/_folders.html", facts)


def remedy_for(error: ServiceError) -> str:
    """What to do, in words of the form it is shown in."""
    if isinstance(error, workspaces.NoSuchFolder):
        return f"{error.remedy} {_('To make it new, tick “Make the folder if there is none”.')}"
    return error.remedy


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
        "items": found.items,
    }
