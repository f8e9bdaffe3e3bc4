"""What can be wrong with a session, as one tree of exceptions.

SessionError
├── UnknownEntry        no entry has this id
├── NotOnThisPath       the entry exists, but not on the path in question
├── NothingToCompact    a compaction would not gain anything
├── MalformedPayload    a record, a file or a setting has the wrong shape
│   └── NotASession     a file does not begin with a session header
└── CyclicTree          following parents never reaches a root
"""

from __future__ import annotations


class SessionError(Exception):
    """Something is wrong with this session."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class UnknownEntry(SessionError):  # noqa: N818 - these read as sentences where they are raised
    """No entry has this id."""


class NotOnThisPath(SessionError):  # noqa: N818
    """The entry is not on this path."""


class NothingToCompact(SessionError):  # noqa: N818
    """Nothing to compact."""


class MalformedPayload(SessionError):  # noqa: N818
    """A record has the wrong shape."""


class NotASession(MalformedPayload):
    """The file does not begin with a session header."""


class CyclicTree(SessionError):  # noqa: N818
    """Following the parents of an entry never reaches a root."""
