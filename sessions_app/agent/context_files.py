"""Finds the instructions people keep beside their work: one file per directory, from the root down (06 §5)."""

from __future__ import annotations

import logging
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sessions_app.agent.request_content import clean_text

logger = logging.getLogger(__name__)

# The first that exists in a directory is the one that counts there (06 CX-02).
NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
LARGEST_FILE = 1024 * 1024

AGENT_DIRECTORY = "agent directory"
WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class ContextFile:
    """`origin` says why it is there: from the agent directory, or from the workspace and the folders above it."""

    path: Path
    text: str
    origin: str


def find_context_files(
    agent_dir: Path | None, cwd: Path, *, on_warning: Callable[[str], None] | None = None
) -> list[ContextFile]:
    """The files that apply in `cwd`: the agent directory's, then those from the root down, the nearest last.

    A file that cannot be read gives a warning and the next name its turn. The same file counts once. In a
    worktree that lies inside its repository the worktree's file stands for the repository's of the same name.
    """
    warn = on_warning or (lambda text: logger.warning("context file: %s", text))
    found: list[ContextFile] = []
    seen: set[Path] = set()
    directories = [] if agent_dir is None else [(agent_dir, AGENT_DIRECTORY)]
    directories += [(directory, WORKSPACE) for directory in reversed((cwd, *cwd.parents))]
    for directory, origin in directories:
        file = _file_of(directory, origin, warn)
        if file is None or file.path.resolve() in seen:
            continue
        seen.add(file.path.resolve())
        found.append(file)
    shadowed = _shadowed(found, cwd)
    return [file for file in found if file.path not in shadowed]


def _file_of(directory: Path, origin: str, warn: Callable[[str], None]) -> ContextFile | None:
    for name in NAMES:
        path = directory / name
        try:
            kind = path.stat().st_mode
            if not stat.S_ISREG(kind):
                warn(f"{path} is no regular file and was left out.")
                continue
            if path.resolve().suffix.lower() != ".md":
                # A project could point its instructions at a private file and have it sent to the model.
                warn(f"{path} leads to a file that is no Markdown and was left out.")
                continue
            with path.open("rb") as opened:
                raw = opened.read(LARGEST_FILE + 1)
        except FileNotFoundError:
            continue
        except OSError as error:
            warn(f"{path} cannot be read: {error.strerror}")
            continue
        if len(raw) > LARGEST_FILE:
            warn(f"{path} is larger than 1 MiB; the rest was left out.")
        text = raw[:LARGEST_FILE].decode("utf-8-sig", "replace")
        return ContextFile(path, clean_text(text), origin)
    return None


def _shadowed(files: list[ContextFile], cwd: Path) -> set[Path]:
    """Files of a repository that a worktree inside it has its own of."""
    hidden: set[Path] = set()
    for directory in (cwd, *cwd.parents):
        repository = _repository_of_worktree(directory)
        if repository is None or repository not in directory.parents:
            continue
        own = {file.path.name for file in files if file.path.parent == directory}
        hidden.update(file.path for file in files if file.path.parent == repository and file.path.name in own)
    return hidden


def _repository_of_worktree(directory: Path) -> Path | None:
    """The main repository's folder if `directory` is the top of a linked worktree."""
    try:
        text = (directory / ".git").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None  # no `.git`, or a folder: an ordinary repository
    if not text.startswith("gitdir:"):
        return None
    # `<repository>/.git/worktrees/<name>`
    administration = (directory / text.removeprefix("gitdir:").strip()).resolve()
    if administration.parent.name != "worktrees" or administration.parent.parent.name != ".git":
        return None
    return administration.parent.parent.parent
