"""Reading paths: a few ranges of segments, never a walk over the whole session."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q

from sessions_app.core import projection
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.projection import Context
from sessions_app.entry_log import columns
from sessions_app.entry_log.active_path import load_core_path
from sessions_app.models import Entry, HiddenBranch, Segment, Session, SummaryVersion


@dataclass(frozen=True, slots=True)
class Window:
    """Some entries of the active path, in its order; `has_older`: there are more above the first."""

    entries: list[Entry]
    has_older: bool


@dataclass(frozen=True, slots=True)
class Siblings:
    """The place of an entry among the children of its parent: `index` from 1 of `count`; pks of its neighbours."""

    index: int
    count: int
    previous: int | None
    next: int | None


def find_by_id(session_pk: int, entry_id: object) -> Entry | None:
    """The entry of that id; where an imported session repeats it, the one written last."""
    if not isinstance(entry_id, str):
        return None
    rows = Entry.objects.filter(session_id=session_pk, entry_id=columns.stored_id(entry_id))
    return rows.order_by("-seq").first()


def current_leaf(session_pk: int) -> Entry | None:
    """The session's leaf as it is now, without its payload: for readers that go on from it."""
    leaf = Session.objects.filter(pk=session_pk).values("leaf_id")
    return Entry.objects.defer("payload").filter(pk__in=leaf).first()


def load_path(leaf: Entry, *, from_depth: int = 0) -> list[Entry]:
    """The entries of the leaf's path whose depth is at least `from_depth`, top first.

    Costs one range scan per segment that the stretch touches.
    """
    stretches: list[list[Entry]] = []
    segment_id, last = leaf.segment_id, leaf.ordinal
    depth_of_last = leaf.depth
    while True:
        first = max(0, last - (depth_of_last - from_depth))
        rows = Entry.objects.filter(segment_id=segment_id, ordinal__range=(first, last)).order_by("ordinal")
        stretches.append(list(rows))
        depth_of_first = depth_of_last - (last - first)
        if depth_of_first <= from_depth or first > 0:
            break
        segment = Segment.objects.only("parent_id", "parent_ordinal").get(pk=segment_id)
        if segment.parent_id is None:
            break
        segment_id, last, depth_of_last = segment.parent_id, segment.parent_ordinal, depth_of_first - 1
    return [entry for stretch in reversed(stretches) for entry in stretch]


def path_to(entry: Entry) -> list[Entry]:
    """Root to entry. For callers that need the whole path; hot paths read windows."""
    return load_path(entry)


def load_context(session: Session, *, leaf: Entry | None = None) -> Context:
    """The projection at the session's leaf (or another entry): reads from the newest compaction's kept boundary on.

    Equals `core.projection.project` over the whole path (01 §5); model and thinking level, which may
    have been set long before, are found by the seqs carried along.
    """
    if leaf is None:
        leaf = session.leaf
    if leaf is None:
        return projection.project([])
    from_depth = _active_depth(leaf)
    context = projection.project(load_core_path(leaf, from_depth))
    if from_depth == 0:
        return context
    above = Entry.objects.filter(session_id=leaf.session_id)
    if context.model is None and leaf.model_seq is not None:
        context = dataclasses.replace(
            context, model=projection.model_of([above.get(seq=leaf.model_seq).as_core()])
        )
    if leaf.thinking_seq is not None:
        level = projection.thinking_level_of([above.get(seq=leaf.thinking_seq).as_core()])
        context = dataclasses.replace(context, thinking_level=level)
    return context


def active_path(leaf: Entry) -> list[CoreEntry]:
    """The part of the leaf's path that its projection is made of: from the newest compaction's kept boundary on.

    In path order, so the compaction stands where it was written, behind what it keeps; the last is the leaf.
    """
    return load_core_path(leaf, _active_depth(leaf))


def _active_depth(leaf: Entry) -> int:
    if leaf.compaction_seq is None:
        return 0
    wanted = Entry.objects.filter(session_id=leaf.session_id)
    compaction = wanted.only("depth", "kept_seq").get(seq=leaf.compaction_seq)
    if compaction.kept_seq is None:
        return compaction.depth
    return wanted.only("depth").get(seq=compaction.kept_seq).depth


def load_window(
    session: Session, *, leaf: Entry | None = None, before_depth: int | None = None, limit: int = 60
) -> Window:
    """The last `limit` entries of the active path, or those above `before_depth`."""
    tip = leaf if leaf is not None else session.leaf
    if tip is None:
        return Window([], False)
    last_depth = tip.depth if before_depth is None else min(before_depth - 1, tip.depth)
    if last_depth < 0:
        return Window([], False)
    first_depth = max(0, last_depth - limit + 1)
    entries = _load_stretch(tip, first_depth, last_depth)
    return Window(entries, first_depth > 0)


def _load_stretch(tip: Entry, first_depth: int, last_depth: int) -> list[Entry]:
    """The entries of the tip's path with depths in that range."""
    segment_id, last, depth_of_last = tip.segment_id, tip.ordinal, tip.depth
    stretches: list[list[Entry]] = []
    while depth_of_last >= first_depth:
        depth_of_start = depth_of_last - last
        if depth_of_start <= last_depth:
            low = max(first_depth, depth_of_start) - depth_of_start
            high = min(last_depth, depth_of_last) - depth_of_start
            rows = Entry.objects.filter(segment_id=segment_id, ordinal__range=(low, high)).order_by("ordinal")
            stretches.append(list(rows))
        if depth_of_start == 0:
            break
        segment = Segment.objects.only("parent_id", "parent_ordinal").get(pk=segment_id)
        if segment.parent_id is None:
            break
        segment_id, last, depth_of_last = segment.parent_id, segment.parent_ordinal, depth_of_start - 1
    return [entry for stretch in reversed(stretches) for entry in stretch]


