"""What a refused or failed request is told: a notice for htmx, a page otherwise, in the product's words."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.translation import gettext as _

from sessions_app.services.errors import ServiceError

Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponse]


def tells_errors(view: View[Arguments]) -> View[Arguments]:
    """Turns a ServiceError of the view into its status with its message and remedy (see `problem`)."""

    @wraps(view)
    def told(request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except ServiceError as error:
            return problem(request, str(error), error.remedy, status=error.status)

    return told


def problem(request: HttpRequest, message: str, remedy: str = "", *, status: int = 400) -> HttpResponse:
    """The one way to say no: a fragment that lands in #notices for htmx, else a whole page."""
    facts = {"message": message, "remedy": remedy, "status": status}
    if wants_fragment(request):
        response = render(request, "sessions_app/_notice.html", facts, status=status)
        response["HX-Retarget"] = "#notices"
        response["HX-Reswap"] = "innerHTML"
        return response
    return render(request, "problem.html", facts, status=status)


def wants_fragment(request: HttpRequest) -> bool:
    return "HX-Request" in request.headers


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem(request, _("The server could not make sense of that request."), _("Nothing was changed."))


def permission_denied(request: HttpRequest, exception: PermissionDenied) -> HttpResponse:
    return problem(
        request,
        str(exception) or _("You may not do that here."),
        _("Ask an admin of the workspace if you should be able to."),
        status=403,
    )


def page_not_found(request: HttpRequest, exception: Http404) -> HttpResponse:
    if request.path.startswith("/s/"):
        # One text for both, so that an address says nothing about sessions of others.
        message = _("No such session, or you may not see it.")
        remedy = _("If somebody sent you the link, ask to be added to the workspace it is in.")
    else:
        message = _("There is nothing at this address.")
        remedy = _("The link may be old or cut short.")
    return problem(request, message, remedy, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Without context processors: whatever broke may break them too."""
    # Django calls this while it handles the exception.
    known = trouble(sys.exception())
    message, remedy = known or ("", "")
    status = 503 if known else 500
    if not wants_fragment(request):
        return render(None, "500.html", {"message": message, "remedy": remedy}, status=status)
    words = format_html(
        '<div class="notice notice--bad" role="alert"><div><b>{}</b><p>{}</p></div></div>',
        message or "The server failed on this request.",
        remedy or "What was stored before is kept. The server's log says what broke.",
    )
    response = HttpResponse(words, status=status)
    response["HX-Retarget"] = "#notices"
    return response


def trouble(error: BaseException | None) -> tuple[str, str] | None:
    """What broke and what to do, where it is not the program's fault: disk, rights, the database's server."""
    words = str(error)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _FULL
    if isinstance(error, OSError) and error.errno in {errno.EROFS, errno.EACCES}:
        return _NOT_WRITABLE
    if not isinstance(error, DatabaseError | InterfaceError):
        return None
    if "full" in words or "No space left" in words:
        return _FULL
    if "readonly" in words or "unable to open" in words:
        return _NOT_WRITABLE
    if "malformed" in words or "not a database" in words:
        return _DAMAGED
    if "locked" in words:
        return _BUSY
    return _UNREACHABLE if isinstance(error, OperationalError | InterfaceError) else None


_FULL = (
    "The server's disk is full: nothing was changed.",
    "Free some space where its data directory is, then do it again. What was stored before is kept.",
)
_NOT_WRITABLE = (
    "The server may not write its data: nothing was changed.",
    "Give its user the right to write the data directory, then do it again. What was stored before is kept.",
)
_DAMAGED = (
    "The server's database is damaged.",
    "Stop agentweb and run “agentweb doctor”; docs/operations.md says how to put a copy back.",
)
_BUSY = ("The database is busy: nothing was changed.", "Do it again in a moment.")
_UNREACHABLE = (
    "The server can't reach its database: nothing was changed.",
    "See that the database of DATABASE_URL runs, then do it again. What was stored before is kept.",
)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form from before the last sign-in. app.js fetches a new token and sends a held command again."""
    message = _("This page was older than your sign-in, so nothing was sent.")
    response = problem(request, message, _("Go back, reload the page and send it again."), status=403)
    response["X-Form-Expired"] = "1"
    return response
