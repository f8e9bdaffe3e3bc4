"""Compactions and the attempts at one, as the transcript tells them: what was replaced, what it gained, what to do next."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from sessions_app.core.entries import Kind
from sessions_app.core.messages import number_of
from sessions_app.fragments import wording
from sessions_app.fragments.plain_text import MAX_SCANNED, one_line, visible
from sessions_app.models import CompactionAttempt, Entry, Run, Session

Json = dict[str, Any]

_CARRIED = re.compile(r"\n\n<carried>\n(?P<block>.*)</carried>\s*\Z", re.DOTALL)
_CARRIED_ENTRY = re.compile(
    r'<entry id="(?P<id>[^"]*)" role="(?P<role>[^"]*)">\n(?P<text>.*?)\n</entry>\n', re.DOTALL
)
_FILE_TAGS = re.compile(r"(?:\s*<(?P<tag>read-files|modified-files)>.*?</(?P=tag)>)+\s*\Z", re.DOTALL)
_REASONS: dict[str, str] = {
    CompactionAttempt.Reason.MANUAL: "asked for",
    CompactionAttempt.Reason.THRESHOLD: "automatic, nearly full",
    CompactionAttempt.Reason.OVERFLOW: "automatic, the request was too long",
}
_ROLES = {"user": "Your message", "assistant": "Answer", "toolResult": "Tool result"}


@dataclass(frozen=True, slots=True)
class Fold:
    """One compaction of a path: its number from the top, the number of the one that took its place (None: in force),
    and the attempt it came from (None: imported)."""

    number: int
    superseded_by: int | None
    attempt: CompactionAttempt | None

    @property
    def facts(self) -> str:
        """`141.2k → 23.4k tokens · $0.21 · 9 s · asked for`, as far as it is known."""
        attempt = self.attempt
        if attempt is None:
            return ""
        after = f" → {wording.tokens(attempt.tokens_after)}" if attempt.tokens_after is not None else ""
        facts = [f"{wording.tokens(attempt.tokens_before)}{after} tokens"]
        if cost := _cost_of(attempt.usage):
            facts.append(wording.money(cost))
        if attempt.duration_ms:
            facts.append(wording.duration(attempt.duration_ms))
        facts.append(_REASONS.get(attempt.reason, attempt.reason))
        return " · ".join(facts)

    @property
    def instructions(self) -> str:
        return visible(self.attempt.instructions[:MAX_SCANNED]) if self.attempt else ""


@dataclass(frozen=True, slots=True)
class CarriedText:
    """Words that a compaction kept as they were."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An attempt that changed nothing: `glyph` and one sentence; `again`: another one may help."""

    glyph: str
    words: str
    details: str
    again: bool


def folds_of(entries: Sequence[Entry], leaf: Entry | None) -> dict[int, Fold]:
    """By pk, for the compactions among the entries."""
    wanted = [entry for entry in entries if entry.kind == Kind.COMPACTION]
    if not wanted:
        return {}
    rows = Entry.objects.filter(session_id=wanted[0].session_id, kind=Kind.COMPACTION)
    above: dict[int, int | None] = dict(rows.values_list("seq", "parent__compaction_seq"))
    attempts = {
        attempt.entry_id: attempt
        for attempt in CompactionAttempt.objects.filter(entry_id__in=[entry.pk for entry in wanted]).order_by(
            "pk"
        )
    }
    followers: dict[int, int] = {}
    newest = leaf.compaction_seq if leaf is not None else None
    while newest is not None:
        previous = above.get(newest)
        if previous is not None:
            followers[previous] = newest
        newest = previous
    return {
        entry.pk: Fold(
            number=_number(entry.seq, above),
            superseded_by=_number(followers[entry.seq], above) if entry.seq in followers else None,
            attempt=attempts.get(entry.pk),
        )
        for entry in wanted
    }


def _number(seq: int, above: Mapping[int, int | None]) -> int:
    count, current = 0, above.get(seq, None)
    while current is not None:
        count, current = count + 1, above.get(current)
    return count + 1


def split_summary(summary: str) -> tuple[str, list[CarriedText]]:
    """What the model wrote, without the lists of files (shown below it), and what was carried along word for word."""
    found = _CARRIED.search(summary)
    if found is None:
        return _FILE_TAGS.sub("", summary), []
    carried = [
        CarriedText(
            _ROLES.get(it["role"], one_line(it["role"], 40).replace("_", " ")),
            visible(it["text"][:MAX_SCANNED]),
        )
        for it in _CARRIED_ENTRY.finditer(found["block"])
    ]
    return _FILE_TAGS.sub("", summary[: found.start()]), carried


def attempts_of(entries: Sequence[Entry], session: Session) -> dict[int, AttemptRow]:
    """By pk of the entry where it was made: the newest attempt there that changed nothing.

    What the state of the newest run tells already is not told twice.
    """
    outcomes = CompactionAttempt.Outcome
    newest = (
        session.runs.of_agents()
        .exclude(status=Run.Status.WAITING)
        .order_by("-pk")
        .values_list("pk", flat=True)
        .first()
    )
    rows = CompactionAttempt.objects.filter(
        leaf_id__in=[entry.pk for entry in entries],
        outcome__in=[outcomes.FAILED, outcomes.CANCELLED, outcomes.NOT_SMALLER],
    )
    if newest is not None:
        rows = rows.exclude(run_id=newest, run__kind=Run.Kind.COMPACTION)
    return {attempt.leaf_id: _attempt_row(attempt) for attempt in rows.order_by("pk") if attempt.leaf_id}


def _attempt_row(attempt: CompactionAttempt) -> AttemptRow:
    when = wording.clock(timezone.localtime(attempt.created_at))
    took = f" after {wording.duration(attempt.duration_ms)}" if attempt.duration_ms else ""
    if attempt.outcome == CompactionAttempt.Outcome.CANCELLED:
        return AttemptRow("stopped", f"Compaction cancelled at {when}{took}. Nothing was changed.", "", False)
    told = visible((attempt.halts or attempt.error)[:MAX_SCANNED])
    first = one_line(told, 200)
    if attempt.outcome == CompactionAttempt.Outcome.NOT_SMALLER:
        return AttemptRow(
            "omit", f"Compaction not applied at {when}: {first}", told if len(told) > 200 else "", False
        )
    return AttemptRow("error", f"Compaction failed at {when}: {first}", told if len(told) > 200 else "", True)


def _cost_of(usage: str) -> float | None:
    try:
        parsed = json.loads(usage) if usage else {}
    except ValueError:
        return None
    cost = parsed.get("cost") if isinstance(parsed, dict) else None
    return number_of(cost.get("total")) if isinstance(cost, dict) else None