def siblings(entries: Sequence[Entry]) -> dict[int, Siblings]:
    """By pk, for those of the entries that have siblings; in order of writing. Roots are siblings too, branches that
    are hidden are not.
    """
    if not entries:
        return {}
    shown = Q(hidden_branch=None) | Q(pk__in=[entry.pk for entry in entries])
    parents = {entry.parent_id for entry in entries}
    # Without the session: ordering by seq would make its index look the better one, and all entries be read.
    rows = Entry.objects.filter(parent_id__in=[p for p in parents if p is not None])
    families: dict[int | None, list[int]] = {}
    for pk, parent in rows.filter(shown).order_by("seq").values_list("pk", "parent_id"):
        families.setdefault(parent, []).append(pk)
    if None in parents:
        roots = Entry.objects.filter(session_id=entries[0].session_id, parent_id=None)
        families[None] = list(roots.filter(shown).order_by("seq").values_list("pk", flat=True))
    return {
        entry.pk: _place_in(families[entry.parent_id], entry.pk)
        for entry in entries
        if len(families.get(entry.parent_id, ())) > 1
    }


def _place_in(family: list[int], pk: int) -> Siblings:
    index = family.index(pk)
    return Siblings(
        index + 1,
        len(family),
        family[index - 1] if index else None,
        family[index + 1] if index + 1 < len(family) else None,
    )


def newest_below(entry: Entry) -> Entry:
    """The tip reached from an entry by always taking the newest child that is not hidden; the entry itself if it has
    none.
    """
    current = entry
    while True:
        fork = (
            Segment.objects.filter(parent_id=current.segment_id, parent_ordinal__gte=current.ordinal)
            .order_by("parent_ordinal")
            .first()
        )
        if fork is None:
            return Entry.objects.filter(segment_id=current.segment_id).order_by("-ordinal")[0]
        junction = Entry.objects.get(segment_id=current.segment_id, ordinal=fork.parent_ordinal)
        child = Entry.objects.filter(parent_id=junction.pk, hidden_branch=None).order_by("-seq").first()
        if child is None:
            return junction
        current = child


def show_path(entry: Entry) -> None:
    """Take away every mark that hides an entry: nobody stands where nothing is drawn."""
    for mark in HiddenBranch.objects.of_session(entry.session_id).select_related("entry"):
        if is_on_path(mark.entry, entry):
            mark.delete()


def is_on_path(entry: Entry, leaf: Entry) -> bool:
    """Does the entry lie on the leaf's path (itself included)? Follows segments, not entries."""
    segment_id: int | None = leaf.segment_id
    last = leaf.ordinal
    while segment_id is not None:
        if segment_id == entry.segment_id:
            return entry.ordinal <= last
        segment = Segment.objects.only("parent_id", "parent_ordinal").get(pk=segment_id)
        segment_id, last = segment.parent_id, segment.parent_ordinal
    return False


class Trail:
    """The path of a leaf by its segments, read once: tells which entries lie on it without asking again."""

    def __init__(self, leaf: Entry) -> None:
        self._last = {segment: last for segment, last, _ in _ends(leaf)}

    def __contains__(self, entry: Entry) -> bool:
        return entry.ordinal <= self._last.get(entry.segment_id, -1)


def common_depth(one: Entry, other: Entry) -> int:
    """The depth of the deepest entry on both paths, the ends included; -1 for different roots (03 BS-04).

    Follows segments, not entries.
    """
    ends = {segment: (last, depth) for segment, last, depth in _ends(one)}
    for segment, last, depth in _ends(other):
        if segment in ends:
            return depth - last + min(last, ends[segment][0])
    return -1


def _ends(leaf: Entry) -> Iterator[tuple[int, int, int]]:
    """Per segment of the path, from the leaf's up: its pk, the path's last ordinal in it, and that one's depth."""
    segment_id: int | None = leaf.segment_id
    last, depth = leaf.ordinal, leaf.depth
    while segment_id is not None:
        yield segment_id, last, depth
        segment = Segment.objects.only("parent_id", "parent_ordinal").get(pk=segment_id)
        segment_id, last, depth = segment.parent_id, segment.parent_ordinal, depth - last - 1


def replaced_depths(entry: Entry) -> tuple[int, int]:
    """Depths of the entries a compaction replaced: from where the one before it left off (or the root) up to, not
    including, the first it keeps. A later version of a summary begins where the first one did.
    """
    version = (
        SummaryVersion.objects.filter(entry=entry, number__gt=1)
        .select_related("review__entry__parent")
        .first()
    )
    first = version.review.entry if version is not None and version.review.entry is not None else entry
    session = Entry.objects.filter(session_id=entry.session_id)
    kept = (
        session.filter(seq=entry.kept_seq).values_list("depth", flat=True).first() if entry.kept_seq else None
    )
    end = entry.depth if kept is None else kept
    above = first.parent.compaction_seq if first.parent is not None else None
    previous = (
        session.filter(seq=above).values_list("depth", "kept_seq").first() if above is not None else None
    )
    if previous is None:
        return 0, end
    depth, previous_kept = previous
    start = (
        session.filter(seq=previous_kept).values_list("depth", flat=True).first() if previous_kept else depth
    )
    return start or 0, end
