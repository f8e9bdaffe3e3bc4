"""Work: prompts are sent, runs stopped and continued, queued words edited."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sessions_app import blobs, entry_log, live
from sessions_app.core.messages import user_message
from sessions_app.core.projection import model_of, thinking_level_of
from sessions_app.models import Entry, QueuedMessage, Run, Session
from sessions_app.runner.execution_policy import local_execution_problem
from sessions_app.runner.extensions import hooks_of
from sessions_app.runner.permissions import hand_on
from sessions_app.runner.queued_words import queued_user_message, tell_queue, waiting_words
from sessions_app.runner.settling import end_run
from sessions_app.runner.starting import start_run
from sessions_app.services import commands, kept_prompts
from sessions_app.services.errors import BadInput, Conflict, NotAllowed, Unavailable
from sessions_app.transactions import write_transaction

Json = dict[str, Any]

_MOST_QUEUED = 50
_MOST_COMMANDS = 8
_ENDED_BADLY = (Run.Status.FAILED, Run.Status.INTERRUPTED, Run.Status.LIMITED, Run.Status.STOPPED)


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of a prompt: a run and its entry, or a queued message; `repeated`: it had been sent before.

    None of them where a hook took the words for itself.
    """

    run: Run | None
    entry: Entry | None
    queued: QueuedMessage | None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    """`run` is None when nothing ran. `returned_text` is what was taken out of the queue for the composer."""

    run: Run | None
    returned_text: str = ""


def submit_prompt(
    *,
    session: Session,
    author: Any,
    text: str,
    images: Sequence[Json] = (),
    mode: str = QueuedMessage.Mode.STEER,
    key: str = "",
) -> Submission:
    """Store the words and start a run; while one is active they are queued (B26).

    The words are in the database before this returns. Raises BadInput, Conflict, NotAllowed, Unavailable;
    then nothing was stored.
    """
    if problem := local_execution_problem():
        raise NotAllowed(problem)
    hooks = hooks_of(session)
    if (command := kept_prompts.named(text)) and hooks.has_command(command[0]):
        # At once, also while an agent works; no hook hears of it (04 §1).
        hooks.run_command(*command)
        return Submission(None, None, None)
    heard = hooks.input({"text": text, "images": list(images), "streamingBehavior": mode})
    if heard["action"] == "handled":
        return Submission(None, None, None)
    images = heard["images"]
    words = checked_words(kept_prompts.expanded(heard["text"]), images)
    message, uses = _message(words, images)
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if (earlier := commands.earlier_result(author, key)) is not None:
            return _repeated(earlier)
        if mode == QueuedMessage.Mode.NEXT_TURN or Run.objects.active().filter(session=locked).exists():
            queued = _queue(locked, author, words, images, mode)
            commands.remember(author, key, f"queued:{queued.pk}")
            return Submission(None, None, queued)
        known = locked.leaf
        entry = entry_log.append_locked(locked, {"type": "message", "message": message}, author=author)
        blobs.record_uses(entry, uses)
        _say_what_waited(locked)
        _record_choice(locked, known, author)
        run = start_run(locked, author)
        commands.remember(author, key, f"run:{run.pk}:{entry.pk}")
    return Submission(run, entry, None)


def _say_what_waited(session: Session) -> None:
    """Words for the next turn stand behind the person's own (04 §1, QU-06)."""
    waited = list(session.queue.filter(mode=QueuedMessage.Mode.NEXT_TURN).select_related("author"))
    for queued in waited:
        message, uses = blobs.externalise(queued_user_message(queued))
        entry = entry_log.append_locked(
            session, {"type": "message", "message": message}, author=queued.author
        )
        blobs.record_uses(entry, uses)
        queued.delete()
    if waited:
        session_pk = session.pk
        transaction.on_commit(lambda: tell_queue(session_pk))


def _record_choice(session: Session, leaf: Entry | None, author: Any) -> None:
    """Where the branch remembers another model or thinking level than the session's, say the change (01 TR-08).

    Behind the words, so that what is said anew stays beside what was said first.
    """
    if leaf is None:
        return
    known = session.entries.filter(seq__in=[seq for seq in (leaf.model_seq, leaf.thinking_seq) if seq])
    rows = {row.seq: row.as_core() for row in known}
    if leaf.model_seq in rows:
        model = model_of([rows[leaf.model_seq]])
        if model != {"provider": session.provider, "modelId": session.model}:
            fields = {"type": "model_change", "provider": session.provider, "modelId": session.model}
            entry_log.append_locked(session, fields, author=author)
    if leaf.thinking_seq in rows and thinking_level_of([rows[leaf.thinking_seq]]) != session.thinking_level:
        fields = {"type": "thinking_level_change", "thinkingLevel": session.thinking_level}
        entry_log.append_locked(session, fields, author=author)


