"""What can be done about a compaction: edit, restore, regenerate, move its boundary, revert, pin, undo.

Each change appends at the leaf and takes nothing away: the newest compaction wins, later turns stay, and undoing is
one more append.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from sessions_app import entry_log
from sessions_app.agent.models_catalogue import describe_model
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind
from sessions_app.core.messages import Json
from sessions_app.core.projection import Context, project
from sessions_app.core.system_prompt_log import checkpoint
from sessions_app.core.times import iso_of
from sessions_app.models import (
    CompactionAttempt,
    CompactionReview,
    Entry,
    Pin,
    ReviewEvent,
    Run,
    Session,
    SummaryVersion,
)
from sessions_app.review.report import Judged, Report, judge
from sessions_app.runner import progress_guard, review_records, review_reports
from sessions_app.runner.carried import carried_block, texts_to_carry
from sessions_app.runner.compaction_plan import Branch, read_branch
from sessions_app.runner.compaction_rules import compaction_settings
from sessions_app.runner.starting import start_run
from sessions_app.services import commands, judging
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.services.judging import LONGEST_SUMMARY, checked_summary, mark, next_number, tell
from sessions_app.services.navigation import refuse_while_running
from sessions_app.services.sessions import available_models
from sessions_app.transactions import write_transaction

Act = ReviewEvent.Act
Outcome = CompactionAttempt.Outcome
Made = SummaryVersion.Made
State = CompactionReview.State
Status = SummaryVersion.Status

REVERTED_WORDS = "The summary was taken back: everything before is told as it was said."
_MOST_CANDIDATES = 12
_STATE_OF = {Made.REVERTED: State.REVERTED, Made.FIRST: State.UNREVIEWED}


@dataclass(frozen=True, slots=True)
class Wording:
    """What stands for the replaced range: a summary with what is carried, or the originals."""

    summary: str = ""
    carried: str = ""
    details: str = ""
    originals: bool = False
    first_kept: str = ""
    usage: str = ""


@dataclass(slots=True)
class _Change:
    """A change of a review under way: the locked session, what is in force, who makes it."""

    session: Session
    review: CompactionReview
    current: SummaryVersion
    author: Any
    branch: Branch = field(init=False)

    def __post_init__(self) -> None:
        assert self.session.leaf is not None  # noqa: S101 - a compaction is on the path
        self.branch = read_branch(self.session.leaf)


# --- finding ---


def review_of(entry: Entry) -> CompactionReview:
    """The review an entry belongs to, also if the entry is a later version of the summary; made if there is none."""
    version = SummaryVersion.objects.filter(entry=entry).select_related("review").first()
    if version is not None:
        return version.review
    if entry.kind not in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
        raise BadInput("Only compactions and branch summaries are reviewed.")
    with write_transaction():
        return review_records.record_entry(entry, reason="imported" if entry.run_id is None else "manual")


def in_force(review: CompactionReview) -> SummaryVersion | None:
    return review_reports.in_force(review)


def standing(review: CompactionReview) -> SummaryVersion | None:
    """The version in force, or the one that waits for approval."""
    return review_reports.standing(review)


def why_fixed(review: CompactionReview) -> str:
    """Why the summary can't be changed now; empty when it can."""
    if review.kind != CompactionReview.Kind.COMPACTION or review.entry is None:
        return "Only compactions can be changed; a branch summary can be left out in the conversation."
    leaf = review.session.leaf
    if leaf is None or leaf.compaction_seq is None:
        return "This compaction is on another branch. Go to that branch first."
    newest = Entry.objects.get(session_id=review.session_id, seq=leaf.compaction_seq)
    if not review.versions.filter(entry=newest).exists():
        if entry_log.is_on_path(review.entry, leaf):
            return "A later compaction has summarised this one. Change that one."
        return "This compaction is on another branch. Go to that branch first."
    return ""


# --- changing ---


def edit(
    *, review: CompactionReview, author: Any, summary: str, why: str = "", key: str = ""
) -> SummaryVersion:
    """Other words for the summary, the boundary as it is. Raises BadInput, Conflict."""
    if review.outcome == Outcome.WAITING:
        return judging.reword(review=review, author=author, summary=summary, why=why, key=key)
    text = checked_summary(summary)

    def change(it: _Change) -> SummaryVersion:
        wording = _with_carried(it, Wording(text, details=it.current.details, first_kept=_boundary(it)))
        return _apply(it, wording, Made.EDITED, Act.EDITED, why=why)

    return _changed(review, author, key, change)


def restore(
    *, review: CompactionReview, author: Any, version: SummaryVersion, key: str = ""
) -> SummaryVersion:
    """An earlier version again, to the letter. Raises Conflict."""
    if version.review_id != review.pk or version.status != Status.APPLIED:
        raise BadInput("That version was never in force.")

    def change(it: _Change) -> SummaryVersion:
        return _apply(it, _wording_of(version), Made.RESTORED, Act.RESTORED, why=f"version {version.number}")

    return _changed(review, author, key, change)


