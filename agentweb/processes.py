"""The two processes that do the work: the web server (Daphne) and the worker (Celery with threads)."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
import time

from agentweb import go_ahead
from agentweb.preparation import importing, set_up_django

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 2.0
# Seconds a thread may compute while others wait. With Python's own 5 ms, answers that grow stand still while a few
# pages are made: whoever passes on a few words would wait that long each time.
SHARE = 0.001
# New objects until the youngest are looked through for garbage. With Python's own 700 it happens thousands of times while
# answers stream, and a full collection, during which all of them stand still, every few seconds.
YOUNG_OBJECTS = 10_000


def serve_pages() -> int:
    """Serves pages and sockets at AGENTWEB_HOST and AGENTWEB_PORT until SIGTERM."""
    set_up_django()
    with importing():
        # Daphne installs its reactor when it is imported; before anything else of Twisted.
        from daphne.endpoints import build_endpoint_description_strings
        from daphne.server import Server
        from django.conf import settings

        import sessions_app.routing  # noqa: F401
    go_ahead.given.wait()
    # Only now: making the application looks through the static files.
    from agentweb.asgi import application

    sys.setswitchinterval(SHARE)
    gc.set_threshold(YOUNG_OBJECTS)
    threading.Thread(target=sweep_forever, daemon=True, name="run recovery").start()
    behind_proxy = settings.SECURE_PROXY_SSL_HEADER is not None
    server = Server(
        application=application,
        endpoints=build_endpoint_description_strings(host=settings.BIND_HOST, port=settings.BIND_PORT),
        server_name="agentweb",
        proxy_forwarded_address_header="X-Forwarded-For" if behind_proxy else None,
        proxy_forwarded_port_header="X-Forwarded-Port" if behind_proxy else None,
        proxy_forwarded_proto_header="X-Forwarded-Proto" if behind_proxy else None,
        # Pages open in a browser hold sockets; ending must not wait for them.
        application_close_timeout=3,
        verbosity=0,
    )
    server.run()
    # Daphne logs that it could not listen and returns.
    return 0 if server.listening_addresses else 1


def sweep_forever() -> None:
    """Recovery of runs, beside the worker's own: it must also happen while no worker lives."""
    from django.conf import settings
    from django.db import DatabaseError, close_old_connections
    from django.utils.module_loading import import_string

    from sessions_app.runner import recovery

    time.sleep(SWEEP_SECONDS)
    # Pages are served by now; the first prompt need not wait for this.
    import_string(settings.TASKS_APPLICATION)
    while True:
        time.sleep(SWEEP_SECONDS)
        try:
            close_old_connections()
            recovery.sweep()
        except DatabaseError as error:
            logger.warning("the sweep for lost runs was put off: %s", error)
        except Exception:
            logger.exception("the sweep for lost runs failed")


def work(threads: int | None = None) -> int:
    """Carries out runs until SIGTERM; then they save what they have (sessions_app.tasks)."""
    # Celery would run the system checks, which load all pages: memory and a second for nothing.
    os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
    set_up_django()
    with importing():
        from celery.apps import worker  # noqa: F401
        from django.conf import settings

        import sessions_app.tasks  # noqa: F401
        from agentweb.celery import app

    sys.setswitchinterval(SHARE)
    gc.set_threshold(YOUNG_OBJECTS)
    app.worker_main(
        [
            "--quiet",
            "worker",
            "--pool=threads",
            f"--concurrency={threads or settings.WORKER_THREADS}",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
            "--loglevel=WARNING",
        ]
    )
    return 0
