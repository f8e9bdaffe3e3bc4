"""Every attempt to compact, whatever came of it."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class CompactionAttempt(models.Model):
    """One attempt to compact, whatever came of it: what was paid, what it gained, and whether it ends automatic ones."""

    class Reason(models.TextChoices):
        MANUAL = "manual"
        THRESHOLD = "threshold"
        OVERFLOW = "overflow"
        IMPORTED = "imported"

    class Outcome(models.TextChoices):
        STARTED = "started"
        # The summary is written and waits for a reviewer; the run is left meanwhile.
        WAITING = "waiting"
        COMPACTED = "compacted"
        NOTHING = "nothing"
        NOT_SMALLER = "not_smaller"
        FAILED = "failed"
        CANCELLED = "cancelled"
        REFUSED = "refused"
        REJECTED = "rejected"

    class Place(models.TextChoices):
        """Where in its run a compaction is made."""

        OPENING = "opening", "before the first request"
        TURN = "turn", "before a further request"
        ENDING = "ending", "after the last answer"

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="compaction_attempts")
    run = models.ForeignKey("Run", on_delete=models.SET_NULL, null=True, related_name="compaction_attempts")
    leaf = models.ForeignKey(
        "Entry", on_delete=models.CASCADE, null=True, related_name="+", help_text="Where it was made."
    )
    entry = models.ForeignKey(
        "Entry", on_delete=models.CASCADE, null=True, related_name="+", help_text="The compaction it became."
    )
    reason = models.CharField(max_length=10, choices=Reason.choices)
    instructions = models.TextField(default="", blank=True)
    provider = models.CharField(max_length=60)
    model = models.CharField(max_length=200)
    settings = models.TextField(help_text="JSON: window, reserveTokens and keepRecentTokens in force.")
    range_first = models.PositiveIntegerField(
        null=True,
        help_text="Depth of the first entry that is replaced; the last is the one above `range_end`.",
    )
    range_end = models.PositiveIntegerField(null=True)
    replaced = models.PositiveIntegerField(default=0, help_text="Messages that are summarised.")
    first_kept = models.CharField(max_length=200, default="", blank=True)
    splits_span = models.BooleanField(null=True)
    carried = models.TextField(default="", blank=True, help_text="The block that is carried word for word.")
    file_lists = models.TextField(default="", blank=True, help_text="JSON: readFiles and modifiedFiles.")
    retries = models.PositiveIntegerField(default=0)
    tokens_before = models.PositiveBigIntegerField(default=0)
    tokens_after = models.PositiveBigIntegerField(null=True)
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.STARTED)
    halts = models.TextField(
        default="", blank=True, help_text="Why no automatic attempt follows on this branch; empty if one may."
    )
    error = models.TextField(default="", blank=True)
    usage = models.TextField(default="", blank=True, help_text="JSON: what all its requests used.")
    from_hook = models.BooleanField(default=False, help_text="An extension wrote the summary.")
    place = models.CharField(max_length=8, choices=Place.choices, default="", blank=True)
    held_at = models.DateTimeField(null=True, blank=True, help_text="Since when it waits for a reviewer.")
    duration_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["session", "-id"], name="attempt_by_session")]

    def __str__(self) -> str:
        return f"{self.reason}: {self.outcome}"
