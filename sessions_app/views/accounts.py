"""Signing in and out: by name and password, by a one-time link, and in place when a sign-in has expired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login as sign_in
from django.contrib.auth import logout as sign_out
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from sessions_app.forms import SignInForm
from sessions_app.services import accounts
from sessions_app.views.errors import wants_fragment

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# A link's user has no password to check; the session still names the backend that loads it.
BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """The sign-in page; for htmx the form alone, and JSON with the new form token once signed in (app.js)."""
    in_place = wants_fragment(request)
    if request.method == "GET" and request.user.is_authenticated:
        return signed_in(request) if in_place else redirect(after_sign_in(request))
    form = SignInForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        sign_in(request, form.get_user())
        return signed_in(request) if in_place else redirect(after_sign_in(request))
    return sign_in_page(request, form, status=422 if form.is_bound else 200)


def sign_in_page(request: HttpRequest, form: SignInForm, *, status: int, refusal: str = "") -> HttpResponse:
    template = "registration/_sign_in.html" if wants_fragment(request) else "registration/login.html"
    facts = {
        "form": form,
        "refusal": refusal,
        "next": request.POST.get("next") or request.GET.get("next", ""),
        "host": request.get_host(),
    }
    return render(request, template, facts, status=status)


def locked_out(
    request: HttpRequest, answer: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """In place of whatever page refused one wrong password too many (AXES_LOCKOUT_CALLABLE)."""
    refusal = _("Too many wrong passwords for this name. Wait 15 minutes, or use a sign-in link.")
    return sign_in_page(request, SignInForm(request), status=429, refusal=refusal)


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """A new password; whoever signs in by links alone chooses a first one without naming an old one."""
    user = cast("User", request.user)
    form = (PasswordChangeForm if user.has_usable_password() else SetPasswordForm)(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        update_session_auth_hash(request, user)
        messages.success(request, _("Your password is changed. Other browsers of yours are signed out."))
        return redirect("password")
    return render(
        request,
        "registration/password.html",
        {"form": form, "page": "password"},
        status=422 if form.errors else 200,
    )


def signed_in(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"user": request.user.pk, "csrf": get_token(request)})


def after_sign_in(request: HttpRequest) -> str:
    """Where the person was going, if that is on this server."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return resolve_url(settings.LOGIN_REDIRECT_URL)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def login_link(request: HttpRequest, token: str) -> HttpResponse:
    """A page with one button: previews and mail scanners only look, and looking does not use the link up."""
    if request.method == "POST":
        user = accounts.redeem_login_link(token)
        if user is not None:
            sign_in(request, user, backend=BACKEND)
            return redirect(settings.LOGIN_REDIRECT_URL)
    if accounts.login_link_is_good(token):
        return render(request, "registration/login_link.html", {"good": True, "host": request.get_host()})
    return render(
        request, "registration/login_link.html", {"good": False, "host": request.get_host()}, status=410
    )


@login_not_required
@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    sign_out(request)
    return redirect(settings.LOGOUT_REDIRECT_URL or "login")
