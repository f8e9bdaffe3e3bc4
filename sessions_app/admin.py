"""The Django admin: for looking. Entries and runs can't be changed there, and keys are never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from sessions_app.admin_reviews import CompactionReviewAdmin
from sessions_app.models import Blob, Entry, Membership, ProviderKey, QueuedMessage, Run, Session, Workspace

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:
    ModelAdmin, TabularInline = admin.ModelAdmin, admin.TabularInline


class ReadOnly(ModelAdmin):
    """What only the product itself writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class MembershipInline(TabularInline):
    model = Membership
    extra = 1
    autocomplete_fields = ["user"]


@admin.register(Workspace)
class WorkspaceAdmin(ModelAdmin):
    list_display = ["name", "path", "review_policy", "created_at"]
    search_fields = ["name", "path"]
    fieldsets = [
        (None, {"fields": ["name", "path", "created_at"]}),
        (
            "Review of compactions",
            {"fields": ["review_policy", "review_above_tokens", "review_minutes", "review_default"]},
        ),
    ]
    inlines = [MembershipInline]

    def get_readonly_fields(self, request: HttpRequest, obj: Workspace | None = None) -> list[str]:
        # The folder is chosen in the product, where it is checked against the operator's roots.
        return ["path", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Session)
class SessionAdmin(ReadOnly):
    list_display = ["__str__", "workspace", "owner", "model", "tokens", "updated_at"]
    list_filter = ["workspace", "provider"]
    search_fields = ["name", "title", "file_id"]
    date_hierarchy = "created_at"


@admin.register(Entry)
class EntryAdmin(ReadOnly):
    list_display = ["session", "seq", "kind", "role", "tokens", "created_at"]
    list_filter = ["kind", "role"]
    search_fields = ["entry_id"]
    list_select_related = ["session"]


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ["session", "kind", "status", "model", "turns", "created_at", "ended_at"]
    list_filter = ["status", "kind"]
    list_select_related = ["session"]
    date_hierarchy = "created_at"


@admin.register(QueuedMessage)
class QueuedMessageAdmin(ReadOnly):
    list_display = ["session", "mode", "author", "created_at"]


@admin.register(Blob)
class BlobAdmin(ReadOnly):
    list_display = ["sha256", "size", "media_type", "created_at"]


@admin.register(ProviderKey)
class ProviderKeyAdmin(ReadOnly):
    list_display = ["provider", "user", "base_url", "updated_at"]
    fields = ["provider", "user", "base_url", "models_offered", "updated_at"]

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return ModelAdmin.has_delete_permission(self, request, obj)


__all__ = ["CompactionReviewAdmin"]
