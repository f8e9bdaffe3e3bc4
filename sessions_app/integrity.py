"""The invariants of a session's rows: verified, and repaired with a report; parents are the truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.errors import MalformedPayload
from sessions_app.models import Entry, Segment, Session
from sessions_app.transactions import write_transaction

_DERIVED = ("depth", "compaction_seq", "model_seq", "thinking_seq", "kept_seq")
_KINDS = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken invariant: of which entry (its seq; 0 for the session), what, and what was done about it."""

    seq: int
    problem: str
    repair: str = ""

    def __str__(self) -> str:
        place = f"entry {self.seq}: " if self.seq else ""
        return place + self.problem + (f" {self.repair}" if self.repair else "")


@dataclass(slots=True)
class Report:
    """What was found in one session; `repaired` says whether the findings were mended."""

    session: Session
    findings: list[Finding] = field(default_factory=list)
    repaired: bool = False

    @property
    def is_sound(self) -> bool:
        return not self.findings


def check_session(session_pk: int, *, repair: bool = False) -> Report:
    """Verify leaf, parents, segments, carried facts and payloads of one session; mend them with `repair`.

    Nothing is deleted. A payload that cannot be read becomes bookkeeping that holds its text, a parent that
    leads nowhere or in a circle is cut (its entry becomes a root), everything derived is computed anew.
    """
    with write_transaction():
        session = Session.objects.select_for_update().get(pk=session_pk)
        report = Report(session)
        check = _Check(session, report)
        check.run()
        if repair and report.findings:
            check.mend()
            report.repaired = True
    return report


def check_all(*, repair: bool = False) -> Iterable[Report]:
    """Every session's report, one after another."""
    for session_pk in Session.objects.order_by("pk").values_list("pk", flat=True).iterator():
        yield check_session(session_pk, repair=repair)


def nearest_sound(entry: Entry | None) -> Entry | None:
    """The entry, or its nearest ancestor whose payload can be read."""
    seen: set[int] = set()
    while entry is not None and entry.pk not in seen:
        if _core_of(entry) is not None:
            return entry
        seen.add(entry.pk)
        entry = entry.parent
    return None


def mend_leaf(session: Session) -> str:
    """Let a damaged leaf fall back to its nearest sound ancestor; the notice for a person, empty if it was sound.

    Cheap where all is well: only the leaf's own row is read.
    """
    leaf = session.leaf
    if leaf is None or (leaf.session_id == session.pk and _core_of(leaf) is not None):
        return ""
    with write_transaction():
        locked = Session.objects.select_for_update().get(pk=session.pk)
        found = nearest_sound(leaf) if leaf.session_id == session.pk else None
        if found is None:
            found = next(filter(_core_of, locked.entries.order_by("-seq").iterator()), None)
        locked.leaf = found
        locked.save(update_fields=["leaf"])
    session.refresh_from_db()
    place = f"entry {found.seq}" if found is not None else "the beginning"
    return (
        f"The newest entry of this session is damaged; it goes on from {place}. `agentweb check` tells more."
    )


