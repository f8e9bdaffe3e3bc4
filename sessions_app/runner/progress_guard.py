"""Keeps automatic compaction from running in circles: measures what it gains, and stops it where it gains too little."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions_app import entry_log
from sessions_app.agent.models_catalogue import ModelInfo
from sessions_app.core.compaction import CompactionPlan
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.entries import Kind
from sessions_app.core.messages import Json
from sessions_app.core.projection import Context
from sessions_app.core.tokens import estimate_messages, estimate_tokens
from sessions_app.models import CompactionAttempt, Entry

# Less than this share of the context is no gain worth a paid request.
SMALLEST_GAIN = 0.05
# What a summary is taken to need where none was written yet.
EXPECTED_SUMMARY_TOKENS = 600
_LOOKED_AT = 50
WAYS_OUT = (
    "Leave out what is largest, choose a model with a larger window, go back to an earlier message, or compact by "
    "hand with instructions."
)

Outcome = CompactionAttempt.Outcome


def measure(context: Context) -> int:
    """The estimate before and after: the replayed system message once, everything else as it is."""
    system = context.system
    spoken = estimate_messages(message for message in context.messages if message.get("role") != "system")
    return spoken + (estimate_tokens(system) if system is not None else 0)


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a planned compaction can bring at best: `before`, and `after` with a summary of `summary` tokens."""

    before: int
    after: int
    limit: int

    @property
    def gains(self) -> bool:
        return self.before - self.after >= smallest_gain(self.before)

    @property
    def makes_room(self) -> bool:
        return self.after <= self.limit


def smallest_gain(before: int) -> int:
    return max(1, int(before * SMALLEST_GAIN))


def predict(
    plan: CompactionPlan,
    context: Context,
    limit: int,
    *,
    summary: int = EXPECTED_SUMMARY_TOKENS,
    carried: int = 0,
) -> Prediction:
    before = measure(context)
    gone = estimate_messages(item.message for item in (*plan.history, *plan.span_prefix))
    if plan.previous_summary is not None and context.compaction is not None:
        gone += estimate_tokens(context.compaction.messages[-1])
    return Prediction(before, before - gone + summary + carried, limit)


def halted_by(leaf: Entry) -> CompactionAttempt | None:
    """The newest attempt on the leaf's path, if it says that no automatic one follows."""
    attempts = CompactionAttempt.objects.filter(session_id=leaf.session_id).exclude(
        outcome__in=[Outcome.STARTED, Outcome.REFUSED]
    )
    trail: entry_log.Trail | None = None
    for attempt in attempts.select_related("leaf", "entry").order_by("-pk")[:_LOOKED_AT]:
        place = attempt.entry or attempt.leaf
        trail = trail or entry_log.Trail(leaf)
        if place is not None and place in trail:
            return attempt if attempt.halts else None
    return None


def settings_text(model: ModelInfo, settings: CompactionSettings) -> str:
    """What an attempt was made with, as it is stored: a change of any of it gives automatic ones a new chance."""
    return json.dumps(
        {
            "window": model.context_window,
            "reserveTokens": settings.reserve_tokens,
            "keepRecentTokens": settings.keep_recent_tokens,
        }
    )


def is_blocked(
    halted: CompactionAttempt,
    leaf: Entry,
    model: ModelInfo,
    settings_now: str,
    reason: str,
    prediction: Prediction,
) -> bool:
    """Whether an attempt that was halted still stands in the way.

    The ways out: another model or other settings, something left out by a person, or a context that has grown
    so that a compaction would now make room. A failed one does not keep an overflow from its one recovery.
    """
    if (halted.provider, halted.model, halted.settings) != (model.provider, model.id, settings_now):
        return False
    if halted.outcome == Outcome.FAILED and reason == CompactionAttempt.Reason.OVERFLOW:
        return False
    place = halted.entry or halted.leaf
    if place is not None and _left_something_out(place, leaf):
        return False
    measured = halted.tokens_after if halted.outcome == Outcome.COMPACTED else halted.tokens_before
    has_grown = prediction.before - (measured or 0) >= smallest_gain(prediction.before)
    return not (has_grown and prediction.gains and prediction.makes_room)


def _left_something_out(place: Entry, leaf: Entry) -> bool:
    edits = Entry.objects.filter(
        session_id=leaf.session_id, kind=Kind.CONTEXT_EDIT, run=None, depth__gt=place.depth
    )
    trail = entry_log.Trail(leaf)
    return any(edit in trail for edit in edits)


def worst_case(prediction: Prediction, halted: CompactionAttempt | None) -> Prediction:
    """The same with a summary as long as the last one turned out."""
    if halted is None or halted.entry is None:
        return prediction
    last = estimate_messages([{"role": "compactionSummary", "summary": halted.entry.record.get("summary")}])
    return replace(prediction, after=prediction.after + max(0, last - EXPECTED_SUMMARY_TOKENS))


def why_too_big(context: Context, model: ModelInfo, limit: int) -> str:
    """What fills the context that a compaction can't help, and what a person can do."""
    sizes = _sizes(context)
    named = ", ".join(f"{name} {tokens:,}" for name, tokens in sizes if tokens)
    total = sum(tokens for _, tokens in sizes)
    if limit <= 0:
        too_much = (
            f"but the reserve leaves nothing of the window of {model.name}: it is set too high for this model"
        )
    else:
        too_much = f"more than the {limit:,} that {model.name} leaves room for"
    return (
        f"The context still has about {total:,} tokens ({named}), {too_much}. Automatic compaction has stopped on "
        f"this branch. {WAYS_OUT}"
    )


def why_no_gain(before: int, after: int) -> str:
    return (
        f"A compaction would bring the context from about {before:,} to {after:,} tokens, which is no gain worth "
        f"a request. Automatic compaction has stopped on this branch. {WAYS_OUT}"
    )


def _sizes(context: Context) -> Sequence[tuple[str, int]]:
    system = context.system
    largest: tuple[str, int] = ("", 0)
    summary = results = spoken = 0
    for item in context.entries:
        for message in item.messages:
            tokens = estimate_tokens(message)
            match message.get("role"):
                case "system":
                    continue
                case "compactionSummary":
                    summary += tokens
                    continue
                case "toolResult":
                    results += tokens
                case _:
                    spoken += tokens
            if tokens > largest[1]:
                largest = (_name_of(message), tokens)
    if largest[1] * 2 > results + spoken:
        rest = results + spoken - largest[1]
        tail = [(largest[0], largest[1]), ("everything else that was kept", rest)]
    else:
        tail = [("messages that were kept", spoken), ("results of tools that were kept", results)]
    head = ("system prompt and tools", estimate_tokens(system) if system is not None else 0)
    return (head, ("the summary", summary), *tail)


def _name_of(message: Json) -> str:
    match message.get("role"):
        case "toolResult":
            return f"one result of {message.get('toolName') or 'a tool'}"
        case "assistant":
            return "one answer"
        case "user":
            return "one of your messages"
        case _:
            return "one message"
