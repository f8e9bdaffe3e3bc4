"""The tree in rows: segments, entries and pins.

`Entry.payload` is text: the record's JSON, ASCII-escaped, exactly as written or imported (a JSON column would
reorder keys, change numbers and refuse NUL). Whatever is queried has a column of its own. An entry is
never updated or deleted while its session exists.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.json_text import parse_json


class Segment(models.Model):
    """A linear stretch of the tree. A fork starts a new one; parent ids stay the truth.

    The entries of a path are those of its segments up to the fork points, so a path is read as a few ranges.
    """

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="segments")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="forks")
    parent_ordinal = models.PositiveIntegerField(
        default=0, help_text="Ordinal of the fork's entry in the parent."
    )
    length = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"segment {self.pk}"


class Entry(models.Model):
    """One immutable node. Only (session, seq) is unique: imported files may repeat an id."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="entries")
    seq = models.PositiveIntegerField(help_text="1, 2, 3 … in the order of writing.")
    entry_id = models.CharField(max_length=200, default="", blank=True)
    raw_parent_id = models.TextField(null=True, blank=True, help_text="As written; may name nothing.")  # noqa: DJ001
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="entries")
    ordinal = models.PositiveIntegerField(help_text="Position in its segment, from 0.")
    depth = models.PositiveIntegerField(default=0, help_text="Entries above it on its path.")
    kind = models.CharField(max_length=60)
    role = models.CharField(max_length=30, default="", blank=True, help_text="Of a message.")
    face = models.CharField(
        max_length=1, default="z", help_text="What it looks like in the tree (core.faces)."
    )
    payload = models.TextField()
    tokens = models.PositiveIntegerField(default=0, help_text="Estimated size for the model.")
    used = models.PositiveBigIntegerField(default=0, help_text="Tokens it reports to have used.")
    cost = models.FloatField(default=0.0, help_text="US dollars it reports to have cost.")
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
            # With all that a drawing of the tree adds up, so that it reads no entry.
            models.Index(fields=["segment", "ordinal", "face", "used", "cost"], name="entry_by_segment"),
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


class Pin(models.Model):
    """An entry that is never lost to a summary: its text is carried on verbatim."""

    entry = models.OneToOneField(Entry, on_delete=models.CASCADE, related_name="pin")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    quote = models.TextField(
        default="", blank=True, help_text="The words that are carried; empty for all of the entry's."
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"pin on {self.entry_id}"
