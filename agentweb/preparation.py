"""What must be in order before pages are served: settings, database, broker, static files, the first user."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agentweb.data_directory import chosen_directory, make_ready
from agentweb.problems import Problem


@dataclass(frozen=True, slots=True)
class Prepared:
    """`login_path` is good for one sign-in within 15 minutes; `notes` are lines for the person who started it."""

    login_path: str
    notes: list[str]


def prepare(workspace: str = "") -> Prepared:
    """Everything once, in order; a `Problem` tells what is missing."""
    make_ready(chosen_directory())
    set_up_django()
    from agentweb.database_upgrade import upgrade_database
    from agentweb.leftovers import end_commands_of_runs
    from sessions_app.services import accounts

    notes = upgrade_database()
    check_external_broker()
    collect_static_files()
    if ended := end_commands_of_runs():
        notes.append(f"Ended {ended} processes that commands of an earlier start had left running.")
    user = accounts.first_user()
    if workspace:
        add_workspace(user, workspace)
    return Prepared(f"/login/{accounts.create_login_link(user=user)}/", notes)


def set_up_django() -> None:
    """Loads settings and models; a wrong setting becomes a `Problem`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.settings")
    with importing():
        import django
        from django.core.exceptions import ImproperlyConfigured

    try:
        with importing():
            django.setup()
    except ImproperlyConfigured as error:
        raise Problem(f"The settings are wrong: {error}", "See docs/configuration.md.") from error
    except OSError as error:
        raise Problem(
            f"The data directory can't be used: {error}.",
            "Name another directory with --data, or mend its rights.",
        ) from error


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """For the import of much at once: it is all there to stay, and looking through it for garbage again and
    again takes a sixth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def check_external_broker() -> None:
    """The embedded broker is the supervisor's business; an address someone gave is tried here."""
    from django.conf import settings

    if settings.EMBEDDED_BROKER:
        return
    try_broker(settings.REDIS_URL)


def try_broker(url: str) -> None:
    """A `Problem` unless a server answers at the address within a few seconds."""
    import redis

    try:
        with contextlib.closing(
            redis.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=4)
        ) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise Problem(
            f"The broker of REDIS_URL does not answer: {error}",
            "Check the address and that the server runs; without REDIS_URL `agentweb up` starts its own.",
        ) from error


def collect_static_files() -> None:
    """Gathers style sheets and scripts under hashed names; only when one of them has changed."""
    from django.conf import settings
    from django.core.management import call_command

    stamp = Path(settings.STATIC_ROOT) / ".collected"
    fingerprint = fingerprint_of_sources()
    with contextlib.suppress(OSError):
        if stamp.read_text(encoding="ascii") == fingerprint:
            return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0, stdout=io.StringIO())
    stamp.write_text(fingerprint, encoding="ascii")


def fingerprint_of_sources() -> str:
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders

    digest = hashlib.sha256(settings.VERSION.encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = os.stat(storage.path(path))
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def add_workspace(user: object, folder: str) -> None:
    """Adds the folder for the user, unless it is theirs already."""
    from django.contrib.auth.models import User

    from sessions_app.services import workspaces
    from sessions_app.services.errors import ServiceError

    assert isinstance(user, User)  # noqa: S101  (for the type checker)
    try:
        workspaces.add_workspace(user=user, path=folder, by_operator=True)
    except ServiceError as error:
        raise Problem(str(error), getattr(error, "remedy", "")) from error
