"""Two branches beside each other: where they parted, what each did, which files each changed, what each cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions_app import entry_log
from sessions_app.core import faces
from sessions_app.core.comparing import align, key_of
from sessions_app.core.drawing import Outline, Place, Strand, View, draw
from sessions_app.core.drawing.outline import path_of
from sessions_app.core.messages import number_of, text_of, tool_calls_of
from sessions_app.fragments import wording
from sessions_app.fragments.compared_files import Change, count_change, files_of
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.tree_branches import begin_of
from sessions_app.fragments.tree_drawing import Picture, Rect
from sessions_app.fragments.tree_words import KIND_NAMES, words_at
from sessions_app.models import Entry, Session
from sessions_app.tree_rows import at_places

Json = dict[str, Any]

MOST_TIPS = 40
_TOOLS = faces.RESULT + faces.CHANGE + faces.FAILURE
_UNTOLD = faces.NOTE + faces.USAGE + faces.SYSTEM + faces.CALLS + faces.EDIT


@dataclass(frozen=True, slots=True)
class Step:
    """One row of what a branch did. `added` and `removed` count lines of a file change."""

    seq: int
    glyph: str
    kind: str
    words: str
    clock: str
    failed: bool = False
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A stretch of both sides; an equal one is folded to its count."""

    equal: int
    a: list[Step]
    b: list[Step]


@dataclass(slots=True)
class Side:
    """One branch from where the two parted."""

    tip: Entry
    entries: list[Entry]
    title: str
    summary: str
    outcome: str
    used: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    tools: int = 0
    failed: int = 0
    files: dict[str, Change] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure of both sides, with the widths of their bars in percent and the better word."""

    words: str
    a: str
    b: str
    a_width: float
    b_width: float
    a_word: str = ""
    b_word: str = ""


def compare(
    session: Session, outline: Outline, one: Entry, other: Entry, *, first: int, shown: int, against: bool
) -> Json:
    """Everything the page shows; `shown` lines from `first` on, with `against` how the files differ. Reads what lies below the common ancestor, and nothing above it."""
    depth = entry_log.common_depth(one, other)
    a, b = _side(session, outline, one, depth), _side(session, outline, other, depth)
    shared = entry_log.load_path(one, from_depth=depth)[:1] if depth >= 0 else []
    rows, lines = _rows(a, b, first, shown)
    return {
        "a": a,
        "b": b,
        "ancestor": shared[0] if shared else None,
        "parted": _parted(shared[0]) if shared else "",
        "shared": depth + 1,
        "bars": _bars(a, b),
        "files": files_of(a.files, b.files, against=against),
        "rows": rows,
        "lines": lines,
        "svg": _picture(session, outline, one, other),
    }


def _side(session: Session, outline: Outline, tip: Entry, depth: int) -> Side:
    entries = entry_log.load_path(tip, from_depth=depth + 1)
    own = next((entry for entry in entries if entry.face == faces.USER), None)
    answers = [entry for entry in reversed(entries) if entry.face == faces.ANSWER]
    side = Side(
        tip=tip,
        entries=entries,
        title=one_line(_words(own), 60) if own is not None else "Nothing said since",
        summary=one_line(_words(answers[0]), 280) if answers else "No answer yet.",
        outcome=outline.outcomes.get((tip.segment_id, tip.ordinal), ""),
    )
    root = session.workspace.path.rstrip("/") + "/"
    before = None
    for entry in entries:
        side.used += entry.used
        side.cost += entry.cost
        if entry.face in _TOOLS:
            side.tools += 1
            side.failed += entry.face == faces.FAILURE
        moment = wording.moment_of(entry.record.get("timestamp"))
        if moment is not None and before is not None and entry.face != faces.USER:
            side.seconds += max(0.0, (moment - before).total_seconds())
        before = moment or before
        if entry.face == faces.CHANGE:
            count_change(side.files, entry, root)
    return side


def _parted(ancestor: Entry) -> str:
    moment = wording.moment_of(ancestor.record.get("timestamp")) or ancestor.created_at
    words = one_line(_words(ancestor), 40)
    clock = wording.clock(moment)
    return f"parted {clock} at “{words}”" if words else f"parted {clock}"


def _bars(a: Side, b: Side) -> list[Bar]:
    def bar(words: str, one: float, other: float, say: Any, better: str = "") -> Bar:
        most = max(one, other) or 1
        return Bar(
            words,
            say(one),
            say(other),
            round(100 * one / most, 1),
            round(100 * other / most, 1),
            better if one < other and better else "",
            better if other < one and better else "",
        )

    def time(seconds: float) -> str:
        return wording.duration(seconds * 1000) if seconds else "no time"

    return [
        bar("Entries since they parted", len(a.entries), len(b.entries), lambda count: f"{count:,}"),
        bar("Cost", a.cost, b.cost, wording.money, "cheaper"),
        bar("Tokens billed", a.used, b.used, wording.tokens),
        bar("Time at work", a.seconds, b.seconds, time, "faster"),
        bar("Tool calls", a.tools, b.tools, lambda count: f"{count:,}"),
        bar("Failed calls", a.failed, b.failed, lambda count: f"{count:,}"),
    ]


def _rows(a: Side, b: Side, first: int, shown: int) -> tuple[list[Row], int]:
    """The sides in step: `shown` lines from line `first` on, and how many there are in all."""
    told_a = [entry for entry in a.entries if entry.face not in _UNTOLD]
    told_b = [entry for entry in b.entries if entry.face not in _UNTOLD]
    blocks = align(
        [key_of(entry.as_core()) for entry in told_a], [key_of(entry.as_core()) for entry in told_b]
    )
    rows: list[Row] = []
    line = 0
    for block in blocks:
        count_a, count_b = block.a_end - block.a_start, block.b_end - block.b_start
        height = 1 if block.equal else max(count_a, count_b)
        low, high = max(0, first - line), min(height, first + shown - line)
        line += height
        if low >= high:
            continue
        if block.equal:
            rows.append(Row(count_a, [], []))
            continue
        steps_a = told_a[block.a_start + low : min(block.a_end, block.a_start + high)]
        steps_b = told_b[block.b_start + low : min(block.b_end, block.b_start + high)]
        rows.append(Row(0, [_step(entry) for entry in steps_a], [_step(entry) for entry in steps_b]))
    return rows, line


def _step(entry: Entry) -> Step:
    message = entry.record.get("message")
    details = message.get("details") if isinstance(message, dict) and entry.face == faces.CHANGE else None
    words = _words(entry)
    if entry.face in _TOOLS and isinstance(message, dict):
        path = details.get("path") if isinstance(details, dict) else None
        name = str(message.get("toolName") or "tool")
        words = f"{name} {str(path).rsplit('/', 1)[-1]}" if path else f"{name}: {words}"
    moment = wording.moment_of(entry.record.get("timestamp")) or entry.created_at
    return Step(
        entry.seq,
        faces.GLYPHS.get(entry.face, "note"),
        KIND_NAMES.get(entry.face, "Entry"),
        one_line(words, 110) or KIND_NAMES.get(entry.face, "Entry"),
        wording.clock(moment),
        entry.face == faces.FAILURE,
        int(number_of(details.get("added")) or 0) if isinstance(details, dict) else 0,
        int(number_of(details.get("removed")) or 0) if isinstance(details, dict) else 0,
    )


def _words(entry: Entry | None) -> str:
    if entry is None:
        return ""
    record = entry.record
    message = record.get("message")
    holder: Any = message if isinstance(message, dict) else record
    for name in ("summary", "errorMessage", "command"):
        if isinstance(holder.get(name), str) and holder[name]:
            return str(holder[name])
    text = text_of(holder.get("content"), " ")
    calls = tool_calls_of(holder) if not text.strip() and entry.role == "assistant" else []
    return text if text.strip() else ", ".join(str(call.get("name")) for call in calls)


# ---- the drawing of just these two ----


def _picture(session: Session, outline: Outline, one: Entry, other: Entry) -> str:
    ends: dict[int, int] = {}
    for tip in (one, other):
        place: tuple[int, int] | None = (tip.segment_id, tip.ordinal)
        while place is not None:
            key, ordinal = place
            ends[key] = max(ends.get(key, -1), ordinal)
            strand = outline.strands[key]
            place = (strand.parent, strand.fork_at) if strand.parent is not None else None
    strands = [
        Strand(
            key,
            outline.strands[key].parent,
            outline.strands[key].fork_at,
            outline.strands[key].faces[: end + 1],
        )
        for key, end in ends.items()
    ]
    only = Outline.of(strands, leaf=(one.segment_id, one.ordinal), outcomes=outline.outcomes)
    picture = Picture(session, only, draw(only, View()), second=(other.segment_id, other.ordinal))
    whole = picture.whole
    return picture.window(Rect(whole.x + 20, whole.y + 16, whole.width - 20, whole.height - 40)).svg


def most_apart(outline: Outline, tips: Sequence[Entry], from_: Entry) -> Entry | None:
    """The tip with the most entries of its own beside another one's path; None when none has any."""
    path = path_of(outline.strands, (from_.segment_id, from_.ordinal))
    lengths = {tip.pk: _apart(outline, path, (tip.segment_id, tip.ordinal)) for tip in tips}
    found = max(tips, key=lambda tip: lengths[tip.pk], default=None)
    return found if found is not None and lengths[found.pk] else None


