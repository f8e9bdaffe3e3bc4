"""Background work on a session, what waits for it, and commands already carried out."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class RunQuerySet(models.QuerySet["Run"]):
    def active(self) -> RunQuerySet:
        """Those at work on their session; a person's own commands run beside them and do not count."""
        return self.filter(status__in=Run.ACTIVE).exclude(kind=Run.Kind.COMMAND)

    def of_agents(self) -> RunQuerySet:
        """All but a person's own commands."""
        return self.exclude(kind=Run.Kind.COMMAND)


class Run(models.Model):
    """One piece of background work on a session; at most one is active per session."""

    class Kind(models.TextChoices):
        PROMPT = "prompt"
        COMPACTION = "compaction"
        BRANCH_SUMMARY = "branch_summary"
        # A person's own `!` command; any number of them, beside the one active run.
        COMMAND = "command"

    class Status(models.TextChoices):
        # Begins by itself when the active run of its session has ended; not active itself.
        WAITING = "waiting"
        QUEUED = "queued"
        RUNNING = "running"
        # Left by its worker until a person has answered what the agent may do.
        ASKING = "asking"
        # Left by its worker until the summary it is about to use has been reviewed.
        REVIEWING = "reviewing"
        COMPLETED = "completed"
        STOPPED = "stopped"
        FAILED = "failed"
        INTERRUPTED = "interrupted"
        LIMITED = "limited"

    LEFT = (Status.ASKING, Status.REVIEWING)
    """Given back by their worker because they wait for a person."""
    ACTIVE = (Status.QUEUED, Status.RUNNING, *LEFT)

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.PROMPT)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.QUEUED)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    provider = models.CharField(max_length=60, default="demo")
    model = models.CharField(max_length=200, default="demo")
    marker = models.CharField(
        max_length=40, default="", help_text="In the environment of every process it starts."
    )
    owner = models.CharField(
        max_length=80, default="", blank=True, help_text="Token of the worker that claimed it."
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    enqueued_at = models.DateTimeField(default=timezone.now)
    stop_requested = models.BooleanField(default=False)
    stop_author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # The unfinished answer, never 2 s old: what is shown and kept should the worker and the stream both die.
    checkpoint = models.TextField(default="", blank=True)
    output = models.TextField(
        default="", blank=True, help_text="Of a command that runs: the end of what it printed."
    )
    held = models.TextField(
        default="", blank=True, help_text="JSON: a command's result that waits for the active run to end."
    )
    error = models.TextField(default="", blank=True)
    error_kind = models.CharField(max_length=30, default="", blank=True)
    request = models.TextField(
        default="", blank=True, help_text="JSON: what a compaction or a branch summary was asked for."
    )
    waited_ms = models.PositiveBigIntegerField(
        default=0, help_text="For answers and reviews of people; does not count towards the ceiling of time."
    )
    max_turns = models.PositiveIntegerField(null=True, blank=True)
    max_seconds = models.PositiveIntegerField(null=True, blank=True)
    max_cost = models.FloatField(null=True, blank=True)
    turns = models.PositiveIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    cost = models.FloatField(default=0.0)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(status__in=["queued", "running", "asking", "reviewing"]) & ~Q(kind="command"),
                name="one_active_run_per_session",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=[
                        "waiting",
                        "queued",
                        "running",
                        "asking",
                        "reviewing",
                        "completed",
                        "stopped",
                        "failed",
                        "interrupted",
                        "limited",
                    ]
                ),
                name="run_status_known",
            ),
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="run_by_lease")]

    def __str__(self) -> str:
        return f"{self.kind} run {self.pk}: {self.status}"

    @property
    def is_active(self) -> bool:
        return self.status in self.ACTIVE


class QueuedMessage(models.Model):
    """What a person said while a run was active. Its row goes in the transaction that stores its entry.

    Of mode NEXT_TURN: it waits for the person's next words and is said with them (04 QU-06).
    """

    class Mode(models.TextChoices):
        STEER = "steer"
        FOLLOW_UP = "follow_up"
        NEXT_TURN = "next_turn"

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="queue")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.STEER)
    text = models.TextField()
    images = models.TextField(default="", blank=True, help_text="JSON list of image blocks.")
    position = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return f"{self.mode}: {self.text[:40]}"


class Command(models.Model):
    """A command already carried out, by its idempotency key, so that a repeated POST does nothing twice."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=80)
    result = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_result_per_command")]

    def __str__(self) -> str:
        return self.key