def undo(*, review: CompactionReview, author: Any, key: str = "") -> SummaryVersion:
    """What was in force before the newest change, to the letter; undoing twice brings the change back."""
    if review.outcome == Outcome.WAITING:
        return judging.undo_rewording(review=review, author=author, key=key)

    def change(it: _Change) -> SummaryVersion:
        before = it.current.based_on
        if before is None:
            raise Conflict("There is nothing to undo: this is what the compaction wrote.")
        if it.current.made == Made.PINNED:
            newest = review.events.filter(act=Act.PINNED, version=it.current).first()
            seqs = json.loads(newest.words) if newest is not None else []
            Pin.objects.filter(entry__session=it.session, entry__seq__in=seqs).delete()
        return _apply(
            it, _wording_of(before), Made.UNDONE, Act.UNDONE, why=f"version {before.number}", like=before
        )

    return _changed(review, author, key, change)


def choose(
    *, review: CompactionReview, author: Any, version: SummaryVersion, key: str = ""
) -> SummaryVersion:
    """Put a candidate in force. Raises Conflict."""
    if version.review_id != review.pk or version.status != Status.CANDIDATE:
        raise BadInput("That is not a candidate.")

    def change(it: _Change) -> SummaryVersion:
        wording = _with_carried(it, _wording_of(version))
        return _apply(it, wording, Made(version.made), Act.CHOSEN, row=version)

    return _changed(review, author, key, change)


def discard(*, review: CompactionReview, author: Any, version: SummaryVersion) -> None:
    """Put a candidate away; it stays readable."""
    candidates = review.versions.filter(pk=version.pk, status__in=[Status.CANDIDATE, Status.FAILED])
    candidates.update(status=Status.DISCARDED)


def regenerate(
    *,
    review: CompactionReview,
    author: Any,
    instructions: str = "",
    provider: str = "",
    model: str = "",
    first_kept: Entry | None = None,
    key: str = "",
) -> SummaryVersion:
    """Have a candidate written with other instructions, by another model or up to another boundary; a run does it."""
    focus = instructions.strip()
    if len(focus) > 10_000:
        raise BadInput("The instructions may have at most 10,000 characters.")
    if model and (provider, model) not in {(it.provider, it.model) for it in available_models(author)}:
        raise BadInput(f"There is no model {model!r} of {provider!r} here.", "Choose one from the list.")

    def change(it: _Change) -> SummaryVersion:
        if (
            review.versions.filter(status__in=[Status.CANDIDATE, Status.BEING_MADE]).count()
            >= _MOST_CANDIDATES
        ):
            raise Conflict(
                f"There are {_MOST_CANDIDATES} candidates already.", "Choose or discard one first."
            )
        boundary = _checked_boundary(it, first_kept) if first_kept is not None else _boundary(it)
        version = SummaryVersion.objects.create(
            review=review,
            number=next_number(review),
            made=Made.MOVED if first_kept is not None else Made.REGENERATED,
            status=Status.BEING_MADE,
            based_on=it.current,
            author=author,
            instructions=focus,
            provider=provider or it.session.provider,
            model=model or it.session.model,
            first_kept=boundary,
        )
        run = start_run(it.session, author, kind=Run.Kind.COMPACTION, request={"version": version.pk})
        Run.objects.filter(pk=run.pk).update(provider=version.provider, model=version.model)
        version.run = run
        version.save(update_fields=["run"])
        tell(review, author, Act.REGENERATED, focus, version=version)
        return version

    return _changed(review, author, key, change)


def move_boundary(
    *, review: CompactionReview, author: Any, first_kept: Entry, key: str = ""
) -> SummaryVersion:
    """Keep more of the conversation word for word at once; to keep less, a candidate is written that covers it."""
    current = in_force(review)
    if current is None or review.entry is None:
        raise Conflict("Nothing is in force here.")
    kept = entry_log.find_by_id(review.session_id, current.first_kept)
    if kept is None or current.originals or first_kept.depth > kept.depth:
        return regenerate(review=review, author=author, first_kept=first_kept, key=key)

    def change(it: _Change) -> SummaryVersion:
        boundary = _checked_boundary(it, first_kept)
        wording = Wording(it.current.summary, details=it.current.details, first_kept=boundary)
        return _apply(
            it, _with_carried(it, wording), Made.MOVED, Act.MOVED, why=f"kept from entry {first_kept.seq} on"
        )

    return _changed(review, author, key, change)


