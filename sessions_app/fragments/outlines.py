"""The outline of a session's tree: what its entries look like, from a cache that only has to read what is new.

Entries are never changed, so what has been read of a session stays right; a process keeps that of the sessions looked
at last. Only letters and sums are kept here, no words: labels and marks are asked for each time.
"""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass, replace

from django.db import connection

from sessions_app import tree_rows
from sessions_app.core.drawing import Drawing, Outline, Place, Strand, View, draw
from sessions_app.core.drawing.outline import path_of
from sessions_app.fragments.surroundings import labels_of
from sessions_app.models import Session

MOST_SESSIONS, MOST_DRAWINGS = 64, 48


@dataclass(frozen=True, slots=True)
class _Known:
    """`entries` have been read; seqs have no gaps, so that is also the newest seq."""

    entries: int
    outline: Outline


_known: OrderedDict[uuid.UUID, _Known] = OrderedDict()
_drawings: OrderedDict[tuple[object, frozenset[str]], tuple[Outline, Drawing]] = OrderedDict()
_shown: OrderedDict[tuple[int, frozenset[Place]], tuple[Outline, Outline]] = OrderedDict()
_lanes: OrderedDict[tuple[object, ...], dict[int, int]] = OrderedDict()
_lock = threading.Lock()


def outline_of(session: Session, *, with_hidden: bool = False) -> Outline:
    """As the session stands now, without the branches that are hidden; with them each says so where it begins."""
    marks = tree_rows.marks_of(session, labels_of(session.pk))
    if not with_hidden:
        shown = shown_outline_of(session)
        for name in ("labels", "outcomes"):
            marks[name] = {place: words for place, words in marks[name].items() if shown.holds(place)}
        marks["pins"] = frozenset(place for place in marks["pins"] if shown.holds(place))
        return shown.marked(**marks)
    labels = dict(marks["labels"])
    for place in tree_rows.hidden_of(session):
        labels[place] = f"{labels[place]} · hidden" if place in labels else "hidden"
    return plain_outline_of(session).marked(**marks | {"labels": labels})


def shown_outline_of(session: Session) -> Outline:
    """Without what is hidden, leaf, labels and marks; kept as long as neither entries nor hiding change."""
    whole, hidden = plain_outline_of(session), tree_rows.hidden_of(session)
    if hidden and (leaf := session.leaf) is not None:
        # Where one stands is always drawn.
        path = path_of(whole.strands, (leaf.segment_id, leaf.ordinal))
        hidden = frozenset(place for place in hidden if place[1] > path.get(place[0], -1))
    if not hidden:
        return whole
    key = (id(whole), hidden)
    with _lock:
        found = _shown.get(key)
        if found is not None:
            _shown.move_to_end(key)
            return found[1]
    shown = whole.without(hidden)
    with _lock:
        # With its source: as long as that is kept, nothing else can have its address.
        _shown[key] = whole, shown
        while len(_shown) > MOST_SESSIONS:
            _shown.popitem(last=False)
    return shown


def plain_outline_of(session: Session) -> Outline:
    """Without leaf, labels and marks; reads what has been written since the last time."""
    with _lock:
        known = _known.get(session.key)
    if known is not None and known.entries == session.next_seq - 1:
        return known.outline
    known = _read_on(session, known if known is None or known.entries < session.next_seq else None)
    # What an open transaction has written may never have been.
    if not connection.in_atomic_block:
        with _lock:
            _known[session.key] = known
            _known.move_to_end(session.key)
            while len(_known) > MOST_SESSIONS:
                _known.popitem(last=False)
    return known.outline


def _read_on(session: Session, known: _Known | None) -> _Known:
    if known is None:
        outline = Outline.of(tree_rows.strands_of(session))
        return _Known(outline.entries, outline)
    strands = dict(known.outline.strands)
    count = known.entries
    for new in tree_rows.entries_after(session, known.entries):
        strand = strands.get(new.segment)
        if strand is None:
            strand = Strand(new.segment, new.parent, new.fork_at, "")
        if new.ordinal != len(strand.faces):
            # Not what was expected: everything is read anew.
            return _read_on(session, None)
        strands[new.segment] = replace(
            strand, faces=strand.faces + new.face, used=strand.used + new.used, cost=strand.cost + new.cost
        )
        count += 1
    return _Known(count, Outline.of(strands.values()))


def drawing_of(outline: Outline, view: View) -> Drawing:
    """The drawing of an outline, kept as long as nothing in it changes: panning asks for it again and again. When only
    something was opened, most of it is the drawing before.
    """
    rest = (
        id(outline.strands),
        outline.leaf,
        frozenset(outline.labels.items()),
        outline.pins,
        frozenset(outline.outcomes.items()),
        outline.running,
        outline.queued,
        replace(view, opened=frozenset()),
    )
    key = rest, view.opened
    with _lock:
        found = _drawings.get(key)
        if found is not None:
            _drawings.move_to_end(key)
            return found[1]
        before = next((made for (other, _), (_, made) in reversed(_drawings.items()) if other == rest), None)
        place = next(iter(outline.strands), 0), view.filter, view.root, view.folded
        known = _lanes.get(place)
    made = draw(outline, view, before, known)
    with _lock:
        # Nothing that was drawn moves because of what is written: only what is opened or looked for is passing.
        if not view.opened and not view.hits:
            _lanes[place] = made.lanes
            _lanes.move_to_end(place)
            while len(_lanes) > MOST_SESSIONS:
                _lanes.popitem(last=False)
        # With its outline: as long as that is kept, nothing else can have its address.
        _drawings[key] = outline, made
        while len(_drawings) > MOST_DRAWINGS:
            _drawings.popitem(last=False)
    return made
