"""How big a request is, to keep its answer within the window: rougher and more careful than the context gauge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sessions_app.agent.providers.base import ToolSpec
from sessions_app.core.tokens import UNITS_PER_TOKEN, estimate_tokens, utf16_length

Json = dict[str, Any]

# Sizing assumes fewer characters per token than the gauge does (04 §6), so that it errs on the safe side.
UNITS_PER_TOKEN_SENT = 3.5


def request_tokens(*, system: str, messages: Sequence[Json], tools: Sequence[ToolSpec]) -> int:
    """Estimated input tokens of a request."""
    units = utf16_length(system) + sum(estimate_tokens(message) * UNITS_PER_TOKEN for message in messages)
    for tool in tools:
        units += len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters))
    return int(units / UNITS_PER_TOKEN_SENT) + 1
