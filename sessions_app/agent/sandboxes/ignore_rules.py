"""Which files `.gitignore` files leave out, whether or not there is a repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pathspec import GitIgnoreSpec

FILE_NAME = ".gitignore"
_NEVER = ".git"
_LONGEST = 1 << 20  # bytes of an ignore file that are looked at
_LONGEST_PATTERN = 1000
_MOST_STARS = 3


class IgnoreRules:
    """The rules of every `.gitignore` from `top` down. `read` gives a file's content, or None without one.

    Every pattern is relative to the folder of its file, and the innermost file that has something to say
    decides. Nothing below an ignored folder can be taken back in. `.git` is always left out.
    """

    def __init__(self, top: Path, read: Callable[[Path, int], bytes | None]) -> None:
        self._top = top
        self._read = read
        self._specs: dict[Path, GitIgnoreSpec | None] = {}
        self._folders: dict[Path, bool] = {top: False}

    def leaves_out(self, path: Path, *, is_dir: bool) -> bool:
        """Whether the file or folder, or a folder it lies in, is ignored."""
        if path == self._top or not path.is_relative_to(self._top):
            return False
        known = self._folders.get(path) if is_dir else None
        if known is None:
            known = self.leaves_out(path.parent, is_dir=True) or self._says(path, is_dir=is_dir)
            if is_dir:
                self._folders[path] = known
        return known

    def _says(self, path: Path, *, is_dir: bool) -> bool:
        if path.name == _NEVER:
            return True
        folder = path.parent
        while True:
            spec = self._spec(folder)
            if spec is not None:
                relative = path.relative_to(folder).as_posix() + ("/" if is_dir else "")
                verdict = spec.check_file(relative).include
                if verdict is not None:
                    return verdict
            if folder == self._top:
                return False
            folder = folder.parent

    def _spec(self, folder: Path) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            content = self._read(folder / FILE_NAME, _LONGEST)
            self._specs[folder] = None if content is None else _parsed(content)
        return self._specs[folder]


def _parsed(content: bytes) -> GitIgnoreSpec:
    """Line by line, so that one malformed pattern does not cost the others."""
    lines = []
    for line in content.decode("utf-8-sig", "replace").splitlines():
        if _is_costly(line):
            continue
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        lines.append(line)
    return GitIgnoreSpec.from_lines(lines)


def _is_costly(pattern: str) -> bool:
    """Whether a hostile file name could keep the pattern busy for minutes: it is tried by backtracking."""
    parts = pattern.split("/")
    return (
        len(pattern) > _LONGEST_PATTERN
        or parts.count("**") > _MOST_STARS
        or any(part.count("*") > _MOST_STARS for part in parts)
    )
