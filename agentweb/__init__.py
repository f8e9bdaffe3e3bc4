"""The project: settings, the ASGI application, the command line and the supervisor."""

from __future__ import annotations
