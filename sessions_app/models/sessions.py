"""A conversation: its workspace, its owner and the leaf that the next entry hangs from."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone

from sessions_app.models.workspaces import Membership

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from sessions_app.models.workspaces import AnyUser


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, user: AnyUser) -> SessionQuerySet:
        """Sessions of the workspaces the user is a member of; deleted ones are seen by nobody."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(workspace__memberships__user=user, shelf__deleted_at=None).distinct()

    def may_edit(self, user: AnyUser) -> SessionQuerySet:
        """Those the user may prompt, stop, move and rename."""
        if not user.is_authenticated:
            return self.none()
        return self.in_the_hands_of(user).filter(shelf__deleted_at=None)

    def deleted(self, user: AnyUser) -> SessionQuerySet:
        """Deleted ones that the user may bring back."""
        if not user.is_authenticated:
            return self.none()
        return self.in_the_hands_of(user).filter(shelf__deleted_at__isnull=False)

    def in_the_hands_of(self, user: User) -> SessionQuerySet:
        """Of workspaces in which the user is no mere viewer, deleted or not."""
        return self.filter(
            workspace__memberships__user=user, workspace__memberships__role__in=Membership.EDITING
        ).distinct()


class ToolPreset(models.TextChoices):
    """The names of `agent.tool_presets`, with what people read."""

    ALL = "all", "All"
    EDIT = "edit", "Edit"
    READ_ONLY = "read_only", "Read only"
    ASK = "ask", "Ask first"


class Session(models.Model):
    """One conversation: a tree of entries and the leaf the next one hangs from."""

    key = models.UUIDField(
        default=uuid.uuid4, unique=True, editable=False, help_text="Its name in addresses."
    )
    file_id = models.CharField(max_length=200, help_text="The id in the session file's header.")
    header = models.TextField(default="", blank=True, help_text="The imported header line, as it came.")
    workspace = models.ForeignKey("Workspace", on_delete=models.PROTECT, related_name="sessions")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="sessions")
    name = models.CharField(
        max_length=300, default="", blank=True, help_text="The newest session_info's name."
    )
    title = models.CharField(
        max_length=300, default="", blank=True, help_text="First words, until it has a name."
    )
    # A pointer, not a copy: it may stand on an inner entry after going back (01 ST-05, stored so that it survives).
    leaf = models.ForeignKey("Entry", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    next_seq = models.PositiveIntegerField(default=1)
    provider = models.CharField(max_length=60, default="demo")
    model = models.CharField(max_length=200, default="demo")
    thinking_level = models.CharField(max_length=10, default="off")
    tool_preset = models.CharField(
        max_length=10, choices=ToolPreset.choices, default=ToolPreset.ALL, help_text="What its agent may do."
    )
    tokens = models.BigIntegerField(default=0, help_text="Tokens used over all branches.")
    cost = models.FloatField(default=0.0, help_text="US dollars over all branches.")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = SessionQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["workspace", "-updated_at"])]

    def __str__(self) -> str:
        return self.name or self.title or "New session"
