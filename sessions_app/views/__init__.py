"""What each address does, by the name it has in `urls.py`."""

from __future__ import annotations

from typing import Any

from django.http import Http404

from sessions_app.views.accounts import login, login_link, logout
from sessions_app.views.health import health, version
from sessions_app.views.home import session_list, welcome
from sessions_app.views.keys import provider_keys
from sessions_app.views.workspaces import folder_listing, workspace_add

__all__ = [
    "folder_listing",
    "health",
    "login",
    "login_link",
    "logout",
    "provider_keys",
    "session_list",
    "version",
    "welcome",
    "workspace_add",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name.startswith("_") or name in {
        "accounts",
        "errors",
        "health",
        "home",
        "keys",
        "workspaces",
        "sessions",
        "entries",
        "blobs",
    }:
        raise AttributeError(name)
    for module in ("sessions", "entries", "blobs"):
        try:
            found = getattr(importlib.import_module(f"sessions_app.views.{module}"), name, None)
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("sessions_app.views"):
                raise
            continue
        if found:
            return found

    def missing(request: Any, **kwargs: Any) -> Any:
        raise Http404

    return missing
