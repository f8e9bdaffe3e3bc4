"""The plan of a compaction: what is summarised, what stays, and what the summary must carry on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.cut_points import Cut, find_cut
from sessions_app.core.entries import Entry, Kind
from sessions_app.core.errors import NothingToCompact
from sessions_app.core.file_lists import FileOperations
from sessions_app.core.messages import Json
from sessions_app.core.projection import Context, ProjectedEntry, project
from sessions_app.core.tokens import estimate_projected


class SourcedMessage(NamedTuple):
    """A projected message and the entry it comes from."""

    entry_id: str
    message: Json


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """A compaction before anything is asked of a model.

    `history` is summarised as a whole. If the cut splits a span, `span_prefix` is the beginning of that
    span and gets a summary of its own. `previous_summary` is None if the context had none; an empty one
    is not None. `tokens_before` is the projected estimate of the whole context.
    """

    first_kept_entry_id: str
    history: tuple[SourcedMessage, ...]
    span_prefix: tuple[SourcedMessage, ...]
    splits_span: bool
    tokens_before: int
    previous_summary: str | None
    file_operations: FileOperations
    settings: CompactionSettings


def plan_compaction(
    path: Sequence[Entry],
    settings: CompactionSettings,
    context: Context | None = None,
    first_kept: str | None = None,
) -> CompactionPlan:
    """The plan for a path from a root to a leaf (02 §3). Raises NothingToCompact.

    `context` is the path's projection, if the caller has it already. `first_kept` is the id of the entry from which a
    person wants everything kept; without, the settings decide.
    """
    if not path:
        raise NothingToCompact("Nothing to compact: the session is empty.")
    if path[-1].kind == Kind.COMPACTION:
        raise NothingToCompact("Nothing to compact: the session has just been compacted.")
    context = project(path) if context is None else context
    start = boundary_start(context)
    if first_kept is None:
        cut = find_cut(context.entries, start, settings.keep_recent_tokens)
    else:
        cut = _cut_at(context.entries, start, first_kept)
    if cut is None:
        raise NothingToCompact("Nothing to compact: nothing follows the last compaction.")
    history, span_prefix = _what_goes(context.entries, start, cut)
    if not history and not span_prefix:
        raise NothingToCompact("Nothing to compact: the session is too small.")
    return CompactionPlan(
        first_kept_entry_id=context.entries[cut.first_kept].entry.id,
        history=history,
        span_prefix=span_prefix,
        splits_span=cut.splits_span,
        tokens_before=estimate_projected(context, path).tokens,
        previous_summary=_previous_summary(context),
        file_operations=_file_operations(context, (*history, *span_prefix)),
        settings=settings,
    )


def _cut_at(entries: Sequence[ProjectedEntry], start: int, first_kept: str) -> Cut | None:
    """The chosen boundary; no span is split, since what lies before it is summarised as a whole."""
    for place in range(start, len(entries)):
        if entries[place].entry.id == first_kept:
            return Cut(place, None)
    return None


def boundary_start(context: Context) -> int:
    """Where the next range to summarise begins: right behind the newest visible compaction (02 §3.2)."""
    return 0 if context.compaction is None else 1


def _what_goes(
    entries: Sequence[ProjectedEntry], start: int, cut: Cut
) -> tuple[tuple[SourcedMessage, ...], tuple[SourcedMessage, ...]]:
    if cut.span_start is None:
        return _sourced(entries[start : cut.first_kept]), ()
    return _sourced(entries[start : cut.span_start]), _sourced(entries[cut.span_start : cut.first_kept])


def _sourced(entries: Iterable[ProjectedEntry]) -> tuple[SourcedMessage, ...]:
    """System messages are never summarised: they are replayed into the checkpoint."""
    return tuple(
        SourcedMessage(item.entry.id, message)
        for item in entries
        for message in item.messages
        if message.get("role") != "system"
    )


def _previous_summary(context: Context) -> str | None:
    compaction = context.compaction
    summary = None if compaction is None else compaction.entry.record.get("summary")
    return summary if isinstance(summary, str) else None


def _file_operations(context: Context, messages: Iterable[SourcedMessage]) -> FileOperations:
    operations = FileOperations()
    if context.compaction is not None:
        operations.add_details(context.compaction.entry.record)
    for sourced in messages:
        operations.add_calls(sourced.message, nested=True)
    return operations
