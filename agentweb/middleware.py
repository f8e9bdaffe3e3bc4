"""What every request gets: a content security policy, a sign-in that is asked for in place, and page context."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.templatetags.static import static
from django.utils.cache import patch_vary_headers
from django.utils.safestring import SafeString, mark_safe

from sessions_app import provider_keys, session_rows
from sessions_app.services.search import find_sessions

THEME_COOKIE = "agentweb_theme"

# 4xx answers hold a notice; 401 asks for a sign-in instead (app.js), 422 is a form to be shown again.
HTMX_CONFIG = json.dumps(
    {
        "allowEval": False,
        "includeIndicatorStyles": False,
        "historyCacheSize": 0,
        "scrollIntoViewOnBoost": False,
        "responseHandling": [
            {"code": "204", "swap": False},
            {"code": "[23]..", "swap": True},
            {"code": "401", "swap": False, "error": True},
            {"code": "422", "swap": True, "error": True},
            {
                "code": "[45]..",
                "swap": True,
                "error": True,
                "target": "#notices",
                "swapOverride": "innerHTML",
            },
        ],
    }
)


class ContentSecurityPolicy:
    """Nothing runs or loads in a page but the product's own files; `request.csp_nonce` admits the import map."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        nonce = secrets.token_urlsafe(18)
        request.csp_nonce = nonce  # type: ignore[attr-defined]
        response = self.get_response(request)
        if "Content-Security-Policy" not in response.headers:
            response.headers["Content-Security-Policy"] = policy(request, nonce)
        # One address answers a page or, for htmx, a part of it: going back must never show the part alone.
        patch_vary_headers(response, ("HX-Request",))
        return response


def policy(request: HttpRequest, nonce: str) -> str:
    """The header's value. The socket's own origin is named: older browsers do not count it as 'self'."""
    socket = f"{'wss' if request.is_secure() else 'ws'}://{request.get_host()}"
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' 'nonce-{nonce}'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            f"connect-src 'self' {socket}",
            "font-src 'self'",
            "manifest-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ]
    )


class SignInRequired(LoginRequiredMiddleware):
    """Every view wants a signed-in user unless it says `login_not_required`. htmx gets 401, so that app.js
    asks in place and sends the held command again; a page is led to the sign-in page."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if request.headers.get("HX-Request"):
            return HttpResponse(status=401, headers={"HX-Trigger": "sign-in-needed"})
        return super().handle_no_permission(request, view_func)


def page_context(request: HttpRequest) -> dict[str, Any]:
    """What `base.html` needs. The callables ask the database only where a template uses them."""
    facts: dict[str, Any] = {
        "version": settings.VERSION,
        "theme": chosen_theme(request),
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "htmx_config": HTMX_CONFIG,
        "import_map": import_map(),
    }
    # A request that failed early has no user yet.
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated:
        facts["sessions_nav"] = lambda: find_sessions(user=user).groups
        facts["running_count"] = partial(session_rows.running_count, user)
        facts["demo_only"] = partial(has_no_key, user)
    return facts


def chosen_theme(request: HttpRequest) -> str:
    """ "light" or "dark" when this browser chose one; else "" and the system decides."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in {"light", "dark"} else ""


def has_no_key(user: Any) -> bool:
    """Whether nothing but the demo model can answer this user."""
    return not any(status.source for status in provider_keys.key_status(user))


def import_map() -> SafeString:
    """Bare module name → address of every file in static/js, as JSON that is safe inside a script element."""
    return _import_map_now() if settings.DEBUG else _import_map_once()


def _import_map_now() -> SafeString:
    names = sorted(path.stem for path in (settings.ASSETS_DIR / "static" / "js").glob("*.js"))
    text = json.dumps({"imports": {name: static(f"js/{name}.js") for name in names}})
    return mark_safe(text.replace("<", "\\u003c"))  # noqa: S308 - made of our own file names


@cache
def _import_map_once() -> SafeString:
    return _import_map_now()
