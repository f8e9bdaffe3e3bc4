"""One prompt from claim to settled: drives the loop, stores each message before the loop goes on, announces it."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from sessions_app import blobs, live
from sessions_app.agent.events import (
    AgentEnded,
    CallsWaiting,
    LimitReached,
    LoopEvent,
    MessageEnded,
    MessageStarted,
    RequestRepaired,
    TurnEnded,
)
from sessions_app.agent.hooks import Hooks
from sessions_app.agent.loop import Limits, PassLeft, TurnSettings, run_agent
from sessions_app.agent.models_catalogue import ModelInfo, describe_model
from sessions_app.agent.providers.base import Provider, ProviderError
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.skills import find_skills, skills_section
from sessions_app.agent.system_prompt import find_context_files, prompt_sections, render_sections
from sessions_app.agent.tool_presets import tools_of
from sessions_app.agent.tools.base import Tool
from sessions_app.core.entries import REPAIRED, Kind
from sessions_app.core.system_prompt_log import system_patch
from sessions_app.models import CompactionAttempt, Entry, QueuedMessage, Run
from sessions_app.runner.active_run import ActiveRun
from sessions_app.runner.aftermath import Aftermath, Next, Step
from sessions_app.runner.boundaries import append_drafts
from sessions_app.runner.compaction import Compactor
from sessions_app.runner.extensions import hooks_of
from sessions_app.runner.permissions import Permissions, leave_until_answered
from sessions_app.runner.providers import CannotStart, close_provider, open_provider
from sessions_app.runner.queued_words import next_words, queue_update, queued_user_message, waiting_words
from sessions_app.runner.settling import announce_settled, settle
from sessions_app.runner.summary_writer import retry_policy
from sessions_app.runner.workplace import open_sandbox, session_variables, spill_dir_of

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Place = CompactionAttempt.Place

_PASSES_WITHOUT_END = 1000
_WAIT_FOR_AN_ANSWER = frozenset({"user", "toolResult", "custom", "bashExecution"})


class PromptRun:
    """The listener of one run's loop."""

    def __init__(self, active: ActiveRun) -> None:
        self.active = active
        self.run = active.run
        self.session = active.run.session
        # One that has waited for a person goes on counting.
        self.answers = self.run.entries.filter(kind="message", role="assistant").count()
        self._permissions = Permissions(self.run)
        self._open_answer: Json | None = None
        self._answer_entry: Entry | None = None
        self._delivering: deque[int | None] = deque()
        self._authors: dict[int, int | None] = {}
        self._sections: dict[str, str] = {}
        self._tools: list[Json] = []
        self._has_continued = False
        self._chosen = (self.run.provider, self.run.model, *self._choice()[2:])

    def drive(self) -> None:
        """Passes until nothing is left to do (04 §1), then settled."""
        active = self.active
        if self._was_for_words_that_are_gone():
            settle(active)
            announce_settled(active)
            return
        parts = self._loop_parts = self._parts()
        self._aftermath = self._make_aftermath(parts)
        self._sandbox: LocalSandbox = parts["sandbox"]
        try:
            place = self._begin()
            for turn in range(_PASSES_WITHOUT_END):
                if self._is_left():
                    return
                is_over = not turn and place == Place.ENDING
                if not is_over and self._pass_goes_on(goes_on=not turn and place == Place.TURN):
                    continue
                if self._goes_on_for_hooks(parts["hooks"]):
                    continue
                if settle(active):
                    break
        finally:
            # What it has started in the background goes on while it waits for a person.
            if not active.is_left:
                self._sandbox.kill_all()
                shutil.rmtree(spill_dir_of(self.run), ignore_errors=True)
            for provider in self._providers:
                close_provider(provider)
        parts["hooks"].agent_settled({"type": "agent_settled", "aborted": active.stop.is_set()})
        announce_settled(active)

    def _is_left(self) -> bool:
        """Given back, because a person has to answer or decide first."""
        return self.active.is_left

    def _pass_goes_on(self, *, goes_on: bool) -> bool:
        """One pass and what follows it; True: another one, or the run was left."""
        following = self._one_pass(goes_on=goes_on)
        return self._is_left() or self._aftermath.carry_out(following) or self._is_left()

    def _begin(self) -> str:
        """What comes before the first pass of this worker; the Place at which the run was left for a review, if it was."""
        self._open_answer = self._permissions.open_answer()
        if self._open_answer is not None:
            return ""
        place = self._aftermath.after_review()
        self._record_system_prompt()
        if not place:
            self._aftermath.before_first_request()
        if place in ("", Place.OPENING) and not self.active.is_left:
            self._let_hooks_prepare(self._hooks)
        return place

    def _was_for_words_that_are_gone(self) -> bool:
        """It was started to deliver what was queued, and that has been taken back before anything was said."""
        if self.answers:
            return False
        request = json.loads(self.run.request or "{}")
        return bool(request.get("deliver")) and not waiting_words(self.session.pk).exists()

    def _make_aftermath(self, parts: Json) -> Aftermath:
        self._hooks: Hooks = parts["hooks"]
        compactor = self._compactor(parts["provider"], parts["model"])
        return Aftermath(self.active, compactor, parts["model"], retry_policy())

    def _compactor(self, provider: Provider, model: ModelInfo) -> Compactor:
        return Compactor(
            self.active,
            provider=provider,
            model=model,
            thinking_level=self.session.thinking_level,
            hooks=self._hooks,
        )

    def _goes_on_for_hooks(self, hooks: Hooks) -> bool:
        """The hook before settling sees the repaired projection (02 §2); it may write, and ask for one more request.

        Not after a stop (04 §6), and no request for a run that has failed or has nothing to answer.
        """
        if not hooks.has("agent_before_settle") or self.active.stop.is_set():
            return False
        asked = hooks.agent_before_settle(
            {"type": "agent_before_settle", "messages": deepcopy(self._context())}
        )
        append_drafts(self.active, asked["entries"])
        if not asked["continue"] or self._has_continued or self.active.outcome != Run.Status.COMPLETED:
            return False
        roles = [message.get("role") for message in self._context() if message.get("role") != "system"]
        self._has_continued = bool(roles) and roles[-1] in _WAIT_FOR_AN_ANSWER
        return self._has_continued

    def _let_hooks_prepare(self, hooks: Hooks) -> None:
        """Before the first request they may replace the system prompt and add messages (04 §1)."""
        if not hooks.has("before_agent_start"):
            return
        prompt = render_sections(self._sections)
        answer = hooks.before_agent_start({"type": "before_agent_start", "systemPrompt": prompt})
        if answer["systemPrompt"] not in (None, prompt):
            self._sections = {"preamble": answer["systemPrompt"]}
        self._record_system_prompt()
        drafts = [{"display": True, **message, "type": "custom_message"} for message in answer["messages"]]
        append_drafts(self.active, drafts)

    def _one_pass(self, *, goes_on: bool = False) -> Next:
        """One pass of the loop; what was decided to follow it. `goes_on`: it was left before a turn."""
        self.active.outcome, self.active.error, self.active.error_kind = Run.Status.COMPLETED, "", ""
        self._following = Next(Step.NOTHING)
        open_answer, self._open_answer = self._open_answer, None
        if open_answer is None:
            self._newly_chosen()
        loop = run_agent(
            inputs=[] if open_answer else self._opening_words(),
            context=self._context,
            poll_steering=lambda: self._poll(QueuedMessage.Mode.STEER),
            poll_follow_ups=lambda: self._poll(QueuedMessage.Mode.FOLLOW_UP),
            stop=self.active.stop,
            clock=_milliseconds,
            session_id=str(self.session.key),
            limits=self._limits(resumed=open_answer is not None),
            thinking_level=self.session.thinking_level,
            prepare_turn=self._prepare_turn,
            permit=lambda position, tool: self._permissions.permit(self.session.tool_preset, position, tool),
            open_answer=open_answer,
            goes_on=goes_on,
            sequential_tools=settings.TOOLS_ONE_BY_ONE,
            resize_images=settings.IMAGES_RESIZE,
            options=request_options(),
            **self._loop_parts,
        )
        for event in loop:
            self._take(event)
        return self._following

    def _prepare_turn(self) -> TurnSettings | None:
        """Model, thinking level and tools may have been chosen anew meanwhile (04 §6); then what is about to be sent
        is measured against the window that counts now.
        """
        try:
            changed = self._newly_chosen()
        except CannotStart as refusal:
            raise ProviderError(str(refusal), kind=refusal.kind) from refusal
        self._aftermath.between_turns(self._delivering)
        if self.active.is_left:
            raise PassLeft
        return changed

    def _choice(self) -> tuple[str, ...]:
        session = self.session
        return session.provider, session.model, session.thinking_level, session.tool_preset

    def _newly_chosen(self) -> TurnSettings | None:
        self.session.refresh_from_db(fields=["provider", "model", "thinking_level", "tool_preset", "leaf"])
        before, self._chosen = self._chosen, self._choice()
        if before == self._chosen:
            return None
        model, provider = self._model, self._providers[-1]
        if before[:2] != self._chosen[:2]:
            model = describe_model(self.session.provider, self.session.model)
            provider = self._open(model)
            Run.objects.filter(pk=self.run.pk).update(provider=model.provider, model=model.id)
            self._aftermath.use(self._compactor(provider, model), model)
        tools = self._use_tools()
        self._loop_parts |= {"provider": provider, "model": model, "tools": tools}
        self._record_system_prompt()
        return TurnSettings(provider, model, tools, self.session.thinking_level, request_options())

    def _opening_words(self) -> list[Json]:
        """A queued follow-up where nothing else waits for an answer; steering is asked for by the loop itself."""
        if QueuedMessage.objects.filter(session_id=self.session.pk, mode=QueuedMessage.Mode.STEER).exists():
            return []
        roles = [message.get("role") for message in self._context() if message.get("role") != "system"]
        return [] if roles and roles[-1] in _WAIT_FOR_AN_ANSWER else self._poll(QueuedMessage.Mode.FOLLOW_UP)

    def _take(self, event: LoopEvent) -> None:
        match event:
            case MessageEnded(message=message):
                self._store(message)
            case MessageStarted(message=message) if message.get("role") == "assistant":
                self.answers += 1
                self._send(event.to_wire() | {"answer": self.answers})
            case AgentEnded():
                self._pass_ended(event)
                self._following = self._aftermath.decide(event)
                wire = {"messages": [], "willRetry": self._following.will_retry}
                self._send(event.to_wire() | wire)
            case CallsWaiting(asked=asked):
                assert self._answer_entry is not None  # noqa: S101 - the message with the calls was stored
                leave_until_answered(self.active, self._answer_entry, asked, self._sandbox, self.answers)
            case LimitReached(kind=kind, value=value):
                self.active.outcome = Run.Status.LIMITED
                self.active.error = _limit_words(kind, value)
                self.active.error_kind = kind
                self._send(event.to_wire())
            case RequestRepaired(repairs=repairs):
                self._note_repairs(repairs)
                self._send(event.to_wire())
            case TurnEnded(drafts=drafts):
                append_drafts(self.active, drafts)
                Run.objects.filter(pk=self.run.pk).update(
                    turns=self.answers, tokens=self.active.tokens, cost=self.active.cost
                )
                self._send({"type": "turn_end"})
            case _:
                self._send(event.to_wire())

    def _note_repairs(self, repairs: Sequence[str]) -> None:
        """What had to be put in order is noted in the tree, once; what is stored stays as it is (04 §4)."""
        told: set[str] = set()
        for entry in self.session.entries.filter(kind=Kind.CUSTOM):
            if entry.record.get("customType") == REPAIRED:
                told.update(map(_kind_of_repair, entry.record["data"]["repairs"]))
        if news := [repair for repair in repairs if _kind_of_repair(repair) not in told]:
            logger.info("request repaired: %s", "; ".join(news), extra={"run": self.run.pk})
            self.active.store({"type": Kind.CUSTOM, "customType": REPAIRED, "data": {"repairs": news}})

    def _send(self, wire: Json) -> None:
        self.active.partial.take(wire)
        self.active.stream.add(wire)

    def _store(self, message: Json) -> None:
        """The message becomes an entry before the loop goes on; only then is its end announced."""
        delivered, author = None, None
        if message.get("role") == "user" and self._delivering:
            delivered = self._delivering.popleft()
            author = self._authors.pop(delivered, None) if delivered is not None else None
        entry = self.active.store({"type": "message", "message": message}, author=None, delivered=delivered)
        if entry is None:
            return
        if author is not None:
            type(entry).objects.filter(pk=entry.pk).update(author_id=author)
        if delivered is not None:
            live.notify(self.session.pk, "queue")
            self._send(queue_update(self.session.pk))
        if message.get("role") == "assistant":
            self._answer_entry = entry
            self._permissions.look_at(entry)
        self._aftermath.stored(message)
        self._send(
            {"type": "message_end", "seq": entry.seq, "entryId": entry.entry_id, "role": message.get("role")}
        )

    def _pass_ended(self, event: AgentEnded) -> None:
        last = next((m for m in reversed(event.messages) if m.get("role") == "assistant"), None)
        reason = last.get("stopReason") if last else None
        if self.active.stop.is_set():
            self.active.end_as_stopped()
        elif reason == "error":
            self.active.outcome = Run.Status.FAILED
            self.active.error = (
                str(last.get("errorMessage") or "The provider gave no answer.") if last else ""
            )
            self.active.error_kind = event.error.kind if event.error else "provider"

    def _context(self) -> list[Json]:
        branch = self.active.branch()
        messages = branch.context.messages if branch is not None else []
        return blobs.inline_images(messages, session_pk=self.session.pk)

    def _poll(self, mode: str) -> list[Json]:
        """What is to be said next of a queue; a row goes when its entry is stored."""
        taken = [pk for pk in self._delivering if pk is not None]
        following = next_words(self.session.pk, mode, taken)
        self._delivering.extend(queued.pk for queued in following)
        self._authors |= {queued.pk: queued.author_id for queued in following}
        return [queued_user_message(queued) for queued in following]

    def _record_system_prompt(self) -> None:
        """What the model is told first is part of the tree: a system message with what changed (01 §2)."""
        branch = self.active.branch()
        known = branch.context.system if branch is not None else None
        patch = system_patch(known, self._sections, self._tools)
        if patch is not None:
            self.active.store({"type": "message", "message": {**patch, "timestamp": _milliseconds()}})

    def _limits(self, *, resumed: bool) -> Limits:
        """What is left of the run's ceilings; the turn that a `resumed` pass begins with was counted before."""
        run = self.run
        started = run.started_at or timezone.now()
        deadline = None
        if run.max_seconds:
            deadline = int(started.timestamp() * 1000) + run.waited_ms + run.max_seconds * 1000
        turns = max(1, run.max_turns - self.answers + resumed) if run.max_turns else None
        # Summaries and failed attempts count too.
        cost = max(0.0, run.max_cost - self.active.cost) if run.max_cost else None
        return Limits(max_turns=turns, deadline_ms=deadline, max_cost=cost)

    def _parts(self) -> Json:
        """Everything the loop is given. Raises CannotStart with what a person can do."""
        model = describe_model(self.run.provider, self.run.model)
        self._providers: list[Provider] = []
        provider = self._open(model)
        sandbox = open_sandbox(self.run, self.session, session_env=lambda: session_variables(self.session))
        self._context_files = find_context_files(settings.AGENT_DIR, sandbox.cwd)
        self._skills = skills_section(find_skills(settings.AGENT_DIR / "skills"))
        hooks = hooks_of(self.session)
        hooks.report_to(lambda failure: self._send(failure.to_wire()))
        return {
            "provider": provider,
            "model": model,
            "tools": self._use_tools(),
            "system": lambda: render_sections(self._sections),
            "sandbox": sandbox,
            "hooks": hooks,
        }

    def _open(self, model: ModelInfo) -> Provider:
        provider = open_provider(self.run, model)
        self._model = model
        self._providers.append(provider)
        return provider

    def _use_tools(self) -> list[Tool]:
        """Those of the session's preset, and what the system prompt says of them."""
        tools = tools_of(self.session.tool_preset, resize_images=settings.IMAGES_RESIZE)
        self._sections = prompt_sections(
            tools=tools,
            cwd=Path(self.session.workspace.path),
            context_files=self._context_files,
            skills=self._skills,
        )
        self._tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools
        ]
        return tools


def request_options() -> Json:
    """What every request of an answer says beside its content: how long its prompt may stay in the cache (04 §9),
    and whether images are sent (04 §6).
    """
    return {"cacheRetention": settings.CACHE_RETENTION, "blockImages": settings.IMAGES_BLOCK}


def _kind_of_repair(repair: str) -> str:
    """Without how often it was needed, which grows."""
    return repair.partition(" (")[0]


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


def _limit_words(kind: str, used: float) -> str:
    """`used` is what the pass had spent when it was ended: turns, milliseconds or dollars."""
    match kind:
        case "turns":
            return f"Stopped at the ceiling of turns: {int(used)} in this job."
        case "time":
            return f"Stopped at the ceiling of time: {used / 60000:.0f} minutes in this job."
        case _:
            return f"Stopped at the ceiling of cost: ${used:.2f} in this job."
