"""What an agent may do only when a person allows it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Question(models.Model):
    """May this call be carried out? Its run is `asking` until all questions of the batch have an answer."""

    class Answer(models.TextChoices):
        OPEN = ""
        ALLOW = "allow"
        ALLOW_RUN = "allow_run"  # this call and all later ones of its tool in the same run
        DENY = "deny"
        TIMED_OUT = "timed_out"
        STOPPED = "stopped"

    run = models.ForeignKey("Run", on_delete=models.CASCADE, related_name="questions")
    entry = models.ForeignKey(
        "Entry", on_delete=models.CASCADE, related_name="questions", help_text="The message with the calls."
    )
    position = models.PositiveIntegerField(help_text="Of the call among those of its message, from 0.")
    tool = models.CharField(max_length=200)
    arguments = models.TextField(help_text="JSON: as the tool would get them.")
    preview = models.TextField(default="", blank=True, help_text="JSON: what the call would change.")
    answer = models.CharField(max_length=10, choices=Answer.choices, default=Answer.OPEN, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    answered_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["entry", "position"], name="one_question_per_call"),
        ]
        indexes = [models.Index(fields=["expires_at"], name="question_to_expire", condition=Q(answer=""))]
        ordering = ["entry", "position"]

    def __str__(self) -> str:
        return f"{self.tool}: {self.answer or 'open'}"