def _apart(outline: Outline, path: Mapping[int, int], place: Place) -> int:
    """How many entries that are more than bookkeeping lead to a place from where it left a path."""
    count = 0
    at: Place | None = place
    while at is not None:
        key, ordinal = at
        strand = outline.strands[key]
        first = path.get(key, -1) + 1
        count += sum(face not in _UNTOLD for face in strand.faces[first : ordinal + 1])
        at = (strand.parent, strand.fork_at) if strand.parent is not None and key not in path else None
    return count


def tips_to_choose(outline: Outline) -> list[Entry]:
    """Tips that can be compared, the one written last first; of very many those of the longest branches."""
    ends = sorted(outline.tips(), key=lambda place: -len(outline.strands[place[0]].faces))[:MOST_TIPS]
    return list(Entry.objects.filter(at_places(ends)).order_by("-seq"))


def named(outline: Outline, tips: Sequence[Entry]) -> list[Json]:
    """Each tip once, by its seq and what its branch begins with."""
    every = {tip.pk: tip for tip in tips}.values()
    begins: dict[int, Place] = {}
    for tip in every:
        begins[tip.pk] = begin_of(outline, outline.strands[tip.segment_id])
    words = words_at(begins.values())
    return [
        {"seq": tip.seq, "words": _name(outline, tip, words[begins[tip.pk]].text)}
        for tip in every
        if begins[tip.pk] in words
    ]


def _name(outline: Outline, tip: Entry, words: str) -> str:
    strand, outcome = outline.strands[tip.segment_id], outline.outcomes.get((tip.segment_id, tip.ordinal))
    said = [one_line(words, 44) or "A branch", wording.plural(len(strand.faces), "entry", "entries")]
    said += [wording.OUTCOME_WORDS[outcome]] if outcome else []
    said += ["here"] if outline.leaf == (tip.segment_id, tip.ordinal) else []
    return " · ".join(said)
