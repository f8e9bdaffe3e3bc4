"""The project: settings, the ASGI application, the command line and the supervisor."""

from __future__ import annotations

from agentweb.celery import app as celery_app

__all__ = ["celery_app"]
