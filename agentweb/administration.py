"""Commands for the operator that work beside a running server: people, links, files in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from agentweb.addresses import address
from agentweb.data_directory import chosen_directory, make_ready, running_server
from agentweb.preparation import set_up_django
from agentweb.problems import NOT_AVAILABLE, USAGE, Problem


def open_database() -> None:
    """Sets Django up on a database that is in this version's shape; while a server runs, it is left alone."""
    data = chosen_directory()
    make_ready(data)
    set_up_django()
    if running_server(data) is None:
        from agentweb.database_upgrade import upgrade_database

        upgrade_database()


def add_user(name: str, *, admin: bool, password: str | None) -> str:
    """Makes the account; the line to print."""
    open_database()
    from sessions_app.services import accounts
    from sessions_app.services.errors import ServiceError

    try:
        user = accounts.create_user(username=name, password=password, admin=admin)
    except ServiceError as error:
        raise Problem(str(error), error.remedy, code=USAGE) from error
    if password is not None:
        return f"Added {user.get_username()}."
    return f"Added {user.get_username()}, without a password. A sign-in link: agentweb login-link {name}"


def login_link(name: str) -> str:
    """A fresh link for one sign-in within 15 minutes; the first administrator's when no name is given."""
    open_database()
    from django.conf import settings
    from django.contrib.auth.models import User

    from sessions_app.services import accounts

    if name:
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise Problem(
                f"There is no active user {name!r}.", f"Add one: agentweb user add {name}", code=USAGE
            )
    else:
        user = accounts.first_user()
    server = running_server(chosen_directory())
    host, port = (
        (server.host, server.port) if server and server.port else (settings.BIND_HOST, settings.BIND_PORT)
    )
    return f"{address(host, port)}/login/{accounts.create_login_link(user=user)}/"


def import_files(files: list[str], folder: str, tell: Callable[[str], None]) -> Iterator[str]:
    """A session for each file, for the first administrator; a line each. `tell` gets how far a large one has come."""
    open_database()
    from agentweb.prompt import added_workspace
    from sessions_app.services import accounts, sessions
    from sessions_app.services.errors import ServiceError

    user = accounts.first_user()
    try:
        workspace = added_workspace(user, folder)
        for name in files:
            repairs: list[str] = []
            with session_file(Path(name)) as file:
                session = sessions.import_session_text(
                    workspace=workspace,
                    owner=user,
                    text=file,
                    name=Path(name).stem,
                    progress=partial(_tell_progress, tell, name),
                    repaired=repairs.append,
                )
            yield "\n  ".join([f"{name}: session {session.key}", *repairs])
    except ServiceError as error:
        raise Problem(str(error), error.remedy, code=USAGE) from error
    except OSError as error:
        raise Problem(f"{error.filename}: {error.strerror}.", code=NOT_AVAILABLE) from error


def listed_sessions() -> Iterator[str]:
    """The first administrator's sessions, the newest first, a line each: key, workspace, state, when it last moved
    (UTC), name."""
    open_database()
    from sessions_app import session_rows
    from sessions_app.services import accounts

    for row in session_rows.newest(accounts.first_user()):
        state = f"{row.doing} {row.elapsed}".strip()
        workspace = row.session.workspace.name
        yield "\t".join(
            (str(row.session.key), f"{row.moment:%Y-%m-%d %H:%M}", workspace, state, str(row.session))
        )


def checked_sessions(*, repair: bool) -> Iterator[tuple[str, bool]]:
    """A line for each finding in any session, then a count; with each whether all was sound up to there."""
    open_database()
    from sessions_app import integrity

    sessions = damaged = 0
    for report in integrity.check_all(repair=repair):
        sessions += 1
        damaged += not report.is_sound
        for finding in report.findings:
            yield f"{report.session.key} {finding}", False
    found = "all sound" if not damaged else f"{damaged} {'repaired' if repair else 'damaged'}"
    yield f"{sessions} sessions, {found}", not damaged


def _tell_progress(tell: Callable[[str], None], name: str, done: int, of: int) -> None:
    tell(f"{name}: {done:,} of {of:,} entries")


@contextmanager
def session_file(path: Path) -> Iterator[BinaryIO]:
    """The open file, once all of it has been found to be text."""
    with path.open("rb") as file:
        begin = 0
        for line in file:
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise Problem(
                    f"{path} is not a session file: it is no UTF-8 text (at byte {begin + error.start + 1}).",
                    "Session files are lines of JSON; name one of those.",
                    code=USAGE,
                ) from error
            begin += len(line)
        file.seek(0)
        yield file


def export_session(beginning: str, *, as_page: bool = False) -> bytes:
    """The session's file, all branches; or a page to read."""
    open_database()
    from agentweb.prompt import session_by_key
    from sessions_app.services import accounts, sessions

    session = session_by_key(accounts.first_user(), beginning)
    if as_page:
        from sessions_app.views.exports import exported_page

        return exported_page(session).encode("utf-8", "replace")
    return sessions.export_session_text(session=session, whole=True).encode("utf-8", "surrogatepass")
