"""Keys for providers and links for signing in."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


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
