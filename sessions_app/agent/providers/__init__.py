"""The providers by name. Each is imported when it is used, so a missing vendor library hurts only its users."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from sessions_app.agent.providers.base import Provider, ProviderError

PROVIDERS = {
    "anthropic": "sessions_app.agent.providers.anthropic.AnthropicProvider",
    "openai-compatible": "sessions_app.agent.providers.openai_compatible.OpenAICompatibleProvider",
    "demo": "sessions_app.agent.providers.demo.DemoProvider",
    "scripted": "sessions_app.agent.providers.scripted.ScriptedProvider",
}


def create_provider(name: str, *, api_key: str = "", base_url: str = "", **settings: Any) -> Provider:
    """A provider for one run. `base_url` empty means the service's own (for `scripted`: the script's file).

    `settings` are the provider's own keyword arguments. Raises ProviderError(kind="unknown_model") for a
    name nobody has, and kind="missing_key" where a key is needed and absent.
    """
    path = PROVIDERS.get(name)
    if path is None:
        known = ", ".join(sorted(PROVIDERS))
        raise ProviderError(f"There is no provider named {name!r}. Known: {known}.", kind="unknown_model")
    module, _, attribute = path.rpartition(".")
    factory = getattr(import_module(module), attribute)
    return cast("Provider", factory(api_key=api_key, base_url=base_url, **settings))
