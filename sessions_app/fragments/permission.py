"""Whether a person may change a session: asked by many parts of a page, looked up once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions_app.models import Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser


def may_edit(session: Session, user: AnyUser) -> bool:
    """The answer stays with the loaded row, which lives no longer than a page or a look at what is new."""
    known: dict[int | None, bool] = session.__dict__.setdefault("_may_be_edited_by", {})
    if user.pk not in known:
        known[user.pk] = Session.objects.may_edit(user).filter(pk=session.pk).exists()
    return known[user.pk]
