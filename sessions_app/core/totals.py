"""What a session has cost and counted over all its branches, and how full its context is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.messages import Json, number_of, tool_calls_of
from sessions_app.core.projection import Context, newest_compaction
from sessions_app.core.tokens import estimate_projected, reported_tokens, source_of

OTHER_BUCKET = ""
"""The breakdown's key for usage of tools and summaries, which names no model."""


@dataclass(slots=True)
class Spending:
    """Tokens by kind, and dollars."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    cost: float = 0

    @property
    def tokens(self) -> float:
        """input + output + cacheRead + cacheWrite, never the reported total (01 TT-02)."""
        return self.input + self.output + self.cache_read + self.cache_write

    def add(self, usage: Json) -> None:
        self.input += _number(usage, "input")
        self.output += _number(usage, "output")
        self.cache_read += _number(usage, "cacheRead")
        self.cache_write += _number(usage, "cacheWrite")
        cost = usage.get("cost")
        self.cost += _number(cost, "total") if isinstance(cost, dict) else 0

    def __bool__(self) -> bool:
        return bool(self.tokens or self.cost)


@dataclass(slots=True)
class Totals:
    """Counts and spending of a whole session; `by_model` maps `provider/model` to its share, dearest first."""

    user_messages: int = 0
    assistant_messages: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    messages: int = 0
    spending: Spending = field(default_factory=Spending)
    by_model: dict[str, Spending] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """`tokens` and `percent` are None while unknown: after a compaction until the next answer."""

    tokens: int | None
    context_window: int
    percent: float | None


def total(entries: Iterable[Entry]) -> Totals:
    """Everything spent and said in all branches, failed and omitted attempts included (01 TT-01…04)."""
    totals = Totals()
    for entry in entries:
        _count(totals, entry)
        usage = _usage_of(entry)
        if usage is not None:
            totals.spending.add(usage)
            totals.by_model.setdefault(_bucket_of(entry), Spending()).add(usage)
    rows = [row for row in totals.by_model.items() if row[1]]
    totals.by_model = dict(sorted(rows, key=lambda row: -row[1].cost))
    return totals


def _count(totals: Totals, entry: Entry) -> None:
    message = entry.message
    if message is None:
        return
    totals.messages += 1
    match entry.role:
        case "user":
            totals.user_messages += 1
        case "assistant":
            totals.assistant_messages += 1
            totals.tool_calls += len(tool_calls_of(message))
        case "toolResult":
            totals.tool_results += 1


def _usage_of(entry: Entry) -> Json | None:
    holder: Any = None
    if entry.kind in (Kind.USAGE, Kind.COMPACTION, Kind.BRANCH_SUMMARY):
        holder = entry.record
    elif entry.role in ("assistant", "toolResult"):
        holder = entry.message
    usage = holder.get("usage") if holder is not None else None
    return usage if isinstance(usage, dict) else None


def _bucket_of(entry: Entry) -> str:
    if entry.kind == Kind.USAGE:
        return f"{entry.record.get('provider')}/{entry.record.get('model')}"
    message = entry.message
    if message is None or entry.role != "assistant":
        return OTHER_BUCKET
    return f"{message.get('provider')}/{message.get('responseModel') or message.get('model')}"


def _number(holder: Json, key: str) -> float:
    return number_of(holder.get(key)) or 0


def context_usage(context: Context, path: Sequence[Entry], window: int) -> ContextUsage | None:
    """How full the context is; None without a window (01 TT-05)."""
    if window <= 0:
        return None
    if newest_compaction(path) is not None and not _answered_since_compaction(context, path):
        return ContextUsage(None, window, None)
    tokens = estimate_projected(context, path).tokens
    return ContextUsage(tokens, window, tokens / window * 100)


def _answered_since_compaction(context: Context, path: Sequence[Entry]) -> bool:
    compaction = newest_compaction(path)
    assert compaction is not None  # noqa: S101 - asked only where there is one
    later = {entry.id for entry in path[compaction + 1 :]}
    return any(
        reported_tokens(message) is not None and source_of(context, index).id in later
        for index, message in enumerate(context.messages)
    )
