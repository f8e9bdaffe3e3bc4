"""Where history may be cut, and which cut keeps enough of the recent past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.core.entries import Entry, Kind
from sessions_app.core.projection import (
    ProjectedEntry,
    messages_of,
    replacement_of,
)
from sessions_app.core.tokens import estimate_tokens

CUT_ROLES = frozenset({"user", "assistant", "bashExecution", "custom", "branchSummary", "compactionSummary"})
SPAN_START_ROLES = CUT_ROLES - {"assistant"}


@dataclass(frozen=True, slots=True)
class Cut:
    """Positions in the list that was searched.

    Everything from `first_kept` on stays. If the cut splits a span, `span_start` is where that span
    begins and its beginning gets a summary of its own; else it is None.
    """

    first_kept: int
    span_start: int | None

    @property
    def splits_span(self) -> bool:
        return self.span_start is not None


def find_cut(entries: Sequence[ProjectedEntry], start: int, keep_recent_tokens: int) -> Cut | None:
    """The cut in `entries[start:]` that keeps about `keep_recent_tokens`; None for an empty range (02 §4)."""
    if start >= len(entries):
        return None
    crossing = _where_budget_is_reached(entries, start, keep_recent_tokens)
    first_kept = _cut_point_at(entries, start, crossing)
    if first_kept is None:
        return Cut(start, None)
    if crossing is not None and _only_a_failed_attempt_follows(entries, first_kept):
        return _with_span(entries, start, first_kept + 1)
    return _with_span(entries, start, _take_bookkeeping_along(entries, start, first_kept))


def _cut_point_at(entries: Sequence[ProjectedEntry], start: int, crossing: int | None) -> int | None:
    """The first cut point from the crossing on, else the last before it; without one the first of all (02 CP-02, CP-03)."""
    for index in range(start if crossing is None else crossing, len(entries)):
        if is_cut_point(entries[index]):
            return index
    for index in range(-1 if crossing is None else crossing - 1, start - 1, -1):
        if is_cut_point(entries[index]):
            return index
    return None


def is_cut_point(item: ProjectedEntry) -> bool:
    """Never a tool result, a system message, a compaction or an omitted entry (02 CP-01)."""
    return _role_at_cut(item) in CUT_ROLES


def starts_span(item: ProjectedEntry) -> bool:
    """Whether a span begins here: with anything that speaks for the user (02 CP-05)."""
    return _role_at_cut(item) in SPAN_START_ROLES


def _role_at_cut(item: ProjectedEntry) -> str | None:
    if item.entry.kind == Kind.COMPACTION or not item.messages:
        return None
    return item.messages[0].get("role")


def _where_budget_is_reached(
    entries: Sequence[ProjectedEntry], start: int, keep_recent_tokens: int
) -> int | None:
    """Newest to oldest, the first entry with which the sum reaches the budget (02 CP-02)."""
    kept = 0
    for index in range(len(entries) - 1, start - 1, -1):
        size = sum(map(estimate_tokens, entries[index].messages))
        kept += size
        if size and kept >= keep_recent_tokens:
            return index
    return None


def _take_bookkeeping_along(entries: Sequence[ProjectedEntry], start: int, cut: int) -> int:
    """Move the cut back over entries without messages, so that they stay with what they precede (02 CP-04)."""
    while cut > start and not entries[cut - 1].visible and entries[cut - 1].entry.kind != Kind.COMPACTION:
        cut -= 1
    return cut


def _with_span(entries: Sequence[ProjectedEntry], start: int, cut: int) -> Cut:
    if starts_span(entries[cut]):
        return Cut(cut, None)
    for index in range(cut - 1, start - 1, -1):
        if starts_span(entries[index]):
            return Cut(cut, index)
    return Cut(cut, None)


def _only_a_failed_attempt_follows(entries: Sequence[ProjectedEntry], candidate: int) -> bool:
    """Whether the cut may step over its candidate, so that the over-long input itself is summarised.

    True if nothing visible follows and an omitted answer is among what follows (02 CP-07), unless a
    replacement recorded there has a target outside of it or one that is not omitted in the end (CP-08).
    """
    later = entries[candidate + 1 :]
    if any(item.visible or item.entry.kind == Kind.COMPACTION for item in later):
        return False
    if not any(item.omitted and item.entry.role == "assistant" for item in later):
        return False
    omitted_later = {item.entry.id for item in later if item.omitted}
    return all(
        edit.record.get("targetId") in omitted_later
        for edit in (item.entry for item in later)
        if edit.kind == Kind.CONTEXT_EDIT and replacement_of(edit) is not None
    )


def raw_entries(path: Sequence[Entry]) -> list[ProjectedEntry]:
    """The path as if nothing were compacted or edited: every compaction has its size."""
    return [ProjectedEntry(entry, messages_of(entry)) for entry in path]
