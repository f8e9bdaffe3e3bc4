"""Celery's door to the runner: an id in, one call."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down

from sessions_app.runner.heartbeat import heartbeat
from sessions_app.runner.review_records import REPORT_TASK
from sessions_app.runner.review_reports import compute
from sessions_app.runner.starting import RUN_TASK
from sessions_app.runner.work import carry_out


@shared_task(name=RUN_TASK, ignore_result=True)  # type: ignore[untyped-decorator]
def run(run_id: int) -> None:
    """Carry out one run. A second delivery finds it claimed and does nothing."""
    carry_out(run_id)


@shared_task(name=REPORT_TASK, ignore_result=True)  # type: ignore[untyped-decorator]
def report(version_id: int) -> None:
    """Compute the quality report of one summary."""
    compute(version_id)


@worker_ready.connect  # type: ignore[untyped-decorator]
def begin_to_beat(**kwargs: Any) -> None:
    """The worker sweeps from its first moment, so that what a dead one left is closed."""
    heartbeat.start()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def let_runs_save(**kwargs: Any) -> None:
    """The threads pool ends no running task: each run is asked to save what it has and return."""
    heartbeat.shut_down()
