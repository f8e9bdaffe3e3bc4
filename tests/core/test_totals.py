"""Counts, costs, and how full the context is."""

from __future__ import annotations

from typing import Any

from sessions_app.core.entries import Entry
from sessions_app.core.projection import project
from sessions_app.core.totals import OTHER_BUCKET, ContextUsage, context_usage, total
from tests.builders import answer, call, message_entry, path, usage


def spent(tokens: int, dollars: float) -> dict[str, Any]:
    return {**usage(tokens), "cost": {"total": dollars}}


def test_everything_is_counted_whatever_the_branch_or_fate() -> None:
    """01 TT-01…03."""
    entries = [
        message_entry("e1", None, {"role": "user", "content": "x"}),
        message_entry("e2", "e1", answer(content=[call("ls"), call("ls", "c2")], usage=spent(10, 0.5))),
        message_entry("e3", "e1", answer(stopReason="error", usage=spent(5, 0.25), responseModel="m-real")),
        message_entry("e4", "e2", {"role": "toolResult", "content": [], "usage": spent(1, 0.125)}),
        message_entry("e5", "e2", {"role": "system", "content": ""}),
        Entry({"type": "usage", "id": "u", "provider": "p", "model": "m", "usage": spent(2, 2)}),
        Entry({"type": "compaction", "id": "c", "usage": spent(3, 1)}),
        Entry({"type": "branch_summary", "id": "b", "usage": {"output": 4, "cacheRead": 1, "cacheWrite": 1}}),
        Entry({"type": "custom", "id": "x", "usage": spent(100, 100)}),
    ]
    totals = total(entries)
    assert totals.spending.tokens == 27
    assert totals.spending.cost == 3.875
    assert (totals.user_messages, totals.assistant_messages) == (1, 2)
    assert (totals.tool_calls, totals.tool_results, totals.messages) == (2, 1, 5)
    assert list(totals.by_model) == ["p/m", OTHER_BUCKET, "acme/m-one", "acme/m-real"]


def test_zero_rows_are_dropped_and_odd_usage_counts_nothing() -> None:
    """01 TT-04."""
    totals = total([message_entry("a", None, answer()), message_entry("b", None, answer(usage="odd"))])
    assert totals.by_model == {}
    assert not totals.spending


def test_total_tokens_are_never_summed() -> None:
    """01 TT-02."""
    assert (
        total([message_entry("a", None, answer(usage={"totalTokens": 99, "input": 1}))]).spending.tokens == 1
    )


def test_the_gauge_is_unknown_after_a_compaction_until_the_next_answer() -> None:
    """01 TT-05, BUGS B09."""
    entries = path("u:5 a:5 cut@e1 u:5 a:5")
    entries[1].record["message"]["usage"] = usage(900)

    def gauge(count: int) -> ContextUsage | None:
        part = entries[:count]
        return context_usage(project(part), part, 1000)

    assert gauge(2) == ContextUsage(900, 1000, 90.0)
    assert gauge(4) == ContextUsage(None, 1000, None)
    assert gauge(5) == ContextUsage(None, 1000, None)
    entries[4].record["message"]["usage"] = usage(50)
    assert gauge(5) == ContextUsage(50, 1000, 5.0)


def test_without_a_window_there_is_no_gauge() -> None:
    entries = path("u")
    assert context_usage(project(entries), entries, 0) is None
