"""A compaction's review as its page and the admin show it: the range with its marks, the summary's lines, the report."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from sessions_app import entry_log
from sessions_app.core.entries import Kind
from sessions_app.fragments import wording
from sessions_app.fragments.folds import split_summary
from sessions_app.fragments.plain_text import one_line, visible
from sessions_app.models import CompactionReview, Entry, SummaryVersion
from sessions_app.review.report import ClassScore, Judged, Report, scores_of, weighted
from sessions_app.review.sources import Source

PAGE: Final = 60
"""Messages of the range on one page."""
_LONGEST_ROW = 1_600
_AROUND_MARK = 160
_GLYPHS: Final = {"user": "user", "assistant": "assistant", "tool": "tool"}
CLASS_NAMES: Final = {
    "constraint": "Constraints",
    "request": "Last request",
    "decision": "Decisions",
    "todo": "Open to-dos",
    "error": "Error texts",
    "number": "Numbers",
    "path": "File paths",
    "identifier": "Identifiers",
    "command": "Commands",
    "url": "Addresses",
}
_ONE: Final = {
    "constraint": "Constraint",
    "request": "Last request",
    "decision": "Decision",
    "todo": "To-do",
    "error": "Error text",
    "number": "Number",
    "path": "File path",
    "identifier": "Identifier",
    "command": "Command",
    "url": "Address",
}
_MARKS: Final = {
    "verbatim": "kept",
    "substance": "near",
    "tail": "carried",
    "carried": "carried",
    "files": "carried",
    "missing": "miss",
}
_SAID: Final = {
    "kept": "kept in the same words",
    "near": "kept in other words",
    "carried": "carried along",
    "miss": "missing",
}
BONDS: Final = {"words": "same words", "name": "same name", "meaning": "same meaning"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a message, and how it is kept (`mark` empty: nothing concrete)."""

    text: str
    mark: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A message of the range; `skipped` of them before it are not shown; `kept`: it stays word for word."""

    seq: int
    glyph: str
    name: str
    clock: str
    pieces: tuple[Piece, ...]
    supports: tuple[int, ...] = ()
    skipped: int = 0
    kept: bool = False


@dataclass(frozen=True, slots=True)
class SourceLink:
    seq: int
    glyph: str
    clock: str
    words: str
    bond: str


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A line of the summary; `number` counts those that claim something, as `place` counts all."""

    place: int
    number: int | None
    html: SafeString
    heading: bool
    links: tuple[SourceLink, ...]
    doubtful: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A class in the coverage list: parts as (`x`, `width`, kind) of 100."""

    name: str
    parts: tuple[tuple[float, float, str], ...]
    kept: int
    total: int

    @property
    def whole(self) -> bool:
        return self.kept == self.total


@dataclass(frozen=True, slots=True)
class Finding:
    """Something missing, with its number among all things of the report."""

    place: int
    text: str
    kind: str
    is_code: bool
    whose: str
    clock: str
    seq: int
    weight: str


@dataclass(frozen=True, slots=True)
class DiffRow:
    sign: str
    text: str


def bars_of(classes: Sequence[ClassScore]) -> list[Bar]:
    return [_bar(score) for score in classes]


def coverage_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Coverage, bars and the number of missing things, for words that are being edited."""
    missing = sum(item.status == "missing" for item in judged)
    return {"coverage": weighted(judged), "bars": bars_of(scores_of(judged)), "missing": missing}


def _bar(score: ClassScore) -> Bar:
    counts = score.counts
    shares = [
        ("v", counts["verbatim"]),
        ("s", counts["substance"]),
        ("c", counts["tail"] + counts["carried"] + counts["files"]),
        ("m", counts["missing"]),
    ]
    parts, at = [], 0.0
    for name, count in shares:
        if count:
            width = 100 * count / score.total
            parts.append((round(at, 2), round(max(width - 0.8, 1), 2), name))
            at += width
    return Bar(CLASS_NAMES[score.kind], tuple(parts), score.kept, score.total)


def findings_of(report: Report, times: dict[int, datetime]) -> list[Finding]:
    places = {id(item): place for place, item in enumerate(report.judged)}
    return [
        Finding(
            places[id(item)],
            one_line(visible(item.thing.text), 220),
            _ONE[item.thing.kind],
            item.thing.kind in ("error", "path", "identifier", "command", "url"),
            {"user": "you", "assistant": "the answer", "tool": "a tool"}[item.thing.speaker],
            _clock(times.get(item.thing.seq)),
            item.thing.seq,
            f"{item.weight:g}",
        )
        for item in report.missing
    ]


