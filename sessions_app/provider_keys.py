"""Keys and addresses of providers: from the environment, the server's or a user's own; encrypted, never shown again."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from sessions_app.models import ProviderKey

LABELS = {"anthropic": "Anthropic", "openai-compatible": "OpenAI-compatible server"}
KEYLESS = frozenset({"demo", "scripted"})


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a provider is made with. An openai-compatible server may need no key."""

    api_key: str
    base_url: str
    models: tuple[str, ...] = ()

    def usable_for(self, provider: str) -> bool:
        if provider in KEYLESS:
            return True
        return bool(self.base_url) if provider == "openai-compatible" else bool(self.api_key)


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """What the settings page may say of a key. `source` is environment, yours, server or empty (none)."""

    provider: str
    label: str
    source: str
    base_url: str
    models_offered: str
    has_secret: bool


def save_key(
    *, user: Any, provider: str, secret: str | None = None, base_url: str = "", models_offered: str = ""
) -> ProviderKey:
    """Keep a key for a user, or with `user=None` for the server. `secret=None` leaves the old one."""
    key, _ = ProviderKey.objects.get_or_create(user=user, provider=provider)
    if secret is not None:
        key.secret = _cipher().encrypt(secret.encode()).decode() if secret else ""
    key.base_url, key.models_offered, key.updated_at = base_url, models_offered, timezone.now()
    key.save()
    return key


def delete_key(*, user: Any, provider: str) -> bool:
    """Forget it; False when there was none."""
    deleted, _ = ProviderKey.objects.filter(user=user, provider=provider).delete()
    return bool(deleted)


def key_status(user: Any) -> list[KeyStatus]:
    """One for each provider that wants a key or an address, as this user would use it."""
    return [_status(user, provider) for provider in LABELS]


def credentials(user: Any, provider: str) -> Credentials:
    """The user's own key, else the server's, else the environment's (06 §6 has the same order)."""
    row = _row(user, provider)
    environment = Credentials(
        settings.PROVIDER_KEYS.get(provider, ""),
        settings.PROVIDER_BASE_URLS.get(provider, ""),
        tuple(settings.OPENAI_COMPATIBLE_MODELS) if provider == "openai-compatible" else (),
    )
    if row is None:
        return environment
    offered = tuple(line.strip() for line in row.models_offered.splitlines() if line.strip())
    # A key must only travel to the address it was entered for: a row with its own address brings its own key.
    api_key = _decrypted(row) or ("" if row.base_url else environment.api_key)
    return Credentials(api_key, row.base_url or environment.base_url, offered or environment.models)


def _status(user: Any, provider: str) -> KeyStatus:
    row = _row(user, provider)
    found = credentials(user, provider)
    source = ""
    if row is not None:
        source = "yours" if row.user_id is not None else "server"
    elif found.usable_for(provider):
        source = "environment"
    return KeyStatus(
        provider,
        LABELS[provider],
        source,
        found.base_url,
        "\n".join(found.models),
        has_secret=bool(found.api_key),
    )


def _row(user: Any, provider: str) -> ProviderKey | None:
    """The user's own row before the server's."""
    wanted = ProviderKey.objects.filter(provider=provider)
    if user is None:
        return wanted.filter(user=None).first()
    rows = {row.user_id: row for row in wanted.filter(Q(user=user) | Q(user=None))}
    return rows.get(user.pk) or rows.get(None)


def _decrypted(row: ProviderKey) -> str:
    """Empty when the server's secret key has changed since: the key has to be entered again."""
    if not row.secret:
        return ""
    try:
        return _cipher().decrypt(row.secret.encode()).decode()
    except InvalidToken:
        return ""


def _cipher() -> Fernet:
    digest = hashlib.sha256(b"provider keys " + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
