"""Who else works in the folder of a session right now: two agents may change the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions_app.models import Run, Session

if TYPE_CHECKING:
    from sessions_app.models import AnyUser


def company(session: Session, user: AnyUser) -> list[Session | None]:
    """Other sessions at work in the same folder, above it or below it, while this one is at work too; None stands for
    one that the user may not see."""
    if not session.runs.active().filter(kind=Run.Kind.PROMPT).exists():
        return []
    own = _as_prefix(session.workspace.path)
    runs = Run.objects.active().filter(kind=Run.Kind.PROMPT).exclude(session=session)
    others = [
        run.session
        for run in runs.select_related("session__workspace").order_by("pk")
        if (path := _as_prefix(run.session.workspace.path)).startswith(own) or own.startswith(path)
    ]
    seen = Session.objects.visible_to(user).filter(pk__in=[other.pk for other in others])
    visible = set(seen.values_list("pk", flat=True))
    return [other if other.pk in visible else None for other in others]


def _as_prefix(path: str) -> str:
    return path.rstrip("/") + "/"