def checked_words(text: str, images: Sequence[Json] = ()) -> str:
    """The prompt's text, or BadInput that says what is wrong with it."""
    if not text.strip() and not images:
        raise BadInput("There is nothing to send.", "Write what should be done.")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > settings.MAX_PROMPT_BYTES:
        raise BadInput(
            f"This message has {size / 1_000_000:.1f} MB; at most {settings.MAX_PROMPT_BYTES / 1_000_000:.1f} MB can be sent.",
            "Put it into a file in the folder and name the file.",
        )
    if "\0" in text:
        raise BadInput(
            "This looks like binary data (it holds NUL characters).",
            "Put it into a file in the folder and name the file.",
        )
    return text


def command_in(text: str) -> tuple[str, bool] | None:
    """A person's own command, and whether the model is not to be told: `!cmd`, `!!cmd` (05 §8). None for other words."""
    if not text.startswith("!"):
        return None
    excluded = text.startswith("!!")
    command = text[2 if excluded else 1 :].strip()
    return (command, excluded) if command else None


def run_command(*, session: Session, author: Any, command: str, exclude: bool = False, key: str = "") -> Run:
    """Run a person's own command in the folder, beside whatever the agent does. Raises BadInput, Conflict, NotAllowed."""
    words = checked_words(command)
    if problem := local_execution_problem():
        raise NotAllowed(problem)
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if (earlier := commands.earlier_result(author, key)) is not None:
            return Run.objects.get(pk=int(earlier.partition(":")[2]))
        under_way = Run.objects.filter(session=locked, kind=Run.Kind.COMMAND, status__in=Run.ACTIVE)
        if under_way.count() >= _MOST_COMMANDS:
            raise Conflict(
                f"{_MOST_COMMANDS} commands are running already.", "Stop them, or wait for their end."
            )
        run = start_run(locked, author, kind=Run.Kind.COMMAND, request={"command": words, "exclude": exclude})
        commands.remember(author, key, f"command:{run.pk}")
    return run


def stop_commands(*, session: Session, author: Any) -> int:
    """End all of a session's own commands (05 §8); the number."""
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        found = list(Run.objects.filter(session=locked, kind=Run.Kind.COMMAND, status__in=Run.ACTIVE))
        for run in found:
            ask_to_stop(run, author)
    return len(found)


def stop_run(*, session: Session, author: Any, return_queue: bool = False) -> Stopped:
    """End the active run at once, and what waits for it. With `return_queue` what was queued comes back as text
    (04 QU-08), else it stays.
    """
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        run = Run.objects.active().filter(session=locked).first()
        returned = _take_queue(locked) if return_queue else ""
        Run.objects.filter(session=locked, status=Run.Status.WAITING).update(
            status=Run.Status.STOPPED, ended_at=timezone.now(), stop_requested=True, stop_author=author
        )
        if run is not None and run.status == Run.Status.QUEUED and run.started_at is None:
            # Nobody has begun: it is over now.
            Run.objects.filter(pk=run.pk).update(stop_requested=True, stop_author=author)
            end_run(run, locked, status=Run.Status.STOPPED)
        elif run is not None:
            ask_to_stop(run, author)
    if returned:
        tell_queue(session.pk)
    return Stopped(run, returned)


def ask_to_stop(run: Run, author: Any) -> None:
    """In the caller's transaction. A run that waits for a person is handed on, so that a worker ends what it has open."""
    Run.objects.filter(pk=run.pk).update(stop_requested=True, stop_author=author)
    if run.status in Run.LEFT:
        hand_on(run, now=timezone.now())
    run_pk = run.pk
    transaction.on_commit(lambda: live.send_stop(run_pk))


def raise_and_continue(*, session: Session, author: Any) -> Run:
    """Go on from the leaf after a ceiling (doubled), an interruption, a stop, a failure or an answer cut short.

    Raises Conflict when there is nothing to go on with, NotAllowed.
    """
    if problem := local_execution_problem():
        raise NotAllowed(problem)
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        if Run.objects.active().filter(session=locked).exists():
            raise Conflict("A job is running already.")
        newest = Run.objects.filter(session=locked, kind=Run.Kind.PROMPT).order_by("-pk").first()
        if newest is None or not (newest.status in _ENDED_BADLY or _cut_short(locked)):
            raise Conflict("There is nothing to continue: the last job ended by itself.", "Send a message.")
        limited = newest.status == Run.Status.LIMITED
        return start_run(locked, author, limits_of=newest if limited else None)


