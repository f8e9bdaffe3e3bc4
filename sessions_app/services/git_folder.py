"""What git says about a workspace's folder: which files differ from HEAD, and how.

Git runs with nothing of the folder's own configuration that would start programs, and only where agents may run
commands anyway.
"""

from __future__ import annotations

import subprocess
import threading
from dataclasses import dataclass, field
from typing import Literal

from sessions_app.agent.sandboxes.environment import ALLOWED, command_environment
from sessions_app.models import Workspace
from sessions_app.runner.execution_policy import local_execution_problem

Change = Literal["modified", "added", "deleted", "renamed", "untracked", "conflict"]

_SECONDS = 5.0
_MOST_BYTES = 2_000_000
_SAFE = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "diff.external=",
    "-c",
    "core.quotePath=false",
)
_CHANGES: dict[str, Change] = {"A": "added", "D": "deleted", "R": "renamed", "C": "added", "U": "conflict"}


@dataclass(frozen=True, slots=True)
class GitStatus:
    """`changes`: path below the workspace → how it differs from HEAD; a folder's path ends in a slash."""

    branch: str
    changes: dict[str, Change] = field(default_factory=dict)

    def of(self, path: str) -> Change | None:
        """None: as in HEAD, or nothing git knows of."""
        if path in self.changes:
            return self.changes[path]
        folders = (name for name in self.changes if name.endswith("/"))
        return "untracked" if any(path.startswith(name) for name in folders) else None


def status(workspace: Workspace) -> GitStatus | None:
    """None when the folder lies in no repository, git is not there, or agents may not run commands here."""
    if local_execution_problem():
        return None
    prefix = _git(workspace, "rev-parse", "--show-prefix")
    if prefix is None:
        return None
    below = prefix.decode("utf-8", "replace").removesuffix("\n")
    told = _git(
        workspace, "status", "--porcelain=v1", "-z", "--branch", "--untracked-files=normal", "--", "."
    )
    if told is None:
        return None
    return _parsed(told.decode("utf-8", "replace"), below)


def _parsed(told: str, below: str) -> GitStatus:
    branch, changes = "", {}
    fields = iter(told.split("\0"))
    for line in fields:
        if line.startswith("## "):
            branch = line[3:].partition("...")[0].removeprefix("No commits yet on ")
        elif len(line) > 3:
            codes, path = line[:2], line[3:]
            if "R" in codes or "C" in codes:
                next(fields, "")
            changes[path.removeprefix(below)] = _change(codes)
    return GitStatus(branch, changes)


def _change(codes: str) -> Change:
    if codes == "??":
        return "untracked"
    if "U" in codes or codes in {"AA", "DD"}:
        return "conflict"
    return next((_CHANGES[code] for code in codes if code in _CHANGES), "modified")


def diff_to_head(workspace: Workspace, path: str) -> str:
    """The unified patch from HEAD to the file as it is now; empty when there is none to show."""
    told = _git(
        workspace, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD", "--", f":(literal){path}"
    )
    return told.decode("utf-8", "replace") if told else ""


def _git(workspace: Workspace, *arguments: str) -> bytes | None:
    """What git printed, at most `_MOST_BYTES`; None when it failed, was too slow or is not installed."""
    environment = command_environment(ALLOWED, {"GIT_OPTIONAL_LOCKS": "0"})
    try:
        process = subprocess.Popen(
            ["git", *_SAFE, *arguments],
            cwd=workspace.path, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None
    watch = threading.Timer(_SECONDS, process.kill)
    watch.start()
    try:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        with process.stdout:
            told = process.stdout.read(_MOST_BYTES)
        if len(told) == _MOST_BYTES:
            process.kill()
            process.wait()
            return told
        return told if process.wait() == 0 else None
    finally:
        watch.cancel()
