"""Where sockets lead."""

from __future__ import annotations

from django.urls import path

from sessions_app.consumers import SessionConsumer

websocket_urlpatterns = [
    path("ws/s/<uuid:key>/", SessionConsumer.as_asgi()),
]
