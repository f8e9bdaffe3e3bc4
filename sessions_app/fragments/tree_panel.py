"""The session tree as rows: the active path down the side, other branches folded beside it.

Long stretches without an event become capsules, so that the panel stays small however long the session is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models.functions import Substr

from sessions_app import tree_rows
from sessions_app.core import faces
from sessions_app.core.bare_words import bare_words
from sessions_app.core.entries import Kind
from sessions_app.core.messages import text_of
from sessions_app.fragments import tree_svg as svg
from sessions_app.fragments import wording
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.surroundings import labels_of
from sessions_app.fragments.tree_paths import Branch, Layout, lay_out
from sessions_app.models import Entry, HiddenBranch, Session

MOST_ROWS = 200
FOLDED_FROM = 5
"""A stretch of at least so many uneventful entries becomes a capsule (UI §6)."""
NEWEST = 3
MOST_OPENED = 60
"""Rows of a folded run that open at once."""
MOST_BRANCHES = 12
"""Branches that are listed at one fork before the rest is one row."""
SHORT_PATH = 60
"""Up to this length all of the person's messages have a row of their own."""

_HEAD = 4000
_EVENTFUL = faces.COMPACTION + faces.BRANCH_SUMMARY
_ANSWERS = faces.ANSWER + faces.CALLS + faces.ERROR + faces.STOPPED
_HIDDEN = frozenset(
    {
        Kind.LABEL,
        Kind.CONTEXT_EDIT,
        Kind.CUSTOM,
        Kind.MODEL_CHANGE,
        Kind.THINKING_LEVEL_CHANGE,
        Kind.SESSION_INFO,
        Kind.USAGE,
    }
)
_PLAIN_NAMES: dict[str, str] = {
    Kind.MODEL_CHANGE: "Model changed",
    Kind.THINKING_LEVEL_CHANGE: "Thinking changed",
    Kind.LABEL: "Label",
    Kind.SESSION_INFO: "Renamed",
}
_TOOL_NAME = re.compile(r'"toolName"\s*:\s*"([\w.-]{1,40})"')
_FIRST_TEXT = re.compile(r'"(?:text|content|summary)"\s*:\s*"((?:[^"\\]|\\.){0,400})')


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row. `shape` is a glyph or `capsule`; `seq` is where it goes (with `tip`: to the newest below it);
    `place` is its position among the rows of its level, of `of`; a capsule on the path holds the depths from `first`
    to `last`, and `ticks` are its barcode: kinds and paths."""

    shape: str
    words: str
    aside: str = ""
    seq: int | None = None
    tip: bool = False
    level: int = 1
    strong: bool = False
    here: bool = False
    fork: bool = False
    label: str = ""
    tail: bool = False
    place: int = 1
    of: int = 1
    first: int | None = None
    last: int | None = None
    ticks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TreePanel:
    """`hidden` rows were left out because there are too many; `hidden_branches` a person has put out of sight."""

    rows: tuple[TreeRow, ...]
    branches: int
    entries: int
    messages: int
    own_messages: int
    hidden: int = 0
    hidden_branches: int = 0


def build(session: Session) -> TreePanel:
    """The panel of a session as it stands."""
    leaf = session.leaf
    layout = lay_out(session, leaf)
    labels = labels_of(session.pk)
    rows = _with_numbers(_rows(session, layout, labels))
    hidden = max(0, len(rows) - MOST_ROWS)
    if hidden:
        rows = [*rows[: MOST_ROWS // 3], *rows[-(MOST_ROWS - MOST_ROWS // 3) :]]
    told = layout.faces()
    own = told.count(faces.USER)
    return TreePanel(
        rows=_numbered(rows),
        branches=len(layout.branches) + max(len(layout.ahead), 1 if leaf else 0),
        entries=layout.entries,
        messages=own + sum(told.count(face) for face in _ANSWERS),
        own_messages=own,
        hidden=hidden,
        hidden_branches=HiddenBranch.objects.of_session(session.pk).count(),
    )


def _rows(session: Session, layout: Layout, labels: dict[str, str]) -> list[TreeRow]:
    kept = _kept_depths(session.pk, layout, labels)
    shown = _ends_of(_with_small_gaps(kept, layout.length))
    entries = _entries_at(layout, shown)
    firsts = _first_entries([*layout.branches, *layout.ahead])
    by_depth: dict[int, list[Branch]] = {}
    for branch in layout.branches:
        by_depth.setdefault(branch.depth, []).append(branch)
    outcomes = _outcomes_of_tips(session, layout)
    rows = _branch_rows(by_depth.get(-1, ()), firsts, labels, outcomes)
    previous = -1
    for depth in sorted(entries):
        if depth - previous > 1:
            rows.append(_capsule(layout, previous + 1, depth - 1))
        previous = depth
        entry = entries[depth]
        beside = by_depth.get(depth, ())
        if (row := _row(entry, labels, fork=bool(beside))) is not None:
            rows.append(row)
        rows += _branch_rows(beside, firsts, labels, outcomes)
    rows = _with_here(rows, at_work=session.runs.active().exists())
    ahead = _branch_rows(layout.ahead, firsts, labels, outcomes)
    rows += [replace(row, level=1, tail=True) for row in ahead]
    return rows


def _outcomes_of_tips(session: Session, layout: Layout) -> dict[int, str]:
    marked = tree_rows.outcomes_of(session)
    strands = layout.outline.strands
    return {
        segment: outcome
        for (segment, ordinal), outcome in marked.items()
        if segment in strands and ordinal == len(strands[segment].faces) - 1
    }


def _entries_at(layout: Layout, depths: set[int]) -> dict[int, Any]:
    rows = Entry.objects.filter(tree_rows.at_places(layout.places(depths)))
    rows = rows.only("seq", "depth", "kind", "role", "entry_id").annotate(head=Substr("payload", 1, _HEAD))
    return {row.depth: row for row in rows}


def opened_run(session: Session, first: int, last: int) -> TreePanel:
    """The rows of a run of the active path that was folded; of a long one its beginning, and a capsule for the rest."""
    layout = lay_out(session, session.leaf)
    last = min(last, layout.length - 1)
    until = min(last, first + MOST_OPENED - 1)
    entries = _entries_at(layout, set(range(max(0, first), until + 1)))
    labels = labels_of(session.pk)
    rows = [row for depth in sorted(entries) if (row := _row(entries[depth], labels, fork=False)) is not None]
    if until < last:
        rows.append(_capsule(layout, until + 1, last))
    return TreePanel(tuple(rows), branches=0, entries=0, messages=0, own_messages=0)


def _with_numbers(rows: list[TreeRow]) -> list[TreeRow]:
    """All compactions of the path have a row, so counting the rows numbers them."""
    numbered: list[TreeRow] = []
    count = 0
    for row in rows:
        if row.level == 1 and row.shape == "compaction":
            count += 1
            numbered.append(replace(row, words=f"Compaction {count}"))
        else:
            numbered.append(row)
    return numbered


def _with_here(rows: list[TreeRow], *, at_work: bool) -> list[TreeRow]:
    """While something runs it has a row of its own. Else the last shown row of the path is where one stands, also
    when the leaf itself is a change of name or model."""
    if at_work:
        return [*rows, TreeRow("running", "At work…", aside="here", here=True, strong=True)]
    for index in range(len(rows) - 1, -1, -1):
        if rows[index].level == 1 and rows[index].seq is not None:
            rows[index] = replace(rows[index], here=True, strong=True, aside="here")
            break
    return rows


def _kept_depths(session_pk: int, layout: Layout, labels: dict[str, str]) -> set[int]:
    """Depths on the path that are an event: the root, forks, compactions, branch summaries, labels, the end."""
    length = layout.length
    kept = {0} | set(range(max(0, length - NEWEST), length))
    for branch in layout.branches:
        if branch.depth >= 0:
            kept |= {branch.depth, min(branch.depth + 1, length - 1)}
    told = layout.faces()
    wanted = _EVENTFUL + faces.USER if length <= SHORT_PATH else _EVENTFUL
    kept |= {depth for depth, face in enumerate(told) if face in wanted}
    if labels:
        for place in tree_rows.labelled(session_pk, labels):
            if (depth := layout.depth_of(place)) is not None:
                kept.add(depth)
    return {depth for depth in kept if 0 <= depth < length}


def _with_small_gaps(kept: set[int], length: int) -> set[int]:
    """Stretches too short for a capsule are shown as they are."""
    shown = set(kept)
    previous = -1
    for depth in [*sorted(kept), length]:
        if depth - previous - 1 < FOLDED_FROM:
            shown |= set(range(previous + 1, min(depth, length)))
        previous = depth
    return shown


def _ends_of(shown: set[int]) -> set[int]:
    """Of very many depths the first and the last: rows beyond those are left out in the middle anyway."""
    if len(shown) <= MOST_ROWS:
        return shown
    every = sorted(shown)
    return {*every[: MOST_ROWS // 3], *every[-(MOST_ROWS - MOST_ROWS // 3) :]}


def _row(entry: Entry, labels: dict[str, str], *, fork: bool) -> TreeRow | None:
    """The row of one entry; None for what the tree does not show by itself (01 TR-09)."""
    shape, words, strong = _face(entry)
    label = one_line(labels.get(entry.entry_id, ""), 40)
    if not (fork or label) and (not words or entry.kind in _HIDDEN or entry.role in ("toolResult", "system")):
        return None
    return TreeRow(
        shape=shape,
        words=words or _plain_name(entry),
        seq=entry.seq,
        strong=strong,
        fork=fork,
        label=label,
    )


def _face(entry: Any) -> tuple[str, str, bool]:
    """Shape, first words, and whether they are a person's."""
    if entry.kind == Kind.COMPACTION:
        return "compaction", "Compaction", False
    if entry.kind == Kind.BRANCH_SUMMARY:
        return "branch", f"Back: {first_words(entry.head)}", False
    if entry.kind == Kind.CUSTOM_MESSAGE:
        return "custom", first_words(entry.head), False
    if entry.kind != Kind.MESSAGE:
        return ("note" if entry.kind in _HIDDEN else "custom"), "", False
    match entry.role:
        case "user":
            return "user", first_words(entry.head) or "Image", True
        case "assistant":
            failed = '"stopReason": "error"' in entry.head or '"stopReason":"error"' in entry.head
            return ("error" if failed else "assistant"), first_words(entry.head), False
        case "bashExecution":
            return "shell", "Your command", False
        case "toolResult":
            return "tool", "", False
        case _:
            return "note", "", False