def _cut_short(session: Session) -> bool:
    """Did the answer at the leaf reach the model's limit for one reply?"""
    leaf = session.leaf
    if leaf is None or leaf.role != "assistant":
        return False
    return bool(leaf.record["message"].get("stopReason") == "length")


def edit_queued(*, session: Session, author: Any, queued_id: int, text: str) -> QueuedMessage:
    """Change queued words, which may name a skill or a template. Raises BadInput for a command of an extension, which
    cannot be queued (04 QU-04), Conflict when they were delivered meanwhile.
    """
    command = kept_prompts.named(text)
    if command and hooks_of(session).has_command(command[0]):
        raise BadInput(f"/{command[0]} is a command: it cannot wait.", "Send it by itself; it runs at once.")
    words = checked_words(kept_prompts.expanded(text))
    if not QueuedMessage.objects.filter(pk=queued_id, session=session).update(text=words):
        raise _delivered()
    tell_queue(session.pk)
    return QueuedMessage.objects.get(pk=queued_id)


def remove_queued(*, session: Session, author: Any, queued_id: int) -> None:
    """Take queued words back. Raises Conflict when they were delivered meanwhile."""
    deleted, _ = QueuedMessage.objects.filter(pk=queued_id, session=session).delete()
    if not deleted:
        raise _delivered()
    tell_queue(session.pk)


def hold_queued(*, session: Session, author: Any, queued_id: int) -> None:
    """Keep queued words back until the person's next message (04 QU-06). Raises Conflict when they were delivered."""
    held = QueuedMessage.objects.filter(pk=queued_id, session=session)
    if not held.update(mode=QueuedMessage.Mode.NEXT_TURN):
        raise _delivered()
    tell_queue(session.pk)


def reorder_queued(*, session: Session, author: Any, queued_id: int, up: bool) -> None:
    """One place up or down among those of the same mode."""
    with write_transaction():
        entry_log.lock_session(session.pk)
        chosen = QueuedMessage.objects.filter(pk=queued_id, session=session).first()
        if chosen is None:
            raise _delivered()
        order = list(QueuedMessage.objects.filter(session=session, mode=chosen.mode))
        place = next(i for i, item in enumerate(order) if item.pk == chosen.pk)
        other = place - 1 if up else place + 1
        if 0 <= other < len(order):
            order[place], order[other] = order[other], order[place]
            for position, item in enumerate(order):
                QueuedMessage.objects.filter(pk=item.pk).update(position=position)
    tell_queue(session.pk)


def _delivered() -> Conflict:
    return Conflict("That message has been delivered to the agent already.")


def _message(words: str, images: Sequence[Json]) -> tuple[Json, list[Any]]:
    message = user_message(words, list(images) or None, timestamp=time.time_ns() // 1_000_000)
    try:
        return blobs.externalise(message)
    except OSError as error:
        raise Unavailable(
            f"The image could not be kept: {error.strerror}.",
            "Make room in the data directory and send again.",
        ) from error


def _queue(session: Session, author: Any, words: str, images: Sequence[Json], mode: str) -> QueuedMessage:
    if mode not in QueuedMessage.Mode.values:
        raise BadInput(f"{mode!r} is no way to queue a message.")
    waiting = QueuedMessage.objects.filter(session=session)
    if waiting.count() >= _MOST_QUEUED:
        raise Conflict(f"{_MOST_QUEUED} messages are waiting already.", "Remove one, or stop the job.")
    last = waiting.order_by("-position").first()
    queued = QueuedMessage.objects.create(
        session=session,
        author=author,
        mode=mode,
        text=words,
        images=json.dumps(list(images)) if images else "",
        position=last.position + 1 if last else 0,
    )
    session_pk = session.pk
    transaction.on_commit(lambda: tell_queue(session_pk))
    return queued


def _repeated(result: str) -> Submission:
    kind, _, rest = result.partition(":")
    if kind == "queued":
        return Submission(None, None, QueuedMessage.objects.filter(pk=int(rest)).first(), repeated=True)
    run_pk, _, entry_pk = rest.partition(":")
    return Submission(
        Run.objects.filter(pk=int(run_pk)).first(),
        Entry.objects.filter(pk=int(entry_pk)).first(),
        None,
        repeated=True,
    )


def _take_queue(session: Session) -> str:
    """Steering first, then follow-ups, joined by blank lines."""
    order = {QueuedMessage.Mode.STEER: 0, QueuedMessage.Mode.FOLLOW_UP: 1}
    waiting = sorted(waiting_words(session.pk), key=lambda item: order[QueuedMessage.Mode(item.mode)])
    QueuedMessage.objects.filter(pk__in=[item.pk for item in waiting]).delete()
    return "\n\n".join(item.text for item in waiting)
