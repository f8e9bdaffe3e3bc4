"""Files of a workspace as a person sees them: names to complete, files kept there, files looked at.

Every path is one below the workspace's folder; nothing here follows a link out of it.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from django.conf import settings

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.ignore_rules import IgnoreRules
from sessions_app.agent.sandboxes.rooted_files import RootedFiles
from sessions_app.models import Workspace
from sessions_app.runner.execution_policy import local_execution_problem
from sessions_app.services.errors import BadInput, NotAllowed

MOST_FOUND = 12
# A folder is looked through for so long at most, the near places first.
_MOST_LOOKED_AT = 20_000
_SECONDS = 0.4
_MOST_FILES = 20
_LONGEST_NAME = 200
# Hidden files and what programs leave behind are offered behind everything else.
_HIDDEN = re.compile(r"(?:^|/)(?:\.|__pycache__)")
_ASIDE = 10


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file or folder below the workspace; a folder's path ends in a slash."""

    path: str

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2] + ("/" if self.is_folder else "")

    @property
    def folder(self) -> str:
        return self.path.rstrip("/").rpartition("/")[0]

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")


class Upload(Protocol):
    """A file on its way in; `size` in bytes."""

    @property
    def name(self) -> str | None: ...
    @property
    def size(self) -> int | None: ...
    def read(self) -> bytes: ...


def complete(
    *, workspace: Workspace, query: str, clock: Callable[[], float] = time.monotonic
) -> list[FoundFile]:
    """Files and folders that ignore rules leave, the best match first; with no query what lies at the top."""
    wanted = query.removeprefix("./").lstrip("/").casefold()
    ranked = [
        (rank + _ASIDE * bool(_HIDDEN.search(path)), path.count("/"), len(path), path)
        for path in _paths(Path(workspace.path), clock)
        if (rank := _rank(path, wanted)) is not None
    ]
    return [FoundFile(path) for _, _, _, path in sorted(ranked)[:MOST_FOUND]]


def _paths(root: Path, clock: Callable[[], float]) -> Iterator[str]:
    """What is near comes first, so that a huge folder gives something useful in time."""
    files = RootedFiles([root])
    rules = IgnoreRules(root, lambda path, most: _content(files, path, most))
    waiting = deque([root])
    until, left = clock() + _SECONDS, _MOST_LOOKED_AT
    while waiting:
        folder = waiting.popleft()
        try:
            entries = files.scan(folder)
        except SandboxError:
            continue
        for name, is_folder in entries:
            left -= 1
            if left < 0 or clock() > until:
                return
            path = folder / name
            if not _is_text(name) or rules.leaves_out(path, is_dir=is_folder):
                continue
            if is_folder:
                waiting.append(path)
            yield path.relative_to(root).as_posix() + ("/" if is_folder else "")


def _content(files: RootedFiles, path: Path, most: int) -> bytes | None:
    try:
        with files.open_read(path) as file:
            return file.read(most)
    except (SandboxError, OSError):
        return None


def _is_text(name: str) -> bool:
    """Names that no message could hold are left out."""
    return name.isprintable() and not any("\ud800" <= character <= "\udfff" for character in name)


def _rank(path: str, wanted: str) -> int | None:
    """Smaller is better; None: no match."""
    if not wanted:
        return 0 if "/" not in path.rstrip("/") else None
    lowered = path.casefold()
    name = lowered.rstrip("/").rpartition("/")[2]
    if wanted in (name, lowered, lowered.rstrip("/")):
        return 0
    if lowered.startswith(wanted):
        return 1
    if name.startswith(wanted):
        return 2
    if wanted in name:
        return 3
    if wanted in lowered:
        return 4
    return 5 if _is_within(wanted, lowered) else None


def _is_within(wanted: str, text: str) -> bool:
    """Whether the characters occur in this order, with others between them."""
    characters = iter(text)
    return all(character in characters for character in wanted)


def keep_files(*, workspace: Workspace, folder: str, uploads: Sequence[Upload]) -> list[str]:
    """Write the files into a folder of the workspace, none over another. Their paths; raises BadInput, NotAllowed."""
    if problem := local_execution_problem():
        raise NotAllowed(problem)
    if not uploads:
        raise BadInput("There is no file to keep.", "Choose one.")
    if len(uploads) > _MOST_FILES:
        raise BadInput(f"At most {_MOST_FILES} files at once.")
    place = _place(folder)
    for upload in uploads:
        if (upload.size or 0) > settings.MAX_UPLOAD_BYTES:
            raise BadInput(
                f"{upload.name} has {(upload.size or 0) / 1_000_000:.1f} MB; at most "
                f"{settings.MAX_UPLOAD_BYTES / 1_000_000:.0f} MB can be kept.",
                "Put it into the folder yourself and name it.",
            )
    root = Path(workspace.path)
    files = RootedFiles([root])
    return [_keep(files, root, place, upload) for upload in uploads]


def _place(folder: str) -> PurePosixPath:
    place = PurePosixPath(folder.strip().strip("/") or ".")
    if ".." in place.parts or ".git" in place.parts or not _is_text(folder.strip()):
        raise BadInput(f"Files can't be put into {folder!r}.", "Name a folder of the workspace.")
    return place


def _keep(files: RootedFiles, root: Path, place: PurePosixPath, upload: Upload) -> str:
    name = _tidy(upload.name or "")
    stem, dot, ending = name.partition(".") if not name.startswith(".") else (name, "", "")
    try:
        number = 1
        while files.stat(root / place / name) is not None:
            number += 1
            name = f"{stem}-{number}{dot}{ending}"
        files.write(root / place / name, upload.read())
    except SandboxError as error:
        raise BadInput(f"{name} could not be kept: {error}", "Choose another folder.") from error
    return (place / name).as_posix()


def _tidy(name: str) -> str:
    """The last part of a name as a browser sends it, without what no file should be called."""
    last = name.replace("\\", "/").rpartition("/")[2]
    tidy = "".join(character for character in last if character.isprintable()).strip(" .")
    tidy = tidy.encode("utf-8", "ignore").decode()
    return tidy[-_LONGEST_NAME:].strip(" .") or "file"


def open_file(*, workspace: Workspace, path: str) -> BinaryIO:
    """A regular file of the workspace for reading. Raises BadInput for what is elsewhere, gone or no file."""
    root = Path(workspace.path)
    try:
        return RootedFiles([root]).open_read(root / path)
    except SandboxError as error:
        raise BadInput(str(error)) from error


def exists(*, workspace: Workspace, path: str) -> bool:
    """Whether something is there now."""
    root = Path(workspace.path)
    try:
        return RootedFiles([root]).stat(root / path) is not None
    except SandboxError:
        return False
