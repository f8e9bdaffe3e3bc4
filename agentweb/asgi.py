"""The ASGI application: pages by Django, sockets by Channels, whatever server runs it."""

from __future__ import annotations

import os
import threading
from typing import Any

from django.core.asgi import get_asgi_application
from django.core.signals import request_finished
from django.db import connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.settings")
django_application = get_asgi_application()

# Imported after Django is set up: the consumers import models.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from sessions_app.routing import websocket_urlpatterns  # noqa: E402


def close_connections(**kwargs: Any) -> None:
    """A request has a thread of its own; the connection it leaves open would live until garbage is collected."""
    if threading.current_thread() is not threading.main_thread():
        connections.close_all()


request_finished.connect(close_connections)
application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
