"""Who answers a run: the provider of its model, with the key its author may use."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from sessions_app import provider_keys
from sessions_app.agent.models_catalogue import ModelInfo
from sessions_app.agent.providers import create_provider
from sessions_app.agent.providers.base import Provider, ProviderError
from sessions_app.models import Run

Json = dict[str, Any]


class CannotStart(Exception):  # noqa: N818 - it reads as a sentence where it is raised
    """The run can't begin; the text says why and what to do. `kind` as in ProviderError."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def open_provider(run: Run, model: ModelInfo) -> Provider:
    """Raises CannotStart."""
    found = provider_keys.credentials(run.author, model.provider)
    if not found.usable_for(model.provider):
        label = provider_keys.LABELS.get(model.provider, model.provider)
        raise CannotStart(
            f"There is no key for {label}. Add one under “Models and keys”, or choose the demo model.",
            "missing_key",
        )
    options: Json = {"pace": settings.DEMO_PACE} if model.provider == "demo" else {}
    address = settings.SCRIPTED_PROVIDER_FILE if model.provider == "scripted" else found.base_url
    try:
        return create_provider(model.provider, api_key=found.api_key, base_url=address, **options)
    except ProviderError as error:
        raise CannotStart(str(error), error.kind) from error


def close_provider(provider: Provider) -> None:
    if hasattr(provider, "close"):
        provider.close()
