"""Compaction asked for by a person, what one would do, and why automatic ones have stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app import entry_log
from sessions_app.agent.models_catalogue import ModelInfo, cost_of, describe_model
from sessions_app.agent.summary_provider import conversation_units
from sessions_app.agent.transcript_fitting import fold
from sessions_app.core.compaction import CompactionPlan
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.errors import NothingToCompact
from sessions_app.core.tokens import UNITS_PER_TOKEN, utf16_length
from sessions_app.models import Entry, Run, Session, SummaryVersion
from sessions_app.runner import progress_guard
from sessions_app.runner.carried import carried_block, texts_to_carry
from sessions_app.runner.compaction_plan import Branch, plan_for, read_branch
from sessions_app.runner.compaction_rules import compaction_settings
from sessions_app.runner.settling import end_run
from sessions_app.runner.starting import start_run
from sessions_app.services import commands, runs
from sessions_app.services.errors import BadInput, Conflict
from sessions_app.transactions import write_transaction

_LONGEST_INSTRUCTIONS = 10_000
# Tokens of instructions around the conversation, and of the answer, for the estimate of what a summary costs.
_PROMPT_TOKENS = 500
_SUMMARY_TOKENS = 1_500


@dataclass(frozen=True, slots=True)
class Preview:
    """What a compaction would do now; nothing is asked and nothing stored.

    `problem` says why it is not possible. `summarised` and `kept` count entries, `requests` is how many would go
    to the model, `cost` is US dollars. `tokens_after` and `cost` are estimates; `trigger` is the size above which
    one happens by itself.
    """

    possible: bool
    problem: str
    summarised: int
    kept: int
    first_kept: Entry | None
    splits_span: bool
    carried: list[Entry]
    tokens_before: int
    tokens_after: int
    window: int
    trigger: int
    requests: int
    cost: float


def compact_session(
    *,
    session: Session,
    author: Any,
    instructions: str = "",
    first_kept: Entry | None = None,
    key: str = "",
) -> Run:
    """Start a compaction of the active branch (02 CT-01); `instructions` give the summary a focus, and with `first_kept`
    everything before that entry is summarised.

    A prompt's run is stopped first and never resumed: the compaction waits for its end. Raises Conflict when
    there is nothing to compact or another one is under way, BadInput.
    """
    focus = instructions.strip()
    if len(focus) > _LONGEST_INSTRUCTIONS:
        raise BadInput(f"The instructions may have at most {_LONGEST_INSTRUCTIONS:,} characters.")
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if (earlier := commands.earlier_result(author, key)) is not None:
            return Run.objects.get(pk=int(earlier.rpartition(":")[2]))
        _refuse_a_second_one(locked)
        running = Run.objects.active().filter(session=locked).first()
        if running is None:
            _refuse_if_nothing(locked, first_kept)
        elif running.status == Run.Status.QUEUED and running.started_at is None:
            # Nobody has begun it: it is over now.
            Run.objects.filter(pk=running.pk).update(stop_requested=True, stop_author=author)
            end_run(running, locked, status=Run.Status.STOPPED)
        else:
            runs.ask_to_stop(running, author)
        run = start_run(
            locked,
            author,
            kind=Run.Kind.COMPACTION,
            request={"instructions": focus} | ({"firstKept": first_kept.entry_id} if first_kept else {}),
        )
        commands.remember(author, key, f"run:{run.pk}")
    return run


def _refuse_a_second_one(session: Session) -> None:
    under_way = (
        Run.objects.of_agents()
        .filter(session=session, status__in=(*Run.ACTIVE, Run.Status.WAITING))
        .exclude(kind=Run.Kind.PROMPT)
    )
    first = under_way.first()
    if first is not None:
        doing = "being compacted" if first.kind == Run.Kind.COMPACTION else "going to another branch"
        raise Conflict(f"This session is {doing} already.", "Wait for the end, or stop it.")


def _refuse_if_nothing(session: Session, first_kept: Entry | None) -> None:
    try:
        if session.leaf is None:
            raise NothingToCompact("Nothing to compact: the session is empty.")
        model = describe_model(session.provider, session.model)
        _plan(read_branch(session.leaf), compaction_settings(model), first_kept)
    except NothingToCompact as nothing:
        raise Conflict(str(nothing)) from nothing


def _plan(branch: Branch, rules: CompactionSettings, first_kept: Entry | None) -> CompactionPlan:
    if first_kept is None:
        return plan_for(branch, rules)
    if first_kept.role == "toolResult":
        raise NothingToCompact("A result stays with its call: choose the message above it or below it.")
    try:
        return plan_for(branch, rules, first_kept.entry_id)
    except NothingToCompact as nothing:
        raise NothingToCompact("Nothing that is told to the model stands above this message.") from nothing


def moves_boundary(*, session: Session, first_kept: Entry) -> Entry | None:
    """The compaction in force if the entry lies above it: then its boundary is moved in place of making another one."""
    leaf = session.leaf
    if leaf is None or leaf.compaction_seq is None:
        return None
    newest = Entry.objects.get(session=session, seq=leaf.compaction_seq)
    version = SummaryVersion.objects.filter(entry=newest).select_related("review__entry").first()
    # A later version of a summary stands further down; its boundary lies above the first one.
    first = version.review.entry if version is not None and version.review.entry is not None else newest
    return newest if entry_log.is_on_path(first_kept, first) else None


def preview(*, session: Session, first_kept: Entry | None = None) -> Preview:
    """The dry run: what would be cut, kept and summarised, and about what it would cost."""
    model = describe_model(session.provider, session.model)
    rules = compaction_settings(model)
    limit = model.context_window - rules.reserve_tokens
    if session.leaf is None:
        return _impossible("Nothing to compact: the session is empty.", 0, 0, model, limit)
    branch = read_branch(session.leaf)
    before = progress_guard.measure(branch.context)
    try:
        plan = _plan(branch, rules, first_kept)
    except NothingToCompact as nothing:
        return _impossible(str(nothing), before, len(branch.path), model, limit)
    first_kept_depth = branch.depth_of(plan.first_kept_entry_id)
    carried = texts_to_carry(branch.leaf, first_kept_depth)
    block = carried_block(carried, model.context_window)
    prediction = progress_guard.predict(
        plan, branch.context, limit, summary=_SUMMARY_TOKENS, carried=utf16_length(block) // UNITS_PER_TOKEN
    )
    requests, cost = _price(plan, model)
    going = {item.entry_id for item in (*plan.history, *plan.span_prefix)}
    return Preview(
        possible=True,
        problem="",
        summarised=len(going),
        kept=branch.leaf.depth + 1 - first_kept_depth,
        first_kept=entry_log.find_by_id(session.pk, plan.first_kept_entry_id),
        splits_span=plan.splits_span,
        carried=[item.entry for item in carried],
        tokens_before=before,
        tokens_after=prediction.after,
        window=model.context_window,
        trigger=limit,
        requests=requests,
        cost=cost,
    )


def _impossible(problem: str, tokens: int, kept: int, model: ModelInfo, limit: int) -> Preview:
    return Preview(
        False, problem, 0, kept, None, False, [], tokens, tokens, model.context_window, limit, 0, 0.0
    )


def _price(plan: CompactionPlan, model: ModelInfo) -> tuple[int, float]:
    """How many requests, and about how many dollars."""
    units = conversation_units(model, plan.previous_summary)
    pieces = list(fold([item.message for item in plan.history], units)) if plan.history else []
    if plan.splits_span:
        pieces += list(fold([item.message for item in plan.span_prefix], units))[:1]
    cost = 0.0
    for piece in pieces:
        said = utf16_length(piece) + utf16_length(plan.previous_summary or "")
        usage = {
            "input": said // UNITS_PER_TOKEN + _PROMPT_TOKENS,
            "output": min(_SUMMARY_TOKENS, model.max_tokens),
        }
        cost += float(cost_of(usage, model)["total"])
    return len(pieces), cost


def automatic_problem(session: Session) -> str:
    """Why automatic compaction has stopped on the active branch and what helps; empty when it has not."""
    if session.leaf is None:
        return ""
    halted = progress_guard.halted_by(session.leaf)
    if halted is None:
        return ""
    model = describe_model(session.provider, session.model)
    rules = compaction_settings(model)
    branch: Branch = read_branch(session.leaf)
    limit = model.context_window - rules.reserve_tokens
    try:
        prediction = progress_guard.predict(plan_for(branch, rules), branch.context, limit)
    except NothingToCompact:
        size = progress_guard.measure(branch.context)
        prediction = progress_guard.Prediction(size, size, limit)
    blocked = progress_guard.is_blocked(
        halted,
        branch.leaf,
        model,
        progress_guard.settings_text(model, rules),
        "threshold",
        progress_guard.worst_case(prediction, halted),
    )
    return halted.halts if blocked else ""
