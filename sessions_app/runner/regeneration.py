"""Another summary of a range that was compacted before: a candidate, which changes nothing until it is chosen."""

from __future__ import annotations

import json
import time

from django.utils import timezone

from sessions_app.agent.models_catalogue import describe_model
from sessions_app.agent.summarizer import SummaryCancelled, SummaryFailed
from sessions_app.core.compaction import CompactionPlan, SourcedMessage
from sessions_app.core.entries import Kind
from sessions_app.core.file_lists import FileOperations
from sessions_app.core.projection import latest_edits, project_entry
from sessions_app.core.tokens import estimate_messages
from sessions_app.models import Entry, Run, SummaryVersion
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.carried import without_carried
from sessions_app.runner.compaction_rules import compaction_settings
from sessions_app.runner.providers import close_provider, open_provider
from sessions_app.runner.review_records import ask_for_report, keep_exchanges
from sessions_app.runner.review_reports import split_path
from sessions_app.runner.settling import announce_settled, settle
from sessions_app.runner.summary_writer import SummaryWriter
from sessions_app.transactions import write_transaction

Status = SummaryVersion.Status


def regenerate(active: ActiveRun, version: SummaryVersion) -> None:
    """Write the candidate's summary; on failure the candidate says why."""
    run = active.run
    model = describe_model(run.provider, run.model)
    provider = open_provider(run, model)
    writer = SummaryWriter(
        provider,
        model,
        thinking_level=run.session.thinking_level,
        stop=active.stop,
        announce=active.stream.add,
        source="compaction",
        reason="manual",
    )
    began = time.monotonic()
    error = ""
    try:
        plan = plan_again(version)
        made = writer.compaction(plan, version.instructions, by_rule=False)
        version.summary, version.details = made.text, json.dumps(made.details)
        version.status = Status.CANDIDATE
        active.outcome = Run.Status.COMPLETED
    except SummaryCancelled:
        error, version.status = "stopped", Status.FAILED
        active.end_as_stopped()
    except SummaryFailed as failure:
        error, version.status = failure.provider_message or str(failure), Status.FAILED
        active.outcome, active.error, active.error_kind = Run.Status.FAILED, error, "compaction"
    finally:
        active.count(writer.usage)
        close_provider(provider)
    version.error = error[:4000]
    version.usage = json.dumps(writer.usage) if writer.usage else ""
    version.duration_ms = int((time.monotonic() - began) * 1000)
    version.created_at = timezone.now()
    with write_transaction():
        version.save()
        keep_exchanges(writer.exchanges, version=version)
        if version.status == Status.CANDIDATE:
            ask_for_report(version)
    settle(active)
    announce_settled(active)


def plan_again(version: SummaryVersion) -> CompactionPlan:
    """The range of the review's compaction, up to the candidate's own boundary."""
    entry = version.review.entry
    assert entry is not None  # noqa: S101 - only a compaction that was stored is written again
    replaced, _, _ = split_path(entry, version.first_kept)
    edits = latest_edits(replaced)
    history = tuple(
        SourcedMessage(core.id, message)
        for core in replaced
        if core.kind != Kind.COMPACTION
        for message in project_entry(core, edits.get(core.id)).messages
        if message.get("role") != "system"
    )
    parent = entry.parent
    before = (
        Entry.objects.get(session_id=entry.session_id, seq=parent.compaction_seq)
        if parent is not None and parent.compaction_seq is not None
        else None
    )
    operations = FileOperations()
    if before is not None:
        operations.add_details(before.record)
    for item in history:
        operations.add_calls(item.message, nested=True)
    previous = before.record.get("summary") if before is not None else None
    return CompactionPlan(
        first_kept_entry_id=version.first_kept,
        history=history,
        span_prefix=(),
        splits_span=False,
        tokens_before=estimate_messages(item.message for item in history),
        previous_summary=without_carried(previous if isinstance(previous, str) else None),
        file_operations=operations,
        settings=compaction_settings(describe_model(entry.session.provider, entry.session.model)),
    )
