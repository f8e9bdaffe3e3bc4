"""When agents may run commands as the server's own user: only for one person on one's own machine, or by the operator's word."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def local_execution_problem() -> str:
    """Why tools may not run here, with the remedy; empty when they may."""
    if settings.ALLOW_LOCAL_EXECUTION:
        return ""
    remedy = (
        "Commands of agents run as the server's own user. If everybody who can sign in may do that, "
        "set AGENTWEB_ALLOW_LOCAL_EXECUTION=1 and start again."
    )
    if settings.BIND_HOST not in _LOOPBACK:
        return f"The server can be reached from other machines ({settings.BIND_HOST}). {remedy}"
    if get_user_model().objects.filter(is_active=True).count() > 1:
        return f"This server has more than one active user. {remedy}"
    return ""