def revert(*, review: CompactionReview, author: Any, key: str = "") -> SummaryVersion:
    """Tell the model the originals again, with all later work. Raises Conflict when they do not fit the window."""

    def change(it: _Change) -> SummaryVersion:
        if it.current.originals:
            raise Conflict("The originals are in force already.")
        return _apply(it, Wording(originals=True), Made.REVERTED, Act.REVERTED)

    return _changed(review, author, key, change)


def pin_missing(
    *, review: CompactionReview, author: Any, findings: Sequence[Judged], key: str = ""
) -> SummaryVersion:
    """Carry the words of missing things from now on, in every compaction; at once in this one."""
    if not findings:
        raise BadInput("Say what is to be pinned.")

    def change(it: _Change) -> SummaryVersion:
        if it.current.originals:
            raise Conflict("The originals are in force: nothing is missing.")
        seqs = _pin(it, findings)
        wording = Wording(it.current.summary, details=it.current.details, first_kept=_boundary(it))
        return _apply(it, _with_carried(it, wording), Made.PINNED, Act.PINNED, words=json.dumps(seqs))

    return _changed(review, author, key, change)


def _pin(it: _Change, findings: Sequence[Judged]) -> list[int]:
    quotes: dict[int, list[str]] = {}
    for finding in findings:
        quotes.setdefault(finding.thing.seq, []).append(finding.thing.text)
    made = []
    for entry in Entry.objects.filter(session=it.session, seq__in=quotes):
        pin = Pin.objects.filter(entry=entry).first()
        if pin is not None and not pin.quote:
            continue
        known = pin.quote.split("\n") if pin is not None else []
        words = "\n".join(dict.fromkeys([*known, *quotes[entry.seq]]))
        Pin.objects.update_or_create(entry=entry, defaults={"author": it.author, "quote": words})
        if pin is None:
            made.append(entry.seq)
    return made


# --- what is shared ---


def _changed(review: CompactionReview, author: Any, key: str, change: Any) -> SummaryVersion:
    with write_transaction():
        locked = entry_log.lock_session(review.session_id)
        if (earlier := commands.earlier_result(author, key)) is not None:
            return SummaryVersion.objects.get(pk=int(earlier.rpartition(":")[2]))
        refuse_while_running(locked)
        review.refresh_from_db()
        review.session = locked
        if problem := why_fixed(review):
            raise Conflict(problem)
        current = in_force(review)
        assert current is not None  # noqa: S101 - why_fixed has found one
        version: SummaryVersion = change(_Change(locked, review, current, author))
        commands.remember(author, key, f"version:{version.pk}")
    review.session.refresh_from_db()
    return version


def _checked_boundary(it: _Change, first_kept: Entry) -> str:
    entry = it.review.entry
    assert entry is not None  # noqa: S101 - why_fixed has looked
    if first_kept.session_id != it.session.pk or not entry_log.is_on_path(first_kept, entry):
        raise BadInput("The boundary has to lie on this branch, above the compaction.")
    if first_kept.role == "toolResult":
        raise BadInput("A result stays with its call.", "Choose the message above it or below it.")
    return first_kept.entry_id


def _boundary(it: _Change) -> str:
    """The id from which the current version keeps, or after a revert the first one did."""
    version = it.review.versions.get(number=1) if it.current.originals else it.current
    return _on_path(it, version.first_kept)


def _on_path(it: _Change, first_kept: str) -> str:
    """The boundary, or where it names nothing above: the compaction itself, so that what came after it stays."""
    leaf, entry = it.session.leaf, it.review.entry
    assert leaf is not None and entry is not None  # noqa: S101, PT018 - why_fixed has looked
    kept = entry_log.find_by_id(it.session.pk, first_kept)
    return first_kept if kept is not None and entry_log.is_on_path(kept, leaf) else entry.entry_id


def _wording_of(version: SummaryVersion) -> Wording:
    """Raises Conflict when the version's text went with an entry that was erased."""
    if not version.summary and not version.originals:
        raise Conflict(f"The text of version {version.number} was erased.", "Choose another version.")
    return Wording(
        version.summary,
        version.carried,
        version.details,
        version.originals,
        version.first_kept,
        version.usage if version.status == Status.CANDIDATE else "",
    )


def _with_carried(it: _Change, wording: Wording) -> Wording:
    """With the block of what is pinned, and of the newest request, as far as it lies above the boundary."""
    leaf = it.session.leaf
    assert leaf is not None  # noqa: S101 - it is on the path
    kept = entry_log.find_by_id(it.session.pk, wording.first_kept)
    depth = kept.depth if kept is not None else leaf.depth + 1
    window = describe_model(it.session.provider, it.session.model).context_window
    block = carried_block(texts_to_carry(leaf, depth), window)
    return Wording(
        wording.summary, block, wording.details, wording.originals, wording.first_kept, wording.usage
    )


