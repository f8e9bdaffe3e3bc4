"""How far each session has been read for the search; the words themselves are in a table each database has its own way."""

from __future__ import annotations

from django.db import models


class SearchProgress(models.Model):
    """Entries up to `seq` can be found. The table `entry_words` is written by `search_index` alone."""

    session = models.OneToOneField(
        "Session", on_delete=models.CASCADE, related_name="search_progress", primary_key=True
    )
    seq = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "search progress"

    def __str__(self) -> str:
        return f"session {self.session_id} up to {self.seq}"
