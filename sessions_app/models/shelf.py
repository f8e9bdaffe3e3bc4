"""What is put away: archived and deleted sessions, and the log of what was removed for good."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class ShelfMark(models.Model):
    """A session that was archived or deleted; both can be taken back. Without a mark it is neither."""

    session = models.OneToOneField(
        "Session", on_delete=models.CASCADE, related_name="shelf", primary_key=True
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        indexes = [models.Index(fields=["deleted_at"], name="shelf_by_deletion")]

    def __str__(self) -> str:
        return f"{self.session_id}: {'deleted' if self.deleted_at else 'archived'}"


class Removal(models.Model):
    """The log of what was removed for good: a text that was erased, or a whole session. Never the text itself."""

    class What(models.TextChoices):
        ENTRY = "entry"
        SESSION = "session"

    what = models.CharField(max_length=10, choices=What.choices)
    workspace = models.ForeignKey("Workspace", on_delete=models.SET_NULL, null=True, related_name="removals")
    session_key = models.UUIDField()
    seq = models.PositiveIntegerField(null=True, blank=True, help_text="Of the erased entry.")
    reason = models.CharField(max_length=300, default="", blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.what} {self.seq or ''} of {self.session_key}"
