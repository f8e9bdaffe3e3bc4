"""The active branch as a compaction needs it: its path, what the model sees, and the core's plan."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sessions_app import entry_log
from sessions_app.core.compaction import CompactionPlan, plan_compaction
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.messages import Json
from sessions_app.core.projection import Context, project
from sessions_app.models import Entry
from sessions_app.runner.carried import without_carried


@dataclass(frozen=True, slots=True)
class Branch:
    """The active part of a leaf's path, and what the model sees of it."""

    leaf: Entry
    path: list[CoreEntry]
    context: Context

    def depth_of(self, entry_id: str | None) -> int:
        """Of the first entry with that id; below the leaf when nothing is kept."""
        top = self.leaf.depth + 1 - len(self.path)
        for place, core in enumerate(self.path):
            if core.id == entry_id:
                return top + place
        return self.leaf.depth + 1


def read_branch(leaf: Entry) -> Branch:
    path = entry_log.active_path(leaf)
    return Branch(leaf, path, project(path))


def plan_for(branch: Branch, rules: CompactionSettings, first_kept: str | None = None) -> CompactionPlan:
    """The core's plan, its previous summary without what was carried. Raises NothingToCompact."""
    plan = plan_compaction(branch.path, rules, branch.context, first_kept)
    return replace(plan, previous_summary=without_carried(plan.previous_summary))


def preparation_of(plan: CompactionPlan) -> Json:
    """The plan as session_before_compact tells it (07 §2)."""
    operations = plan.file_operations
    return {
        "messagesToSummarize": [item.message for item in plan.history],
        "turnPrefixMessages": [item.message for item in plan.span_prefix],
        "isSplitTurn": plan.splits_span,
        "previousSummary": plan.previous_summary,
        "fileOps": {
            "read": sorted(operations.read),
            "written": sorted(operations.written),
            "edited": sorted(operations.edited),
        },
        "tokensBefore": plan.tokens_before,
        "firstKeptEntryId": plan.first_kept_entry_id,
        "settings": {
            "enabled": plan.settings.enabled,
            "reserveTokens": plan.settings.reserve_tokens,
            "keepRecentTokens": plan.settings.keep_recent_tokens,
        },
    }
