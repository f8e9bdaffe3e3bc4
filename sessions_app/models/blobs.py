"""Bytes kept by content hash, and the entries that refer to them."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


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
    entry = models.ForeignKey("Entry", on_delete=models.CASCADE, related_name="blob_uses")
    name = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["blob", "entry", "name"], name="one_use_per_entry")]

    def __str__(self) -> str:
        return self.name or str(self.blob_id)
