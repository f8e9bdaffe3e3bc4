"""System checks for what a self-hoster gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004


@register()
def sqlite_takes_the_write_lock_at_once(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """sessions_app.E001: without IMMEDIATE, a read that turns into a write fails with "database is locked"."""
    database = settings.DATABASES["default"]
    if "sqlite" in database["ENGINE"] and database.get("OPTIONS", {}).get("transaction_mode") != "IMMEDIATE":
        return [Error("SQLite needs OPTIONS['transaction_mode'] = 'IMMEDIATE'.", id="sessions_app.E001")]
    return []


@register("security", deploy=True)
def local_execution_is_only_for_oneself(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """sessions_app.W001: commands of agents run as the server's user; strangers should not start them."""
    if settings.ALLOW_LOCAL_EXECUTION and settings.BIND_HOST not in {"127.0.0.1", "::1", "localhost"}:
        return [
            Warning(
                "AGENTWEB_ALLOW_LOCAL_EXECUTION is set and the server is bound to more than loopback: "
                "everybody who may prompt an agent can run commands as this user.",
                id="sessions_app.W001",
            )
        ]
    return []
