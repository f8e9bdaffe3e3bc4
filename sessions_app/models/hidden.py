"""Branches that a person has put out of sight: a mark on where they begin, beside the tree and never in it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F
from django.utils import timezone

from sessions_app.models.entries import Entry


class HiddenBranchQuerySet(models.QuerySet["HiddenBranch"]):
    def of_session(self, session_pk: int) -> HiddenBranchQuerySet:
        """ "+ 0": few entries are marked, and of a session there are many; its index is no way to find them."""
        return self.annotate(of=F("entry__session_id") + 0).filter(of=session_pk)


class HiddenBranch(models.Model):
    """The entry and everything below it; showing the branch again removes the row."""

    entry = models.OneToOneField(Entry, on_delete=models.CASCADE, related_name="hidden_branch")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = HiddenBranchQuerySet.as_manager()

    def __str__(self) -> str:
        return f"hidden from {self.entry_id}"
