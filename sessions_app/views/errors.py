"""What a refused or failed request is told: a notice for htmx, a page otherwise, in the product's words."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
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
    if wants_fragment(request):
        response = HttpResponse(_SERVER_ERROR_FRAGMENT, status=500)
        response["HX-Retarget"] = "#notices"
        return response
    return render(None, "500.html", status=500)


_SERVER_ERROR_FRAGMENT = (
    '<div class="notice notice--bad" role="alert"><div><b>The server failed on this request.</b>'
    "<p>What was stored before is kept. The server's log says what broke.</p></div></div>"
)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form from before the last sign-in. app.js fetches a new token and sends a held command again."""
    message = _("This page was older than your sign-in, so nothing was sent.")
    response = problem(request, message, _("Go back, reload the page and send it again."), status=403)
    response["X-Form-Expired"] = "1"
    return response
