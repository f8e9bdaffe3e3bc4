"""What a person says came of a branch: a mark on its tip, beside the tree and never in it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.models.entries import Entry


class OutcomeMark(models.Model):
    """At most one per entry; taking it away removes the row."""

    class Outcome(models.TextChoices):
        WORKED = "worked"
        DEAD_END = "dead_end"
        IN_PROGRESS = "in_progress"

    entry = models.OneToOneField(Entry, on_delete=models.CASCADE, related_name="outcome_mark")
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["worked", "dead_end", "in_progress"]), name="outcome_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.outcome} at {self.entry_id}"
