"""Who speaks in an answer."""

from __future__ import annotations

from typing import Any

from sessions_app.agent.models_catalogue import spoken_name
from sessions_app.core.messages import block_text
from sessions_app.fragments.plain_text import one_line


def speaker(message: dict[str, Any]) -> str:
    """The name of the model that wrote an assistant message; empty when the message does not say."""
    return one_line(spoken_name(block_text(message, "provider"), block_text(message, "model")), 60)
