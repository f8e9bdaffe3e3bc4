"""What this product answers to the questions of a session case, in the shape of the recorded answers."""

from __future__ import annotations

from typing import Any

from sessions_app.agent.summarizer import NO_HISTORY, SPLIT_HEADING
from sessions_app.core.compaction import CompactionPlan, boundary_start, plan_compaction
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.cut_points import Cut, find_cut, raw_entries
from sessions_app.core.entries import Entry, Kind, compaction_entry
from sessions_app.core.errors import NothingToCompact
from sessions_app.core.file_lists import FileOperations
from sessions_app.core.projection import Context
from sessions_app.core.system_prompt_log import checkpoint
from sessions_app.core.times import iso_of
from sessions_app.core.tokens import (
    Estimate,
    estimate_context,
    estimate_projected,
    estimate_tokens,
    should_compact,
)
from sessions_app.core.totals import context_usage
from sessions_app.core.transcript import serialise
from sessions_app.core.triggers import SelectedModel, check_after_answer, newest_answer
from tests.conformance.scripted_summaries import NO_HISTORY_UNITS, SPLIT_UNITS, compact

NOW = 1_924_992_000_000
MAX_TOKENS = 8192

Json = dict[str, Any]


def answer(session: Any, case: Json) -> Json:
    """Everything asked of a session case but the navigations."""
    if session is None:
        return {"load": {"ok": False}}
    options = case["options"]
    settings = settings_of(options)
    leaf = options["leafId"] if "leafId" in options else session.leaf_id()
    path = session.path(leaf)
    # An unknown leaf has an empty branch, while its context is the last entry's.
    context_leaf = leaf if leaf is None or path else session.leaf_id()
    context_path = session.path(context_leaf)
    context = session.context(context_leaf)
    estimate = estimate_projected(context, context_path)
    window = options.get("contextWindow", 200_000)
    answers: Json = {
        "load": load_answer(session),
        "tree": tree_answer(session),
        "path": [entry.id for entry in path],
        "contextEntries": [item.entry.id for item in context.entries],
        "thinkingLevel": context.thinking_level,
        "model": context.model,
        "projection": projection_answer(context),
        "estimate": {
            "context": estimate_answer(estimate_context(context.messages)),
            "projected": estimate_answer(estimate),
        },
        "shouldCompact": should_compact(estimate.tokens, window, settings),
        "rawCut": cut_answer(raw_entries(path), 0, settings),
        "cut": None,
        "prepare": None,
    }
    if path and path[-1].kind != Kind.COMPACTION:
        start = boundary_start(context)
        answers["cut"] = {
            "boundaryStart": context.entries[start].entry.id if start < len(context.entries) else None,
            **cut_answer(context.entries, start, settings),
        }
    plan = plan_or_none(path, settings)
    if plan is not None:
        answers["prepare"] = plan_answer(plan)
        answers["compact"], summary = compact(plan, options)
        if summary is not None:
            answers["afterCompaction"] = after_compaction(session, path, context, plan, summary, settings)
    newest = newest_answer(path)
    if newest is not None:
        answers["auto"] = auto_answer(context, path, newest, window, settings, options)
    return answers


def settings_of(options: Json) -> CompactionSettings:
    given = options.get("settings", {})
    return CompactionSettings(
        enabled=given.get("enabled", True),
        reserve_tokens=given.get("reserveTokens", 16384),
        keep_recent_tokens=given.get("keepRecentTokens", 20000),
    )


def load_answer(session: Any) -> Json:
    loaded, tree = session.loaded, session.tree()
    answers: Json = {
        "ok": True,
        "version": 3 if loaded.header is None else loaded.header.get("version"),
        "sessionId": "<fresh>" if loaded.header is None else loaded.session_id,
        "entryCount": len(tree),
        "leafId": tree.last_id(),
        "name": tree.name(),
        "labels": tree.labels(),
    }
    if loaded.migrated:
        answers["fileRewritten"] = "migrated"
        answers["migratedEntries"] = [migrated_entry(entry) for entry in tree.entries]
    elif loaded.newline_missing and loaded.header is not None:
        answers["fileRewritten"] = "newline-appended"
    return answers


def migrated_entry(entry: Entry) -> Json:
    answers: Json = {"id": entry.id, "parentId": entry.parent_id}
    if entry.message is not None:
        answers["role"] = entry.role
    if entry.kind == Kind.COMPACTION:
        answers["firstKeptEntryId"] = entry.record.get("firstKeptEntryId")
        answers["hasIndex"] = "firstKeptEntryIndex" in entry.record
    return answers


def tree_answer(session: Any) -> Json:
    tree = session.tree()
    return {
        "roots": [entry.id for entry in tree.roots()],
        "branchPoints": {
            entry.id: [child.id for child in tree.children(entry.id)] for entry in tree.branch_points()
        },
    }


