"""Going to another branch with a summary of the one that is left, as a run of its own: the leaf moves at its end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sessions_app import entry_log
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.models_catalogue import ModelInfo, describe_model
from sessions_app.agent.request_guard import UNFINISHED
from sessions_app.agent.summarizer import Summary, SummaryCancelled, SummaryFailed
from sessions_app.core.branch_summary import BranchSummaryPlan, plan_branch_summary, token_budget
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.navigation import speaks_for_user
from sessions_app.models import Entry, Run
from sessions_app.runner import review_records
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.compaction_rules import branch_summary_settings
from sessions_app.runner.extensions import hooks_of
from sessions_app.runner.providers import close_provider, open_provider
from sessions_app.runner.settling import announce_settled, settle
from sessions_app.runner.summary_writer import SummaryWriter
from sessions_app.transactions import write_transaction

Json = dict[str, Any]

FAILED = "The branch was not summarised, so nothing has moved: "


@dataclass(frozen=True, slots=True)
class Leaving:
    """A move from one entry to another: what is left behind (oldest first), and where the leaf will stand."""

    old_leaf: Entry | None
    target: Entry
    destination: Entry | None
    ancestor: Entry | None
    entries: list[Entry]


def leaving(old_leaf: Entry | None, target: Entry) -> Leaving:
    """What going to the target leaves behind (03 BS-04…07): its path counts, the target included."""
    destination = target.parent if speaks_for_user(target.as_core()) else target
    if old_leaf is None:
        return Leaving(None, target, destination, None, [])
    depth = entry_log.common_depth(old_leaf, target)
    stretch = entry_log.load_path(old_leaf, from_depth=max(0, depth))
    ancestor = stretch[0] if depth >= 0 else None
    return Leaving(old_leaf, target, destination, ancestor, stretch[1:] if ancestor is not None else stretch)


def plan_of(move: Leaving, model: ModelInfo) -> BranchSummaryPlan:
    """What of it goes into the summary request (03 BS-09…11); not answers that no model would see again."""
    budget = token_budget(model.context_window, branch_summary_settings().reserve_tokens)
    entries = [entry.as_core() for entry in move.entries]
    return plan_branch_summary([entry for entry in entries if not _is_unfinished(entry)], budget)


def _is_unfinished(entry: CoreEntry) -> bool:
    return entry.role == "assistant" and (entry.message or {}).get("stopReason") in UNFINISHED


def preparation(move: Leaving, *, wants_summary: bool, instructions: str, replace: bool, label: str) -> Json:
    """What session_before_tree tells (03 BS-08)."""
    return {
        "targetId": move.target.entry_id,
        "oldLeafId": move.old_leaf.entry_id if move.old_leaf else None,
        "commonAncestorId": move.ancestor.entry_id if move.ancestor else None,
        "entriesToSummarize": [entry.record for entry in move.entries],
        "userWantsSummary": wants_summary,
        "customInstructions": instructions or None,
        "replaceInstructions": replace,
        "label": label or None,
    }


def tell_moved(
    hooks: Hooks, move: Leaving, leaf: Entry | None, summary: Entry | None = None, *, from_hook: bool = False
) -> None:
    """session_tree (03 BS-18)."""
    event: Json = {
        "type": "session_tree",
        "newLeafId": leaf.entry_id if leaf else None,
        "oldLeafId": move.old_leaf.entry_id if move.old_leaf else None,
    }
    if summary is not None:
        event |= {"summaryEntry": summary.record, "fromExtension": from_hook}
    hooks.session_tree(event)


class BranchSummaryRun:
    """On failure or when it is stopped nothing moves (03 BS-14)."""

    def __init__(self, active: ActiveRun) -> None:
        self._active = active
        self._run = active.run
        self._session = active.run.session
        request = json.loads(active.run.request)
        self._instructions = str(request.get("instructions") or "")
        self._replace = bool(request.get("replace"))
        self._label = str(request.get("label") or "")
        self._target = Entry.objects.select_related("parent").get(
            session=self._session, seq=request["target"]
        )
        self._model = describe_model(self._run.provider, self._run.model)
        self._from_hook = False

    def drive(self) -> None:
        active = self._active
        provider = open_provider(self._run, self._model)
        hooks = hooks_of(self._session)
        writer = self._writer = SummaryWriter(
            provider,
            self._model,
            thinking_level=self._session.thinking_level,
            stop=active.stop,
            announce=active.stream.add,
            source="branchSummary",
        )
        try:
            move = leaving(self._session.leaf, self._target)
            summary = self._summary(move, hooks, writer)
            entry, leaf = self._moved(move, summary)
            tell_moved(hooks, move, leaf, entry, from_hook=self._from_hook)
        except SummaryCancelled:
            if active.stop.is_set():
                active.end_as_stopped()
            else:
                active.outcome = Run.Status.STOPPED
        except SummaryFailed as failure:
            why = failure.provider_message if failure.kind == "error" else str(failure)
            self._fail(why or "the provider gave no reason.")
        except entry_log.LeafMoved:
            self._fail("the conversation went on elsewhere meanwhile.")
        finally:
            active.count(writer.usage)
            close_provider(provider)
        settle(active)
        announce_settled(active)

    def _fail(self, why: str) -> None:
        active = self._active
        active.outcome, active.error, active.error_kind = Run.Status.FAILED, FAILED + why, "branch_summary"

    def _summary(self, move: Leaving, hooks: Hooks, writer: SummaryWriter) -> Summary:
        prepared = preparation(
            move,
            wants_summary=True,
            instructions=self._instructions,
            replace=self._replace,
            label=self._label,
        )
        answer = hooks.session_before_tree(
            {"type": "session_before_tree", "preparation": prepared, "signal": self._active.stop}
        )
        if answer.get("cancel"):
            raise SummaryCancelled
        self._label = str(answer.get("label", self._label) or "")
        if isinstance(answer.get("summary"), dict):
            own = answer["summary"]
            self._from_hook = True
            return Summary(str(own.get("summary") or ""), own.get("usage"), own.get("details"))
        instructions = str(answer.get("customInstructions", self._instructions) or "")
        replace = bool(answer.get("replaceInstructions", self._replace))
        summary = writer.branch(plan_of(move, self._model), instructions, replace=replace)
        return Summary(summary.text, writer.usage, summary.details)

    def _moved(self, move: Leaving, summary: Summary) -> tuple[Entry, Entry]:
        """The summary's entry and the new leaf, in one transaction: all of it, or nothing has moved."""
        active = self._active
        with write_transaction():
            session = entry_log.lock_session(active.session_pk)
            active.assert_owned()
            asked = Run.objects.filter(pk=self._run.pk, stop_requested=True).exists()
            if asked or active.stop.is_set():
                raise SummaryCancelled
            if not entry_log.continues(session, active.tail):
                raise entry_log.LeafMoved
            entry_log.move_leaf(session, move.destination)
            fields: Json = {
                "type": Kind.BRANCH_SUMMARY,
                "fromId": move.old_leaf.entry_id if move.old_leaf else "root",
                "summary": summary.text,
            }
            if summary.usage is not None:
                fields["usage"] = summary.usage
            if summary.details is not None:
                fields["details"] = summary.details
            fields["fromHook"] = self._from_hook
            entry = leaf = entry_log.append_locked(session, fields, run=self._run, author=self._run.author)
            review_records.record_branch_summary(entry, self._writer.exchanges)
            if self._label:
                label = {"type": Kind.LABEL, "targetId": entry.entry_id, "label": self._label}
                leaf = entry_log.append_locked(session, label, author=self._run.author)
        active.tail = leaf.seq
        return entry, leaf
