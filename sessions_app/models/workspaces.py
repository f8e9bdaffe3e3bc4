"""Folders in which agents work, and who may do what there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    AnyUser = User | AnonymousUser


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def visible_to(self, user: AnyUser) -> WorkspaceQuerySet:
        """Those the user is a member of, in whatever role."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(memberships__user=user).distinct()

    def may_edit(self, user: AnyUser) -> WorkspaceQuerySet:
        """Those in which the user may start sessions and prompt agents: everybody but viewers."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(memberships__user=user, memberships__role__in=Membership.EDITING).distinct()


class Workspace(models.Model):
    """A folder on the server in which agents work, and the people who may see it."""

    class Policy(models.TextChoices):
        OFF = "off", "compactions are not reviewed"
        AFTER = "after", "compactions are listed for review"
        BEFORE = "before", "automatic compactions wait for approval"

    class Unreviewed(models.TextChoices):
        """What is done with a compaction that nobody has decided on in time."""

        APPROVE = "approve", "use the summary"
        REJECT = "reject", "go on without it"

    name = models.CharField(max_length=120)
    path = models.TextField(help_text="Absolute real path of the folder.", unique=True)
    review_policy = models.CharField(max_length=6, choices=Policy.choices, default=Policy.AFTER)
    review_above_tokens = models.PositiveIntegerField(
        default=0, help_text="Automatic compactions of a context larger than this wait for approval."
    )
    review_minutes = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1)], help_text="How long a job waits for a reviewer."
    )
    review_default = models.CharField(
        max_length=8,
        choices=Unreviewed.choices,
        default=Unreviewed.APPROVE,
        help_text="What is done when nobody has decided by then.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = WorkspaceQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """What one user may do in one workspace."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        MEMBER = "member"
        REVIEWER = "reviewer"
        ADMIN = "admin"

    EDITING = (Role.MEMBER, Role.REVIEWER, Role.ADMIN)

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.MEMBER)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_per_user"),
            models.CheckConstraint(
                condition=Q(role__in=["viewer", "member", "reviewer", "admin"]), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}: {self.role}"
