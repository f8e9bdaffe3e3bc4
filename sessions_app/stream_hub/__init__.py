"""Follows the streams of runs and sessions for all sockets of one web process, and turns them into frames once."""

from __future__ import annotations

from sessions_app.stream_hub.hub import StreamHub, hub_of_this_loop
from sessions_app.stream_hub.run_view import RunView
from sessions_app.stream_hub.viewer import Viewer

__all__ = ["RunView", "StreamHub", "Viewer", "hub_of_this_loop"]
