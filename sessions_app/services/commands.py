"""Idempotency: a command that arrives twice with the same key is carried out once."""

from __future__ import annotations

from typing import Any

from sessions_app.models import Command

_LONGEST_KEY = 80


def earlier_result(user: Any, key: str) -> str | None:
    """The result of this user's command of that key, if it was carried out; inside the command's transaction."""
    if not key:
        return None
    return Command.objects.filter(user=user, key=key[:_LONGEST_KEY]).values_list("result", flat=True).first()


def remember(user: Any, key: str, result: str) -> None:
    """In the transaction that carries the command out, so that both happen or neither."""
    if key:
        Command.objects.create(user=user, key=key[:_LONGEST_KEY], result=result)
