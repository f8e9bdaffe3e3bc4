"""The one Django app."""

from __future__ import annotations

from django.apps import AppConfig


class SessionsAppConfig(AppConfig):
    """Sessions, their entries and everything that is done with them."""

    name = "sessions_app"
    verbose_name = "Agent sessions"

    def ready(self) -> None:
        import sessions_app.checks  # noqa: F401  (registers the system checks)
