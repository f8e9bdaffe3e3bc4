"""The variables a command sees: an allow-list of the server's, never its keys or settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

ALLOWED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
    "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Nobody sits at a terminal: no colours, no pager, no question.
_FIXED = {
    "TERM": "dumb",
    "AI_AGENT": "agentweb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}


def command_environment(
    allowed: Iterable[str], extra: Mapping[str, str], *, server: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The allowed variables of `server` (default: this process), our fixed ones, then `extra`."""
    source = os.environ if server is None else server
    chosen = {name: source[name] for name in allowed if name in source}
    chosen["PATH"] = _without_own_environment(chosen.get("PATH", "")) or _DEFAULT_PATH
    chosen.setdefault("LANG", "C.UTF-8")
    return chosen | _FIXED | dict(extra)


def _without_own_environment(path: str) -> str:
    """Without the server's virtual environment: an agent's `pip install` must not change the server."""
    if sys.prefix == sys.base_prefix:
        return path
    own = os.path.realpath(os.path.join(sys.prefix, "bin"))
    return os.pathsep.join(part for part in path.split(os.pathsep) if part and os.path.realpath(part) != own)
