"""What keeps a command from its work: said in one line, with what to do about it."""

from __future__ import annotations

FAILED = 1
USAGE = 2
NOT_AVAILABLE = 3
BUSY = 4
CEILING = 5
ASKS = 6
STOPPED = 130


class Problem(Exception):  # noqa: N818  (news for a person, not a fault of the program)
    """Ends a command with a message, a remedy and an exit code."""

    def __init__(self, message: str, remedy: str = "", *, code: int = NOT_AVAILABLE) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.code = code

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()
