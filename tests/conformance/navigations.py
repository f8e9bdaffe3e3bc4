"""What this product answers to the navigations of a case."""

from __future__ import annotations

from typing import Any

from sessions_app.core.branch_summary import (
    BranchSummaryPlan,
    left_behind,
    plan_branch_summary,
    token_budget,
)
from sessions_app.core.entries import Entry, branch_summary_entry, label_entry
from sessions_app.core.errors import UnknownEntry
from sessions_app.core.navigation import destination_of
from sessions_app.core.times import iso_of
from sessions_app.core.transcript import serialise
from tests.conformance.answers import NOW, files_answer
from tests.conformance.scripted_summaries import summarise_left_branch

Json = dict[str, Any]


def answer_navigation(session: Any, navigation: Json, options: Json) -> Json:
    """One navigation on a freshly loaded session."""
    tree = session.tree()
    old_leaf = navigation["oldLeafId"] if "oldLeafId" in navigation else session.leaf_id()
    left = left_behind(tree, old_leaf, navigation["targetId"])
    budget = navigation.get("tokenBudget")
    if budget is None:
        window = options.get("contextWindow", 200_000)
        budget = token_budget(window, navigation.get("reserveTokens", 16384))
    plan = plan_branch_summary(left.entries, budget)
    if navigation.get("tokenBudget") is not None:
        # The recorded navigation itself set the window to budget + reserve, where nothing counts as unknown.
        reserve = navigation.get("reserveTokens", 16384)
        run_plan = plan_branch_summary(left.entries, token_budget(budget + reserve, reserve))
    else:
        run_plan = plan
    return {
        "commonAncestorId": left.common_ancestor_id,
        "entries": [entry.id for entry in left.entries],
        "prepare": plan_answer(plan),
        "result": navigate(session, old_leaf, navigation, run_plan, bool(left.entries), options),
    }


def plan_answer(plan: BranchSummaryPlan) -> Json:
    return {
        "tokenBudget": plan.token_budget,
        "items": [
            {"entryId": item.entry_id, "role": item.message.get("role"), "tokens": item.tokens}
            for item in plan.items
        ],
        "totalTokens": plan.total_tokens,
        "serialized": serialise(item.message for item in plan.items),
        **files_answer(plan.file_operations),
    }


def navigate(
    session: Any,
    old_leaf: str | None,
    navigation: Json,
    plan: BranchSummaryPlan,
    anything_left: bool,
    options: Json,
) -> Json:
    tree, target = session.tree(), navigation["targetId"]
    unmoved: Json = {"requests": [], "appended": [], "leafId": old_leaf}
    if target == old_leaf:
        return {"cancelled": False, **unmoved}
    if target not in tree:
        return {"error": {"kind": "target_not_found"}, **unmoved}
    requests: list[Json] = []
    summary = None
    if navigation.get("summarize", True) and anything_left:
        requests, summary, outcome = summarise_left_branch(plan, navigation, options)
        if summary is None:
            return {**outcome, "requests": requests, "appended": [], "leafId": old_leaf}
    try:
        destination = destination_of(tree, target)
    except UnknownEntry:
        return {"error": {"kind": "target_not_found"}, **unmoved, "requests": requests}
    leaf, labelled = destination.leaf_id, target
    appended: list[Entry] = []
    if summary is not None:
        entry = branch_summary_entry(
            "<new1>",
            leaf,
            iso_of(NOW),
            summary=summary.text,
            from_id=old_leaf,
            usage=summary.usage,
            details=summary.details,
        )
        appended.append(entry)
        leaf = labelled = entry.id
    if navigation.get("label"):
        name = f"<new{len(appended) + 1}>"
        appended.append(label_entry(name, leaf, iso_of(NOW), target_id=labelled, label=navigation["label"]))
        leaf = name
    result: Json = {"cancelled": False}
    if destination.editor_text is not None:
        result["editorText"] = destination.editor_text
    result |= {"requests": requests, "appended": [appended_answer(entry) for entry in appended]}
    result["leafId"] = leaf
    return result


def appended_answer(entry: Entry) -> Json:
    answers = {name: value for name, value in entry.record.items() if name != "timestamp"}
    if entry.kind == "branch_summary":
        answers.setdefault("usage", None)
    return answers
