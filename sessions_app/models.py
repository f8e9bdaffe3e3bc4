"""The tree in rows: workspaces, sessions, segments, entries, runs, queues and blobs.

`Entry.payload` is text: the record's JSON, ASCII-escaped, exactly as written or imported (a JSON column would
reorder keys, change numbers and refuse NUL). Whatever is queried has a column of its own. An entry is
never updated or deleted while its session exists.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.json_text import parse_json

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

    name = models.CharField(max_length=120)
    path = models.TextField(help_text="Absolute real path of the folder.", unique=True)
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


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, user: AnyUser) -> SessionQuerySet:
        """Sessions of the workspaces the user is a member of."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(workspace__memberships__user=user).distinct()

    def may_edit(self, user: AnyUser) -> SessionQuerySet:
        """Those the user may prompt, stop, move and rename."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(
            workspace__memberships__user=user, workspace__memberships__role__in=Membership.EDITING
        ).distinct()


class Session(models.Model):
    """One conversation: a tree of entries and the leaf the next one hangs from."""

    key = models.UUIDField(
        default=uuid.uuid4, unique=True, editable=False, help_text="Its name in addresses."
    )
    file_id = models.CharField(max_length=200, help_text="The id in the session file's header.")
    header = models.TextField(default="", blank=True, help_text="The imported header line, as it came.")
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="sessions")
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
    tokens = models.BigIntegerField(default=0, help_text="Tokens used over all branches.")
    cost = models.FloatField(default=0.0, help_text="US dollars over all branches.")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = SessionQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["workspace", "-updated_at"])]

    def __str__(self) -> str:
        return self.name or self.title or "New session"


class Segment(models.Model):
    """A linear stretch of the tree. A fork starts a new one; parent ids stay the truth.

    The entries of a path are those of its segments up to the fork points, so a path is read as a few ranges.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="segments")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="forks")
    parent_ordinal = models.PositiveIntegerField(
        default=0, help_text="Ordinal of the fork's entry in the parent."
    )
    length = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"segment {self.pk}"


class Entry(models.Model):
    """One immutable node. Only (session, seq) is unique: imported files may repeat an id."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="entries")
    seq = models.PositiveIntegerField(help_text="1, 2, 3 … in the order of writing.")
    entry_id = models.CharField(max_length=200, default="", blank=True)
    raw_parent_id = models.TextField(null=True, blank=True, help_text="As written; may name nothing.")  # noqa: DJ001
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="entries")
    ordinal = models.PositiveIntegerField(help_text="Position in its segment, from 0.")
    depth = models.PositiveIntegerField(default=0, help_text="Entries above it on its path.")
    kind = models.CharField(max_length=60)
    role = models.CharField(max_length=30, default="", blank=True, help_text="Of a message.")
    payload = models.TextField()
    tokens = models.PositiveIntegerField(default=0, help_text="Estimated size for the model.")
    # Facts that reach further back than the active context, carried along so that nothing has to be searched:
    # the newest compaction, model and thinking level at or above this entry, by seq.
    compaction_seq = models.PositiveIntegerField(null=True)
    model_seq = models.PositiveIntegerField(null=True)
    thinking_seq = models.PositiveIntegerField(null=True)
    # Of a compaction: the first entry it keeps, when that lies above it on its path.
    kept_seq = models.PositiveIntegerField(null=True)
    run = models.ForeignKey("Run", on_delete=models.SET_NULL, null=True, related_name="entries")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "seq"], name="one_entry_per_seq")]
        indexes = [
            models.Index(fields=["session", "entry_id"], name="entry_by_id"),
            models.Index(fields=["session", "kind"], name="entry_by_kind"),
            models.Index(fields=["segment", "ordinal"], name="entry_by_segment"),
        ]
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return f"{self.kind} {self.entry_id}"

    @property
    def record(self) -> dict[str, Any]:
        """The raw record, as in a session file."""
        try:
            value = parse_json(self.payload)
        except ValueError:
            value = None
        return value if isinstance(value, dict) else damaged_record(self.seq)

    def as_core(self) -> CoreEntry:
        return CoreEntry(self.record, self.seq)


def damaged_record(seq: int) -> dict[str, Any]:
    """In place of a payload that can't be read: bookkeeping that says nothing, so that one row bricks no session."""
    return {"type": "custom", "id": f"damaged-{seq}", "parentId": None, "customType": "damaged"}


class RunQuerySet(models.QuerySet["Run"]):
    def active(self) -> RunQuerySet:
        return self.filter(status__in=Run.ACTIVE)