def _apply(
    it: _Change,
    wording: Wording,
    made: str,
    act: str,
    *,
    why: str = "",
    words: str = "",
    row: SummaryVersion | None = None,
    like: SummaryVersion | None = None,
) -> SummaryVersion:
    """Append what puts the wording in force, and write down who did it."""
    entry = _append_originals(it) if wording.originals else _append_summary(it, wording)
    session = it.session
    session.refresh_from_db()
    assert session.leaf is not None  # noqa: S101 - something was appended
    after = progress_guard.measure(entry_log.load_context(session))
    version = row or SummaryVersion(review=it.review, number=next_number(it.review), author=it.author)
    if row is not None:
        # Numbers tell the order in which versions came into force.
        version.number = next_number(it.review)
    version.made, version.status, version.entry = made, Status.APPLIED, entry
    version.based_on, version.why = it.current, why.strip()[:500]
    version.summary, version.carried, version.details = wording.summary, wording.carried, wording.details
    version.originals, version.first_kept, version.tokens_after = wording.originals, wording.first_kept, after
    version.save()
    review_records.ask_for_report(version)
    state = _STATE_OF.get(Made(like.made) if like is not None else Made(made), State.EDITED)
    CompactionReview.objects.filter(pk=it.review.pk).update(tokens_after=after)
    mark(it.review, it.author, state)
    tell(it.review, it.author, act, words or why, version=version)
    return version


def _append_summary(it: _Change, wording: Wording) -> Entry:
    fields: Json = {
        "type": Kind.COMPACTION,
        "summary": wording.summary + wording.carried,
        "firstKeptEntryId": _on_path(it, wording.first_kept),
        "tokensBefore": progress_guard.measure(it.branch.context),
        "systemMessage": _state_of(it.branch.context),
        "usage": json.loads(wording.usage) if wording.usage else None,
        "details": json.loads(wording.details) if wording.details else None,
    }
    fields = {name: value for name, value in fields.items() if value is not None}
    return entry_log.append_locked(it.session, {**fields, "fromHook": False}, author=it.author)


def _append_originals(it: _Change) -> Entry:
    """A compaction that keeps everything, an edit that silences its own words, and the prompt and tools again."""
    leaf = it.session.leaf
    assert leaf is not None  # noqa: S101 - it is on the path
    path = entry_log.load_core_path(leaf)
    state = _state_of(it.branch.context)
    fields: Json = {
        "type": Kind.COMPACTION,
        "summary": REVERTED_WORDS,
        "firstKeptEntryId": path[0].id,
        "tokensBefore": progress_guard.measure(it.branch.context),
        "fromHook": False,
    }
    _refuse_what_does_not_fit(it, path, fields, state)
    entry = entry_log.append_locked(it.session, fields, author=it.author)
    it.session.refresh_from_db()
    edit = {"type": Kind.CONTEXT_EDIT, "targetId": entry.entry_id, "replacement": None}
    entry_log.append_locked(it.session, edit, author=it.author)
    if state is not None:
        it.session.refresh_from_db()
        entry_log.append_locked(it.session, {"type": Kind.MESSAGE, "message": state}, author=it.author)
    return entry


def _refuse_what_does_not_fit(
    it: _Change, path: Sequence[CoreEntry], fields: Json, state: Json | None
) -> None:
    model = describe_model(it.session.provider, it.session.model)
    room = model.context_window - compaction_settings(model).reserve_tokens
    head = {"id": "preview", "parentId": path[-1].id, "timestamp": iso_of(_now())}
    edit = CoreEntry({"type": Kind.CONTEXT_EDIT, "id": "edit", "targetId": "preview", "replacement": None})
    system = [CoreEntry({"type": Kind.MESSAGE, "id": "system", "message": state})] if state else []
    after = progress_guard.measure(project([*path, CoreEntry({**fields, **head}), edit, *system]))
    if after > room:
        raise Conflict(
            f"The originals need about {after:,} tokens, and {model.name} has room for {room:,}.",
            "Move the boundary up instead, so that more is kept word for word, or choose a model with a larger window.",
        )


def _state_of(context: Context) -> Json | None:
    return checkpoint(context.messages, timestamp=_now())


def _now() -> int:
    return int(timezone.now().timestamp() * 1000)


# --- reports ---


def live_coverage(*, review: CompactionReview, summary: str) -> list[Judged]:
    """Coverage of other words for the version in force, computed at once: what an editor shows while one types."""
    current = review_reports.standing(review)
    if current is None:
        return []
    material = review_reports.with_summary(review_reports.material_of(current), summary[:LONGEST_SUMMARY])
    stored = stored_report(current)
    if stored is not None:
        things = [item.thing for item in stored.judged]
        material = review_reports.with_things(material, things)
    return judge(material, review_reports.weights())


def stored_report(version: SummaryVersion) -> Report | None:
    return review_reports.stored(version)
