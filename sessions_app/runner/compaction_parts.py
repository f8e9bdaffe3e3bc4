"""What a compaction's attempt is made of: its plan and row under way, what will be stored, and what came of it."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from sessions_app.agent.summarizer import SummaryFailed
from sessions_app.core.compaction import CompactionPlan
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.projection import Context, project
from sessions_app.core.system_prompt_log import checkpoint
from sessions_app.core.times import iso_of
from sessions_app.models import CompactionAttempt, Entry
from sessions_app.runner import progress_guard
from sessions_app.runner.compaction_plan import Branch

Json = dict[str, Any]
Outcome = CompactionAttempt.Outcome

HALTED = "halted"


@dataclass(frozen=True, slots=True)
class Attempted:
    """What came of it: an outcome of CompactionAttempt or HALTED, the entry if there is one, and why not."""

    outcome: str
    entry: Entry | None = None
    error: str = ""

    @property
    def succeeded(self) -> bool:
        return self.outcome == Outcome.COMPACTED


class NotApplied(Exception):  # noqa: N818 - it reads as a sentence where it is raised
    """The summary is there, but storing it would not help or is not possible now."""

    def __init__(self, message: str, outcome: str, after: int | None = None) -> None:
        super().__init__(message)
        self.outcome, self.after = outcome, after


@dataclass(slots=True)
class Made:
    """What will be stored, by a model, by rule or by an extension."""

    summary: str
    first_kept_entry_id: str | None
    tokens_before: int
    usage: Json | None
    details: Any
    from_hook: bool = False


@dataclass(slots=True)
class Going:
    """An attempt under way; `place` is where in its run it waits for a reviewer, empty where it does not."""

    reason: str
    branch: Branch
    row: CompactionAttempt
    instructions: str = ""
    will_retry: bool = False
    began: float = field(default_factory=time.monotonic)
    from_hook: bool = False
    place: str = ""


def plan_facts(branch: Branch, plan: CompactionPlan) -> Json:
    """What a plan replaces and keeps, for its attempt's row."""
    top = branch.leaf.depth + 1 - len(branch.path)
    return {
        "range_first": top,
        "range_end": branch.depth_of(plan.first_kept_entry_id),
        "replaced": len({item.entry_id for item in (*plan.history, *plan.span_prefix)}),
        "first_kept": plan.first_kept_entry_id,
        "splits_span": plan.splits_span,
        "file_lists": json.dumps(plan.file_operations.lists().details),
    }


def reason_of(failure: SummaryFailed) -> str:
    if failure.kind == "error":
        return failure.provider_message or "the provider gave no reason."
    return str(failure)


def result_of(entry: Entry, tokens_after: int) -> Json:
    record = entry.record
    names = ("summary", "firstKeptEntryId", "tokensBefore", "usage", "details")
    found = {name: record[name] for name in names if name in record}
    return {**found, "estimatedTokensAfter": tokens_after, "seq": entry.seq}


def previewed(branch: Branch, made: Made) -> tuple[Json, Context, int, int]:
    """The entry's fields, the context they give, and its size before and after. Raises NotApplied."""
    now = timezone.now()
    milliseconds = int(now.timestamp() * 1000)
    entry_id = uuid.uuid4().hex[:8]
    fields: Json = {
        "type": Kind.COMPACTION,
        "id": entry_id,
        "summary": made.summary,
        "firstKeptEntryId": made.first_kept_entry_id or entry_id,
        "tokensBefore": made.tokens_before,
        "systemMessage": checkpoint(branch.context.messages, timestamp=milliseconds),
        "usage": made.usage,
        "details": made.details,
    }
    fields = {name: value for name, value in fields.items() if value is not None}
    fields["fromHook"] = made.from_hook
    preview = CoreEntry({**fields, "parentId": branch.path[-1].id, "timestamp": iso_of(milliseconds)})
    context = project([*branch.path, preview])
    before, after = progress_guard.measure(branch.context), progress_guard.measure(context)
    if after >= before:
        words = f"it would not make the context smaller ({before:,} tokens before, {after:,} after)."
        raise NotApplied(words, Outcome.NOT_SMALLER, after)
    return fields, context, before, after
