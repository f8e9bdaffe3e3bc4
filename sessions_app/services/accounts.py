"""People: users, one-time sign-in links."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone

from sessions_app.models import LoginLink
from sessions_app.services.errors import BadInput
from sessions_app.transactions import write_transaction

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def create_user(*, username: str, password: str | None = None, admin: bool = False) -> User:
    """A new person; without a password they sign in by links. Raises BadInput."""
    model = get_user_model()
    try:
        model.username_validator(username)
        if password is not None:
            validate_password(password, model(username=username))
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error
    with write_transaction():
        if model.objects.filter(username__iexact=username).exists():
            raise BadInput(f"There is a user {username!r} already.")
        user: User = model.objects.create_user(
            username, password=password, is_staff=admin, is_superuser=admin
        )
    return user


def first_user() -> User:
    """The operator: the oldest active administrator, made as `you` when there is nobody yet."""
    model = get_user_model()
    found = model.objects.filter(is_active=True, is_superuser=True).order_by("pk").first()
    if found is not None:
        return found
    return create_user(username="you", admin=True)


def create_login_link(*, user: User, minutes: int = 15) -> str:
    """A fresh token for one sign-in; only its hash is kept."""
    token = secrets.token_urlsafe(32)
    LoginLink.objects.create(
        user=user, token_hash=_hash(token), expires_at=timezone.now() + timedelta(minutes=minutes)
    )
    return token


def login_link_is_good(token: str) -> bool:
    """Can the token still be used? Looking does not use it: mail scanners and previews look too."""
    return LoginLink.objects.filter(
        token_hash=_hash(token), used_at=None, expires_at__gt=timezone.now(), user__is_active=True
    ).exists()


def redeem_login_link(token: str) -> User | None:
    """Use the token up; None when it is unknown, used or expired."""
    now = timezone.now()
    good = LoginLink.objects.filter(
        token_hash=_hash(token), used_at=None, expires_at__gt=now, user__is_active=True
    )
    if not good.update(used_at=now):
        return None
    user: User = LoginLink.objects.select_related("user").get(token_hash=_hash(token)).user
    return user


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