def _plain_name(entry: Any) -> str:
    if entry.kind == Kind.MESSAGE:
        if entry.role == "toolResult" and (match := _TOOL_NAME.search(entry.head)):
            return f"Result of {match[1]}"
        names = {"assistant": "Answer", "toolResult": "Tool result", "system": "Instructions"}
        return names.get(entry.role, "Message")
    return _PLAIN_NAMES.get(entry.kind) or entry.kind.replace("_", " ").capitalize() or "Entry"


def first_words(head: str, limit: int = 60) -> str:
    """First words of a record of which only the beginning is at hand; empty if there are none."""
    return one_line(bare_words(_first_text(head)[: limit * 8]), limit)


def _first_text(head: str) -> str:
    try:
        record = json.loads(head)
    except ValueError:
        match = _FIRST_TEXT.search(head)
        try:
            return str(json.loads(f'"{match[1]}"')) if match else ""
        except ValueError:
            return ""
    if not isinstance(record, dict):
        return ""
    message = record.get("message")
    holder = message if isinstance(message, dict) else record
    summary = holder.get("summary")
    return summary if isinstance(summary, str) else text_of(holder.get("content"), " ")


def _first_entries(branches: Sequence[Branch]) -> dict[tuple[int, int], Any]:
    """The first entry of each branch that may get a row."""
    newest = branches[-MOST_ROWS:]
    wanted = tree_rows.at_places((branch.segment, branch.ordinal) for branch in newest)
    rows = Entry.objects.filter(wanted).only("seq", "kind", "role", "entry_id", "segment_id", "ordinal")
    return {(row.segment_id, row.ordinal): row for row in rows.annotate(head=Substr("payload", 1, _HEAD))}


