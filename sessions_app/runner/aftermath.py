"""What follows a pass of a prompt's run: another attempt after a passing fault, recovery from an overflow, a compaction."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sessions_app.agent.events import AgentEnded
from sessions_app.agent.models_catalogue import ModelInfo
from sessions_app.agent.providers.base import ProviderError
from sessions_app.agent.summary_provider import RetryPolicy
from sessions_app.core.context_edits import failed_attempt
from sessions_app.core.entries import Kind
from sessions_app.core.failures import is_overflow, is_spent, is_transient
from sessions_app.core.messages import user_message
from sessions_app.core.tokens import estimate_projected, estimate_tokens, should_compact
from sessions_app.core.triggers import Trigger, check_after_answer, newest_answer
from sessions_app.models import CompactionAttempt, QueuedMessage, Run
from sessions_app.runner import progress_guard
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.compaction import Compactor
from sessions_app.runner.compaction_plan import Branch
from sessions_app.runner.compaction_rules import selected

Json = dict[str, Any]
Reason = CompactionAttempt.Reason
Place = CompactionAttempt.Place


class Step(Enum):
    """What comes after a pass."""

    NOTHING = "nothing"
    RETRY = "retry"
    RECOVER = "recover"
    GIVE_UP = "give_up"
    COMPACT = "compact"


@dataclass(frozen=True, slots=True)
class Next:
    step: Step
    trigger: Trigger | None = None
    answer: Json | None = None
    retry_after_ms: int = 0

    @property
    def will_retry(self) -> bool:
        return self.step in (Step.RETRY, Step.RECOVER)


class Aftermath:
    """Keeps count of attempts over the passes of one run (02 §2, 04 §7)."""

    def __init__(
        self, active: ActiveRun, compactor: Compactor, model: ModelInfo, policy: RetryPolicy
    ) -> None:
        self._active = active
        self._compactor = compactor
        self._model = model
        self._policy = policy
        self._retries = 0
        self._has_recovered = False

    def use(self, compactor: Compactor, model: ModelInfo) -> None:
        """From now on this model answers: its window counts."""
        self._compactor, self._model = compactor, model

    # --- before and between requests ---

    def before_first_request(self) -> None:
        """CT-02: the last answer is looked at, an aborted one too, and what is about to be sent."""
        branch = self._compactor.branch()
        if branch is None:
            return
        rules = self._compactor.settings
        trigger = check_after_answer(
            branch.context, branch.path, selected(self._model), rules, skip_aborted=False, any_wording=True
        )
        if trigger is None and self._is_full(branch, ()):
            trigger = Trigger("threshold")
        if trigger is None:
            return
        if trigger.will_retry:
            self._omit(branch)
        self._compactor.automatic(trigger.reason, place=Place.OPENING)

    def after_review(self) -> str:
        """What was decided on a summary that the run has waited for is done; the Place it was left at, or nothing."""
        place = self._compactor.resume()
        if place == Place.ENDING:
            run = self._active.run
            self._active.outcome = Run.Status.FAILED if run.error_kind else Run.Status.COMPLETED
            self._active.error, self._active.error_kind = run.error, run.error_kind
            if self._active.stop.is_set():
                self._active.end_as_stopped()
        return place

    def between_turns(self, delivering: Iterable[int | None]) -> None:
        """CT-03: the projected request decides, with system prompt, tools and what is about to be said."""
        branch = self._compactor.branch()
        if branch is not None and self._is_full(branch, delivering):
            self._compactor.automatic(Reason.THRESHOLD, place=Place.TURN)

    def _is_full(self, branch: Branch, delivering: Iterable[int | None]) -> bool:
        waiting = QueuedMessage.objects.filter(pk__in=[pk for pk in delivering if pk is not None])
        said = sum(
            estimate_tokens(
                user_message(queued.text, json.loads(queued.images) if queued.images else None, timestamp=0)
            )
            for queued in waiting
        )
        tokens = estimate_projected(branch.context, branch.path).tokens + said
        return should_compact(tokens, self._model.context_window, self._compactor.settings)

    # --- after a pass ---

    def stored(self, message: Json) -> None:
        """A message of the run is in: what was counted may begin anew."""
        if message.get("role") == "user":
            self._has_recovered = False
        if message.get("role") != "assistant":
            return
        reason = message.get("stopReason")
        if reason not in ("error", "length", "aborted"):
            self._has_recovered = False
        if self._retries and reason != "error":
            self._end_retries(success=reason != "aborted")

    def decide(self, ended: AgentEnded) -> Next:
        """What follows, decided before the pass is announced as ended; overflow first, then retry, then threshold."""
        answer = next((m for m in reversed(ended.messages) if m.get("role") == "assistant"), None)
        if answer is None or self._active.stop.is_set() or self._active.outcome == Run.Status.LIMITED:
            return Next(Step.NOTHING)
        branch = self._compactor.branch()
        if branch is None or answer.get("stopReason") == "aborted":
            return Next(Step.NOTHING)
        trigger = self._trigger(branch, ended.error)
        if trigger is not None and trigger.reason == "overflow":
            if not trigger.will_retry:
                return Next(Step.COMPACT, trigger, answer)
            return Next(Step.GIVE_UP if self._has_recovered else Step.RECOVER, trigger, answer)
        if answer.get("stopReason") == "error":
            retry_after = int((ended.error.retry_after or 0) * 1000) if ended.error is not None else 0
            if self._may_retry(answer, ended.error) and retry_after <= self._policy.max_delay_ms:
                return Next(Step.RETRY, None, answer, retry_after)
            if self._retries:
                self._end_retries(success=False, error=str(answer.get("errorMessage") or ""))
        return Next(Step.COMPACT, trigger, answer) if trigger is not None else Next(Step.NOTHING)

    def _trigger(self, branch: Branch, error: ProviderError | None) -> Trigger | None:
        rules = self._compactor.settings
        trigger = check_after_answer(
            branch.context, branch.path, selected(self._model), rules, any_wording=True
        )
        told = error is not None and error.kind == "overflow"
        if told and rules.enabled and (trigger is None or trigger.reason != "overflow"):
            # The provider said so by status or type, in words nobody knows.
            return Trigger("overflow", will_retry=True)
        return trigger

    def _may_retry(self, answer: Json, error: ProviderError | None) -> bool:
        text = str(answer.get("errorMessage") or "")
        passing = is_transient(text) or (
            error is not None and error.retryable and not is_spent(text) and not is_overflow(text)
        )
        return self._policy.enabled and passing and self._retries < self._policy.max_retries

    def carry_out(self, following: Next) -> bool:
        """Do what was decided; True: another pass."""
        match following.step:
            case Step.RETRY:
                return self._retry(following)
            case Step.RECOVER:
                return self._recover(following)
            case Step.GIVE_UP:
                self._fail(self._still_too_big(following.answer or {}), "overflow")
                self._compactor.give_up(self._active.error)
            case Step.COMPACT if following.trigger is not None:
                self._compactor.automatic(following.trigger.reason, place=Place.ENDING)
                if self._active.stop.is_set():
                    self._active.end_as_stopped()
        return False

    def _retry(self, following: Next) -> bool:
        self._retries += 1
        delay = max(self._policy.delay_ms(self._retries), following.retry_after_ms)
        self._active.stream.add(
            {
                "type": "auto_retry_start",
                "attempt": self._retries,
                "maxAttempts": self._policy.max_retries,
                "delayMs": delay,
                "errorMessage": str((following.answer or {}).get("errorMessage") or ""),
            }
        )
        self._omit(self._compactor.branch())
        if self._active.stop.wait(delay / 1000):
            self._end_retries(success=False, error="The wait was cancelled.")
            self._active.end_as_stopped()
            return False
        return True

    def _end_retries(self, *, success: bool, error: str = "") -> None:
        wire: Json = {"type": "auto_retry_end", "success": success, "attempt": self._retries}
        self._active.stream.add(wire | ({} if success else {"finalError": error}))
        self._retries = 0

    def _recover(self, following: Next) -> bool:
        """Omissions first, then the compaction, then a new pass; they stay even where that fails (02 §2)."""
        self._has_recovered = True
        self._omit(self._compactor.branch())
        attempted = self._compactor.automatic(Reason.OVERFLOW, will_retry=True)
        if self._active.stop.is_set():
            self._active.end_as_stopped()
            return False
        if attempted.succeeded:
            return True
        if attempted.outcome == CompactionAttempt.Outcome.NOTHING:
            self._fail(self._nothing_to_give(following.answer or {}), "overflow")
        elif attempted.outcome == CompactionAttempt.Outcome.CANCELLED:
            self._fail("Context overflow recovery was cancelled.", "overflow")
        else:
            self._fail(attempted.error, "overflow")
        return False

    def _omit(self, branch: Branch | None) -> None:
        """The failed answer and its results leave the context together (02 §2)."""
        answer = newest_answer(branch.path) if branch is not None else None
        if branch is None or answer is None:
            return
        for entry in failed_attempt(branch.path, answer):
            self._active.store({"type": Kind.CONTEXT_EDIT, "targetId": entry.id, "replacement": None})

    def _fail(self, words: str, kind: str) -> None:
        self._active.outcome, self._active.error, self._active.error_kind = Run.Status.FAILED, words, kind

    def _still_too_big(self, answer: Json) -> str:
        if answer.get("stopReason") == "length":
            return (
                "The answer was cut off again after the context had been compacted. Ask for less at once, or choose "
                "a model with a larger window."
            )
        return (
            f"The context is still too large for {self._model.name} after it has been compacted once. Choose a "
            f"model with a larger window, leave something out, or go back. The provider said: "
            f"{answer.get('errorMessage')}"
        )

    def _nothing_to_give(self, answer: Json) -> str:
        if answer.get("stopReason") == "length":
            return "The answer was cut off, and there is nothing older that could make room. Ask for less at once."
        branch = self._compactor.branch()
        words = f"The provider refused the request as too large: {answer.get('errorMessage')}"
        if branch is None:
            return words
        return f"{words} {progress_guard.why_too_big(branch.context, self._model, self._compactor.limit)}"