def projection_answer(context: Context) -> list[Json]:
    return [
        {
            "entryId": item.entry.id,
            "messages": [projected_message(item.entry, message) for message in item.messages],
        }
        for item in context.entries
        if item.visible
    ]


def projected_message(entry: Entry, message: Json) -> Json:
    if message is entry.message:
        return {"role": message.get("role"), "stored": True, "tokens": estimate_tokens(message)}
    shown = {
        name: value
        for name, value in message.items()
        if name in SHOWN_FIELDS or message.get("role") == "system"
    }
    return {**shown, "tokens": estimate_tokens(message)}


SHOWN_FIELDS = (
    "role",
    "content",
    "summary",
    "fromId",
    "tokensBefore",
    "customType",
    "display",
    "timestamp",
)


def estimate_answer(estimate: Estimate) -> Json:
    return {
        "tokens": estimate.tokens,
        "usageTokens": estimate.usage_tokens,
        "trailingTokens": estimate.trailing_tokens,
        "lastUsageIndex": estimate.last_usage_index,
    }


def cut_answer(entries: Any, start: int, settings: CompactionSettings) -> Json:
    cut = find_cut(entries, start, settings.keep_recent_tokens) or Cut(-1, None)
    return {
        "firstKept": entries[cut.first_kept].entry.id if cut.first_kept >= 0 else None,
        "turnStart": None if cut.span_start is None else entries[cut.span_start].entry.id,
        "isSplitTurn": cut.splits_span,
    }


def plan_or_none(path: list[Entry], settings: CompactionSettings) -> CompactionPlan | None:
    try:
        return plan_compaction(path, settings)
    except NothingToCompact:
        return None


def plan_answer(plan: CompactionPlan) -> Json:
    return {
        "firstKeptEntryId": plan.first_kept_entry_id,
        "isSplitTurn": plan.splits_span,
        "tokensBefore": plan.tokens_before,
        "previousSummary": plan.previous_summary,
        "messagesToSummarize": messages_answer(plan.history),
        "turnPrefixMessages": messages_answer(plan.span_prefix),
        **files_answer(plan.file_operations),
    }


def messages_answer(items: Any) -> Json:
    return {
        "items": [{"entryId": item.entry_id, "role": item.message.get("role")} for item in items],
        "serialized": serialise(item.message for item in items),
    }


def files_answer(operations: FileOperations) -> Json:
    lists = operations.lists()
    return {
        "fileOps": {
            "read": operations.read.sorted(),
            "written": operations.written.sorted(),
            "edited": operations.edited.sorted(),
        },
        "fileLists": {**lists.details, "block": lists.block},
    }


def after_compaction(
    session: Any,
    path: list[Entry],
    context: Context,
    plan: CompactionPlan,
    summary: Any,
    settings: CompactionSettings,
) -> Json:
    """The compaction appended at the leaf. The recorded sizes are those of the reference's own wording."""
    system = checkpoint(context.messages, timestamp=NOW)
    entry = compaction_entry(
        "<new>",
        path[-1].id,
        iso_of(NOW),
        summary=sized_like_reference(summary.text),
        tokens_before=plan.tokens_before,
        first_kept_entry_id=plan.first_kept_entry_id,
        system_message=system,
        usage=summary.usage,
        details=summary.details,
    )
    session.append([entry])
    new_path, new_context = session.path("<new>"), session.context("<new>")
    again = plan_or_none(new_path, settings)
    return {
        "parentId": entry.parent_id,
        "systemMessage": system,
        "contextEntries": [item.entry.id for item in new_context.entries],
        "visible": [
            {"entryId": item.entry.id, "roles": [message.get("role") for message in item.messages]}
            for item in new_context.entries
            if item.visible
        ],
        "tokens": estimate_projected(new_context, new_path).tokens,
        "prepareAgain": None if again is None else plan_answer(again),
    }


def sized_like_reference(text: str) -> str:
    return text.replace(SPLIT_HEADING, "s" * SPLIT_UNITS).replace(NO_HISTORY, "n" * NO_HISTORY_UNITS)


def auto_answer(
    context: Context,
    path: list[Entry],
    newest: Entry,
    window: int,
    settings: CompactionSettings,
    options: Json,
) -> Json:
    message = newest.message or {}
    model = SelectedModel(
        str(message.get("provider")),
        str(message.get("model")),
        window,
        options.get("model", {}).get("maxTokens", MAX_TOKENS),
    )
    trigger = check_after_answer(context, path, model, settings)
    usage = context_usage(context, path, window)
    return {
        "assistantId": newest.id,
        "trigger": None if trigger is None else {"reason": trigger.reason, "willRetry": trigger.will_retry},
        "contextUsage": None if usage is None else {"tokens": usage.tokens},
    }
