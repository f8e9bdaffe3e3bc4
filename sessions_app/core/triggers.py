"""When a context is compacted without being asked: after an answer, and between turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.entries import Entry, Kind
from sessions_app.core.failures import is_known_overflow, is_overflow
from sessions_app.core.messages import Json, number_of
from sessions_app.core.projection import Context, newest_compaction, replacement_of
from sessions_app.core.times import milliseconds_of
from sessions_app.core.tokens import estimate_context, estimate_projected, should_compact, tokens_of_usage

ALMOST_FULL = 0.99


@dataclass(frozen=True, slots=True)
class Trigger:
    """Why to compact, and whether the failed request is to be tried again afterwards."""

    reason: Literal["threshold", "overflow"]
    will_retry: bool = False


@dataclass(frozen=True, slots=True)
class SelectedModel:
    """The model in use: its name and its own limits in tokens."""

    provider: str
    id: str
    context_window: int
    max_tokens: int


def newest_answer(path: Sequence[Entry]) -> Entry | None:
    """The newest assistant message of the path."""
    for entry in reversed(path):
        if entry.role == "assistant":
            return entry
    return None


def check_between_turns(
    context: Context, path: Sequence[Entry], window: int, settings: CompactionSettings
) -> Trigger | None:
    """Before the next response of a running pass: the projected context decides (02 CT-03)."""
    full = should_compact(estimate_projected(context, path).tokens, window, settings)
    return Trigger("threshold") if full else None


def check_after_answer(
    context: Context,
    path: Sequence[Entry],
    model: SelectedModel,
    settings: CompactionSettings,
    *,
    skip_aborted: bool = True,
    any_wording: bool = False,
) -> Trigger | None:
    """After a pass, or with `skip_aborted=False` before a new prompt (02 §1 CT-02, CT-04…07 and guards).

    With `any_wording` an overflow is one in whatever words a provider tells it, not only in those the reference knows.
    """
    entry = newest_answer(path)
    if entry is None or not settings.enabled:
        return None
    answer: Json = entry.record["message"]
    if skip_aborted and answer.get("stopReason") == "aborted":
        return None
    if _older_than_compaction(answer, path):
        return None
    overflow = _overflow(entry, answer, context, path, model, any_wording=any_wording)
    if overflow is not None:
        return overflow
    tokens = _threshold_tokens(answer, context, path)
    if tokens is not None and should_compact(tokens, model.context_window, settings):
        return Trigger("threshold")
    return None


def _older_than_compaction(message: Json, path: Sequence[Entry]) -> bool:
    """An answer from before the newest compaction tells nothing about the context of now."""
    position = newest_compaction(path)
    if position is None:
        return False
    answered, compacted = number_of(message.get("timestamp")), milliseconds_of(path[position].timestamp)
    return answered is not None and compacted is not None and compacted >= answered


def _overflow(
    entry: Entry,
    answer: Json,
    context: Context,
    path: Sequence[Entry],
    model: SelectedModel,
    *,
    any_wording: bool,
) -> Trigger | None:
    if (answer.get("provider"), answer.get("model")) != (model.provider, model.id):
        return None
    as_sent = _is_projected(entry, context) and not _followed_by(entry, path, Kind.CONTEXT_EDIT)
    if answer.get("stopReason") == "error":
        words = str(answer.get("errorMessage") or "")
        told = is_overflow(words) if any_wording else is_known_overflow(words, model.provider)
        counts = told and (as_sent or _stands_as_an_error(entry, path))
        return Trigger("overflow", will_retry=True) if counts else None
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    window = model.context_window
    if answer.get("stopReason") == "stop":
        return Trigger("overflow") if as_sent and window and _input_of(usage) > window else None
    if answer.get("stopReason") != "length" or not _is_projected(entry, context):
        return None
    output = number_of(usage.get("output"))
    ended_early = output is not None and output < model.max_tokens
    # Not one word of an answer, in a window that is nearly full.
    squeezed = as_sent and window and output == 0 and _input_of(usage) >= ALMOST_FULL * window
    return Trigger("overflow", will_retry=True) if ended_early or squeezed else None


def _stands_as_an_error(entry: Entry, path: Sequence[Entry]) -> bool:
    """Neither compacted away nor left out since: then an explicit overflow counts whatever else was edited."""
    later = list(takewhile(lambda candidate: candidate is not entry, reversed(path)))
    if any(candidate.kind == Kind.COMPACTION for candidate in later):
        return False
    edits = (
        edit for edit in later if edit.kind == Kind.CONTEXT_EDIT and edit.record.get("targetId") == entry.id
    )
    newest = next(edits, None)
    return newest is None or replacement_of(newest) is not None


def _input_of(usage: Json) -> float:
    parts = [number_of(usage.get(name)) for name in ("input", "cacheRead")]
    return 0 if None in parts else sum(part for part in parts if part is not None)


def _is_projected(entry: Entry, context: Context) -> bool:
    return any(item.entry is entry and item.visible for item in context.entries)


def _followed_by(entry: Entry, path: Sequence[Entry], kind: Kind) -> bool:
    later = takewhile(lambda candidate: candidate is not entry, reversed(path))
    return any(candidate.kind == kind for candidate in later)


def _threshold_tokens(answer: Json, context: Context, path: Sequence[Entry]) -> float | None:
    """What the threshold compares: an estimate where edits, errors or zero usage leave nothing reported."""
    if any(item.entry.kind == Kind.CONTEXT_EDIT for item in context.entries):
        return estimate_projected(context, path).tokens
    reported = tokens_of_usage(answer.get("usage")) if isinstance(answer.get("usage"), dict) else 0
    if answer.get("stopReason") != "error" and reported != 0:
        return reported
    estimate = estimate_context(context.messages)
    index = estimate.last_usage_index
    if index is not None and _older_than_compaction(context.messages[index], path):
        return None
    return estimate.tokens
