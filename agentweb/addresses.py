"""Where the server listens: a port that is free, an address that a browser can open, whether pages answer."""

from __future__ import annotations

import contextlib
import errno
import http.client
import os
import socket

from agentweb.problems import Problem


def usable_port(host: str, port: int) -> int:
    """The port itself when nobody listens there (0: any free one); a `Problem` that names a free one."""
    try:
        return free_port(host, port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise Problem(
                f"Can't listen on {host}, port {port}: {error.strerror}.",
                "Choose others with --host and --port.",
            ) from error
    for other in range(port + 1, min(port + 50, 65535)):
        with contextlib.suppress(OSError):
            raise Problem(
                f"Port {port} of {host} is taken by another program.",
                f"Port {free_port(host, other)} is free: agentweb up --port {other}",
            )
    raise Problem(f"Port {port} of {host} is taken by another program.", "Choose another with --port.")


def free_port(host: str, port: int) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the web server does: the remains of earlier connections are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host.strip("[]"), port))
        number: int = probe.getsockname()[1]
        return number


def reachable_host(host: str) -> str:
    """Where a server bound to `host` can be reached from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104


def pages_answer(host: str, port: int) -> bool:
    """Whether the health page comes; a redirect to HTTPS or an unknown name are answers, too."""
    connection = http.client.HTTPConnection(reachable_host(host), port, timeout=5)
    try:
        name = (os.environ.get("AGENTWEB_HOSTS") or "localhost").split(",")[0].strip()
        connection.request("GET", "/health/", headers={"Host": name.lstrip(".*") or "localhost"})
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def address(host: str, port: int) -> str:
    """What a browser on this machine (or, with AGENTWEB_HTTPS, anywhere) opens."""
    name = (os.environ.get("AGENTWEB_HOSTS") or "").split(",")[0].strip()
    if os.environ.get("AGENTWEB_HTTPS", "") in {"1", "true", "yes", "on"} and name:
        return f"https://{name}"
    reachable = reachable_host(host)
    return f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{port}"