def _branch_rows(
    branches: Sequence[Branch],
    firsts: dict[tuple[int, int], Any],
    labels: dict[str, str],
    outcomes: dict[int, str],
) -> list[TreeRow]:
    """The branches at one fork, newest last; of many only the newest. `outcomes` by segment."""
    known = [branch for branch in branches if (branch.segment, branch.ordinal) in firsts]
    rows: list[TreeRow] = []
    if len(branches) > MOST_BRANCHES:
        more = len(branches) - MOST_BRANCHES
        rows.append(TreeRow("capsule", wording.plural(more, "more branch", "more branches"), level=2))
        known = known[-MOST_BRANCHES:]
    for branch in known:
        entry = firsts[branch.segment, branch.ordinal]
        shape, words, _ = _face(entry)
        aside = wording.plural(branch.count, "entry", "entries")
        if branch.forks:
            aside += f", {wording.plural(branch.forks, 'fork')}"
        if branch.segment in outcomes:
            aside = f"{wording.OUTCOME_WORDS[outcomes[branch.segment]]} · {aside}"
        rows.append(
            TreeRow(
                shape=shape,
                words=words or _plain_name(entry),
                aside=aside,
                seq=entry.seq,
                tip=True,
                level=2,
                label=one_line(labels.get(entry.entry_id, ""), 40),
            )
        )
    return rows


def _capsule(layout: Layout, first: int, last: int) -> TreeRow:
    words = wording.plural(last - first + 1, "entry", "entries")
    told = layout.faces()[first : last + 1]
    return TreeRow(
        "capsule",
        words,
        first=first,
        last=last,
        ticks=tuple(svg.ticks(told, min(6, len(told)), 14, 8.5).items()),
    )


def _numbered(rows: Sequence[TreeRow]) -> tuple[TreeRow, ...]:
    """Each row with its position among its siblings, for screen readers."""
    result: list[TreeRow] = []
    top = sum(row.level == 1 for row in rows)
    place = 0
    for index, row in enumerate(rows):
        if row.level == 1:
            place += 1
            result.append(replace(row, place=place, of=top))
            continue
        start = index
        while start > 0 and rows[start - 1].level == 2:
            start -= 1
        end = index
        while end + 1 < len(rows) and rows[end + 1].level == 2:
            end += 1
        result.append(replace(row, place=index - start + 1, of=end - start + 1))
    return tuple(result)
