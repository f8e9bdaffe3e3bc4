"""One thread per worker process keeps its runs alive: leases, checkpoints, stop requests, and the sweep."""

from __future__ import annotations

import json
import logging
import threading
import time
from datetime import datetime

from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from sessions_app import live
from sessions_app.models import Run
from sessions_app.runner import recovery, review_reports
from sessions_app.runner.active_run import WORKER, ActiveRun, lease
from sessions_app.runner.purging import purge_sweep
from sessions_app.transactions import write_transaction

logger = logging.getLogger(__name__)

# A death may cost two seconds of text when the broker dies too. The checkpoint is then what there is: as old as the
# last beat, and a beat takes its time.
BEAT_SECONDS = 1.5


class Heartbeat:
    """Knows the runs of this process. Starts with the first one and beats every `BEAT_SECONDS`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[int, ActiveRun] = {}
        self._saved: dict[int, int] = {}
        self._thread: threading.Thread | None = None
        self._listener: live.StopListener | None = None
        self.shutting_down = False

    def add(self, active: ActiveRun) -> None:
        with self._lock:
            self._runs[active.run.pk] = active
        self.start()
        if self.shutting_down:
            active.stop.request("shutdown")

    def remove(self, active: ActiveRun) -> None:
        with self._lock:
            self._runs.pop(active.run.pk, None)
            self._saved.pop(active.run.pk, None)

    def start(self) -> None:
        """Begin to beat; also called when the worker is ready, so that it sweeps before its first run."""
        with self._lock:
            if self._thread is None:
                self._listener = live.StopListener(self.stop_run)
                self._listener.start()
                self._thread = threading.Thread(target=self._beat_forever, name="heartbeat", daemon=True)
                self._thread.start()

    def stop_run(self, run_id: int) -> None:
        """A person asked for it: within milliseconds when the broker carries the word, else with the next beat."""
        with self._lock:
            active = self._runs.get(run_id)
        if active is not None:
            active.stop.request("stopped")

    def shut_down(self) -> None:
        """The worker is told to go: every run saves what it has and ends as interrupted."""
        self.shutting_down = True
        with self._lock:
            runs = list(self._runs.values())
        for active in runs:
            active.stop.request("shutdown")

    def active_count(self) -> int:
        with self._lock:
            return len(self._runs)

    def _beat_forever(self) -> None:
        began = time.monotonic()
        while True:
            time.sleep(max(0.1, began + BEAT_SECONDS - time.monotonic()))
            began = time.monotonic()
            try:
                close_old_connections()
                self.beat()
                recovery.sweep()
                review_reports.sweep_reports()
                purge_sweep.look()
            except DatabaseError:
                logger.warning("the database did not take a heartbeat", exc_info=True)
            except (
                Exception
            ):  # the heart must not stop: without it every run of this worker is taken for dead
                logger.exception("heartbeat failed")

    def beat(self) -> None:
        """Renew every lease and save what the answers have grown to; a run that is no longer ours is stopped."""
        with self._lock:
            runs = list(self._runs.values())
        if not runs:
            return
        until = timezone.now() + lease()
        news = self._news(runs)
        ours = Run.objects.filter(owner=WORKER, status=Run.Status.RUNNING)
        quiet = [active.run.pk for active in runs if active.run.pk not in news]
        with write_transaction():
            # Each row is written once: after a second time PostgreSQL would check its session, which somebody may hold.
            renewed = _renew(until, news)
            renewed += ours.filter(pk__in=quiet).update(lease_until=until) if quiet else 0
        kept = set(ours.values_list("pk", flat=True)) if renewed < len(runs) else None
        asked = Run.objects.filter(pk__in=[active.run.pk for active in runs], stop_requested=True)
        for run_id in asked.values_list("pk", flat=True):
            self.stop_run(run_id)
        for active in runs:
            if kept is not None and active.run.pk not in kept:
                active.stop.request("lease lost")

    def _news(self, runs: list[ActiveRun]) -> dict[int, str]:
        """The checkpoint of each run whose answer has grown since the last beat, or is over."""
        news = {}
        for active in runs:
            version = active.partial.version
            if version != self._saved.get(active.run.pk):
                self._saved[active.run.pk] = version
                unfinished = active.partial.unfinished()
                news[active.run.pk] = json.dumps(unfinished) if unfinished else ""
        return news


def _renew(until: datetime, checkpoints: dict[int, str]) -> int:
    """The number of rows that are still ours. One prepared statement: many answers grow at once."""
    if not checkpoints:
        return 0
    table = connection.ops.quote_name(Run._meta.db_table)
    statement = (
        f"UPDATE {table} SET checkpoint = %s, lease_until = %s "  # noqa: S608 - our own name
        "WHERE id = %s AND owner = %s AND status = %s"
    )
    moment = connection.ops.adapt_datetimefield_value(until)
    rows = [(text, moment, pk, WORKER, str(Run.Status.RUNNING)) for pk, text in checkpoints.items()]
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)
        return int(cursor.rowcount)


heartbeat = Heartbeat()
