"""What the operating system says about a file, in words that name the path and the remedy."""

from __future__ import annotations

import errno
import os

from sessions_app.agent.sandboxes.base import SandboxError

_MEANINGS: dict[int, tuple[str, str]] = {
    errno.ENOENT: ("missing", "does not exist"),
    errno.ENOTDIR: ("not_a_directory", "is not below a folder: a part of the path is a file"),
    errno.EISDIR: ("is_a_directory", "is a folder"),
    errno.EACCES: (
        "denied",
        "may not be accessed by the server's user; its permissions must be changed first",
    ),
    errno.EPERM: (
        "denied",
        "may not be changed by the server's user; its owner or attributes must be changed first",
    ),
    errno.EROFS: ("read_only", "is on a read-only file system; choose a place that can be written"),
    errno.ENOSPC: ("full", "could not be written because the disk is full; delete something and try again"),
    errno.EDQUOT: (
        "full",
        "could not be written because the disk quota is used up; delete something and try again",
    ),
    errno.EFBIG: ("too_large", "would become larger than files may be here"),
    errno.ENAMETOOLONG: ("error", "has a name that is too long"),
    errno.ELOOP: ("outside", "leads through a symbolic link that changed meanwhile or runs in a circle"),
    errno.EMFILE: (
        "error",
        "could not be opened because the server has too many files open; try again later",
    ),
    errno.ENFILE: (
        "error",
        "could not be opened because the machine has too many files open; try again later",
    ),
    errno.EBUSY: ("error", "is in use (a mount point) and cannot be replaced"),
}


def in_words(error: OSError, path: str | os.PathLike[str]) -> SandboxError:
    """The SandboxError for `error`, with the code of the port."""
    code, meaning = _MEANINGS.get(
        error.errno or 0, ("error", f"could not be used: {error.strerror or error}")
    )
    return SandboxError(f"{os.fspath(path)!r} {meaning}.", code=code)


def special(path: str | os.PathLike[str]) -> SandboxError:
    return SandboxError(
        f"{os.fspath(path)!r} is a device, pipe or socket, not a regular file.", code="special"
    )


def is_a_directory(path: str | os.PathLike[str]) -> SandboxError:
    return in_words(OSError(errno.EISDIR, ""), path)
