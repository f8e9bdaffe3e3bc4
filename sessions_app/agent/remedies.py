"""What a failed request means and what to do about it, for each `kind` of a ProviderError."""

from __future__ import annotations

_REMEDIES = {
    "auth": "The provider does not accept the key. Enter another one under “Models and keys”, or choose another model, then continue.",
    "unknown_model": "The provider does not know this model. Choose another one, then continue.",
    "overflow": "This is more than the model can read at once. Go back to an earlier message and say it with less, or choose a model with a larger context.",
    "rate_limit": "The provider wants fewer requests. Wait a moment, then continue.",
    "quota": "The account at the provider has nothing left. Add credit there, or choose another model, then continue.",
    "overloaded": "The provider has too much to do right now. Wait a moment, or choose another model, then continue.",
    "network": "The provider can't be reached. Check the network and, under “Models and keys”, the provider's address, then continue.",
    "timeout": "The provider was silent for too long. Wait a moment, then continue.",
    "bad_request": "The provider does not accept this request. Choose another model, or go back to an earlier message.",
    "server": "The provider failed. Wait a moment, or choose another model, then continue.",
    "refused": "Say it in other words, or choose another model.",
    "protocol": "The answer broke off. Continue to ask again.",
}


def remedy_of(kind: str) -> str:
    """One or two sentences; empty for kinds whose own words hold the remedy already."""
    return _REMEDIES.get(kind, "")
