"""Why a command was not carried out.

ServiceError
├── BadInput     what was given can't be used (400)
├── NotAllowed   the person or the server's rules do not allow it (403)
├── Conflict     not now: something else is going on (409)
└── Unavailable  a part of the server or the disk does not answer (503)
"""

from __future__ import annotations


class ServiceError(Exception):
    """`str(error)` says what stopped, `remedy` what to do; `status` is the HTTP status."""

    status = 400

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class BadInput(ServiceError):  # noqa: N818
    status = 400


class NotAllowed(ServiceError):  # noqa: N818
    status = 403


class Conflict(ServiceError):  # noqa: N818
    status = 409


class Unavailable(ServiceError):  # noqa: N818
    status = 503