def times_of(session_pk: int, seqs: set[int]) -> dict[int, datetime]:
    rows = Entry.objects.filter(session_id=session_pk, seq__in=seqs).only("seq", "payload", "created_at")
    return {row.seq: wording.moment_of(row.record.get("timestamp")) or row.created_at for row in rows}


def _clock(moment: datetime | None) -> str:
    return wording.clock(moment) if moment is not None else ""


# --- the range ---


def source_rows(
    sources: Sequence[Source],
    report: Report | None,
    times: dict[int, datetime],
    *,
    everything: bool = False,
    start: int = 0,
    kept: bool = False,
) -> tuple[list[SourceRow], int | None]:
    """The messages that matter to a reviewer (or all of them), a page from place `start` on, and where the next begins.

    Those matter that a person said, that lost something, or that are the only ground of a line.
    """
    marks = _marks_of(report)
    supports = _supports_of(report)
    rows: list[SourceRow] = []
    skipped = 0
    for place, source in enumerate(sources[start:], start=start):
        of_source = marks.get(source.seq, [])
        matters = everything or source.speaker == "user" or any(it.status == "missing" for it in of_source)
        if not matters:
            skipped += 1
            continue
        if len(rows) >= PAGE:
            return rows, place - skipped
        rows.append(
            SourceRow(
                source.seq,
                "shell" if source.name == "!" else _GLYPHS[source.speaker],
                _name_of(source),
                _clock(times.get(source.seq)),
                _pieces(source.text, of_source),
                tuple(supports.get(source.seq, ())),
                skipped,
                kept,
            )
        )
        skipped = 0
    if skipped:
        rows.append(SourceRow(0, "", "", "", (), (), skipped, kept))
    return rows, None


def _name_of(source: Source) -> str:
    return {"user": "You", "assistant": "Answer", "tool": source.name or "Result"}[source.speaker]


def _marks_of(report: Report | None) -> dict[int, list[Judged]]:
    found: dict[int, list[Judged]] = {}
    for item in report.judged if report is not None else ():
        found.setdefault(item.thing.seq, []).append(item)
    return found


def _supports_of(report: Report | None) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    number = 0
    for line in report.lines if report is not None else ():
        number += line.claims
        for link in line.links:
            found.setdefault(link.seq, []).append(number)
    return found


def _pieces(text: str, marks: Sequence[Judged]) -> tuple[Piece, ...]:
    """The text in stretches; a long one keeps its beginning and what stands around missing things."""
    pieces: list[Piece] = []
    at = 0
    # What is missing is marked whatever lies around it.
    ordered = sorted(marks, key=lambda it: (it.status != "missing", it.thing.start - it.thing.end))
    taken: list[tuple[int, int, str]] = []
    for item in ordered:
        start, end = item.thing.start, item.thing.end
        if all(end <= low or start >= high for low, high, _ in taken):
            taken.append((start, end, _MARKS[item.status]))
    shown = 0
    for start, end, mark in sorted(taken):
        plain = text[at:start]
        if shown + len(plain) > _LONGEST_ROW and len(plain) > 2 * _AROUND_MARK:
            plain = f"{plain[:_AROUND_MARK]} … {plain[-_AROUND_MARK:]}"
        if shown > _LONGEST_ROW and mark != "miss":
            continue
        pieces += [Piece(visible(plain)), Piece(visible(text[start:end]), mark, _SAID[mark])]
        shown += len(plain) + end - start
        at = end
    rest = text[at:]
    if shown + len(rest) > _LONGEST_ROW:
        rest = rest[: max(_AROUND_MARK, _LONGEST_ROW - shown)] + " …"
    return tuple(piece for piece in (*pieces, Piece(visible(rest))) if piece.text)


# --- the summary ---

_CODE = re.compile(r"`([^`\n]+)`")
_STRONG = re.compile(r"\*\*([^*\n]+)\*\*")
_LIST = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?")


