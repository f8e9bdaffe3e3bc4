"""File access that cannot leave its roots, even when a symbolic link is swapped in at the last moment.

A path is resolved to its real place first, which has no symbolic links left. Opening then walks from `/` one
component at a time and refuses to follow a link, so what was checked is what is opened.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from sessions_app.agent.sandboxes import file_errors
from sessions_app.agent.sandboxes.base import SandboxError

Found = TypeVar("Found")

# Linux only needs the right to pass through a folder; elsewhere it must be readable.
_PASS_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO would wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class RootedFiles:
    """`roots` may be read and written, `readable` only read. All methods raise SandboxError."""

    def __init__(self, roots: Sequence[Path], readable: Sequence[Path] = ()) -> None:
        self.roots = tuple(Path(os.path.realpath(root)) for root in roots)
        self.readable = tuple(Path(os.path.realpath(root)) for root in readable)
        self._written_roots = [str(root) for root in self.roots + self.readable]

    def real(self, path: Path) -> Path:
        """The real place of an absolute path, which need not exist."""
        if "\0" in str(path):
            raise SandboxError("The path contains a NUL character.")
        real = Path(os.path.realpath(path))
        self._check(real, self.roots + self.readable)
        return real

    def root_of(self, real: Path) -> Path:
        """The outermost root that holds `real`."""
        holding = [root for root in self.roots + self.readable if real.is_relative_to(root)]
        return min(holding, key=lambda root: len(root.parts), default=real)

    def open_read(self, path: Path) -> BinaryIO:
        return self._reach(path, _open_regular)

    def write(self, path: Path, content: bytes) -> None:
        """Replaces the file in one step; parent folders are made, the mode of an existing file is kept."""
        real = self.real(path)
        self._check(real, self.roots)
        try:
            with _parent(real, create=True) as (folder, name):
                before = _lstat(name, folder)
                if before is not None:
                    _require_regular(before.st_mode, real)
                _replace(folder, name, content, before)
        except OSError as error:
            raise file_errors.in_words(error, path) from error

    def stat(self, path: Path) -> os.stat_result | None:
        """Of the path itself, also when it is a symbolic link; None when nothing is there."""
        if ".." in path.parts:
            path = self.real(path)
        name = path.name

        def look(folder: Path) -> os.stat_result | None:
            with _opened(folder, _PASS_THROUGH) as opened:
                return _lstat(name, opened)

        if path in self.roots + self.readable:
            return os.stat(path) if path.exists() else None
        try:
            return self._reach(path.parent, look)
        except SandboxError as error:
            if error.code in ("missing", "not_a_directory"):
                return None
            raise

    def scan(self, path: Path) -> list[tuple[str, bool]]:
        """(name, is a folder) of everything in a folder, sorted by the bytes of the names."""
        return self._reach(path, _scan)

    def _reach(self, path: Path, use: Callable[[Path], Found]) -> Found:
        """Calls `use` with a path that has no links: as it is named when that has none, else its real place."""
        try:
            if self._is_plain(path):
                try:
                    return use(path)
                except OSError as error:
                    if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                        raise
            return use(self.real(path))
        except OSError as error:
            raise file_errors.in_words(error, path) from error

    def _is_plain(self, path: Path) -> bool:
        """Whether the path as written lies in a root. Most do, and asking for the real place costs much more."""
        written = str(path)
        if ".." in path.parts or "\0" in written:
            return False
        return any(written == root or written.startswith(f"{root}/") for root in self._written_roots)

    def _check(self, real: Path, allowed: Sequence[Path]) -> None:
        if any(real.is_relative_to(root) for root in allowed):
            return
        if any(real.is_relative_to(root) for root in self.readable):
            raise SandboxError(f"{str(real)!r} may be read but not changed.", code="denied")
        places = ", ".join(str(root) for root in self.roots)
        raise SandboxError(
            f"{str(real)!r} is outside the workspace. Files can be used in: {places}", code="outside"
        )


@contextmanager
def _opened(real: Path, flags: int) -> Iterator[int]:
    """A file descriptor of a folder, reached without following any symbolic link."""
    current = os.open(real.anchor, _PASS_THROUGH)
    try:
        for part in real.parts[1:-1]:
            current = _step(current, part, _PASS_THROUGH)
        if len(real.parts) > 1:
            current = _step(current, real.parts[-1], flags)
        yield current
    finally:
        os.close(current)


@contextmanager
def _parent(real: Path, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """The folder a path lies in as a file descriptor, and the last name."""
    current = os.open(real.anchor, _PASS_THROUGH)
    try:
        for part in real.parts[1:-1]:
            if create:
                # Another command may make or remove it at the same time: the step below decides.
                with suppress(FileExistsError):
                    if _lstat(part, current) is None:
                        os.mkdir(part, dir_fd=current)
            current = _step(current, part, _PASS_THROUGH)
        yield current, real.name or "."
    finally:
        os.close(current)


def _step(folder: int, name: str, flags: int) -> int:
    following = os.open(name, flags, dir_fd=folder)
    os.close(folder)
    return following


def _open_regular(real: Path) -> BinaryIO:
    with _parent(real) as (folder, name):
        _require_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, real)
        opened = os.open(name, _READ, dir_fd=folder)
    file = os.fdopen(opened, "rb")
    try:
        _require_regular(os.fstat(opened).st_mode, real)
    except SandboxError:
        file.close()
        raise
    return file


def _scan(real: Path) -> list[tuple[str, bool]]:
    with _opened(real, _LIST) as folder, os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    return sorted(found, key=lambda entry: os.fsencode(entry[0]))


def _lstat(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _require_regular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise file_errors.is_a_directory(path)
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(mode):
        raise file_errors.special(path)


def _replace(folder: int, name: str, content: bytes, before: os.stat_result | None) -> None:
    temporary = f".agentweb-{secrets.token_hex(8)}.tmp"
    opened = os.open(temporary, _CREATE, 0o666, dir_fd=folder)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(content)
            file.flush()
            if before is not None:
                with suppress(PermissionError):  # only the superuser may give files away
                    os.fchown(opened, before.st_uid, before.st_gid)
                os.fchmod(opened, stat.S_IMODE(before.st_mode))
            os.fsync(opened)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
