"""What is kept in the database, a file per noun; everything is imported from here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions_app.models.accounts import LoginLink, ProviderKey
from sessions_app.models.blobs import Blob, BlobUse
from sessions_app.models.compactions import CompactionAttempt
from sessions_app.models.entries import Entry, Pin, Segment, damaged_record
from sessions_app.models.hidden import HiddenBranch
from sessions_app.models.outcomes import OutcomeMark
from sessions_app.models.questions import Question
from sessions_app.models.reviews import (
    CompactionReview,
    QualityReport,
    ReviewEvent,
    ReviewQuerySet,
    SummaryExchange,
    SummaryVersion,
)
from sessions_app.models.runs import Command, QueuedMessage, Run, RunQuerySet
from sessions_app.models.search import SearchProgress
from sessions_app.models.sessions import Session, SessionQuerySet, ToolPreset
from sessions_app.models.shelf import Removal, ShelfMark
from sessions_app.models.workspaces import Membership, Workspace, WorkspaceQuerySet

if TYPE_CHECKING:
    from sessions_app.models.workspaces import AnyUser as AnyUser

__all__ = [
    "Blob",
    "BlobUse",
    "Command",
    "CompactionAttempt",
    "CompactionReview",
    "Entry",
    "HiddenBranch",
    "LoginLink",
    "Membership",
    "OutcomeMark",
    "Pin",
    "ProviderKey",
    "QualityReport",
    "Question",
    "QueuedMessage",
    "Removal",
    "ReviewEvent",
    "ReviewQuerySet",
    "Run",
    "RunQuerySet",
    "SearchProgress",
    "Segment",
    "Session",
    "SessionQuerySet",
    "ShelfMark",
    "SummaryExchange",
    "SummaryVersion",
    "ToolPreset",
    "Workspace",
    "WorkspaceQuerySet",
    "damaged_record",
]