def line_html(text: str) -> SafeString:
    """A line of Markdown with its code and emphasis; a to-do keeps its box."""
    head = _LIST.match(text)
    box = {"x": "☑ ", "X": "☑ ", " ": "☐ "}.get(head.group(1) or "", "") if head else ""
    body = str(escape(visible(text[head.end() :] if head else text)))
    body = _STRONG.sub(r"<b>\1</b>", _CODE.sub(r"<code>\1</code>", body))
    return mark_safe(box + body)  # noqa: S308 - everything of the text is escaped


def summary_rows(report: Report, sources: Sequence[Source], times: dict[int, datetime]) -> list[SummaryRow]:
    by_seq = {source.seq: source for source in sources}
    rows, number = [], 0
    for line in report.lines:
        text = line.text.strip()
        if not text or text.startswith("<"):
            continue
        number += line.claims
        links = tuple(
            SourceLink(
                link.seq,
                _GLYPHS[by_seq[link.seq].speaker] if link.seq in by_seq else "compaction",
                _clock(times.get(link.seq)),
                one_line(visible(by_seq[link.seq].text[:400]), 90)
                if link.seq in by_seq
                else "The summary before this one",
                BONDS[link.bond],
            )
            for link in line.links
        )
        heading = line.heading
        html = line_html(text.lstrip("# ") if heading else text)
        rows.append(
            SummaryRow(
                line.number, number if line.claims else None, html, heading, links, line.without_source
            )
        )
    return rows


def plain_rows(summary: str) -> list[SummaryRow]:
    """The summary while its report is being computed."""
    body, _ = split_summary(summary)
    return [
        SummaryRow(place, None, line_html(line.lstrip("# ")), line.startswith("#"), (), False)
        for place, line in enumerate(body.split("\n"), start=1)
        if line.strip()
    ]


def diff_rows(before: str, after: str) -> list[DiffRow]:
    """The lines of both, each with −, + or nothing."""
    rows = []
    for line in difflib.ndiff(before.split("\n"), after.split("\n")):
        if line[:2] == "? ":
            continue
        rows.append(DiffRow({"- ": "−", "+ ": "+"}.get(line[:2], ""), visible(line[2:])))
    return rows


def version_words(version: SummaryVersion) -> str:
    """`Automatic`, `Edited, “lost the rule”`, …"""
    words = {
        "first": "As the compaction wrote it",
        "edited": "Edited",
        "restored": "Restored",
        "regenerated": "Regenerated",
        "moved": "Boundary moved",
        "reverted": "Originals",
        "pinned": "With pins",
        "undone": "Undone",
    }[version.made]
    said = version.why or version.instructions
    return f"{words}, “{one_line(visible(said), 60)}”" if said else words


def number_of_compaction(entry: Entry | None) -> int | None:
    """The how manieth compaction of its path it is; versions that reviews made do not count."""
    if entry is None or entry.kind != Kind.COMPACTION:
        return None
    rows = Entry.objects.filter(session_id=entry.session_id, kind=Kind.COMPACTION, seq__lt=entry.seq)
    versions = SummaryVersion.objects.filter(review__session_id=entry.session_id, number__gt=1).values(
        "entry_id"
    )
    trail = entry_log.Trail(entry)
    return 1 + sum(row in trail for row in rows.exclude(pk__in=versions))


def facts_line(review: CompactionReview) -> list[str]:
    """`148 messages · 141.2k → 23.4k tokens · $0.21 · 9 s · by hand · model`."""
    attempt = review.attempt
    facts: list[Any] = []
    if attempt is not None and attempt.replaced:
        facts.append(wording.plural(attempt.replaced, "message"))
    if review.tokens_before is not None:
        after = f" → {wording.tokens(review.tokens_after)}" if review.tokens_after is not None else ""
        facts.append(f"{wording.tokens(review.tokens_before)}{after} tokens")
    if review.cost:
        facts.append(wording.money(review.cost))
    if attempt is not None and attempt.duration_ms:
        facts.append(wording.duration(attempt.duration_ms))
    facts.append(REASONS.get(review.reason, review.reason))
    if attempt is not None and attempt.model:
        facts.append(attempt.model)
    facts.append(wording.clock(review.created_at))
    return facts


REASONS: Final = {
    "manual": "by hand",
    "threshold": "automatic",
    "overflow": "after an overflow",
    "imported": "imported",
    "branch": "branch summary",
}
