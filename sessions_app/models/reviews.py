"""The review of what compactions and branch summaries left out: the thing in the list, its versions, who did what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

if TYPE_CHECKING:
    from sessions_app.models.workspaces import AnyUser


class ReviewQuerySet(models.QuerySet["CompactionReview"]):
    def visible_to(self, user: AnyUser) -> ReviewQuerySet:
        """Those of sessions in workspaces the user is a member of."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(session__workspace__in=user.memberships.values("workspace"))

    def may_review(self, user: AnyUser) -> ReviewQuerySet:
        """Those the user may approve and reject: where they are a reviewer or an admin."""
        if not user.is_authenticated:
            return self.none()
        roles = user.memberships.filter(role__in=["reviewer", "admin"])
        return self.filter(session__workspace__in=roles.values("workspace"))

    def waiting(self) -> ReviewQuerySet:
        """What a reviewer has to look at: unreviewed, in a workspace that asks for reviews; what holds a job anyway."""
        asked = Q(outcome="compacted") & ~Q(session__workspace__review_policy="off")
        return self.filter(asked | Q(outcome="waiting"), state=CompactionReview.State.UNREVIEWED)


class CompactionReview(models.Model):
    """One compaction, attempt at one, or branch summary, as the list shows it.

    The figures are those of the version in force, kept here so that a list needs no join but the session's.
    `coverage` is 0…100 or None until it is computed, `cost` US dollars, `risk` 0…100.
    """

    class Kind(models.TextChoices):
        COMPACTION = "compaction"
        BRANCH_SUMMARY = "branch_summary", "branch summary"

    class State(models.TextChoices):
        UNREVIEWED = "unreviewed"
        APPROVED = "approved"
        EDITED = "edited"
        REVERTED = "reverted"
        REJECTED = "rejected"

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="reviews")
    attempt = models.OneToOneField(
        "CompactionAttempt", on_delete=models.CASCADE, null=True, blank=True, related_name="review"
    )
    entry = models.OneToOneField(
        "Entry",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="review",
        help_text="The compaction or branch summary; none for an attempt that became nothing.",
    )
    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.COMPACTION)
    reason = models.CharField(max_length=10)
    outcome = models.CharField(max_length=12)
    state = models.CharField(max_length=12, choices=State.choices, default=State.UNREVIEWED)
    tokens_before = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_after = models.PositiveBigIntegerField(null=True, blank=True)
    cost = models.FloatField(default=0.0)
    coverage = models.FloatField(null=True, blank=True)
    missing = models.PositiveIntegerField(null=True, blank=True)
    own_missing = models.PositiveIntegerField(
        null=True, blank=True, help_text="Missing things that a person said."
    )
    unsupported = models.PositiveIntegerField(null=True, blank=True)
    risk = models.PositiveSmallIntegerField(default=0)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)
    decide_by = models.DateTimeField(
        null=True, blank=True, help_text="When a compaction that waits is decided by the workspace's default."
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        permissions = [
            ("review_compactionreview", "Can approve and reject compactions"),
            ("edit_compactionreview", "Can edit, regenerate and revert compactions"),
        ]
        indexes = [
            models.Index(fields=["-risk", "-id"], name="review_by_risk"),
            models.Index(fields=["state", "outcome"], name="review_by_state"),
            models.Index(fields=["created_at"], name="review_by_time"),
            models.Index(
                fields=["decide_by"],
                name="review_to_decide",
                condition=Q(outcome="waiting", state="unreviewed"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"

    @property
    def waits(self) -> bool:
        """A job stands still until it is approved or rejected."""
        return self.outcome == "waiting" and self.state == self.State.UNREVIEWED


class SummaryVersion(models.Model):
    """One wording of what stands for the replaced range, or (`originals`) the range itself.

    A candidate has no entry until it is chosen. Version 1 is what the compaction wrote. `summary` is without what is
    carried along; `first_kept` is the id of the boundary, empty for nothing kept above the compaction.
    """

    class Made(models.TextChoices):
        FIRST = "first"
        EDITED = "edited"
        RESTORED = "restored"
        REGENERATED = "regenerated"
        MOVED = "moved"
        REVERTED = "reverted"
        PINNED = "pinned"
        UNDONE = "undone"

    class Status(models.TextChoices):
        BEING_MADE = "being_made"
        FAILED = "failed"
        CANDIDATE = "candidate"
        DISCARDED = "discarded"
        APPLIED = "applied"

    review = models.ForeignKey(CompactionReview, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    made = models.CharField(max_length=12, choices=Made.choices, default=Made.FIRST)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.APPLIED)
    entry = models.ForeignKey("Entry", on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    run = models.ForeignKey("Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    based_on = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    why = models.CharField(max_length=500, default="", blank=True)
    instructions = models.TextField(default="", blank=True)
    provider = models.CharField(max_length=60, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
    summary = models.TextField(default="", blank=True)
    carried = models.TextField(
        default="", blank=True, help_text="The block of what is carried word for word."
    )
    details = models.TextField(default="", blank=True, help_text="JSON: the file lists stored with it.")
    originals = models.BooleanField(default=False)
    first_kept = models.CharField(max_length=200, default="", blank=True)
    tokens_after = models.PositiveBigIntegerField(null=True, blank=True)
    usage = models.TextField(default="", blank=True)
    duration_ms = models.PositiveIntegerField(default=0)
    error = models.TextField(default="", blank=True)
    coverage = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["review", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"version {self.number}"


class QualityReport(models.Model):
    """What was computed for a version: `content` is JSON (`review.report.Report`), empty until a worker has done it."""

    version = models.OneToOneField(SummaryVersion, on_delete=models.CASCADE, related_name="report")
    content = models.TextField(default="", blank=True)
    error = models.TextField(default="", blank=True)
    method = models.PositiveSmallIntegerField(
        default=0, help_text="Version of the method it was computed by."
    )
    asked_at = models.DateTimeField(default=timezone.now)
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["asked_at"], condition=Q(computed_at__isnull=True), name="report_to_compute")
        ]

    def __str__(self) -> str:
        return f"report on {self.version_id}"


class ReviewEvent(models.Model):
    """Who did what when: also comments, which are words on a line of the summary or on the whole."""

    class Act(models.TextChoices):
        COMMENTED = "commented"
        APPROVED = "approved"
        REJECTED = "rejected"
        EDITED = "edited"
        RESTORED = "restored"
        REGENERATED = "regenerated"
        CHOSEN = "chosen"
        MOVED = "moved"
        REVERTED = "reverted"
        PINNED = "pinned"
        UNDONE = "undone"

    review = models.ForeignKey(CompactionReview, on_delete=models.CASCADE, related_name="events")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    act = models.CharField(max_length=12, choices=Act.choices)
    words = models.TextField(default="", blank=True)
    line = models.PositiveIntegerField(null=True, blank=True, help_text="Line of the summary, from 1.")
    version = models.ForeignKey(SummaryVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.act} by {self.actor}"


class SummaryExchange(models.Model):
    """One request for a summary with its exact text, and what came back."""

    attempt = models.ForeignKey(
        "CompactionAttempt", on_delete=models.CASCADE, null=True, related_name="exchanges"
    )
    version = models.ForeignKey(SummaryVersion, on_delete=models.CASCADE, null=True, related_name="exchanges")
    position = models.PositiveIntegerField()
    stage = models.CharField(max_length=10)
    system = models.TextField()
    prompt = models.TextField()
    answer = models.TextField(
        default="", blank=True, help_text="JSON: the finished message, if there is one."
    )
    error = models.TextField(default="", blank=True)
    duration_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return f"{self.stage} request {self.position}"
