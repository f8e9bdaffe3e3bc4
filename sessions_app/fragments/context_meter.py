"""How full a session's context is, and with what."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app import entry_log
from sessions_app.agent.models_catalogue import describe_model
from sessions_app.core.projection import Context
from sessions_app.core.tokens import estimate_tokens
from sessions_app.core.totals import context_usage
from sessions_app.fragments import wording
from sessions_app.models import Session

WIDTH = 132
"""Units of the drawing."""
NARROWEST = 2.5
"""Units of a part that is there at all, however small beside the window."""

_SUMMARIES = {"compactionSummary", "branchSummary"}
_NAMES = ("system", "tools", "summary", "messages", "results")


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of the meter: its name, its tokens, and where it is drawn."""

    name: str
    tokens: int
    x: float
    width: float

    @property
    def spoken(self) -> str:
        """Its name in the legend."""
        return {"results": "Tool results", "summary": "Summaries"}.get(self.name, self.name.capitalize())


@dataclass(frozen=True, slots=True)
class Meter:
    """`tokens` is None while unknown (after a compaction, until the next answer); `full` says that it is time
    to compact soon."""

    tokens: int | None
    window: int
    parts: tuple[Part, ...]
    full: bool

    @property
    def free(self) -> int:
        """Tokens of the window that nothing fills yet."""
        return max(0, self.window - (self.tokens or 0))

    @property
    def words(self) -> str:
        """All of it in words, for those who do not see the drawing."""
        if self.tokens is None:
            return f"Unknown until the next reply, of {self.window:,} tokens"
        listed = ", ".join(f"{part.name} {part.tokens:,}" for part in self.parts if part.tokens)
        return f"{self.tokens:,} of {self.window:,} tokens" + (f": {listed}" if listed else "")


def measure(session: Session) -> Meter:
    """The meter of the session's active branch and chosen model."""
    window = describe_model(session.provider, session.model).context_window
    if session.leaf_id is None:
        return Meter(0, window, (), False)
    context = entry_log.load_context(session)
    path = sorted((item.entry for item in context.entries), key=lambda entry: entry.seq)
    usage = context_usage(context, path, window)
    if usage is None or usage.tokens is None:
        return Meter(None, window, (), False)
    return Meter(usage.tokens, window, _parts(context, usage.tokens, window), usage.tokens > window * 0.75)


def _parts(context: Context, total: int, window: int) -> tuple[Part, ...]:
    """Shares by estimate, scaled so that together they are the measured total."""
    estimates = dict.fromkeys(_NAMES, 0)
    for message in context.messages:
        role = message.get("role")
        if role == "system":
            everything = estimate_tokens(message)
            without_tools = estimate_tokens({**message, "toolsAdded": []})
            estimates["system"] += without_tools
            estimates["tools"] += everything - without_tools
        elif role == "toolResult":
            estimates["results"] += estimate_tokens(message)
        elif role in _SUMMARIES:
            estimates["summary"] += estimate_tokens(message)
        else:
            estimates["messages"] += estimate_tokens(message)
    known = sum(estimates.values())
    parts: list[Part] = []
    x = 0.0
    for name in _NAMES:
        tokens = round(estimates[name] * total / known) if known else 0
        width = min(max(tokens / window * WIDTH, NARROWEST if tokens else 0), WIDTH - x) if window else 0
        parts.append(Part(name, tokens, round(x, 2), round(width, 2)))
        x += width
    return tuple(parts)


def summary(meter: Meter) -> str:
    """`58.3k of 200k`."""
    if meter.tokens is None:
        return "Unknown until the next reply"
    return f"{wording.tokens(meter.tokens)} of {wording.tokens(meter.window)}"
