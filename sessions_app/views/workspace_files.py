"""The workspace's files beside a session's composer: completing their names, keeping what is dropped."""

from __future__ import annotations

import json
import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from sessions_app.forms import FilesForm
from sessions_app.services import workspace_files
from sessions_app.views.errors import problem, tells_errors, wants_fragment
from sessions_app.views.sessions import editable_session, first_error, visible_session


@require_GET
@tells_errors
def file_names(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Options of a listbox: files and folders whose path fits `q`."""
    session = visible_session(request, key)
    query = request.GET.get("q", "")[:300]
    found = workspace_files.complete(workspace=session.workspace, query=query)
    return render(request, "sessions_app/_file_options.html", {"files": found})


@require_POST
@tells_errors
def keep_files(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Put `uploads` into `folder` of the workspace; the page is told their paths."""
    session = editable_session(request, key)
    form = FilesForm(request.POST, request.FILES)
    if not form.is_valid():
        return problem(request, first_error(form))
    data = form.cleaned_data
    paths = workspace_files.keep_files(
        workspace=session.workspace, folder=data["folder"], uploads=data["uploads"]
    )
    if not wants_fragment(request):
        return redirect("session", key)
    return HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"files:kept": {"paths": paths}})})
