"""What the active branch has cost, beside the cost of the whole session."""

from __future__ import annotations

from sessions_app import tree_rows
from sessions_app.models import Session


def branch_cost(session: Session) -> float:
    """US dollars of the entries on the active path."""
    if session.leaf is None or not session.cost:
        return session.cost
    return tree_rows.path_cost(session.leaf)
