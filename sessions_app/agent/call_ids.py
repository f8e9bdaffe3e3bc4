"""Tool call ids as providers accept them: few characters, limited length, each used once in a request."""

from __future__ import annotations

import hashlib
import re

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_OF = {"anthropic": 64}
_LONGEST = 40  # what the narrowest of the compatible services accept


class CallIds:
    """The ids of one request, asked for in order. The same history always gives the same ids (04 §4)."""

    def __init__(self, provider: str) -> None:
        self._longest = _LONGEST_OF.get(provider, _LONGEST)
        self._used: set[str] = set()

    def unique(self, given: str) -> str:
        """`given`, made well formed and, if it was asked for before, made different."""
        plain = self._well_formed(given)
        candidate, number = plain, 2
        while candidate in self._used:
            suffix = f"_{number}"
            candidate = plain[: self._longest - len(suffix)] + suffix
            number += 1
        self._used.add(candidate)
        return candidate

    def _well_formed(self, given: str) -> str:
        plain = _NOT_ALLOWED.sub("_", given) or "call"
        if len(plain) <= self._longest:
            return plain
        # The end is often what tells long ids apart, so a digest of the whole takes its place.
        digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{plain[: self._longest - 9]}_{digest}"
