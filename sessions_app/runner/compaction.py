"""One compaction from plan to entry: the order of spec 02 §2, every attempt recorded, nothing stored that gains nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.models_catalogue import ModelInfo
from sessions_app.agent.providers.base import Provider
from sessions_app.agent.summarizer import SummaryCancelled, SummaryFailed
from sessions_app.core.compaction import CompactionPlan
from sessions_app.core.errors import NothingToCompact
from sessions_app.core.projection import Context
from sessions_app.core.tokens import estimate_messages, estimate_projected
from sessions_app.models import CompactionAttempt, Entry, Run, SummaryVersion, Workspace
from sessions_app.runner import approval, progress_guard, review_records
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.carried import Carried, carried_block, texts_to_carry
from sessions_app.runner.compaction_parts import (
    HALTED,
    Attempted,
    Going,
    Made,
    NotApplied,
    plan_facts,
    previewed,
    reason_of,
    result_of,
)
from sessions_app.runner.compaction_plan import Branch, plan_for, preparation_of
from sessions_app.runner.compaction_rules import compaction_settings
from sessions_app.runner.settling import close_open_calls, open_calls
from sessions_app.runner.summary_writer import SummaryWriter
from sessions_app.transactions import write_transaction

Json = dict[str, Any]
Outcome = CompactionAttempt.Outcome
Reason = CompactionAttempt.Reason

LEFT_BEHIND = "This call was not carried out on this branch."
_FAILED_WORDS = {
    Reason.MANUAL: "Compaction failed: ",
    Reason.THRESHOLD: "Auto-compaction failed: ",
    Reason.OVERFLOW: "Context overflow recovery failed: ",
}


class Compactor:
    """Compacts the branch of one run, with the provider and model the run has."""

    def __init__(
        self,
        active: ActiveRun,
        *,
        provider: Provider,
        model: ModelInfo,
        thinking_level: str,
        hooks: Hooks,
        before_end: Callable[[Attempted], None] = lambda attempted: None,
    ) -> None:
        self._active = active
        self._provider = provider
        self._model = model
        self._thinking_level = thinking_level
        self._hooks = hooks
        self._before_end = before_end
        self.settings = compaction_settings(model)
        self.limit = model.context_window - self.settings.reserve_tokens

    def branch(self) -> Branch | None:
        """As it is now; None for a session without an entry."""
        return self._active.branch()

    def by_hand(self, instructions: str, first_kept: str | None = None) -> Attempted:
        """A person asked for it (CT-01), perhaps up to an entry: works whatever the guard or the settings say."""
        self._announce({"type": "compaction_start", "reason": Reason.MANUAL})
        self._close_calls_left_behind()
        branch = self.branch()
        try:
            if branch is None:
                raise NothingToCompact("Nothing to compact: the session is empty.")
            plan = plan_for(branch, self.settings, first_kept)
        except NothingToCompact as nothing:
            if branch is not None:
                facts = self._facts(Reason.MANUAL, branch)
                review_records.record_attempt(
                    CompactionAttempt.objects.create(**facts, outcome=Outcome.NOTHING, error=str(nothing))
                )
            return self._failed(Reason.MANUAL, Attempted(Outcome.NOTHING, error=str(nothing)))
        return self._carry_out(self._begun(Reason.MANUAL, branch, plan, instructions=instructions), plan)

    def _close_calls_left_behind(self) -> None:
        """Going back may have left the leaf on an answer whose results lie on another branch (B01)."""
        with write_transaction():
            session = entry_log.lock_session(self._active.session_pk)
            self._active.assert_owned()
            written = close_open_calls(session, self._active.run, reason=LEFT_BEHIND)
        if written:
            self._active.tail = written[-1].seq

    def automatic(self, reason: str, *, will_retry: bool = False, place: str = "") -> Attempted:
        """At the threshold, or to recover from an overflow; silent where there is nothing to do (02 §2).

        At a `place` of the run where it can be left, a summary may have to wait for a reviewer; a recovery never does.
        """
        branch = self.branch()
        plan = self._automatic_plan(branch, reason) if branch is not None else None
        if branch is None or plan is None:
            return Attempted(Outcome.NOTHING)
        halted = progress_guard.halted_by(branch.leaf)
        carried = self._to_carry(branch, plan.first_kept_entry_id)
        prediction = progress_guard.predict(
            plan,
            branch.context,
            self._room(reason),
            carried=-(-len(carried_block(carried, self._model.context_window)) // 4),
        )
        if halted is not None:
            expected = progress_guard.worst_case(prediction, halted)
            if progress_guard.is_blocked(
                halted, branch.leaf, self._model, self._settings_text(), reason, expected
            ):
                self._record_refused(reason, branch, plan, halted.halts)
                return self._refused(reason, halted.halts)
        if not prediction.gains:
            words = progress_guard.why_no_gain(prediction.before, prediction.after)
            self._record_unpaid(reason, branch, plan, words)
            self._announce({"type": "compaction_paused", "message": words})
            return self._refused(reason, words)
        self._announce({"type": "compaction_start", "reason": reason})
        going = self._begun(reason, branch, plan, will_retry=will_retry)
        going.place = place if reason == Reason.THRESHOLD and self._is_reviewed(prediction.before) else ""
        return self._carry_out(going, plan)

    def _is_reviewed(self, tokens: int) -> bool:
        workspace = Workspace.objects.get(sessions__pk=self._active.session_pk)
        return workspace.review_policy == Workspace.Policy.BEFORE and tokens > workspace.review_above_tokens

    def _room(self, reason: str) -> int:
        """What a compaction has to get below to be of use: the trigger, or after an overflow just what is sent again."""
        fits = self._model.context_window * 4 // 5
        return max(self.limit, fits) if reason == Reason.OVERFLOW else self.limit

    def _automatic_plan(self, branch: Branch, reason: str) -> CompactionPlan | None:
        """After an overflow, less is kept where the usual budget leaves nothing to summarise: a window may be small."""
        try:
            return plan_for(branch, self.settings)
        except NothingToCompact:
            smaller = min(self.settings.keep_recent_tokens, self._model.context_window // 4)
            if reason != Reason.OVERFLOW or smaller == self.settings.keep_recent_tokens:
                return None
        try:
            return plan_for(branch, replace(self.settings, keep_recent_tokens=smaller))
        except NothingToCompact:
            return None

    def _to_carry(self, branch: Branch, first_kept: str | None) -> list[Carried]:
        return texts_to_carry(branch.leaf, branch.depth_of(first_kept))

    def _settings_text(self) -> str:
        return progress_guard.settings_text(self._model, self.settings)

    # --- one attempt ---

    def _begun(
        self,
        reason: str,
        branch: Branch,
        plan: CompactionPlan,
        *,
        instructions: str = "",
        will_retry: bool = False,
    ) -> Going:
        row = CompactionAttempt.objects.create(
            **self._facts(reason, branch), **plan_facts(branch, plan), instructions=instructions
        )
        return Going(reason, branch, row, instructions, will_retry)

    def _facts(self, reason: str, branch: Branch) -> Json:
        return {
            "session_id": self._active.session_pk,
            "run": self._active.run,
            "leaf": branch.leaf,
            "reason": reason,
            "provider": self._model.provider,
            "model": self._model.id,
            "settings": self._settings_text(),
            "tokens_before": progress_guard.measure(branch.context),
        }

    def _record_unpaid(self, reason: str, branch: Branch, plan: CompactionPlan, words: str) -> None:
        attempt = CompactionAttempt.objects.create(
            **self._facts(reason, branch),
            **plan_facts(branch, plan),
            outcome=Outcome.NOT_SMALLER,
            halts=words,
            error=words,
        )
        review_records.record_attempt(attempt)

    def _record_refused(self, reason: str, branch: Branch, plan: CompactionPlan, words: str) -> None:
        """Once in a run: the guard is asked before every turn."""
        refused = CompactionAttempt.objects.filter(run=self._active.run, outcome=Outcome.REFUSED)
        if refused.exists():
            return
        attempt = CompactionAttempt.objects.create(
            **self._facts(reason, branch), **plan_facts(branch, plan), outcome=Outcome.REFUSED, error=words
        )
        review_records.record_attempt(attempt)

    def _carry_out(self, going: Going, plan: CompactionPlan) -> Attempted:
        writer = SummaryWriter(
            self._provider,
            self._model,
            thinking_level=self._thinking_level,
            stop=self._active.stop,
            announce=self._announce,
            source="compaction",
            reason=going.reason,
        )
        try:
            try:
                made = self._made(going, plan, writer)
            finally:
                self._active.count(writer.usage)
            if going.place:
                return self._held(going, made, writer)
            entry, context = self._stored(going, made, writer)
        except (SummaryCancelled, SummaryFailed, entry_log.LeafMoved, NotApplied) as reason:
            return self._not_applied(going, writer, reason)
        return self._applied(going, made, entry, context)

    def _not_applied(self, going: Going, writer: SummaryWriter, reason: Exception) -> Attempted:
        match reason:
            case SummaryFailed():
                return self._ended_without(going, writer, Outcome.FAILED, reason_of(reason))
            case entry_log.LeafMoved():
                words = "the conversation went on elsewhere meanwhile."
                return self._ended_without(going, writer, Outcome.FAILED, words)
            case NotApplied():
                return self._ended_without(going, writer, reason.outcome, str(reason), after=reason.after)
        return self._ended_without(going, writer, Outcome.CANCELLED, "")

    def _applied(self, going: Going, made: Made, entry: Entry, context: Context) -> Attempted:
        self._hooks.session_compact(
            {
                "type": "session_compact",
                "compactionEntry": entry.record,
                "fromExtension": made.from_hook,
                "reason": going.reason,
                "willRetry": going.will_retry,
            }
        )
        attempted = Attempted(Outcome.COMPACTED, entry)
        self._before_end(attempted)
        self._announce(
            {
                "type": "compaction_end",
                "reason": going.reason,
                "result": result_of(entry, estimate_messages(context.messages)),
                "aborted": False,
                "willRetry": going.will_retry,
            }
        )
        going.row.refresh_from_db(fields=["halts"])
        if going.row.halts:
            self._announce({"type": "compaction_paused", "message": going.row.halts})
        return attempted

    def _made(self, going: Going, plan: CompactionPlan, writer: SummaryWriter) -> Made:
        answer = self._hooks.session_before_compact(
            {
                "type": "session_before_compact",
                "preparation": preparation_of(plan),
                "branchEntries": [core.record for core in going.branch.path],
                "customInstructions": going.instructions or None,
                "reason": going.reason,
                "willRetry": going.will_retry,
                "signal": self._active.stop,
            }
        )
        if answer.get("cancel"):
            raise SummaryCancelled
        if isinstance(answer.get("compaction"), dict):
            own = answer["compaction"]
            going.from_hook = True
            made = Made(
                str(own.get("summary") or ""),
                own.get("firstKeptEntryId"),
                int(own.get("tokensBefore") or plan.tokens_before),
                own.get("usage"),
                own.get("details"),
                from_hook=True,
            )
        else:
            by_rule = settings.COMPACTION_EXTRACTIVE == "always" or (
                settings.COMPACTION_EXTRACTIVE == "recovery" and going.reason == Reason.OVERFLOW
            )
            summary = writer.compaction(plan, going.instructions, by_rule=by_rule)
            made = Made(
                summary.text, plan.first_kept_entry_id, plan.tokens_before, writer.usage, summary.details
            )
        carried = self._to_carry(going.branch, made.first_kept_entry_id)
        made.summary += carried_block(carried, self._model.context_window)
        return made

    def _stored(self, going: Going, made: Made, writer: SummaryWriter) -> tuple[Entry, Context]:
        """The entry and the context it gives. Raises what keeps it from being stored."""
        fields, context, before, after = previewed(going.branch, made)
        with write_transaction():
            self._refuse_if_stopped()
            if open_calls(entry_log.lock_session(self._active.session_pk)):
                raise NotApplied("a tool call is still open.", Outcome.FAILED)
            entry = self._active.store(fields)
            assert entry is not None  # noqa: S101 - only a queued message may have been taken back
            self._finish_row(
                going,
                Outcome.COMPACTED,
                made.usage,
                writer,
                entry=entry,
                after=after,
                halts=self._halts(going, context, before, after),
            )
        return entry, context

    def _refuse_if_stopped(self) -> None:
        """Whoever asks for a stop holds the session's row too: either the compaction is in, or it is cancelled."""
        entry_log.lock_session(self._active.session_pk)
        self._active.assert_owned()
        asked = Run.objects.filter(pk=self._active.run.pk, stop_requested=True).exists()
        if asked or self._active.stop.is_set():
            raise SummaryCancelled

    def _held(self, going: Going, made: Made, writer: SummaryWriter) -> Attempted:
        """The summary is put before the reviewers, and the run given back until they have decided."""
        _, _, _, after = previewed(going.branch, made)
        with write_transaction():
            self._refuse_if_stopped()
            CompactionAttempt.objects.filter(pk=going.row.pk).update(
                outcome=Outcome.WAITING,
                tokens_after=after,
                usage=json.dumps(made.usage) if made.usage else "",
                duration_ms=int((time.monotonic() - going.began) * 1000),
                retries=writer.retries,
                from_hook=made.from_hook,
                place=going.place,
                held_at=timezone.now(),
            )
            approval.hold(
                self._active, CompactionAttempt.objects.get(pk=going.row.pk), made, writer.exchanges
            )
        approval.leave(self._active, going.reason)
        return Attempted(Outcome.WAITING)

    def resume(self) -> str:
        """Do what was decided on the summary that this run waits for; the place it was left at, empty if at none."""
        row = approval.held_by(self._active.run)
        if row is None:
            return ""
        branch = self.branch()
        assert branch is not None  # noqa: S101 - there was one to compact
        version = approval.approved(row)
        self._announce({"type": "compaction_start", "reason": row.reason})
        if version is None or self._active.stop.is_set():
            cancelled = self._active.stop.is_set()
            outcome = Outcome.CANCELLED if cancelled else Outcome.REJECTED
            words = "" if cancelled else approval.NOT_APPROVED
            review_records.close_held(row, outcome, error=words, halts=words)
            self._failed(row.reason, Attempted(outcome, error=words))
            return row.place
        self._use(row, branch, version)
        return row.place

    def _use(self, row: CompactionAttempt, branch: Branch, version: SummaryVersion) -> None:
        carried = self._to_carry(branch, version.first_kept)
        made = Made(
            version.summary + carried_block(carried, self._model.context_window),
            version.first_kept,
            estimate_projected(branch.context, branch.path).tokens,
            json.loads(row.usage) if row.usage else None,
            json.loads(version.details) if version.details else None,
            row.from_hook,
        )
        going = Going(row.reason, branch, row, from_hook=row.from_hook)
        try:
            fields, context, before, after = previewed(going.branch, made)
            with write_transaction():
                self._refuse_if_stopped()
                entry = self._active.store(fields)
                assert entry is not None  # noqa: S101 - only a queued message may have been taken back
                halts = self._halts(going, context, before, after)
                review_records.close_held(
                    row, Outcome.COMPACTED, entry=entry, version=version, after=after, halts=halts
                )
        except (SummaryCancelled, NotApplied) as reason:
            cancelled = isinstance(reason, SummaryCancelled)
            words = "" if cancelled else _FAILED_WORDS[Reason(row.reason)] + str(reason)
            outcome = Outcome.CANCELLED if cancelled else Outcome.NOT_SMALLER
            review_records.close_held(row, outcome, error=words, halts=words)
            self._failed(row.reason, Attempted(outcome, error=words), from_hook=row.from_hook)
            return
        self._applied(going, made, entry, context)

    def _halts(self, going: Going, context: Context, before: int, after: int) -> str:
        if after > self.limit:
            return progress_guard.why_too_big(context, self._model, self.limit)
        if going.reason != Reason.MANUAL and before - after < progress_guard.smallest_gain(before):
            return progress_guard.why_no_gain(before, after)
        return ""

    def _finish_row(
        self,
        going: Going,
        outcome: str,
        usage: Json | None,
        writer: SummaryWriter,
        *,
        entry: Entry | None = None,
        after: int | None = None,
        halts: str = "",
        error: str = "",
    ) -> None:
        CompactionAttempt.objects.filter(pk=going.row.pk).update(
            outcome=outcome,
            entry=entry,
            tokens_after=after,
            halts=halts,
            error=error[:4000],
            usage=json.dumps(usage) if usage else "",
            duration_ms=int((time.monotonic() - going.began) * 1000),
            retries=writer.retries,
            **review_records.stored_facts(entry),
        )
        review_records.record_attempt(CompactionAttempt.objects.get(pk=going.row.pk), writer.exchanges)

    # --- endings without an entry ---

    def _ended_without(
        self, going: Going, writer: SummaryWriter, outcome: str, why: str, *, after: int | None = None
    ) -> Attempted:
        automatic = going.reason != Reason.MANUAL
        halts = ""
        if outcome == Outcome.FAILED and automatic:
            halts = (
                f"Automatic compaction failed: {why} It has stopped on this branch until the context has grown; "
                "compact by hand, or choose another model."
            )
        elif outcome == Outcome.NOT_SMALLER and automatic:
            halts = progress_guard.why_no_gain(going.row.tokens_before, after or going.row.tokens_before)
        with write_transaction():
            self._finish_row(going, outcome, writer.usage, writer, after=after, halts=halts, error=why)
        attempted = Attempted(outcome, error=_FAILED_WORDS[Reason(going.reason)] + why if why else "")
        self._failed(going.reason, attempted, from_hook=going.from_hook)
        if halts:
            self._announce({"type": "compaction_paused", "message": halts})
        return attempted

    def _refused(self, reason: str, words: str) -> Attempted:
        """Not tried: at the threshold without a word, since the run can still go on."""
        attempted = Attempted(HALTED, error=words)
        return attempted if reason == Reason.THRESHOLD else self._failed(reason, attempted)

    def _failed(self, reason: str, attempted: Attempted, *, from_hook: bool = False) -> Attempted:
        aborted = attempted.outcome == Outcome.CANCELLED
        words = {} if aborted else {"errorMessage": attempted.error}
        self._before_end(attempted)
        self._announce(
            {"type": "compaction_end", "reason": reason, "aborted": aborted, "willRetry": False, **words}
        )
        self._hooks.session_compact_failed(
            {
                "type": "session_compact_failed",
                "reason": reason,
                **words,
                "aborted": aborted,
                "willRetry": False,
                "fromExtension": from_hook,
            }
        )
        return attempted

    def give_up(self, words: str) -> None:
        """The one recovery did not help: told like a failed compaction, without another one (02 §2)."""
        self._failed(Reason.OVERFLOW, Attempted(HALTED, error=words))

    def _announce(self, wire: Json) -> None:
        self._active.stream.add(wire)
