"""What people said while a run was active: taken by the loop in the order and number that is set, and told whole."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from sessions_app import live
from sessions_app.core.messages import user_message
from sessions_app.models import QueuedMessage, Run

Json = dict[str, Any]


def next_words(session_pk: int, mode: str, taken: Collection[int]) -> list[QueuedMessage]:
    """The next of a queue, or all of it where that is set (04 QU-02); those `taken` are on their way already."""
    waiting = QueuedMessage.objects.filter(session_id=session_pk, mode=mode).exclude(pk__in=taken)
    how = settings.STEERING_MODE if mode == QueuedMessage.Mode.STEER else settings.FOLLOW_UP_MODE
    return list(waiting if how == "all" else waiting[:1])


def waiting_words(session_pk: int) -> QuerySet[QueuedMessage]:
    """What a run has to say before it may end; words for the next turn are not among it (04 QU-06)."""
    queued = QueuedMessage.objects.filter(session_id=session_pk)
    return queued.exclude(mode=QueuedMessage.Mode.NEXT_TURN)


def queued_user_message(queued: QueuedMessage) -> Json:
    """A queued message as it becomes an entry."""
    images = json.loads(queued.images) if queued.images else None
    return user_message(queued.text, images, timestamp=time.time_ns() // 1_000_000)


def queue_update(session_pk: int) -> Json:
    """The event with both queues as they are now (04 QU-05)."""
    texts: dict[str, list[str]] = {mode: [] for mode in QueuedMessage.Mode.values}
    for queued in QueuedMessage.objects.filter(session_id=session_pk):
        texts[queued.mode].append(queued.text)
    return {
        "type": "queue_update",
        "steering": texts[QueuedMessage.Mode.STEER],
        "followUp": texts[QueuedMessage.Mode.FOLLOW_UP],
    }


def tell_queue(session_pk: int) -> None:
    """After a change by a person: to the pages, and to whoever follows the run at work."""
    live.notify(session_pk, "queue")
    run = Run.objects.active().filter(session_id=session_pk).first()
    if run is not None:
        live.RunStream(run.pk, session_pk).add(queue_update(session_pk))