class _Check:
    def __init__(self, session: Session, report: Report) -> None:
        self._session = session
        self._report = report
        rows = list(Entry.objects.filter(session=session).order_by("seq"))
        self._rows = rows
        self._by_pk = {row.pk: row for row in rows}
        self._cores: dict[int, CoreEntry | None] = {row.pk: _core_of(row) for row in rows}
        self._parents: dict[int, int | None] = {row.pk: row.parent_id for row in rows}
        self._order: list[Entry] = []

    def _found(self, seq: int, problem: str, repair: str = "") -> None:
        self._report.findings.append(Finding(seq, problem, repair))

    # --- looking ---

    def run(self) -> None:
        self._look_at_parents()
        self._look_at_payloads()
        self._look_at_segments()
        for row, wanted in self._wanted():
            for name, value in wanted.items():
                if getattr(row, name) != value:
                    self._found(
                        row.seq, f"{name} is {getattr(row, name)} instead of {value}.", "Computed anew."
                    )
        self._look_at_session()

    def _look_at_parents(self) -> None:
        for row in self._rows:
            parent = self._parents[row.pk]
            if parent is not None and parent not in self._by_pk:
                self._found(row.seq, "its parent is an entry of another session.", "It became a root.")
                self._parents[row.pk] = None
        self._order = self._top_down()
        reached = {row.pk for row in self._order}
        while len(reached) < len(self._rows):
            row = next(row for row in self._rows if row.pk not in reached)
            self._found(row.seq, "its parents lead in a circle.", "It became a root.")
            self._parents[row.pk] = None
            self._order = self._top_down()
            reached = {row.pk for row in self._order}

    def _top_down(self) -> list[Entry]:
        children: dict[int | None, list[Entry]] = {}
        for row in self._rows:
            children.setdefault(self._parents[row.pk], []).append(row)
        order = list(children.get(None, ()))
        for row in order:
            order.extend(children.get(row.pk, ()))
        return order

    def _look_at_payloads(self) -> None:
        for row in self._rows:
            if self._cores[row.pk] is None:
                self._found(
                    row.seq, "its payload can't be read.", "It became bookkeeping that holds the text."
                )

    def _look_at_segments(self) -> None:
        """Each segment holds an unbroken line that begins below the entry its fork names."""
        segments = {segment.pk: segment for segment in Segment.objects.filter(session=self._session)}
        lines: dict[int, list[Entry]] = {}
        for row in self._rows:
            lines.setdefault(row.segment_id, []).append(row)
        for segment_pk, rows in lines.items():
            segment = segments.get(segment_pk)
            if segment is None:
                self._found(
                    rows[0].seq, "its segment belongs to another session.", "Segments were made anew."
                )
                continue
            rows.sort(key=lambda row: row.ordinal)
            if [row.ordinal for row in rows] != list(range(segment.length)):
                self._found(rows[0].seq, f"segment {segment_pk} has gaps.", "Segments were made anew.")
            elif not self._is_a_line(segment, rows):
                self._found(
                    rows[0].seq, f"segment {segment_pk} does not follow parents.", "Segments were made anew."
                )

    def _is_a_line(self, segment: Segment, rows: list[Entry]) -> bool:
        for above, row in pairwise(rows):
            if self._parents[row.pk] != above.pk:
                return False
        first_parent = self._by_pk.get(self._parents[rows[0].pk] or 0)
        if first_parent is None:
            return segment.parent_id is None
        return (first_parent.segment_id, first_parent.ordinal) == (segment.parent_id, segment.parent_ordinal)

    def _wanted(self) -> Iterable[tuple[Entry, dict[str, int | None]]]:
        """Top down: what the derived columns should hold."""
        known: dict[int, dict[str, int | None]] = {}
        for row in self._order:
            parent_pk = self._parents[row.pk]
            above = known.get(parent_pk) if parent_pk is not None else None
            core = self._cores[row.pk]
            carried = {name: above[name] if above else None for name in _DERIVED}
            carried["depth"] = (above["depth"] or 0) + 1 if above else 0
            carried["kept_seq"] = None
            if core is not None:
                if core.kind == Kind.COMPACTION:
                    carried["compaction_seq"] = row.seq
                    carried["kept_seq"] = self._kept_seq(row, core)
                if core.kind == Kind.MODEL_CHANGE or core.role == "assistant":
                    carried["model_seq"] = row.seq
                if core.kind == Kind.THINKING_LEVEL_CHANGE:
                    carried["thinking_seq"] = row.seq
            known[row.pk] = carried
            yield row, carried

    def _kept_seq(self, row: Entry, core: CoreEntry) -> int | None:
        """The entry nearest to the root of that id, above the compaction."""
        boundary = core.record.get("firstKeptEntryId")
        found: int | None = None
        parent_pk = self._parents[row.pk]
        while parent_pk is not None:
            above = self._by_pk[parent_pk]
            other = self._cores[parent_pk]
            if other is not None and other.id == boundary:
                found = above.seq
            parent_pk = self._parents[parent_pk]
        return found

    def _look_at_session(self) -> None:
        session = self._session
        highest = self._rows[-1].seq if self._rows else 0
        if session.next_seq <= highest:
            self._found(
                0, f"the next number is {session.next_seq}, but {highest} is taken.", "Set behind it."
            )
        # Going back before the first message leaves none, which is fine.
        if session.leaf_id is not None and session.leaf_id not in self._by_pk:
            self._found(0, "it stands on an entry of another session.", "It goes on from its newest entry.")
        elif session.leaf_id is not None and self._cores[session.leaf_id] is None:
            self._found(0, "it stands on a damaged entry.", "It goes on from the nearest sound one above.")

    # --- mending ---

    def mend(self) -> None:
        for row in self._rows:
            if self._cores[row.pk] is None:
                self._make_bookkeeping(row)
        if any("Segments" in finding.repair or "root" in finding.repair for finding in self._report.findings):
            self._make_segments()
        for row, wanted in self._wanted():
            changed = {name: value for name, value in wanted.items() if getattr(row, name) != value}
            if row.parent_id != self._parents[row.pk]:
                changed["parent_id"] = self._parents[row.pk]
            if changed:
                Entry.objects.filter(pk=row.pk).update(**changed)
        self._mend_session()

    def _make_bookkeeping(self, row: Entry) -> None:
        parent = self._by_pk.get(self._parents[row.pk] or 0)
        core = CoreEntry(
            {
                "type": Kind.CUSTOM,
                "id": row.entry_id or f"damaged-{row.seq}",
                "parentId": parent.entry_id if parent else None,
                "timestamp": row.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "customType": "damaged",
                "data": {"kind": row.kind, "role": row.role, "text": row.payload},
            },
            row.seq,
        )
        self._cores[row.pk] = core
        Entry.objects.filter(pk=row.pk).update(
            payload=core.to_json(), kind=Kind.CUSTOM, role="", tokens=0, entry_id=core.id
        )

    def _make_segments(self) -> None:
        """All anew, from the parents; old ones go when nothing lies in them any more."""
        old = list(Segment.objects.filter(session=self._session).values_list("pk", flat=True))
        tails: dict[int, tuple[Segment, int]] = {}
        for row in self._order:
            parent_pk = self._parents[row.pk]
            above = tails.get(parent_pk) if parent_pk is not None else None
            if above is not None and above[0].length == above[1] + 1:
                segment = above[0]
            else:
                segment = Segment.objects.create(
                    session=self._session,
                    parent=above[0] if above else None,
                    parent_ordinal=above[1] if above else 0,
                    length=0,
                )
            row.segment, row.ordinal = segment, segment.length
            segment.length += 1
            tails[row.pk] = (segment, row.ordinal)
            Entry.objects.filter(pk=row.pk).update(segment=segment, ordinal=row.ordinal)
        for segment in {made.pk: made for made, _ in tails.values()}.values():
            Segment.objects.filter(pk=segment.pk).update(length=segment.length)
        Segment.objects.filter(pk__in=old).delete()

    def _mend_session(self) -> None:
        session = self._session
        highest = self._rows[-1].seq if self._rows else 0
        if session.next_seq <= highest:
            session.next_seq = highest + 1
        if session.leaf_id is not None and session.leaf_id not in self._by_pk:
            session.leaf = self._rows[-1] if self._rows else None
        session.save(update_fields=["next_seq", "leaf"])


def _core_of(row: Entry) -> CoreEntry | None:
    """None for a payload that is no entry, or one of another kind than the row says."""
    try:
        core = CoreEntry.from_json(row.payload, row.seq)
    except MalformedPayload:
        return None
    return None if core.kind in _KINDS and core.kind != row.kind else core
