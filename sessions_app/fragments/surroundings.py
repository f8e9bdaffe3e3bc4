"""What the articles of a list of entries need beside their own rows, looked up once for the whole list."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model

from sessions_app import entry_log
from sessions_app.core.entries import Kind
from sessions_app.core.messages import call_id_of, tool_calls_of
from sessions_app.fragments.folds import AttemptRow, Fold, attempts_of, folds_of
from sessions_app.fragments.permission import may_edit
from sessions_app.fragments.told import Edited, edits_among, pinned_among
from sessions_app.models import Entry, Segment, Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Versions:
    """Where an entry stands among its siblings, and the seqs of its neighbours (None at the ends)."""

    index: int
    count: int
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`calls` maps the pk of a tool result to its call, `unanswered` the pk of an answer to its calls that
    the rest of the list passes over, `labels` an entry's id to its label, `full` says that nothing is cut.

    By pk: `pinned` and `edited` entries, `folds` of compactions, `attempts` at one that were made there."""

    key: uuid.UUID
    user_id: int | None
    may_edit: bool
    calls: Mapping[int, Json] = field(default_factory=dict)
    unanswered: Mapping[int, Sequence[Json]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[int, Versions] = field(default_factory=dict)
    authors: Mapping[int, str] = field(default_factory=dict)
    pinned: frozenset[int] = frozenset()
    edited: Mapping[int, Edited] = field(default_factory=dict)
    folds: Mapping[int, Fold] = field(default_factory=dict)
    attempts: Mapping[int, AttemptRow] = field(default_factory=dict)
    full: bool = False

    def author_of(self, entry: Entry) -> str:
        if entry.author_id is None or entry.author_id == self.user_id:
            return "You"
        return self.authors.get(entry.author_id, "Somebody")


def look_around(entries: Sequence[Entry], *, user: AnyUser, full: bool = False) -> Surroundings:
    """The surroundings of entries of one session, in path order."""
    session = _session_of(entries[0])
    records = {entry.pk: entry.record for entry in entries if entry.role in ("assistant", "toolResult")}
    return Surroundings(
        key=session.key,
        user_id=user.pk,
        may_edit=may_edit(session, user),
        calls=_calls_of_results(entries, records),
        unanswered=_passed_over(entries, records),
        labels=labels_of(session.pk, after=min(entry.seq for entry in entries)),
        versions=_versions(entries),
        authors=_authors(entries),
        pinned=pinned_among(entries),
        edited=edits_among(entries, session.leaf),
        folds=folds_of(entries, session.leaf),
        attempts=attempts_of(entries, session),
        full=full,
    )


def _session_of(entry: Entry) -> Session:
    """The row that the caller has loaded already, if it has given it to the entry."""
    if Entry._meta.get_field("session").is_cached(entry):
        return entry.session
    return Session.objects.select_related("leaf").get(pk=entry.session_id)


def labels_of(session_id: int, *, after: int = 0) -> dict[str, str]:
    """Entry id → its label, as the newest label entry says. A label is written after what it names, so of
    entries from a seq on only later ones matter."""
    labels: dict[str, str] = {}
    # Sorted here: an ORDER BY would make the index of seqs look the better one, and all entries be read.
    rows = Entry.objects.filter(session_id=session_id, kind=Kind.LABEL).only("seq", "payload")
    for entry in sorted(rows, key=lambda row: row.seq):
        if entry.seq <= after:
            continue
        record = entry.record
        target, label = record.get("targetId"), record.get("label")
        if isinstance(target, str):
            labels[entry_log.stored_id(target)] = label if isinstance(label, str) else ""
    return {target: label for target, label in labels.items() if label}


def call_of_result(entry: Entry) -> Json | None:
    """The tool call that a stored result answers: in the nearest answer above it on its path."""
    call_id = _message(entry.record).get("toolCallId")
    answer = _answer_above(entry)
    if answer is None:
        return None
    return next((call for call in tool_calls_of(_message(answer.record)) if call.get("id") == call_id), None)


def open_calls(entries: Sequence[Entry]) -> list[Json]:
    """Calls at the end of a path that have no result yet: of the last answer, if only results follow it."""
    answered: set[str] = set()
    for entry in reversed(entries):
        if entry.role == "toolResult":
            answered.add(_call_id(_message(entry.record)))
        elif entry.role == "assistant":
            return [
                call
                for call in tool_calls_of(_message(entry.record))
                if call_id_of(call.get("id")) not in answered
            ]
        elif entry.kind not in entry_log.METADATA_KINDS:
            return []
    return []


def _answer_above(entry: Entry) -> Entry | None:
    segment_id, below = entry.segment_id, entry.ordinal
    while True:
        stretch = Entry.objects.filter(segment_id=segment_id, ordinal__lt=below, role="assistant")
        if (answer := stretch.order_by("-ordinal").first()) is not None:
            return answer
        segment = Segment.objects.only("parent_id", "parent_ordinal").get(pk=segment_id)
        if segment.parent_id is None:
            return None
        segment_id, below = segment.parent_id, segment.parent_ordinal + 1


def _calls_of_results(entries: Sequence[Entry], records: Mapping[int, Json]) -> dict[int, Json]:
    """Results take their call from the answer above them in the list; the first of a page may have to ask."""
    found: dict[int, Json] = {}
    calls: dict[str, Json] | None = None
    for entry in entries:
        if entry.role == "assistant":
            every = tool_calls_of(_message(records[entry.pk]))
            calls = {call["id"]: call for call in every if isinstance(call.get("id"), str)}
        elif entry.role == "toolResult":
            call = (
                calls.get(_call_id(_message(records[entry.pk])))
                if calls is not None
                else call_of_result(entry)
            )
            if call is not None:
                found[entry.pk] = call
    return found


def _passed_over(entries: Sequence[Entry], records: Mapping[int, Json]) -> dict[int, list[Json]]:
    """Calls without a result that the conversation went past: their cards stand with the answer."""
    found: dict[int, list[Json]] = {}
    current: Entry | None = None
    answered: set[str] = set()
    for entry in entries:
        if entry.role == "toolResult":
            answered.add(_call_id(_message(records[entry.pk])))
        elif entry.role in ("assistant", "user"):
            if current is not None:
                calls = tool_calls_of(_message(records[current.pk]))
                if missing := [call for call in calls if call_id_of(call.get("id")) not in answered]:
                    found[current.pk] = missing
            current, answered = (entry, set()) if entry.role == "assistant" else (None, set())
    return found


def _versions(entries: Sequence[Entry]) -> dict[int, Versions]:
    siblings = entry_log.siblings(entries)
    neighbours = {pk for place in siblings.values() for pk in (place.previous, place.next) if pk}
    seqs = dict(Entry.objects.filter(pk__in=neighbours).values_list("pk", "seq")) if neighbours else {}
    return {
        pk: Versions(
            place.index,
            place.count,
            seqs.get(place.previous) if place.previous else None,
            seqs.get(place.next) if place.next else None,
        )
        for pk, place in siblings.items()
    }


def _authors(entries: Sequence[Entry]) -> dict[int, str]:
    ids = {entry.author_id for entry in entries if entry.author_id is not None}
    if not ids:
        return {}
    people = get_user_model().objects.filter(pk__in=ids)
    return {person.pk: person.get_username() for person in people}


def _message(record: Json) -> Json:
    message = record.get("message")
    return message if isinstance(message, dict) else {}


def _call_id(message: Json) -> str:
    return call_id_of(message.get("toolCallId"))
