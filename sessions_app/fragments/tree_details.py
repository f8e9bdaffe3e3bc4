"""What the drawer of the tree says about one entry: what it is, what hangs below it, and what going there would mean."""

from __future__ import annotations

from typing import Any

from django.db.models import Sum

from sessions_app import entry_log
from sessions_app.core import faces
from sessions_app.core.drawing import Outline
from sessions_app.core.messages import number_of, text_of, tool_calls_of
from sessions_app.fragments import wording
from sessions_app.fragments.plain_text import excerpt, one_line
from sessions_app.fragments.tree_words import KIND_NAMES
from sessions_app.models import Entry, HiddenBranch, Pin, Session

Json = dict[str, Any]

LINES = 14
PREVIEW_LINES = 4
MOST_FILES = 6


def preview(entry: Entry) -> Json:
    """A few lines of an entry, for the pointer that rests on it."""
    said = excerpt(words_of(entry), PREVIEW_LINES)
    return {
        "kind": KIND_NAMES.get(entry.face, "Entry"),
        "clock": _clock(entry),
        "text": said.text,
        "cut": said.cut,
    }


def details(session: Session, outline: Outline, entry: Entry) -> Json:
    place = (entry.segment_id, entry.ordinal)
    own = Entry.objects.filter(segment=entry.segment_id, ordinal__gte=entry.ordinal)
    spent = own.aggregate(used=Sum("used"), cost=Sum("cost"))
    below = outline.below_place(place, spent["used"] or 0, spent["cost"] or 0.0)
    said = excerpt(words_of(entry), LINES)
    strand = outline.strands.get(entry.segment_id)
    is_tip = (
        strand is not None and entry.ordinal == len(strand.faces) - 1 and not outline.forks_of(strand.key)
    )
    tip = entry if is_tip else entry_log.newest_below(entry)
    siblings = entry_log.siblings([entry]).get(entry.pk)
    neighbours = [pk for pk in (siblings.previous, siblings.next) if pk] if siblings else []
    seqs = dict(Entry.objects.filter(pk__in=neighbours).values_list("pk", "seq"))
    return {
        "session": session,
        "entry": entry,
        "place": f"{place[0]}.{place[1]}",
        # Of a tip alone there is nothing to see: its branch is what is meant.
        "hoisted": f"{place[0]}.{0 if below.entries == 1 else place[1]}",
        "kind": KIND_NAMES.get(entry.face, "Entry"),
        "glyph": faces.GLYPHS.get(entry.face, "note"),
        "clock": _clock(entry),
        "text": said.text,
        "cut": said.cut,
        "on_path": outline.on_path(place),
        "is_leaf": outline.leaf == place,
        "below": below,
        "below_count": below.entries - 1,
        "label": outline.labels.get(place, ""),
        "hidden": HiddenBranch.objects.filter(entry=entry).exists(),
        "pinned": Pin.objects.filter(entry=entry).exists(),
        "siblings": siblings,
        "previous": seqs.get(siblings.previous or 0) if siblings else None,
        "next": seqs.get(siblings.next or 0) if siblings else None,
        "tip": tip,
        "is_tip": is_tip,
        "outcome": outline.outcomes.get((tip.segment_id, tip.ordinal), ""),
        "outcomes": wording.OUTCOME_WORDS,
        "tools": _tools(outline, place),
        "files": _files(session, entry),
        "running": outline.running,
        "own_message": entry.face == faces.USER,
    }


def words_of(entry: Entry) -> str:
    """The words of an entry, whatever it is."""
    record = entry.record
    message = record.get("message")
    holder: Any = message if isinstance(message, dict) else record
    for name in ("summary", "errorMessage", "command"):
        if isinstance(holder.get(name), str) and holder[name]:
            return str(holder[name])
    said = text_of(holder.get("content"), "\n")
    calls = tool_calls_of(holder) if entry.role == "assistant" else []
    return "\n".join([*([said] if said.strip() else []), *map(_call, calls)])


def _call(call: Json) -> str:
    """A call by its tool and what it is about."""
    arguments = call.get("arguments")
    about = (
        [value for value in arguments.values() if isinstance(value, str)]
        if isinstance(arguments, dict)
        else []
    )
    return one_line(f"→ {call.get('name')} {about[0] if about else ''}", 160).strip()


def _clock(entry: Entry) -> str:
    return wording.clock(wording.moment_of(entry.record.get("timestamp")) or entry.created_at)


def _tools(outline: Outline, place: tuple[int, int]) -> tuple[int, int]:
    """Tool results below, and how many of them failed."""
    keys = [place[0]]
    first = place[1]
    for key in keys:
        keys += [child.key for child in outline.forks_of(key) if key != place[0] or child.fork_at >= first]
    every = "".join(
        outline.strands[key].faces[first if key == place[0] else 0 :]
        for key in keys
        if key in outline.strands
    )
    failed = every.count(faces.FAILURE)
    return every.count(faces.RESULT) + every.count(faces.CHANGE) + failed, failed


def _files(session: Session, entry: Entry) -> list[Json]:
    """Files changed on the entry's own stretch, from it on."""
    root = session.workspace.path.rstrip("/") + "/"
    found: dict[str, Json] = {}
    rows = Entry.objects.filter(segment=entry.segment_id, ordinal__gte=entry.ordinal, face=faces.CHANGE)
    for row in rows.order_by("ordinal").only("payload", "seq")[:200]:
        message = row.record.get("message")
        change = message.get("details") if isinstance(message, dict) else None
        if not isinstance(change, dict) or not isinstance(change.get("path"), str):
            continue
        path = one_line(change["path"].removeprefix(root), 200)
        file = found.setdefault(path, {"path": path, "added": 0, "removed": 0})
        file["added"] += int(number_of(change.get("added")) or 0)
        file["removed"] += int(number_of(change.get("removed")) or 0)
    return list(found.values())[:MOST_FILES]
