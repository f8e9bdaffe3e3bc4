"""The Changes panel: which files a session changed, how each differs now, and the files themselves."""

from __future__ import annotations

import mimetypes
import uuid
from dataclasses import dataclass

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from sessions_app import fragments
from sessions_app.fragments.changed_files import ChangedFile, changed_files, patches_of
from sessions_app.fragments.diffs import Diff, parse_patch
from sessions_app.fragments.plain_text import visible
from sessions_app.models import Session
from sessions_app.services import git_folder, workspace_files
from sessions_app.services.errors import BadInput
from sessions_app.views.errors import problem, tells_errors, wants_fragment
from sessions_app.views.sessions import visible_session

_MOST_OTHERS = 100
_LONGEST = 400_000
"""Characters of a patch or a new file that are looked at."""

_WORDS: dict[str, str] = {
    "modified": "Differs from HEAD",
    "added": "Added, not committed",
    "deleted": "Deleted",
    "renamed": "Renamed",
    "untracked": "New, not in git",
    "conflict": "In conflict",
}


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One file; `state` says how it is now, `by_session` whether this branch changed it, `file` by how many lines."""

    path: str
    state: str
    exists: bool
    by_session: bool
    file: ChangedFile | None = None


@require_GET
def session_changes(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Files this branch changed, and what else differs from HEAD: a dialog for htmx, else a page."""
    session = visible_session(request, key)
    status = git_folder.status(session.workspace)
    own, others = _rows(session, status)
    facts = {
        "session": session,
        "own": own,
        "others": others[:_MOST_OTHERS],
        "hidden": max(0, len(others) - _MOST_OTHERS),
        "branch": status.branch if status else "",
        "in_git": status is not None,
        "may_edit": fragments.may_edit(session, request.user),
        "page": "sessions",
    }
    name = "_changes_dialog" if wants_fragment(request) else "changes"
    return render(request, f"sessions_app/{name}.html", facts)


@require_GET
@tells_errors
def file_diff(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """How `path` differs from HEAD; where git has nothing to say, what this branch did to it, step by step."""
    session = visible_session(request, key)
    path = _known(session, request.GET.get("path", ""))
    status = git_folder.status(session.workspace)
    change = status.of(path) if status else None
    name = path.rpartition("/")[2]
    patches: list[str] = []
    if change == "untracked":
        patches = [_as_added(session, path)]
    elif change is not None:
        patches = [git_folder.diff_to_head(session.workspace, path)]
    against_head = any(patches)
    if not against_head:
        patches = patches_of(session, path)
    diffs = [_diff(patch, name) for patch in patches]
    return render(
        request,
        "sessions_app/_file_diff.html",
        {
            "diffs": [diff for diff in diffs if diff.rows],
            "is_new": against_head and change == "untracked",
            "against_head": against_head,
        },
    )


@require_GET
def changed_file(request: HttpRequest, key: uuid.UUID) -> FileResponse | HttpResponse:
    """The file at `path` as it is now: shown as text or as an image, with `download` saved."""
    session = visible_session(request, key)
    path = _known(session, request.GET.get("path", ""))
    try:
        content = workspace_files.open_file(workspace=session.workspace, path=path)
    except BadInput as error:
        return problem(request, str(error), error.remedy, status=error.status)
    kind = mimetypes.guess_type(path)[0]
    response = FileResponse(
        content, as_attachment="download" in request.GET, filename=path.rpartition("/")[2] or "file"
    )
    # Nothing in it acts as a page of this server.
    response["Content-Type"] = kind if kind in fragments.SHOWN_IMAGES else "text/plain; charset=utf-8"
    response["Cache-Control"] = "private, no-store"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


def _rows(session: Session, status: git_folder.GitStatus | None) -> tuple[list[ChangeRow], list[ChangeRow]]:
    own = [_row(session, status, file.path, file) for file in changed_files(session)]
    known = {row.path for row in own}
    found = sorted(status.changes) if status else []
    others = [_row(session, status, path, None) for path in found if path not in known]
    return own, others


def _row(
    session: Session, status: git_folder.GitStatus | None, path: str, file: ChangedFile | None
) -> ChangeRow:
    if path.endswith("/"):
        return ChangeRow(path, _WORDS["untracked"], False, False)
    exists = workspace_files.exists(workspace=session.workspace, path=path)
    change = status.of(path) if status else None
    if not exists:
        state = "Gone"
    elif change is not None:
        state = _WORDS[change]
    else:
        state = "As in HEAD" if status else ""
    return ChangeRow(path, state, exists, file is not None, file)


def _known(session: Session, path: str) -> str:
    """Only what the panel lists is told of: 404 for anything else."""
    if path and path in {file.path for file in changed_files(session)}:
        return path
    status = git_folder.status(session.workspace)
    if path and status is not None and status.of(path) is not None:
        return path
    raise Http404


def _as_added(session: Session, path: str) -> str:
    try:
        with workspace_files.open_file(workspace=session.workspace, path=path) as file:
            text = file.read(_LONGEST).decode("utf-8", "replace")
    except BadInput:
        return ""
    if "\0" in text:
        return ""
    lines = text.removesuffix("\n").split("\n")
    return f"@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(f"+{line}" for line in lines)


def _diff(patch: str, name: str) -> Diff:
    return parse_patch(visible(patch[:_LONGEST]), name=name)