class Run(models.Model):
    """One piece of background work on a session; at most one is active per session."""

    class Kind(models.TextChoices):
        PROMPT = "prompt"
        COMPACTION = "compaction"
        BRANCH_SUMMARY = "branch_summary"

    class Status(models.TextChoices):
        # Begins by itself when the active run of its session has ended; not active itself.
        WAITING = "waiting"
        QUEUED = "queued"
        RUNNING = "running"
        COMPLETED = "completed"
        STOPPED = "stopped"
        FAILED = "failed"
        INTERRUPTED = "interrupted"
        LIMITED = "limited"

    ACTIVE = (Status.QUEUED, Status.RUNNING)

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="runs")
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
    error = models.TextField(default="", blank=True)
    error_kind = models.CharField(max_length=30, default="", blank=True)
    request = models.TextField(
        default="", blank=True, help_text="JSON: what a compaction or a branch summary was asked for."
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
                condition=Q(status__in=["queued", "running"]),
                name="one_active_run_per_session",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=[
                        "waiting",
                        "queued",
                        "running",
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


class CompactionAttempt(models.Model):
    """One attempt to compact, whatever came of it: what was paid, what it gained, and whether it ends automatic ones."""

    class Reason(models.TextChoices):
        MANUAL = "manual"
        THRESHOLD = "threshold"
        OVERFLOW = "overflow"

    class Outcome(models.TextChoices):
        STARTED = "started"
        COMPACTED = "compacted"
        NOTHING = "nothing"
        NOT_SMALLER = "not_smaller"
        FAILED = "failed"
        CANCELLED = "cancelled"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="compaction_attempts")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="compaction_attempts")
    leaf = models.ForeignKey(
        Entry, on_delete=models.CASCADE, null=True, related_name="+", help_text="Where it was made."
    )
    entry = models.ForeignKey(
        Entry, on_delete=models.CASCADE, null=True, related_name="+", help_text="The compaction it became."
    )
    reason = models.CharField(max_length=10, choices=Reason.choices)
    instructions = models.TextField(default="", blank=True)
    provider = models.CharField(max_length=60)
    model = models.CharField(max_length=200)
    settings = models.TextField(help_text="JSON: window, reserveTokens and keepRecentTokens in force.")
    tokens_before = models.PositiveBigIntegerField(default=0)
    tokens_after = models.PositiveBigIntegerField(null=True)
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.STARTED)
    halts = models.TextField(
        default="", blank=True, help_text="Why no automatic attempt follows on this branch; empty if one may."
    )
    error = models.TextField(default="", blank=True)
    usage = models.TextField(default="", blank=True, help_text="JSON: what all its requests used.")
    duration_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["session", "-id"], name="attempt_by_session")]

    def __str__(self) -> str:
        return f"{self.reason}: {self.outcome}"


class Pin(models.Model):
    """An entry that is never lost to a summary: its text is carried on verbatim."""

    entry = models.OneToOneField(Entry, on_delete=models.CASCADE, related_name="pin")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"pin on {self.entry_id}"


class QueuedMessage(models.Model):
    """What a person said while a run was active. Its row goes in the transaction that stores its entry."""

    class Mode(models.TextChoices):
        STEER = "steer"
        FOLLOW_UP = "follow_up"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="queue")
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


class Blob(models.Model):
    """Bytes kept by content hash in the data directory: images and full tool outputs."""

    sha256 = models.CharField(max_length=64, unique=True)
    size = models.PositiveBigIntegerField()
    media_type = models.CharField(max_length=100, default="application/octet-stream")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.sha256[:12]


class BlobUse(models.Model):
    """Which entry refers to which blob: who may download it, and when it may be collected."""

    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="uses")
    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="blob_uses")
    name = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["blob", "entry", "name"], name="one_use_per_entry")]

    def __str__(self) -> str:
        return self.name or str(self.blob_id)


class ProviderKey(models.Model):
    """A key for a provider, of one user or (user empty) of the server; encrypted, never shown again."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="provider_keys",
    )
    provider = models.CharField(max_length=60)
    secret = models.TextField(default="", blank=True, help_text="Fernet token.")
    base_url = models.URLField(max_length=500, default="", blank=True)
    models_offered = models.TextField(
        default="", blank=True, help_text="Model ids, one a line (openai-compatible)."
    )
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "provider"], name="one_key_per_user_and_provider"),
            models.UniqueConstraint(
                fields=["provider"], condition=Q(user__isnull=True), name="one_server_key_per_provider"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} key"


class LoginLink(models.Model):
    """A one-time sign-in link; only the hash of its token is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="login_links")
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"link for {self.user}"
