"""What the active branch has cost, beside the cost of the whole session."""

from __future__ import annotations

from django.db.models import Q

from sessions_app.core.entries import Kind
from sessions_app.core.totals import total
from sessions_app.fragments.tree_paths import lay_out
from sessions_app.models import Entry, Session

MOST_LOOKED_AT = 500
"""Entries that may have cost something; of a longer branch only the session's cost is told."""

_PAID = Q(role__in=("assistant", "toolResult")) | Q(
    kind__in=(Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.USAGE)
)


def branch_cost(session: Session) -> float | None:
    """US dollars of the entries on the active path; None when that takes too long to find out."""
    layout = lay_out(session, session.leaf)
    if not session.cost or not (layout.branches or layout.ahead):
        return session.cost
    if layout.length > 20 * MOST_LOOKED_AT:
        return None
    paid = list(Entry.objects.filter(layout.all()).filter(_PAID).only("seq", "payload")[: MOST_LOOKED_AT + 1])
    return total(entry.as_core() for entry in paid).spending.cost if len(paid) <= MOST_LOOKED_AT else None
